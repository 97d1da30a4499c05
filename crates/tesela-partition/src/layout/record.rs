//! The values of a partition's rows.

use super::LayoutError;
use bytes::{BufMut, Bytes, BytesMut};
use tesela_model::container::DefaultTtl;
use tesela_model::document::Document;
use tesela_model::epk::Epk;

/// The first byte of every record: the release that changes a record writes another.
const VERSION: u8 = 1;

/// What the partition counts; one row, rewritten by every commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of the last committed write request.
    pub lsn: u64,
    /// Items that exist (expired ones count until they are removed).
    pub documents: u64,
    /// UTF-8 bytes of their texts without system properties.
    pub bytes: u64,
    /// Ordinals handed out so far.
    pub issued: u64,
}

impl Counters {
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(33);
        out.put_u8(VERSION);
        [self.lsn, self.documents, self.bytes, self.issued].into_iter().for_each(|number| out.put_u64_le(number));
        out.freeze()
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, LayoutError> {
        let mut reader = Reader::new("counters", bytes)?;
        let counters =
            Self { lsn: reader.u64()?, documents: reader.u64()?, bytes: reader.u64()?, issued: reader.u64()? };
        reader.end()?;
        Ok(counters)
    }
}

/// What is known of one logical partition. The row exists while it has items (R3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogicalRecord {
    pub documents: u64,
    pub bytes: u64,
    /// The last commit that changed it: what a transaction over a snapshot is validated against.
    pub lsn: u64,
}

impl LogicalRecord {
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(25);
        out.put_u8(VERSION);
        [self.documents, self.bytes, self.lsn].into_iter().for_each(|number| out.put_u64_le(number));
        out.freeze()
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, LayoutError> {
        let mut reader = Reader::new("logical partition", bytes)?;
        let record = Self { documents: reader.u64()?, bytes: reader.u64()?, lsn: reader.u64()? };
        reader.end()?;
        Ok(record)
    }
}

/// A document and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRecord {
    /// The commit that wrote this version, and its place in that commit.
    pub lsn: u64,
    pub sequence: u32,
    /// UTF-8 bytes of the text without system properties.
    pub bytes: u32,
    /// Unix seconds of the write: what `_ts` shows.
    pub written: u64,
    /// The item's own time to live in seconds; 0 when it has none, negative when it never expires.
    pub ttl: i32,
    /// Whether it has index rows: a client may keep an item out of the index.
    pub indexed: bool,
    pub epk: Epk,
    /// With its system properties: a read answers with this text.
    pub document: Document,
}

impl DocumentRecord {
    pub fn encode(&self) -> Bytes {
        let stored = self.document.stored();
        let mut out = BytesMut::with_capacity(32 + self.epk.as_bytes().len() + stored.len());
        out.put_u8(VERSION);
        out.put_u64_le(self.lsn);
        out.put_u32_le(self.sequence);
        out.put_u32_le(self.bytes);
        out.put_u64_le(self.written);
        out.put_i32_le(self.ttl);
        out.put_u8(u8::from(self.indexed));
        out.put_u16_le(self.epk.as_bytes().len() as u16);
        out.extend_from_slice(self.epk.as_bytes());
        out.extend_from_slice(stored);
        out.freeze()
    }

    pub fn decode(bytes: &Bytes) -> Result<Self, LayoutError> {
        let mut reader = Reader::new("document", bytes)?;
        let (lsn, sequence, size) = (reader.u64()?, reader.u32()?, reader.u32()?);
        let (written, ttl) = (reader.u64()?, reader.u32()?.cast_signed());
        let indexed = reader.u8()? != 0;
        let length = usize::from(reader.u16()?);
        let epk = Epk::from_bytes(reader.take(length)?);
        let document = Document::from_stored(bytes.slice(reader.at..));
        let document = document.ok_or_else(|| reader.damaged("its text has no valid frame"))?;
        Ok(Self { lsn, sequence, bytes: size, written, ttl, indexed, epk, document })
    }

    /// When its own time to live runs out, whether or not the container lets items expire.
    pub fn own_expiry(&self) -> Option<u64> {
        let seconds = u64::try_from(self.ttl).ok().filter(|seconds| *seconds > 0)?;
        Some(self.written.saturating_add(seconds))
    }

    /// Whether it counts as deleted at `now`, in Unix seconds, in a container with this default.
    pub fn is_expired(&self, now: u64, default: Option<DefaultTtl>) -> bool {
        let expiry = match default {
            None => None,
            Some(DefaultTtl::Seconds(seconds)) if self.ttl == 0 => {
                Some(self.written.saturating_add(u64::from(seconds)))
            }
            Some(_) => self.own_expiry(),
        };
        expiry.is_some_and(|expiry| expiry <= now)
    }
}

/// What happened to an item, in the all-versions feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Create = 0,
    Replace = 1,
    Delete = 2,
    /// A delete by time to live.
    Expire = 3,
}

/// One change, kept for as long as the container's change feed policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRecord {
    pub operation: Operation,
    /// Unix seconds of the change.
    pub at: u64,
    /// LSN of the version before; 0 for a create.
    pub previous_lsn: u64,
    pub epk: Epk,
    /// The version written; for deletes the version removed.
    pub document: Document,
}

impl HistoryRecord {
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(64 + self.document.stored().len());
        out.put_u8(VERSION);
        out.put_u8(self.operation as u8);
        out.put_u64_le(self.at);
        out.put_u64_le(self.previous_lsn);
        out.put_u16_le(self.epk.as_bytes().len() as u16);
        out.extend_from_slice(self.epk.as_bytes());
        out.extend_from_slice(self.document.stored());
        out.freeze()
    }

    pub fn decode(bytes: &Bytes) -> Result<Self, LayoutError> {
        let mut reader = Reader::new("history record", bytes)?;
        let operation = match reader.u8()? {
            0 => Operation::Create,
            1 => Operation::Replace,
            2 => Operation::Delete,
            3 => Operation::Expire,
            other => return Err(reader.damaged(&format!("operation {other} is unknown"))),
        };
        let (at, previous_lsn) = (reader.u64()?, reader.u64()?);
        let length = usize::from(reader.u16()?);
        let epk = Epk::from_bytes(reader.take(length)?);
        let document = Document::from_stored(bytes.slice(reader.at..));
        let document = document.ok_or_else(|| reader.damaged("its text has no valid frame"))?;
        Ok(Self { operation, at, previous_lsn, epk, document })
    }
}

/// Takes a record apart; every shortage is an error.
struct Reader<'a> {
    what: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(what: &'static str, bytes: &'a [u8]) -> Result<Self, LayoutError> {
        let mut reader = Self { what, bytes, at: 0 };
        match reader.u8()? {
            VERSION => Ok(reader),
            other => Err(reader.damaged(&format!("format version {other} is not {VERSION}"))),
        }
    }

    fn damaged(&self, reason: &str) -> LayoutError {
        LayoutError { what: self.what, reason: reason.to_owned() }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], LayoutError> {
        let taken = self.bytes.get(self.at..self.at + length);
        self.at += length;
        taken.ok_or_else(|| self.damaged("it ends too soon"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], LayoutError> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().expect("took exactly N bytes"))
    }

    fn u8(&mut self) -> Result<u8, LayoutError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn u16(&mut self) -> Result<u16, LayoutError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, LayoutError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, LayoutError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn end(&self) -> Result<(), LayoutError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.damaged("bytes follow its end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        let counters = Counters { lsn: 1, documents: 2, bytes: 3, issued: 4 };
        assert_eq!(Counters::decode(&counters.encode()), Ok(counters));
        let logical = LogicalRecord { documents: 9, bytes: 8, lsn: 7 };
        assert_eq!(LogicalRecord::decode(&logical.encode()), Ok(logical));
        let document = Document::encode(br#"{"id":"a"}"#).unwrap();
        let epk = Epk::from_bytes([1, 2, 3]);
        let record = DocumentRecord {
            lsn: 5,
            sequence: 1,
            bytes: 10,
            written: 7,
            ttl: -1,
            indexed: true,
            epk: epk.clone(),
            document: document.clone(),
        };
        assert_eq!(DocumentRecord::decode(&record.encode()), Ok(record));
        let history = HistoryRecord { operation: Operation::Expire, at: 1, previous_lsn: 2, epk, document };
        assert_eq!(HistoryRecord::decode(&history.encode()), Ok(history));
    }

    #[test]
    fn damage_is_an_error() {
        let good = Counters::default().encode();
        assert!(Counters::decode(&good[..good.len() - 1]).is_err());
        assert!(Counters::decode(&[&good[..], b"x"].concat()).is_err());
        assert!(Counters::decode(b"\x02").is_err() && Counters::decode(b"").is_err());
        assert!(DocumentRecord::decode(&Bytes::from_static(b"\x01\0\0")).is_err());
    }
}
