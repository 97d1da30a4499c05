//! Why a run stopped: a sentence for the person who started it.

use std::fmt;

#[derive(Debug)]
pub struct Failure(String);

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

/// Names what was being done when a call failed.
pub trait Doing<T> {
    fn doing(self, what: &str) -> Result<T>;
}

impl<T, E: fmt::Display> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: &str) -> Result<T> {
        self.map_err(|error| Failure(format!("{what}: {error}")))
    }
}
