//! What can go wrong at the seam. A variant tells the one thing a caller must know: was the
//! commit applied, and is it worth trying again.

use std::io;
use std::sync::Arc;

use crate::SpaceId;
use crate::batch::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Cloneable, because one failed write answers every commit that was merged into it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("there is no key space {0}")]
    NoSuchSpace(SpaceId),

    #[error("an empty key was written to key space {space}")]
    EmptyKey { space: SpaceId },

    #[error("a key of {bytes} bytes was written to key space {space}, at most {KEY_BYTES_MAX} are allowed")]
    KeyTooLong { space: SpaceId, bytes: usize },

    #[error("a value of {bytes} bytes was written to key space {space}, at most {VALUE_BYTES_MAX} are allowed")]
    ValueTooLong { space: SpaceId, bytes: usize },

    /// Nothing was applied; the same call may succeed later.
    #[error("the store cannot be reached: {reason}")]
    Unavailable { reason: String },

    /// The commit was sent and no answer came: it may or may not have been applied.
    #[error("the outcome of the commit is unknown: {reason}")]
    OutcomeUnknown { reason: String },

    /// A write or fsync failed, now or earlier. What the disk holds is known only after a restart, so
    /// nothing more is accepted.
    #[error("the store stopped accepting writes after a failed write: {reason}")]
    Poisoned { reason: String },

    /// What was read back is not what was written.
    #[error("stored data is damaged: {reason}")]
    Damaged { reason: String },

    #[error("the store is closed")]
    Closed,

    #[error("storage input or output failed: {0}")]
    Io(Arc<io::Error>),
}

impl Error {
    /// False if the commit that was answered so is certainly not applied; true if only a later
    /// read can tell.
    pub fn may_have_applied(&self) -> bool {
        match self {
            Self::OutcomeUnknown { .. } | Self::Poisoned { .. } | Self::Io(_) | Self::Damaged { .. } => true,
            Self::NoSuchSpace(_)
            | Self::EmptyKey { .. }
            | Self::KeyTooLong { .. }
            | Self::ValueTooLong { .. }
            | Self::Unavailable { .. }
            | Self::Closed => false,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}
