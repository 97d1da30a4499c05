//! A JSON number with its spelling.
//!
//! The query language computes in IEEE doubles, yet a client that stored `1.0` or a 19-digit integer wants
//! the same characters back. So a number is an exact integer, a double, or — only when printing the double
//! would change the text — a double together with the text it came from.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Compared by numeric value: `1`, `1.0` and `1e0` are equal.
#[derive(Clone, Debug)]
pub struct Number(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Int(i64),
    Double(f64),
    Spelled(Box<str>, f64),
}

impl Number {
    /// From text that is a number by the JSON grammar. `None` when it is beyond the range of a double.
    pub(crate) fn from_json_text(text: &str) -> Option<Self> {
        if let Ok(int) = text.parse::<i64>()
            && text != "-0"
        {
            return Some(Self(Repr::Int(int)));
        }
        let value: f64 = text.parse().ok()?;
        if !value.is_finite() {
            return None;
        }
        let plain = Self(Repr::Double(value));
        Some(if plain.text() == text { plain } else { Self(Repr::Spelled(text.into(), value)) })
    }

    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Repr::Int(int) => *int as f64,
            Repr::Double(value) | Repr::Spelled(_, value) => *value,
        }
    }

    /// The exact integer, when the number is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: past it a double no longer names one integer
        match &self.0 {
            Repr::Int(int) => Some(*int),
            Repr::Double(value) | Repr::Spelled(_, value) => {
                (value.fract() == 0.0 && value.abs() <= EXACT).then_some(*value as i64)
            }
        }
    }

    /// The characters to write. A computed NaN or infinity has no JSON spelling and becomes its name.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Int(int) => Cow::Owned(int.to_string()),
            Repr::Double(value) => Cow::Owned(double_text(*value)),
            Repr::Spelled(text, _) => Cow::Borrowed(text),
        }
    }
}

/// Shortest text that reads back as the same double, in the manner of ECMAScript: plain decimals
/// between 1e-6 and 1e21, an exponent outside.
fn double_text(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return format!("{value}");
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

impl Number {
    /// By exact value: an integer beyond 2^53 differs from the double it would be rounded to.
    pub fn compare(&self, other: &Self) -> Ordering {
        let rounded = self.as_f64().partial_cmp(&other.as_f64()).unwrap_or(Ordering::Equal);
        rounded.then_with(|| self.whole().cmp(&other.whole()))
    }

    /// The integer part, exact; only told apart where the doubles are equal, so fractions do not matter.
    fn whole(&self) -> i128 {
        match &self.0 {
            Repr::Int(int) => i128::from(*int),
            Repr::Double(value) | Repr::Spelled(_, value) => *value as i128,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other).is_eq()
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Repr::Int(value))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(int) => Self(Repr::Int(int)),
            Err(_) => Self(Repr::Spelled(value.to_string().into(), value as f64)),
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(Repr::Double(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Number {
        Number::from_json_text(text).unwrap()
    }

    #[test]
    fn spelling_survives() {
        for text in [
            "0",
            "-0",
            "1",
            "1.0",
            "1e2",
            "1E+2",
            "0.1",
            "-1.50",
            "9223372036854775807",
            "9223372036854775808",
            "123456789012345678901234567890",
            "5e-324",
            "1.7976931348623157e308",
        ] {
            assert_eq!(read(text).text(), text);
        }
    }

    #[test]
    fn computed_doubles_print_as_ecmascript_does() {
        for (value, text) in [
            (1.0, "1"),
            (0.5, "0.5"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (1e-7, "1e-7"),
            (1.5e300, "1.5e+300"),
            (-0.000001, "-0.000001"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(Number::from(value).text(), text);
        }
    }

    #[test]
    fn equality_is_numeric() {
        assert_eq!(read("1"), read("1.0"));
        assert_ne!(read("9007199254740993"), read("9007199254740992"));
        assert_ne!(read("9007199254740993"), read("9007199254740992.0"));
        assert_eq!(read("9007199254740992"), read("9007199254740992.0"));
        assert_eq!(read("9007199254740993").as_i64(), Some(9_007_199_254_740_993));
        assert_eq!(read("1.5").as_i64(), None);
    }

    #[test]
    fn beyond_a_double_is_refused() {
        assert!(Number::from_json_text("1e400").is_none());
    }
}
