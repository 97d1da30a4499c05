//! MD5 (RFC 1321): what the DocumentDB hash resolver used unless told otherwise (R28).

use md5::{Digest as _, Md5};

use super::HashGenerator;

/// The generator named `md5`, 16 bytes wide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Md5Hash;

impl HashGenerator for Md5Hash {
    fn name(&self) -> &str {
        "md5"
    }

    fn width_bytes(&self) -> u32 {
        16
    }

    fn point(&self, bytes: &[u8]) -> u128 {
        u128::from_le_bytes(Md5::digest(bytes).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r28_md5_gives_the_digests_of_rfc_1321() {
        // The big-endian spelling of a digest is its usual hexadecimal text.
        let hex = |text: &str| format!("{:032x}", Md5Hash.point(text.as_bytes()).swap_bytes());
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
    }
}
