//! Why a command stopped: one sentence for the person at the terminal.
//!
//! Nobody catches these to decide something else, so there are no variants: a failure is its text,
//! with the thing that failed named in it.

use std::fmt;

/// The reason a command failed, ready to print.
#[derive(Debug)]
pub struct Failure(String);

/// What every command returns.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names what was being done when an I/O call failed.
pub trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: fmt::Display> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure(format!("{}: {error}", what())))
    }
}
