//! A page of a query over one partition.
//!
//! The query itself is pure ([`tesela_query`]): this module finds the candidate documents, pushes them in, takes rows
//! out, and decides where the page ends. Two kinds of queries page differently:
//!
//! * *Streaming* ones answer as they go. Their continuation is the last document consumed, the rows already given of
//!   the next one (a JOIN makes many of one document), and how far OFFSET and TOP have counted.
//! * *Gathering* ones — sorted, grouped, aggregated, distinct — must see everything first. Their continuation is the
//!   number of rows given; the next page runs the query again and skips them.
//!
//! Either form survives a restart, and the first also a split, since it only speaks of places in `_rid` order.

mod resume;

pub use resume::Resume;

use crate::charge::QueryFacts;
use crate::error::ReadError;
use crate::layout::DocumentRecord;
use crate::read::{FeedScope, PageLimit, View};
use std::time::Duration;
use tesela_model::limits::QUERY_SLICE_MS_MAX;
use tesela_model::rid::DocumentOrdinal;
use tesela_query::full_text::Statistics;
use tesela_query::{
    CompiledQuery, Execution, ExecutionOptions, Flow, Group, Output, QueryError, Row, StatisticsPass, UserFunctions,
};
use tesela_store::Snapshot;

/// Why a page of a query failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PageError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// One page to make.
pub struct QueryRequest<'q> {
    pub query: &'q CompiledQuery,
    pub functions: &'q dyn UserFunctions,
    pub scope: FeedScope,
    pub resume: Resume,
    pub limit: PageLimit,
    /// 100 ns ticks since 1970.
    pub now_ticks: i64,
    /// For RAND.
    pub seed: u64,
    /// Numbers of all documents that full-text scores are relative to; gathered in the scope when left out.
    pub statistics: Option<Vec<Statistics>>,
    /// Time that only moves forward; a page is cut when it has taken [`QUERY_SLICE_MS_MAX`].
    pub elapsed: &'q (dyn Fn() -> Duration + Send + Sync),
}

/// Rows as JSON text, and where to go on.
#[derive(Debug, Default)]
pub struct QueryPage {
    pub rows: Vec<Vec<u8>>,
    pub next: Option<Resume>,
    pub facts: QueryFacts,
    pub loaded_documents: u64,
}

/// A partition's part of a merged query.
#[derive(Debug, Default)]
pub struct QueryPart {
    pub rows: Vec<Row>,
    pub groups: Vec<Group>,
    pub facts: QueryFacts,
    pub loaded_documents: u64,
}

/// Documents between two looks at the clock, and between two chances for other requests on this thread.
const SLICE_DOCUMENTS: usize = 256;
/// Documents fetched at a time.
const FETCH: PageLimit = PageLimit { items: SLICE_DOCUMENTS, bytes: 1 << 20 };

impl<S: Snapshot> View<S> {
    pub async fn query(&self, request: &QueryRequest<'_>) -> Result<QueryPage, PageError> {
        if request.query.is_streaming() { self.stream(request).await } else { self.gather(request).await }
    }

    async fn stream(&self, request: &QueryRequest<'_>) -> Result<QueryPage, PageError> {
        let started = (request.elapsed)();
        let mut page = PageBuilder::new(request.limit);
        let mut resume = request.resume.clone();
        let mut execution = Execution::new(request.query, options(request, resume.progress));
        if !request.query.reads_documents() {
            return Ok(page.end(execution.finish()?));
        }
        loop {
            let fetched = self.feed(&request.scope, resume.after, FETCH).await?;
            for (ordinal, record) in &fetched.records {
                page.count(record);
                let before = execution.progress();
                let flow = execution.push(record.document.root(), ordinal.0)?;
                let rows = execution.take_rows();
                if let Some(taken) = page.push(rows, std::mem::take(&mut resume.skip)) {
                    // The page is full inside this document: come back to it.
                    return Ok(page.cut(Resume { after: resume.after, skip: taken, progress: before, given: 0 }));
                }
                if flow == Flow::Enough {
                    return Ok(page.end(Vec::new()));
                }
                resume = Resume { after: Some(*ordinal), skip: 0, progress: execution.progress(), given: 0 };
            }
            if fetched.next.is_none() {
                page.extend(execution.finish()?);
                return Ok(page.end(Vec::new()));
            }
            if ((request.elapsed)() - started).as_millis() as u64 > QUERY_SLICE_MS_MAX {
                return Ok(page.cut(resume));
            }
            tokio::task::yield_now().await;
        }
    }

    async fn gather(&self, request: &QueryRequest<'_>) -> Result<QueryPage, PageError> {
        let mut page = PageBuilder::new(request.limit);
        let options =
            ExecutionOptions { statistics: self.statistics(request).await?, ..options(request, Default::default()) };
        let mut execution = Execution::new(request.query, options);
        self.run(request, &mut execution, &mut page).await?;
        let mut rows = execution.take_rows();
        rows.extend(execution.finish()?);
        let given = request.resume.given;
        let rest: Vec<Row> = rows.into_iter().skip(given as usize).collect();
        match page.push(rest, 0) {
            Some(taken) => Ok(page.cut(Resume { given: given + taken, ..Resume::default() })),
            None => Ok(page.end(Vec::new())),
        }
    }

    /// This partition's part of a query that is merged with the parts of others.
    pub async fn part(&self, request: &QueryRequest<'_>) -> Result<QueryPart, PageError> {
        let mut page = PageBuilder::new(request.limit);
        let options = ExecutionOptions {
            output: Output::Partial,
            statistics: self.statistics(request).await?,
            ..options(request, Default::default())
        };
        let mut execution = Execution::new(request.query, options);
        self.run(request, &mut execution, &mut page).await?;
        let mut rows = execution.take_rows();
        let (rest, groups) = execution.finish_partial()?;
        rows.extend(rest);
        Ok(QueryPart { rows, groups, facts: page.page.facts, loaded_documents: page.page.loaded_documents })
    }

    /// What full-text scores of this scope are relative to.
    pub async fn statistics(&self, request: &QueryRequest<'_>) -> Result<Vec<Statistics>, PageError> {
        if let Some(statistics) = &request.statistics {
            return Ok(statistics.clone());
        }
        let mut pass = StatisticsPass::new(request.query);
        let mut after: Option<DocumentOrdinal> = None;
        while request.query.needs_statistics() {
            let fetched = self.feed(&request.scope, after, FETCH).await?;
            for (_, record) in &fetched.records {
                pass.push(record.document.root())?;
            }
            if fetched.next.is_none() {
                break;
            }
            after = fetched.next;
            tokio::task::yield_now().await;
        }
        Ok(pass.finish())
    }

    /// Pushes every candidate, until the query has enough.
    async fn run(
        &self,
        request: &QueryRequest<'_>,
        execution: &mut Execution<'_>,
        page: &mut PageBuilder,
    ) -> Result<(), PageError> {
        let mut after: Option<DocumentOrdinal> = None;
        loop {
            let fetched = self.feed(&request.scope, after, FETCH).await?;
            let mut enough = fetched.next.is_none();
            for (ordinal, record) in &fetched.records {
                page.count(record);
                if execution.push(record.document.root(), ordinal.0)? == Flow::Enough {
                    enough = true;
                    break;
                }
            }
            if enough {
                break;
            }
            after = fetched.next;
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

fn options<'q>(request: &QueryRequest<'q>, resume: tesela_query::Progress) -> ExecutionOptions<'q> {
    ExecutionOptions {
        now_ticks: request.now_ticks,
        seed: request.seed,
        functions: request.functions,
        resume,
        ..ExecutionOptions::default()
    }
}

/// Fills a page with rows up to its limit; it holds at least one row, however large.
struct PageBuilder {
    limit: PageLimit,
    page: QueryPage,
}

impl PageBuilder {
    fn new(limit: PageLimit) -> Self {
        Self { limit, page: QueryPage::default() }
    }

    fn count(&mut self, record: &DocumentRecord) {
        self.page.loaded_documents += 1;
        self.page.facts.loaded_bytes += record.document.text().len() as u64;
    }

    /// Takes rows behind the first `skip`. `Some` when not all fitted: how many of the rows have been given by now.
    fn push(&mut self, rows: Vec<Row>, skip: u64) -> Option<u64> {
        for (index, row) in rows.into_iter().enumerate().skip(skip as usize) {
            let bytes = self.page.facts.output_bytes as usize + row.json.len();
            let full = self.page.rows.len() >= self.limit.items || bytes > self.limit.bytes;
            if full && !self.page.rows.is_empty() {
                return Some(index as u64);
            }
            self.take(row);
        }
        None
    }

    fn extend(&mut self, rows: Vec<Row>) {
        rows.into_iter().for_each(|row| self.take(row));
    }

    fn take(&mut self, row: Row) {
        self.page.facts.output_bytes += row.json.len() as u64;
        self.page.rows.push(row.json);
    }

    fn cut(mut self, next: Resume) -> QueryPage {
        self.page.next = Some(next);
        self.page
    }

    fn end(mut self, rows: Vec<Row>) -> QueryPage {
        self.extend(rows);
        self.page
    }
}
