//! Computed properties: named expressions over an item, used in queries like stored ones.
//!
//! The query text is kept as it is; the query layer reads it.

use super::DefinitionError;
use super::fields::{Fields, invalid};
use crate::json::{Object, Value};
use crate::limits::COMPUTED_PROPERTIES_MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedProperty {
    pub name: String,
    /// `SELECT VALUE … FROM c`.
    pub query: String,
}

/// Names that already mean something in every item.
const RESERVED: [&str; 6] = ["id", "_rid", "_self", "_etag", "_ts", "_attachments"];

impl ComputedProperty {
    pub(super) fn read_list(value: &Value) -> Result<Vec<Self>, DefinitionError> {
        let at = "computedProperties";
        let Value::Array(elements) = value else {
            return Err(invalid(at.to_owned(), "a list", value));
        };
        if elements.len() > COMPUTED_PROPERTIES_MAX {
            return Err(DefinitionError::TooManyComputedProperties { found: elements.len() });
        }
        let mut properties: Vec<Self> = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            let mut fields = Fields::of(format!("{at}[{index}]"), element)?;
            let name = fields.required_string("name")?;
            let query = fields.required_string("query")?;
            if name.is_empty() || RESERVED.contains(&name) {
                return Err(DefinitionError::ComputedPropertyName(name.to_owned()));
            }
            if properties.iter().any(|earlier| earlier.name == name) {
                return Err(DefinitionError::Repeated { at: format!("{at}: {name}") });
            }
            properties.push(Self { name: name.to_owned(), query: query.to_owned() });
        }
        Ok(properties)
    }

    pub(super) fn to_json(&self) -> Value {
        [("name", &self.name), ("query", &self.query)]
            .into_iter()
            .map(|(name, text)| (name, text.as_str()))
            .collect::<Object>()
            .into()
    }
}
