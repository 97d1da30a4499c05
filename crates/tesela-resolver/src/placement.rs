//! Placements: a point of the hash circle → one of N collections.
//!
//! All five keep one promise — every point has exactly one owner, the same in every process — and differ
//! in what they cost and how they grow:
//!
//! | placement | lookup | memory | even to | adding one of N moves | removing any | by hash range |
//! |---|---|---|---|---|---|---|
//! | [`Ring`] | O(log N·V) | N·V points | 1 ± 1/√V spread | ≈ 1/N, exactly the new arcs | yes | yes |
//! | [`BucketMap`] | O(1) | B owners | one bucket | exactly its quota | yes | yes |
//! | [`BoundedLoad`] | O(1) | B owners | the limit, e.g. 1.25 | ≈ 1/N and a few displaced | yes | yes |
//! | [`Jump`] | O(ln N) | none | perfect | exactly 1/N in expectation | only the last | no |
//! | [`Rendezvous`] | O(N) | N seeds | perfect | exactly 1/N in expectation | yes | no |
//!
//! "Even to" speaks of the hash space. Counts of keys also scatter around it: N collections with m keys
//! each deviate by about √m, whatever the placement (see `examples/placements.rs`).
//!
//! Invariants: members are distinct and never empty; a placement is immutable — growth gives a new one,
//! so that a plan can hold both.
//!
//! Example: with collections `a` and `b` in a bucket map of 4 buckets, points of the lower half belong to `a`. Adding
//! `c` takes one bucket, its quota of 4/3 rounded down, and no key goes from `a` to `b` or back.

mod bounded;
mod buckets;
mod jump;
mod members;
mod rendezvous;
mod ring;

pub use bounded::BoundedLoad;
pub use buckets::BucketMap;
pub use jump::Jump;
pub use members::{Member, Members};
pub use rendezvous::Rendezvous;
pub use ring::Ring;

use crate::error::ConfigError;
use crate::hash::Hasher;
use crate::link::CollectionLink;

/// One stretch of the circle and its owner: from `start` to the start of the next, or to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First point.
    pub start: u128,
    /// Index into [`Placement::members`].
    pub owner: usize,
}

/// One of the five ways to place a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// Consistent-hash ring with virtual nodes.
    Ring(Ring),
    /// Fixed buckets with an explicit owner each.
    Buckets(BucketMap),
    /// Fixed buckets that walk a ring until a collection has room.
    Bounded(BoundedLoad),
    /// Jump consistent hash.
    Jump(Jump),
    /// Highest random weight.
    Rendezvous(Rendezvous),
}

impl Placement {
    /// The collections, in the order they were named.
    pub fn members(&self) -> &Members {
        match self {
            Self::Ring(it) => it.members(),
            Self::Buckets(it) => it.members(),
            Self::Bounded(it) => it.members(),
            Self::Jump(it) => it.members(),
            Self::Rendezvous(it) => it.members(),
        }
    }

    /// Index of the owner of `point`.
    #[inline]
    pub fn owner(&self, hasher: &Hasher, point: u128) -> usize {
        match self {
            Self::Ring(it) => it.owner(point),
            Self::Buckets(it) => it.owner(hasher.scaled(point)),
            Self::Bounded(it) => it.owner(hasher.scaled(point)),
            Self::Jump(it) => it.owner(hasher.scaled(point)),
            Self::Rendezvous(it) => it.owner(hasher.scaled(point)),
        }
    }

    /// The circle cut into stretches of one owner each, from point 0; `None` when the owner is no
    /// function of contiguous ranges.
    pub fn stretches(&self, hasher: &Hasher) -> Option<Vec<Stretch>> {
        match self {
            Self::Ring(it) => Some(it.stretches()),
            Self::Buckets(it) => Some(it.stretches(hasher)),
            Self::Bounded(it) => Some(it.stretches(hasher)),
            Self::Jump(_) | Self::Rendezvous(_) => None,
        }
    }

    /// The same placement with one collection more.
    pub fn with_added(&self, hasher: &Hasher, member: Member) -> Result<Self, ConfigError> {
        let members = || self.members().with_added(member.clone());
        Ok(match self {
            Self::Ring(it) => Self::Ring(Ring::new(hasher, members()?, it.virtual_nodes())?),
            Self::Buckets(it) => Self::Buckets(it.with_added(member)?),
            Self::Bounded(it) => Self::Bounded(it.with_members(hasher, members()?)?),
            Self::Jump(_) => Self::Jump(Jump::new(members()?)?),
            Self::Rendezvous(_) => Self::Rendezvous(Rendezvous::new(hasher, members()?)),
        })
    }

    /// The same placement without one collection.
    pub fn with_removed(&self, hasher: &Hasher, link: &CollectionLink) -> Result<Self, ConfigError> {
        let members = || self.members().with_removed(link);
        Ok(match self {
            Self::Ring(it) => Self::Ring(Ring::new(hasher, members()?, it.virtual_nodes())?),
            Self::Buckets(it) => Self::Buckets(it.with_removed(link)?),
            Self::Bounded(it) => Self::Bounded(it.with_members(hasher, members()?)?),
            Self::Jump(it) => Self::Jump(it.with_removed(link)?),
            Self::Rendezvous(_) => Self::Rendezvous(Rendezvous::new(hasher, members()?)),
        })
    }
}

/// Drops stretches that are empty or continue their predecessor.
fn coalesced(stretches: impl IntoIterator<Item = Stretch>) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        match out.last_mut() {
            // Same start: the earlier one is empty.
            Some(last) if last.start == stretch.start => last.owner = stretch.owner,
            Some(last) if last.owner == stretch.owner => {}
            _ => out.push(stretch),
        }
    }
    // Replacing an empty stretch may have made two neighbours equal.
    out.dedup_by_key(|stretch| stretch.owner);
    out
}

#[cfg(test)]
mod tests;
