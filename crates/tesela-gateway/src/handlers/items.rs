//! Items one at a time: create, upsert, read, replace, patch, delete.

use super::{item_answer, item_key, scripts, session};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use std::borrow::Cow;
use tesela_model::rid::{ChildKind, DocumentOrdinal, ResourceId};
use tesela_partition::item::{Item, ItemError, LogicalKey};
use tesela_partition::patch::Patch;
use tesela_partition::write::{Action, Conditions, Write, WriteRequest, etag_matches};
use tesela_partition::{charge, etag};
use tesela_protocol::header;
use tesela_protocol::link::Addressing;
use tesela_protocol::status::Status;
use tesela_router::catalog::Container;
use tesela_router::{ItemRead, TriggeredWrite};
use tesela_store::Store;

impl<S: Store> Gateway<S> {
    /// POST to the feed, neither a query nor a batch.
    pub(super) async fn create_item(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        let item = parse_item(&call.body)?;
        let key = item_key::of_body(call, &container.definition.partition_key, &item)?;
        let upsert = call.flag(&header::IS_UPSERT)?;
        let write = if upsert { Write::Upsert(item) } else { Write::Create(item) };
        self.write_item(call, container, key, write).await
    }

    pub(super) async fn read_item(&self, call: &Call<'_>, container: &Container, id: &str) -> Result<Answer, ApiError> {
        let strong = session::reads_strong(call, self.account().consistency)?;
        session::check(call)?;
        let definition = &container.definition.partition_key;
        let read = match self.find_by_rid(call, container, id, strong).await? {
            Some(mut found) => {
                // A RID needs no key; one that is given must be whole, and the item's.
                let key = call.partition_key()?.map(|value| item_key::full(value, definition)).transpose()?;
                found.record.take_if(|record| key.is_some_and(|key| key.epk != record.epk));
                found
            }
            None => self.router().read_item(container, &item_key::of_point(call, definition)?, id, strong).await?,
        };
        let Some(record) = &read.record else {
            let error =
                ApiError::not_found(format!("Entity with the specified id does not exist in the system: '{id}'"));
            return Err(item_answer::served_error(error.with_request_charge(read.charge_ru), container, read.served));
        };
        let known = call.text(&header::IF_NONE_MATCH)?.is_some_and(|wanted| etag_matches(wanted, &etag::of(record)));
        let mut answer = if known {
            item_answer::item(Status::NotModified, record, true)
        } else {
            item_answer::item(Status::Ok, record, false)
        };
        answer.set_request_charge(if known { charge::LOOKUP_RU } else { read.charge_ru });
        item_answer::write_served(&mut answer, container, read.served);
        item_answer::write_usage(&mut answer, self.router().usage(container, read.served.partition));
        Ok(answer)
    }

    pub(super) async fn replace_item(
        &self,
        call: &Call<'_>,
        container: &Container,
        id: &str,
    ) -> Result<Answer, ApiError> {
        let item = parse_item(&call.body)?;
        let (key, id) = self.address(call, container, id).await?;
        let found =
            item.key(&container.definition.partition_key).map_err(|error| ApiError::bad_request(error.to_string()))?;
        // R6: the key value of an item cannot be changed.
        if found.value != key.value {
            return Err(item_key::mismatch());
        }
        self.write_item(call, container, key, Write::Replace { id, item }).await
    }

    pub(super) async fn patch_item(
        &self,
        call: &Call<'_>,
        container: &Container,
        id: &str,
    ) -> Result<Answer, ApiError> {
        let body = tesela_model::json::parse(&call.body)
            .map_err(|error| ApiError::bad_request(format!("the body is not valid JSON: {error}")))?;
        let patch = Patch::from_json(&body).map_err(|error| ApiError::bad_request(error.to_string()))?;
        let condition =
            patch.condition.as_deref().map(|text| self.router().patch_condition(container, text)).transpose()?;
        let (key, id) = self.address(call, container, id).await?;
        self.write_item(call, container, key, Write::Patch { id, patch, condition }).await
    }

    pub(super) async fn delete_item(
        &self,
        call: &Call<'_>,
        container: &Container,
        id: &str,
    ) -> Result<Answer, ApiError> {
        let (key, id) = self.address(call, container, id).await?;
        self.write_item(call, container, key, Write::Delete { id }).await
    }

    async fn write_item(
        &self,
        call: &Call<'_>,
        container: &Container,
        key: LogicalKey,
        write: Write,
    ) -> Result<Answer, ApiError> {
        let conditions = Conditions {
            if_match: call.text(&header::IF_MATCH)?.map(str::to_owned),
            if_none_match: call.text(&header::IF_NONE_MATCH)?.map(str::to_owned),
        };
        let indexed = indexing_directive(call.text(&header::INDEXING_DIRECTIVE)?, container)?;
        let request = WriteRequest { key, write, conditions, indexed };
        let outcome = match scripts::trigger_names(call)? {
            None => {
                let item = self.router().write_item(container, request).await;
                item.map(|item| TriggeredWrite { item, response: None, log: None })
            }
            Some(names) => self.router().write_triggered(container, request, names, scripts::logging(call)?).await,
        };
        let TriggeredWrite { item: done, response, log } =
            outcome.map_err(|refused| scripts::script_refused(refused, container))?;
        let written = &done.written;
        let mut answer = match written.action {
            Action::Created => item_answer::item(Status::Created, &written.record, call.wants_minimal()?),
            Action::Replaced => item_answer::item(Status::Ok, &written.record, call.wants_minimal()?),
            Action::Deleted => Answer::new(Status::NoContent),
        };
        if let Some(response) = response
            && answer.status() != Status::NoContent
        {
            answer.set_body(response);
        }
        scripts::write_log(&mut answer, log.as_deref());
        answer.set_request_charge(written.charge_ru);
        item_answer::write_served(&mut answer, container, done.served);
        item_answer::write_usage(&mut answer, self.router().usage(container, done.served.partition));
        Ok(answer)
    }

    /// The key and id of the item a path names, by name or by RID.
    async fn address(
        &self,
        call: &Call<'_>,
        container: &Container,
        id: &str,
    ) -> Result<(LogicalKey, String), ApiError> {
        let Some(found) = self.find_by_rid(call, container, id, false).await? else {
            return Ok((item_key::of_point(call, &container.definition.partition_key)?, id.to_owned()));
        };
        let definition = &container.definition.partition_key;
        let record =
            found.record.ok_or_else(|| ApiError::not_found(format!("there is no item with the resource id '{id}'")))?;
        let root = record.document.root();
        let name = root.get("id").and_then(|id| id.as_str()).map(Cow::into_owned).unwrap_or_default();
        let key = LogicalKey { value: definition.extract(root), epk: record.epk.clone() };
        match call.partition_key()? {
            Some(value) if item_key::full(value.clone(), definition)?.value != key.value => Err(item_key::mismatch()),
            _ => Ok((key, name)),
        }
    }

    /// The item of a RID path; `None` when the path is by names.
    async fn find_by_rid(
        &self,
        call: &Call<'_>,
        container: &Container,
        id: &str,
        strong: bool,
    ) -> Result<Option<ItemRead>, ApiError> {
        if call.link.addressing != Addressing::Rid {
            return Ok(None);
        }
        let number = ResourceId::parse(id).and_then(|rid| rid.child_number(&container.rid, ChildKind::Document));
        let Some(number) = number else { return Ok(None) };
        match self.router().read_item_by_ordinal(container, DocumentOrdinal(number), strong).await? {
            Some(read) => Ok(Some(read)),
            None => Err(ApiError::not_found(format!("there is no item with the resource id '{id}'"))),
        }
    }
}

/// The body of a write.
pub(super) fn parse_item(body: &[u8]) -> Result<Item, ApiError> {
    Item::parse(body).map_err(|error| match error {
        ItemError::TooLarge { .. } => ApiError::new(Status::RequestEntityTooLarge, error.to_string()),
        _ => ApiError::bad_request(error.to_string()),
    })
}

/// Whether the item goes into the index: by the request, else by the policy.
pub(super) fn indexing_directive(directive: Option<&str>, container: &Container) -> Result<bool, ApiError> {
    match directive {
        None => Ok(container.definition.indexing_policy.automatic()),
        Some(word) if word.eq_ignore_ascii_case("default") => Ok(container.definition.indexing_policy.automatic()),
        Some(word) if word.eq_ignore_ascii_case("include") => Ok(true),
        Some(word) if word.eq_ignore_ascii_case("exclude") => Ok(false),
        Some(word) => Err(ApiError::bad_request(format!(
            "the indexing directive '{word}' is not one of Default, Include, Exclude"
        ))),
    }
}
