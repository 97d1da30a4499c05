//! An operation a script asked for: read from the queue of the prelude, run against the collection, and
//! turned into what the prelude delivers to the script's callback.
//!
//! The prelude has checked arguments already, to throw at the line that is wrong. But a script with a
//! realm of its own can change what the prelude stands on, so nothing is believed here: an operation
//! that does not parse is refused with 400 like any other.

use rquickjs::{Ctx, Object, String as JsString, Value};

use crate::collection::{
    Collection, DocumentRef, IndexAction, OpError, PageRequest, Query, Read, SizeMb, WriteOptions,
};
use crate::link::Links;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read { document: DocumentRef, if_none_match: Option<String> },
    List { page: PageRequest },
    Query { query: Query, page: PageRequest },
    Create { body: String, options: WriteOptions },
    Upsert { body: String, options: WriteOptions },
    Replace { document: DocumentRef, body: String, options: WriteOptions },
    Delete { document: DocumentRef, etag: Option<String> },
}

/// What goes back into the script.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// 0, or the number of the error.
    pub failure: u16,
    /// Text of the error.
    pub text: String,
    /// JSON text of the document or of the array of rows.
    pub resource: Option<String>,
    pub continuation: Option<String>,
    pub not_modified: bool,
    pub status: u16,
    pub size: SizeMb,
}

impl Operation {
    /// Reads the object made by `operation()` in the prelude.
    pub(crate) fn read(queued: &Object<'_>, links: &Links) -> Result<Self, OpError> {
        let kind = text(queued, "kind")?.ok_or_else(|| malformed("kind"))?;
        let document = || {
            let link = text(queued, "link")?.ok_or_else(|| malformed("link"))?;
            links.document(&link).ok_or_else(|| {
                OpError::refused(
                    400,
                    format!("The link {link} is not that of a document in the context of this collection."),
                )
            })
        };
        let body = || text(queued, "body")?.ok_or_else(|| malformed("body"));
        Ok(match kind.as_str() {
            "read" => Self::Read { document: document()?, if_none_match: text(queued, "etag")? },
            "list" => Self::List { page: page(queued)? },
            "query" => {
                let query = Query { text: body()?, parameters: text(queued, "parameters")? };
                Self::Query { query, page: page(queued)? }
            }
            "create" => Self::Create { body: body()?, options: write_options(queued)? },
            "upsert" => Self::Upsert { body: body()?, options: write_options(queued)? },
            "replace" => Self::Replace { document: document()?, body: body()?, options: write_options(queued)? },
            "delete" => Self::Delete { document: document()?, etag: text(queued, "etag")? },
            _ => return Err(malformed("kind")),
        })
    }

    pub(crate) fn perform(&self, collection: &mut dyn Collection) -> Result<Reply, OpError> {
        match self {
            Self::Read { document, if_none_match } => {
                Ok(match collection.read(document, if_none_match.as_deref())? {
                    Read::Found(text) => Reply { status: 200, resource: Some(text), ..Reply::default() },
                    Read::NotModified => Reply { status: 304, not_modified: true, ..Reply::default() },
                })
            }
            Self::List { page } => collection.list(page).map(rows),
            Self::Query { query, page } => collection.query(query, page).map(rows),
            Self::Create { body, options } => collection.create(body, options).map(written),
            Self::Upsert { body, options } => collection.upsert(body, options).map(written),
            Self::Replace { document, body, options } => {
                let reply = collection.replace(document, body, options).map(written)?;
                Ok(Reply { status: 200, ..reply })
            }
            Self::Delete { document, etag } => {
                collection.delete(document, etag.as_deref())?;
                Ok(Reply { status: 204, ..Reply::default() })
            }
        }
    }
}

impl Reply {
    pub(crate) fn refusal(number: u16, text: String) -> Self {
        // 0 would read as success.
        let failure = number.max(1);
        Self { failure, text, status: number, ..Self::default() }
    }

    /// The resource as a JavaScript value.
    pub(crate) fn resource<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        match &self.resource {
            Some(text) => ctx.json_parse(text.as_str()),
            None => Ok(Value::new_undefined(ctx.clone())),
        }
    }
}

fn rows(page: crate::collection::Page) -> Reply {
    Reply { status: 200, resource: Some(page.rows), continuation: page.continuation, ..Reply::default() }
}

fn written(written: crate::collection::Written) -> Reply {
    let status = if written.created { 201 } else { 200 };
    Reply { status, resource: Some(written.document), ..Reply::default() }
}

fn malformed(field: &str) -> OpError {
    OpError::refused(400, format!("The operation has no valid {field}."))
}

/// A text field; `None` if it is undefined or null.
fn text(queued: &Object<'_>, field: &str) -> Result<Option<String>, OpError> {
    let value: Option<JsString<'_>> = queued.get(field).map_err(|_| malformed(field))?;
    value.map(|text| text.to_string().map_err(|_| malformed(field))).transpose()
}

fn page(queued: &Object<'_>) -> Result<PageRequest, OpError> {
    let size: Option<f64> = queued.get("pageSize").map_err(|_| malformed("pageSize"))?;
    let size = match size {
        None | Some(-1.0) => None,
        Some(size) if size.fract() == 0.0 && (1.0..=f64::from(i32::MAX)).contains(&size) => Some(size as u32),
        Some(_) => return Err(malformed("pageSize")),
    };
    Ok(PageRequest { size, continuation: text(queued, "continuation")? })
}

fn write_options(queued: &Object<'_>) -> Result<WriteOptions, OpError> {
    let index_action = match text(queued, "indexAction")?.as_deref() {
        None | Some("default") => IndexAction::Default,
        Some("include") => IndexAction::Include,
        Some("exclude") => IndexAction::Exclude,
        Some(_) => return Err(malformed("indexAction")),
    };
    let generate_id: bool = queued.get("generateId").map_err(|_| malformed("generateId"))?;
    Ok(WriteOptions { index_action, etag: text(queued, "etag")?, disable_automatic_id: !generate_id })
}
