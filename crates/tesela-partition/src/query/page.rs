//! Rows on their way to a client, and what they cost.

use super::reader::{Reader, Spent};
use super::resume::Resume;
use crate::charge::QueryFacts;
use crate::read::PageLimit;
use std::time::Duration;
use tesela_query::{Group, Row};
use tesela_store::Snapshot;

/// What a page took, in one partition or in several.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub facts: QueryFacts,
    pub loaded_documents: u64,
    pub index_time: Duration,
    pub load_time: Duration,
    /// All of it, also the two above.
    pub total_time: Duration,
    /// Documents that were listed as without a value, and how many of them had one or were gone.
    pub(super) listed: u64,
    pub(super) stale: u64,
}

impl Cost {
    pub(super) fn of(spent: &Spent, total_time: Duration) -> Self {
        let facts =
            QueryFacts { index_entries: spent.entries, loaded_bytes: spent.document_bytes, ..QueryFacts::default() };
        Self {
            facts,
            loaded_documents: spent.documents,
            index_time: spent.index_time,
            load_time: spent.load_time,
            total_time,
            listed: spent.listed,
            stale: spent.stale,
        }
    }

    /// Takes the cost of another partition in.
    pub fn add(&mut self, other: &Self) {
        self.facts.index_entries += other.facts.index_entries;
        self.facts.loaded_bytes += other.facts.loaded_bytes;
        self.facts.output_bytes += other.facts.output_bytes;
        self.facts.function_calls += other.facts.function_calls;
        self.loaded_documents += other.loaded_documents;
        self.index_time += other.index_time;
        self.load_time += other.load_time;
        self.total_time += other.total_time;
    }
}

/// Rows as JSON text, and where to go on.
#[derive(Debug, Default)]
pub struct QueryPage {
    pub rows: Vec<Vec<u8>>,
    pub next: Option<Resume>,
    pub cost: Cost,
}

/// A partition's part of a merged query.
#[derive(Debug, Default)]
pub struct QueryPart {
    pub rows: Vec<Row>,
    pub groups: Vec<Group>,
    pub cost: Cost,
}

/// Fills a page with rows up to its limit; it holds at least one row, however large.
pub(super) struct PageBuilder {
    limit: PageLimit,
    bytes: usize,
    page: QueryPage,
}

impl PageBuilder {
    pub fn new(limit: PageLimit) -> Self {
        Self { limit, bytes: 0, page: QueryPage::default() }
    }

    /// Takes rows behind the first `skip`. `Some` when not all fitted: how many of the rows have been given by now.
    pub fn push(&mut self, rows: Vec<Row>, skip: u64) -> Option<u64> {
        for (index, row) in rows.into_iter().enumerate().skip(skip as usize) {
            let bytes = self.bytes + row.json.len();
            let full = self.page.rows.len() >= self.limit.items || bytes > self.limit.bytes;
            if full && !self.page.rows.is_empty() {
                return Some(index as u64);
            }
            self.take(row);
        }
        None
    }

    fn take(&mut self, row: Row) {
        self.bytes += row.json.len();
        self.page.rows.push(row.json);
    }

    /// Notes what reading has cost.
    pub fn spent<S: Snapshot>(mut self, reader: &Reader<'_, S>, started: Duration) -> Self {
        self.page.cost = Cost::of(&reader.spent, reader.now() - started);
        self
    }

    pub fn cut(mut self, next: Resume) -> QueryPage {
        self.page.next = Some(next);
        self.finish()
    }

    pub fn end(mut self, rows: Vec<Row>) -> QueryPage {
        rows.into_iter().for_each(|row| self.take(row));
        self.finish()
    }

    fn finish(mut self) -> QueryPage {
        self.page.cost.facts.output_bytes = self.bytes as u64;
        self.page
    }
}
