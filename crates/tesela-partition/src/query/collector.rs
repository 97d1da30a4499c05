//! Rows of a range of values, gathered to be put in `_rid` order.
//!
//! A range names many values, each with documents of its own, so its rows are not in `_rid` order: all of them must be
//! seen before the first can be given. Gathering goes on in steps, beside other work, and is given up when the range
//! turns out to hold a large part of all documents.

use super::reader::Reader;
use super::sized;
use super::source::Source;
use crate::error::ReadError;
use tesela_store::{KeyRange, Snapshot};

/// Documents taken from a source at a time.
const SOURCE_STEP: usize = sized(256, 3);

/// See the module.
#[derive(Debug)]
pub(super) struct Collector {
    /// What is left to read.
    ranges: Vec<KeyRange>,
    sources: Vec<Source>,
    found: Vec<u64>,
    after: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collected {
    More,
    Done,
    TooMany,
}

impl Collector {
    pub fn new(ranges: Vec<KeyRange>, found: Vec<u64>) -> Self {
        Self { ranges, sources: Vec::new(), found, after: None }
    }

    pub fn of_source(source: Source) -> Self {
        Self { ranges: Vec::new(), sources: vec![source], found: Vec::new(), after: None }
    }

    /// The documents of either.
    pub fn join(&mut self, other: Self) {
        self.ranges.extend(other.ranges);
        self.sources.extend(other.sources);
        self.found.extend(other.found);
    }

    pub fn add(&mut self, ordinals: &[u64]) {
        self.found.extend_from_slice(ordinals);
    }

    /// Reads up to `rows` more; gives up beyond `most` in all.
    pub async fn step<S: Snapshot>(
        &mut self,
        reader: &mut Reader<'_, S>,
        rows: usize,
        most: usize,
    ) -> Result<Collected, ReadError> {
        let target = self.found.len().saturating_add(rows);
        while self.found.len() < target {
            if let Some(range) = self.ranges.pop() {
                let (ordinals, rest) = reader.ordinals(range, target - self.found.len()).await?;
                self.found.extend(ordinals);
                self.ranges.extend(rest);
            } else if let Some(source) = self.sources.last_mut() {
                let ordinals = source.next(reader, self.after, SOURCE_STEP).await?;
                self.after = ordinals.last().copied();
                if ordinals.len() < SOURCE_STEP {
                    self.sources.pop();
                    self.after = None;
                }
                self.found.extend(ordinals);
            } else {
                return Ok(Collected::Done);
            }
            if self.found.len() > most {
                return Ok(Collected::TooMany);
            }
        }
        Ok(Collected::More)
    }

    /// What was found.
    pub fn into_source(self) -> Source {
        Source::list(self.found)
    }

    /// What was found, ascending, each once.
    pub fn into_ordinals(mut self) -> Vec<u64> {
        self.found.sort_unstable();
        self.found.dedup();
        self.found
    }
}
