//! The system properties of an item: made when a version is written, read back from its text.

use crate::container::Container;
use crate::layout::DocumentRecord;
use tesela_model::document::Document;
use tesela_model::rid::{ChildKind, DocumentOrdinal, ResourceId};

/// Ours alone: whatever a client sends under these names is replaced.
pub const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// Where and when a version is written.
pub struct Stamp {
    pub ordinal: DocumentOrdinal,
    pub partition: u32,
    pub version: VersionNumber,
    /// Unix seconds.
    pub now: u64,
}

/// What tells the versions a partition writes apart: their LSN and place in the commit or, for writes of scripts, which
/// are shown before they have either, a number of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionNumber {
    number: u64,
    sequence: u32,
}

impl VersionNumber {
    /// Set in numbers of scripts. LSNs and drawn numbers both stay below: 2^40 items fit a partition.
    const SCRIPT: u64 = 1 << 47;

    pub fn of_commit(lsn: u64, sequence: u32) -> Self {
        Self { number: lsn & !Self::SCRIPT, sequence }
    }

    pub fn of_script(number: u64) -> Self {
        Self { number: number | Self::SCRIPT, sequence: 0 }
    }
}

/// The ETag of a version, quotes included. No two versions of a container's items share one: a partition numbers its
/// commits, a commit its changes, and the seconds tell re-created containers apart.
fn etag(stamp: &Stamp) -> String {
    let Stamp { partition, version: VersionNumber { number, sequence }, now, .. } = stamp;
    format!(
        "\"{:08x}-{:04x}-{:04x}-{:04x}-{now:08x}{:04x}\"",
        *number as u32,
        sequence & 0xFFFF,
        partition & 0xFFFF,
        number >> 32 & 0xFFFF,
        partition >> 16
    )
}

/// The document as it is kept: the client's properties, then the system's.
pub fn stamp(document: &Document, container: &Container, stamp: &Stamp) -> Document {
    let rid = ResourceId::child(&container.rid, ChildKind::Document, stamp.ordinal.0).to_string();
    let etag = etag(stamp);
    document.stamp(
        &SYSTEM_PROPERTIES,
        &[
            ("_rid", &format!("\"{rid}\"")),
            ("_self", &format!("\"{}docs/{rid}/\"", container.self_link)),
            ("_etag", &format!("\"\\\"{}\\\"\"", etag.trim_matches('"'))),
            ("_attachments", "\"attachments/\""),
            ("_ts", &stamp.now.to_string()),
        ],
    )
}

/// The ETag of a stored version, quotes included.
pub fn of(record: &DocumentRecord) -> String {
    let etag = record.document.root().get("_etag").and_then(|node| node.as_str()).map(std::borrow::Cow::into_owned);
    etag.unwrap_or_default()
}
