//! Why a partition did not do what it was asked. Facts only: the border turns them into status codes and remedies.

use crate::item::ItemError;
use crate::layout::LayoutError;
use crate::patch::PatchError;
use tesela_model::limits::{DOCUMENT_BYTES_MAX, LOGICAL_PARTITION_BYTES_MAX};

/// A refused or failed write.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WriteError {
    #[error("Entity with the specified id '{id}' does not exist in the logical partition {key}")]
    NotFound { id: String, key: String },
    #[error("Entity with the specified id already exists: '{id}' in the logical partition {key}")]
    AlreadyExists { id: String, key: String },
    #[error("unique index constraint violation: the values of {paths} exist already in the logical partition {key}")]
    UniqueKey { paths: String, key: String },
    #[error("the etag of '{id}' is {found}, the request wanted {wanted}")]
    EtagMismatch { id: String, found: String, wanted: String },
    #[error("'{id}' exists, and the request wanted it not to")]
    Exists { id: String },
    #[error("the condition of the patch does not hold for '{id}'")]
    PatchCondition { id: String },
    #[error("PartitionKey extracted from document {found} doesn't match the one specified in the header {wanted}")]
    KeyMismatch { found: String, wanted: String },
    #[error("the item is {bytes} bytes large, more than {DOCUMENT_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("Partition key {key} reached maximum size of {} GB", LOGICAL_PARTITION_BYTES_MAX >> 30)]
    LogicalPartitionFull { key: String },
    #[error("two partition key values share the hash {epk}: {one} and {other}")]
    HashCollision { epk: String, one: String, other: String },
    #[error(transparent)]
    Item(#[from] ItemError),
    #[error(transparent)]
    Patch(#[from] PatchError),
    #[error("the logical partition {key} changed while the transaction ran")]
    Contended { key: String },
    #[error("the partition is no longer served here")]
    Gone,
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error("storage: {0}")]
    Store(#[from] tesela_store::Error),
}

impl WriteError {
    pub(crate) fn damaged(what: &'static str, reason: &str) -> Self {
        Self::Layout(LayoutError { what, reason: reason.to_owned() })
    }
}

/// A failed read. What is not there is no error: reads answer with an `Option`.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error("storage: {0}")]
    Store(#[from] tesela_store::Error),
}
