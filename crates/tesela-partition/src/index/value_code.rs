//! Values in index form: bytes whose order is the order of the values.
//!
//! ```text
//! 0F undefined   10 null   11 false   12 true   13 number, 8 ordered bytes   14 string, escaped, 00   15 array   16 object
//! ```
//!
//! (Undefined occurs in composite indexes only: a term says that a value is there.)
//!
//! The order is that of the query language: types first, numbers as doubles, strings by UTF-16 code unit. UTF-8 bytes
//! order by code point, which differs in one place — characters beyond the basic plane come *before* U+E000…U+FFFF in
//! UTF-16 — so the lead bytes of those two groups are exchanged.
//!
//! Strings longer than [`STRING_BYTES_MAX`] are cut, so the longest forms are *shared* by several strings; and arrays
//! and objects have only their type here, since their contents have terms of their own. An index answer is therefore a
//! superset, and the filter is evaluated on the document again. Numbers beyond 2^53 fall on their nearest double, but
//! so they do when they are compared.

use std::borrow::Cow;
use tesela_model::document::{Kind, Node};
use tesela_model::json::Value;
use tesela_store::keycode::KeyWriter;

/// Bytes of a string that enter an index key. Ours: keeps a term well below a storage block.
pub const STRING_BYTES_MAX: usize = 256;
/// The longest string whose form no other string has.
pub const STRING_OWN_BYTES_MAX: usize = STRING_BYTES_MAX - 1;

pub const UNDEFINED: u8 = 0x0F;
pub const NULL: u8 = 0x10;
pub const FALSE: u8 = 0x11;
pub const TRUE: u8 = 0x12;
pub const NUMBER: u8 = 0x13;
pub const STRING: u8 = 0x14;
pub const ARRAY: u8 = 0x15;
pub const OBJECT: u8 = 0x16;
/// Above every value.
pub const END: u8 = 0x17;

/// Lead bytes of UTF-8 such that byte order is UTF-16 order: F0–F4 (beyond the basic plane) go below EE and EF.
fn utf16_order(byte: u8) -> u8 {
    match byte {
        0xF0..=0xF4 => byte - 2,
        0xEE | 0xEF => byte + 5,
        other => other,
    }
}

/// The bytes of a string in index order, cut to [`STRING_BYTES_MAX`]. Cut by bytes, also inside a character: only then is
/// a string that sorts before another never behind it in the index.
fn ordered(text: &str) -> Cow<'_, [u8]> {
    let bytes = &text.as_bytes()[..text.len().min(STRING_BYTES_MAX)];
    if bytes.is_ascii() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().copied().map(utf16_order).collect())
}

pub fn write_number(number: f64, out: &mut Vec<u8>) {
    out.push(NUMBER);
    out.extend_from_slice(KeyWriter::new().f64(number).as_slice());
}

pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(STRING);
    out.extend_from_slice(KeyWriter::new().bytes(&ordered(text)).as_slice());
}

/// The bytes all strings that begin so begin with: the string form without its end.
pub fn write_string_prefix(text: &str, out: &mut Vec<u8>) {
    write_string(text, out);
    out.pop();
}

/// The index form of a constant, and whether no other value has it.
pub fn write_value(value: &Value, out: &mut Vec<u8>) -> bool {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(value) => out.push(if *value { TRUE } else { FALSE }),
        Value::Number(number) => write_number(number.as_f64(), out),
        Value::String(text) => {
            write_string(text, out);
            return text.len() <= STRING_OWN_BYTES_MAX;
        }
        Value::Array(_) => {
            out.push(ARRAY);
            return false;
        }
        Value::Object(_) => {
            out.push(OBJECT);
            return false;
        }
    }
    true
}

/// The length of the form a code begins with, and whether other values share it. `inverted` when its bytes are, as
/// those of descending paths. `None` when the bytes are no code.
pub fn first_form(code: &[u8], inverted: bool) -> Option<(usize, bool)> {
    let flip = if inverted { 0xFF } else { 0 };
    match code.first()? ^ flip {
        UNDEFINED | NULL | FALSE | TRUE => Some((1, false)),
        NUMBER => (code.len() > 8).then_some((9, false)),
        ARRAY | OBJECT => Some((1, true)),
        STRING => {
            let end = 1 + code[1..].iter().position(|byte| byte ^ flip == 0)?;
            let mut bytes = code[1..end].iter();
            let mut length = 0;
            while let Some(byte) = bytes.next() {
                // An escaped byte takes two.
                if byte ^ flip == 1 {
                    bytes.next();
                }
                length += 1;
            }
            Some((end + 1, length > STRING_OWN_BYTES_MAX))
        }
        _ => None,
    }
}

/// The index form of a value.
pub fn write(node: Node<'_>, out: &mut Vec<u8>) {
    match node.kind() {
        Kind::Null => out.push(NULL),
        Kind::Bool => out.push(if node.as_bool() == Some(true) { TRUE } else { FALSE }),
        Kind::Number => write_number(node.as_f64().expect("kind is number"), out),
        Kind::String => write_string(&node.as_str().expect("kind is string"), out),
        Kind::Array => out.push(ARRAY),
        Kind::Object => out.push(OBJECT),
    }
}

/// A form that tells any two values apart (arrays and objects by their text); missing counts as null.
pub fn write_exact(node: Option<Node<'_>>, out: &mut Vec<u8>) {
    let Some(node) = node else { return out.push(NULL) };
    match node.kind() {
        Kind::String => {
            out.push(STRING);
            out.extend_from_slice(KeyWriter::new().str(&node.as_str().expect("kind is string")).as_slice());
        }
        Kind::Array | Kind::Object => {
            out.push(if node.kind() == Kind::Array { ARRAY } else { OBJECT });
            out.extend_from_slice(KeyWriter::new().str(node.text()).as_slice());
        }
        _ => write(node, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tesela_model::document::Document;
    use tesela_model::json;

    fn code(text: &str) -> Vec<u8> {
        let document = Document::encode(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        write(document.root(), &mut out);
        out
    }

    #[test]
    fn types_are_in_order() {
        let ascending = [
            "null",
            "false",
            "true",
            "-1e300",
            "-1",
            "0",
            "0.5",
            "1e300",
            "\"\"",
            "\"B\"",
            "\"a\"",
            "\"aa\"",
            "\"a\u{10000}\"",
            "\"a\u{e000}\"",
            "[]",
            "{}",
        ];
        let codes: Vec<_> = ascending.iter().map(|text| code(text)).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
    }

    /// A cut inside a character must not change the order.
    #[test]
    fn long_strings_keep_their_order() {
        let common = "x".repeat(STRING_BYTES_MAX - 2);
        let before = code(&format!("\"{common}zzzz\""));
        let after = code(&format!("\"{common}😀\""));
        assert!(before <= after, "z sorts before any character beyond the basic plane");
    }

    #[test]
    fn a_prefix_is_a_range() {
        let mut prefix = Vec::new();
        write_string_prefix("ab", &mut prefix);
        assert!(code("\"ab\"").starts_with(&prefix) && code("\"abc\"").starts_with(&prefix));
        assert!(!code("\"ac\"").starts_with(&prefix) && !code("\"a\"").starts_with(&prefix));
    }

    #[test]
    fn long_strings_share_their_forms() {
        let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes));
        let form = |bytes: usize| first_form(&code(&text(bytes)), false);
        assert_eq!(form(STRING_OWN_BYTES_MAX), Some((257, false)));
        assert_eq!(form(STRING_OWN_BYTES_MAX + 1), Some((258, true)));
        assert_eq!((form(256), code(&text(256))), (form(9999), code(&text(9999))));
        let inverted: Vec<u8> = code(r#""a\u0000\u0001b""#).iter().map(|byte| !byte).collect();
        assert_eq!(first_form(&inverted, true), Some((inverted.len(), false)));
        let nul = code(&format!("\"{}\"", "\\u0000".repeat(200)));
        assert_eq!(first_form(&nul, false), Some((402, false)), "200 bytes, each escaped");
        assert_eq!(first_form(b"\x14abc", false), None);
        assert_eq!(first_form(b"\x13abc", false), None);
    }

    proptest! {
        #[test]
        fn strings_order_as_values_do(a in "[a-c\u{0}\u{1}é\u{d7ff}\u{e000}\u{ffff}😀]{0,6}", b in "[a-c\u{0}\u{1}é\u{d7ff}\u{e000}\u{ffff}😀]{0,6}") {
            let (a, b) = (json::Value::from(a), json::Value::from(b));
            prop_assert_eq!(code(&json::to_string(&a)).cmp(&code(&json::to_string(&b))), json::compare(&a, &b));
        }

        #[test]
        fn numbers_order_as_values_do(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(a.is_finite() && b.is_finite());
            let (a, b) = (json::Value::from(a), json::Value::from(b));
            prop_assert_eq!(code(&json::to_string(&a)).cmp(&code(&json::to_string(&b))), json::compare(&a, &b));
        }
    }
}
