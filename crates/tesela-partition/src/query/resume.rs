//! Where a query goes on: the partition's part of a continuation token.

use super::place::Place;
use tesela_model::rid::DocumentOrdinal;
use tesela_query::Progress;

/// The default is the beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resume {
    /// Documents up to this one have been consumed, in `_rid` order.
    pub after: Option<DocumentOrdinal>,
    /// Documents up to this place have been consumed, in the order of the query.
    pub place: Option<Place>,
    /// A document behind that which has given some of its rows, and how many.
    pub partly: Option<(DocumentOrdinal, u64)>,
    /// OFFSET and TOP as counted before the next document.
    pub progress: Progress,
    /// Of a gathering query: rows given so far.
    pub given: u64,
}

impl Resume {
    /// A document was consumed, in `_rid` order.
    pub(super) fn after(ordinal: u64, progress: Progress) -> Self {
        Self { after: Some(DocumentOrdinal(ordinal)), progress, ..Self::default() }
    }

    /// A document was consumed, in the order of the query.
    pub(super) fn behind(place: Place, progress: Progress) -> Self {
        Self { place: Some(place), progress, ..Self::default() }
    }

    /// The page ended inside a document that gave some of its rows.
    pub(super) fn within(self, ordinal: u64, rows: u64, progress: Progress) -> Self {
        Self { partly: Some((DocumentOrdinal(ordinal), rows)), progress, ..self }
    }

    /// Rows a document has given already.
    pub(super) fn given_by(&self, ordinal: u64) -> u64 {
        self.partly.filter(|(partly, _)| partly.0 == ordinal).map_or(0, |(_, rows)| rows)
    }

    pub fn encode(&self) -> Vec<u8> {
        // Ordinals start at 1, so 0 is "from the beginning".
        let after = self.after.map_or(0, |ordinal| ordinal.0);
        let (partly, rows) = self.partly.map_or((0, 0), |(ordinal, rows)| (ordinal.0, rows));
        let numbers = [after, partly, rows, self.progress.skipped, self.progress.emitted, self.given];
        let mut out = Vec::new();
        numbers.into_iter().for_each(|number| write_varint(number, &mut out));
        if let Some(place) = self.place.clone().map(Place::cut) {
            write_varint(place.ordinal, &mut out);
            write_varint(place.code.len() as u64, &mut out);
            out.extend_from_slice(&place.code);
            out.extend_from_slice(&place.key);
        }
        out
    }

    /// `None` when the bytes are none of ours: they come from a client.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut next = || read_varint(&mut bytes);
        let (after, partly, rows) = (next()?, next()?, next()?);
        let (skipped, emitted, given) = (next()?, next()?, next()?);
        let after = (after != 0).then_some(DocumentOrdinal(after));
        let partly = (partly != 0).then_some((DocumentOrdinal(partly), rows));
        let place = if bytes.is_empty() { None } else { Some(read_place(bytes)?) };
        Some(Self { after, place, partly, progress: Progress { skipped, emitted }, given })
    }
}

fn read_place(mut bytes: &[u8]) -> Option<Place> {
    let ordinal = read_varint(&mut bytes)?;
    let length = usize::try_from(read_varint(&mut bytes)?).ok()?;
    let (code, key) = bytes.split_at_checked(length)?;
    // An order has at least one path, and a path at least one byte.
    (!code.is_empty()).then(|| Place { code: code.to_vec(), key: key.to_vec(), ordinal })
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
        fn tokens_round_trip(
            after in 1_u64..,
            partly in prop::option::of((1_u64.., any::<u64>())),
            numbers: [u64; 3],
            place in prop::option::of((prop::collection::vec(any::<u8>(), 1..160), prop::collection::vec(any::<u8>(), 0..96), any::<u64>())),
        ) {
            let [skipped, emitted, given] = numbers;
            let partly = partly.map(|(ordinal, rows)| (DocumentOrdinal(ordinal), rows));
            let place = place.map(|(code, key, ordinal)| Place { code, key, ordinal });
            let progress = Progress { skipped, emitted };
            let resume = Resume { after: Some(DocumentOrdinal(after)), place, partly, progress, given };
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
