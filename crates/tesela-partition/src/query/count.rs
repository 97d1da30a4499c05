//! Counting documents without reading them.
//!
//! When the index says exactly which documents a filter lets through, their rows can be counted instead. Two kinds of
//! documents are in the way: those whose time has run out but that have not been removed yet still have rows, and those
//! kept out of the index have none. The first are found (by their own expiry, or by the age at which the container lets
//! documents go) and left out of the count; when there are some of the second, or too many of the first, the documents
//! must be read after all.

use super::collector::{Collected, Collector};
use super::lookup::{Lookup, LookupNode, PathValues};
use super::open::span_range;
use super::reader::Reader;
use super::sized;
use super::source::Source;
use super::values::Values;
use crate::error::ReadError;
use crate::index::{IndexSchema, PathCode};
use crate::layout::Key;
use crate::read::FeedScope;
use std::future::Future;
use std::ops::Bound;
use std::pin::Pin;
use tesela_model::container::DefaultTtl;
use tesela_model::json::Value;
use tesela_model::rid::DocumentOrdinal;
use tesela_query::access::{PathStep, Test};
use tesela_store::{KeyRange, Snapshot};

/// Documents a count looks at to leave those out that have expired. Ours: they are removed in the background.
const EXPIRED_MAX: usize = 4096;
/// Rows of ranges a count gathers before it gives up. Ours: 32 MB of ordinals.
const GATHERED_MAX: usize = 4 * 1024 * 1024;
/// Rows read at a time.
const STEP_ROWS: usize = sized(4096, 7);
/// Documents counted between two chances for other requests on this thread.
const STEP_DOCUMENTS: usize = sized(1024, 5);

/// How many documents of the scope an exact lookup names; `None` when they must be read to be counted.
pub(super) async fn count<S: Snapshot>(
    reader: &mut Reader<'_, S>,
    scope: &FeedScope,
    lookup: &Lookup,
    schema: &IndexSchema,
) -> Result<Option<u64>, ReadError> {
    let Some(expired) = expired(reader, schema).await? else { return Ok(None) };
    if lookup.node == LookupNode::Everything {
        return count_scope(reader, scope, &expired).await.map(Some);
    }
    if reader.kept_out().await?.is_none_or(|documents| !documents.is_empty()) {
        return Ok(None);
    }
    match (&lookup.node, scope) {
        // A path without arrays has at most one row for each document.
        (LookupNode::Values(values), FeedScope::All) if !values.path.contains(&PathStep::Each) => {
            count_rows(reader, ranges(values), &expired).await.map(Some)
        }
        (node, scope) => {
            let Some(source) = exact_source(node, reader).await? else { return Ok(None) };
            let source = match scope {
                FeedScope::All => source,
                FeedScope::Logical(epk) => Source::Both(vec![source, Source::postings(Key::members(epk, None).start)]),
                FeedScope::Range(range) => {
                    let members = vec![Key::members_between(range.min(), range.max())];
                    let Some(members) = gather(members, reader).await? else { return Ok(None) };
                    Source::Both(vec![source, members])
                }
            };
            count_source(reader, source, &expired).await.map(Some)
        }
    }
}

/// Documents that count as deleted but still have rows, ascending; `None` when that takes too many looks.
async fn expired<S: Snapshot>(reader: &mut Reader<'_, S>, schema: &IndexSchema) -> Result<Option<Vec<u64>>, ReadError> {
    let (now, ttl) = (reader.view.now, reader.view.ttl);
    let mut suspects = Vec::new();
    if ttl.is_some() {
        let (own, rest) = reader.ordinals(Key::expired(now), EXPIRED_MAX).await?;
        suspects.extend(own);
        if rest.is_some() {
            return Ok(None);
        }
    }
    if let Some(DefaultTtl::Seconds(seconds)) = ttl {
        let written = vec![PathStep::Name("_ts".to_owned())];
        if !schema.serves(&written) {
            return Ok(None);
        }
        // Documents kept out of the index have no row that tells their age.
        let Some(kept_out) = reader.kept_out().await? else { return Ok(None) };
        suspects.extend(kept_out);
        let oldest = Value::from(now.saturating_sub(u64::from(seconds)));
        let old = Test::Range { low: Bound::Unbounded, high: Bound::Included(oldest) };
        let spans = Values::admitted_by(&old).map(|values| values.spans).unwrap_or_default();
        let path = PathCode::of_steps(&written).terms_prefix();
        for span in &spans {
            let (old, rest) = reader.ordinals(span_range(&path, span), EXPIRED_MAX).await?;
            suspects.extend(old);
            if rest.is_some() {
                return Ok(None);
            }
        }
    }
    suspects.sort_unstable();
    suspects.dedup();
    let live: Vec<u64> = reader.documents(&suspects).await?.into_iter().map(|(ordinal, _)| ordinal).collect();
    suspects.retain(|ordinal| live.binary_search(ordinal).is_err());
    Ok(Some(suspects))
}

/// All documents of a scope, by what is counted already.
async fn count_scope<S: Snapshot>(
    reader: &mut Reader<'_, S>,
    scope: &FeedScope,
    expired: &[u64],
) -> Result<u64, ReadError> {
    match scope {
        FeedScope::All => Ok(reader.counters().await?.documents.saturating_sub(expired.len() as u64)),
        FeedScope::Logical(epk) => {
            let mut documents = reader.logical(epk).await?.documents;
            for ordinal in expired {
                let member = Key::member(epk, DocumentOrdinal(*ordinal));
                let is_member = reader.view.snapshot.get(reader.view.space, &member).await?.is_some();
                documents -= u64::from(is_member);
            }
            Ok(documents)
        }
        FeedScope::Range(range) => {
            count_rows(reader, vec![Key::members_between(range.min(), range.max())], expired).await
        }
    }
}

/// Rows, each of another document.
async fn count_rows<S: Snapshot>(
    reader: &mut Reader<'_, S>,
    mut ranges: Vec<KeyRange>,
    expired: &[u64],
) -> Result<u64, ReadError> {
    let mut count = 0;
    while let Some(range) = ranges.pop() {
        let (ordinals, rest) = reader.ordinals(range, STEP_ROWS).await?;
        count += ordinals.iter().filter(|ordinal| expired.binary_search(ordinal).is_err()).count() as u64;
        ranges.extend(rest);
        tokio::task::yield_now().await;
    }
    Ok(count)
}

async fn count_source<S: Snapshot>(
    reader: &mut Reader<'_, S>,
    mut source: Source,
    expired: &[u64],
) -> Result<u64, ReadError> {
    let mut count = 0;
    let mut after = None;
    loop {
        let ordinals = source.next(reader, after, STEP_DOCUMENTS).await?;
        count += ordinals.iter().filter(|ordinal| expired.binary_search(ordinal).is_err()).count() as u64;
        if ordinals.len() < STEP_DOCUMENTS {
            return Ok(count);
        }
        after = ordinals.last().copied();
        tokio::task::yield_now().await;
    }
}

fn ranges(PathValues { path, values, .. }: &PathValues) -> Vec<KeyRange> {
    let path = PathCode::of_steps(path).terms_prefix();
    values.spans.iter().map(|span| span_range(&path, span)).collect()
}

async fn gather<S: Snapshot>(ranges: Vec<KeyRange>, reader: &mut Reader<'_, S>) -> Result<Option<Source>, ReadError> {
    let mut collector = Collector::new(ranges, Vec::new());
    loop {
        match collector.step(reader, STEP_ROWS, GATHERED_MAX).await? {
            Collected::More => tokio::task::yield_now().await,
            Collected::Done => return Ok(Some(collector.into_source())),
            Collected::TooMany => return Ok(None),
        }
    }
}

/// The documents a lookup names and no others; `None` when they are too many to gather.
fn exact_source<'f, S: Snapshot>(
    node: &'f LookupNode,
    reader: &'f mut Reader<'_, S>,
) -> Pin<Box<dyn Future<Output = Result<Option<Source>, ReadError>> + Send + 'f>> {
    // Boxed: conditions are nested.
    Box::pin(async move {
        match node {
            LookupNode::Everything => Ok(None),
            LookupNode::Nothing => Ok(Some(Source::list(Vec::new()))),
            LookupNode::Values(values) => {
                let path = PathCode::of_steps(&values.path).terms_prefix();
                let (one, many): (Vec<_>, Vec<_>) = values.values.spans.iter().partition(|span| span.one);
                let followed = one.into_iter().map(|span| span_range(&path, span));
                let mut sources: Vec<Source> = followed.map(|range| Source::postings(range.start)).collect();
                let ranges: Vec<KeyRange> = many.into_iter().map(|span| span_range(&path, span)).collect();
                if !ranges.is_empty() || sources.is_empty() {
                    let Some(gathered) = gather(ranges, reader).await? else { return Ok(None) };
                    sources.push(gathered);
                }
                Ok(Some(Source::either(sources)))
            }
            LookupNode::Both(parts) | LookupNode::Either(parts) => {
                let mut sources = Vec::with_capacity(parts.len());
                for part in parts {
                    let Some(source) = exact_source(part, reader).await? else { return Ok(None) };
                    sources.push(source);
                }
                let both = matches!(node, LookupNode::Both(_));
                Ok(Some(if both { Source::Both(sources) } else { Source::either(sources) }))
            }
        }
    })
}
