//! The change feed: latest versions, or all versions and deletes.
//!
//! The position is the `etag` of the answer, a quoted LSN; it comes back as `If-None-Match`. Nothing new is a 304 with
//! an etag that stays valid. A parent's position is valid on its children, which go on counting from its LSN.

use super::{item_answer, paging, scope, session};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use tesela_model::json::{Object, Value, to_string};
use tesela_model::limits::FEED_PAGE_ITEMS_DEFAULT;
use tesela_model::partition_key::Component;
use tesela_partition::layout::{DocumentRecord, HistoryRecord, Operation};
use tesela_protocol::feed::{FeedName, FeedWriter};
use tesela_protocol::status::Status;
use tesela_protocol::{header, http_date};
use tesela_router::catalog::Container;
use tesela_router::{ChangeStart, Scope, Served};
use tesela_store::Store;

/// The version of the envelope that tells of operations.
const ENVELOPE_VERSION: &str = "2021-09-15";

/// Which feed `A-IM` asks for.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Latest,
    All,
}

fn mode(call: &Call<'_>) -> Result<Mode, ApiError> {
    match call.text(&header::A_IM)? {
        Some(word) if word.eq_ignore_ascii_case("Incremental Feed") => Ok(Mode::Latest),
        Some(word) if word.eq_ignore_ascii_case("Full-Fidelity Feed") => Ok(Mode::All),
        other => Err(ApiError::bad_request(format!(
            "A-IM '{}' is neither 'Incremental Feed' nor 'Full-Fidelity Feed'",
            other.unwrap_or_default()
        ))),
    }
}

/// `If-None-Match` (a position, or `*` for now) wins over `If-Modified-Since`.
fn start(call: &Call<'_>) -> Result<ChangeStart, ApiError> {
    match call.text(&header::IF_NONE_MATCH)? {
        Some("*") => return Ok(ChangeStart::Now),
        Some(position) if !position.is_empty() => {
            let lsn = position.trim_start_matches("W/").trim_matches('"').parse();
            return lsn
                .map(ChangeStart::After)
                .map_err(|_| ApiError::bad_request(format!("'{position}' is no position of a change feed")));
        }
        _ => {}
    }
    match call.text(&header::IF_MODIFIED_SINCE)? {
        Some(date) if !date.is_empty() => {
            let seconds =
                http_date::parse(date).ok_or_else(|| ApiError::bad_request(format!("'{date}' is no HTTP date")))?;
            Ok(ChangeStart::Time(u64::try_from(seconds).unwrap_or(0)))
        }
        _ => Ok(ChangeStart::Beginning),
    }
}

struct Page {
    served: Served,
    items: Vec<String>,
    position: u64,
    charge_ru: f64,
}

impl<S: Store> Gateway<S> {
    pub(super) async fn change_feed(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        session::reads_strong(call, self.account().consistency)?;
        session::check(call)?;
        let scope = scope::of(call, container)?;
        let page = match mode(call)? {
            Mode::Latest => self.latest_page(call, container, &scope).await?,
            Mode::All => self.all_page(call, container, &scope).await?,
        };
        let mut answer = if page.items.is_empty() {
            Answer::new(Status::NotModified)
        } else {
            let mut feed = FeedWriter::new(&container.rid.to_string(), FeedName::Documents);
            page.items.iter().for_each(|item| feed.push(item));
            let mut answer = Answer::json(Status::Ok, feed.finish());
            answer.write(&header::ITEM_COUNT, page.items.len());
            answer
        };
        answer.write(&header::ETAG, format_args!("\"{}\"", page.position));
        answer.set_request_charge(page.charge_ru);
        item_answer::write_served(&mut answer, container, page.served);
        Ok(answer)
    }

    async fn latest_page(&self, call: &Call<'_>, container: &Container, scope: &Scope) -> Result<Page, ApiError> {
        let envelope = call.text(&header::CHANGE_FEED_WIRE_FORMAT)? == Some(ENVELOPE_VERSION);
        let limit = paging::limit(call, FEED_PAGE_ITEMS_DEFAULT)?;
        let changes = self.router().latest_changes(container, scope, start(call)?, limit).await?;
        let item = |(lsn, record): &(u64, DocumentRecord)| {
            let text = record.document.text();
            if !envelope {
                return format!("{},\"_lsn\":{lsn}}}", &text[..text.len() - 1]);
            }
            let metadata = metadata(Operation::Replace, *lsn, written_at(record), 0, None);
            format!("{{\"current\":{text},\"metadata\":{}}}", to_string(&metadata))
        };
        let items = changes.page.changes.iter().map(item).collect();
        Ok(Page { served: changes.served, items, position: changes.page.position, charge_ru: changes.charge_ru })
    }

    async fn all_page(&self, call: &Call<'_>, container: &Container, scope: &Scope) -> Result<Page, ApiError> {
        if container.definition.change_feed_policy.is_none() {
            return Err(ApiError::bad_request(
                "All Versions and Deletes must be enabled for the container: it needs a changeFeedPolicy with a retentionDuration",
            ));
        }
        let after = match start(call)? {
            ChangeStart::Now => None,
            ChangeStart::After(lsn) => Some(lsn),
            ChangeStart::Beginning | ChangeStart::Time(_) => {
                return Err(ApiError::bad_request(
                    "the all-versions change feed starts now or at a continuation, not at the beginning or a time",
                ));
            }
        };
        let limit = paging::limit(call, FEED_PAGE_ITEMS_DEFAULT)?;
        let changes = self.router().all_changes(container, scope, after, limit).await?;
        let items = changes.page.changes.iter().map(|(lsn, change)| envelope(*lsn, change, container)).collect();
        Ok(Page { served: changes.served, items, position: changes.page.position, charge_ru: changes.charge_ru })
    }
}

fn written_at(record: &DocumentRecord) -> u64 {
    record.document.root().get("_ts").and_then(|node| node.as_f64()).unwrap_or_default() as u64
}

fn metadata(operation: Operation, lsn: u64, at: u64, previous: u64, deleted: Option<(Value, Value)>) -> Value {
    let mut object = Object::new();
    object.insert(
        "operationType",
        match operation {
            Operation::Create => "create",
            Operation::Replace => "replace",
            Operation::Delete | Operation::Expire => "delete",
        },
    );
    object.insert("lsn", lsn);
    object.insert("crts", at);
    if previous > 0 {
        object.insert("previousImageLSN", previous);
    }
    if operation == Operation::Expire {
        object.insert("timeToLiveExpired", true);
    }
    if let Some((id, key)) = deleted {
        object.insert("id", id);
        object.insert("partitionKey", key);
    }
    Value::Object(object)
}

/// A deleted item is named by its id and key: its last version is not told.
fn envelope(lsn: u64, change: &HistoryRecord, container: &Container) -> String {
    let root = change.document.root();
    let gone = matches!(change.operation, Operation::Delete | Operation::Expire);
    let named = gone.then(|| {
        let definition = &container.definition.partition_key;
        let names = definition.paths.iter().map(|path| path.steps().last().cloned().unwrap_or_default());
        let values = definition.extract(root).components().iter().map(Component::to_json).collect::<Vec<_>>();
        let key: Object = names.zip(values).collect();
        (root.get("id").map_or(Value::Null, |id| id.to_value()), Value::Object(key))
    });
    let current = if gone { "{}" } else { change.document.text() };
    let metadata = metadata(change.operation, lsn, change.at, change.previous_lsn, named);
    format!("{{\"current\":{current},\"metadata\":{}}}", to_string(&metadata))
}
