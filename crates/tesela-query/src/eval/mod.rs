//! Running bound expressions and selects over one document.
//!
//! A [`Frame`] holds the values of the aliases while the sources of a select are walked like nested loops; an
//! expression reads slots and makes a value. Everything lives as long as the row (`'r`) and borrows from the document and
//! the compiled query. A [`Run`] is what all rows of an execution share.
//!
//! Every row a loop visits is a step; a document may cost [`DOCUMENT_STEPS_MAX`] of them, then the query is stopped.

mod expression;
mod rows;

pub use expression::{eval, truth};
pub use rows::{Group, Groups, project, row_value, scan};

use crate::bind::{NoFunctions, UserFunctions};
use crate::error::QueryError;
use crate::full_text::Statistics;
use crate::functions::{Geospatial, Scope};
use crate::limits::DOCUMENT_STEPS_MAX;
use crate::tree::{Scorer, Slot};
use crate::value::Val;
use smallvec::SmallVec;
use std::cell::Cell;
use tesela_model::document::Node;

/// Errors travel boxed: they are rare, and results are returned from every expression.
pub type Evaluated<T> = Result<T, Box<QueryError>>;

/// Whether more rows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    More,
    Enough,
}

/// What the rows of one execution share.
pub struct Run<'q> {
    pub scope: Scope,
    pub functions: &'q dyn UserFunctions,
    pub scorers: &'q [Scorer],
    /// One per scorer.
    pub statistics: Vec<Statistics>,
    document_steps: Cell<u64>,
    document_steps_max: u64,
    total_steps: Cell<u64>,
}

impl<'q> Run<'q> {
    pub fn new(
        scope: Scope,
        functions: &'q dyn UserFunctions,
        scorers: &'q [Scorer],
        statistics: Vec<Statistics>,
    ) -> Self {
        Self {
            scope,
            functions,
            scorers,
            statistics,
            document_steps: Cell::new(0),
            document_steps_max: DOCUMENT_STEPS_MAX,
            total_steps: Cell::new(0),
        }
    }

    /// Another budget for each document.
    pub fn with_document_steps_max(self, document_steps_max: u64) -> Self {
        Self { document_steps_max, ..self }
    }

    /// For what does not depend on documents.
    pub fn for_constants(now_ticks: i64, geospatial: Geospatial) -> Run<'static> {
        Run::new(Scope::new(now_ticks, 0, geospatial), &NoFunctions, &[], Vec::new())
    }

    /// A new document has a budget of its own.
    pub fn begin_document(&self) {
        self.document_steps.set(0);
    }

    /// Counts a row visited.
    pub fn step(&self) -> Evaluated<()> {
        let steps = self.document_steps.get() + 1;
        self.document_steps.set(steps);
        self.total_steps.set(self.total_steps.get() + 1);
        if steps > self.document_steps_max {
            return Err(Box::new(QueryError::TooManySteps { limit: self.document_steps_max }));
        }
        Ok(())
    }

    /// Steps of all documents so far, for callers that slice time.
    pub fn total_steps(&self) -> u64 {
        self.total_steps.get()
    }
}

/// The values in reach of one row.
pub struct Frame<'r> {
    slots: SmallVec<[Val<'r>; 4]>,
    /// Of the group at hand, while a grouped select is projected.
    keys: Vec<Val<'r>>,
    aggregates: Vec<Val<'r>>,
    document: Option<Node<'r>>,
    /// A row of the stage before.
    input: Val<'r>,
    rid: u64,
    run: &'r Run<'r>,
}

impl<'r> Frame<'r> {
    pub fn new(slots: usize, document: Option<Node<'r>>, rid: u64, run: &'r Run<'r>) -> Self {
        let slots = SmallVec::from_iter(std::iter::repeat_n(Val::Undefined, slots));
        Self { slots, keys: Vec::new(), aggregates: Vec::new(), document, input: Val::Undefined, rid, run }
    }

    /// For constants: nothing is in reach.
    pub fn without_document(run: &'r Run<'r>) -> Self {
        Self::new(0, None, 0, run)
    }

    pub fn set_input(&mut self, row: Val<'r>) {
        self.input = row;
    }

    pub fn rid(&self) -> u64 {
        self.rid
    }

    pub fn run(&self) -> &'r Run<'r> {
        self.run
    }

    fn slot(&self, slot: Slot) -> &Val<'r> {
        &self.slots[slot]
    }

    fn set(&mut self, slot: Slot, value: Val<'r>) {
        self.slots[slot] = value;
    }

    /// Runs `body` with the keys and aggregates of a group in reach.
    fn with_group<T>(&mut self, keys: Vec<Val<'r>>, aggregates: Vec<Val<'r>>, body: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (std::mem::replace(&mut self.keys, keys), std::mem::replace(&mut self.aggregates, aggregates));
        let result = body(self);
        (self.keys, self.aggregates) = outer;
        result
    }
}
