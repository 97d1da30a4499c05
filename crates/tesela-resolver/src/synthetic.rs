//! Synthetic keys (R21–R24): a key property made of others, declared once.
//!
//! Where no property spreads well, documents get one that does. A [`SyntheticKey`] says which property to
//! write and how to make it; the same declaration tells a writer the key of a document and a reader the keys
//! to visit, so the two cannot drift apart.
//!
//! | pattern | text form | document | key |
//! |---|---|---|---|
//! | concatenation (R21) | `/pk = {/deviceId}-{/date}` | `abc-123`, `2018` | `abc-123-2018` |
//! | random suffix (R22) | `/pk = {/date}.{random 400}` | `2018-08-09` | `2018-08-09.1` … `.400` |
//! | pre-calculated suffix (R23) | `/pk = {/date}.{hash 400 /vin}` | `2018-08-09`, a VIN | `2018-08-09.223` |
//! | date parts (R24) | `/pk = {/customer}-{/at %m%d%Y}` | `CustomerName`, `2018-08-07T…` | `CustomerName-08072018` |
//!
//! A key is the parts one after the other; text between braces stands for itself. Reading needs the values of all
//! properties but those of a hash suffix: without them a reader visits all N, as he does for a random one.
//!
//! **Escaping.** `a-b` + `c` and `a` + `b-c` join to the same `a-b-c`. Mostly that is harmless: two groups
//! share a logical partition. Where it is not, `escape` (text form: `| escape`) writes `%`, and the first
//! character of every literal, as `%XX` inside values: joined keys are then as distinct as their parts.
//!
//! Randomness is the caller's: `write` takes a source of 64-bit words. The hash of a suffix is 32-bit Murmur3
//! unless named otherwise.
//!
//! Left out: taking a key apart again. Its parts are still properties of the document.

mod json_form;
mod sizing;
mod text_form;

use std::collections::BTreeSet;

use tesela_model::json::{Number, Value};

use crate::error::ConfigError;
use crate::hash::Hasher;
use crate::limits::{SUFFIXES_MAX, SYNTHETIC_PARTS_MAX};
use crate::path::PropertyPath;
use crate::timestamp::Timestamp;

pub use sizing::{KeyDemand, suffixes_for};

/// One part of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text that stands for itself.
    Literal(String),
    /// The value of a property: text as it is, numbers and booleans as JSON spells them.
    Property(PropertyPath),
    /// Parts of a date in a property, in UTC.
    Date {
        /// An ISO 8601 text, or seconds since 1970.
        path: PropertyPath,
        /// `%Y %m %d %H %M %S` and other characters as they are.
        format: DateFormat,
    },
    /// A number from 1 to `count`, drawn for each write.
    Random {
        /// How many there are.
        count: u32,
    },
    /// A number from 1 to `count`, from a hash of other properties.
    Hash {
        /// How many there are.
        count: u32,
        /// The properties one will look up by.
        paths: Vec<PropertyPath>,
        /// The hash function.
        hasher: Hasher,
    },
}

/// Which fields of a date, in which order.
#[derive(Clone, Debug, PartialEq)]
pub struct DateFormat(String);

impl DateFormat {
    /// Checks that every `%` is followed by one of `Y m d H M S` or another `%`.
    pub fn parse(text: &str) -> Result<Self, SyntheticError> {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c == '%' && !matches!(chars.next(), Some('Y' | 'm' | 'd' | 'H' | 'M' | 'S' | '%')) {
                return Err(SyntheticError::DateFormat { text: text.to_owned() });
            }
        }
        if text.is_empty() {
            return Err(SyntheticError::DateFormat { text: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }

    /// The text it was read from.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn render(&self, time: Timestamp) -> String {
        let civil = time.civil();
        let mut out = String::new();
        let mut chars = self.0.chars();
        while let Some(c) = chars.next() {
            match if c == '%' { chars.next() } else { None } {
                Some('Y') => out.push_str(&format!("{:04}", civil.year)),
                Some('m') => out.push_str(&format!("{:02}", civil.month)),
                Some('d') => out.push_str(&format!("{:02}", civil.day)),
                Some('H') => out.push_str(&format!("{:02}", civil.hour)),
                Some('M') => out.push_str(&format!("{:02}", civil.minute)),
                Some('S') => out.push_str(&format!("{:02}", civil.second)),
                // `parse` lets only a doubled percent sign through here.
                Some(_) | None => out.push(c),
            }
        }
        out
    }
}

/// A synthetic key that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SyntheticError {
    #[error("a synthetic key has {found} parts, 1 to {SYNTHETIC_PARTS_MAX} are allowed")]
    Parts { found: usize },
    #[error("a suffix of {found} numbers, 1 to {SUFFIXES_MAX} are allowed")]
    Suffixes { found: u32 },
    #[error("a synthetic key has one suffix at most")]
    TwoSuffixes,
    #[error("a hash suffix needs at least one property")]
    HashOfNothing,
    #[error("{text:?} is no date format")]
    DateFormat { text: String },
    #[error("two values follow each other without text between, which escaping needs")]
    NoSeparator,
    #[error("text that begins with % cannot be told from an escaped character")]
    PercentText,
    #[error("the key property {path} is also a part of the key")]
    Circular { path: PropertyPath },
    #[error("{reason} at character {offset} of the text form")]
    Syntax { offset: usize, reason: &'static str },
    #[error("hash generator {name:?} is not registered here")]
    UnknownHash { name: String },
    #[error("{at} should be {expected}")]
    Json { at: String, expected: &'static str },
    #[error("no value at {path}, which the key needs")]
    Missing { path: PropertyPath },
    #[error("a {kind} at {path} cannot be part of a key")]
    Unusable { path: PropertyPath, kind: &'static str },
    #[error("the value at {path} is no time")]
    NotATime { path: PropertyPath },
    #[error("the key property {path} cannot be set: there is no object at {blocked}")]
    Blocked { path: PropertyPath, blocked: String },
    #[error(transparent)]
    Path(#[from] ConfigError),
}

/// A key property and how it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticKey {
    target: PropertyPath,
    parts: Vec<Part>,
    escape: bool,
}

impl SyntheticKey {
    /// Checks the parts.
    pub fn new(target: PropertyPath, parts: Vec<Part>, escape: bool) -> Result<Self, SyntheticError> {
        let key = Self { target, parts, escape };
        key.check()?;
        Ok(key)
    }

    /// Several properties joined by a separator (R21).
    pub fn concatenation(target: &str, separator: &str, paths: &[&str]) -> Result<Self, SyntheticError> {
        let mut parts = Vec::new();
        for path in paths {
            if !parts.is_empty() && !separator.is_empty() {
                parts.push(Part::Literal(separator.to_owned()));
            }
            parts.push(Part::Property(PropertyPath::parse(path)?));
        }
        Self::new(PropertyPath::parse(target)?, parts, false)
    }

    /// The same key with a random suffix after a dot (R22).
    pub fn with_random_suffix(mut self, count: u32) -> Result<Self, SyntheticError> {
        self.parts.extend([Part::Literal(".".to_owned()), Part::Random { count }]);
        Self::new(self.target, self.parts, self.escape)
    }

    /// The same key with a suffix after a dot that is computed from other properties (R23).
    pub fn with_hash_suffix(mut self, count: u32, paths: &[&str]) -> Result<Self, SyntheticError> {
        let paths = paths.iter().map(|path| PropertyPath::parse(path)).collect::<Result<_, _>>()?;
        let suffix = Part::Hash { count, paths, hasher: Hasher::murmur3_32() };
        self.parts.extend([Part::Literal(".".to_owned()), suffix]);
        Self::new(self.target, self.parts, self.escape)
    }

    /// The same key with escaped values.
    pub fn escaped(self) -> Result<Self, SyntheticError> {
        Self::new(self.target, self.parts, true)
    }

    /// The property that is written.
    pub fn target(&self) -> &PropertyPath {
        &self.target
    }

    /// The parts in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether values are escaped.
    pub fn escapes(&self) -> bool {
        self.escape
    }

    /// How many keys one combination of the other values is spread over.
    pub fn spread(&self) -> u32 {
        self.parts.iter().find_map(Part::suffixes).unwrap_or(1)
    }

    fn check(&self) -> Result<(), SyntheticError> {
        let found = self.parts.len();
        if !(1..=SYNTHETIC_PARTS_MAX).contains(&found) {
            return Err(SyntheticError::Parts { found });
        }
        if self.parts.iter().filter_map(Part::suffixes).count() > 1 {
            return Err(SyntheticError::TwoSuffixes);
        }
        for part in &self.parts {
            if let Some(found) = part.suffixes().filter(|count| !(1..=SUFFIXES_MAX).contains(count)) {
                return Err(SyntheticError::Suffixes { found });
            }
            if matches!(part, Part::Hash { paths, .. } if paths.is_empty()) {
                return Err(SyntheticError::HashOfNothing);
            }
            if part.paths().contains(&self.target) {
                return Err(SyntheticError::Circular { path: self.target.clone() });
            }
        }
        let is_literal = |part: &Part| matches!(part, Part::Literal(text) if !text.is_empty());
        if self.escape && self.parts.windows(2).any(|pair| !is_literal(&pair[0]) && !is_literal(&pair[1])) {
            return Err(SyntheticError::NoSeparator);
        }
        if self.escape && self.parts.iter().any(|part| matches!(part, Part::Literal(text) if text.starts_with('%'))) {
            return Err(SyntheticError::PercentText);
        }
        Ok(())
    }

    /// Computes the key of a document and sets its property; gives the key. `chance` is asked once, and only
    /// by a random suffix. On error the document is unchanged.
    pub fn write(&self, document: &mut Value, chance: &mut dyn FnMut() -> u64) -> Result<String, SyntheticError> {
        let key = self.join(
            |part| match part {
                // The high half of the product is even over 1..=count, with a bias below 2^-47.
                Part::Random { count } => Ok(1 + ((u128::from(chance()) * u128::from(*count)) >> 64) as u32),
                part => part.hash_suffix(document),
            },
            document,
        )?;
        let set = self.target.set(document, key.as_str().into());
        set.map_err(|blocked| SyntheticError::Blocked { path: self.target.clone(), blocked })?;
        Ok(key)
    }

    /// The keys under which documents with these values can be: one, or one for each suffix that the values
    /// do not determine. `values` is an object with the properties that are known, such as a document without
    /// its key.
    pub fn read(&self, values: &Value) -> Result<Vec<String>, SyntheticError> {
        let suffixes = match self.parts.iter().find(|part| part.suffixes().is_some()) {
            None => vec![0],
            Some(part) => match part.hash_suffix(values) {
                Ok(suffix) if matches!(part, Part::Hash { .. }) => vec![suffix],
                // A property that is known but unusable is the caller's mistake; one that is not known means all.
                Err(error) if !matches!(error, SyntheticError::Missing { .. }) => return Err(error),
                _ => (1..=self.spread()).collect(),
            },
        };
        suffixes.into_iter().map(|suffix| self.join(|_| Ok(suffix), values)).collect()
    }

    fn join(
        &self,
        mut suffix: impl FnMut(&Part) -> Result<u32, SyntheticError>,
        values: &Value,
    ) -> Result<String, SyntheticError> {
        let reserved = self.reserved();
        let mut key = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => key.push_str(text),
                Part::Property(path) => self.push_value(&mut key, &text_at(path, values)?, &reserved),
                Part::Date { path, format } => {
                    self.push_value(&mut key, &format.render(time_at(path, values)?), &reserved);
                }
                Part::Random { .. } | Part::Hash { .. } => key.push_str(&suffix(part)?.to_string()),
            }
        }
        Ok(key)
    }

    /// Characters that must not appear in an escaped value: they would end it.
    fn reserved(&self) -> BTreeSet<char> {
        let first = |part: &Part| match part {
            Part::Literal(text) => text.chars().next(),
            _ => None,
        };
        self.parts.iter().filter_map(first).chain(['%']).collect()
    }

    fn push_value(&self, key: &mut String, value: &str, reserved: &BTreeSet<char>) {
        for c in value.chars() {
            if self.escape && reserved.contains(&c) {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().for_each(|byte| key.push_str(&format!("%{byte:02X}")));
            } else {
                key.push(c);
            }
        }
    }
}

impl Part {
    fn suffixes(&self) -> Option<u32> {
        match self {
            Self::Random { count } | Self::Hash { count, .. } => Some(*count),
            Self::Literal(_) | Self::Property(_) | Self::Date { .. } => None,
        }
    }

    fn paths(&self) -> &[PropertyPath] {
        match self {
            Self::Property(path) | Self::Date { path, .. } => std::slice::from_ref(path),
            Self::Hash { paths, .. } => paths,
            Self::Literal(_) | Self::Random { .. } => &[],
        }
    }

    /// The number a hash suffix has for these values; 0 for parts without one.
    fn hash_suffix(&self, values: &Value) -> Result<u32, SyntheticError> {
        let Self::Hash { count, paths, hasher } = self else { return Ok(0) };
        let mut bytes = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            if index > 0 {
                // A byte that UTF-8 never uses keeps `ab` + `c` apart from `a` + `bc`.
                bytes.push(0xff);
            }
            bytes.extend_from_slice(text_at(path, values)?.as_bytes());
        }
        Ok(1 + (hasher.point(&bytes) % u128::from(*count)) as u32)
    }
}

fn value_at<'a>(path: &PropertyPath, values: &'a Value) -> Result<&'a Value, SyntheticError> {
    path.get(values).ok_or_else(|| SyntheticError::Missing { path: path.clone() })
}

fn text_at(path: &PropertyPath, values: &Value) -> Result<String, SyntheticError> {
    match value_at(path, values)? {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(value) => Ok(value.to_string()),
        // By value, not by spelling: `1.0` and `1` are one number to the service, so they are one key.
        Value::Number(number) => Ok(match number.as_i64() {
            Some(integer) => integer.to_string(),
            None => Number::from(number.as_f64()).text().into_owned(),
        }),
        other => Err(SyntheticError::Unusable { path: path.clone(), kind: other.type_name() }),
    }
}

fn time_at(path: &PropertyPath, values: &Value) -> Result<Timestamp, SyntheticError> {
    let value = value_at(path, values)?;
    let time = match value {
        Value::String(text) => Timestamp::parse(text),
        Value::Number(seconds) => Timestamp::from_unix_f64(seconds.as_f64()),
        _ => None,
    };
    time.ok_or_else(|| SyntheticError::NotATime { path: path.clone() })
}

#[cfg(test)]
mod tests;
