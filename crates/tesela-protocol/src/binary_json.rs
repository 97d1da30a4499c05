//! Cosmos binary JSON: bodies whose first byte is `0x80`, read into JSON text.
//!
//! After the first byte comes one value. A value is a marker byte and, for most markers, a payload; all
//! integers are little-endian:
//!
//! | markers | value |
//! |---|---|
//! | `00`–`1F` | the number itself |
//! | `20`–`3F` | a string of a fixed dictionary (`2C` is `id`) |
//! | `40`–`67` | a string of a dictionary the other side would have to hand over: refused |
//! | `71`–`74` | a base64 text, as the bytes it stands for |
//! | `75`–`77` | a GUID text in 16 bytes: lower case, upper case, lower case inside quotes |
//! | `78`–`7F` | a text in 4, 5, 6 or 7 bits a character |
//! | `80`–`BF` | a string of up to 63 bytes, its length in the marker |
//! | `C0`–`C2` | a string after its length in 1, 2 or 4 bytes |
//! | `C3`–`C6` | a string already seen, by its offset in 1, 2, 3 or 4 bytes |
//! | `C7`–`CE` | a number of fixed width |
//! | `D0`–`D2` | null, false, true |
//! | `D3`, `D7`–`DC`, `DD`–`DF` | a GUID, more numbers, bytes (as base64 text) |
//! | `E0`–`E7` | an array: empty, of one, by byte length, by byte length and count |
//! | `E8`–`EF` | an object, likewise; members are a string and a value |
//! | `F0`–`F3` | an array of bare numbers of one type, or an array of such arrays |
//!
//! ```text
//! 80 EA 04 2C 00 3B 01   ->   {"id":0,"type":1}
//! ```
//!
//! The bytes come from outside, so: every length is checked against the innermost container, containers
//! are kept on a stack of [`DOCUMENT_DEPTH_MAX`] entries instead of the thread's, a reference may only
//! point back and never to another reference, and the text may not outgrow the limit the caller gives
//! (a few bytes of references could otherwise ask for gigabytes).
//!
//! Left out: writing binary. Clients that can read it can read text, too.

use tesela_model::json;
use tesela_model::limits::DOCUMENT_DEPTH_MAX;

mod scalar;
mod string;

#[cfg(test)]
mod tests;

/// The first byte of every binary body. No JSON text starts with it.
pub const PREAMBLE: u8 = 0x80;

/// Whether a body is binary JSON.
pub fn is_binary(body: &[u8]) -> bool {
    body.first() == Some(&PREAMBLE)
}

/// Why a body is not binary JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BinaryJsonError {
    #[error("a binary body begins with byte 0x80")]
    NoPreamble,
    #[error("the body ends inside a value, or a value crosses the end of its container at offset {offset}")]
    Truncated { offset: usize },
    #[error("no value begins with byte {marker:#04x} at offset {offset}")]
    BadMarker { marker: u8, offset: usize },
    #[error("byte {marker:#04x} at offset {offset} stands where the name of a property is expected")]
    NameNotString { marker: u8, offset: usize },
    #[error("the string at offset {offset} is not text")]
    BadString { offset: usize },
    #[error("the string at offset {offset} refers to a dictionary that was not sent")]
    UserString { offset: usize },
    #[error("the reference at offset {offset} does not lead back to a string")]
    BadReference { offset: usize },
    #[error("the number at offset {offset} is not finite")]
    NotFinite { offset: usize },
    #[error("the container that ends at offset {offset} does not hold the number of values it declares")]
    WrongCount { offset: usize },
    #[error("values are nested deeper than {DOCUMENT_DEPTH_MAX}")]
    TooDeep,
    #[error("the text of the body is longer than {limit} bytes")]
    TooLong { limit: usize },
    #[error("{count} bytes follow the value")]
    TrailingBytes { count: usize },
}

type Result<T> = std::result::Result<T, BinaryJsonError>;

/// The JSON text of a binary body, of at most `text_bytes_max` bytes.
pub fn to_text(body: &[u8], text_bytes_max: usize) -> Result<Vec<u8>> {
    if !is_binary(body) {
        return Err(BinaryJsonError::NoPreamble);
    }
    let text = Vec::with_capacity((body.len() * 2).min(text_bytes_max));
    let mut decoder = Decoder { input: Input::new(body), text, text_bytes_max, open: Vec::new() };
    decoder.run()?;
    match body.len() - decoder.input.position {
        0 => Ok(decoder.text),
        count => Err(BinaryJsonError::TrailingBytes { count }),
    }
}

/// A cursor that never leaves the innermost container.
struct Input<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Where the innermost container with a known length ends.
    end: usize,
}

impl<'a> Input<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 1, end: bytes.len() }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let truncated = BinaryJsonError::Truncated { offset: self.position };
        let end = self.position.checked_add(count).filter(|end| *end <= self.end).ok_or(truncated)?;
        let taken = &self.bytes[self.position..end];
        self.position = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("take returns the number of bytes asked for"))
    }

    fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    /// An unsigned integer of `width` bytes, at most 4.
    fn unsigned(&mut self, width: usize) -> Result<usize> {
        Ok(self.take(width)?.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte)))
    }
}

/// A container whose end has not been reached.
struct Open {
    is_object: bool,
    /// Where its bytes end; `None` for the one-value forms, which do not say.
    end: Option<usize>,
    /// How many values it says it holds.
    declared: Option<usize>,
    seen: usize,
    /// The end that holds again once this container is closed.
    outer_end: usize,
}

impl Open {
    fn is_complete(&self, position: usize) -> bool {
        match self.end {
            Some(end) => position == end,
            None => self.declared == Some(self.seen),
        }
    }
}

struct Decoder<'a> {
    input: Input<'a>,
    text: Vec<u8>,
    text_bytes_max: usize,
    open: Vec<Open>,
}

impl Decoder<'_> {
    fn run(&mut self) -> Result<()> {
        loop {
            self.value()?;
            if self.text.len() > self.text_bytes_max {
                return Err(BinaryJsonError::TooLong { limit: self.text_bytes_max });
            }
            if !self.advance()? {
                return Ok(());
            }
        }
    }

    /// Closes what is complete and writes what precedes the next value; false when there is none.
    fn advance(&mut self) -> Result<bool> {
        loop {
            let Some(top) = self.open.last_mut() else { return Ok(false) };
            if !top.is_complete(self.input.position) {
                break;
            }
            if top.declared.is_some_and(|declared| declared != top.seen) {
                return Err(BinaryJsonError::WrongCount { offset: self.input.position });
            }
            self.text.push(if top.is_object { b'}' } else { b']' });
            self.input.end = top.outer_end;
            self.open.pop();
        }
        let Some(top) = self.open.last_mut() else { return Ok(false) };
        if top.seen > 0 {
            self.text.push(b',');
        }
        top.seen += 1;
        if top.is_object {
            self.name()?;
        }
        Ok(true)
    }

    fn name(&mut self) -> Result<()> {
        let offset = self.input.position;
        let marker = self.input.byte()?;
        if !string::is_string(marker) {
            return Err(BinaryJsonError::NameNotString { marker, offset });
        }
        json::write_string(&string::read(&mut self.input, marker, offset)?, &mut self.text);
        self.text.push(b':');
        Ok(())
    }

    /// Writes one value, or the opening of a container whose values are written by later calls.
    fn value(&mut self) -> Result<()> {
        let offset = self.input.position;
        let marker = self.input.byte()?;
        match marker {
            _ if string::is_string(marker) => {
                json::write_string(&string::read(&mut self.input, marker, offset)?, &mut self.text);
            }
            0xD0 => self.text.extend_from_slice(b"null"),
            0xD1 => self.text.extend_from_slice(b"false"),
            0xD2 => self.text.extend_from_slice(b"true"),
            0xD3 => json::write_string(&string::guid_value(&mut self.input)?, &mut self.text),
            0xDD..=0xDF => {
                let width = 1 << (marker - 0xDD);
                json::write_string(&string::bytes_value(&mut self.input, width)?, &mut self.text);
            }
            0xE0..=0xE7 => self.open_container(false, marker - 0xE0)?,
            0xE8..=0xEF => self.open_container(true, marker - 0xE8)?,
            0xF0 | 0xF1 => self.number_array(usize::from(marker - 0xF0) + 1)?,
            0xF2 | 0xF3 => self.array_of_number_arrays(marker)?,
            _ => scalar::write_number(&mut self.input, marker, offset, &mut self.text)?,
        }
        Ok(())
    }

    /// Arrays and objects have the same eight forms: empty, of one, by length ×3, by length and count ×3.
    fn open_container(&mut self, is_object: bool, form: u8) -> Result<()> {
        if self.open.len() == DOCUMENT_DEPTH_MAX {
            return Err(BinaryJsonError::TooDeep);
        }
        let outer_end = self.input.end;
        let (end, declared) = match form {
            0 => (Some(self.input.position), None),
            1 => (None, Some(1)),
            _ => {
                let width = 1 << ((form - 2) % 3);
                let length = self.input.unsigned(width)?;
                let declared = if form >= 5 { Some(self.input.unsigned(width)?) } else { None };
                let offset = self.input.position;
                let end = offset.checked_add(length).filter(|end| *end <= outer_end);
                (Some(end.ok_or(BinaryJsonError::Truncated { offset })?), declared)
            }
        };
        self.input.end = end.unwrap_or(outer_end);
        self.text.push(if is_object { b'{' } else { b'[' });
        self.open.push(Open { is_object, end, declared, seen: 0, outer_end });
        Ok(())
    }

    fn number_array(&mut self, width: usize) -> Result<()> {
        let offset = self.input.position;
        let item = self.input.byte()?;
        let count = self.input.unsigned(width)?;
        self.bare_numbers(item, offset, count)
    }

    fn array_of_number_arrays(&mut self, marker: u8) -> Result<()> {
        let (inner_marker, width) = if marker == 0xF2 { (0xF0, 1) } else { (0xF1, 2) };
        let offset = self.input.position;
        let found = self.input.byte()?;
        if found != inner_marker {
            return Err(BinaryJsonError::BadMarker { marker: found, offset });
        }
        let item_offset = self.input.position;
        let item = self.input.byte()?;
        let inner_count = self.input.unsigned(width)?;
        let outer_count = self.input.unsigned(width)?;
        self.text.push(b'[');
        for index in 0..outer_count {
            if index > 0 {
                self.text.push(b',');
            }
            self.bare_numbers(item, item_offset, inner_count)?;
        }
        self.text.push(b']');
        Ok(())
    }

    /// `count` numbers of one type, whose marker was read at `offset`.
    fn bare_numbers(&mut self, item: u8, offset: usize, count: usize) -> Result<()> {
        if !scalar::may_be_uniform(item) {
            return Err(BinaryJsonError::BadMarker { marker: item, offset });
        }
        self.text.push(b'[');
        for index in 0..count {
            if index > 0 {
                self.text.push(b',');
            }
            scalar::write_number(&mut self.input, item, offset, &mut self.text)?;
        }
        self.text.push(b']');
        Ok(())
    }
}
