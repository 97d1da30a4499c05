//! Values as bytes that sort and compare like the values.
//!
//! Rows outlive the documents they came from, and partitions hand rows to a merge that never saw the documents.
//! Both keep keys: byte strings whose order is [`super::compare`] and whose equality is [`super::equal`]. A sort
//! key is its items one behind the other, descending items with every bit flipped; a group or DISTINCT key is the
//! same without directions.
//!
//! ```text
//! undefined 00        number  40 + 8 bytes: sign and magnitude folded so that bytes sort as doubles do
//! null      10        string  50 + bytes, 00 as 00 FF, lead bytes EE EF as FE FF (UTF-16 order), closed by 00 00
//! false     20        array   60 + the elements' keys, closed by 00 00 (below every element but undefined, which
//! true      30                no array holds)
//!                     object  70 + (string key of the name, key of the value) in name order, closed by 00 00
//! ```
//!
//! No key is a prefix of another, so concatenation keeps the order.

use super::order::by_code_unit;
use super::{Kind, Val, compare_text};

/// Appends the key of a value.
pub fn append(value: &Val<'_>, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Undefined => out.push(0x00),
        Kind::Null => out.push(0x10),
        Kind::Bool => out.push(if value.is_true() { 0x30 } else { 0x20 }),
        Kind::Number => append_number(value.as_f64().expect("kind is number"), out),
        Kind::String => append_text(&value.as_str().expect("kind is string"), out),
        Kind::Array => {
            out.push(0x60);
            for element in value.elements().expect("kind is array") {
                append(&element, out);
            }
            out.extend_from_slice(&[0, 0]);
        }
        Kind::Object => {
            out.push(0x70);
            let mut members = value.members().expect("kind is object");
            members.sort_unstable_by(|(a, _), (b, _)| compare_text(a, b));
            for (name, member) in &members {
                append_text(name, out);
                append(member, out);
            }
            out.extend_from_slice(&[0, 0]);
        }
    }
}

/// Appends the key of a value so that larger values sort first.
pub fn append_descending(value: &Val<'_>, out: &mut Vec<u8>) {
    let from = out.len();
    append(value, out);
    for byte in &mut out[from..] {
        *byte = !*byte;
    }
}

fn append_number(value: f64, out: &mut Vec<u8>) {
    out.push(0x40);
    let folded = if value.is_nan() {
        0 // below every number
    } else {
        let bits = (value + 0.0).to_bits(); // -0 becomes 0
        if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
    };
    out.extend_from_slice(&folded.to_be_bytes());
}

fn append_text(text: &str, out: &mut Vec<u8>) {
    out.push(0x50);
    for byte in text.bytes() {
        if byte == 0 {
            out.extend_from_slice(&[0, 0xFF]);
        } else {
            out.push(by_code_unit(byte));
        }
    }
    out.extend_from_slice(&[0, 0]);
}
