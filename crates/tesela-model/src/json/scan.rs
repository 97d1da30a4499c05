//! The tokens of JSON text, validated: shared by the tree parser and the document encoder.
//!
//! The input is known to be UTF-8. A token is a byte range of it; nothing is copied here.

use super::parse::ParseError;
use memchr::memchr2;

/// A cursor over the text.
pub(crate) struct Scanner<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

/// A string token: what stands between the quotes, and whether it has escapes to resolve.
#[derive(Clone, Copy)]
pub(crate) struct StringToken<'a> {
    pub(crate) raw: &'a str,
    pub(crate) escaped: bool,
}

impl<'a> Scanner<'a> {
    /// Refuses bytes that are no UTF-8.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| ParseError { offset: error.valid_up_to(), reason: "invalid UTF-8" })?;
        Ok(Self { text, at: 0 })
    }

    pub(crate) fn fail<T>(&self, reason: &'static str) -> Result<T, ParseError> {
        Err(ParseError { offset: self.at, reason })
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips whitespace and consumes `byte` when it comes next.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        self.skip_whitespace();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// The cursor must be at the end, whitespace aside.
    pub(crate) fn finish(&mut self) -> Result<(), ParseError> {
        self.skip_whitespace();
        if self.at == self.text.len() { Ok(()) } else { self.fail("characters after the value") }
    }

    pub(crate) fn literal(&mut self, word: &'static str) -> Result<(), ParseError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        self.fail("expected a value")
    }

    /// The cursor is at the opening quote; afterwards behind the closing one.
    pub(crate) fn string(&mut self) -> Result<StringToken<'a>, ParseError> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut at = start;
        let mut escaped = false;
        loop {
            let Some(found) = memchr2(b'"', b'\\', &bytes[at..]) else {
                self.at = bytes.len();
                return self.fail("unterminated string");
            };
            let stop = at + found;
            if let Some(control) = bytes[at..stop].iter().position(|byte| *byte < 0x20) {
                self.at = at + control;
                return self.fail("control character in a string");
            }
            if bytes[stop] == b'"' {
                self.at = stop + 1;
                return Ok(StringToken { raw: &self.text[start..stop], escaped });
            }
            escaped = true;
            self.at = stop;
            at = self.escape()?;
        }
    }

    /// Checks the escape at the cursor; returns where the string goes on.
    fn escape(&self) -> Result<usize, ParseError> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(self.at + 2),
            Some(b'u') => match self.unit(self.at)? {
                0xD800..=0xDBFF => match self.unit(self.at + 6) {
                    Ok(0xDC00..=0xDFFF) => Ok(self.at + 12),
                    _ => self.fail("lone surrogate in a string"),
                },
                0xDC00..=0xDFFF => self.fail("lone surrogate in a string"),
                _ => Ok(self.at + 6),
            },
            _ => self.fail("invalid escape in a string"),
        }
    }

    /// The code unit of the `\uXXXX` at `at`.
    fn unit(&self, at: usize) -> Result<u16, ParseError> {
        let digits = self.text.as_bytes().get(at..at + 6).and_then(|escape| escape.strip_prefix(b"\\u"));
        let hex = digits.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        match hex.and_then(|hex| std::str::from_utf8(hex).ok()).and_then(|hex| u16::from_str_radix(hex, 16).ok()) {
            Some(unit) => Ok(unit),
            None => self.fail("invalid escape in a string"),
        }
    }

    /// The cursor is at a digit or a minus sign.
    pub(crate) fn number(&mut self) -> Result<&'a str, ParseError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.fail("expected a value"),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.some_digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        self.digits();
        if self.at > start { Ok(()) } else { self.fail("expected a digit") }
    }
}

/// Resolves the escapes of a validated token.
pub(crate) fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at..];
        let (resolved, length) = match escape.as_bytes().get(1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => unescape_unicode(escape),
            Some(other) => (char::from(*other), 2),
            None => unreachable!("a validated token does not end in a backslash"),
        };
        out.push(resolved);
        rest = &escape[length..];
    }
    out.push_str(rest);
    out
}

fn unescape_unicode(escape: &str) -> (char, usize) {
    let unit = |at: usize| u32::from_str_radix(&escape[at..at + 4], 16).expect("validated hexadecimal digits");
    let first = unit(2);
    if !(0xD800..0xDC00).contains(&first) {
        return (char::from_u32(first).expect("validated: no lone surrogate"), 6);
    }
    let code = 0x10000 + ((first - 0xD800) << 10) + (unit(8) - 0xDC00);
    (char::from_u32(code).expect("a surrogate pair names a character"), 12)
}
