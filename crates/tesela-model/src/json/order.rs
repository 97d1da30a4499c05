//! The total order of values: null < false < true < number < string < array < object.
//!
//! Strings compare by UTF-16 code unit, as the service does; arrays element by element, then by length;
//! objects by their properties in name order. The last two only make the order total: the query
//! language itself never ranks them.

use super::{Object, Value};
use std::cmp::Ordering;

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        Value::Number(_) => 3,
        Value::String(_) => 4,
        Value::Array(_) => 5,
        Value::Object(_) => 6,
    }
}

/// Total order over values; equal exactly when the values are equal.
pub fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.compare(b),
        (Value::String(a), Value::String(b)) => a.encode_utf16().cmp(b.encode_utf16()),
        (Value::Array(a), Value::Array(b)) => {
            let first = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => compare_objects(a, b),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn compare_objects(a: &Object, b: &Object) -> Ordering {
    fn sorted(object: &Object) -> Vec<(&str, &Value)> {
        let mut members: Vec<_> = object.iter().collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        members
    }
    let (a, b) = (sorted(a), sorted(b));
    let first = a
        .iter()
        .zip(&b)
        .map(|((an, av), (bn, bv))| an.cmp(bn).then_with(|| compare(av, bv)))
        .find(|order| order.is_ne());
    first.unwrap_or_else(|| a.len().cmp(&b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_then_values() {
        let ascending = r#"[null, false, true, -1, 0, 1.5, 9007199254740993, "", "B", "a", [], [1], [1, 2], [2], {}, {"a": 1}, {"a": 2}]"#;
        let values = crate::json::parse(ascending.as_bytes()).unwrap();
        let values = values.as_array().unwrap();
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a:?} against {b:?}");
            }
        }
    }
}
