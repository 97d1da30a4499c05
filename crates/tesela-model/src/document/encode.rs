//! Text to document, in one pass.

use super::{CELLS, Document, HEADER_BYTES, NARROW, NARROW_ENTRIES_MAX, NARROW_TEXT_BYTES_MAX, WIDE};
use crate::json::scan::Scanner;
use crate::json::{Number, ParseError};
use crate::limits::DOCUMENT_DEPTH_MAX;
use bytes::{BufMut, Bytes, BytesMut};
use std::collections::HashSet;

/// Set in a key cell when the name has escapes, in the width the encoder works with.
pub(super) const ESCAPED: u32 = 1 << 31;

pub(super) struct Encoder {
    text: Vec<u8>,
    entries: Vec<[u32; CELLS]>,
    /// A property name occurred twice: the text must be rewritten.
    repeated: bool,
}

impl Encoder {
    pub(super) fn encode(bytes: &[u8]) -> Result<Document, ParseError> {
        let mut scanner = Scanner::new(bytes)?;
        let mut encoder =
            Self { text: Vec::with_capacity(bytes.len()), entries: Vec::with_capacity(32), repeated: false };
        encoder.value(&mut scanner, 0, DOCUMENT_DEPTH_MAX)?;
        scanner.finish()?;
        if encoder.repeated {
            // The tree parser settles repetitions (the last value wins), and its text has none.
            let value = crate::json::parse(bytes)?;
            return Self::encode(crate::json::to_string(&value).as_bytes());
        }
        Ok(encoder.finish())
    }

    /// Opens a document that is an object, to append properties.
    pub(super) fn reopen(document: &Document) -> Self {
        let root = document.root();
        Self { text: document.text().as_bytes().to_vec(), entries: root.table_entries(), repeated: false }
    }

    pub(super) fn append(mut self, members: &[(&str, &str)]) -> Document {
        assert_eq!(self.text.pop(), Some(b'}'), "only objects are appended to");
        for (name, json) in members {
            if self.text.last() != Some(&b'{') {
                self.text.push(b',');
            }
            let key = self.text.len() as u32;
            crate::json::write_string(name, &mut self.text);
            self.text.push(b':');
            let mut scanner = Scanner::new(json.as_bytes()).expect("a str is UTF-8");
            self.value(&mut scanner, key, DOCUMENT_DEPTH_MAX).expect("system properties are valid JSON");
        }
        self.text.push(b'}');
        self.close(0);
        self.finish()
    }

    fn value(&mut self, scanner: &mut Scanner<'_>, key: u32, depth: usize) -> Result<(), ParseError> {
        scanner.skip_whitespace();
        let entry = self.entries.len();
        self.entries.push([key, self.text.len() as u32, 0, 0]);
        match scanner.peek() {
            Some(b'{') => self.object(scanner, depth)?,
            Some(b'[') => self.array(scanner, depth)?,
            _ => self.scalar(scanner)?,
        }
        self.close(entry);
        Ok(())
    }

    /// The entry's value ends here.
    fn close(&mut self, entry: usize) {
        let next = self.entries.len() as u32;
        self.entries[entry][2] = self.text.len() as u32;
        self.entries[entry][3] = next;
    }

    fn scalar(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ParseError> {
        let start = scanner.at;
        match scanner.peek() {
            Some(b'"') => {
                scanner.string()?;
            }
            Some(b't') => scanner.literal("true")?,
            Some(b'f') => scanner.literal("false")?,
            Some(b'n') => scanner.literal("null")?,
            Some(b'-' | b'0'..=b'9') => {
                let text = scanner.number()?;
                // Up to 15 characters without an exponent cannot leave the range of a double.
                let short = text.len() <= 15 && !text.contains(['e', 'E']);
                if !short && Number::from_json_text(text).is_none() {
                    return scanner.fail("number beyond the range of a double");
                }
            }
            Some(_) => return scanner.fail("expected a value"),
            None => return scanner.fail("unexpected end"),
        }
        self.text.extend_from_slice(&scanner.text.as_bytes()[start..scanner.at]);
        Ok(())
    }

    fn array(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Result<(), ParseError> {
        let Some(depth) = depth.checked_sub(1) else { return scanner.fail("nesting too deep") };
        let first = self.entries.len();
        let mut flat = true;
        scanner.at += 1;
        self.text.push(b'[');
        if !scanner.eat(b']') {
            loop {
                scanner.skip_whitespace();
                flat &= !matches!(scanner.peek(), Some(b'{' | b'['));
                self.value(scanner, 0, depth)?;
                if scanner.eat(b']') {
                    break;
                }
                if !scanner.eat(b',') {
                    return scanner.fail("expected ',' or ']'");
                }
                self.text.push(b',');
            }
        }
        self.text.push(b']');
        if flat {
            self.entries.truncate(first);
        }
        Ok(())
    }

    fn object(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Result<(), ParseError> {
        let Some(depth) = depth.checked_sub(1) else { return scanner.fail("nesting too deep") };
        let first = self.entries.len();
        scanner.at += 1;
        self.text.push(b'{');
        if !scanner.eat(b'}') {
            loop {
                self.member(scanner, depth)?;
                if scanner.eat(b'}') {
                    break;
                }
                if !scanner.eat(b',') {
                    return scanner.fail("expected ',' or '}'");
                }
                self.text.push(b',');
            }
        }
        self.text.push(b'}');
        self.repeated |= self.has_repeated_name(first);
        Ok(())
    }

    fn member(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Result<(), ParseError> {
        scanner.skip_whitespace();
        if scanner.peek() != Some(b'"') {
            return scanner.fail("expected a property name");
        }
        let start = scanner.at;
        let name = scanner.string()?;
        let key = self.text.len() as u32 | if name.escaped { ESCAPED } else { 0 };
        self.text.extend_from_slice(&scanner.text.as_bytes()[start..scanner.at]);
        if !scanner.eat(b':') {
            return scanner.fail("expected ':'");
        }
        self.text.push(b':');
        self.value(scanner, key, depth)
    }

    /// Whether two of the sibling properties from entry `first` on share a name. Names with escapes are
    /// taken for repeated: rare, and the slow way settles them.
    fn has_repeated_name(&self, first: usize) -> bool {
        const PAIRWISE_MAX: usize = 12;
        let mut names: Vec<&[u8]> = Vec::new();
        let mut at = first;
        while let Some([key, start, _, next]) = self.entries.get(at) {
            if key & ESCAPED != 0 {
                return self.escaped_names_repeat(first);
            }
            names.push(&self.text[*key as usize..*start as usize]);
            at = *next as usize;
        }
        if names.len() <= PAIRWISE_MAX {
            return names.iter().enumerate().any(|(i, name)| names[..i].contains(name));
        }
        let distinct: HashSet<&[u8]> = names.iter().copied().collect();
        distinct.len() < names.len()
    }

    fn escaped_names_repeat(&self, first: usize) -> bool {
        let mut names = HashSet::new();
        let mut at = first;
        while let Some([key, start, _, next]) = self.entries.get(at) {
            // A name stands between its quotes, the colon follows the closing one.
            let raw = &self.text[(key & !ESCAPED) as usize + 1..*start as usize - 2];
            let name = crate::json::scan::unescape(std::str::from_utf8(raw).expect("copied from UTF-8"));
            if !names.insert(name) {
                return true;
            }
            at = *next as usize;
        }
        false
    }

    fn finish(self) -> Document {
        let wide = self.text.len() > NARROW_TEXT_BYTES_MAX || self.entries.len() > NARROW_ENTRIES_MAX;
        let cell = if wide { 4 } else { 2 };
        let mut out = BytesMut::with_capacity(HEADER_BYTES + self.entries.len() * CELLS * cell + self.text.len());
        out.put_u8(if wide { WIDE } else { NARROW });
        out.put_u32_le(self.entries.len() as u32);
        for [key, start, end, next] in &self.entries {
            if wide {
                [key, start, end, next].into_iter().for_each(|value| out.put_u32_le(*value));
            } else {
                let key = (key & !ESCAPED) | if key & ESCAPED != 0 { 0x8000 } else { 0 };
                [key, *start, *end, *next].into_iter().for_each(|value| out.put_u16_le(value as u16));
            }
        }
        out.extend_from_slice(&self.text);
        Document(Bytes::from(out))
    }
}
