//! The server-side API's view of a transaction: what `getContext().getCollection()` does.

use super::{OTHER_KEY, ScriptTransaction, refusal};
use crate::charge;
use crate::item::{Item, ItemError};
use crate::layout::DocumentRecord;
use crate::read::{FeedScope, PageLimit};
use crate::write::{self, Action, Conditions, Write, WriteRequest, etag_matches};
use std::borrow::Cow;
use tesela_model::document::{Document, Kind};
use tesela_model::json::{self, Object, Value};
use tesela_model::limits::{FEED_PAGE_ITEMS_DEFAULT, LOGICAL_PARTITION_BYTES_MAX, PAGE_BYTES_MAX};
use tesela_model::rid::{ChildKind, DocumentOrdinal, ResourceId};
use tesela_script::{
    Collection, DocumentRef, IndexAction, OpError, Page, PageRequest, Query, Read, SizeMb, WriteOptions, Written,
};
use tesela_store::{Store, block_on};

const BYTES_PER_MB: u64 = 1 << 20;

impl<S: Store> Collection for ScriptTransaction<S> {
    fn self_link(&self) -> &str {
        &self.container.self_link
    }

    fn alt_link(&self) -> &str {
        &self.alt_link
    }

    fn read(&mut self, document: &DocumentRef, if_none_match: Option<&str>) -> Result<Read, OpError> {
        let record = self.existing(document)?;
        let known = if_none_match.is_some_and(|etag| etag_matches(etag, &crate::etag::of(&record)));
        Ok(if known { Read::NotModified } else { Read::Found(record.document.text().to_owned()) })
    }

    fn list(&mut self, page: &PageRequest) -> Result<Page, OpError> {
        let after = match &page.continuation {
            None => None,
            Some(token) => Some(DocumentOrdinal(token.parse().map_err(|_| refusal::foreign_continuation())?)),
        };
        let scope = FeedScope::Logical(self.key.epk.clone());
        let found = block_on(self.view().feed(&scope, after, limit(page))).map_err(refusal::of_read)?;
        let records = found.records.iter().map(|(_, record)| record);
        self.charge_ru += charge::feed(records.clone().map(|record| record.bytes as usize));
        let rows = array(records.map(|record| record.document.text()));
        Ok(Page { rows, continuation: found.next.map(|ordinal| ordinal.0.to_string()) })
    }

    fn query(&mut self, query: &Query, page: &PageRequest) -> Result<Page, OpError> {
        let parameters = parameters(query.parameters.as_deref())?;
        let bound = self.queries.bind(&query.text, &parameters);
        let bound = bound.map_err(|error| OpError::refused(400, error.to_string()))?;
        self.run_query(&bound, limit(page), page.continuation.as_deref())
    }

    fn create(&mut self, body: &str, options: &WriteOptions) -> Result<Written, OpError> {
        let item = self.item(body, options)?;
        self.put(Write::Create(item), options)
    }

    fn upsert(&mut self, body: &str, options: &WriteOptions) -> Result<Written, OpError> {
        let item = self.item(body, options)?;
        self.put(Write::Upsert(item), options)
    }

    fn replace(&mut self, document: &DocumentRef, body: &str, options: &WriteOptions) -> Result<Written, OpError> {
        let id = self.id_of(document)?;
        let item = self.item(body, &WriteOptions { disable_automatic_id: true, ..options.clone() })?;
        self.put(Write::Replace { id, item }, options)
    }

    fn delete(&mut self, document: &DocumentRef, etag: Option<&str>) -> Result<(), OpError> {
        let id = self.id_of(document)?;
        let conditions = Conditions { if_match: etag.map(str::to_owned), if_none_match: None };
        let request = WriteRequest { key: self.key.clone(), write: Write::Delete { id }, conditions, indexed: true };
        self.write(request).map(drop).map_err(refusal::of_write)
    }

    fn accepts_more(&self) -> bool {
        self.has_room()
    }

    fn size_mb(&self) -> SizeMb {
        SizeMb { current: self.counters.bytes / BYTES_PER_MB, max: LOGICAL_PARTITION_BYTES_MAX / BYTES_PER_MB }
    }
}

impl<S: Store> ScriptTransaction<S> {
    /// A body, checked; given an id where it has none and may be given one. Its key is the script's (R17).
    fn item(&self, body: &str, options: &WriteOptions) -> Result<Item, OpError> {
        let document = Document::encode(body.as_bytes()).map_err(|error| refusal::of_item(ItemError::from(error)))?;
        let nameless = document.root().kind() == Kind::Object && document.root().get("id").is_none();
        let document = if nameless && !options.disable_automatic_id {
            document.stamp(&[], &[("id", &format!("\"{}\"", self.env.uuid()))])
        } else {
            document
        };
        let item = Item::from_document(document).map_err(refusal::of_item)?;
        write::check_key(&self.container, &self.key, &item).map_err(refusal::of_write)?;
        Ok(item)
    }

    fn put(&mut self, write: Write, options: &WriteOptions) -> Result<Written, OpError> {
        let conditions = Conditions { if_match: options.etag.clone(), if_none_match: None };
        let indexed = match options.index_action {
            IndexAction::Default => self.container.indexes_by_default,
            IndexAction::Include => true,
            IndexAction::Exclude => false,
        };
        let request = WriteRequest { key: self.key.clone(), write, conditions, indexed };
        let written = self.write(request).map_err(refusal::of_write)?;
        let created = written.action == Action::Created;
        Ok(Written { document: written.record.document.text().to_owned(), created })
    }

    /// The document a link names, which must be in this logical partition.
    fn existing(&mut self, document: &DocumentRef) -> Result<DocumentRecord, OpError> {
        let found = match document {
            DocumentRef::Id(id) => self.find(id).map_err(refusal::of_read)?,
            DocumentRef::Rid(rid) => self.find_rid(rid)?,
        };
        let (DocumentRef::Id(name) | DocumentRef::Rid(name)) = document;
        found.ok_or_else(|| {
            let key = write::key_text(&self.key);
            OpError::refused(404, format!("Resource '{name}' does not exist in the logical partition {key}."))
        })
    }

    fn find_rid(&mut self, rid: &str) -> Result<Option<DocumentRecord>, OpError> {
        let number = ResourceId::parse(rid).and_then(|rid| rid.child_number(&self.container.rid, ChildKind::Document));
        let Some(number) = number else { return Ok(None) };
        let record = block_on(self.view().document(DocumentOrdinal(number))).map_err(refusal::of_read)?;
        if record.as_ref().is_some_and(|record| record.epk != self.key.epk) {
            return Err(OpError::refused(400, OTHER_KEY));
        }
        self.charge_ru +=
            record.as_ref().map_or(charge::LOOKUP_RU, |record| charge::read(record.bytes as usize, false));
        Ok(record)
    }

    /// Writes go by id; a link by RID is looked up.
    fn id_of(&mut self, document: &DocumentRef) -> Result<String, OpError> {
        if let DocumentRef::Id(id) = document {
            return Ok(id.clone());
        }
        let record = self.existing(document)?;
        let id = record.document.root().get("id").and_then(|id| id.as_str()).map(Cow::into_owned);
        Ok(id.expect("a stored document has an id"))
    }
}

fn limit(page: &PageRequest) -> PageLimit {
    let items = page.size.map_or(FEED_PAGE_ITEMS_DEFAULT, |size| size as usize);
    PageLimit { items, bytes: PAGE_BYTES_MAX }
}

pub(super) fn array<'a>(rows: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::from("[");
    for (index, row) in rows.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(row);
    }
    text.push(']');
    text
}

/// The parameters of a query, as `queryDocuments` takes them.
fn parameters(text: Option<&str>) -> Result<Vec<(String, Value)>, OpError> {
    let malformed = || OpError::refused(400, "The parameters of a query are a list of objects with name and value.");
    let Some(text) = text else { return Ok(Vec::new()) };
    let Ok(Value::Array(list)) = json::parse(text.as_bytes()) else { return Err(malformed()) };
    let parameter = |parameter: Value| {
        let Value::Object(mut parameter) = parameter else { return None };
        let name = parameter.get("name")?.as_str()?.to_owned();
        Some((name, Object::remove(&mut parameter, "value")?))
    };
    list.into_iter().map(|each| parameter(each).ok_or_else(malformed)).collect()
}
