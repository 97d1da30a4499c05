//! What a move would do, counted without doing it.

use std::collections::{BTreeMap, BTreeSet};

use super::{MovePlan, Route};
use crate::error::ResolveError;
use crate::link::CollectionLink;

/// Documents and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub documents: u64,
    /// How large together.
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, bytes: u64) {
        self.documents += 1;
        self.bytes += bytes;
    }
}

/// Adds up the routes of documents. Feed it every document, or a sample.
#[derive(Clone, Debug)]
pub struct DryRun {
    examined: Tally,
    moving: Tally,
    needless: Tally,
    by_route: BTreeMap<(CollectionLink, CollectionLink), Tally>,
    before: BTreeSet<CollectionLink>,
    after: BTreeSet<CollectionLink>,
}

impl DryRun {
    /// Nothing counted yet.
    pub fn new(plan: &MovePlan) -> Result<Self, ResolveError> {
        Ok(Self {
            examined: Tally::default(),
            moving: Tally::default(),
            needless: Tally::default(),
            by_route: BTreeMap::new(),
            before: plan.current().collections()?.into_iter().collect(),
            after: plan.next().collections()?.into_iter().collect(),
        })
    }

    /// Counts one document.
    pub fn count(&mut self, route: &Route, bytes: u64) {
        self.examined.add(bytes);
        if let Route::Moves { from, to } = route {
            self.moving.add(bytes);
            // Only what leaves a leaver or joins a newcomer had to move.
            if self.after.contains(from) && self.before.contains(to) {
                self.needless.add(bytes);
            }
            self.by_route.entry((from.clone(), to.clone())).or_default().add(bytes);
        }
    }

    /// Everything counted.
    pub fn examined(&self) -> Tally {
        self.examined
    }

    /// What would move.
    pub fn moving(&self) -> Tally {
        self.moving
    }

    /// What would move between two collections that both were there and both stay.
    pub fn needless(&self) -> Tally {
        self.needless
    }

    /// What would move, by source and target.
    pub fn by_route(&self) -> &BTreeMap<(CollectionLink, CollectionLink), Tally> {
        &self.by_route
    }

    /// Share of the documents that would move; 0 when there are none.
    pub fn share(&self) -> f64 {
        if self.examined.documents == 0 { 0.0 } else { self.moving.documents as f64 / self.examined.documents as f64 }
    }
}
