//! Batches: a list of item operations in one request, a list of results in the answer.
//!
//! ```json
//! [{"operationType":"Create","resourceBody":{"id":"z","pk":"x"}},
//!  {"operationType":"Delete","id":"z","ifMatch":"\"e\"","partitionKey":"[\"x\"]"}]
//! ```
//!
//! The key of a bulk operation is a *string* that holds the header form of a partition key. Bodies are
//! kept as the text the client wrote. Results go back in the order and number of the operations.
//!
//! A .NET client sends the same list as HybridRow records, known by their first byte; see
//! [`BatchEncoding`]. Reading that form is not done here.

use tesela_model::document::{Document, Kind, Node};
use tesela_model::json::{self, Number};
use tesela_model::limits::BATCH_OPERATIONS_MAX;
use tesela_model::partition_key::PartitionKeyValue;

use crate::partition_key_header::{self, PartitionKeyHeaderError};
use crate::status::SubStatus;

#[cfg(test)]
mod tests;

/// First byte of a HybridRow stream.
const HYBRID_ROW_VERSION: u8 = 0x81;

/// How the operations are written; the answer has to use the same form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchEncoding {
    Json,
    HybridRow,
}

impl BatchEncoding {
    pub fn of(body: &[u8]) -> Self {
        if body.first() == Some(&HYBRID_ROW_VERSION) { Self::HybridRow } else { Self::Json }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOperationKind {
    Create,
    Upsert,
    Replace,
    Patch,
    Read,
    Delete,
}

impl BatchOperationKind {
    const ALL: [Self; 6] = [Self::Create, Self::Upsert, Self::Replace, Self::Patch, Self::Read, Self::Delete];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Upsert => "Upsert",
            Self::Replace => "Replace",
            Self::Patch => "Patch",
            Self::Read => "Read",
            Self::Delete => "Delete",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    const fn needs_id(self) -> bool {
        !matches!(self, Self::Create | Self::Upsert)
    }

    const fn needs_body(self) -> bool {
        !matches!(self, Self::Read | Self::Delete)
    }
}

/// One operation. `id` is there for replace, patch, read and delete; `body` for all but read and delete.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchOperation {
    pub kind: BatchOperationKind,
    pub id: Option<String>,
    pub partition_key: Option<PartitionKeyValue>,
    /// JSON text of an object: the item, or the patch.
    pub body: Option<String>,
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
    pub indexing_directive: Option<String>,
    /// The client does not want this item back.
    pub minimal_return: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    #[error("the batch is not JSON: {0}")]
    NotJson(json::ParseError),
    #[error("the batch is not a JSON array of operations")]
    NotArray,
    // Clients' own tests compare the next two texts.
    #[error("Batch request has no operations.")]
    Empty,
    #[error("Batch request has more operations than what is supported.")]
    TooMany,
    #[error("operation {index} of the batch is not an object with a known operationType")]
    UnknownOperation { index: usize },
    #[error("operation {index} of the batch lacks {field}")]
    Missing { index: usize, field: &'static str },
    #[error("{field} of operation {index} of the batch has the wrong type")]
    WrongType { index: usize, field: &'static str },
    #[error("operation {index} of the batch: {error}")]
    PartitionKey { index: usize, error: PartitionKeyHeaderError },
}

/// Reads the operations of a JSON batch.
pub fn parse(body: &[u8]) -> Result<Vec<BatchOperation>, BatchError> {
    let document = Document::encode(body).map_err(BatchError::NotJson)?;
    let root = document.root();
    match root.len() {
        _ if root.kind() != Kind::Array => Err(BatchError::NotArray),
        0 => Err(BatchError::Empty),
        count if count > BATCH_OPERATIONS_MAX => Err(BatchError::TooMany),
        _ => root.elements().enumerate().map(|(index, node)| Fields { index, node }.operation()).collect(),
    }
}

/// The members of one operation.
#[derive(Clone, Copy)]
struct Fields<'a> {
    index: usize,
    node: Node<'a>,
}

impl<'a> Fields<'a> {
    fn operation(self) -> Result<BatchOperation, BatchError> {
        let index = self.index;
        if self.node.kind() != Kind::Object {
            return Err(BatchError::UnknownOperation { index });
        }
        let kind = self.text("operationType")?.and_then(|name| BatchOperationKind::parse(&name));
        let kind = kind.ok_or(BatchError::UnknownOperation { index })?;
        let id = self.text("id")?;
        let body = self.body()?;
        if kind.needs_id() && id.is_none() {
            return Err(BatchError::Missing { index, field: "id" });
        }
        if kind.needs_body() && body.is_none() {
            return Err(BatchError::Missing { index, field: "resourceBody" });
        }
        Ok(BatchOperation {
            kind,
            id,
            partition_key: self.partition_key()?,
            body,
            if_match: self.text("ifMatch")?,
            if_none_match: self.text("ifNoneMatch")?,
            indexing_directive: self.text("indexingDirective")?,
            minimal_return: self.flag("minimalReturnPreference")?,
        })
    }

    /// A member that is there and not null.
    fn member(self, field: &'static str) -> Option<Node<'a>> {
        self.node.get(field).filter(|node| node.kind() != Kind::Null)
    }

    fn wrong_type(self, field: &'static str) -> BatchError {
        BatchError::WrongType { index: self.index, field }
    }

    fn text(self, field: &'static str) -> Result<Option<String>, BatchError> {
        let read = |node: Node<'a>| node.as_str().ok_or_else(|| self.wrong_type(field));
        Ok(self.member(field).map(read).transpose()?.map(std::borrow::Cow::into_owned))
    }

    fn flag(self, field: &'static str) -> Result<bool, BatchError> {
        let read = |node: Node<'a>| node.as_bool().ok_or_else(|| self.wrong_type(field));
        Ok(self.member(field).map(read).transpose()?.unwrap_or(false))
    }

    fn body(self) -> Result<Option<String>, BatchError> {
        match self.member("resourceBody") {
            None => Ok(None),
            Some(node) if node.kind() == Kind::Object => Ok(Some(node.text().to_owned())),
            Some(_) => Err(self.wrong_type("resourceBody")),
        }
    }

    fn partition_key(self) -> Result<Option<PartitionKeyValue>, BatchError> {
        let Some(header) = self.text("partitionKey")? else { return Ok(None) };
        let key = partition_key_header::parse(&header);
        key.map(Some).map_err(|error| BatchError::PartitionKey { index: self.index, error })
    }
}

/// What became of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchResult<'a> {
    pub status: u16,
    pub sub_status: SubStatus,
    pub request_charge: f64,
    pub etag: Option<&'a str>,
    /// JSON text of an object.
    pub resource_body: Option<&'a str>,
    pub retry_after_ms: Option<u64>,
    pub message: Option<&'a str>,
}

/// The JSON answer to a batch.
pub fn write_results<'a>(results: impl IntoIterator<Item = BatchResult<'a>>) -> Vec<u8> {
    let mut out = vec![b'['];
    for (index, result) in results.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        result.write(&mut out);
    }
    out.push(b']');
    out
}

impl BatchResult<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{\"statusCode\":{}", self.status).as_bytes());
        if !self.sub_status.is_none() {
            out.extend_from_slice(format!(",\"subStatusCode\":{}", self.sub_status.0).as_bytes());
        }
        let charge = Number::from(self.request_charge);
        out.extend_from_slice(format!(",\"requestCharge\":{}", charge.text()).as_bytes());
        if let Some(etag) = self.etag {
            out.extend_from_slice(b",\"eTag\":");
            json::write_string(etag, out);
        }
        if let Some(body) = self.resource_body {
            out.extend_from_slice(b",\"resourceBody\":");
            out.extend_from_slice(body.as_bytes());
        }
        if let Some(wait) = self.retry_after_ms {
            out.extend_from_slice(format!(",\"retryAfterMilliseconds\":{wait}").as_bytes());
        }
        if let Some(message) = self.message {
            out.extend_from_slice(b",\"message\":");
            json::write_string(message, out);
        }
        out.push(b'}');
    }
}
