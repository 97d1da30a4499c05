//! The owned JSON tree.

use super::Number;

/// A JSON value. Equality is the query language's (see the module above).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Value>),
    Object(Object),
}

impl Value {
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Self::Object(value) => Some(value),
            _ => None,
        }
    }

    /// The property of an object; `None` also for values that are no object.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object().and_then(|object| object.get(name))
    }

    /// Name of the type as messages spell it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

macro_rules! from_number {
    ($($from:ty as $into:ty),*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::Number(Number::from(<$into>::from(value)))
            }
        }
    )*};
}
from_number!(i64 as i64, i32 as i64, u8 as u64, u16 as u64, u32 as u64, u64 as u64, f64 as f64);

impl From<Number> for Value {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Self::Array(value)
    }
}

impl From<Object> for Value {
    fn from(value: Object) -> Self {
        Self::Object(value)
    }
}

/// Properties in the order they were inserted, each name once.
///
/// Lookups are linear: objects of items have a handful of properties, and a scan over a handful of short
/// strings beats hashing. Building a very wide object goes through the parser, which detects duplicate
/// names by sorting and uses [`Object::from_unique`].
#[derive(Clone, Debug, Default)]
pub struct Object {
    members: Vec<(String, Value)>,
}

impl Object {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_capacity(capacity: usize) -> Self {
        Self { members: Vec::with_capacity(capacity) }
    }

    /// The caller vouches that no name occurs twice.
    pub(crate) fn from_unique(members: Vec<(String, Value)>) -> Self {
        Self { members }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.members.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.members.iter_mut().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Replaces in place, or appends.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let name = name.into();
        let value = value.into();
        if let Some(slot) = self.get_mut(&name) {
            return Some(std::mem::replace(slot, value));
        }
        self.members.push((name, value));
        None
    }

    /// Keeps the order of the others.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let index = self.members.iter().position(|(n, _)| n == name)?;
        Some(self.members.remove(index).1)
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.members.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Value)> {
        self.members.iter_mut().map(|(name, value)| (name.as_str(), value))
    }

    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_str())
    }

    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.members.iter().map(|(_, value)| value)
    }
}

/// Without regard to order: every property of one is in the other, with an equal value.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let mut object = Self::new();
        for (name, value) in members {
            object.insert(name, value);
        }
        object
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;
    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_keeps_the_place_of_a_replaced_property() {
        let mut object: Object = [("a", 1), ("b", 2)].into_iter().collect();
        assert_eq!(object.insert("a", 3), Some(Value::from(1)));
        assert_eq!(object.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(object.remove("a"), Some(Value::from(3)));
        assert_eq!(object.len(), 1);
    }

    #[test]
    fn equality_ignores_property_order_and_number_spelling() {
        let left = crate::json::parse(br#"{"a":1.0,"b":[{"x":1,"y":2}]}"#).unwrap();
        let right = crate::json::parse(br#"{"b":[{"y":2,"x":1}],"a":1}"#).unwrap();
        assert_eq!(left, right);
        assert_ne!(left, crate::json::parse(br#"{"a":1}"#).unwrap());
    }
}
