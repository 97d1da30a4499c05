//! The total order of values: undefined < null < false < true < number < string < array < object.
//!
//! It sorts rows, picks MIN and MAX and breaks ties; it is *not* what `<` does, which knows only values of one
//! primitive type. Arrays compare element by element, objects by their properties in name order: the service
//! leaves that open, we only need it to be total.
//!
//! Strings compare by UTF-16 code unit, as the service does. That order differs from the order of UTF-8 bytes in
//! one place: a character past U+FFFF (lead bytes F0–F4) sorts below U+E000–U+FFFF (lead bytes EE, EF), because its
//! first UTF-16 unit is a surrogate (D800–DBFF).

use super::{Kind, Member, Val};
use std::cmp::Ordering;

/// Position of the value's type, with `false` and `true` as types of their own.
pub fn rank(value: &Val<'_>) -> u8 {
    match value.kind() {
        Kind::Undefined => 0,
        Kind::Null => 1,
        Kind::Bool => 2 + u8::from(value.is_true()),
        Kind::Number => 4,
        Kind::String => 5,
        Kind::Array => 6,
        Kind::Object => 7,
    }
}

/// Total order over values; equal exactly when [`super::equal`] says so.
pub fn compare(a: &Val<'_>, b: &Val<'_>) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| same_rank(a, b))
}

fn same_rank(a: &Val<'_>, b: &Val<'_>) -> Ordering {
    if let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) {
        return compare_numbers(a, b);
    }
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return compare_text(&a, &b);
    }
    if let (Some(mut left), Some(mut right)) = (a.elements(), b.elements()) {
        loop {
            match (left.next(), right.next()) {
                (None, None) => return Ordering::Equal,
                (None, Some(_)) => return Ordering::Less,
                (Some(_), None) => return Ordering::Greater,
                (Some(a), Some(b)) => match compare(&a, &b) {
                    Ordering::Equal => {}
                    decided => return decided,
                },
            }
        }
    }
    match (a.members(), b.members()) {
        (Some(a), Some(b)) => compare_members(a, b),
        _ => Ordering::Equal,
    }
}

/// NaN, which only computations yield, sorts first and equals itself; the zeros are one.
pub fn compare_numbers(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
    }
}

/// Order by UTF-16 code unit, told from the UTF-8 bytes.
pub fn compare_text(a: &str, b: &str) -> Ordering {
    let differs = a.bytes().zip(b.bytes()).find(|(a, b)| a != b);
    match differs {
        Some((a, b)) => by_code_unit(a).cmp(&by_code_unit(b)),
        None => a.len().cmp(&b.len()),
    }
}

/// Moves the lead bytes of U+E000–U+FFFF behind those of the supplementary planes.
pub(super) fn by_code_unit(byte: u8) -> u8 {
    if byte == 0xEE || byte == 0xEF { byte + 0x10 } else { byte }
}

fn compare_members(mut a: Vec<Member<'_>>, mut b: Vec<Member<'_>>) -> Ordering {
    a.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    b.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let first = a
        .iter()
        .zip(&b)
        .map(|((a_name, a), (b_name, b))| compare_text(a_name, b_name).then_with(|| compare(a, b)))
        .find(|order| order.is_ne());
    first.unwrap_or_else(|| a.len().cmp(&b.len()))
}
