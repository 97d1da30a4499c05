//! The keys of a partition's rows.

use super::LayoutError;
use bytes::Bytes;
use tesela_model::epk::Epk;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::KeyRange;
use tesela_store::keycode::{KeyError, KeyReader, KeyWriter};

const COUNTERS: u8 = 0x01;
const DOCUMENT: u8 = 0x02;
const IDENTITY: u8 = 0x03;
const MEMBER: u8 = 0x04;
const LOGICAL: u8 = 0x05;
const FEED: u8 = 0x06;
const HISTORY: u8 = 0x07;
const TERM: u8 = 0x08;
const COMPOSITE: u8 = 0x09;
const UNIQUE: u8 = 0x0A;
const EXPIRY: u8 = 0x0B;
const TOMBSTONE: u8 = 0x0C;
const INDEX_POLICY: u8 = 0x0D;

/// Makes and takes apart keys; one constructor for each row of the table above.
pub struct Key;

impl Key {
    pub fn counters() -> Bytes {
        KeyWriter::new().tag(COUNTERS).finish()
    }

    pub fn document(ordinal: DocumentOrdinal) -> Bytes {
        KeyWriter::with_capacity(9).tag(DOCUMENT).u64(ordinal.0).finish()
    }

    pub fn documents() -> KeyRange {
        KeyRange::prefix(&[DOCUMENT])
    }

    /// Documents behind `ordinal`, in `_rid` order.
    pub fn documents_after(ordinal: DocumentOrdinal) -> KeyRange {
        KeyRange::between(Self::document(DocumentOrdinal(ordinal.0.saturating_add(1))), vec![DOCUMENT + 1])
    }

    pub fn document_ordinal(key: &[u8]) -> Result<DocumentOrdinal, LayoutError> {
        let mut reader = KeyReader::new(key);
        let ordinal = reader.tag().and_then(|_| reader.u64()).map_err(|error| damaged("document key", error))?;
        Ok(DocumentOrdinal(ordinal))
    }

    pub fn identity(epk: &Epk, id: &str) -> Bytes {
        KeyWriter::with_capacity(24 + id.len()).tag(IDENTITY).bytes(epk.as_bytes()).raw(id.as_bytes()).finish()
    }

    pub fn member(epk: &Epk, ordinal: DocumentOrdinal) -> Bytes {
        KeyWriter::with_capacity(32).tag(MEMBER).bytes(epk.as_bytes()).u64(ordinal.0).finish()
    }

    /// The items of one logical partition behind `after`.
    pub fn members(epk: &Epk, after: Option<DocumentOrdinal>) -> KeyRange {
        let prefix = KeyWriter::new().tag(MEMBER).bytes(epk.as_bytes()).finish();
        let range = KeyRange::prefix(&prefix);
        match after {
            Some(ordinal) => range.after(&Self::member(epk, ordinal), tesela_store::Direction::Forward),
            None => range,
        }
    }

    /// The items of all logical partitions, by logical partition.
    pub fn all_members() -> KeyRange {
        KeyRange::prefix(&[MEMBER])
    }

    /// The items of all logical partitions of an EPK range, by logical partition.
    pub fn members_between(min: &Epk, max: &Epk) -> KeyRange {
        let from = KeyWriter::new().tag(MEMBER).bytes(min.as_bytes()).finish();
        let to = KeyWriter::new().tag(MEMBER).bytes(max.as_bytes()).finish();
        KeyRange::between(from, to)
    }

    /// The ordinal at the end of a key that has one.
    pub fn trailing_ordinal(key: &[u8]) -> Result<DocumentOrdinal, LayoutError> {
        match key.last_chunk::<8>() {
            Some(bytes) => Ok(DocumentOrdinal(u64::from_be_bytes(*bytes))),
            None => Err(LayoutError { what: "index key", reason: "it is too short to end in an ordinal".to_owned() }),
        }
    }

    pub fn logical(epk: &Epk) -> Bytes {
        KeyWriter::new().tag(LOGICAL).bytes(epk.as_bytes()).finish()
    }

    pub fn logicals() -> KeyRange {
        KeyRange::prefix(&[LOGICAL])
    }

    pub fn logical_epk(key: &[u8]) -> Result<Epk, LayoutError> {
        let mut reader = KeyReader::new(key);
        let bytes =
            reader.tag().and_then(|_| reader.bytes()).map_err(|error| damaged("logical partition key", error))?;
        Ok(Epk::from_bytes(bytes.into_owned()))
    }

    /// The place of an item's last version. The ordinal is part of the key since partitions that merge have counted
    /// their LSNs independently: two of their changes may share LSN and sequence, but never the item.
    pub fn feed(lsn: u64, sequence: u32, ordinal: DocumentOrdinal) -> Bytes {
        KeyWriter::with_capacity(21).tag(FEED).u64(lsn).u32(sequence).u64(ordinal.0).finish()
    }

    /// Changes behind an LSN.
    pub fn feed_after(lsn: u64) -> KeyRange {
        behind(FEED, lsn)
    }

    /// The place of a change. `partition` is the one that made it: see [`Key::feed`].
    pub fn history(lsn: u64, sequence: u32, partition: u32) -> Bytes {
        KeyWriter::with_capacity(17).tag(HISTORY).u64(lsn).u32(sequence).u32(partition).finish()
    }

    pub fn history_after(lsn: u64) -> KeyRange {
        behind(HISTORY, lsn)
    }

    /// An item that went while its partition was being copied.
    pub fn tombstone(lsn: u64, ordinal: DocumentOrdinal) -> Bytes {
        KeyWriter::with_capacity(17).tag(TOMBSTONE).u64(lsn).u64(ordinal.0).finish()
    }

    /// Deletions behind an LSN.
    pub fn tombstones_after(lsn: u64) -> KeyRange {
        behind(TOMBSTONE, lsn)
    }

    pub fn tombstones() -> KeyRange {
        KeyRange::prefix(&[TOMBSTONE])
    }

    /// The LSN and sequence of a feed or history key.
    pub fn feed_position(key: &[u8]) -> Result<(u64, u32), LayoutError> {
        let mut reader = KeyReader::new(key);
        let position = reader.tag().and_then(|_| Ok((reader.u64()?, reader.u32()?)));
        position.map_err(|error| damaged("feed key", error))
    }

    /// `term` is a path and a value in index form.
    pub fn term(term: &[u8], ordinal: DocumentOrdinal) -> Bytes {
        KeyWriter::with_capacity(term.len() + 9).tag(TERM).raw(term).u64(ordinal.0).finish()
    }

    /// All entries of a term, or of all terms that begin so.
    pub fn terms(prefix: &[u8]) -> KeyRange {
        KeyRange::prefix(&KeyWriter::new().tag(TERM).raw(prefix).finish())
    }

    /// Entries of terms from `from` (inclusive) to `to` (exclusive).
    pub fn terms_between(from: &[u8], to: &[u8]) -> KeyRange {
        let from = KeyWriter::new().tag(TERM).raw(from).finish();
        KeyRange::between(from, KeyWriter::new().tag(TERM).raw(to).finish())
    }

    /// The term of an index key: what stands between the tag and the ordinal.
    pub fn term_of(key: &[u8]) -> &[u8] {
        key.get(1..key.len().saturating_sub(8)).unwrap_or_default()
    }

    /// `tie` is the ordinal, or its inverse where equal values come in descending order.
    pub fn composite(index: u64, values: &[u8], tie: u64) -> Bytes {
        KeyWriter::with_capacity(values.len() + 17).tag(COMPOSITE).u64(index).raw(values).u64(tie).finish()
    }

    /// Entries of a composite index whose values begin so.
    pub fn composites(index: u64, prefix: &[u8]) -> KeyRange {
        KeyRange::prefix(&KeyWriter::new().tag(COMPOSITE).u64(index).raw(prefix).finish())
    }

    pub fn unique(epk: &Epk, constraint: u32, values: &[u8]) -> Bytes {
        KeyWriter::new().tag(UNIQUE).bytes(epk.as_bytes()).u32(constraint).raw(values).finish()
    }

    pub fn expiry(seconds: u64, ordinal: DocumentOrdinal) -> Bytes {
        KeyWriter::with_capacity(17).tag(EXPIRY).u64(seconds).u64(ordinal.0).finish()
    }

    /// What has expired at `now`, in seconds.
    pub fn expired(now: u64) -> KeyRange {
        let to = KeyWriter::new().tag(EXPIRY).u64(now.saturating_add(1)).finish();
        KeyRange::between(vec![EXPIRY], to)
    }

    pub fn index_policy() -> Bytes {
        KeyWriter::new().tag(INDEX_POLICY).finish()
    }

    /// All index rows: what a change of the indexing policy rebuilds.
    pub fn index_rows() -> [KeyRange; 2] {
        [KeyRange::prefix(&[TERM]), KeyRange::prefix(&[COMPOSITE])]
    }
}

/// Rows of a kind whose keys begin with an LSN above `lsn`.
fn behind(tag: u8, lsn: u64) -> KeyRange {
    KeyRange::between(KeyWriter::new().tag(tag).u64(lsn.saturating_add(1)).finish(), vec![tag + 1])
}

fn damaged(what: &'static str, error: KeyError) -> LayoutError {
    LayoutError { what, reason: error.to_string() }
}
