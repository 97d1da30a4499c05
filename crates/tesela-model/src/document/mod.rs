//! A document at rest: the client's own JSON text with a table of offsets, navigated without parsing.
//!
//! A point read copies the text; a filter on `c.a.b` walks the table and compares a few bytes. Property
//! order and number spelling survive because the text *is* the document; only blanks outside strings go.
//!
//! ```text
//! byte 0      1 = narrow table (u16 cells), 2 = wide table (u32 cells)
//! bytes 1..5  number of entries, u32 little endian
//! entries     4 cells each, in document order (a parent stands before its children):
//!               key   offset of the property name's opening quote; top bit = the name has escapes;
//!                     0 for the root and for array elements (no name starts at 0)
//!               start offset of the value's first character
//!               end   offset behind its last
//!               next  index of the first entry behind this value's subtree
//! text        compact JSON, UTF-8
//! ```
//!
//! An array that holds only scalars has no entries for its elements: they are found by scanning the text
//! between its brackets, so a vector of a thousand floats costs one entry.
//!
//! Example: `{"a":[1,2],"b":{"c":"x"}}` has four entries: the root, `a`, `b`, and `c` inside `b`.
//!
//! Invariants: the text is valid JSON of bounded depth without repeated names; every offset lies in the text.
//! [`Document::encode`] establishes them from outside bytes, [`Document::from_stored`] checks the frame of
//! what comes back from the store (whose blocks carry checksums).

mod encode;
mod node;

pub use node::{Elements, Kind, Members, Node};

use crate::json::{ParseError, Value};
use bytes::Bytes;
use encode::Encoder;

const NARROW: u8 = 1;
const WIDE: u8 = 2;
const HEADER_BYTES: usize = 5;
const CELLS: usize = 4;
/// Texts up to here fit the narrow table, whose top bit is the escape flag.
const NARROW_TEXT_BYTES_MAX: usize = 0x7FFF;
const NARROW_ENTRIES_MAX: usize = 0xFFFF;

/// An immutable document; cloning shares the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document(Bytes);

impl Document {
    /// Validates and compacts any JSON text.
    pub fn encode(text: &[u8]) -> Result<Self, ParseError> {
        Encoder::encode(text)
    }

    /// From a tree we hold ourselves.
    pub fn from_value(value: &Value) -> Self {
        let mut text = Vec::new();
        crate::json::write(value, &mut text);
        Self::encode(&text).expect("what our writer writes our parser reads, unless the tree is too deep")
    }

    /// Takes back what [`Document::stored`] gave out. `None` when the frame does not fit.
    pub fn from_stored(bytes: Bytes) -> Option<Self> {
        let text_at = frame(&bytes)?;
        std::str::from_utf8(&bytes[text_at..]).ok()?;
        Some(Self(bytes))
    }

    /// The bytes to keep.
    pub fn stored(&self) -> &Bytes {
        &self.0
    }

    fn text_at(&self) -> usize {
        frame(&self.0).expect("checked when the document was made")
    }

    /// The whole document as compact JSON.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.0[self.text_at()..]).expect("checked when the document was made")
    }

    /// The text as shared bytes: an answer body without a copy.
    pub fn text_bytes(&self) -> Bytes {
        self.0.slice(self.text_at()..)
    }

    pub fn root(&self) -> Node<'_> {
        let text_at = self.text_at();
        let text = std::str::from_utf8(&self.0[text_at..]).expect("checked when the document was made");
        Node::root(&self.0[HEADER_BYTES..text_at], self.0[0] == WIDE, text)
    }

    /// The same object with top-level properties named in `drop` left out and `add` (name, JSON text) put at
    /// its end: how a write puts the system properties in place. The document must be an object.
    ///
    /// Without anything to drop this is two copies and a few new entries; otherwise the text is encoded anew.
    pub fn stamp(&self, drop: &[&str], add: &[(&str, &str)]) -> Self {
        let root = self.root();
        assert_eq!(root.kind(), Kind::Object, "only objects carry system properties");
        let keep_all = !drop.iter().chain(add.iter().map(|(name, _)| name)).any(|name| root.get(name).is_some());
        if keep_all { Encoder::reopen(self).append(add) } else { self.rewrite(drop, add) }
    }

    fn rewrite(&self, drop: &[&str], add: &[(&str, &str)]) -> Self {
        let mut text = Vec::with_capacity(self.0.len());
        text.push(b'{');
        for (name, node) in self.root().members() {
            if drop.contains(&&*name) || add.iter().any(|(added, _)| *added == name) {
                continue;
            }
            if text.len() > 1 {
                text.push(b',');
            }
            crate::json::write_string(&name, &mut text);
            text.push(b':');
            text.extend_from_slice(node.text().as_bytes());
        }
        text.push(b'}');
        let kept = Self::encode(&text).expect("made of the texts of a valid document");
        Encoder::reopen(&kept).append(add)
    }
}

/// Where the text starts, when header and table fit the bytes.
fn frame(bytes: &[u8]) -> Option<usize> {
    let cell = match *bytes.first()? {
        NARROW => 2,
        WIDE => 4,
        _ => return None,
    };
    let entries = u32::from_le_bytes(bytes.get(1..HEADER_BYTES)?.try_into().ok()?) as usize;
    let text_at = HEADER_BYTES.checked_add(entries.checked_mul(CELLS * cell)?)?;
    (entries > 0 && text_at < bytes.len()).then_some(text_at)
}

#[cfg(test)]
mod tests;
