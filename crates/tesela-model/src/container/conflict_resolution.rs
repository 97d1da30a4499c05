//! `conflictResolutionPolicy`: who wins when two regions wrote the same item. With one write region nobody has to; the
//! policy is kept and echoed.

use super::DefinitionError;
use super::fields::Fields;
use crate::json::{Object, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictResolutionPolicy {
    /// The higher value at a path wins.
    LastWriterWins { path: String },
    /// A stored procedure decides, or nobody does and the conflicts feed shows it (empty link).
    Custom { procedure: String },
}

impl Default for ConflictResolutionPolicy {
    fn default() -> Self {
        Self::LastWriterWins { path: "/_ts".to_owned() }
    }
}

#[derive(Clone, Copy)]
enum Mode {
    LastWriterWins,
    Custom,
}

impl ConflictResolutionPolicy {
    pub(super) fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        const MODES: [(&str, Mode); 2] = [("LastWriterWins", Mode::LastWriterWins), ("Custom", Mode::Custom)];
        let mut fields = Fields::of("conflictResolutionPolicy", value)?;
        let mode = fields.word("mode", "LastWriterWins or Custom", &MODES)?.unwrap_or(Mode::LastWriterWins);
        let path = fields.string("conflictResolutionPath")?.filter(|path| !path.is_empty());
        let procedure = fields.string("conflictResolutionProcedure")?.unwrap_or("");
        Ok(match mode {
            Mode::LastWriterWins => Self::LastWriterWins { path: path.unwrap_or("/_ts").to_owned() },
            Mode::Custom => Self::Custom { procedure: procedure.to_owned() },
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let (mode, path, procedure) = match self {
            Self::LastWriterWins { path } => ("LastWriterWins", path.as_str(), ""),
            Self::Custom { procedure } => ("Custom", "", procedure.as_str()),
        };
        [("mode", mode), ("conflictResolutionPath", path), ("conflictResolutionProcedure", procedure)]
            .into_iter()
            .collect::<Object>()
            .into()
    }
}
