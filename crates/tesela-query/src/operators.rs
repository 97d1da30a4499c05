//! What the operators make of their operands.
//!
//! The logic has three values: a condition is true, false or undefined, and whatever is no boolean counts as
//! undefined. Operands of a type the operator does not know yield undefined, never an error.
//!
//! ```text
//! AND   true  false undef     OR    true  false undef     NOT
//! true  true  false undef     true  true  true  true      true  -> false
//! false false false false     false true  false undef     false -> true
//! undef undef false undef     undef true  undef undef     undef -> undef
//! ```

use crate::limits::TEXT_BYTES_MAX;
use crate::value::{Kind, Num, Val, compare_text, equal};
use std::borrow::Cow;
use std::cmp::Ordering;
use tesela_sql::ast::{BinaryOp, UnaryOp};

/// A truth value; `None` is undefined.
pub type Truth = Option<bool>;

pub fn and(operands: impl IntoIterator<Item = Truth>) -> Truth {
    let mut result = Some(true);
    for operand in operands {
        match operand {
            Some(false) => return Some(false),
            Some(true) => {}
            None => result = None,
        }
    }
    result
}

pub fn or(operands: impl IntoIterator<Item = Truth>) -> Truth {
    let mut result = Some(false);
    for operand in operands {
        match operand {
            Some(true) => return Some(true),
            Some(false) => {}
            None => result = None,
        }
    }
    result
}

pub fn unary<'r>(op: UnaryOp, operand: &Val<'r>) -> Val<'r> {
    match op {
        UnaryOp::Not => operand.as_bool().map(|value| !value).into(),
        UnaryOp::Plus => operand.as_num().map(Val::Number).unwrap_or(Val::Undefined),
        UnaryOp::Minus => match operand.as_num() {
            Some(Num::Int(value)) if value != 0 => {
                value.checked_neg().map_or_else(|| Val::double(-(value as f64)), Val::int)
            }
            Some(number) => Val::double(-number.as_f64()),
            None => Val::Undefined,
        },
        UnaryOp::BitNot => operand.as_f64().map(|value| i64::from(!to_int32(value))).into(),
    }
}

pub fn binary<'r>(op: BinaryOp, left: &Val<'r>, right: &Val<'r>) -> Val<'r> {
    match op {
        BinaryOp::Equal => equals(left, right).into(),
        BinaryOp::NotEqual => equals(left, right).map(|same| !same).into(),
        BinaryOp::Less => ordering(left, right).map(Ordering::is_lt).into(),
        BinaryOp::LessOrEqual => ordering(left, right).map(Ordering::is_le).into(),
        BinaryOp::Greater => ordering(left, right).map(Ordering::is_gt).into(),
        BinaryOp::GreaterOrEqual => ordering(left, right).map(Ordering::is_ge).into(),
        BinaryOp::Concat => concat(&[left.clone(), right.clone()]),
        _ => match (left.as_f64(), right.as_f64()) {
            (Some(left), Some(right)) => Val::double(arithmetic(op, left, right)),
            _ => Val::Undefined,
        },
    }
}

fn arithmetic(op: BinaryOp, left: f64, right: f64) -> f64 {
    match op {
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        BinaryOp::Modulo => left % right,
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::ShiftLeft => f64::from(to_int32(left).wrapping_shl(shift_count(right))),
        BinaryOp::ShiftRight => f64::from(to_int32(left).wrapping_shr(shift_count(right))),
        BinaryOp::ShiftRightUnsigned => f64::from((to_int32(left) as u32).wrapping_shr(shift_count(right))),
        BinaryOp::BitAnd => f64::from(to_int32(left) & to_int32(right)),
        BinaryOp::BitXor => f64::from(to_int32(left) ^ to_int32(right)),
        BinaryOp::BitOr => f64::from(to_int32(left) | to_int32(right)),
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessOrEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterOrEqual
        | BinaryOp::Concat => unreachable!("comparisons and concatenation are no arithmetic"),
    }
}

/// ECMAScript's conversion: truncate, then keep the low 32 bits as a signed integer.
fn to_int32(value: f64) -> i32 {
    if !value.is_finite() {
        return 0;
    }
    let modulo = value.trunc().rem_euclid(4_294_967_296.0); // 2^32
    modulo as u32 as i32
}

fn shift_count(value: f64) -> u32 {
    to_int32(value) as u32 & 31
}

/// `=`: undefined when an operand is, false across types.
pub fn equals(left: &Val<'_>, right: &Val<'_>) -> Truth {
    if !left.is_defined() || !right.is_defined() {
        return None;
    }
    if let (Val::Number(_), Some(right)) = (left, right.as_f64()) {
        // IEEE equality: NaN is not itself. Only computed numbers can be NaN.
        return Some(left.as_f64() == Some(right));
    }
    Some(equal(left, right))
}

/// `<` and its kin: defined only between two values of one primitive type.
pub fn ordering(left: &Val<'_>, right: &Val<'_>) -> Option<Ordering> {
    if let Some(left) = left.as_f64() {
        return left.partial_cmp(&right.as_f64()?);
    }
    if let Some(left) = left.as_str() {
        return Some(compare_text(&left, &right.as_str()?));
    }
    if let Some(left) = left.as_bool() {
        return Some(left.cmp(&right.as_bool()?));
    }
    (left.kind() == Kind::Null && right.kind() == Kind::Null).then_some(Ordering::Equal)
}

/// `operand BETWEEN low AND high`: both bounds belong to it.
pub fn between(operand: &Val<'_>, low: &Val<'_>, high: &Val<'_>) -> Truth {
    and([ordering(operand, low).map(Ordering::is_ge), ordering(operand, high).map(Ordering::is_le)])
}

/// Joins strings; undefined when one is none or the result would be larger than [`TEXT_BYTES_MAX`].
pub fn concat<'r>(parts: &[Val<'r>]) -> Val<'r> {
    let Some(texts) = parts.iter().map(Val::as_str).collect::<Option<Vec<Cow<'_, str>>>>() else {
        return Val::Undefined;
    };
    if texts.iter().map(|text| text.len()).sum::<usize>() > TEXT_BYTES_MAX {
        return Val::Undefined;
    }
    Val::from(texts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUTHS: [Truth; 3] = [Some(true), Some(false), None];

    #[test]
    fn three_valued_logic_keeps_the_laws() {
        let not = |a: Truth| a.map(|a| !a);
        for a in TRUTHS {
            assert_eq!(not(not(a)), a);
            for b in TRUTHS {
                assert_eq!(and([a, b]), and([b, a]));
                assert_eq!(or([a, b]), or([b, a]));
                assert_eq!(not(and([a, b])), or([not(a), not(b)]), "De Morgan");
                assert_eq!(and([a, or([a, b])]), a, "absorption");
                for c in TRUTHS {
                    assert_eq!(and([a, and([b, c])]), and([a, b, c]));
                    assert_eq!(or([a, or([b, c])]), or([a, b, c]));
                    assert_eq!(and([a, or([b, c])]), or([and([a, b]), and([a, c])]), "distribution");
                }
            }
        }
    }

    #[test]
    fn bits_are_those_of_ecmascript() {
        assert_eq!(to_int32(4_294_967_297.0), 1);
        assert_eq!(to_int32(-1.5), -1);
        assert_eq!(to_int32(2_147_483_648.0), i32::MIN);
        assert_eq!(to_int32(1e300), 0);
        assert_eq!(to_int32(f64::NAN), 0);
        assert_eq!(arithmetic(BinaryOp::ShiftLeft, 1.0, 33.0), 2.0);
        assert_eq!(arithmetic(BinaryOp::ShiftRightUnsigned, -1.0, 0.0), 4_294_967_295.0);
    }

    #[test]
    fn minus_keeps_the_smallest_integer_and_negative_zero() {
        assert_eq!(unary(UnaryOp::Minus, &Val::int(i64::MAX)).as_i64(), Some(-i64::MAX));
        assert_eq!(unary(UnaryOp::Minus, &Val::int(i64::MIN)).as_f64(), Some(9_223_372_036_854_775_808.0));
        assert!(unary(UnaryOp::Minus, &Val::int(0)).as_f64().is_some_and(f64::is_sign_negative));
    }
}
