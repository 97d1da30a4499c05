//! Time to live: how long after its last write an item is removed by itself.

use super::DefinitionError;
use crate::json::{self, Value};
use crate::limits::TTL_SECONDS_MAX;

/// What a container does with items that say nothing (`defaultTtl`). Without it, items never expire and their own
/// `ttl` is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultTtl {
    /// `-1`: only items with a `ttl` of their own expire.
    Never,
    /// Seconds, at least 1.
    Seconds(u32),
}

impl DefaultTtl {
    pub(super) fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        Ok(ttl_seconds("defaultTtl", value)?.map_or(Self::Never, Self::Seconds))
    }

    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Never => Value::from(-1),
            Self::Seconds(seconds) => Value::from(seconds),
        }
    }
}

/// A time to live as containers and items spell it: `-1` is never (`None`), otherwise seconds. `at` is the property.
pub fn ttl_seconds(at: &'static str, value: &Value) -> Result<Option<u32>, DefinitionError> {
    match value.as_i64() {
        Some(-1) => Ok(None),
        Some(seconds @ 1..=TTL_SECONDS_MAX) => Ok(Some(u32::try_from(seconds).expect("the limit fits 31 bits"))),
        _ => Err(DefinitionError::Ttl { at, found: json::to_string(value) }),
    }
}
