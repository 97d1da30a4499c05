//! Strings of binary JSON, in all their disguises.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::{BinaryJsonError, Input, Result};

/// Strings every side knows, in the order of their markers from `0x20`.
const SYSTEM_STRINGS: [&str; 32] = [
    "$s",
    "$t",
    "$v",
    "_attachments",
    "_etag",
    "_rid",
    "_self",
    "_ts",
    "attachments/",
    "coordinates",
    "geometry",
    "GeometryCollection",
    "id",
    "url",
    "Value",
    "label",
    "LineString",
    "link",
    "MultiLineString",
    "MultiPoint",
    "MultiPolygon",
    "name",
    "Name",
    "Type",
    "Point",
    "Polygon",
    "properties",
    "type",
    "value",
    "Feature",
    "FeatureCollection",
    "_id",
];

const LOWER_HEX: &[u8; 16] = b"0123456789abcdef";
const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";
const DATE_TIME: &[u8; 16] = b" 0123456789:-.TZ";

/// Whether a marker introduces a string, as names of properties have to be.
pub(super) fn is_string(marker: u8) -> bool {
    matches!(marker, 0x20..=0x67 | 0x71..=0xC6)
}

/// Reads the string whose marker stood at `offset`.
pub(super) fn read<'a>(input: &mut Input<'a>, marker: u8, offset: usize) -> Result<Cow<'a, str>> {
    match marker {
        0xC3..=0xC6 => {
            let target = input.unsigned(usize::from(marker - 0xC2))?;
            referred(input.bytes, target, offset)
        }
        _ => read_direct(input, marker, offset),
    }
}

/// A string that is not a reference.
fn read_direct<'a>(input: &mut Input<'a>, marker: u8, offset: usize) -> Result<Cow<'a, str>> {
    match marker {
        0x20..=0x3F => Ok(Cow::Borrowed(SYSTEM_STRINGS[usize::from(marker - 0x20)])),
        0x40..=0x67 => Err(BinaryJsonError::UserString { offset }),
        0x71 => base64_text(input, 1, false, offset),
        0x72 => base64_text(input, 2, false, offset),
        0x73 => base64_text(input, 1, true, offset),
        0x74 => base64_text(input, 2, true, offset),
        0x75 => guid_text(input, LOWER_HEX).map(Cow::Owned),
        0x76 => guid_text(input, UPPER_HEX).map(Cow::Owned),
        0x77 => guid_text(input, LOWER_HEX).map(|guid| Cow::Owned(format!("\"{guid}\""))),
        0x78 => nibbles(input, LOWER_HEX, offset),
        0x79 => nibbles(input, UPPER_HEX, offset),
        0x7A => nibbles(input, DATE_TIME, offset),
        0x7B..=0x7D => {
            let length = input.unsigned(1)?;
            let base = input.byte()?;
            packed(input, length, usize::from(marker - 0x77), base, offset)
        }
        0x7E | 0x7F => {
            let length = input.unsigned(usize::from(marker - 0x7D))?;
            packed(input, length, 7, 0, offset)
        }
        0x80..=0xBF => utf8(input, usize::from(marker & 0x3F), offset),
        0xC0..=0xC2 => {
            let length = input.unsigned(1 << (marker - 0xC0))?;
            utf8(input, length, offset)
        }
        _ => Err(BinaryJsonError::BadReference { offset }),
    }
}

/// The string at an earlier offset. References do not lead to references, so there are no chains.
fn referred(bytes: &[u8], target: usize, offset: usize) -> Result<Cow<'_, str>> {
    let bad = BinaryJsonError::BadReference { offset };
    if target == 0 || target >= offset {
        return Err(bad);
    }
    let marker = bytes[target];
    if !is_string(marker) {
        return Err(bad);
    }
    let mut earlier = Input { bytes, position: target + 1, end: bytes.len() };
    read_direct(&mut earlier, marker, offset)
}

fn utf8<'a>(input: &mut Input<'a>, length: usize, offset: usize) -> Result<Cow<'a, str>> {
    std::str::from_utf8(input.take(length)?).map(Cow::Borrowed).map_err(|_| BinaryJsonError::BadString { offset })
}

/// Sixteen bytes, two digits each, low half first, in groups of 8-4-4-4-12.
fn guid_text(input: &mut Input<'_>, digits: &[u8; 16]) -> Result<String> {
    let bytes: [u8; 16] = input.array()?;
    Ok(guid(bytes.map(|byte| [byte & 0x0F, byte >> 4]), digits))
}

/// A GUID that is not a string in the sender's eyes. Its first three groups are little-endian numbers.
pub(super) fn guid_value(input: &mut Input<'_>) -> Result<String> {
    let bytes: [u8; 16] = input.array()?;
    const ORDER: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    Ok(guid(ORDER.map(|index| [bytes[index] >> 4, bytes[index] & 0x0F]), LOWER_HEX))
}

fn guid(pairs: [[u8; 2]; 16], digits: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (index, pair) in pairs.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.extend(pair.map(|nibble| char::from(digits[usize::from(nibble)])));
    }
    text
}

/// Bytes have no JSON form of their own; base64 text is what clients expect in their place.
pub(super) fn bytes_value(input: &mut Input<'_>, width: usize) -> Result<String> {
    let length = input.unsigned(width)?;
    Ok(STANDARD.encode(input.take(length)?))
}

/// Base64 text given as its bytes. The prefix counts groups of four characters; the padding byte counts the
/// `=` at the end or, complemented, those that the text leaves out.
fn base64_text<'a>(input: &mut Input<'a>, width: usize, is_url_safe: bool, offset: usize) -> Result<Cow<'a, str>> {
    let groups = input.unsigned(width)?;
    let padding = input.byte()?;
    let is_omitted = padding > 2;
    let padding = usize::from(if is_omitted { !padding } else { padding });
    if padding > 2 || (groups == 0 && padding > 0) {
        return Err(BinaryJsonError::BadString { offset });
    }
    let bytes = input.take(groups * 3 - padding)?;
    let mut text = if is_url_safe { URL_SAFE.encode(bytes) } else { STANDARD.encode(bytes) };
    if is_omitted {
        text.truncate(groups * 4 - padding);
    }
    Ok(Cow::Owned(text))
}

/// Two characters a byte, low half first, from an alphabet of sixteen.
fn nibbles<'a>(input: &mut Input<'a>, alphabet: &[u8; 16], offset: usize) -> Result<Cow<'a, str>> {
    let length = input.unsigned(1)?;
    let bytes = input.take(length.div_ceil(2))?;
    let halves = bytes.iter().flat_map(|byte| [byte & 0x0F, byte >> 4]);
    if length % 2 == 1 && bytes.last().is_some_and(|byte| byte >> 4 != 0) {
        return Err(BinaryJsonError::BadString { offset });
    }
    Ok(Cow::Owned(halves.take(length).map(|half| char::from(alphabet[usize::from(half)])).collect()))
}

/// `length` characters of `bits` bits each, least significant bit first, every one `base` too small.
fn packed<'a>(input: &mut Input<'a>, length: usize, bits: usize, base: u8, offset: usize) -> Result<Cow<'a, str>> {
    let bytes = input.take((length * bits).div_ceil(8))?;
    let mut text = String::with_capacity(length);
    for index in 0..length {
        let (first, shift) = (index * bits / 8, index * bits % 8);
        let second = bytes.get(first + 1).copied().unwrap_or(0);
        let window = u16::from_le_bytes([bytes[first], second]) >> shift;
        let unit = (window & ((1 << bits) - 1)) as u8;
        // Only ASCII is ever packed.
        let character = unit.checked_add(base).filter(u8::is_ascii).ok_or(BinaryJsonError::BadString { offset })?;
        text.push(char::from(character));
    }
    Ok(Cow::Owned(text))
}
