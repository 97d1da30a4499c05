//! The JSON form, for configuration.
//!
//! ```json
//! { "target": "/pk", "escape": false, "parts": [
//!     { "property": "/date" }, { "text": "." }, { "hash": { "count": 400, "paths": ["/vin"], "by": "murmur3-32" } } ] }
//! ```

use tesela_model::json::{Object, Value};

use super::{DateFormat, Part, SyntheticError, SyntheticKey};
use crate::hash::HashGenerators;
use crate::path::PropertyPath;

impl SyntheticKey {
    /// The JSON form.
    pub fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("target", self.target().to_string());
        if self.escapes() {
            object.insert("escape", true);
        }
        object.insert("parts", self.parts().iter().map(part_to_json).collect::<Vec<_>>());
        object.into()
    }

    /// Reads the JSON form; names of hashes are found among `hashes`.
    pub fn from_json(value: &Value, hashes: &HashGenerators) -> Result<Self, SyntheticError> {
        let object = members(value, "the key", &["target", "escape", "parts"])?;
        let target = path(object.get("target"), "target")?;
        let escape = match object.get("escape") {
            None => false,
            Some(value) => value.as_bool().ok_or_else(|| wrong("escape", "a boolean"))?,
        };
        let parts = object.get("parts").and_then(Value::as_array).ok_or_else(|| wrong("parts", "an array"))?;
        let parts = parts.iter().map(|part| part_from_json(part, hashes)).collect::<Result<_, _>>()?;
        Self::new(target, parts, escape)
    }
}

fn part_to_json(part: &Part) -> Value {
    let mut object = Object::with_capacity(1);
    match part {
        Part::Literal(text) => object.insert("text", text.as_str()),
        Part::Property(path) => object.insert("property", path.to_string()),
        Part::Date { path, format } => {
            let mut date = Object::with_capacity(2);
            date.insert("path", path.to_string());
            date.insert("format", format.as_str());
            object.insert("date", date)
        }
        Part::Random { count } => object.insert("random", Object::from_iter([("count", *count)])),
        Part::Hash { count, paths, hasher } => {
            let mut hash = Object::with_capacity(3);
            hash.insert("count", *count);
            hash.insert("paths", paths.iter().map(|path| path.to_string().into()).collect::<Vec<Value>>());
            hash.insert("by", hasher.name());
            object.insert("hash", hash)
        }
    };
    object.into()
}

fn part_from_json(value: &Value, hashes: &HashGenerators) -> Result<Part, SyntheticError> {
    let object = members(value, "a part", &["text", "property", "date", "random", "hash"])?;
    let mut given = object.iter();
    let (Some((name, value)), None) = (given.next(), given.next()) else {
        return Err(wrong("a part", "one of text, property, date, random or hash"));
    };
    match name {
        "text" => Ok(Part::Literal(value.as_str().ok_or_else(|| wrong("text", "a string"))?.to_owned())),
        "property" => Ok(Part::Property(path(Some(value), "property")?)),
        "date" => {
            let date = members(value, "date", &["path", "format"])?;
            let format = date.get("format").and_then(Value::as_str).ok_or_else(|| wrong("date.format", "a string"))?;
            Ok(Part::Date { path: path(date.get("path"), "date.path")?, format: DateFormat::parse(format)? })
        }
        "random" => Ok(Part::Random { count: count(members(value, "random", &["count"])?)? }),
        _ => hash_from_json(value, hashes),
    }
}

fn hash_from_json(value: &Value, hashes: &HashGenerators) -> Result<Part, SyntheticError> {
    let hash = members(value, "hash", &["count", "paths", "by"])?;
    let paths = hash.get("paths").and_then(Value::as_array).ok_or_else(|| wrong("hash.paths", "an array"))?;
    let paths = paths.iter().map(|it| path(Some(it), "hash.paths")).collect::<Result<_, _>>()?;
    let name = match hash.get("by") {
        None => "murmur3-32",
        Some(name) => name.as_str().ok_or_else(|| wrong("hash.by", "a string"))?,
    };
    let hasher = hashes.get(name).ok_or_else(|| SyntheticError::UnknownHash { name: name.to_owned() })?;
    Ok(Part::Hash { count: count(hash)?, paths, hasher })
}

/// The members of an object that has no others than these.
fn members<'a>(value: &'a Value, at: &str, known: &[&str]) -> Result<&'a Object, SyntheticError> {
    let object = value.as_object().ok_or_else(|| wrong(at, "an object"))?;
    match object.keys().find(|name| !known.contains(name)) {
        Some(name) => Err(wrong(name, "left out: this release does not know it")),
        None => Ok(object),
    }
}

fn count(object: &Object) -> Result<u32, SyntheticError> {
    let count = object.get("count").and_then(Value::as_i64).and_then(|count| u32::try_from(count).ok());
    count.ok_or_else(|| wrong("count", "a number of suffixes"))
}

fn path(value: Option<&Value>, at: &str) -> Result<PropertyPath, SyntheticError> {
    Ok(PropertyPath::parse(value.and_then(Value::as_str).ok_or_else(|| wrong(at, "a property path"))?)?)
}

fn wrong(at: &str, expected: &'static str) -> SyntheticError {
    SyntheticError::Json { at: at.to_owned(), expected }
}
