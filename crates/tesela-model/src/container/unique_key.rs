//! Unique keys: sets of paths whose values may occur once in a logical partition. A missing value counts as null.

use super::DefinitionError;
use super::fields::{Fields, insert_list, invalid, property_path, with_extra};
use crate::json::{Object, Value};
use crate::limits::{UNIQUE_KEY_PATHS_MAX, UNIQUE_KEYS_MAX};
use crate::partition_key::PropertyPath;

/// Immutable for the life of the container. Without keys nothing is constrained.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UniqueKeyPolicy {
    pub keys: Vec<UniqueKey>,
    pub extra: Object,
}

/// At least one path, none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    pub paths: Vec<PropertyPath>,
}

impl UniqueKeyPolicy {
    pub(super) fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        let mut fields = Fields::of("uniqueKeyPolicy", value)?;
        let keys = fields.objects("uniqueKeys")?.into_iter().map(UniqueKey::read).collect::<Result<Vec<_>, _>>()?;
        if keys.len() > UNIQUE_KEYS_MAX {
            return Err(DefinitionError::TooManyUniqueKeys { found: keys.len() });
        }
        Ok(Self { keys, extra: fields.rest() })
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object = Object::new();
        insert_list(&mut object, "uniqueKeys", &self.keys, UniqueKey::to_json);
        with_extra(object, &self.extra)
    }
}

impl UniqueKey {
    fn read(mut fields: Fields<'_>) -> Result<Self, DefinitionError> {
        let place = fields.place("paths");
        let mut paths: Vec<PropertyPath> = Vec::new();
        for element in fields.list("paths")? {
            let text = element.as_str().ok_or_else(|| invalid(place.clone(), "a list of strings", element))?;
            let path = property_path("a unique key", text)?;
            if paths.iter().any(|earlier| earlier.steps() == path.steps()) {
                return Err(DefinitionError::Repeated { at: format!("{place}: {text}") });
            }
            paths.push(path);
        }
        match paths.len() {
            1..=UNIQUE_KEY_PATHS_MAX => Ok(Self { paths }),
            found => Err(DefinitionError::UniqueKeyPaths { found }),
        }
    }

    fn to_json(&self) -> Value {
        let paths: Vec<Value> = self.paths.iter().map(|path| Value::from(path.text())).collect();
        [("paths", paths)].into_iter().collect::<Object>().into()
    }
}
