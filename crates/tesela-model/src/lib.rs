//! JSON values, partition keys and their hash, resource ids, limits and the plain data every layer speaks.
//!
//! The lowest layer: pure functions and types, no I/O, no clock, no other crate of ours.

pub mod container;
pub mod document;
pub mod epk;
pub mod json;
pub mod limits;
pub mod murmur;
pub mod partition_key;
pub mod rid;
