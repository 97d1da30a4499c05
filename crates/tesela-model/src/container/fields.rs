//! Reading an object property by property, and keeping what nobody asked for.
//!
//! A policy takes the properties it knows; [`Fields::rest`] is then everything else, to be echoed. Every complaint
//! names the place, e.g. `indexingPolicy.spatialIndexes[1].types`.

use super::DefinitionError;
use crate::json::{self, Object, Value};
use crate::partition_key::PropertyPath;

pub(super) struct Fields<'a> {
    at: String,
    object: &'a Object,
    taken: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(at: impl Into<String>, value: &'a Value) -> Result<Self, DefinitionError> {
        let at = at.into();
        match value {
            Value::Object(object) => Ok(Self { at, object, taken: Vec::new() }),
            other => Err(invalid(at, "an object", other)),
        }
    }

    /// Where a property of this object is, for messages.
    pub(super) fn place(&self, name: &str) -> String {
        if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) }
    }

    /// The property, unless it is absent or null.
    pub(super) fn take(&mut self, name: &'static str) -> Option<&'a Value> {
        self.taken.push(name);
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn string(&mut self, name: &'static str) -> Result<Option<&'a str>, DefinitionError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(invalid(self.place(name), "a string", other)),
        }
    }

    pub(super) fn required_string(&mut self, name: &'static str) -> Result<&'a str, DefinitionError> {
        self.string(name)?.ok_or_else(|| DefinitionError::Missing { at: self.place(name) })
    }

    pub(super) fn integer(&mut self, name: &'static str) -> Result<Option<i64>, DefinitionError> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| invalid(self.place(name), "an integer", value)),
        }
    }

    pub(super) fn boolean(&mut self, name: &'static str) -> Result<Option<bool>, DefinitionError> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value.as_bool().map(Some).ok_or_else(|| invalid(self.place(name), "true or false", value)),
        }
    }

    /// The elements of a list; none if it is absent. An empty list goes to the rest, so that it comes back as sent.
    pub(super) fn list(&mut self, name: &'static str) -> Result<&'a [Value], DefinitionError> {
        match self.take(name) {
            None => Ok(&[]),
            Some(Value::Array(elements)) => {
                if elements.is_empty() {
                    self.taken.retain(|taken| *taken != name);
                }
                Ok(elements)
            }
            Some(other) => Err(invalid(self.place(name), "a list", other)),
        }
    }

    /// A list of objects.
    pub(super) fn objects(&mut self, name: &'static str) -> Result<Vec<Fields<'a>>, DefinitionError> {
        let place = self.place(name);
        let elements = self.list(name)?.iter().enumerate();
        elements.map(|(index, element)| Fields::of(format!("{place}[{index}]"), element)).collect()
    }

    /// One of a list of words, compared without case.
    pub(super) fn word<T: Copy>(
        &mut self,
        name: &'static str,
        expected: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, DefinitionError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let found = value.as_str().and_then(|text| find_word(text, words));
        found.map(Some).ok_or_else(|| invalid(self.place(name), expected, value))
    }

    /// What was not taken, in its order.
    pub(super) fn rest(self) -> Object {
        self.object
            .iter()
            .filter(|(name, _)| !self.taken.contains(name))
            .map(|(name, value)| (name, value.clone()))
            .collect()
    }
}

pub(super) fn find_word<T: Copy>(text: &str, words: &[(&str, T)]) -> Option<T> {
    words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| *value)
}

pub(super) fn invalid(at: String, expected: &'static str, found: &Value) -> DefinitionError {
    DefinitionError::Invalid { at, expected, found: json::to_string(found) }
}

/// Puts the kept properties behind the known ones.
pub(super) fn with_extra(mut object: Object, extra: &Object) -> Value {
    for (name, value) in extra.iter() {
        object.insert(name, value.clone());
    }
    Value::Object(object)
}

/// A list property, unless it is empty.
pub(super) fn insert_list<T>(object: &mut Object, name: &str, elements: &[T], to_json: impl Fn(&T) -> Value) {
    if !elements.is_empty() {
        object.insert(name, elements.iter().map(to_json).collect::<Vec<Value>>());
    }
}

/// A path of names alone, for policies that point at one value of an item.
pub(super) fn property_path(of: &'static str, text: &str) -> Result<PropertyPath, DefinitionError> {
    PropertyPath::parse(text)
        .filter(|path| path.steps().iter().all(|step| !matches!(step.as_str(), "*" | "?" | "[]")))
        .ok_or_else(|| DefinitionError::PropertyPath { of, path: text.to_owned() })
}
