//! Refusals and failures in the terms of the server-side API: a number like an HTTP status, and a text.

use crate::error::{ReadError, WriteError};
use crate::item::ItemError;
use crate::query::PageError;
use tesela_script::OpError;

/// The service's own words, which programs look for.
pub const OTHER_KEY: &str = "Requests originating from scripts cannot reference partition keys other than the one for which client request was submitted.";

/// What a script is told of a write that was not done.
pub(super) fn of_write(error: WriteError) -> OpError {
    let message = error.to_string();
    let refused = |number| OpError::refused(number, message.clone());
    match error {
        WriteError::NotFound { .. } => refused(404),
        WriteError::AlreadyExists { .. } | WriteError::UniqueKey { .. } | WriteError::HashCollision { .. } => {
            refused(409)
        }
        WriteError::EtagMismatch { .. } | WriteError::Exists { .. } | WriteError::PatchCondition { .. } => refused(412),
        WriteError::KeyMismatch { .. } => OpError::refused(400, OTHER_KEY),
        WriteError::TooLarge { .. } | WriteError::Item(ItemError::TooLarge { .. }) => refused(413),
        WriteError::LogicalPartitionFull { .. } => refused(403),
        WriteError::Item(_) | WriteError::Patch(_) => refused(400),
        WriteError::Contended { .. } => abort(449, message),
        WriteError::Gone => abort(410, message),
        WriteError::Layout(_) => abort(500, message),
        WriteError::Store(_) => abort(503, message),
    }
}

pub(super) fn of_item(error: ItemError) -> OpError {
    of_write(WriteError::Item(error))
}

pub(super) fn of_read(error: ReadError) -> OpError {
    match error {
        ReadError::Layout(error) => abort(500, error.to_string()),
        ReadError::Store(error) => abort(503, error.to_string()),
    }
}

pub(super) fn of_page(error: PageError) -> OpError {
    match error {
        PageError::Read(error) => of_read(error),
        PageError::Query(error) => OpError::refused(400, error.to_string()),
        PageError::Order(error) => OpError::refused(400, error.to_string()),
    }
}

pub(super) fn foreign_continuation() -> OpError {
    OpError::refused(400, "The continuation is not one that this method has answered.")
}

/// Not the script's to handle.
fn abort(status: u16, message: String) -> OpError {
    OpError::Abort { status, substatus: 0, message }
}
