//! Where a query goes on: the partition's part of a continuation token.

use tesela_model::rid::DocumentOrdinal;
use tesela_query::Progress;

/// The default is the beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resume {
    /// Documents up to this one have been consumed.
    pub after: Option<DocumentOrdinal>,
    /// Rows of the next document that have been given.
    pub skip: u64,
    /// OFFSET and TOP as counted before the next document.
    pub progress: Progress,
    /// Of a gathering query: rows given so far.
    pub given: u64,
}

impl Resume {
    pub fn encode(&self) -> Vec<u8> {
        // Ordinals start at 1, so 0 is "from the beginning".
        let after = self.after.map_or(0, |ordinal| ordinal.0);
        let numbers = [after, self.skip, self.progress.skipped, self.progress.emitted, self.given];
        let mut out = Vec::new();
        numbers.into_iter().for_each(|number| write_varint(number, &mut out));
        out
    }

    /// `None` when the bytes are none of ours: they come from a client.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut next = || read_varint(&mut bytes);
        let (after, skip, skipped, emitted, given) = (next()?, next()?, next()?, next()?, next()?);
        let after = (after != 0).then_some(DocumentOrdinal(after));
        bytes.is_empty().then_some(Self { after, skip, progress: Progress { skipped, emitted }, given })
    }
}

/// Seven bits a byte, low ones first, the top bit set on all but the last.
fn write_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tokens_round_trip(after in 1_u64.., skip: u64, skipped: u64, emitted: u64, given: u64) {
            let resume = Resume { after: Some(DocumentOrdinal(after)), skip, progress: Progress { skipped, emitted }, given };
            prop_assert_eq!(Resume::decode(&resume.encode()), Some(resume));
        }

        #[test]
        fn foreign_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Resume::decode(&bytes);
        }
    }

    #[test]
    fn the_beginning_is_the_default() {
        assert_eq!(Resume::decode(&Resume::default().encode()), Some(Resume::default()));
        assert_eq!(Resume::decode(b""), None);
    }
}
