//! The partition keys a query can touch, and where they lie (R9, R18).
//!
//! ```text
//! WHERE c.tenant = "a" AND c.user IN (1, 2)    keys ["a",1] ["a",2]    two points
//! WHERE c.tenant = "a"                         key  ["a"]              the range below a prefix
//! WHERE c.user = 1                             all                     ["", "FF")
//! WHERE c.tenant = 1 AND c.tenant = 2          no key                  the empty point
//! ```
//!
//! A cover, like the sets it is made of: documents of the answer are nowhere else, but not every key listed need have
//! one. A plan always names some range, since clients expect one even for an empty answer; the empty point `""` stands
//! for "no key" and falls into the first partition.

use super::filter::Deriver;
use super::key_set::{KeyBox, KeyPart, KeySet};
use crate::bind::{CompileContext, CompiledQuery};
use std::collections::BTreeSet;
use tesela_model::epk::{Epk, effective_partition_key, prefix_range};
use tesela_model::partition_key::{Component, PartitionKeyDefinition, PartitionKeyKind, PartitionKeyValue};

/// Keys made by combining values of several components, in all of a query. Ours: more are not worth naming one by one,
/// so prefixes are named instead.
const COMBINED_KEYS_MAX: usize = 1 << 14;

/// The keys documents of an answer can have.
#[derive(Clone, Debug, PartialEq)]
pub enum KeySelection {
    All,
    /// Complete keys or, for hierarchical ones, leading parts. None at all when no document can satisfy the query.
    Keys(Vec<PartitionKeyValue>),
}

/// Part of the effective partition key space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRange {
    pub min: Epk,
    pub max: Epk,
    pub is_min_inclusive: bool,
    pub is_max_inclusive: bool,
}

impl QueryRange {
    /// One key.
    pub fn point(epk: Epk) -> Self {
        Self { max: epk.clone(), min: epk, is_min_inclusive: true, is_max_inclusive: true }
    }

    /// From `min` up to but not with `max`.
    pub fn half_open(min: Epk, max: Epk) -> Self {
        Self { min, max, is_min_inclusive: true, is_max_inclusive: false }
    }

    pub fn is_point(&self) -> bool {
        self.min == self.max
    }

    pub fn contains(&self, epk: &Epk) -> bool {
        self.min <= *epk && (*epk < self.max || self.is_max_inclusive && *epk == self.max)
    }
}

/// The keys a compiled query can touch.
pub fn select_keys(
    compiled: &CompiledQuery,
    definition: &PartitionKeyDefinition,
    context: &CompileContext<'_>,
) -> KeySelection {
    if !compiled.reads_documents() {
        return KeySelection::Keys(Vec::new());
    }
    // A computed property hides the stored one of its name: conditions on it say nothing of the key.
    let hidden =
        |path: &[String]| context.computed_properties.iter().any(|property| path.first() == Some(&property.name));
    if definition.paths.iter().any(|path| hidden(path.steps())) {
        return KeySelection::All;
    }
    let Some(reading) = compiled.stages.first() else { return KeySelection::All };
    let set = Deriver::new(definition, &compiled.slots).documents(reading);
    KeySelection::from_set(&set, definition)
}

impl KeySelection {
    fn from_set(set: &KeySet, definition: &PartitionKeyDefinition) -> Self {
        let mut keys = Vec::new();
        let mut combined_left = COMBINED_KEYS_MAX;
        for one in set.boxes() {
            let Some(levels) = named_levels(one, definition, combined_left) else { return Self::All };
            let before = keys.len();
            combine(&levels, &mut keys);
            if levels.len() > 1 {
                combined_left = combined_left.saturating_sub(keys.len() - before);
            }
        }
        Self::Keys(keys)
    }

    /// Whether all documents of the answer share one complete key, so that the query is served by one partition even
    /// where crossing partitions is not allowed. True if there can be none. Route by [`Self::ranges`]: the two zeros
    /// are one key to a query and two points of the space.
    pub fn pins_whole_key(&self, definition: &PartitionKeyDefinition) -> bool {
        match self {
            Self::All => false,
            Self::Keys(keys) => {
                let complete = |key: &PartitionKeyValue| key.components().len() == definition.paths.len();
                keys.iter().all(|key| complete(key) && *key == keys[0])
            }
        }
    }

    /// Where the keys lie: sorted, disjoint, never empty.
    pub fn ranges(&self, definition: &PartitionKeyDefinition) -> Vec<QueryRange> {
        let keys = match self {
            Self::All => return vec![QueryRange::half_open(Epk::min(), Epk::max())],
            Self::Keys(keys) if keys.is_empty() => return vec![QueryRange::point(Epk::min())],
            Self::Keys(keys) => keys,
        };
        let mut ranges: Vec<QueryRange> = keys.iter().map(|key| range_of(key, definition)).collect();
        // Of ranges with one beginning the widest goes first, so that it swallows the others.
        ranges.sort_by(|a, b| a.min.cmp(&b.min).then_with(|| b.max.cmp(&a.max)));
        let mut disjoint: Vec<QueryRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            // Prefixes nest or lie apart, they never overlap half-way.
            if !disjoint.last().is_some_and(|last| last.contains(&range.min)) {
                disjoint.push(range);
            }
        }
        disjoint
    }
}

fn range_of(key: &PartitionKeyValue, definition: &PartitionKeyDefinition) -> QueryRange {
    if key.components().len() == definition.paths.len() {
        return QueryRange::point(effective_partition_key(key, definition));
    }
    let below = prefix_range(key, definition);
    QueryRange::half_open(below.min().clone(), below.max().clone())
}

/// The leading components of a box that are worth naming; `None` when nothing less than all keys covers it.
fn named_levels<'b>(
    one: &'b KeyBox,
    definition: &PartitionKeyDefinition,
    combined_left: usize,
) -> Option<Vec<&'b BTreeSet<KeyPart>>> {
    let mut levels: Vec<&BTreeSet<KeyPart>> = one.prefix().collect();
    let keys =
        |levels: &[&BTreeSet<KeyPart>]| levels.iter().fold(1, |keys: usize, parts| keys.saturating_mul(parts.len()));
    // A single list is as long as the query made it; only combinations can get out of hand.
    while levels.len() > 1 && keys(&levels) > 1 && keys(&levels) > combined_left {
        levels.pop();
    }
    // The hash of several components tells nothing of a prefix, unless each is hashed by itself.
    let has_prefixes = definition.kind != PartitionKeyKind::Hash;
    (!levels.is_empty() && (has_prefixes || levels.len() == definition.paths.len())).then_some(levels)
}

/// Appends the product of the levels.
fn combine(levels: &[&BTreeSet<KeyPart>], keys: &mut Vec<PartitionKeyValue>) {
    let mut prefixes: Vec<Vec<Component>> = vec![Vec::new()];
    for level in levels {
        let components: Vec<Component> = level.iter().flat_map(KeyPart::components).collect();
        let longer = |prefix: &Vec<Component>| {
            let prefix = prefix.clone();
            components.iter().map(move |component| prefix.iter().cloned().chain([component.clone()]).collect())
        };
        prefixes = prefixes.iter().flat_map(longer).collect();
    }
    keys.extend(prefixes.into_iter().map(PartitionKeyValue::new));
}
