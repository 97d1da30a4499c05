//! Hash generators: bytes of a key → a point of a fixed circle.
//!
//! A placement never sees keys, only points. A generator turns bytes into a digest of
//! [`HashGenerator::width_bytes`] bytes; the digest read as a little-endian number is the point, so
//! the last byte of the digest weighs most. That is how the DocumentDB libraries compared digests,
//! and keeping it lets a ring built here agree with one built there.
//!
//! Invariants: the same name means the same function in every process and every release (the name
//! is all that is stored); a point is always below `2^(8 * width_bytes)`.
//!
//! Example: with `murmur3-32`, `"a"` has the digest bytes `b2 69 25 3c` and the point `0x3c2569b2`.
//!
//! Left out: keyed or cryptographic strength. Whoever can choose keys can aim at one collection;
//! give such keys a custom generator with a secret.

mod md5;
mod murmur3;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use md5::Md5Hash;
pub(crate) use murmur3::avalanche_64;
pub use murmur3::{Murmur3x32, Murmur3x128};

/// Widest digest a generator may have: a point is a `u128`.
pub const DIGEST_BYTES_MAX: u32 = 16;

/// A hash function with a name that survives in stored state.
pub trait HashGenerator: Send + Sync {
    /// The name under which [`HashGenerators`] finds it again.
    fn name(&self) -> &str;
    /// Bytes of the digest, `1..=16`.
    fn width_bytes(&self) -> u32;
    /// The digest of `bytes`, read as a little-endian number.
    fn point(&self, bytes: &[u8]) -> u128;
}

impl fmt::Debug for dyn HashGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HashGenerator({})", self.name())
    }
}

/// A generator together with what placements derive from it.
#[derive(Clone, Debug)]
pub struct Hasher {
    generator: Arc<dyn HashGenerator>,
    width_bytes: u32,
}

impl Hasher {
    /// Wraps a generator. Its width is read once.
    ///
    /// # Panics
    /// When the generator claims a width outside `1..=16`: a mistake in its code, which no caller can mend.
    pub fn new(generator: Arc<dyn HashGenerator>) -> Self {
        let width_bytes = generator.width_bytes();
        assert!(
            (1..=DIGEST_BYTES_MAX).contains(&width_bytes),
            "hash generator {} has a digest of {width_bytes} bytes, points take 1 to {DIGEST_BYTES_MAX}",
            generator.name()
        );
        Self { generator, width_bytes }
    }

    /// MD5, the default of the DocumentDB ring (R28).
    pub fn md5() -> Self {
        Self::new(Arc::new(Md5Hash))
    }

    /// 32-bit Murmur3, the generator of the legacy Python library.
    pub fn murmur3_32() -> Self {
        Self::new(Arc::new(Murmur3x32))
    }

    /// 128-bit Murmur3, the default of every placement but the ring: the fastest of the three.
    pub fn murmur3_128() -> Self {
        Self::new(Arc::new(Murmur3x128))
    }

    /// The stored name.
    pub fn name(&self) -> &str {
        self.generator.name()
    }

    /// Bits of a point.
    pub fn width_bits(&self) -> u32 {
        self.width_bytes * 8
    }

    /// The largest point there is.
    pub fn point_max(&self) -> u128 {
        u128::MAX >> (128 - self.width_bits())
    }

    /// The point of `bytes`.
    #[inline]
    pub fn point(&self, bytes: &[u8]) -> u128 {
        self.generator.point(bytes)
    }

    /// The point of a point: the next link of a ring's chain of virtual nodes.
    pub fn point_of_point(&self, point: u128) -> u128 {
        let digest = point.to_le_bytes();
        self.generator.point(&digest[..self.width_bytes as usize])
    }

    /// The point scaled to 64 bits, for placements that compute with machine words.
    ///
    /// Order is kept: `a <= b` implies `scaled(a) <= scaled(b)`.
    #[inline]
    pub fn scaled(&self, point: u128) -> u64 {
        let bits = self.width_bits();
        if bits >= 64 { (point >> (bits - 64)) as u64 } else { (point as u64) << (64 - bits) }
    }
}

impl PartialEq for Hasher {
    /// Generators are equal by name: that is the contract of a name.
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// The generators a process knows, by name.
#[derive(Clone, Debug)]
pub struct HashGenerators {
    by_name: BTreeMap<String, Arc<dyn HashGenerator>>,
}

impl HashGenerators {
    /// `md5`, `murmur3-32` and `murmur3-128`.
    pub fn standard() -> Self {
        let mut known = Self { by_name: BTreeMap::new() };
        known.register(Arc::new(Md5Hash));
        known.register(Arc::new(Murmur3x32));
        known.register(Arc::new(Murmur3x128));
        known
    }

    /// Adds a generator, or replaces the one of the same name.
    pub fn register(&mut self, generator: Arc<dyn HashGenerator>) {
        self.by_name.insert(generator.name().to_owned(), generator);
    }

    /// The generator of this name.
    pub fn get(&self, name: &str) -> Option<Hasher> {
        self.by_name.get(name).cloned().map(Hasher::new)
    }
}

impl Default for HashGenerators {
    fn default() -> Self {
        Self::standard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_keeps_order_and_uses_the_whole_word() {
        for hasher in [Hasher::md5(), Hasher::murmur3_32(), Hasher::murmur3_128()] {
            assert_eq!(hasher.scaled(0), 0, "{}", hasher.name());
            let top = hasher.scaled(hasher.point_max());
            assert!(top >= 0xffff_ffff_0000_0000, "{}: {top:x}", hasher.name());
            let mut points: Vec<u128> = (0..500u32).map(|n| hasher.point(&n.to_le_bytes())).collect();
            points.sort_unstable();
            assert!(points.windows(2).all(|w| hasher.scaled(w[0]) <= hasher.scaled(w[1])));
            assert!(points.iter().all(|p| *p <= hasher.point_max()), "{}", hasher.name());
        }
    }

    #[test]
    fn names_find_their_generators() {
        let known = HashGenerators::standard();
        for name in ["md5", "murmur3-32", "murmur3-128"] {
            assert_eq!(known.get(name).expect("standard").name(), name);
        }
        assert!(known.get("sha-1").is_none());
    }
}
