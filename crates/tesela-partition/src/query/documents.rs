//! The documents a query must look at, in `_rid` order.
//!
//! They come from a *base* — all documents of the scope, or those the index names — and what the base gives may still
//! be too much: whoever takes them runs the query over each.
//!
//! A large range of values is worth the index only if it holds few documents, which nobody knows beforehand. So the two
//! ways race: while documents are looked at in turn, the range is gathered ([`Collector`]) in alternate steps of about
//! the same cost. If the page is full first, the gathering was in vain; if the range is through first, the rest of the
//! page comes from what it holds. Either way the cost is at most about twice that of the better way. A query that must
//! see everything anyhow gathers first, up to a fraction of all documents.

use super::collector::{Collected, Collector};
use super::lookup::Lookup;
use super::open::{FEW, Opened, open};
use super::reader::{Numbered, Reader};
use super::sized;
use super::source::Source;
use crate::error::ReadError;
use crate::layout::Key;
use crate::read::FeedScope;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::{Direction, KeyRange, Snapshot};

/// Documents fetched at first, and at most, at a time. Ours: few results should cost little, many should not cost a
/// scan each.
const CHUNK_MIN: usize = sized(32, 2);
const CHUNK_MAX: usize = sized(256, 8);
/// Index rows gathered against each chunk of documents while the two race.
const RACE_ROWS: usize = sized(1024, 6);
const RACE_CHUNK: usize = sized(128, 3);
/// A range that holds more than one document in so many is not worth gathering: looking at all of them in turn is
/// cheaper than fetching these one by one.
const WORTHWHILE: u64 = 4;
/// Ranges up to here are gathered whatever their part of all documents.
const ALWAYS_WORTHWHILE: u64 = sized(4096, 6) as u64;

/// How much of the answer the query needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// Until a page is full.
    Page,
    /// All of it.
    Everything,
}

/// See the module.
pub(super) struct Documents<'a, S: Snapshot> {
    pub reader: Reader<'a, S>,
    scope: &'a FeedScope,
    base: Base,
    contenders: Vec<Collector>,
    /// What a contender may gather.
    most: usize,
    after: Option<u64>,
    chunk: usize,
}

#[derive(Debug)]
enum Base {
    /// All documents of the partition.
    Scan,
    Source(Source),
    Ended,
}

impl<'a, S: Snapshot> Documents<'a, S> {
    /// Looks up what the index says, behind a document where an earlier page ended.
    pub async fn open(
        mut reader: Reader<'a, S>,
        scope: &'a FeedScope,
        lookup: &Lookup,
        after: Option<u64>,
        demand: Demand,
    ) -> Result<Self, ReadError> {
        let all = reader.counters().await?.documents;
        let most = (all / WORTHWHILE).max(ALWAYS_WORTHWHILE) as usize;
        let mut opened = if lookup.conjuncts().is_empty() {
            Opened::default()
        } else {
            open_with_kept_out(lookup, &mut reader).await?
        };
        let base = base_of(scope, &mut opened, &mut reader, most).await?;
        let mut documents = Self { reader, scope, base, contenders: opened.wide, most, after, chunk: CHUNK_MIN };
        if documents.is_small() {
            documents.contenders.clear();
        }
        if demand == Demand::Everything {
            while !documents.contenders.is_empty() {
                documents.gather().await?;
            }
        }
        Ok(documents)
    }

    /// Whether what the base holds is so little that nothing can be won any more.
    fn is_small(&self) -> bool {
        matches!(&self.base, Base::Source(source) if source.known_len().is_some_and(|len| len <= FEW))
    }

    /// The next documents; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<Numbered>>, ReadError> {
        loop {
            let chunk = if self.contenders.is_empty() { self.chunk } else { self.chunk.min(RACE_CHUNK) };
            self.chunk = (2 * self.chunk).min(CHUNK_MAX);
            let mut documents = self.advance(chunk).await?;
            documents.retain(|(_, record)| self.scope.contains(&record.epk));
            if !documents.is_empty() {
                return Ok(Some(documents));
            }
            if matches!(self.base, Base::Ended) {
                return Ok(None);
            }
            tokio::task::yield_now().await;
        }
    }

    /// The caller wants more than one chunk: give the contenders their turn.
    pub async fn compete(&mut self) -> Result<(), ReadError> {
        if self.contenders.is_empty() { Ok(()) } else { self.gather().await }
    }

    async fn advance(&mut self, chunk: usize) -> Result<Vec<Numbered>, ReadError> {
        match &mut self.base {
            Base::Ended => Ok(Vec::new()),
            Base::Scan => {
                let range = documents_behind(self.after);
                let (documents, rest) = self.reader.scan_documents(range, Direction::Forward, chunk).await?;
                match rest {
                    // Up to the last row read, which may be of an expired document.
                    Some(rest) => self.after = Some(Key::document_ordinal(&rest.start)?.0),
                    None => self.base = Base::Ended,
                }
                Ok(documents)
            }
            Base::Source(source) => {
                let ordinals = source.next(&mut self.reader, self.after, chunk).await?;
                if ordinals.len() < chunk {
                    self.base = Base::Ended;
                }
                self.after = ordinals.last().copied().or(self.after);
                self.reader.documents(&ordinals).await
            }
        }
    }

    async fn gather(&mut self) -> Result<(), ReadError> {
        let mut at = 0;
        while at < self.contenders.len() {
            match self.contenders[at].step(&mut self.reader, RACE_ROWS, self.most).await? {
                Collected::More => at += 1,
                Collected::TooMany => drop(self.contenders.swap_remove(at)),
                Collected::Done => {
                    let found = self.contenders.swap_remove(at).into_source();
                    self.contenders.clear();
                    self.base = match std::mem::replace(&mut self.base, Base::Ended) {
                        Base::Ended => Base::Ended,
                        Base::Scan => Base::Source(found),
                        Base::Source(source) => {
                            Opened::join_narrow(vec![found, source]).map_or(Base::Ended, Base::Source)
                        }
                    };
                }
            }
        }
        tokio::task::yield_now().await;
        Ok(())
    }
}

fn documents_behind(after: Option<u64>) -> KeyRange {
    after.map_or_else(Key::documents, |after| Key::documents_after(DocumentOrdinal(after)))
}

/// What the index names, and the documents it does not know.
pub(super) async fn open_with_kept_out<S: Snapshot>(
    lookup: &Lookup,
    reader: &mut Reader<'_, S>,
) -> Result<Opened, ReadError> {
    let Some(kept_out) = reader.kept_out().await? else { return Ok(Opened::default()) };
    let mut opened = open(lookup.conjuncts(), reader).await?;
    if !kept_out.is_empty() {
        let with_kept_out = |source: Source| Source::either(vec![source, Source::list(kept_out.clone())]);
        opened.narrow = opened.narrow.into_iter().map(with_kept_out).collect();
        opened.wide.iter_mut().for_each(|collector| collector.add(&kept_out));
    }
    Ok(opened)
}

/// Adds the scope to what narrows the documents down.
async fn base_of<S: Snapshot>(
    scope: &FeedScope,
    opened: &mut Opened,
    reader: &mut Reader<'_, S>,
    most: usize,
) -> Result<Base, ReadError> {
    let mut narrow = std::mem::take(&mut opened.narrow);
    let has_few = narrow.iter().filter_map(Source::known_len).any(|len| len <= FEW);
    match scope {
        FeedScope::Logical(epk) if !has_few => narrow.push(Source::postings(Key::members(epk, None).start)),
        FeedScope::Range(range) if !has_few => {
            // In order of the hash: worth gathering unless they are a large part of the partition.
            let mut members = Collector::new(vec![Key::members_between(range.min(), range.max())], Vec::new());
            if members.step(reader, usize::MAX, most).await? == Collected::Done {
                narrow.push(members.into_source());
            }
        }
        FeedScope::All | FeedScope::Logical(_) | FeedScope::Range(_) => {}
    }
    Ok(Opened::join_narrow(narrow).map_or(Base::Scan, Base::Source))
}
