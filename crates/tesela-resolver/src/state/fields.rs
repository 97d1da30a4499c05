//! Reading the properties of one object: each by name and type, none left over.

use tesela_model::json::{Object, Value, to_string};

use super::StateError;

/// Characters of a wrong value that a message repeats.
const FOUND_CHARS_MAX: usize = 40;

/// An object being read.
pub(super) struct Fields<'a> {
    at: String,
    object: &'a Object,
    taken: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(value: &'a Value, at: String) -> Result<Self, StateError> {
        let object = value.as_object().ok_or_else(|| unexpected(&at, "an object", value))?;
        Ok(Self { at, object, taken: Vec::new() })
    }

    pub(super) fn at(&self) -> &str {
        &self.at
    }

    fn place(&self, name: &str) -> String {
        format!("{}.{name}", self.at)
    }

    /// The property, if it is there, and its place.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<(&'a Value, String)> {
        self.taken.push(name);
        self.object.get(name).map(|value| (value, self.place(name)))
    }

    pub(super) fn value(&mut self, name: &'static str) -> Result<(&'a Value, String), StateError> {
        self.optional(name).ok_or_else(|| StateError::Missing { at: self.place(name) })
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<&'a str, StateError> {
        let (value, at) = self.value(name)?;
        text(value, &at)
    }

    pub(super) fn number(&mut self, name: &'static str, max: u64) -> Result<u64, StateError> {
        let (value, at) = self.value(name)?;
        number(value, &at, max)
    }

    pub(super) fn number_32(&mut self, name: &'static str) -> Result<u32, StateError> {
        self.number(name, u64::from(u32::MAX)).map(|value| value as u32)
    }

    /// A flag that is false unless it is there.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool, StateError> {
        self.optional(name)
            .map_or(Ok(false), |(value, at)| value.as_bool().ok_or_else(|| unexpected(&at, "a boolean", value)))
    }

    /// The elements of an array, each with its place.
    pub(super) fn elements(
        &mut self,
        name: &'static str,
    ) -> Result<impl Iterator<Item = (&'a Value, String)> + use<'a>, StateError> {
        let (value, at) = self.value(name)?;
        elements(value, at)
    }

    /// Refuses properties nobody asked for.
    pub(super) fn finish(self) -> Result<(), StateError> {
        match self.object.keys().find(|name| !self.taken.contains(name)) {
            Some(name) => Err(StateError::Unknown { at: self.place(name) }),
            None => Ok(()),
        }
    }
}

pub(super) fn text<'a>(value: &'a Value, at: &str) -> Result<&'a str, StateError> {
    value.as_str().ok_or_else(|| unexpected(at, "a string", value))
}

pub(super) fn number(value: &Value, at: &str, max: u64) -> Result<u64, StateError> {
    let number = value.as_i64().and_then(|number| u64::try_from(number).ok());
    number.filter(|number| *number <= max).ok_or_else(|| unexpected(at, "a whole number in range", value))
}

pub(super) fn elements(
    value: &Value,
    at: String,
) -> Result<impl Iterator<Item = (&Value, String)> + use<'_>, StateError> {
    let elements = value.as_array().ok_or_else(|| unexpected(&at, "an array", value))?;
    Ok(elements.iter().enumerate().map(move |(index, element)| (element, format!("{at}[{index}]"))))
}

pub(super) fn unexpected(at: &str, expected: &'static str, found: &Value) -> StateError {
    let mut text = to_string(found);
    if let Some((end, _)) = text.char_indices().nth(FOUND_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    StateError::Unexpected { at: at.to_owned(), expected, found: text }
}
