//! Keys made of fields, such that comparing the bytes compares the fields.
//!
//! An engine knows one order: that of bytes. This code writes fields so that the byte order of two
//! keys is the order of their first differing field, which makes every prefix of fields a range:
//!
//! | field | bytes | order |
//! |---|---|---|
//! | tag | the byte | by number |
//! | u32, u64 | big endian, fixed width | numeric |
//! | f64 | big endian bits, sign flipped, all bits flipped if negative | numeric, −0 equals +0 |
//! | bytes, str | escaped, then `00` | bytewise; UTF-8 order is code point order |
//! | raw | as they are; ends the key | bytewise |
//!
//! Escaping writes `00` as `01 01` and `01` as `01 02`; every other byte stands for itself. The
//! terminator `00` is then smaller than any byte a longer string could have in that place, so
//! "a" sorts before "ab" and before "a\0", and no field can run into the next one. Example: the
//! key (tag 7, "a\0b", 258) is
//!
//! ```text
//! 07   61 01 01 62 00   00 00 00 00 00 00 01 02
//! ```
//!
//! Decoding accepts exactly what encoding writes: any other input is an error, never a panic, and
//! no two byte strings decode to the same fields.
//!
//! Left out: type tags before each field (a reader knows its own layout) and descending order (a
//! scan runs backward).

use std::borrow::Cow;

use bytes::Bytes;

/// Ends a string field; smaller than every byte of an escaped string.
const TERMINATOR: u8 = 0x00;
/// Announces an escaped byte: `ESCAPE, n + 1` stands for the byte n, n being 0 or 1.
const ESCAPE: u8 = 0x01;

/// Why bytes are not a key of the expected shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("key ends inside a field")]
    Truncated,
    #[error("key holds {bytes} bytes behind its last field")]
    TrailingBytes { bytes: usize },
    #[error("key holds the impossible escape 01 {byte:02x}")]
    BadEscape { byte: u8 },
    #[error("key holds a string that is not utf-8")]
    NotUtf8,
    #[error("key holds negative zero, which is written as zero")]
    NegativeZero,
}

/// Writes fields one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyWriter {
    buffer: Vec<u8>,
}

impl KeyWriter {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_capacity(bytes: usize) -> Self {
        Self { buffer: Vec::with_capacity(bytes) }
    }

    pub fn tag(mut self, tag: u8) -> Self {
        self.buffer.push(tag);
        self
    }

    pub fn u32(mut self, number: u32) -> Self {
        self.buffer.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub fn u64(mut self, number: u64) -> Self {
        self.buffer.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub fn f64(mut self, number: f64) -> Self {
        self.buffer.extend_from_slice(&ordered_bits(number).to_be_bytes());
        self
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.escape(bytes);
        self.buffer.push(TERMINATOR);
        self
    }

    pub fn str(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// A string without its terminator: the prefix of all keys whose string begins so. Ends the key.
    pub fn str_prefix(mut self, prefix: &str) -> Self {
        self.escape(prefix.as_bytes());
        self
    }

    /// Bytes that need no terminator, because they are the last field or of known length.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.buffer.extend_from_slice(bytes);
        self
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.buffer
    }

    pub fn finish(self) -> Bytes {
        self.buffer.into()
    }

    fn escape(&mut self, mut bytes: &[u8]) {
        // Text holds next to no bytes below 2, so it is copied in one piece.
        while let Some(at) = bytes.iter().position(|&byte| byte <= ESCAPE) {
            self.buffer.extend_from_slice(&bytes[..at]);
            self.buffer.extend_from_slice(&[ESCAPE, bytes[at] + 1]);
            bytes = &bytes[at + 1..];
        }
        self.buffer.extend_from_slice(bytes);
    }
}

/// Reads fields in the order they were written.
#[derive(Clone, Copy, Debug)]
pub struct KeyReader<'a> {
    rest: &'a [u8],
}

impl<'a> KeyReader<'a> {
    pub fn new(key: &'a [u8]) -> Self {
        Self { rest: key }
    }

    pub fn tag(&mut self) -> Result<u8, KeyError> {
        self.fixed::<1>().map(|[tag]| tag)
    }

    pub fn u32(&mut self) -> Result<u32, KeyError> {
        self.fixed().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, KeyError> {
        self.fixed().map(u64::from_be_bytes)
    }

    pub fn f64(&mut self) -> Result<f64, KeyError> {
        let number = number_of_ordered_bits(self.fixed().map(u64::from_be_bytes)?);
        if number == 0.0 && number.is_sign_negative() {
            return Err(KeyError::NegativeZero);
        }
        Ok(number)
    }

    /// Borrows from the key unless something was escaped.
    pub fn bytes(&mut self) -> Result<Cow<'a, [u8]>, KeyError> {
        let end = self.rest.iter().position(|&byte| byte == TERMINATOR);
        let (field, rest) = self.rest.split_at(end.ok_or(KeyError::Truncated)?);
        self.rest = &rest[1..];
        if field.contains(&ESCAPE) { unescape(field).map(Cow::Owned) } else { Ok(Cow::Borrowed(field)) }
    }

    pub fn str(&mut self) -> Result<Cow<'a, str>, KeyError> {
        match self.bytes()? {
            Cow::Borrowed(field) => std::str::from_utf8(field).map(Cow::Borrowed).map_err(|_| KeyError::NotUtf8),
            Cow::Owned(field) => String::from_utf8(field).map(Cow::Owned).map_err(|_| KeyError::NotUtf8),
        }
    }

    /// The next `N` bytes as they are.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], KeyError> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(KeyError::Truncated)?;
        self.rest = rest;
        Ok(*field)
    }

    /// All that was not read yet.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// Succeeds if every byte was read.
    pub fn end(self) -> Result<(), KeyError> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(KeyError::TrailingBytes { bytes }),
        }
    }
}

fn unescape(field: &[u8]) -> Result<Vec<u8>, KeyError> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut field = field.iter();
    while let Some(&byte) = field.next() {
        if byte != ESCAPE {
            bytes.push(byte);
            continue;
        }
        match field.next() {
            Some(&code @ (1 | 2)) => bytes.push(code - 1),
            Some(&byte) => return Err(KeyError::BadEscape { byte }),
            None => return Err(KeyError::BadEscape { byte: TERMINATOR }),
        }
    }
    Ok(bytes)
}

const SIGN: u64 = 1 << 63;

/// Unsigned integers in the order of the numbers. IEEE 754 bits of positive numbers are in order
/// already; those of negative ones are in reverse order and above the positive ones.
fn ordered_bits(number: f64) -> u64 {
    // Adding zero turns -0 into +0, so that equal numbers have one encoding.
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn number_of_ordered_bits(bits: u64) -> f64 {
    f64::from_bits(if bits & SIGN == 0 { !bits } else { bits & !SIGN })
}

#[cfg(test)]
mod tests;
