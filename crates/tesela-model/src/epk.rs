//! The effective partition key: the point of the key-hash space a partition key value falls on (R9).
//!
//! Bit for bit what the official SDKs compute, since they route by it on their own:
//!
//! * **Hash, version 2**: MurmurHash3-128 of all components' bytes; byte-reversed, two top bits cleared. 16 bytes, so
//!   real keys lie in `00…`–`3F…` of the declared space `["", "FF")`.
//! * **MultiHash**: version 2 of each component by itself, one after the other. The keys below a prefix are the
//!   half-open range `[P, P·FF)`.
//! * **Hash, version 1**: MurmurHash3-32 of the components cut to 100 characters, written as an ordered number, followed
//!   by the ordered form of the components themselves.
//! * **Range**: the ordered form alone (a retired kind; only query plans still speak of it).
//!
//! Example: `["x"]` under version 2 hashes the bytes `08 78 FF`.

use crate::murmur::{murmur3_32, murmur3_128};
use crate::partition_key::{Component, PartitionKeyDefinition, PartitionKeyKind, PartitionKeyValue};
use std::fmt;

/// A point of the key-hash space; ordered as its bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epk(Vec<u8>);

impl Epk {
    /// The lowest point, `""`.
    pub fn min() -> Self {
        Self(Vec::new())
    }

    /// The end of the space, `"FF"`.
    pub fn max() -> Self {
        Self(vec![0xFF])
    }

    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// From hexadecimal digits of either case.
    pub fn from_hex(text: &str) -> Option<Self> {
        if !text.len().is_multiple_of(2) || !text.is_ascii() {
            return None;
        }
        let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
        let (pairs, _) = text.as_bytes().as_chunks::<2>();
        pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect::<Option<Vec<u8>>>().map(Self)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Upper-case digits, the wire form.
    pub fn to_hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let digits = self.0.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        digits.map(char::from).collect()
    }

    /// The end of the range of keys that begin with this one.
    fn prefix_end(&self) -> Self {
        let mut bytes = self.0.clone();
        bytes.push(0xFF);
        Self(bytes)
    }
}

impl fmt::Debug for Epk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_hex())
    }
}

impl fmt::Display for Epk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// A half-open interval of the space, never empty. Built only by [`EpkRange::new`], so no caller checks again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EpkRange {
    min: Epk,
    max: Epk,
}

impl EpkRange {
    pub fn new(min: Epk, max: Epk) -> Option<Self> {
        (min < max).then_some(Self { min, max })
    }

    /// The whole space, `["", "FF")`.
    pub fn full() -> Self {
        Self { min: Epk::min(), max: Epk::max() }
    }

    pub fn min(&self) -> &Epk {
        &self.min
    }

    /// Exclusive.
    pub fn max(&self) -> &Epk {
        &self.max
    }

    pub fn contains(&self, point: &Epk) -> bool {
        self.min <= *point && *point < self.max
    }

    pub fn covers(&self, other: &Self) -> bool {
        self.min <= other.min && other.max <= self.max
    }

    pub fn intersection(&self, other: &Self) -> Option<Self> {
        Self::new(self.min.clone().max(other.min.clone()), self.max.clone().min(other.max.clone()))
    }
}

/// Where a key value lies. A hierarchical value with fewer components than the definition gives the point its
/// prefix range begins at.
pub fn effective_partition_key(value: &PartitionKeyValue, definition: &PartitionKeyDefinition) -> Epk {
    let components = value.components();
    if components.is_empty() {
        return Epk::min();
    }
    Epk(match (definition.kind, definition.version_number()) {
        (PartitionKeyKind::MultiHash, _) => {
            components.iter().flat_map(|one| hash_v2(std::slice::from_ref(one))).collect()
        }
        (PartitionKeyKind::Hash, 1) => hash_v1(components),
        (PartitionKeyKind::Hash, _) => hash_v2(components).to_vec(),
        (PartitionKeyKind::Range, _) => {
            let mut bytes = Vec::new();
            components.iter().for_each(|component| write_ordered(component, &mut bytes));
            bytes
        }
    })
}

/// All keys that begin with `value`: for a full key the one point, for a hierarchical prefix everything below it.
pub fn prefix_range(value: &PartitionKeyValue, definition: &PartitionKeyDefinition) -> EpkRange {
    let min = effective_partition_key(value, definition);
    let max = min.prefix_end();
    EpkRange { min, max }
}

fn hash_v2(components: &[Component]) -> [u8; 16] {
    const TOP_BITS: u8 = 0x3F;
    let mut bytes = Vec::new();
    components.iter().for_each(|component| write_hashed(component, 0xFF, &mut bytes));
    let mut hash = murmur3_128(&bytes).to_be_bytes();
    hash[0] &= TOP_BITS;
    hash
}

/// Strings enter a version 1 hash cut to this many UTF-16 code units.
const V1_STRING_UNITS: usize = 100;

fn hash_v1(components: &[Component]) -> Vec<u8> {
    let cut: Vec<Component> = components.iter().map(cut_v1).collect();
    let mut bytes = Vec::new();
    cut.iter().for_each(|component| write_hashed(component, 0x00, &mut bytes));
    let hash = f64::from(murmur3_32(&bytes));
    let mut epk = Vec::new();
    write_ordered(&Component::Number(hash), &mut epk);
    cut.iter().for_each(|component| write_ordered(component, &mut epk));
    epk
}

fn cut_v1(component: &Component) -> Component {
    let Component::String(text) = component else { return component.clone() };
    let mut units = 0;
    let end = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > V1_STRING_UNITS
    });
    match end {
        Some((at, _)) => Component::String(text[..at].to_owned()),
        None => component.clone(),
    }
}

fn marker(component: &Component) -> u8 {
    match component {
        Component::Undefined => 0x00,
        Component::Null => 0x01,
        Component::Bool(false) => 0x02,
        Component::Bool(true) => 0x03,
        Component::Number(_) => 0x05,
        Component::String(_) => 0x08,
    }
}

/// The bytes that are hashed.
fn write_hashed(component: &Component, string_end: u8, out: &mut Vec<u8>) {
    out.push(marker(component));
    match component {
        Component::Number(number) => out.extend_from_slice(&number.to_le_bytes()),
        Component::String(text) => {
            out.extend_from_slice(text.as_bytes());
            out.push(string_end);
        }
        _ => {}
    }
}

/// The bytes whose order is the order of the values.
fn write_ordered(component: &Component, out: &mut Vec<u8>) {
    /// Longer strings are cut and lose their terminator.
    const STRING_BYTES_MAX: usize = 100;
    out.push(marker(component));
    match component {
        Component::Number(number) => write_ordered_number(*number, out),
        Component::String(text) => {
            let long = text.len() > STRING_BYTES_MAX;
            let bytes = text.bytes().take(STRING_BYTES_MAX + 1);
            // No UTF-8 byte is FF, so adding one never overflows and leaves 00 for the end.
            out.extend(bytes.map(|byte| byte + 1));
            if !long {
                out.push(0x00);
            }
        }
        _ => {}
    }
}

/// The ordered bits of a double in groups: the top byte, then seven bits a byte with a continuation flag below them.
fn write_ordered_number(number: f64, out: &mut Vec<u8>) {
    const SIGN: u64 = 1 << 63;
    let bits = number.to_bits();
    let ordered = if bits & SIGN == 0 { bits ^ SIGN } else { bits.wrapping_neg() };
    out.push((ordered >> 56) as u8);
    let mut rest = ordered << 8;
    loop {
        let group = (rest >> 56) as u8 & 0xFE;
        rest <<= 7;
        out.push(group | u8::from(rest != 0));
        if rest == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
