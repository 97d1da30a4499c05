//! Splits and merges under concurrent readers and writers, with faults and crashes, over the memory engine.
//!
//! Everything runs on one thread with a store that delays calls by a seed: a run is the same every time.

mod choice;
mod crash;
mod online;
mod steps;
mod world;
