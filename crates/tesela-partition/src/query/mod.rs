//! A page of a query over one partition.
//!
//! ```text
//! Access (what the query asks) + IndexSchema (what there is)  ─> AccessPath     chosen, printable
//! AccessPath ─> Documents | Ordered | count                   ─> candidates     in `_rid` order or as ORDER BY wants
//! candidates ─> Execution (pure, tesela_query)                ─> rows           cut into pages
//! ```
//!
//! The index answers with a superset: every candidate is run through the query. Three kinds of queries page differently:
//!
//! * *Streaming* ones answer as they go. Their continuation is the last document consumed — its `_rid`, or its
//!   [`Place`] in the order of an index — the rows already given of the next one (a JOIN makes many of one document),
//!   and how far OFFSET and TOP have counted.
//! * *Gathering* ones — grouped, aggregated, distinct, sorted without an index — must see everything first. Their
//!   continuation is the number of rows given; the next page runs the query again and skips them.
//! * Counts that the index knows read no document and fit one page.
//!
//! Either form survives a restart, and the first also a split, since it only speaks of places in an order.

mod access_path;
mod collector;
mod count;
mod documents;
mod look;
mod lookup;
mod open;
mod order_index;
mod ordered;
mod page;
mod place;
mod reader;
mod resume;
mod source;
#[cfg(test)]
mod tests;
mod values;

pub use access_path::{AccessPath, OrderError};
pub use page::{Cost, QueryPage, QueryPart};
pub use place::Place;
pub use resume::Resume;

use crate::error::ReadError;
use crate::index::{Absent, IndexSchema};
use crate::partition::Partition;
use crate::read::{FeedScope, PageLimit, View};
use documents::{Demand, Documents};
use lookup::Lookup;
use ordered::{Ordered, Ordering};
use page::PageBuilder;
use reader::Reader;
use std::time::Duration;
use tesela_model::limits::QUERY_SLICE_MS_MAX;
use tesela_query::full_text::Statistics;
use tesela_query::{
    CompiledQuery, Execution, ExecutionOptions, Flow, Input, Output, Progress, QueryError, StatisticsPass,
    UserFunctions,
};
use tesela_store::{Snapshot, Store};

/// A number of rows or documents after which another way is taken. Small in our own tests, so that a handful of
/// documents takes every way.
const fn sized(usual: usize, in_tests: usize) -> usize {
    if cfg!(test) { in_tests } else { usual }
}

/// Why a page of a query failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PageError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Order(#[from] OrderError),
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

impl<S: Store> Partition<S> {
    /// A page of the query over this partition alone.
    pub async fn query(&self, request: &QueryRequest<'_>) -> Result<QueryPage, PageError> {
        let mut path = self.access_path(request.query, &request.scope)?;
        self.prepare(&path).await?;
        let mut view = self.view();
        if !self.index_is_complete() {
            // The index went while the way was chosen: choose again, and look at what is there after that.
            path = self.access_path(request.query, &request.scope)?;
            view = self.view();
        }
        let absent = self.absent(&path, &view).await?;
        let page = Run { view: &view, schema: &self.container().index, request, path: &path, absent }.page().await?;
        self.tidy(&path, &page.cost);
        Ok(page)
    }

    /// This partition's part of a query that is merged with the parts of others.
    pub async fn part(&self, view: &View<S::Snapshot>, request: &QueryRequest<'_>) -> Result<QueryPart, PageError> {
        let path = self.access_path(request.query, &request.scope)?;
        self.prepare(&path).await?;
        let absent = self.absent(&path, view).await?;
        let part = Run { view, schema: &self.container().index, request, path: &path, absent }.part().await?;
        self.tidy(&path, &part.cost);
        Ok(part)
    }

    /// How a query reads documents.
    pub fn access_path(&self, query: &CompiledQuery, scope: &FeedScope) -> Result<AccessPath, OrderError> {
        AccessPath::choose(query, &query.access(), &self.container(), scope)
    }
}

/// One page on its way.
struct Run<'r, 'q, S: Snapshot> {
    view: &'r View<S>,
    schema: &'r IndexSchema,
    request: &'r QueryRequest<'q>,
    path: &'r AccessPath,
    /// Who may lack the path of the order.
    absent: Option<Absent>,
}

impl<'r, S: Snapshot> Run<'r, '_, S> {
    async fn page(&self) -> Result<QueryPage, PageError> {
        let resume = &self.request.resume;
        match self.path {
            AccessPath::Ordered { .. } if resume.given == 0 => self.stream_ordered().await,
            _ if self.request.query.is_streaming() && resume.place.is_none() => self.stream().await,
            _ => self.gather().await,
        }
    }

    fn reader(&self) -> Reader<'r, S> {
        Reader::new(self.view, self.request.elapsed)
    }

    fn options(&self) -> ExecutionOptions<'r> {
        ExecutionOptions {
            now_ticks: self.request.now_ticks,
            seed: self.request.seed,
            functions: self.request.functions,
            ..ExecutionOptions::default()
        }
    }

    /// Rows that fill the page.
    fn wanted(&self, progress: Progress) -> u64 {
        let query = self.request.query;
        let page = self.request.limit.items as u64;
        let rest = query.limit().map_or(page, |limit| page.min(limit.saturating_sub(progress.emitted)));
        // One more tells whether another page follows.
        (rest + 1).saturating_add(query.offset().saturating_sub(progress.skipped))
    }

    fn is_over(&self, started: Duration) -> bool {
        ((self.request.elapsed)() - started).as_millis() as u64 > QUERY_SLICE_MS_MAX
    }

    async fn stream(&self) -> Result<QueryPage, PageError> {
        let started = (self.request.elapsed)();
        let mut resume = self.request.resume.clone();
        let mut page = PageBuilder::new(self.request.limit);
        let mut execution =
            Execution::new(self.request.query, ExecutionOptions { resume: resume.progress, ..self.options() });
        let lookup = match self.path {
            AccessPath::Documents { lookup, .. } | AccessPath::Ordered { lookup, .. } | AccessPath::Count(lookup)
                if self.request.query.reads_documents() =>
            {
                lookup
            }
            _ => return Ok(page.end(execution.finish()?)),
        };
        let after = resume.after.map(|ordinal| ordinal.0);
        let mut documents = Documents::open(self.reader(), &self.request.scope, lookup, after, Demand::Page).await?;
        while let Some(chunk) = documents.next().await? {
            for (ordinal, record) in &chunk {
                let before = execution.progress();
                let flow = execution.push(record.document.root(), *ordinal)?;
                if let Some(taken) = page.push(execution.take_rows(), resume.given_by(*ordinal)) {
                    // The page is full inside this document: come back to it.
                    let next = resume.within(*ordinal, taken, before);
                    return Ok(page.spent(&documents.reader, started).cut(next));
                }
                if flow == Flow::Enough {
                    return Ok(page.spent(&documents.reader, started).end(Vec::new()));
                }
                resume = Resume { partly: resume.partly, ..Resume::after(*ordinal, execution.progress()) };
            }
            if self.is_over(started) {
                return Ok(page.spent(&documents.reader, started).cut(resume));
            }
            documents.compete().await?;
            tokio::task::yield_now().await;
        }
        Ok(page.spent(&documents.reader, started).end(execution.finish()?))
    }

    async fn stream_ordered(&self) -> Result<QueryPage, PageError> {
        let started = (self.request.elapsed)();
        let mut resume = self.request.resume.clone();
        let mut page = PageBuilder::new(self.request.limit);
        let options = ExecutionOptions { input: Input::Ordered, resume: resume.progress, ..self.options() };
        let mut execution = Execution::new(self.request.query, options);
        let mut ordered = self.open_ordered(resume.place.clone(), resume.progress).await?;
        while let Some(chunk) = ordered.next().await? {
            for candidate in chunk {
                let before = execution.progress();
                let flow = execution.push(candidate.record.document.root(), candidate.ordinal)?;
                if let Some(taken) = page.push(execution.take_rows(), resume.given_by(candidate.ordinal)) {
                    let next = resume.within(candidate.ordinal, taken, before);
                    return Ok(page.spent(&ordered.reader, started).cut(next));
                }
                if flow == Flow::Enough {
                    return Ok(page.spent(&ordered.reader, started).end(Vec::new()));
                }
                resume = Resume { partly: resume.partly, ..Resume::behind(candidate.place, execution.progress()) };
            }
            if self.is_over(started) {
                return Ok(page.spent(&ordered.reader, started).cut(resume));
            }
            ordered.compete().await?;
            tokio::task::yield_now().await;
        }
        Ok(page.spent(&ordered.reader, started).end(execution.finish()?))
    }

    async fn open_ordered(&self, place: Option<Place>, progress: Progress) -> Result<Ordered<'r, S>, PageError> {
        let AccessPath::Ordered { order, lookup } = self.path else {
            unreachable!("only an ordered path is opened so")
        };
        let absent = order.absentees().map(|_| self.absent.clone().unwrap_or(Absent::Many));
        let (scope, wanted) = (&self.request.scope, self.wanted(progress));
        Ordered::open(self.reader(), Ordering { order, scope, lookup, absent, place, wanted }).await
    }

    async fn gather(&self) -> Result<QueryPage, PageError> {
        let started = (self.request.elapsed)();
        let mut page = PageBuilder::new(self.request.limit);
        let statistics = self.view.statistics(self.request).await?;
        let options = ExecutionOptions { statistics, ..self.options() };
        let mut execution = Execution::new(self.request.query, options);
        let reader = self.run(&mut execution).await?;
        let mut rows = execution.take_rows();
        rows.extend(execution.finish()?);
        let given = self.request.resume.given;
        let rest = rows.into_iter().skip(given as usize).collect();
        let taken = page.push(rest, 0);
        let page = page.spent(&reader, started);
        Ok(match taken {
            Some(taken) => page.cut(Resume { given: given + taken, ..Resume::default() }),
            None => page.end(Vec::new()),
        })
    }

    async fn part(&self) -> Result<QueryPart, PageError> {
        let started = (self.request.elapsed)();
        let statistics = self.view.statistics(self.request).await?;
        let options = ExecutionOptions { output: Output::Partial, statistics, ..self.options() };
        let in_order = matches!(self.path, AccessPath::Ordered { .. });
        let input = if in_order { Input::Ordered } else { Input::Unordered };
        let mut execution = Execution::new(self.request.query, ExecutionOptions { input, ..options });
        let mut rows = Vec::new();
        let reader = if in_order {
            let mut ordered = self.open_ordered(None, Progress::default()).await?;
            'all: while let Some(chunk) = ordered.next().await? {
                for candidate in chunk {
                    if execution.push(candidate.record.document.root(), candidate.ordinal)? == Flow::Enough {
                        break 'all;
                    }
                }
                rows.extend(execution.take_rows());
                ordered.compete().await?;
                tokio::task::yield_now().await;
            }
            ordered.reader
        } else {
            self.run(&mut execution).await?
        };
        rows.extend(execution.take_rows());
        let (rest, groups) = execution.finish_partial()?;
        rows.extend(rest);
        Ok(QueryPart { rows, groups, cost: Cost::of(&reader.spent, (self.request.elapsed)() - started) })
    }

    /// Pushes every candidate, until the query has enough; or only their number, if that is all it wants.
    async fn run(&self, execution: &mut Execution<'_>) -> Result<Reader<'r, S>, PageError> {
        let mut reader = self.reader();
        let lookup = match self.path {
            AccessPath::Nothing => return Ok(reader),
            _ if !self.request.query.reads_documents() => return Ok(reader),
            AccessPath::Count(lookup) => {
                if let Some(documents) = count::count(&mut reader, &self.request.scope, lookup, self.schema).await? {
                    execution.push_count(documents);
                    return Ok(reader);
                }
                lookup
            }
            AccessPath::Documents { lookup, .. } | AccessPath::Ordered { lookup, .. } => lookup,
        };
        let mut documents = Documents::open(reader, &self.request.scope, lookup, None, Demand::Everything).await?;
        while let Some(chunk) = documents.next().await? {
            for (ordinal, record) in &chunk {
                if execution.push(record.document.root(), *ordinal)? == Flow::Enough {
                    return Ok(documents.reader);
                }
            }
            tokio::task::yield_now().await;
        }
        Ok(documents.reader)
    }
}

impl<S: Snapshot> View<S> {
    /// What full-text scores of this scope are relative to.
    pub async fn statistics(&self, request: &QueryRequest<'_>) -> Result<Vec<Statistics>, PageError> {
        if let Some(statistics) = &request.statistics {
            return Ok(statistics.clone());
        }
        let mut pass = StatisticsPass::new(request.query);
        if request.query.needs_statistics() {
            let reader = Reader::new(self, request.elapsed);
            let everything = &Lookup::EVERYTHING;
            let mut documents = Documents::open(reader, &request.scope, everything, None, Demand::Everything).await?;
            while let Some(chunk) = documents.next().await? {
                for (_, record) in &chunk {
                    pass.push(record.document.root())?;
                }
                tokio::task::yield_now().await;
            }
        }
        Ok(pass.finish())
    }
}
