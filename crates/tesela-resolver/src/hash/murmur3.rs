//! Murmur3 in its 32-bit (x86) and 128-bit (x64) forms, both with seed 0: the functions the service itself
//! hashes keys with.

use tesela_model::murmur::{murmur3_32, murmur3_128};

use super::HashGenerator;

/// The generator named `murmur3-32`, 4 bytes wide: the one of the legacy Python library.
#[derive(Clone, Copy, Debug, Default)]
pub struct Murmur3x32;

/// The generator named `murmur3-128`, 16 bytes wide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Murmur3x128;

impl HashGenerator for Murmur3x32 {
    fn name(&self) -> &str {
        "murmur3-32"
    }

    fn width_bytes(&self) -> u32 {
        4
    }

    fn point(&self, bytes: &[u8]) -> u128 {
        u128::from(murmur3_32(bytes))
    }
}

impl HashGenerator for Murmur3x128 {
    fn name(&self) -> &str {
        "murmur3-128"
    }

    fn width_bytes(&self) -> u32 {
        16
    }

    fn point(&self, bytes: &[u8]) -> u128 {
        murmur3_128(bytes)
    }
}

/// The 64-bit finaliser of Murmur3: a bijection whose every output bit depends on every input bit.
#[inline]
pub(crate) fn avalanche_64(mut word: u64) -> u64 {
    word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r28_points_are_the_published_values() {
        for (text, expected) in [("", 0), ("a", 0x3c25_69b2), ("abc", 0xb3dd_93fa), ("Hello, world!", 0xc036_3e43)] {
            assert_eq!(Murmur3x32.point(text.as_bytes()), expected, "{text:?}");
        }
        for (text, expected) in [
            ("", 0),
            ("hello", 0x5b1e_906a_48ae_1d19_cbd8_a7b3_41bd_9b02),
            ("The quick brown fox jumps over the lazy dog", 0x7a43_3ca9_c49a_9347_e34b_bc7b_bc07_1b6c),
        ] {
            assert_eq!(Murmur3x128.point(text.as_bytes()), expected, "{text:?}");
        }
    }
}
