//! Running a compiled query: documents are pushed in, rows come out. No I/O, no clock.
//!
//! ```text
//! let mut execution = Execution::new(&query, ExecutionOptions::default());
//! for (document, rid) in candidates {
//!     if execution.push(document.root(), rid)? == Flow::Enough { break }
//!     page.extend(execution.take_rows());          // what is ready now; empty while it must wait
//! }
//! page.extend(execution.finish()?);
//! ```
//!
//! A query that neither sorts nor groups answers as it goes. The others hold what they need: groups, the best rows
//! when there is a limit, all rows when there is none; never more than [`ExecutionOptions::buffered_bytes_max`].
//! A caller that reads documents in the order the query asks for (straight from an index) says so with
//! [`Input::Ordered`], and nothing is held.
//!
//! Ties of an ORDER BY come in document order, in the direction of its first item: so does an index read backwards.
//!
//! For a query over several partitions, each runs with [`Output::Partial`] and a [`crate::merge::Merge`] finishes.

mod collector;
mod statistics;
#[cfg(test)]
mod tests;

pub use collector::Row;
pub(crate) use collector::{Window, fuse, ties_descend};
pub use statistics::StatisticsPass;

pub use crate::eval::{Flow, Group};

use crate::bind::{CompiledQuery, NoFunctions, UserFunctions};
use crate::distinct::DistinctRows;
use crate::error::QueryError;
use crate::eval::{Evaluated, Frame, Groups, Run, row_value, scan};
use crate::full_text::Statistics;
use crate::functions::Scope;
use crate::limits::{BUFFERED_BYTES_MAX, DOCUMENT_STEPS_MAX};
use crate::value::Val;
use collector::Collector;
use tesela_model::document::Node;
use tesela_model::json;
use tesela_model::limits::DOCUMENT_DEPTH_MAX;

/// The order documents are pushed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Input {
    /// By ascending rid.
    #[default]
    Unordered,
    /// As the query's ORDER BY wants them, ties included.
    Ordered,
}

/// What the rows are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Output {
    /// The answer.
    #[default]
    Complete,
    /// The part of one partition, for a merge.
    Partial,
}

/// How far a streaming query got, to go on in another execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Progress {
    /// Rows left out for OFFSET.
    pub skipped: u64,
    /// Rows given out.
    pub emitted: u64,
}

/// The surroundings of an execution.
pub struct ExecutionOptions<'q> {
    pub input: Input,
    pub output: Output,
    /// The moment, in 100 ns ticks since 1970; see [`Execution::set_now`].
    pub now_ticks: i64,
    /// For RAND.
    pub seed: u64,
    pub functions: &'q dyn UserFunctions,
    /// Of the whole container, from [`StatisticsPass`]; needed when [`CompiledQuery::needs_statistics`].
    pub statistics: Vec<Statistics>,
    pub buffered_bytes_max: usize,
    pub document_steps_max: u64,
    pub resume: Progress,
}

impl Default for ExecutionOptions<'_> {
    fn default() -> Self {
        Self {
            input: Input::default(),
            output: Output::default(),
            now_ticks: 0,
            seed: 0,
            functions: &NoFunctions,
            statistics: Vec::new(),
            buffered_bytes_max: BUFFERED_BYTES_MAX,
            document_steps_max: DOCUMENT_STEPS_MAX,
            resume: Progress::default(),
        }
    }
}

/// One run of a query.
pub struct Execution<'q> {
    run: Run<'q>,
    pipeline: Pipeline<'q>,
    /// A query without documents yields its row when it is finished.
    pending: bool,
}

/// The stages and what each of them holds.
struct Pipeline<'q> {
    query: &'q CompiledQuery,
    /// Stages to run: all, or the first one for a merge to go on from.
    stages: Vec<Stage>,
    collector: Collector<'q>,
    output: Output,
    buffered_bytes_max: usize,
}

#[derive(Default)]
struct Stage {
    groups: Option<Groups>,
    distinct: Option<DistinctRows>,
}

impl<'q> Execution<'q> {
    pub fn new(query: &'q CompiledQuery, options: ExecutionOptions<'q>) -> Self {
        let mut statistics = options.statistics;
        // Without statistics every score is that of an empty container; the caller was told they are needed.
        statistics.resize_with(query.scorers.len(), Statistics::default);
        let scope = Scope::new(options.now_ticks, options.seed, query.geospatial);
        let run = Run::new(scope, options.functions, &query.scorers, statistics)
            .with_document_steps_max(options.document_steps_max);
        let count = match options.output {
            Output::Complete => query.stages.len(),
            Output::Partial => 1,
        };
        let stages = query.stages[..count].iter().map(Stage::new).collect();
        let collector = if count == query.stages.len() {
            Collector::new(query, options.input, options.output, options.resume)
        } else {
            Collector::of_stage(query)
        };
        let pipeline = Pipeline {
            query,
            stages,
            collector,
            output: options.output,
            buffered_bytes_max: options.buffered_bytes_max,
        };
        Self { run, pipeline, pending: !query.reads_documents }
    }

    /// To go on from the parts of partitions: nothing is read here.
    pub(crate) fn of_parts(query: &'q CompiledQuery, options: ExecutionOptions<'q>) -> Self {
        Self { pending: false, ..Self::new(query, options) }
    }

    /// Takes a group of the first stage that a partition accumulated.
    pub(crate) fn absorb_group(&mut self, group: Group) -> Result<(), QueryError> {
        let groups = self.pipeline.stages[0].groups.get_or_insert_default();
        groups.merge(group);
        let bytes = groups.bytes();
        self.pipeline.check_bytes(bytes).map_err(|error| *error)
    }

    /// Takes a row of the first stage that a partition projected.
    pub(crate) fn absorb_row(&mut self, row: Row) -> Result<Flow, QueryError> {
        let value = json::parse(&row.json).map_err(|_| QueryError::RowDepth { limit: DOCUMENT_DEPTH_MAX })?;
        let distinct = &mut self.pipeline.stages[0].distinct;
        if let (Some(seen), Some(key)) = (distinct, row.distinct_key)
            && !seen.insert_key(key)
        {
            return Ok(Flow::More);
        }
        self.run.begin_document();
        let mut frame = Frame::new(self.pipeline.query.slots.len(), None, row.rid, &self.run);
        self.pipeline.input(1, Val::Constant(&value), &mut frame).map_err(|error| *error)
    }

    /// Takes a document in. `rid` is its number in the partition.
    pub fn push(&mut self, document: Node<'_>, rid: u64) -> Result<Flow, QueryError> {
        if self.pending || self.pipeline.collector.is_full() {
            return Ok(Flow::Enough);
        }
        self.run.begin_document();
        let mut frame = Frame::new(self.pipeline.query.slots.len(), Some(document), rid, &self.run);
        let flow = self.pipeline.stage(0, &mut frame).map_err(|error| *error)?;
        Ok(flow)
    }

    /// Counts documents that were not read: for a query whose [`Access`](crate::access::Access) is exact and counts only.
    ///
    /// # Panics
    /// When the query wants more of documents than their number.
    pub fn push_count(&mut self, documents: u64) {
        assert!(self.pipeline.query.access().counts_only, "only a count can do without documents");
        let groups = self.pipeline.stages[0].groups.as_mut().expect("a count is an aggregate");
        groups.count(documents);
    }

    /// Moves the clock of functions that are evaluated for each row.
    pub fn set_now(&mut self, now_ticks: i64) {
        self.run.scope.now_ticks.set(now_ticks);
    }

    /// Rows that are ready, each given out once.
    pub fn take_rows(&mut self) -> Vec<Row> {
        self.pipeline.collector.take_ready()
    }

    /// The rest of the rows.
    pub fn finish(mut self) -> Result<Vec<Row>, QueryError> {
        self.drain_stages().map_err(|error| *error)?;
        Ok(self.pipeline.collector.finish())
    }

    /// Ends a partial execution: its rows and its groups.
    pub fn finish_partial(mut self) -> Result<(Vec<Row>, Vec<Group>), QueryError> {
        assert_eq!(self.pipeline.output, Output::Partial, "a complete execution has no parts");
        self.run_pending().map_err(|error| *error)?;
        let groups = self.pipeline.stages[0].groups.take();
        Ok((self.pipeline.collector.finish(), groups.map(Groups::finish).unwrap_or_default()))
    }

    /// How far a streaming query got.
    pub fn progress(&self) -> Progress {
        self.pipeline.collector.progress()
    }

    /// Rows visited so far, joins included: what a caller slices time by.
    pub fn steps(&self) -> u64 {
        self.run.total_steps()
    }

    fn run_pending(&mut self) -> Evaluated<()> {
        if std::mem::take(&mut self.pending) {
            let mut frame = Frame::new(self.pipeline.query.slots.len(), None, 0, &self.run);
            self.pipeline.stage(0, &mut frame)?;
        }
        Ok(())
    }

    fn drain_stages(&mut self) -> Evaluated<()> {
        self.run_pending()?;
        for index in 0..self.pipeline.stages.len() {
            let groups = self.pipeline.stages[index].groups.take();
            for group in groups.map(Groups::finish).unwrap_or_default() {
                self.run.begin_document();
                if self.pipeline.group(index, group, &self.run)? == Flow::Enough {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Stage {
    fn new(select: &crate::tree::Select) -> Self {
        Self {
            groups: select.grouping.as_ref().map(Groups::new),
            distinct: select.distinct.then(DistinctRows::default),
        }
    }
}

impl<'q> Pipeline<'q> {
    /// Runs a stage over what is in the frame.
    fn stage<'r>(&mut self, index: usize, frame: &mut Frame<'r>) -> Evaluated<Flow>
    where
        'q: 'r,
    {
        let select = &self.query.stages[index];
        scan(select, frame, &mut |frame| self.row(index, frame))
    }

    fn row<'r>(&mut self, index: usize, frame: &mut Frame<'r>) -> Evaluated<Flow>
    where
        'q: 'r,
    {
        let select = &self.query.stages[index];
        match (&select.grouping, &mut self.stages[index].groups) {
            (Some(grouping), Some(groups)) => {
                groups.add(grouping, frame)?;
                let bytes = groups.bytes();
                self.check_bytes(bytes)?;
                Ok(Flow::More)
            }
            _ => self.emit(index, frame),
        }
    }

    /// Projects the row or group in the frame and hands it on.
    fn emit<'r>(&mut self, index: usize, frame: &mut Frame<'r>) -> Evaluated<Flow>
    where
        'q: 'r,
    {
        let select = &self.query.stages[index];
        if index + 1 == self.stages.len() {
            let flow = self.collector.offer(select, frame)?;
            let bytes = self.collector.bytes();
            self.check_bytes(bytes)?;
            return Ok(flow);
        }
        let row = row_value(&select.projection, frame)?;
        if !row.is_defined() {
            return Ok(Flow::More);
        }
        if let Some(distinct) = &mut self.stages[index].distinct {
            if !distinct.insert(&row) {
                return Ok(Flow::More);
            }
            let bytes = distinct.bytes();
            self.check_bytes(bytes)?;
        }
        self.input(index + 1, row, frame)
    }

    /// Gives a row to a stage.
    fn input<'r>(&mut self, index: usize, row: Val<'r>, frame: &mut Frame<'r>) -> Evaluated<Flow>
    where
        'q: 'r,
    {
        frame.set_input(row);
        self.stage(index, frame)
    }

    fn group<'r>(&mut self, index: usize, group: Group, run: &'r Run<'r>) -> Evaluated<Flow>
    where
        'q: 'r,
    {
        let mut frame = Frame::new(self.query.slots.len(), None, 0, run);
        group.in_frame(&mut frame, &mut |frame| self.emit(index, frame))
    }

    fn check_bytes(&self, held: usize) -> Evaluated<()> {
        if held > self.buffered_bytes_max {
            return Err(Box::new(QueryError::TooManyBytes { limit: self.buffered_bytes_max }));
        }
        Ok(())
    }
}
