//! Keys, ranges and extractors.
//!
//! A key is the JSON value it came from; a time is `{"time": "2018-08-09T00:00:00Z"}`, a compound an array. A
//! range leaves out the end that is unbounded; ends are closed unless `lowOpen` or `highOpen` says otherwise.

use std::ops::Bound;

use tesela_model::json::{Object, Value};

use super::fields::{Fields, elements, text, unexpected};
use super::{Registry, StateError, check_depth, config};
use crate::extract::{KeyExtractor, TypedExtractor};
use crate::key::{Key, KeyRange};
use crate::path::PropertyPath;
use crate::timestamp::Timestamp;

pub(super) fn encode_key(key: &Key) -> Value {
    match key {
        Key::Null => Value::Null,
        Key::Bool(value) => (*value).into(),
        Key::Number(value) => value.get().into(),
        Key::String(value) => value.as_str().into(),
        Key::Time(value) => Object::from_iter([("time", value.to_string())]).into(),
        Key::Compound(keys) => keys.iter().map(encode_key).collect::<Vec<_>>().into(),
    }
}

pub(super) fn decode_key(value: &Value, at: String, depth: usize) -> Result<Key, StateError> {
    check_depth(depth, &at)?;
    match value {
        Value::Array(_) => {
            let keys: Result<Vec<Key>, _> =
                elements(value, at)?.map(|(element, at)| decode_key(element, at, depth + 1)).collect();
            Ok(Key::Compound(keys?))
        }
        Value::Object(_) => {
            let mut fields = Fields::of(value, at)?;
            let (time, at) = fields.value("time")?;
            let parsed = Timestamp::parse(text(time, &at)?).ok_or_else(|| unexpected(&at, "an ISO 8601 time", time))?;
            fields.finish()?;
            Ok(Key::Time(parsed))
        }
        scalar => Key::from_json(scalar).ok_or_else(|| unexpected(&at, "a key", scalar)),
    }
}

/// Adds the ends of a range to an object that may hold more.
pub(super) fn encode_range(range: &KeyRange, into: &mut Object) {
    for (end, name, open) in [(range.low(), "low", "lowOpen"), (range.high(), "high", "highOpen")] {
        match end {
            Bound::Unbounded => {}
            Bound::Included(key) => {
                into.insert(name, encode_key(key));
            }
            Bound::Excluded(key) => {
                into.insert(name, encode_key(key));
                into.insert(open, true);
            }
        }
    }
}

pub(super) fn decode_range(fields: &mut Fields<'_>) -> Result<KeyRange, StateError> {
    let low = decode_end(fields, "low", "lowOpen")?;
    let high = decode_end(fields, "high", "highOpen")?;
    KeyRange::new(low, high).ok_or_else(|| StateError::Unexpected {
        at: fields.at().to_owned(),
        expected: "a range with something in it",
        found: "low above high".to_owned(),
    })
}

fn decode_end(fields: &mut Fields<'_>, name: &'static str, open: &'static str) -> Result<Bound<Key>, StateError> {
    let key = fields.optional(name).map(|(value, at)| decode_key(value, at, 0)).transpose()?;
    let open = fields.flag(open)?;
    Ok(match key {
        None => Bound::Unbounded,
        Some(key) if open => Bound::Excluded(key),
        Some(key) => Bound::Included(key),
    })
}

pub(super) fn encode_extractor(extractor: &KeyExtractor) -> Value {
    let mut object = Object::new();
    match extractor {
        KeyExtractor::Path(path) => object.insert("path", path.to_string()),
        KeyExtractor::Paths(paths) => {
            let paths: Vec<Value> = paths.iter().map(|path| path.to_string().into()).collect();
            object.insert("paths", paths)
        }
        KeyExtractor::ByType(typed) => object.insert("byType", encode_typed(typed)),
        KeyExtractor::Named(function) => object.insert("function", function.name()),
    };
    object.into()
}

fn encode_typed(typed: &TypedExtractor) -> Object {
    let mut object = Object::new();
    object.insert("property", typed.property.to_string());
    let case = |(name, extractor): &(String, KeyExtractor)| -> Value {
        let mut case = Object::with_capacity(2);
        case.insert("type", name.as_str());
        case.insert("key", encode_extractor(extractor));
        case.into()
    };
    object.insert("cases", typed.cases.iter().map(case).collect::<Vec<_>>());
    if let Some(otherwise) = &typed.otherwise {
        object.insert("otherwise", encode_extractor(otherwise));
    }
    object
}

pub(super) fn decode_extractor(
    registry: &Registry,
    value: &Value,
    at: String,
    depth: usize,
) -> Result<KeyExtractor, StateError> {
    check_depth(depth, &at)?;
    let mut fields = Fields::of(value, at)?;
    let extractor = if let Some((path, at)) = fields.optional("path") {
        KeyExtractor::Path(decode_path(path, &at)?)
    } else if let Some((paths, at)) = fields.optional("paths") {
        let paths: Vec<&str> =
            elements(paths, at.clone())?.map(|(path, at)| text(path, &at)).collect::<Result<_, _>>()?;
        KeyExtractor::paths(paths).map_err(config(&at))?
    } else if let Some((typed, at)) = fields.optional("byType") {
        KeyExtractor::ByType(decode_typed(registry, typed, at, depth)?)
    } else if let Some((name, at)) = fields.optional("function") {
        let name = text(name, &at)?;
        let found = registry.functions.get(name).cloned();
        KeyExtractor::Named(found.ok_or_else(|| StateError::Unregistered {
            at,
            what: "key function",
            name: name.to_owned(),
        })?)
    } else {
        return Err(unexpected(fields.at(), "path, paths, byType or function", value));
    };
    fields.finish()?;
    Ok(extractor)
}

fn decode_typed(registry: &Registry, value: &Value, at: String, depth: usize) -> Result<TypedExtractor, StateError> {
    let mut fields = Fields::of(value, at)?;
    let (property, at) = fields.value("property")?;
    let property = decode_path(property, &at)?;
    let mut cases = Vec::new();
    for (case, at) in fields.elements("cases")? {
        let mut fields = Fields::of(case, at)?;
        let name = fields.text("type")?.to_owned();
        let (key, at) = fields.value("key")?;
        cases.push((name, decode_extractor(registry, key, at, depth + 1)?));
        fields.finish()?;
    }
    let otherwise = fields.optional("otherwise");
    let otherwise = otherwise.map(|(key, at)| decode_extractor(registry, key, at, depth + 1)).transpose()?;
    fields.finish()?;
    Ok(TypedExtractor { property, cases, otherwise: otherwise.map(Box::new) })
}

fn decode_path(value: &Value, at: &str) -> Result<PropertyPath, StateError> {
    PropertyPath::parse(text(value, at)?).map_err(config(at))
}
