//! From what the index is asked to where candidates come from.
//!
//! Nothing is known of how many documents have a value, so it is found out by looking: the first rows of a term or range
//! are read, and mostly that is all of them. What turns out larger is followed (rows of one term are in `_rid` order),
//! taken apart into its few values, or left to a [`Collector`].

use super::collector::Collector;
use super::lookup::{LookupNode, PathValues};
use super::reader::Reader;
use super::sized;
use super::source::Source;
use super::values::Span;
use crate::error::ReadError;
use crate::index::PathCode;
use crate::layout::Key;
use bytes::Bytes;
use std::future::Future;
use std::pin::Pin;
use tesela_query::access::PathStep;
use tesela_store::{Direction, KeyRange, Snapshot};

/// Rows of a term read before it is followed instead. Ours.
const TERM_PROBE_ROWS: usize = sized(64, 3);
/// Rows of a range read before it counts as large. Ours: about what as many documents cost to look at.
const RANGE_PROBE_ROWS: usize = sized(256, 5);
/// Values of a large range that are followed one by one. Ours: each costs a seek.
const RANGE_VALUES_MAX: usize = sized(32, 4);
/// With so few candidates from one condition, it costs less to load them than to ask for others.
pub(super) const FEW: usize = sized(64, 2);

/// Where the documents are that fulfil all of several conditions.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// Each holds them all, in `_rid` order.
    pub narrow: Vec<Source>,
    /// Each holds them all, but must be gathered first.
    pub wide: Vec<Collector>,
}

impl Opened {
    fn has_few(&self) -> bool {
        self.narrow.iter().filter_map(Source::known_len).any(|len| len <= FEW)
    }

    /// The documents all narrow conditions agree on; `None` when there is no such condition.
    pub fn join_narrow(narrow: Vec<Source>) -> Option<Source> {
        let (mut lists, others): (Vec<Source>, Vec<Source>) =
            narrow.into_iter().partition(|source| source.known_len().is_some());
        lists.sort_by_key(Source::known_len);
        if lists.first().and_then(Source::known_len).is_some_and(|len| len <= FEW) {
            return lists.into_iter().next();
        }
        lists.extend(others);
        if lists.len() > 1 { Some(Source::Both(lists)) } else { lists.pop() }
    }

    fn into_collector(mut self) -> Option<Collector> {
        match Self::join_narrow(std::mem::take(&mut self.narrow)) {
            Some(source) => Some(Collector::of_source(source)),
            None => self.wide.pop(),
        }
    }
}

/// Looks up what every document must fulfil.
pub(super) fn open<'f, S: Snapshot>(
    conjuncts: &'f [LookupNode],
    reader: &'f mut Reader<'_, S>,
) -> Pin<Box<dyn Future<Output = Result<Opened, ReadError>> + Send + 'f>> {
    // Boxed: conditions are nested.
    Box::pin(async move {
        let mut opened = Opened::default();
        let mut order: Vec<&LookupNode> = conjuncts.iter().collect();
        order.sort_by_key(|node| promise(node));
        for node in order {
            if opened.has_few() {
                break;
            }
            match node {
                LookupNode::Everything => {}
                LookupNode::Nothing => opened.narrow.push(Source::list(Vec::new())),
                LookupNode::Values(values) => open_values(values, reader, &mut opened).await?,
                LookupNode::Both(parts) => {
                    let inner = open(parts, reader).await?;
                    opened.narrow.extend(inner.narrow);
                    opened.wide.extend(inner.wide);
                }
                LookupNode::Either(parts) => open_either(parts, reader, &mut opened).await?,
            }
        }
        Ok(opened)
    })
}

/// What to look up first: ids are next to unique, single values mostly have fewer documents than ranges.
fn promise(node: &LookupNode) -> u8 {
    match node {
        LookupNode::Nothing => 0,
        LookupNode::Values(values) if values.path == [PathStep::Name("id".to_owned())] => 1,
        LookupNode::Values(values) if values.values.spans.iter().all(|span| span.one) => 2,
        LookupNode::Both(_) => 3,
        LookupNode::Either(_) => 4,
        LookupNode::Values(_) => 5,
        LookupNode::Everything => 6,
    }
}

async fn open_either<S: Snapshot>(
    parts: &[LookupNode],
    reader: &mut Reader<'_, S>,
    into: &mut Opened,
) -> Result<(), ReadError> {
    let mut sources = Vec::with_capacity(parts.len());
    let mut collector: Option<Collector> = None;
    for part in parts {
        let mut branch = open(std::slice::from_ref(part), reader).await?;
        match Opened::join_narrow(std::mem::take(&mut branch.narrow)) {
            Some(source) => sources.push(source),
            None => match (branch.into_collector(), &mut collector) {
                (Some(branch), Some(collector)) => collector.join(branch),
                (Some(branch), none) => *none = Some(branch),
                // A branch that says nothing of its documents makes the whole say nothing.
                (None, _) => return Ok(()),
            },
        }
    }
    match collector {
        None => into.narrow.push(Source::either(sources)),
        Some(mut collector) => {
            sources.into_iter().for_each(|source| collector.join(Collector::of_source(source)));
            into.wide.push(collector);
        }
    }
    Ok(())
}

async fn open_values<S: Snapshot>(
    PathValues { path, values, .. }: &PathValues,
    reader: &mut Reader<'_, S>,
    into: &mut Opened,
) -> Result<(), ReadError> {
    let path = PathCode::of_steps(path).terms_prefix();
    let mut sources = Vec::with_capacity(values.spans.len());
    let mut listed = Vec::new();
    let mut large: Vec<KeyRange> = Vec::new();
    for span in &values.spans {
        match open_span(&path, span, reader).await? {
            SpanRows::Listed(ordinals) => listed.extend(ordinals),
            SpanRows::Followed(postings) => sources.extend(postings),
            SpanRows::Large(range) => large.push(range),
        }
    }
    if large.is_empty() {
        sources.push(Source::list(listed));
        into.narrow.push(Source::either(sources));
    } else {
        let mut collector = Collector::new(large, listed);
        sources.into_iter().for_each(|source| collector.join(Collector::of_source(source)));
        into.wide.push(collector);
    }
    Ok(())
}

/// What a span turned out to be.
enum SpanRows {
    Listed(Vec<u64>),
    Followed(Vec<Source>),
    Large(KeyRange),
}

async fn open_span<S: Snapshot>(path: &[u8], span: &Span, reader: &mut Reader<'_, S>) -> Result<SpanRows, ReadError> {
    let whole = span_range(path, span);
    let probe = if span.one { TERM_PROBE_ROWS } else { RANGE_PROBE_ROWS };
    let (keys, rest) = reader.keys(whole.clone(), Direction::Forward, probe).await?;
    let Some(rest) = rest else {
        let ordinals = keys.iter().map(|key| Key::trailing_ordinal(key).map(|ordinal| ordinal.0));
        return Ok(SpanRows::Listed(ordinals.collect::<Result<_, _>>()?));
    };
    if span.one {
        let term = keys.first().map(|key| Key::term_of(key)).unwrap_or_default();
        return Ok(SpanRows::Followed(vec![Source::postings(Key::terms(term).start)]));
    }
    match few_values(&keys, rest, reader).await? {
        Some(terms) => {
            Ok(SpanRows::Followed(terms.iter().map(|term| Source::postings(Key::terms(term).start)).collect()))
        }
        None => Ok(SpanRows::Large(whole)),
    }
}

/// The terms of a range whose first rows are known, if they are few: the rows of each are skipped over.
async fn few_values<S: Snapshot>(
    keys: &[Bytes],
    rest: KeyRange,
    reader: &mut Reader<'_, S>,
) -> Result<Option<Vec<Vec<u8>>>, ReadError> {
    let mut terms: Vec<Vec<u8>> = Vec::new();
    for key in keys {
        let term = Key::term_of(key);
        if terms.last().is_none_or(|last| last != term) {
            terms.push(term.to_vec());
            if terms.len() > RANGE_VALUES_MAX / 2 {
                // With so many values in the first rows there are many more in all.
                return Ok(None);
            }
        }
    }
    loop {
        let Some(last) = terms.last() else { return Ok(None) };
        let behind = Key::terms(last).end;
        let range = KeyRange { start: behind.unwrap_or_default().max(rest.start.clone()), end: rest.end.clone() };
        let (keys, _) = reader.keys(range, Direction::Forward, 1).await?;
        match keys.first() {
            None => return Ok(Some(terms)),
            Some(_) if terms.len() >= RANGE_VALUES_MAX => return Ok(None),
            Some(key) => terms.push(Key::term_of(key).to_vec()),
        }
    }
}

/// The rows of a span of a path.
pub(super) fn span_range(path: &[u8], span: &Span) -> KeyRange {
    Key::terms_between(&[path, &span.low].concat(), &[path, &span.high].concat())
}
