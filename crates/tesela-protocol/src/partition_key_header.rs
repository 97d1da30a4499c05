//! The partition key of a request: a JSON array in `x-ms-documentdb-partitionkey`.
//!
//! | header | value |
//! |---|---|
//! | `["x"]`, `[1.5]`, `[true]`, `["\u00e9"]` | that value |
//! | `[null]` | JSON null |
//! | `[{}]` | undefined: the item has nothing at the path |
//! | `["x","y",1]` | a hierarchical key |
//! | `["x"]` where the container has three levels | a prefix of it |
//! | `[]` | no components at all: system-keyed containers, or "every key" on feeds |
//!
//! How many components a container wants is not known here. Numbers arrive as each language writes
//! them (`[1]`, `[1.0]`), so the header is parsed, never compared as text.

use tesela_model::json::{self, Value};
use tesela_model::partition_key::{Component, PartitionKeyValue};

/// The header is no partition key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionKeyHeaderError {
    #[error("the partition key header is not JSON: {0}")]
    NotJson(json::ParseError),
    #[error("the partition key header is not a JSON array")]
    NotArray,
    #[error("a partition key component is a string, a number, a boolean, null or {{}}")]
    BadComponent,
}

pub fn parse(header: &str) -> Result<PartitionKeyValue, PartitionKeyHeaderError> {
    let value = json::parse(header.as_bytes()).map_err(PartitionKeyHeaderError::NotJson)?;
    let components = value.as_array().ok_or(PartitionKeyHeaderError::NotArray)?;
    components.iter().map(component).collect::<Result<_, _>>().map(PartitionKeyValue::new)
}

fn component(value: &Value) -> Result<Component, PartitionKeyHeaderError> {
    match value {
        // `{"type":"MinNumber"}` and its like are bounds inside query plans, not keys of items.
        Value::Object(object) if !object.is_empty() => Err(PartitionKeyHeaderError::BadComponent),
        Value::Array(_) => Err(PartitionKeyHeaderError::BadComponent),
        other => Ok(Component::from_json(other)),
    }
}

/// The header of a key value: visible ASCII only, whatever the key holds.
pub fn format(key: &PartitionKeyValue) -> String {
    let text = json::to_string(&key.to_json());
    let is_visible = |byte: &u8| matches!(byte, b' '..=b'~');
    if text.as_bytes().iter().all(is_visible) {
        return text;
    }
    let mut ascii = String::with_capacity(text.len() * 2);
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if is_visible(&byte) => ascii.push(char::from(byte)),
            _ => ascii.push_str(&format!("\\u{unit:04x}")),
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(components: impl IntoIterator<Item = Component>) -> PartitionKeyValue {
        PartitionKeyValue::new(components.into_iter().collect())
    }

    #[test]
    fn every_form_is_read_and_written() {
        use Component as C;
        for (header, expected, written) in [
            (r#"["x"]"#, key([C::String("x".into())]), r#"["x"]"#),
            ("[1.0]", key([C::Number(1.0)]), "[1]"),
            ("[ 1.5 ]", key([C::Number(1.5)]), "[1.5]"),
            ("[true]", key([C::Bool(true)]), "[true]"),
            ("[null]", key([C::Null]), "[null]"),
            ("[{}]", key([C::Undefined]), "[{}]"),
            ("[]", key([]), "[]"),
            (r#"["\u00e9\ud83d\ude00"]"#, key([C::String("é😀".into())]), r#"["\u00e9\ud83d\ude00"]"#),
            (r#"["\u007f"]"#, key([C::String("\u{7f}".into())]), r#"["\u007f"]"#),
            (r#"["x","y",1]"#, key([C::String("x".into()), C::String("y".into()), C::Number(1.0)]), r#"["x","y",1]"#),
        ] {
            assert_eq!(parse(header), Ok(expected.clone()), "{header}");
            assert_eq!(format(&expected), written);
            assert_eq!(parse(&format(&expected)), Ok(expected));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        use PartitionKeyHeaderError as E;
        for (header, expected) in [
            ("{}", E::NotArray),
            (r#""x""#, E::NotArray),
            ("[[1]]", E::BadComponent),
            (r#"[{"type":"MinNumber"}]"#, E::BadComponent),
        ] {
            assert_eq!(parse(header), Err(expected), "{header}");
        }
        for header in ["", "[", "x", "[1] 2", "[NaN]"] {
            assert!(matches!(parse(header), Err(E::NotJson(_))), "{header}");
        }
    }
}
