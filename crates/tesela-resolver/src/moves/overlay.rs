//! Laying two maps over each other.

use super::{HashMove, HashRange, KeyMove, PlanError, RangeMove, Selection};
use crate::key::KeyRange;
use crate::link::CollectionLink;
use crate::resolver::Resolver;
use crate::resolvers::{HashResolver, LookupResolver, RangeResolver};

/// The exact selection between two maps with equal extractors; `None` when their kinds have no common ranges.
pub(super) fn select(current: &Resolver, next: &Resolver) -> Result<Option<Selection>, PlanError> {
    if let (Some(current), Some(next)) = (current.as_hash(), next.as_hash()) {
        return Ok(hash_moves(current, next).map(Selection::HashRanges));
    }
    match (current, next) {
        (Resolver::Range(current), Resolver::Range(next)) if current.order() == next.order() => {
            range_moves(current, next).map(|moves| Some(Selection::KeyRanges(moves)))
        }
        (Resolver::Lookup(current), Resolver::Lookup(next)) => lookup_moves(current, next).map(Some),
        _ => Ok(None),
    }
}

fn hash_moves(current: &HashResolver, next: &HashResolver) -> Option<Vec<HashMove>> {
    if current.hasher() != next.hasher() {
        return None;
    }
    let hasher = current.hasher();
    let (old, new) = (current.placement().stretches(hasher)?, next.placement().stretches(hasher)?);
    let mut moves: Vec<HashMove> = Vec::new();
    let (mut i, mut j, mut start) = (0, 0, 0u128);
    loop {
        let ends = [old.get(i + 1), new.get(j + 1)].map(|stretch| stretch.map(|stretch| stretch.start));
        let border = ends.into_iter().flatten().min();
        let end = border.map_or(hasher.point_max(), |border| border - 1);
        let (from, to) = (current.members().link(old[i].owner), next.members().link(new[j].owner));
        if from != to {
            push_hash_move(&mut moves, HashRange { start, end }, from, to);
        }
        let Some(border) = border else { return Some(moves) };
        i += usize::from(ends[0] == Some(border));
        j += usize::from(ends[1] == Some(border));
        start = border;
    }
}

/// Neighbouring stretches between the same two collections are one move.
fn push_hash_move(moves: &mut Vec<HashMove>, range: HashRange, from: &CollectionLink, to: &CollectionLink) {
    match moves.last_mut() {
        Some(last) if last.range.end + 1 == range.start && last.from == *from && last.to == *to => {
            last.range.end = range.end;
        }
        _ => moves.push(HashMove { range, from: from.clone(), to: to.clone() }),
    }
}

fn range_moves(current: &RangeResolver, next: &RangeResolver) -> Result<Vec<RangeMove>, PlanError> {
    let mut moves = Vec::new();
    for entry in current.entries() {
        // Everything of the entry below this cut has a home already.
        let mut homed = entry.range.low_cut().clone();
        for target in next.entries() {
            let Some(range) = entry.range.intersection(&target.range) else { continue };
            if let Some(range) = KeyRange::between(homed, range.low_cut().clone()) {
                return Err(PlanError::StrandedRange { range, from: entry.link.clone() });
            }
            homed = range.high_cut().clone();
            if entry.link != target.link {
                moves.push(RangeMove { range, from: entry.link.clone(), to: target.link.clone() });
            }
        }
        if let Some(range) = KeyRange::between(homed, entry.range.high_cut().clone()) {
            return Err(PlanError::StrandedRange { range, from: entry.link.clone() });
        }
    }
    Ok(moves)
}

fn lookup_moves(current: &LookupResolver, next: &LookupResolver) -> Result<Selection, PlanError> {
    let others = match (current.default_link(), next.default_link()) {
        (None, _) => None,
        (Some(from), None) => return Err(PlanError::StrandedOthers { from: from.clone() }),
        (Some(from), Some(to)) => (from != to).then(|| (from.clone(), to.clone())),
    };
    let mut keys: Vec<_> = current.entries().keys().chain(next.entries().keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut named = Vec::new();
    for key in keys {
        let Some(from) = current.entries().get(key).or(current.default_link()) else { continue };
        let Some(to) = next.entries().get(key).or(next.default_link()) else {
            return Err(PlanError::StrandedKey { key: key.clone(), from: from.clone() });
        };
        if from != to {
            named.push(KeyMove { key: key.clone(), from: from.clone(), to: to.clone() });
        }
    }
    Ok(Selection::Keys { named, others })
}
