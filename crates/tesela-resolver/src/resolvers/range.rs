//! Range resolver (R29): ranges of any ordered type → collections.
//!
//! Ends are closed, open or absent. Ranges must not overlap — a key would have two homes — and a map that
//! does is refused with both ranges named. Gaps are allowed, for a map may be partial on purpose (a chain can
//! catch the rest), and told by [`diagnose`]; a key in a gap is an error on create and an empty set on read.
//!
//! [`KeyOrder::Time`] compares moments rather than their spellings: `2018-08-09T10:00+02:00` and
//! `2018-08-09T08:00Z` are one key, and numbers are seconds since 1970, as `_ts` is.
//!
//! Example: `[2018-01, 2018-02) → jan`, `[2018-02, 2018-03) → feb`; a read of `[2018-01-20, 2018-02-05]` visits both.
//!
//! Known limit: ends are dense. `[1, 10]` and `[11, 20]` are told to have the gap `(10, 11)`, which integers never use.

use tesela_model::json::Value;

use crate::error::{ConfigError, ResolveError};
use crate::extract::KeyExtractor;
use crate::key::{Cut, Key, KeyRange, ReadScope, Side};
use crate::limits::MAP_ENTRIES_MAX;
use crate::link::{CollectionLink, extend_distinct};
use crate::resolver::PartitionResolver;
use crate::timestamp::Timestamp;

/// How keys compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// By type, then value.
    Natural,
    /// As moments: text is ISO 8601, numbers are seconds since 1970.
    Time,
}

impl KeyOrder {
    fn normal(self, key: &Key) -> Option<Key> {
        match (self, key) {
            (Self::Natural, key) => Some(key.clone()),
            (Self::Time, Key::Time(time)) => Some(Key::Time(*time)),
            (Self::Time, Key::String(text)) => Timestamp::parse(text).map(Key::Time),
            (Self::Time, Key::Number(seconds)) => Timestamp::from_unix_f64(seconds.get()).map(Key::Time),
            (Self::Time, Key::Null | Key::Bool(_) | Key::Compound(_)) => None,
        }
    }

    /// The range with its ends as this order compares them; `Err` gives the end it cannot. Two ends that become
    /// equal can leave nothing between: `Ok(None)`.
    fn normal_range(self, range: &KeyRange) -> Result<Option<KeyRange>, Key> {
        let cut = |cut: &Cut| match cut {
            Cut::At(key, side) => self.normal(key).map(|key| Cut::At(key, *side)).ok_or_else(|| key.clone()),
            Cut::Start | Cut::End => Ok(cut.clone()),
        };
        Ok(KeyRange::between(cut(range.low_cut())?, cut(range.high_cut())?))
    }
}

/// A range and the collection of its keys.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeEntry {
    /// Which keys.
    pub range: KeyRange,
    /// Where their documents are.
    pub link: CollectionLink,
}

/// What [`diagnose`] tells of a set of ranges.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// No range holds these keys. Not told below the first range and above the last.
    Gap {
        /// The keys without a home.
        range: KeyRange,
    },
    /// Two ranges hold these keys.
    Overlap {
        /// The keys with two homes.
        range: KeyRange,
        /// The collection of the range that starts first.
        first: CollectionLink,
        /// The collection of the other.
        second: CollectionLink,
    },
}

/// All gaps and overlaps of a set of ranges, in order of their keys.
pub fn diagnose(entries: &[RangeEntry]) -> Vec<Finding> {
    let mut sorted: Vec<&RangeEntry> = entries.iter().collect();
    sorted.sort_by(|a, b| a.range.low_cut().cmp(b.range.low_cut()));
    let mut findings = Vec::new();
    // The entry that reaches highest so far: a wide range can overlap many later ones.
    let mut reach: Option<&RangeEntry> = None;
    for entry in sorted {
        if let Some(before) = reach {
            if let Some(range) = KeyRange::between(before.range.high_cut().clone(), entry.range.low_cut().clone()) {
                findings.push(Finding::Gap { range });
            } else if let Some(range) = before.range.intersection(&entry.range) {
                findings.push(Finding::Overlap { range, first: before.link.clone(), second: entry.link.clone() });
            }
        }
        if reach.is_none_or(|before| before.range.high_cut() < entry.range.high_cut()) {
            reach = Some(entry);
        }
    }
    findings
}

/// Places documents by ranges of their key.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeResolver {
    extractor: KeyExtractor,
    order: KeyOrder,
    /// Ascending and disjoint.
    entries: Vec<RangeEntry>,
}

impl RangeResolver {
    /// Refuses overlaps, and ends the order cannot compare.
    pub fn new(
        extractor: KeyExtractor,
        order: KeyOrder,
        entries: impl IntoIterator<Item = (KeyRange, impl Into<CollectionLink>)>,
    ) -> Result<Self, ConfigError> {
        let mut sorted = Vec::new();
        for (range, link) in entries {
            let normal = order.normal_range(&range).map_err(|key| ConfigError::RangeEndNotATime { key })?;
            // A range whose ends are one moment holds nothing: leaving it out changes no answer.
            sorted.extend(normal.map(|range| RangeEntry { range, link: link.into() }));
        }
        if sorted.is_empty() {
            return Err(ConfigError::NoCollections);
        }
        if sorted.len() > MAP_ENTRIES_MAX {
            return Err(ConfigError::TooManyEntries { found: sorted.len() });
        }
        sorted.sort_by(|a, b| a.range.low_cut().cmp(b.range.low_cut()));
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].range.high_cut() > pair[1].range.low_cut()) {
            let [first, second] = [&pair[0], &pair[1]].map(|entry| Box::new(entry.clone()));
            return Err(ConfigError::Overlap { first, second });
        }
        Ok(Self { extractor, order, entries: sorted })
    }

    /// How keys are found.
    pub fn extractor(&self) -> &KeyExtractor {
        &self.extractor
    }

    /// How keys compare.
    pub fn order(&self) -> KeyOrder {
        self.order
    }

    /// The ranges, ascending.
    pub fn entries(&self) -> &[RangeEntry] {
        &self.entries
    }

    /// The gaps between the ranges.
    pub fn gaps(&self) -> Vec<KeyRange> {
        let gap = |finding| match finding {
            Finding::Gap { range } => Some(range),
            Finding::Overlap { .. } => None,
        };
        diagnose(&self.entries).into_iter().filter_map(gap).collect()
    }

    /// Entries that a range touches: they are neighbours.
    fn touched(&self, range: &KeyRange) -> impl Iterator<Item = &RangeEntry> {
        let first = self.entries.partition_point(|entry| entry.range.high_cut() <= range.low_cut());
        self.entries[first..].iter().take_while(|entry| entry.range.low_cut() < range.high_cut())
    }

    fn entry_of(&self, key: &Key) -> Option<&RangeEntry> {
        let after = self.entries.partition_point(|entry| match entry.range.low_cut() {
            Cut::Start => true,
            Cut::At(low, Side::Before) => low <= key,
            Cut::At(low, Side::After) => low < key,
            Cut::End => false,
        });
        self.entries[..after].last().filter(|entry| entry.range.contains(key))
    }

    fn normal(&self, key: &Key) -> Result<Key, ResolveError> {
        self.order.normal(key).ok_or_else(|| ResolveError::NotATime { key: key.clone() })
    }
}

impl PartitionResolver for RangeResolver {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        self.normal(&self.extractor.extract(document)?)
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        let entry = self.entry_of(&self.normal(key)?);
        entry.map(|entry| entry.link.clone()).ok_or_else(|| ResolveError::NoRange { key: key.clone() })
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        let mut links = Vec::new();
        match scope {
            ReadScope::Key(key) => {
                links.extend(self.entry_of(&self.normal(key)?).map(|entry| entry.link.clone()));
            }
            ReadScope::Keys(keys) => {
                let keys: Vec<Key> = keys.iter().map(|key| self.normal(key)).collect::<Result<_, _>>()?;
                let entries = keys.iter().filter_map(|key| self.entry_of(key));
                extend_distinct(&mut links, entries.map(|entry| entry.link.clone()));
            }
            ReadScope::Range(range) => {
                let range = self.order.normal_range(range).map_err(|key| ResolveError::NotATime { key })?;
                let touched = range.iter().flat_map(|range| self.touched(range));
                extend_distinct(&mut links, touched.map(|entry| entry.link.clone()));
            }
            ReadScope::All | ReadScope::Within { .. } => {
                extend_distinct(&mut links, self.entries.iter().map(|entry| entry.link.clone()));
            }
        }
        Ok(links)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use super::*;

    fn names(links: Vec<CollectionLink>) -> String {
        links.iter().map(CollectionLink::as_str).collect::<Vec<_>>().join(" ")
    }

    fn half_open(low: &str, high: &str) -> KeyRange {
        KeyRange::half_open(low, high).unwrap()
    }

    fn months() -> RangeResolver {
        let extractor = KeyExtractor::path("/at").unwrap();
        let entries = [
            (half_open("2018-02", "2018-03"), "feb"),
            (half_open("2018-01", "2018-02"), "jan"),
            (half_open("2018-04", "2018-05"), "apr"),
        ];
        RangeResolver::new(extractor, KeyOrder::Time, entries).unwrap()
    }

    #[test]
    fn r29_a_value_or_any_range_is_read_where_it_intersects() {
        let months = months();
        let read = |scope: ReadScope| names(months.resolve_for_read(&scope).unwrap());
        assert_eq!(read("2018-01-31T23:59:59.999Z".into()), "jan");
        assert_eq!(read("2018-02-01T00:30:00+01:00".into()), "jan", "an offset is honoured");
        assert_eq!(read(1_519_000_000.into()), "feb", "numbers are seconds since 1970");
        assert_eq!(read(half_open("2018-01-20", "2018-02-05").into()), "jan feb");
        assert_eq!(read(half_open("2017", "2018-02").into()), "jan");
        assert_eq!(read(KeyRange::at_least("2018-03-10").into()), "apr");
        assert_eq!(read(half_open("2018-03-10", "2018-03-11").into()), "", "in the gap");
        assert_eq!(read(ReadScope::All), "jan feb apr");
        assert_eq!(read(ReadScope::Keys(vec!["2018-04-02".into(), "2018-01-02".into()])), "apr jan");
    }

    #[test]
    fn r29_keys_outside_every_range_are_named() {
        let months = months();
        let key = Key::from("2018-03-10");
        assert_eq!(months.resolve_for_create(&key), Err(ResolveError::NoRange { key }));
        let key = Key::from("soon");
        assert_eq!(months.resolve_for_create(&key), Err(ResolveError::NotATime { key }));
        assert_eq!(
            months.gaps(),
            [KeyRange::half_open(Timestamp::parse("2018-03").unwrap(), Timestamp::parse("2018-04").unwrap()).unwrap()]
        );
    }

    #[test]
    fn r29_strings_and_numbers_with_every_kind_of_end() {
        let extractor = || KeyExtractor::path("/k").unwrap();
        let letters = [
            (KeyRange::closed("A", "M\u{ffff}").unwrap(), "am"),
            (KeyRange::new(Bound::Excluded("M\u{ffff}".into()), Bound::Unbounded).unwrap(), "nz"),
        ];
        let letters = RangeResolver::new(extractor(), KeyOrder::Natural, letters).unwrap();
        assert_eq!(letters.resolve_for_create(&"Mozart".into()).unwrap().as_str(), "am");
        assert_eq!(letters.resolve_for_create(&"Nielsen".into()).unwrap().as_str(), "nz");
        assert!(letters.gaps().is_empty());
        let numbers = [(KeyRange::below(0), "negative"), (KeyRange::at_least(0), "positive")];
        let numbers = RangeResolver::new(extractor(), KeyOrder::Natural, numbers).unwrap();
        assert_eq!(numbers.resolve_for_create(&(-1).into()).unwrap().as_str(), "negative");
        assert_eq!(numbers.resolve_for_create(&0.into()).unwrap().as_str(), "positive");
    }

    #[test]
    fn r29_overlaps_are_refused_and_told() {
        let entry = |low, high, link: &str| RangeEntry { range: half_open(low, high), link: link.into() };
        let entries =
            [entry("a", "z", "wide"), entry("b", "c", "inside"), entry("d", "f", "also"), entry("zz", "zzz", "far")];
        let overlap = |low, high, second: &str| Finding::Overlap {
            range: half_open(low, high),
            first: "wide".into(),
            second: second.into(),
        };
        assert_eq!(
            diagnose(&entries),
            [overlap("b", "c", "inside"), overlap("d", "f", "also"), Finding::Gap { range: half_open("z", "zz") }]
        );
        let made = RangeResolver::new(
            KeyExtractor::path("/k").unwrap(),
            KeyOrder::Natural,
            entries.into_iter().map(|entry| (entry.range, entry.link)),
        );
        assert_eq!(made.unwrap_err().to_string(), r#"range ["a", "z") (wide) and range ["b", "c") (inside) overlap"#);
    }

    #[test]
    fn a_time_range_needs_times() {
        let made = RangeResolver::new(KeyExtractor::path("/k").unwrap(), KeyOrder::Time, [(half_open("a", "b"), "c")]);
        assert_eq!(made, Err(ConfigError::RangeEndNotATime { key: "a".into() }));
    }
}
