//! Resource ids: the `_rid` of everything, and the keys of RID-based addressing.
//!
//! A RID is bytes whose length and a few bits tell the kind of resource, written as base64 with `/` turned into `-`:
//!
//! ```text
//! offer                 3 bytes   counter
//! database              4 bytes   db
//! container             8 bytes   db(4) coll(4), top bit of byte 4 set
//! user                  8 bytes   db(4) user(4), top bit of byte 4 clear
//! permission           16 bytes   db(4) user(4) permission(8)
//! item, script, range  16 bytes   db(4) coll(4) child(8); child is a little-endian u64 whose top nibble is its kind
//! encryption key       16 bytes   db(4) 0(4) id(4) 2(4 LE)
//! attachment           20 bytes   item(16) 4
//! ```
//!
//! The child of an item is its [`DocumentOrdinal`]: a number that grows with every item its physical partition takes
//! in, so that the order of `_rid` is the order of insertion.

use std::fmt;

/// What a 16-byte RID below a container names; the value is the top nibble of its child number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChildKind {
    Document = 0x0,
    Conflict = 0x4,
    PartitionKeyRange = 0x5,
    UserDefinedFunction = 0x6,
    Trigger = 0x7,
    StoredProcedure = 0x8,
}

const KIND_SHIFT: u32 = 60;

/// A resource id in its binary form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(Vec<u8>);

impl ResourceId {
    pub fn database(number: u32) -> Self {
        Self(number.to_be_bytes().to_vec())
    }

    pub fn container(database: u32, number: u32) -> Self {
        const CONTAINER_BIT: u32 = 1 << 31;
        assert!(number & CONTAINER_BIT == 0, "container numbers leave the kind bit free");
        Self([database.to_be_bytes(), (number | CONTAINER_BIT).to_be_bytes()].concat())
    }

    pub fn user(database: u32, number: u32) -> Self {
        Self([database.to_be_bytes(), number.to_be_bytes()].concat())
    }

    pub fn permission(user: &Self, number: u64) -> Self {
        Self([user.as_bytes(), &number.to_le_bytes()].concat())
    }

    pub fn encryption_key(database: u32, number: u32) -> Self {
        Self([database.to_be_bytes(), [0; 4], number.to_be_bytes(), 2_u32.to_le_bytes()].concat())
    }

    /// A child of a container.
    pub fn child(container: &Self, kind: ChildKind, number: u64) -> Self {
        assert!(number >> KIND_SHIFT == 0, "child numbers leave the kind nibble free");
        Self([container.as_bytes(), &(number | (kind as u64) << KIND_SHIFT).to_le_bytes()].concat())
    }

    /// Three bytes, little endian.
    pub fn offer(number: u32) -> Self {
        Self(number.to_le_bytes()[..3].to_vec())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of a child, when the RID is one of `container` and of `kind`.
    pub fn child_number(&self, container: &Self, kind: ChildKind) -> Option<u64> {
        let child = self.0.strip_prefix(container.as_bytes())?;
        let number = u64::from_le_bytes(child.try_into().ok()?);
        (number >> KIND_SHIFT == kind as u64).then_some(number & ((1 << KIND_SHIFT) - 1))
    }

    /// From the text form; `None` when it is not canonical base64 of a RID's length.
    pub fn parse(text: &str) -> Option<Self> {
        const BYTES_MAX: usize = 20;
        if text.is_empty() || !text.len().is_multiple_of(4) || text.len() > BYTES_MAX.div_ceil(3) * 4 {
            return None;
        }
        let mut bytes = Vec::with_capacity(BYTES_MAX);
        let (groups, _) = text.as_bytes().as_chunks::<4>();
        for (index, group) in groups.iter().enumerate() {
            let padding = group.iter().rev().take_while(|c| **c == b'=').count();
            if padding > 2 || (padding > 0 && index + 1 < groups.len()) {
                return None;
            }
            let mut bits = 0_u32;
            for c in &group[..4 - padding] {
                bits = bits << 6 | u32::from(digit(*c)?);
            }
            bits <<= 6 * padding;
            bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
        }
        let rid = Self(bytes);
        (rid.to_string() == text).then_some(rid)
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

fn digit(c: u8) -> Option<u8> {
    match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'-' => Some(63),
        _ => None,
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for group in self.0.chunks(3) {
            let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
            for index in 0..4 {
                let sextet = (bits >> (18 - 6 * index)) & 63;
                text.push(if index <= group.len() { char::from(ALPHABET[sextet as usize]) } else { '=' });
            }
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The number of an item inside its container: which physical partition took it in, and the how-manieth it was there.
///
/// A partition made by a split or merge has a higher id than those it came from, so what it takes in sorts behind what
/// it inherited, and two partitions never hand out the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentOrdinal(pub u64);

impl DocumentOrdinal {
    const COUNTER_BITS: u32 = 40;

    /// `count` starts at 1.
    pub fn new(partition: u32, count: u64) -> Self {
        assert!(partition >> (KIND_SHIFT - Self::COUNTER_BITS) == 0, "partition ids fit their bits");
        assert!(count >> Self::COUNTER_BITS == 0, "a partition takes in fewer than 2^40 items");
        Self(u64::from(partition) << Self::COUNTER_BITS | count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        let database = ResourceId::database(0x0A00_0001);
        let container = ResourceId::container(0x0A00_0001, 1);
        assert_eq!((database.to_string().as_str(), container.to_string().as_str()), ("CgAAAQ==", "CgAAAYAAAAE="));
        let item = ResourceId::child(&container, ChildKind::Document, DocumentOrdinal::new(0, 1).0);
        assert!(item.to_string().ends_with("BAAAAAAAAAA=="));
        for rid in [database, container.clone(), item.clone(), ResourceId::offer(7), ResourceId::user(1, 2)] {
            assert_eq!(ResourceId::parse(&rid.to_string()), Some(rid));
        }
        assert_eq!(item.child_number(&container, ChildKind::Document), Some(1));
        assert_eq!(item.child_number(&container, ChildKind::Trigger), None);
    }

    #[test]
    fn foreign_text_is_no_rid() {
        for text in ["", "a", "====", "CgAA=Q==", "CgAAAR==", "Cg/AAQ==", &"A".repeat(32), "é123"] {
            assert_eq!(ResourceId::parse(text), None, "{text}");
        }
    }

    /// Real RIDs seen in the data of official SDKs.
    #[test]
    fn official_vectors() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance/wire_vectors.json");
        let Ok(text) = std::fs::read(path) else {
            eprintln!("skipped: {path} is not on this machine");
            return;
        };
        let vectors = crate::json::parse(&text).unwrap();
        for case in vectors.get("rid").unwrap().as_array().unwrap() {
            let rid = ResourceId::parse(case.get("rid").unwrap().as_str().unwrap()).unwrap();
            let hex: String = rid.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(Some(hex.as_str()), case.get("hex").unwrap().as_str());
        }
    }
}
