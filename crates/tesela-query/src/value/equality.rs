//! Deep equality: property order does not matter, `1 = 1.0`, undefined equals only itself.

use super::{Member, Val};
use std::borrow::Cow;
use tesela_model::document::{self, Node};
use tesela_model::json::Value;

/// Objects with more properties than this are compared by sorting instead of by search.
const SEARCH_MEMBERS_MAX: usize = 16;

/// Whether two values are the same value. The language's `=` turns undefined operands into undefined first.
pub fn equal(a: &Val<'_>, b: &Val<'_>) -> bool {
    match (a, b) {
        // The commonest comparison of all: a stored property against a constant.
        (Val::Stored(node), Val::Constant(value)) | (Val::Constant(value), Val::Stored(node)) => {
            if let Some(decided) = scalar_equals(*node, value) {
                return decided;
            }
        }
        (Val::Undefined, Val::Undefined) => return true,
        _ => {}
    }
    if a.kind() != b.kind() {
        return false;
    }
    if let (Some(a), Some(b)) = (a.as_bool(), b.as_bool()) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) {
        return a == b || (a.is_nan() && b.is_nan());
    }
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return a == b;
    }
    if let (Some(mut left), Some(mut right)) = (a.elements(), b.elements()) {
        loop {
            match (left.next(), right.next()) {
                (None, None) => return true,
                (Some(a), Some(b)) if equal(&a, &b) => {}
                _ => return false,
            }
        }
    }
    match (a.members(), b.members()) {
        (Some(a), Some(b)) => equal_members(a, b),
        _ => true, // both null
    }
}

/// Decides scalars without making values of them; `None` for arrays and objects.
fn scalar_equals(node: Node<'_>, value: &Value) -> Option<bool> {
    let kind = node.kind();
    Some(match value {
        Value::String(expected) => {
            kind == document::Kind::String && node.as_str().is_some_and(|text| text == *expected)
        }
        Value::Number(expected) => node.as_f64().is_some_and(|number| number == expected.as_f64()),
        Value::Bool(expected) => node.as_bool() == Some(*expected),
        Value::Null => kind == document::Kind::Null,
        Value::Array(_) | Value::Object(_) => return None,
    })
}

fn equal_members(mut a: Vec<Member<'_>>, mut b: Vec<Member<'_>>) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.len() <= SEARCH_MEMBERS_MAX {
        let find = |name: &Cow<'_, str>| b.iter().find(|(known, _)| known == name);
        return a.iter().all(|(name, value)| find(name).is_some_and(|(_, other)| equal(value, other)));
    }
    a.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    b.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    a.iter().zip(&b).all(|((a_name, a), (b_name, b))| a_name == b_name && equal(a, b))
}

/// Whether `part` is contained in `whole`: every property of an object `part` is in `whole`, itself contained.
/// Other values must be equal. This is what the third argument of ARRAY_CONTAINS asks for.
pub fn contains_part(whole: &Val<'_>, part: &Val<'_>) -> bool {
    match part.members() {
        Some(members) => {
            whole.kind() == super::Kind::Object
                && members.iter().all(|(name, part)| {
                    let whole = whole.get(name);
                    whole.is_defined() && contains_part(&whole, part)
                })
        }
        None => equal(whole, part),
    }
}
