//! Queries of scripts: over the documents of one logical partition, as the script sees them.
//!
//! Candidates are all documents of the logical partition in `_rid` order; the index is not asked, since it knows nothing
//! of what the script has written. A query that answers as it goes is resumed behind the last document it consumed, one
//! that must see everything first is run again and its rows are counted.

use super::{BoundQuery, ScriptTransaction, refusal};
use crate::charge::{self, QueryFacts};
use crate::query::PageError;
use crate::read::{FeedScope, PageLimit, View};
use tesela_model::rid::DocumentOrdinal;
use tesela_query::full_text::Statistics;
use tesela_query::{Execution, ExecutionOptions, Flow, Progress, Row, StatisticsPass};
use tesela_script::{OpError, Page};
use tesela_store::{Snapshot, Store, block_on};

/// Documents fetched at a time.
const FETCH: PageLimit = PageLimit { items: 256, bytes: 1 << 20 };

/// Where a query goes on; the beginning by default. Its text is what a script carries from page to page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Resume {
    /// Documents up to this one have been consumed.
    after: u64,
    /// Rows given: of the next document or, when the query must see everything first, in all.
    given: u64,
    progress: Progress,
}

impl Resume {
    fn to_text(self) -> String {
        let Self { after, given, progress: Progress { skipped, emitted } } = self;
        format!("{after}.{given}.{skipped}.{emitted}")
    }

    fn parse(text: &str) -> Option<Self> {
        let numbers: Result<Vec<u64>, _> = text.split('.').map(str::parse).collect();
        match numbers.ok()?[..] {
            [after, given, skipped, emitted] => Some(Self { after, given, progress: Progress { skipped, emitted } }),
            _ => None,
        }
    }

    fn after(self) -> Option<DocumentOrdinal> {
        (self.after != 0).then_some(DocumentOrdinal(self.after))
    }
}

impl<S: Store> ScriptTransaction<S> {
    pub(super) fn run_query(
        &mut self,
        bound: &BoundQuery,
        limit: PageLimit,
        continuation: Option<&str>,
    ) -> Result<Page, OpError> {
        let resume = match continuation {
            None => Resume::default(),
            Some(text) => Resume::parse(text).ok_or_else(refusal::foreign_continuation)?,
        };
        let options = ExecutionOptions {
            now_ticks: self.env.now().unix_micros() as i64 * 10,
            seed: self.env.random(),
            functions: &*bound.functions,
            ..ExecutionOptions::default()
        };
        let view = self.view();
        let documents = Documents { view: &view, scope: FeedScope::Logical(self.key.epk.clone()) };
        let page = Builder { limit, rows: Vec::new(), bytes: 0, facts: QueryFacts::default() };
        let streaming = bound.query.is_streaming() && bound.query.reads_documents();
        let ended = block_on(async {
            match streaming {
                true => documents.stream(bound, options, resume, page).await,
                false => documents.gather(bound, options, resume, page).await,
            }
        });
        let (page, next) = ended.map_err(refusal::of_page)?;
        self.charge_ru += charge::query(&page.facts);
        let rows =
            super::collection::array(page.rows.iter().map(|row| std::str::from_utf8(row).expect("rows are JSON")));
        Ok(Page { rows, continuation: next.map(Resume::to_text) })
    }
}

/// What a query is about.
struct Documents<'a, T: Snapshot> {
    view: &'a View<T>,
    scope: FeedScope,
}

type Ended = Result<(Builder, Option<Resume>), PageError>;

impl<T: Snapshot> Documents<'_, T> {
    async fn stream(
        &self,
        bound: &BoundQuery,
        options: ExecutionOptions<'_>,
        mut resume: Resume,
        mut page: Builder,
    ) -> Ended {
        let mut execution = Execution::new(&bound.query, ExecutionOptions { resume: resume.progress, ..options });
        loop {
            let fetched = self.view.feed(&self.scope, resume.after(), FETCH).await?;
            for (ordinal, record) in &fetched.records {
                page.facts.loaded_bytes += record.document.text().len() as u64;
                let before = execution.progress();
                let flow = execution.push(record.document.root(), ordinal.0)?;
                if let Some(given) = page.push(execution.take_rows(), resume.given) {
                    // The page is full inside this document: come back to it.
                    return Ok((page, Some(Resume { given, progress: before, ..resume })));
                }
                if flow == Flow::Enough {
                    return Ok((page, None));
                }
                resume = Resume { after: ordinal.0, given: 0, progress: execution.progress() };
            }
            if fetched.next.is_none() {
                page.push(execution.finish()?, 0);
                return Ok((page, None));
            }
        }
    }

    async fn gather(
        &self,
        bound: &BoundQuery,
        options: ExecutionOptions<'_>,
        resume: Resume,
        mut page: Builder,
    ) -> Ended {
        let statistics = self.statistics(bound).await?;
        let mut execution = Execution::new(&bound.query, ExecutionOptions { statistics, ..options });
        let mut after = None;
        while bound.query.reads_documents() {
            let fetched = self.view.feed(&self.scope, after, FETCH).await?;
            for (ordinal, record) in &fetched.records {
                page.facts.loaded_bytes += record.document.text().len() as u64;
                execution.push(record.document.root(), ordinal.0)?;
            }
            after = fetched.next;
            if after.is_none() {
                break;
            }
        }
        let mut rows = execution.take_rows();
        rows.extend(execution.finish()?);
        let given = page.push(rows, resume.given);
        Ok((page, given.map(|given| Resume { given, ..Resume::default() })))
    }

    /// What full-text scores are relative to.
    async fn statistics(&self, bound: &BoundQuery) -> Result<Vec<Statistics>, PageError> {
        let mut pass = StatisticsPass::new(&bound.query);
        let mut after = None;
        while bound.query.needs_statistics() {
            let fetched = self.view.feed(&self.scope, after, FETCH).await?;
            for (_, record) in &fetched.records {
                pass.push(record.document.root())?;
            }
            after = fetched.next;
            if after.is_none() {
                break;
            }
        }
        Ok(pass.finish())
    }
}

/// Fills a page with rows up to its limit; it holds at least one row, however large.
struct Builder {
    limit: PageLimit,
    rows: Vec<Vec<u8>>,
    bytes: usize,
    facts: QueryFacts,
}

impl Builder {
    /// Takes rows behind the first `skip`. `Some` when not all fitted: how many of them have been given by now.
    fn push(&mut self, rows: Vec<Row>, skip: u64) -> Option<u64> {
        for (index, row) in rows.into_iter().enumerate().skip(skip as usize) {
            let full = self.rows.len() >= self.limit.items || self.bytes + row.json.len() > self.limit.bytes;
            if full && !self.rows.is_empty() {
                return Some(index as u64);
            }
            self.bytes += row.json.len();
            self.facts.output_bytes += row.json.len() as u64;
            self.rows.push(row.json);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuations_read_back_and_others_do_not() {
        let resume = Resume { after: u64::MAX, given: 2, progress: Progress { skipped: 3, emitted: 4 } };
        assert_eq!(Resume::parse(&resume.to_text()), Some(resume));
        for foreign in ["", "1.2.3", "1.2.3.4.5", "a.b.c.d", "-1.0.0.0", "1.2.3.99999999999999999999"] {
            assert_eq!(Resume::parse(foreign), None, "{foreign}");
        }
    }
}
