//! One answer from the parts of several partitions.
//!
//! A state machine without I/O: it says which partitions it needs pages of, is given them, and yields rows. The caller
//! fetches in any order and as parallel as it likes.
//!
//! ```text
//! loop {
//!     match merge.step()? {
//!         Step::Fetch(partitions) => for p in partitions { merge.provide(p, page_of(p))? },
//!         Step::Row(row) => answer.push(row),
//!         Step::Done => break,
//!     }
//! }
//! ```
//!
//! What a partition must give is decided by the query; each runs it with [`Output::Partial`](crate::Output):
//!
//! | query | parts | merged |
//! |---|---|---|
//! | plain | rows by rid | one partition behind the other |
//! | ORDER BY | rows in order with their sort keys | by sort key; ties by partition, then as given |
//! | aggregates, GROUP BY | groups with their accumulators | accumulators merged, then projected |
//! | a FROM subquery that groups or is DISTINCT | the parts of that subquery | merged, then the rest of the query runs here |
//! | RRF | rows with their scores | ranked together |
//!
//! OFFSET, LIMIT and DISTINCT are applied last, over everything.

mod queue;

use crate::bind::{CompiledQuery, NoFunctions, UserFunctions};
use crate::distinct::DistinctRows;
use crate::error::QueryError;
use crate::execution::{Execution, ExecutionOptions, Flow, Group, Progress, Row, Window, fuse, ties_descend};
use crate::limits::BUFFERED_BYTES_MAX;
use crate::tree::{Component, Order};
use queue::Queue;
use std::collections::VecDeque;

/// What the merge wants next.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// A page of each of these partitions. Never empty.
    Fetch(Vec<usize>),
    /// The next row of the answer.
    Row(Row),
    /// The answer is complete.
    Done,
}

/// A page of a partition's part.
#[derive(Default)]
pub struct Part {
    pub rows: Vec<Row>,
    pub groups: Vec<Group>,
    /// Nothing follows.
    pub done: bool,
}

/// The surroundings of what remains to be computed here.
pub struct MergeOptions<'q> {
    pub now_ticks: i64,
    pub seed: u64,
    pub functions: &'q dyn UserFunctions,
    pub buffered_bytes_max: usize,
    pub resume: Progress,
}

impl Default for MergeOptions<'_> {
    fn default() -> Self {
        Self {
            now_ticks: 0,
            seed: 0,
            functions: &NoFunctions,
            buffered_bytes_max: BUFFERED_BYTES_MAX,
            resume: Progress::default(),
        }
    }
}

/// See the module.
pub struct Merge<'q> {
    shape: Shape<'q>,
    queues: Vec<Queue>,
    window: Window,
    distinct: Option<DistinctRows>,
}

enum Shape<'q> {
    /// Partitions one behind the other.
    InTurn,
    /// By sort key; ties by partition, from the last one when they descend.
    Ordered { ties_descend: bool },
    /// Groups or rows of an inner stage: the rest of the query runs over them. Partitions are taken in turn, so that
    /// groups appear in the same order however pages arrive.
    Staged { rest: Box<Execution<'q>>, turn: usize },
    /// All rows, ranked when the last is in.
    Fused { components: &'q [Component], bytes: usize, bytes_max: usize, rows: Vec<(usize, Row)> },
    /// Rows that only wait to be taken.
    Answered(VecDeque<Row>),
}

impl<'q> Merge<'q> {
    /// A merge of that many partitions, numbered in the order of their key ranges. A query that reads no documents is
    /// answered by the first alone.
    pub fn new(query: &'q CompiledQuery, partitions: usize, options: MergeOptions<'q>) -> Self {
        let partitions = if query.reads_documents { partitions } else { partitions.min(1) };
        let last = query.stages.last().expect("a query has a stage");
        let staged = query.stages.len() > 1 || last.grouping.is_some();
        let mut window = Window::new(query.offset, query.limit, options.resume);
        let shape = match &query.order {
            _ if staged => {
                // The execution that goes on from here applies the window itself.
                window = Window::new(0, None, Progress::default());
                Shape::Staged { rest: Box::new(Execution::of_parts(query, options.into())), turn: 0 }
            }
            Order::None => Shape::InTurn,
            Order::By(items) => Shape::Ordered { ties_descend: ties_descend(items) },
            Order::Fusion(components) => {
                Shape::Fused { components, bytes: 0, bytes_max: options.buffered_bytes_max, rows: Vec::new() }
            }
        };
        let distinct = (last.distinct && !staged).then(DistinctRows::default);
        Self { shape, queues: (0..partitions).map(|_| Queue::default()).collect(), window, distinct }
    }

    /// Takes a page of a partition.
    ///
    /// # Panics
    /// For a partition that is done, or is none of the merge.
    pub fn provide(&mut self, partition: usize, part: Part) -> Result<(), QueryError> {
        if matches!(&self.shape, Shape::Staged { turn, .. } if *turn == self.queues.len()) {
            return Ok(()); // the rest of the query had enough while this page was on its way
        }
        let queue = &mut self.queues[partition];
        assert!(!queue.done, "partition {partition} said it was done");
        queue.done = part.done;
        match &mut self.shape {
            Shape::InTurn | Shape::Ordered { .. } => queue.rows.extend(part.rows),
            Shape::Staged { rest, turn } => {
                queue.rows.extend(part.rows);
                queue.groups.extend(part.groups);
                absorb(&mut self.queues, turn, rest)?;
            }
            Shape::Fused { rows, bytes, bytes_max, .. } => {
                *bytes += part.rows.iter().map(Row::held_bytes).sum::<usize>();
                if bytes > bytes_max {
                    return Err(QueryError::TooManyBytes { limit: *bytes_max });
                }
                rows.extend(part.rows.into_iter().map(|row| (partition, row)));
            }
            Shape::Answered(_) => {}
        }
        Ok(())
    }

    /// What to do next.
    pub fn step(&mut self) -> Result<Step, QueryError> {
        loop {
            if self.window.is_full() {
                return Ok(Step::Done);
            }
            let row = match self.next_row()? {
                Step::Row(row) => row,
                other => return Ok(other),
            };
            if let (Some(seen), Some(key)) = (&mut self.distinct, &row.distinct_key)
                && !seen.insert_key(key.clone())
            {
                continue;
            }
            if self.window.admit() {
                return Ok(Step::Row(row));
            }
        }
    }

    /// Rows skipped and given out so far.
    pub fn progress(&self) -> Progress {
        self.window.progress()
    }

    /// The next row before DISTINCT and the window.
    fn next_row(&mut self) -> Result<Step, QueryError> {
        match &mut self.shape {
            Shape::InTurn => Ok(queue::in_turn(&mut self.queues)),
            Shape::Ordered { ties_descend } => Ok(queue::ordered(&mut self.queues, *ties_descend)),
            Shape::Answered(rows) => Ok(rows.pop_front().map_or(Step::Done, Step::Row)),
            Shape::Staged { .. } | Shape::Fused { .. } => {
                let missing = queue::unfinished(&self.queues);
                if !missing.is_empty() {
                    return Ok(Step::Fetch(missing));
                }
                self.answer()?;
                self.next_row()
            }
        }
    }

    /// All parts are in: computes the rows.
    fn answer(&mut self) -> Result<(), QueryError> {
        let rows = match std::mem::replace(&mut self.shape, Shape::Answered(VecDeque::new())) {
            Shape::Staged { rest, .. } => rest.finish()?,
            Shape::Fused { components, mut rows, .. } => {
                // Pages come in any order; ties are broken by partition and document.
                rows.sort_by_key(|(partition, row)| (*partition, row.rid));
                fuse(components, rows.into_iter().map(|(_, row)| row).collect())
            }
            Shape::InTurn | Shape::Ordered { .. } | Shape::Answered(_) => {
                unreachable!("only waiting shapes are answered")
            }
        };
        self.shape = Shape::Answered(rows.into());
        Ok(())
    }
}

/// Gives what has arrived to the rest of the query, as far as it is in turn.
fn absorb(queues: &mut [Queue], turn: &mut usize, rest: &mut Execution<'_>) -> Result<(), QueryError> {
    while let Some(queue) = queues.get_mut(*turn) {
        for group in queue.groups.drain(..) {
            rest.absorb_group(group)?;
        }
        for row in std::mem::take(&mut queue.rows) {
            if rest.absorb_row(row)? == Flow::Enough {
                queues.iter_mut().for_each(|queue| queue.done = true);
                *turn = queues.len();
                return Ok(());
            }
        }
        if !queue.done {
            return Ok(());
        }
        *turn += 1;
    }
    Ok(())
}

impl<'q> From<MergeOptions<'q>> for ExecutionOptions<'q> {
    fn from(options: MergeOptions<'q>) -> Self {
        Self {
            now_ticks: options.now_ticks,
            seed: options.seed,
            functions: options.functions,
            buffered_bytes_max: options.buffered_bytes_max,
            resume: options.resume,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
