//! Values of number and string tokens, and the way back to text.
//!
//! Numbers: an integer that fits 64 bits is kept exactly, whatever its spelling (`10`, `1e1`
//! and `10.0` are one literal, as they are one value to the language); everything else is a
//! double. So [`Literal::Float`] holds no integer of the 64-bit range, with the exception of
//! negative zero, which integers cannot tell from zero.
//!
//! Numbers are written the way the service writes them in rewritten queries: fifteen
//! significant digits if these read back as the same double, else seventeen.

use std::fmt::Write;

use crate::ast::Literal;
use crate::error::SqlError;
use crate::span::Span;

/// 2^63, the first double above the 64-bit integers.
const INTEGER_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// The value of a number token, negated if a minus touches it.
pub(crate) fn number(text: &str, negative: bool, span: Span) -> Result<Literal, SqlError> {
    let magnitude = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => Some(
            u64::from_str_radix(digits, 16)
                .map_err(|_| SqlError::syntax(span, format!("'{text}' does not fit 64 bits")))?,
        ),
        None => text.parse().ok(),
    };
    if let Some(magnitude) = magnitude {
        let signed = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        if let Ok(integer) = i64::try_from(signed) {
            return Ok(if negative && integer == 0 { Literal::Float(-0.0) } else { Literal::Integer(integer) });
        }
    }
    let magnitude: f64 = match magnitude {
        Some(magnitude) => magnitude as f64,
        None => text.parse().map_err(|_| SqlError::syntax(span, format!("'{text}' is not a number")))?,
    };
    Ok(from_f64(if negative { -magnitude } else { magnitude }))
}

fn from_f64(value: f64) -> Literal {
    let negative_zero = value == 0.0 && value.is_sign_negative();
    if value.fract() == 0.0 && (-INTEGER_LIMIT..INTEGER_LIMIT).contains(&value) && !negative_zero {
        // Exact: the value is integral and in range.
        Literal::Integer(value as i64)
    } else {
        Literal::Float(value)
    }
}

/// The value of a string token. `token` includes the quotes, `start` is where it begins.
pub(crate) fn string(token: &str, start: u32) -> Result<String, SqlError> {
    let body = &token[1..token.len() - 1];
    if !body.contains('\\') {
        return Ok(body.to_owned());
    }
    let mut decoder = Decoder { body, at: 0, start };
    decoder.decode()
}

struct Decoder<'a> {
    body: &'a str,
    at: usize,
    /// Offset of the opening quote in the query, for error spans.
    start: u32,
}

impl Decoder<'_> {
    fn decode(&mut self) -> Result<String, SqlError> {
        let mut value = String::with_capacity(self.body.len());
        loop {
            let rest = &self.body[self.at..];
            let Some(plain) = rest.find('\\') else {
                value.push_str(rest);
                return Ok(value);
            };
            value.push_str(&rest[..plain]);
            self.at += plain;
            value.push(self.escape()?);
        }
    }

    /// One escape, `self.at` being at its backslash.
    fn escape(&mut self) -> Result<char, SqlError> {
        let start = self.at;
        let letter = self.body[start + 1..].chars().next();
        self.at += 1 + letter.map_or(0, char::len_utf8);
        Ok(match letter {
            Some(same @ ('"' | '\'' | '\\' | '/')) => same,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode(start),
            other => {
                let other = other.map(String::from).unwrap_or_default();
                let message = format!("'\\{other}' is not an escape sequence: write '\\\\{other}' for a backslash");
                return Err(self.error(start, message));
            }
        })
    }

    /// `\uXXXX`, or two of them that make one character beyond the first 65,536.
    fn unicode(&mut self, start: usize) -> Result<char, SqlError> {
        let first = self.unit(start)?;
        if let Some(c) = char::from_u32(u32::from(first)) {
            return Ok(c);
        }
        let mut units = vec![first];
        if self.body[self.at..].starts_with("\\u") {
            self.at += 2;
            units.push(self.unit(start)?);
        }
        match char::decode_utf16(units).next() {
            Some(Ok(c)) => Ok(c),
            _ => Err(self.error(start, "half of a surrogate pair is not a character")),
        }
    }

    /// Four hexadecimal digits.
    fn unit(&mut self, start: usize) -> Result<u16, SqlError> {
        let digits = self.body.get(self.at..self.at + 4).unwrap_or_default();
        // `from_str_radix` alone would accept a sign.
        if digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            self.at += 4;
            if let Ok(unit) = u16::from_str_radix(digits, 16) {
                return Ok(unit);
            }
        }
        Err(self.error(start, "'\\u' needs four hexadecimal digits"))
    }

    fn error(&self, start: usize, message: impl Into<String>) -> SqlError {
        let quote_end = self.start + 1;
        // Offsets fit: they lie inside the query text.
        let span = Span::new(quote_end + start as u32, quote_end + self.at as u32);
        SqlError::syntax(span, message)
    }
}

/// Writes a literal so that it reads back as itself.
pub(crate) fn write(literal: &Literal, out: &mut String) {
    match literal {
        Literal::Undefined => out.push_str("undefined"),
        Literal::Null => out.push_str("null"),
        Literal::Bool(true) => out.push_str("true"),
        Literal::Bool(false) => out.push_str("false"),
        Literal::Integer(integer) => out.push_str(&integer.to_string()),
        Literal::Float(float) => write_float(*float, out),
        Literal::String(string) => write_string(string, out),
    }
}

/// Writes a string in double quotes, with JSON's escapes.
pub(crate) fn write_string(value: &str, out: &mut String) {
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a String cannot fail");
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn write_float(value: f64, out: &mut String) {
    if value.is_nan() {
        return out.push_str("NaN");
    }
    if value.is_sign_negative() {
        out.push('-');
    }
    let value = value.abs();
    if value.is_infinite() {
        return out.push_str("Infinity");
    }
    if value == 0.0 {
        return out.push('0');
    }
    let short = format!("{value:.14e}");
    let text = if short.parse() == Ok(value) { short } else { format!("{value:.16e}") };
    let (mantissa, exponent) = text.split_once('e').expect("the exponent format always writes an e");
    let exponent: i32 = exponent.parse().expect("the exponent of a double is a small integer");
    let digits = mantissa.replace('.', "");
    write_digits(digits.trim_end_matches('0'), exponent, out);
}

/// Writes `d.ddd * 10^exponent`: positional in the middle range, scientific outside it.
fn write_digits(digits: &str, exponent: i32, out: &mut String) {
    let point = exponent + 1;
    let count = digits.len() as i32;
    match exponent {
        -5..0 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
            out.push_str(digits);
        }
        0..17 if point < count => {
            let (whole, fraction) = digits.split_at(point as usize);
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
        _ => {
            let (first, fraction) = digits.split_at(1);
            out.push_str(first);
            if !fraction.is_empty() {
                out.push('.');
                out.push_str(fraction);
            }
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(out, "E{sign}{:02}", exponent.unsigned_abs()).expect("writing to a String cannot fail");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Literal {
        let (text, negative) = match text.strip_prefix('-') {
            Some(text) => (text, true),
            None => (text, false),
        };
        number(text, negative, Span::default()).unwrap()
    }

    fn written(literal: &Literal) -> String {
        let mut out = String::new();
        write(literal, &mut out);
        out
    }

    #[test]
    fn integers_of_64_bits_are_exact_in_every_spelling() {
        assert_eq!(read("9223372036854775807"), Literal::Integer(i64::MAX));
        assert_eq!(read("-9223372036854775808"), Literal::Integer(i64::MIN));
        assert_eq!(read("0x1F"), Literal::Integer(31));
        assert_eq!(read("1.50e1"), Literal::Integer(15));
        assert_eq!(read("9223372036854775808"), Literal::Float(INTEGER_LIMIT));
        assert_eq!(read("0xFFFFFFFFFFFFFFFF"), Literal::Float(18_446_744_073_709_551_615.0));
        assert_eq!(read("-0"), Literal::Float(-0.0));
        assert_eq!(read("1e999"), Literal::Float(f64::INFINITY));
        assert!(number("0x10000000000000000", false, Span::default()).is_err());
    }

    #[test]
    fn floats_are_written_in_fifteen_digits_or_seventeen() {
        for (text, canonical) in [
            ("0.1", "0.1"),
            ("-1337.42", "-1337.42"),
            ("-0.005676387343555689", "-0.0056763873435556889"),
            ("0.00001", "0.00001"),
            ("0.000001", "1E-06"),
            ("1e20", "1E+20"),
            ("123456789012345.678", "123456789012345.67"),
            ("1.7976931348623157E+308", "1.7976931348623157E+308"),
            ("5e-324", "4.94065645841247E-324"),
            ("9223372036854775808", "9.2233720368547758E+18"),
            ("-0", "-0"),
            ("-1e999", "-Infinity"),
        ] {
            let literal = read(text);
            assert_eq!(written(&literal), canonical, "{text}");
        }
    }

    #[test]
    fn written_numbers_read_back_as_themselves() {
        // A multiplicative generator over bit patterns: every exponent and sign turns up.
        let mut bits: u64 = 0x9E37_79B9_7F4A_7C15;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = f64::from_bits(bits);
            if value.is_finite() {
                let literal = from_f64(value);
                assert_eq!(read(&written(&literal)), literal, "{value:e}");
            }
        }
    }

    #[test]
    fn strings_decode_every_escape() {
        let decoded = string(r#"'\"\'\\\/\b\f\n\r\tA\u00e9\uD83D\uDE00'"#, 0).unwrap();
        assert_eq!(decoded, "\"'\\/\u{8}\u{c}\n\r\tAé😀");
        let mut out = String::new();
        write_string("\u{1}\"\\\n'é", &mut out);
        assert_eq!(out, r#""\u0001\"\\\n'é""#);
    }

    #[test]
    fn broken_escapes_are_refused_where_they_stand() {
        for (token, start, end) in [
            (r"'ab\d'", 13, 15),
            (r"'\u12'", 11, 13),
            (r"'\u+123'", 11, 13),
            (r"'\uD800'", 11, 17),
            (r"'\uD800A'", 11, 17),
            (r"'\uDC00\uD800'", 11, 23),
        ] {
            let error = string(token, 10).unwrap_err();
            assert_eq!(error.span, Span::new(start, end), "{token}: {error}");
        }
    }
}
