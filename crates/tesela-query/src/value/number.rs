//! A number while a query runs: a double, or an integer that a double might not hold.

use tesela_model::json::Number;

/// The integers between are exactly representable as doubles, and only they name one integer each.
const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

/// Arithmetic is in doubles; integers are kept apart only so that literals, stored values and the `Int…` functions
/// keep their last digits.
#[derive(Clone, Copy, Debug)]
pub enum Num {
    Int(i64),
    Double(f64),
}

impl Num {
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Double(value) => value,
        }
    }

    /// The exact integer, when the number is one: a double counts while it is whole and within 2^53.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Double(value) => (value.fract() == 0.0 && value.abs() <= EXACT_INTEGER_MAX).then_some(value as i64),
        }
    }
}

impl From<&Number> for Num {
    fn from(number: &Number) -> Self {
        number.as_i64().map_or_else(|| Self::Double(number.as_f64()), Self::Int)
    }
}

impl From<Num> for Number {
    fn from(number: Num) -> Self {
        match number {
            Num::Int(value) => value.into(),
            // Whole doubles print alike either way; as integers they also compare without parsing.
            Num::Double(value) => number.as_i64().map_or_else(|| value.into(), Number::from),
        }
    }
}
