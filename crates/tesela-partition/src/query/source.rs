//! Candidate documents as ascending ordinals, found by seeking.
//!
//! A [`Source`] answers one question: which is the first of your documents at or behind this one? Rows of one term are
//! in `_rid` order, so the answer is one look into the index; sources of several kinds meet in merges and leapfrogs and
//! are never sorted.
//!
//! ```text
//! Both(/a = 1, /b = 2)      a: 3 9 20 31      seek(0): a says 3, b says 20; a says 20: both have it
//!                           b: 1 2 20 40
//! ```

use super::reader::Reader;
use super::sized;
use crate::error::ReadError;
use bytes::Bytes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use tesela_store::{KeyRange, Snapshot};

/// Rows read at first, and at most, when a posting is followed. Ours: a few results should cost little, many should
/// not cost a seek each.
const FOLLOW_ROWS_MIN: usize = sized(32, 2);
const FOLLOW_ROWS_MAX: usize = sized(512, 4);

/// See the module.
#[derive(Debug)]
pub(super) enum Source {
    List(List),
    Postings(Postings),
    Both(Vec<Source>),
    Either(Either),
}

/// Ordinals in memory, ascending.
#[derive(Debug)]
pub(super) struct List {
    ordinals: Vec<u64>,
    at: usize,
}

/// Rows that differ in their ordinal alone.
#[derive(Debug)]
pub(super) struct Postings {
    /// All but the ordinal.
    prefix: Bytes,
    buffer: Vec<u64>,
    at: usize,
    /// No rows lie behind the buffer.
    ended: bool,
    rows: usize,
}

/// Documents of any of several sources.
#[derive(Debug)]
pub(super) struct Either {
    sources: Vec<Source>,
    /// The next document of each source that has one. Empty before the first seek.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    started: bool,
}

impl Source {
    /// Sorts, and keeps each once.
    pub fn list(mut ordinals: Vec<u64>) -> Self {
        ordinals.sort_unstable();
        ordinals.dedup();
        Self::List(List { ordinals, at: 0 })
    }

    pub fn postings(prefix: Bytes) -> Self {
        let (buffer, at, ended) = (Vec::new(), 0, false);
        Self::Postings(Postings { prefix, buffer, at, ended, rows: FOLLOW_ROWS_MIN })
    }

    pub fn either(mut sources: Vec<Self>) -> Self {
        if sources.len() == 1 {
            return sources.swap_remove(0);
        }
        // Lists become one: a merge then has few heads, however many values were asked for.
        let mut listed = Vec::new();
        let mut others = Vec::new();
        for source in sources {
            match source {
                Self::List(list) => listed.extend(list.ordinals),
                other => others.push(other),
            }
        }
        if others.is_empty() {
            return Self::list(listed);
        }
        if !listed.is_empty() {
            others.push(Self::list(listed));
        }
        Self::Either(Either { sources: others, heads: BinaryHeap::new(), started: false })
    }

    /// How many documents it has, where that is known.
    pub fn known_len(&self) -> Option<usize> {
        match self {
            Self::List(list) => Some(list.ordinals.len()),
            Self::Both(sources) => sources.iter().filter_map(Self::known_len).min(),
            Self::Postings(_) | Self::Either(_) => None,
        }
    }

    /// The first document at or behind `least`. Never asked for less than before.
    pub async fn seek<S: Snapshot>(
        &mut self,
        reader: &mut Reader<'_, S>,
        least: u64,
    ) -> Result<Option<u64>, ReadError> {
        match self {
            Self::List(list) => Ok(list.seek(least)),
            Self::Postings(postings) => postings.seek(reader, least).await,
            Self::Both(sources) => leapfrog(sources, reader, least).await,
            Self::Either(either) => either.seek(reader, least).await,
        }
    }

    /// The next documents behind `after`, at most so many; fewer only at the end.
    pub async fn next<S: Snapshot>(
        &mut self,
        reader: &mut Reader<'_, S>,
        after: Option<u64>,
        most: usize,
    ) -> Result<Vec<u64>, ReadError> {
        let mut ordinals = Vec::with_capacity(most);
        let mut least = after.map_or(Some(0), |after| after.checked_add(1));
        while let (Some(from), true) = (least, ordinals.len() < most) {
            let Some(found) = self.seek(reader, from).await? else { break };
            ordinals.push(found);
            least = found.checked_add(1);
        }
        Ok(ordinals)
    }
}

impl List {
    fn seek(&mut self, least: u64) -> Option<u64> {
        self.at += self.ordinals[self.at..].partition_point(|ordinal| *ordinal < least);
        self.ordinals.get(self.at).copied()
    }
}

impl Postings {
    async fn seek<S: Snapshot>(&mut self, reader: &mut Reader<'_, S>, least: u64) -> Result<Option<u64>, ReadError> {
        self.at += self.buffer[self.at..].partition_point(|ordinal| *ordinal < least);
        if self.at == self.buffer.len() && !self.ended {
            let whole = KeyRange::prefix(&self.prefix);
            let start = [&self.prefix[..], &least.to_be_bytes()].concat();
            let range = KeyRange { start: start.into(), end: whole.end };
            let (ordinals, rest) = reader.ordinals(range, self.rows).await?;
            self.rows = (2 * self.rows).min(FOLLOW_ROWS_MAX);
            (self.buffer, self.at, self.ended) = (ordinals, 0, rest.is_none());
        }
        Ok(self.buffer.get(self.at).copied())
    }
}

/// Boxed: a source is made of sources.
fn leapfrog<'f, S: Snapshot>(
    sources: &'f mut [Source],
    reader: &'f mut Reader<'_, S>,
    least: u64,
) -> Pin<Box<dyn Future<Output = Result<Option<u64>, ReadError>> + Send + 'f>> {
    Box::pin(async move {
        let mut candidate = least;
        let mut agreeing = 0;
        let count = sources.len();
        for turn in (0..count).cycle() {
            let Some(found) = sources[turn].seek(reader, candidate).await? else { return Ok(None) };
            agreeing = if found == candidate { agreeing + 1 } else { 1 };
            candidate = found;
            if agreeing == count {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    })
}

impl Either {
    fn seek<'f, S: Snapshot>(
        &'f mut self,
        reader: &'f mut Reader<'_, S>,
        least: u64,
    ) -> Pin<Box<dyn Future<Output = Result<Option<u64>, ReadError>> + Send + 'f>> {
        Box::pin(async move {
            if !std::mem::replace(&mut self.started, true) {
                for at in 0..self.sources.len() {
                    self.refill(reader, at, least).await?;
                }
            }
            while let Some(Reverse((head, at))) = self.heads.peek().copied() {
                if head >= least {
                    return Ok(Some(head));
                }
                self.heads.pop();
                self.refill(reader, at, least).await?;
            }
            Ok(None)
        })
    }

    async fn refill<S: Snapshot>(
        &mut self,
        reader: &mut Reader<'_, S>,
        at: usize,
        least: u64,
    ) -> Result<(), ReadError> {
        if let Some(head) = self.sources[at].seek(reader, least).await? {
            self.heads.push(Reverse((head, at)));
        }
        Ok(())
    }
}
