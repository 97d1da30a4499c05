//! JSON text to a tree. Strict: what RFC 8259 does not allow is refused, and so are lone surrogates (they
//! are no Unicode text) and numbers beyond a double (they would turn into infinities).
//! A property that occurs twice keeps its first place and its last value.

use super::scan::{Scanner, unescape};
use super::{Number, Object, Value};
use crate::limits::DOCUMENT_DEPTH_MAX;
use std::collections::HashMap;

/// Where reading stopped and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct ParseError {
    pub offset: usize,
    pub reason: &'static str,
}

/// Parses a whole text as one value.
pub fn parse(bytes: &[u8]) -> Result<Value, ParseError> {
    let mut scanner = Scanner::new(bytes)?;
    let value = value(&mut scanner, DOCUMENT_DEPTH_MAX)?;
    scanner.finish()?;
    Ok(value)
}

fn value(scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, ParseError> {
    scanner.skip_whitespace();
    match scanner.peek() {
        Some(b'{') => object(scanner, depth),
        Some(b'[') => array(scanner, depth),
        Some(b'"') => Ok(Value::String(string(scanner)?)),
        Some(b't') => scanner.literal("true").map(|()| Value::Bool(true)),
        Some(b'f') => scanner.literal("false").map(|()| Value::Bool(false)),
        Some(b'n') => scanner.literal("null").map(|()| Value::Null),
        Some(b'-' | b'0'..=b'9') => {
            let text = scanner.number()?;
            match Number::from_json_text(text) {
                Some(number) => Ok(Value::Number(number)),
                None => scanner.fail("number beyond the range of a double"),
            }
        }
        Some(_) => scanner.fail("expected a value"),
        None => scanner.fail("unexpected end"),
    }
}

fn string(scanner: &mut Scanner<'_>) -> Result<String, ParseError> {
    let token = scanner.string()?;
    Ok(if token.escaped { unescape(token.raw) } else { token.raw.to_owned() })
}

fn array(scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, ParseError> {
    let Some(depth) = depth.checked_sub(1) else { return scanner.fail("nesting too deep") };
    scanner.at += 1;
    let mut elements = Vec::new();
    if scanner.eat(b']') {
        return Ok(Value::Array(elements));
    }
    loop {
        elements.push(value(scanner, depth)?);
        if scanner.eat(b']') {
            return Ok(Value::Array(elements));
        }
        if !scanner.eat(b',') {
            return scanner.fail("expected ',' or ']'");
        }
    }
}

fn object(scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, ParseError> {
    let Some(depth) = depth.checked_sub(1) else { return scanner.fail("nesting too deep") };
    scanner.at += 1;
    let mut members = Vec::new();
    if scanner.eat(b'}') {
        return Ok(Value::Object(Object::new()));
    }
    loop {
        scanner.skip_whitespace();
        if scanner.peek() != Some(b'"') {
            return scanner.fail("expected a property name");
        }
        let name = string(scanner)?;
        if !scanner.eat(b':') {
            return scanner.fail("expected ':'");
        }
        members.push((name, value(scanner, depth)?));
        if scanner.eat(b'}') {
            return Ok(Value::Object(Object::from_unique(last_wins(members))));
        }
        if !scanner.eat(b',') {
            return scanner.fail("expected ',' or '}'");
        }
    }
}

/// Below this many properties comparing all pairs is quicker than a table.
const PAIRWISE_MAX: usize = 12;

fn last_wins(members: Vec<(String, Value)>) -> Vec<(String, Value)> {
    if members.len() <= PAIRWISE_MAX {
        let repeated = members.iter().enumerate().any(|(i, (name, _))| members[..i].iter().any(|(n, _)| n == name));
        if !repeated {
            return members;
        }
    }
    let mut place: HashMap<String, usize> = HashMap::with_capacity(members.len());
    let mut unique: Vec<(String, Value)> = Vec::with_capacity(members.len());
    for (name, value) in members {
        match place.get(&name) {
            Some(index) => unique[*index].1 = value,
            None => {
                place.insert(name.clone(), unique.len());
                unique.push((name, value));
            }
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_string;

    #[test]
    fn round_trip_keeps_order_and_spelling() {
        for text in [
            r#"{"b":1.0,"a":[true,false,null,"x",-0,1e3],"c":{"d":{}},"e":[]}"#,
            r#""a\"b\\c\n\u0001é😀""#,
            "12345678901234567890",
        ] {
            assert_eq!(to_string(&parse(text.as_bytes()).unwrap()), text);
        }
    }

    #[test]
    fn escapes_resolve() {
        let value = parse(br#""\u0041\ud83d\ude00\/\b\f\n\r\t""#).unwrap();
        assert_eq!(value.as_str(), Some("A😀/\u{8}\u{c}\n\r\t"));
    }

    #[test]
    fn last_duplicate_wins_in_first_place() {
        assert_eq!(to_string(&parse(br#"{"a":1,"b":2,"a":3}"#).unwrap()), r#"{"a":3,"b":2}"#);
        let wide: String = (0..40).map(|i| format!(r#""k{}":{i},"#, i % 20)).collect();
        let parsed = parse(format!("{{{}}}", wide.trim_end_matches(',')).as_bytes()).unwrap();
        assert_eq!(parsed.as_object().unwrap().len(), 20);
        assert_eq!(parsed.get("k0"), Some(&Value::from(20)));
    }

    #[test]
    fn malformed_text_is_refused_with_its_place() {
        let cases: &[(&[u8], usize, &str)] = &[
            (b"", 0, "unexpected end"),
            (b"{", 1, "expected a property name"),
            (b"[1,]", 3, "expected a value"),
            (b"{\"a\":1,}", 7, "expected a property name"),
            (b"[1 2]", 3, "expected ',' or ']'"),
            (b"01", 1, "characters after the value"),
            (b"1.", 2, "expected a digit"),
            (b"-", 1, "expected a value"),
            (b"tru", 0, "expected a value"),
            (b"\"\\ud800\"", 1, "lone surrogate in a string"),
            (b"\"\\udc00\"", 1, "lone surrogate in a string"),
            (b"\"\\x\"", 1, "invalid escape in a string"),
            (b"\"\n\"", 1, "control character in a string"),
            (b"\"abc", 4, "unterminated string"),
            (b"\"\xff\"", 1, "invalid UTF-8"),
            (b"1e999", 5, "number beyond the range of a double"),
            (b"NaN", 0, "expected a value"),
        ];
        for (bytes, offset, reason) in cases {
            assert_eq!(parse(bytes), Err(ParseError { offset: *offset, reason }), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(nested(DOCUMENT_DEPTH_MAX).as_bytes()).is_ok());
        assert_eq!(parse(nested(DOCUMENT_DEPTH_MAX + 1).as_bytes()).unwrap_err().reason, "nesting too deep");
        assert!(parse("[".repeat(1_000_000).as_bytes()).is_err());
    }
}
