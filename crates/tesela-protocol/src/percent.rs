//! Percent-encoding (RFC 3986) of path segments, tokens and header texts.
//!
//! Decoding never treats `+` as a blank: signatures are base64 and contain it. A `%` that does not
//! start an escape stands for itself, because item ids may hold one and some clients send it bare.

use std::borrow::Cow;

/// The octets of `text` with every `%XX` replaced, or `None` when they are not UTF-8.
///
/// Text without escapes, the usual case, is borrowed.
pub fn decode(text: &str) -> Option<Cow<'_, str>> {
    let Some(first) = text.find('%') else { return Some(Cow::Borrowed(text)) };
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    decoded.extend_from_slice(&bytes[..first]);
    let mut rest = &bytes[first..];
    while let Some((&byte, tail)) = rest.split_first() {
        match escape(byte, tail) {
            Some(octet) => {
                decoded.push(octet);
                rest = &tail[2..];
            }
            None => {
                decoded.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

/// `text` as header-safe ASCII: everything but RFC 3986's unreserved characters and those in `kept`
/// becomes `%XX`.
pub fn encode(text: &str, kept: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 0x0f)]));
        }
    }
    encoded
}

fn escape(byte: u8, tail: &[u8]) -> Option<u8> {
    match (byte, tail) {
        (b'%', [high, low, ..]) => Some(nibble(*high)? << 4 | nibble(*low)?),
        _ => None,
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_octets_and_stray_percent_signs_stay() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a%20b-%C3%A9", "a b-é"),
            ("%2b+%2B", "+++"),
            ("100%", "100%"),
            ("%4", "%4"),
            ("%zz%41", "%zzA"),
            ("%2525", "%25"),
            ("", ""),
        ] {
            assert_eq!(decode(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(decode("%C3%28"), None, "not UTF-8");
    }

    #[test]
    fn encoding_is_ascii_and_decodes_back() {
        for text in ["dbs/d 1/colls/é", "a%20b", "tab\tquote\"", "\u{1F600}"] {
            let encoded = encode(text, b"/");
            assert!(encoded.bytes().all(|b| b.is_ascii_graphic()), "{encoded}");
            assert_eq!(decode(&encoded).as_deref(), Some(text));
        }
        assert_eq!(encode("dbs/d 1", b"/"), "dbs/d%201");
    }
}
