//! A place in a document.

use super::CELLS;
use super::encode::ESCAPED;
use crate::json::scan::{Scanner, unescape};
use crate::json::{Number, Object, Value};
use std::borrow::Cow;

/// The type of a value, told by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// The element of a scalar array has no entry of its own.
const NO_ENTRY: u32 = u32::MAX;

/// A value inside a document. Copying it copies a few words.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    table: &'a [u8],
    wide: bool,
    text: &'a str,
    entry: u32,
    start: u32,
    end: u32,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl<'a> Node<'a> {
    pub(super) fn root(table: &'a [u8], wide: bool, text: &'a str) -> Self {
        Self { table, wide, text, entry: 0, start: 0, end: text.len() as u32 }
    }

    fn cells(&self, entry: u32) -> [u32; CELLS] {
        let entry = entry as usize;
        if self.wide {
            let at = entry * CELLS * 4;
            let cell = |i: usize| {
                u32::from_le_bytes([
                    self.table[at + i],
                    self.table[at + i + 1],
                    self.table[at + i + 2],
                    self.table[at + i + 3],
                ])
            };
            [cell(0), cell(4), cell(8), cell(12)]
        } else {
            let at = entry * CELLS * 2;
            let cell = |i: usize| u32::from(u16::from_le_bytes([self.table[at + i], self.table[at + i + 1]]));
            let key = cell(0);
            let escaped = if key & 0x8000 != 0 { ESCAPED } else { 0 };
            [(key & 0x7FFF) | escaped, cell(2), cell(4), cell(6)]
        }
    }

    /// All entries, in the encoder's form.
    pub(super) fn table_entries(&self) -> Vec<[u32; CELLS]> {
        let count = self.table.len() / (CELLS * if self.wide { 4 } else { 2 });
        (0..count as u32).map(|entry| self.cells(entry)).collect()
    }

    fn child(&self, entry: u32, cells: [u32; CELLS]) -> Self {
        Self { entry, start: cells[1], end: cells[2], ..*self }
    }

    pub fn kind(&self) -> Kind {
        match self.text.as_bytes()[self.start as usize] {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The exact JSON text of this value.
    pub fn text(&self) -> &'a str {
        &self.text[self.start as usize..self.end as usize]
    }

    /// The property of an object; `None` for everything else.
    pub fn get(&self, name: &str) -> Option<Self> {
        if self.text.as_bytes()[self.start as usize] != b'{' {
            return None;
        }
        let bytes = self.text.as_bytes();
        let end = self.cells(self.entry)[3];
        let mut entry = self.entry + 1;
        while entry < end {
            let cells = self.cells(entry);
            let key = (cells[0] & !ESCAPED) as usize;
            let found = if cells[0] & ESCAPED != 0 {
                unescape(&self.text[key + 1..cells[1] as usize - 2]) == name
            } else {
                // Between the opening quote and the value stand the name, a quote and a colon.
                cells[1] as usize - key == name.len() + 3 && bytes[key + 1..].starts_with(name.as_bytes())
            };
            if found {
                return Some(self.child(entry, cells));
            }
            entry = cells[3];
        }
        None
    }

    /// The element of an array; `None` for everything else.
    pub fn at(&self, index: usize) -> Option<Self> {
        self.elements().nth(index)
    }

    /// The elements of an array; none for everything else.
    pub fn elements(&self) -> Elements<'a> {
        if self.kind() != Kind::Array {
            return Elements { owner: *self, next: Next::Flat(self.end) };
        }
        let end = self.cells(self.entry)[3];
        let next = if end == self.entry + 1 { Next::Flat(self.start + 1) } else { Next::Entries(self.entry + 1, end) };
        Elements { owner: *self, next }
    }

    /// The properties of an object in their order; none for everything else.
    pub fn members(&self) -> Members<'a> {
        let (entry, end) =
            if self.kind() == Kind::Object { (self.entry + 1, self.cells(self.entry)[3]) } else { (0, 0) };
        Members { owner: *self, entry, end }
    }

    /// Elements of an array or properties of an object.
    pub fn len(&self) -> usize {
        match self.kind() {
            Kind::Object => self.members().count(),
            _ => self.elements().count(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.text().starts_with('t'))
    }

    pub fn as_number(&self) -> Option<Number> {
        if self.kind() != Kind::Number {
            return None;
        }
        Some(Number::from_json_text(self.text()).expect("numbers of a document were checked when it was made"))
    }

    pub fn as_f64(&self) -> Option<f64> {
        if self.kind() != Kind::Number {
            return None;
        }
        Some(
            short_integer(self.text())
                .unwrap_or_else(|| self.text().parse().expect("numbers of a document were checked when it was made")),
        )
    }

    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        if self.kind() != Kind::String {
            return None;
        }
        let raw = &self.text[self.start as usize + 1..self.end as usize - 1];
        Some(if memchr::memchr(b'\\', raw.as_bytes()).is_some() {
            Cow::Owned(unescape(raw))
        } else {
            Cow::Borrowed(raw)
        })
    }

    pub fn to_value(&self) -> Value {
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(self.text().starts_with('t')),
            Kind::Number => Value::Number(self.as_number().expect("kind is number")),
            Kind::String => Value::String(self.as_str().expect("kind is string").into_owned()),
            Kind::Array => Value::Array(self.elements().map(|element| element.to_value()).collect()),
            Kind::Object => Value::Object(Object::from_unique(
                self.members().map(|(name, member)| (name.into_owned(), member.to_value())).collect(),
            )),
        }
    }
}

/// The value of an integer of few digits, which most numbers of documents are.
fn short_integer(text: &str) -> Option<f64> {
    let (digits, sign) = match text.strip_prefix('-') {
        Some(digits) => (digits, -1.0),
        None => (text, 1.0),
    };
    if digits.len() > 15 {
        return None;
    }
    let mut value = 0_u64;
    for byte in digits.bytes() {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u64::from(byte - b'0');
    }
    Some(sign * value as f64)
}

/// See [`Node::elements`].
pub struct Elements<'a> {
    owner: Node<'a>,
    next: Next,
}

enum Next {
    /// Offset of the next scalar's first character, or of the bracket (or end) behind the last.
    Flat(u32),
    /// The next entry and where they end.
    Entries(u32, u32),
}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        match &mut self.next {
            Next::Entries(entry, end) => {
                if entry >= end {
                    return None;
                }
                let cells = self.owner.cells(*entry);
                let child = self.owner.child(*entry, cells);
                *entry = cells[3];
                Some(child)
            }
            Next::Flat(start) => {
                // The closing bracket is the array's last byte.
                if *start + 1 >= self.owner.end {
                    return None;
                }
                let from = *start;
                let end = scalar_end(self.owner.text, from as usize) as u32;
                *start = end + 1;
                Some(Node { entry: NO_ENTRY, start: from, end, ..self.owner })
            }
        }
    }
}

/// Offset behind the scalar that starts at `from` in compact text.
fn scalar_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes[from] == b'"' {
        let mut scanner = Scanner { text, at: from };
        scanner.string().expect("strings of a document were checked when it was made");
        return scanner.at;
    }
    let length = bytes[from..].iter().position(|byte| matches!(byte, b',' | b']' | b'}'));
    from + length.expect("an array is closed")
}

/// See [`Node::members`].
pub struct Members<'a> {
    owner: Node<'a>,
    entry: u32,
    end: u32,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.entry >= self.end {
            return None;
        }
        let cells = self.owner.cells(self.entry);
        let key = (cells[0] & !ESCAPED) as usize;
        let raw = &self.owner.text[key + 1..cells[1] as usize - 2];
        let name = if cells[0] & ESCAPED != 0 { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) };
        let child = self.owner.child(self.entry, cells);
        self.entry = cells[3];
        Some((name, child))
    }
}
