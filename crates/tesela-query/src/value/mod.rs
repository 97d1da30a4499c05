//! A value while a query runs.
//!
//! A filter over stored documents must not parse them, so a value is one of three things: a *place* in a stored
//! document ([`Node`]), a *constant* of the query or a parameter ([`Value`]), or something *computed*. All three
//! answer the same questions, and a place stays a place until somebody asks: `c.a.b = 5` reads one number,
//! `SELECT c.a` copies the text of `a`, so that property order and number spelling survive.
//!
//! "Undefined" is a value here, not an absence: it is what a missing property, a wrong type or an impossible date
//! yields, and every operator says what it makes of it.
//!
//! Lifetime `'r` is that of one row: the document at hand and the compiled query both outlive it. Nothing that
//! must survive the row (sort keys, groups, output) is a `Val`; see [`key`] and [`Val::to_value`].
//!
//! Numbers compare as doubles, as in the service: two 64-bit integers that round to the same double are equal.
//! They are *written* exactly, and the `Int…` functions compute with them exactly.

mod equality;
pub mod key;
mod number;
mod order;
mod write;

pub use equality::{contains_part, equal};
pub use number::Num;
pub use order::{compare, compare_text, rank};

use std::borrow::Cow;
use std::rc::Rc;
use tesela_model::document::{self, Node};
use tesela_model::json::{Object, Value};

/// A value of one row. See the module.
#[derive(Clone, Debug)]
pub enum Val<'r> {
    Undefined,
    Null,
    Bool(bool),
    Number(Num),
    Text(Cow<'r, str>),
    Stored(Node<'r>),
    Constant(&'r Value),
    Array(Rc<[Val<'r>]>),
    Object(Rc<[Member<'r>]>),
}

/// A property of a computed object; names are unique within it.
pub type Member<'r> = (Cow<'r, str>, Val<'r>);

/// The type of a value, in the order the types sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Undefined,
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl<'r> Val<'r> {
    pub fn text(text: impl Into<Cow<'r, str>>) -> Self {
        Self::Text(text.into())
    }

    pub fn double(value: f64) -> Self {
        Self::Number(Num::Double(value))
    }

    pub fn int(value: i64) -> Self {
        Self::Number(Num::Int(value))
    }

    pub fn count(value: usize) -> Self {
        Self::int(i64::try_from(value).expect("a count of things in memory fits 63 bits"))
    }

    /// Undefined elements are dropped and the gap closes.
    pub fn array(elements: impl IntoIterator<Item = Val<'r>>) -> Self {
        Self::Array(elements.into_iter().filter(Val::is_defined).collect())
    }

    /// Undefined properties are dropped; of a repeated name the last value stays, in the first place.
    pub fn object(members: impl IntoIterator<Item = Member<'r>>) -> Self {
        let mut kept: Vec<Member<'r>> = Vec::new();
        for (name, value) in members.into_iter().filter(|(_, value)| value.is_defined()) {
            match kept.iter_mut().find(|(known, _)| *known == name) {
                Some((_, slot)) => *slot = value,
                None => kept.push((name, value)),
            }
        }
        Self::Object(kept.into())
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Undefined => Kind::Undefined,
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(_) => Kind::Number,
            Self::Text(_) => Kind::String,
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
            Self::Stored(node) => match node.kind() {
                document::Kind::Null => Kind::Null,
                document::Kind::Bool => Kind::Bool,
                document::Kind::Number => Kind::Number,
                document::Kind::String => Kind::String,
                document::Kind::Array => Kind::Array,
                document::Kind::Object => Kind::Object,
            },
            Self::Constant(value) => match value {
                Value::Null => Kind::Null,
                Value::Bool(_) => Kind::Bool,
                Value::Number(_) => Kind::Number,
                Value::String(_) => Kind::String,
                Value::Array(_) => Kind::Array,
                Value::Object(_) => Kind::Object,
            },
        }
    }

    pub fn is_defined(&self) -> bool {
        !matches!(self, Self::Undefined)
    }

    /// Exactly the boolean `true`; everything else lets a row fall.
    pub fn is_true(&self) -> bool {
        self.as_bool() == Some(true)
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Stored(node) => node.as_bool(),
            Self::Constant(value) => value.as_bool(),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.as_f64()),
            Self::Stored(node) => node.as_f64(),
            Self::Constant(value) => value.as_f64(),
            _ => None,
        }
    }

    pub fn as_num(&self) -> Option<Num> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Stored(node) => node.as_number().map(|number| Num::from(&number)),
            Self::Constant(value) => value.as_number().map(Num::from),
            _ => None,
        }
    }

    /// The exact integer, when the number is one.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_num().and_then(Num::as_i64)
    }

    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Stored(node) => node.as_str(),
            Self::Constant(value) => value.as_str().map(Cow::Borrowed),
            _ => None,
        }
    }

    /// Like [`Val::as_str`], but outliving `self`.
    pub fn to_text(&self) -> Option<Cow<'r, str>> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Stored(node) => node.as_str(),
            Self::Constant(value) => value.as_str().map(Cow::Borrowed),
            _ => None,
        }
    }

    /// The property of an object; undefined for everything else.
    pub fn get(&self, name: &str) -> Self {
        match self {
            Self::Stored(node) => node.get(name).map_or(Self::Undefined, Self::Stored),
            Self::Constant(value) => value.get(name).map_or(Self::Undefined, Self::Constant),
            Self::Object(members) => {
                members.iter().find(|(known, _)| known == name).map_or(Self::Undefined, |(_, value)| value.clone())
            }
            _ => Self::Undefined,
        }
    }

    /// The element of an array; undefined for everything else.
    pub fn at(&self, index: usize) -> Self {
        match self {
            Self::Stored(node) => node.at(index).map_or(Self::Undefined, Self::Stored),
            Self::Constant(Value::Array(elements)) => elements.get(index).map_or(Self::Undefined, Self::Constant),
            Self::Array(elements) => elements.get(index).cloned().unwrap_or(Self::Undefined),
            _ => Self::Undefined,
        }
    }

    /// The elements of an array; `None` for everything else.
    pub fn elements(&self) -> Option<Elements<'_, 'r>> {
        match self {
            Self::Array(elements) => Some(Elements::Computed(elements.iter())),
            Self::Constant(Value::Array(elements)) => Some(Elements::Constant(elements.iter())),
            Self::Stored(node) if node.kind() == document::Kind::Array => Some(Elements::Stored(node.elements())),
            _ => None,
        }
    }

    /// The properties of an object in their order; `None` for everything else.
    pub fn members(&self) -> Option<Vec<Member<'r>>> {
        match self {
            Self::Object(members) => Some(members.to_vec()),
            Self::Constant(Value::Object(object)) => {
                Some(object.iter().map(|(name, value)| (Cow::Borrowed(name), Self::Constant(value))).collect())
            }
            Self::Stored(node) if node.kind() == document::Kind::Object => {
                Some(node.members().map(|(name, member)| (name, Self::Stored(member))).collect())
            }
            _ => None,
        }
    }

    /// A copy that outlives the row; `None` for undefined.
    pub fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Undefined => return None,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number((*number).into()),
            Self::Text(text) => Value::String(text.as_ref().to_owned()),
            Self::Stored(node) => node.to_value(),
            Self::Constant(value) => (*value).clone(),
            Self::Array(elements) => Value::Array(elements.iter().filter_map(Val::to_value).collect()),
            Self::Object(members) => Value::Object(
                members
                    .iter()
                    .filter_map(|(name, value)| Some((name.as_ref().to_owned(), value.to_value()?)))
                    .collect::<Object>(),
            ),
        })
    }

    /// Takes over an owned value.
    pub fn from_value(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(Num::from(&number)),
            Value::String(text) => Self::Text(Cow::Owned(text)),
            Value::Array(elements) => Self::Array(elements.into_iter().map(Self::from_value).collect()),
            Value::Object(object) => Self::Object(
                object.into_iter().map(|(name, value)| (Cow::Owned(name), Self::from_value(value))).collect(),
            ),
        }
    }
}

impl From<bool> for Val<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// `None` is undefined.
impl<'r, T: Into<Val<'r>>> From<Option<T>> for Val<'r> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Undefined, Into::into)
    }
}

impl From<f64> for Val<'_> {
    fn from(value: f64) -> Self {
        Self::double(value)
    }
}

impl From<i64> for Val<'_> {
    fn from(value: i64) -> Self {
        Self::int(value)
    }
}

impl From<String> for Val<'_> {
    fn from(value: String) -> Self {
        Self::Text(Cow::Owned(value))
    }
}

impl<'r> From<Cow<'r, str>> for Val<'r> {
    fn from(value: Cow<'r, str>) -> Self {
        Self::Text(value)
    }
}

/// The elements of an array, whatever it is made of.
pub enum Elements<'v, 'r> {
    Computed(std::slice::Iter<'v, Val<'r>>),
    Constant(std::slice::Iter<'r, Value>),
    Stored(document::Elements<'r>),
}

impl<'r> Iterator for Elements<'_, 'r> {
    type Item = Val<'r>;

    fn next(&mut self) -> Option<Val<'r>> {
        match self {
            Self::Computed(elements) => elements.next().cloned(),
            Self::Constant(elements) => elements.next().map(Val::Constant),
            Self::Stored(elements) => elements.next().map(Val::Stored),
        }
    }
}

#[cfg(test)]
mod tests;
