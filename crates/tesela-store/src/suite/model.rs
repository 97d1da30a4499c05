//! One random history of everything at once, held against a sorted map.
//!
//! The history creates and drops spaces, commits batches, takes and drops snapshots, reopens the
//! store, and compares every answer, of the present and of every snapshot still held, with what
//! maps say. Keys are few, so that histories replace and delete; values are sometimes large, so
//! that an engine with small buffers flushes and compacts on the way.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::Subject;
use crate::chance::Chance;
use crate::{Batch, Direction, Error, KeyRange, Page, ScanLimit, Snapshot, SpaceId, Store};

const SEEDS: [u64; 4] = [1, 2, 3, 4];
const STEPS: u32 = 400;
const SPACES: u64 = 3;
const SNAPSHOTS_MAX: usize = 4;

type Space = BTreeMap<Bytes, Bytes>;
type Spaces = BTreeMap<SpaceId, Space>;

/// A snapshot and what it must show. Of spaces dropped since, it may show nothing any more.
struct Moment<S> {
    snapshot: S,
    spaces: Spaces,
    dropped_since: Vec<SpaceId>,
}

struct History<S: Subject> {
    subject: S,
    spaces: Spaces,
    moments: Vec<Moment<<S::Store as Store>::Snapshot>>,
    chance: Chance,
}

pub async fn random_history_matches_a_sorted_map<S: Subject>() {
    for seed in SEEDS {
        let subject = S::open().await;
        let mut history =
            History { subject, spaces: Spaces::new(), moments: Vec::new(), chance: Chance::from_seed(seed) };
        for step in 0..STEPS {
            history = history.step().await.unwrap_or_else(|broken| panic!("seed {seed}, step {step}: {broken}"));
        }
    }
}

impl<S: Subject> History<S> {
    async fn step(mut self) -> Result<Self, String> {
        match self.chance.below(100) {
            0..5 => self.create_space().await,
            5..7 => self.drop_space().await,
            7..60 => self.commit().await,
            60..65 => self.take_snapshot(),
            65..67 if !self.moments.is_empty() => {
                let at = self.chance.below(self.moments.len() as u64) as usize;
                self.moments.swap_remove(at);
            }
            67 => return self.reopen().await,
            _ => return self.compare().await.map(|()| self),
        }
        Ok(self)
    }

    fn any_space(&mut self) -> SpaceId {
        SpaceId(self.chance.below(SPACES))
    }

    fn any_key(&mut self) -> Bytes {
        let length = 1 + self.chance.below(3);
        (0..length).map(|_| [0, 1, b'a', b'b', b'c', 0xff][self.chance.below(6) as usize]).collect()
    }

    fn any_value(&mut self) -> Bytes {
        let length = if self.chance.one_in(8) { self.chance.below(20_000) } else { self.chance.below(100) };
        let first = self.chance.below(256);
        (0..length).map(|at| (first + at) as u8).collect()
    }

    async fn create_space(&mut self) {
        let space = self.any_space();
        self.subject.store().create_space(space).await.expect("creatable");
        self.spaces.entry(space).or_default();
    }

    async fn drop_space(&mut self) {
        let space = self.any_space();
        self.subject.store().drop_space(space).await.expect("droppable");
        self.spaces.remove(&space);
        for moment in &mut self.moments {
            moment.dropped_since.push(space);
        }
    }

    async fn commit(&mut self) {
        let mut batch = Batch::new();
        let mut after = self.spaces.clone();
        let mut refused = false;
        for _ in 0..self.chance.below(12) {
            let (space, key) = (self.any_space(), self.any_key());
            let value = if self.chance.one_in(3) { None } else { Some(self.any_value()) };
            match after.get_mut(&space) {
                None => refused = true,
                Some(rows) => match value.clone() {
                    Some(value) => drop(rows.insert(key.clone(), value)),
                    None => drop(rows.remove(&key)),
                },
            }
            batch.push(crate::Change { space, key, value });
        }
        match self.subject.store().commit(batch).await {
            Ok(()) => {
                assert!(!refused, "a batch with an unknown space was accepted");
                self.spaces = after;
            }
            Err(error) => assert!(refused && matches!(error, Error::NoSuchSpace(_)), "commit failed: {error}"),
        }
    }

    fn take_snapshot(&mut self) {
        if self.moments.len() == SNAPSHOTS_MAX {
            self.moments.remove(0);
        }
        self.moments.push(Moment {
            snapshot: self.subject.store().snapshot(),
            spaces: self.spaces.clone(),
            dropped_since: Vec::new(),
        });
    }

    async fn reopen(mut self) -> Result<Self, String> {
        self.moments.clear();
        match self.subject.reopen().await {
            Some(subject) => Ok(Self { subject, ..self }),
            None => {
                self.subject = S::open().await;
                self.spaces.clear();
                Ok(self)
            }
        }
    }

    async fn compare(&mut self) -> Result<(), String> {
        let (space, from, to) = (self.any_space(), self.any_key(), self.any_key());
        let range = match self.chance.below(3) {
            0 => KeyRange::all(),
            1 => KeyRange::prefix(&from),
            _ => KeyRange::between(from.clone(), to),
        };
        let direction = if self.chance.one_in(2) { Direction::Forward } else { Direction::Backward };
        let limit = ScanLimit { rows: self.chance.below(40) as usize, bytes: 1 << self.chance.below(16) };
        let question = Question { space, key: from, range, direction, limit };

        let store = self.subject.store();
        let listed = store.spaces().await.map_err(|error| error.to_string())?;
        if !listed.iter().eq(self.spaces.keys()) {
            return Err(format!("spaces are {listed:?}"));
        }
        question.ask(&store.snapshot(), &self.spaces, false).await?;
        for moment in &self.moments {
            let dropped = moment.dropped_since.contains(&space);
            question.ask(&moment.snapshot, &moment.spaces, dropped).await.map_err(|e| format!("old snapshot: {e}"))?;
        }
        Ok(())
    }
}

/// One get and one scan.
#[derive(Debug)]
struct Question {
    space: SpaceId,
    key: Bytes,
    range: KeyRange,
    direction: Direction,
    limit: ScanLimit,
}

impl Question {
    async fn ask<S: Snapshot>(&self, snapshot: &S, spaces: &Spaces, may_be_gone: bool) -> Result<(), String> {
        let got = snapshot.get(self.space, &self.key).await;
        let scanned = snapshot.scan(self.space, self.range.clone(), self.direction, self.limit).await;
        let gone = matches!((&got, &scanned), (Err(Error::NoSuchSpace(_)), Err(Error::NoSuchSpace(_))));
        match (spaces.get(&self.space), gone) {
            (None, true) => Ok(()),
            (Some(_), true) if may_be_gone => Ok(()),
            (Some(rows), false) => {
                let (got, scanned) = (got.map_err(|e| e.to_string())?, scanned.map_err(|e| e.to_string())?);
                if got.as_ref() != rows.get(&self.key) {
                    return Err(format!("{self:?}: get answered {got:?}"));
                }
                let wanted = self.page_of(rows);
                if scanned != wanted {
                    return Err(format!("{self:?}: scan answered {scanned:?}, not {wanted:?}"));
                }
                Ok(())
            }
            (expected, _) => Err(format!("{self:?}: space expected {}, gone {gone}", expected.is_some())),
        }
    }

    fn page_of(&self, rows: &Space) -> Page {
        let inside = rows.iter().filter(|(key, _)| self.range.contains(key));
        let copy = |(key, value): (&Bytes, &Bytes)| Ok::<_, std::convert::Infallible>((key.clone(), value.clone()));
        let page = match self.direction {
            Direction::Forward => Page::fill(inside.map(copy), self.limit),
            Direction::Backward => Page::fill(inside.rev().map(copy), self.limit),
        };
        page.unwrap_or_default()
    }
}
