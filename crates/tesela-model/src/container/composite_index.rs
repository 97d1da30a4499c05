//! Composite indexes: orders of several properties at once, for ORDER BY and filters over them.

use super::DefinitionError;
use super::fields::{Fields, invalid, property_path};
use crate::json::{Object, Value};
use crate::limits::COMPOSITE_PATHS_MAX;
use crate::partition_key::PropertyPath;

/// Two to eight paths, each the place of a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompositeIndex {
    pub paths: Vec<CompositePath>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompositePath {
    pub path: PropertyPath,
    pub order: SortOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortOrder {
    Ascending,
    Descending,
}

impl SortOrder {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Descending => "descending",
        }
    }
}

impl CompositeIndex {
    /// From one element of `compositeIndexes`, itself a list.
    pub(super) fn from_json(at: &str, value: &Value) -> Result<Self, DefinitionError> {
        let Value::Array(elements) = value else {
            return Err(invalid(at.to_owned(), "a list", value));
        };
        if !(2..=COMPOSITE_PATHS_MAX).contains(&elements.len()) {
            return Err(DefinitionError::CompositePaths { found: elements.len() });
        }
        let mut paths: Vec<CompositePath> = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            let place = format!("{at}[{index}]");
            let one = CompositePath::read(Fields::of(place.clone(), element)?)?;
            if paths.iter().any(|earlier| earlier.path.steps() == one.path.steps()) {
                return Err(DefinitionError::Repeated { at: format!("{place}.path") });
            }
            paths.push(one);
        }
        Ok(Self { paths })
    }

    pub(super) fn to_json(&self) -> Value {
        Value::Array(self.paths.iter().map(CompositePath::to_json).collect())
    }
}

impl CompositePath {
    fn read(mut fields: Fields<'_>) -> Result<Self, DefinitionError> {
        const ORDERS: [(&str, SortOrder); 2] =
            [("ascending", SortOrder::Ascending), ("descending", SortOrder::Descending)];
        let path = property_path("a composite index", fields.required_string("path")?)?;
        let order = fields.word("order", "ascending or descending", &ORDERS)?.unwrap_or(SortOrder::Ascending);
        Ok(Self { path, order })
    }

    fn to_json(&self) -> Value {
        [("path", self.path.text()), ("order", self.order.name())].into_iter().collect::<Object>().into()
    }
}
