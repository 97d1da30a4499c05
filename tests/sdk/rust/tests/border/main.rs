//! The official Rust SDK, version 1.0, unmodified: HTTP/2 by prior knowledge, binary JSON bodies,
//! minimal write answers. One module per area.

mod authorization;
mod batch;
mod change_feed;
mod conditions;
mod containers;
mod databases;
mod items;
mod offers;
mod partition_keys;
mod partitions;
mod patch;
mod pkranges;
mod query;
mod query_cross_partition;
mod quickstart;
