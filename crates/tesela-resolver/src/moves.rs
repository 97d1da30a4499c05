//! Move planning (R36, the pure part): which documents must go where when one map follows another.
//!
//! Two maps with the same keys can be compared without looking at a single document, if both place by ranges:
//!
//! * ring, buckets, bounded load: the two circles are laid over each other, and every stretch whose owner differs is a
//!   [`HashMove`]; a manager asks a source for just those ranges of points;
//! * ranges over ranges: the same with keys, a [`RangeMove`];
//! * lookups: the keys whose collection differs, a [`KeyMove`].
//!
//! Jump and rendezvous have no ranges: each document must be asked ([`Selection::EachDocument`]), but only in
//! the collections that can lose any. The same goes for maps of different kinds or keys.
//!
//! [`MovePlan::route`] is exact in every case and is what both a move and its dry run go by; a [`DryRun`]
//! adds up what it says.
//!
//! Invariants: a plan never leaves a document without a home (a next map that does is refused); of a plan and its maps,
//! `route` is always the create target of the one and the other.
//!
//! Example: buckets `aaaabbbb` → `aaacbbbc` gives two moves, bucket 3 from a to c and bucket 7 from b to c: 25 % of the
//! circle, against an ideal of 33.3 % that eight buckets cannot meet.

mod dry_run;
mod overlay;

use tesela_model::json::Value;

use crate::error::ResolveError;
use crate::key::{Key, KeyRange};
use crate::link::CollectionLink;
use crate::placement::{Members, Placement};
use crate::resolver::{PartitionResolver, Resolver};
use crate::resolvers::HashResolver;

pub use dry_run::{DryRun, Tally};

/// Points from `start` to `end`, both inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashRange {
    /// First point.
    pub start: u128,
    /// Last point.
    pub end: u128,
}

impl HashRange {
    /// Whether a point lies inside.
    pub fn contains(&self, point: u128) -> bool {
        (self.start..=self.end).contains(&point)
    }
}

/// Documents whose key hashes into the range go from one collection to another.
#[derive(Clone, Debug, PartialEq)]
pub struct HashMove {
    /// Which points.
    pub range: HashRange,
    /// Where they are.
    pub from: CollectionLink,
    /// Where they belong next.
    pub to: CollectionLink,
}

/// Documents whose key is in the range go from one collection to another.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeMove {
    /// Which keys.
    pub range: KeyRange,
    /// Where they are.
    pub from: CollectionLink,
    /// Where they belong next.
    pub to: CollectionLink,
}

/// Documents of one key go from one collection to another.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyMove {
    /// Which key.
    pub key: Key,
    /// Where they are.
    pub from: CollectionLink,
    /// Where they belong next.
    pub to: CollectionLink,
}

/// How the documents that move can be told.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// By ranges of points, ascending and disjoint.
    HashRanges(Vec<HashMove>),
    /// By ranges of keys, ascending and disjoint.
    KeyRanges(Vec<RangeMove>),
    /// By key.
    Keys {
        /// The keys that move.
        named: Vec<KeyMove>,
        /// From and to, when the default collection changed: every key neither map names moves too.
        others: Option<(CollectionLink, CollectionLink)>,
    },
    /// Only by asking each document of these collections.
    EachDocument {
        /// Collections that may lose documents.
        sources: Vec<CollectionLink>,
    },
}

/// Where a document is and where it belongs next.
#[derive(Clone, Debug, PartialEq)]
pub enum Route {
    /// In the same collection.
    Stays(CollectionLink),
    /// In another one.
    Moves {
        /// Where it is.
        from: CollectionLink,
        /// Where it belongs next.
        to: CollectionLink,
    },
}

/// Two maps that cannot follow one another.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    #[error("keys {range} of {from} have no home in the next map")]
    StrandedRange { range: KeyRange, from: CollectionLink },
    #[error("key {key} of {from} has no home in the next map")]
    StrandedKey { key: Key, from: CollectionLink },
    #[error("keys that {from} holds by default have no home in the next map")]
    StrandedOthers { from: CollectionLink },
    #[error(transparent)]
    Resolve(#[from] ResolveError),
}

/// What must move from one map to the next.
#[derive(Clone, Debug)]
pub struct MovePlan {
    current: Resolver,
    next: Resolver,
    selection: Selection,
}

impl MovePlan {
    /// Compares two maps.
    pub fn new(current: Resolver, next: Resolver) -> Result<Self, PlanError> {
        let same_keys = current.extractor().is_some() && current.extractor() == next.extractor();
        let selection = if same_keys { overlay::select(&current, &next)? } else { None };
        let selection = match selection {
            Some(selection) => selection,
            None => Selection::EachDocument { sources: losers(&current, &next)? },
        };
        Ok(Self { current, next, selection })
    }

    /// The map that is being left.
    pub fn current(&self) -> &Resolver {
        &self.current
    }

    /// The map that is coming.
    pub fn next(&self) -> &Resolver {
        &self.next
    }

    /// How the documents that move can be told.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Collections that lose documents, or may, each once.
    pub fn sources(&self) -> Vec<CollectionLink> {
        let mut sources: Vec<CollectionLink> = match &self.selection {
            Selection::HashRanges(moves) => moves.iter().map(|it| it.from.clone()).collect(),
            Selection::KeyRanges(moves) => moves.iter().map(|it| it.from.clone()).collect(),
            Selection::Keys { named, others } => {
                let named = named.iter().map(|it| &it.from);
                named.chain(others.as_ref().map(|(from, _)| from)).cloned().collect()
            }
            Selection::EachDocument { sources } => sources.clone(),
        };
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Where a document is and belongs.
    pub fn route(&self, document: &Value) -> Result<Route, ResolveError> {
        let from = self.current.resolve_for_create(&self.current.partition_key(document)?)?;
        let to = self.next.resolve_for_create(&self.next.partition_key(document)?)?;
        Ok(if from == to { Route::Stays(from) } else { Route::Moves { from, to } })
    }

    /// Where the documents of a key are and belong; only for maps with the same keys.
    pub fn route_key(&self, key: &Key) -> Result<Route, ResolveError> {
        let (from, to) = (self.current.resolve_for_create(key)?, self.next.resolve_for_create(key)?);
        Ok(if from == to { Route::Stays(from) } else { Route::Moves { from, to } })
    }

    /// The share of the circle that moves, exactly; `None` when the plan is not by ranges of points.
    pub fn share(&self) -> Option<f64> {
        let (Selection::HashRanges(moves), Some(hash)) = (&self.selection, self.current.as_hash()) else {
            return None;
        };
        let circle = hash.hasher().point_max() as f64;
        Some(moves.iter().map(|it| (it.range.end - it.range.start) as f64 / circle).sum())
    }

    /// The least share any two maps with these collections and weights could move: what the losers lose in
    /// fair share. For one more of equal weight, 1/(N+1). `None` for maps that are not hashed.
    pub fn ideal_share(&self) -> Option<f64> {
        let (current, next) = (self.current.as_hash()?.members(), self.next.as_hash()?.members());
        let lost = |member: &crate::placement::Member| {
            let before = f64::from(member.weight) / current.total_weight() as f64;
            (before - fair_share(next, &member.link)).max(0.0)
        };
        Some(current.iter().map(lost).sum())
    }
}

fn fair_share(members: &Members, link: &CollectionLink) -> f64 {
    let weight = members.position(link).map_or(0, |index| members.as_slice()[index].weight);
    f64::from(weight) / members.total_weight() as f64
}

/// Collections that may lose documents when only asking can tell.
fn losers(current: &Resolver, next: &Resolver) -> Result<Vec<CollectionLink>, ResolveError> {
    if let (Some(from), Some(to)) = (current.as_hash(), next.as_hash())
        && shrinks_minimally(from, to)
    {
        let left = |link: &&CollectionLink| to.members().position(link).is_none();
        return Ok(from.members().links().filter(left).cloned().collect());
    }
    current.collections()
}

/// Whether `to` is `from` less some members, by a placement that then moves nothing of the others.
fn shrinks_minimally(from: &HashResolver, to: &HashResolver) -> bool {
    let minimal = matches!(
        (from.placement(), to.placement()),
        (Placement::Rendezvous(_), Placement::Rendezvous(_)) | (Placement::Jump(_), Placement::Jump(_))
    );
    let kept: Vec<_> = from.members().iter().filter(|it| to.members().position(&it.link).is_some()).collect();
    let subset = kept.len() == to.members().len() && kept.iter().copied().eq(to.members().iter());
    // Jump numbers its members: they must be the first ones.
    let jumps_in_step = !matches!(from.placement(), Placement::Jump(_))
        || from.members().iter().zip(to.members().iter()).all(|(a, b)| a == b);
    minimal && subset && jumps_in_step && from.hasher() == to.hasher() && from.extractor() == to.extractor()
}

#[cfg(test)]
mod tests;
