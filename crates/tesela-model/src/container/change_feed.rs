//! `changeFeedPolicy`: how long every version and every delete is kept for the change feed.

use super::DefinitionError;
use super::fields::{Fields, invalid, with_extra};
use crate::json::{Object, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct ChangeFeedPolicy {
    /// Minutes all versions and deletes are kept; 0 keeps the latest versions only.
    pub retention_minutes: u32,
    pub extra: Object,
}

impl ChangeFeedPolicy {
    pub(super) fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        let mut fields = Fields::of("changeFeedPolicy", value)?;
        let minutes = fields.integer("retentionDuration")?.unwrap_or(0);
        let retention_minutes = u32::try_from(minutes)
            .map_err(|_| invalid(fields.place("retentionDuration"), "a number of minutes", &Value::from(minutes)))?;
        Ok(Self { retention_minutes, extra: fields.rest() })
    }

    pub(super) fn to_json(&self) -> Value {
        with_extra([("retentionDuration", self.retention_minutes)].into_iter().collect(), &self.extra)
    }
}
