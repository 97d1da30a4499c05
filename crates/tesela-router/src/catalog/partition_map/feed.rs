//! The partition key ranges feed: the map as clients read it.
//!
//! The ETag names the container and the epoch: it changes with every map, and never fits another container that came
//! to have the same name.

use super::{PartitionMap, PhysicalPartition};
use tesela_model::json::{self, Object, Value};
use tesela_model::rid::{ChildKind, ResourceId};

/// The ETag of the feed, quotes included.
pub fn ranges_etag(container: &ResourceId, map: &PartitionMap) -> String {
    format!("\"{container}-{}\"", map.epoch())
}

/// The whole feed: `{"_rid":…,"PartitionKeyRanges":[…],"_count":n}`. `self_link` is the container's, `ts` the second
/// the map was installed.
pub fn ranges_feed(container: &ResourceId, self_link: &str, map: &PartitionMap, ts: u64) -> String {
    let etag = ranges_etag(container, map);
    let range = |partition| Value::Object(range_json(container, self_link, partition, map.epoch(), &etag, ts));
    let ranges: Vec<Value> = map.partitions().iter().map(range).collect();
    let mut feed = Object::new();
    feed.insert("_rid", container.to_string());
    let count = ranges.len() as u64;
    feed.insert("PartitionKeyRanges", ranges);
    feed.insert("_count", count);
    json::to_string(&Value::Object(feed))
}

fn range_json(
    container: &ResourceId,
    self_link: &str,
    partition: &PhysicalPartition,
    epoch: u64,
    etag: &str,
    ts: u64,
) -> Object {
    let rid = ResourceId::child(container, ChildKind::PartitionKeyRange, u64::from(partition.id) + 1);
    let parents: Vec<Value> = partition.parents.iter().map(|id| Value::from(id.to_string())).collect();
    let mut range = Object::with_capacity(13);
    range.insert("_rid", rid.to_string());
    range.insert("id", partition.id.to_string());
    range.insert("_etag", etag);
    range.insert("minInclusive", partition.range.min().to_hex());
    range.insert("maxExclusive", partition.range.max().to_hex());
    range.insert("ridPrefix", partition.id);
    range.insert("_self", format!("{self_link}pkranges/{rid}/"));
    range.insert("throughputFraction", partition.throughput_fraction);
    range.insert("status", partition.status.name());
    range.insert("parents", parents);
    range.insert("ownedArchivalPKRangeIds", Vec::new());
    range.insert("_ts", ts);
    range.insert("lsn", epoch);
    range
}
