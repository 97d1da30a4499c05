//! Values in index form: bytes whose order is the order of the values.
//!
//! ```text
//! 10 null   11 false   12 true   13 number, 8 ordered bytes   14 string, escaped, 00   15 array   16 object
//! ```
//!
//! The order is that of the query language: types first, numbers as doubles, strings by UTF-16 code unit. UTF-8 bytes
//! order by code point, which differs in one place — characters beyond the basic plane come *before* U+E000…U+FFFF in
//! UTF-16 — so the lead bytes of those two groups are exchanged.
//!
//! Strings longer than [`STRING_BYTES_MAX`] are cut, and numbers beyond 2^53 fall on their nearest double: an index
//! answer is therefore a superset, and the filter is evaluated on the document again. Arrays and objects have only
//! their type here; their contents have terms of their own.

use std::borrow::Cow;
use tesela_model::document::{Kind, Node};
use tesela_store::keycode::KeyWriter;

/// Bytes of a string that enter an index key. Ours: keeps a term well below a storage block.
pub const STRING_BYTES_MAX: usize = 256;

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

fn ordered(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text.as_bytes());
    }
    Cow::Owned(text.bytes().map(utf16_order).collect())
}

/// The leading characters that fit [`STRING_BYTES_MAX`].
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(STRING_BYTES_MAX)]
}

pub fn write_number(number: f64, out: &mut Vec<u8>) {
    out.push(NUMBER);
    out.extend_from_slice(KeyWriter::new().f64(number).as_slice());
}

pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(STRING);
    out.extend_from_slice(KeyWriter::new().bytes(&ordered(cut(text))).as_slice());
}

/// The bytes all strings that begin so begin with: the string form without its end.
pub fn write_string_prefix(text: &str, out: &mut Vec<u8>) {
    let text = cut(text);
    write_string(text, out);
    out.pop();
}

/// Whether the index form lost a part of the string.
pub fn is_cut(text: &str) -> bool {
    text.len() > STRING_BYTES_MAX
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

    #[test]
    fn a_prefix_is_a_range() {
        let mut prefix = Vec::new();
        write_string_prefix("ab", &mut prefix);
        assert!(code("\"ab\"").starts_with(&prefix) && code("\"abc\"").starts_with(&prefix));
        assert!(!code("\"ac\"").starts_with(&prefix) && !code("\"a\"").starts_with(&prefix));
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
