//! A snapshot with a script's own writes on top: what its lists and queries read.
//!
//! The changes hold every row a write makes, index rows included, so whatever can read a snapshot — feeds, queries,
//! the index — can read this one and needs not know the difference.

use crate::txn::Overlay;
use bytes::Bytes;
use std::sync::Arc;
use tesela_store::{Direction, KeyRange, Page, Result, ScanLimit, Snapshot, SpaceId};

/// See the module. The changes are all to one space, the partition's.
#[derive(Clone)]
pub struct Layered<S: Snapshot> {
    pub below: S,
    pub changes: Arc<Overlay>,
}

impl<S: Snapshot> Snapshot for Layered<S> {
    async fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Bytes>> {
        match self.changes.get(key) {
            Some(change) => Ok(change.clone()),
            None => self.below.get(space, key).await,
        }
    }

    async fn scan(&self, space: SpaceId, range: KeyRange, direction: Direction, limit: ScanLimit) -> Result<Page> {
        let mut rows = Vec::new();
        let mut rest = range;
        // A page of no rows would not say how far it has looked.
        let step = ScanLimit { rows: limit.rows.max(1), ..limit };
        loop {
            let page = self.below.scan(space, rest.clone(), direction, step).await?;
            let seen = match page.rows.last() {
                Some((last, _)) if page.more => {
                    let behind = rest.after(last, direction);
                    let seen = without(&rest, &behind, direction);
                    rest = behind;
                    seen
                }
                _ => rest.clone(),
            };
            self.merge(page.rows, &seen, direction, &mut rows);
            // Changes may have taken rows away from the page, or added some to it.
            let filled = Page::fill(rows.iter().cloned().map(Result::<_>::Ok), limit)?;
            if filled.more || !page.more {
                return Ok(filled);
            }
        }
    }
}

/// The part of `range` before `rest`, which ends where it does.
fn without(range: &KeyRange, rest: &KeyRange, direction: Direction) -> KeyRange {
    match direction {
        Direction::Forward => KeyRange { start: range.start.clone(), end: Some(rest.start.clone()) },
        Direction::Backward => KeyRange { start: rest.end.clone().unwrap_or_default(), end: range.end.clone() },
    }
}

impl<S: Snapshot> Layered<S> {
    /// The rows of a range with the changes to it, in the order of the scan.
    fn merge(&self, below: Vec<(Bytes, Bytes)>, range: &KeyRange, direction: Direction, out: &mut Vec<(Bytes, Bytes)>) {
        let before = |left: &Bytes, right: &Bytes| match direction {
            Direction::Forward => left < right,
            Direction::Backward => left > right,
        };
        let changes: Vec<_> = match direction {
            Direction::Forward => self.changes.range(range).collect(),
            Direction::Backward => self.changes.range(range).rev().collect(),
        };
        let mut changes = changes.into_iter().peekable();
        for row in below {
            while let Some((key, change)) = changes.next_if(|(key, _)| before(key, &row.0)) {
                out.extend(change.clone().map(|value| (key.clone(), value)));
            }
            match changes.next_if(|(key, _)| **key == row.0) {
                Some((key, change)) => out.extend(change.clone().map(|value| (key.clone(), value))),
                None => out.push(row),
            }
        }
        out.extend(changes.filter_map(|(key, change)| Some((key.clone(), change.clone()?))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use tesela_store::{Batch, MemoryStore, Store, block_on};

    const SPACE: SpaceId = SpaceId(7);

    fn keys() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0_u8..4, 1..4)
    }

    proptest! {
        /// Every scan of the layers is the scan of a store that has taken the changes in.
        #[test]
        fn layers_read_as_one_store(
            below in prop::collection::btree_map(keys(), any::<u8>(), 0..20),
            above in prop::collection::btree_map(keys(), any::<Option<u8>>(), 0..20),
            (from, to) in (keys(), prop::option::of(keys())),
            rows in 0_usize..6,
            bytes in 1_usize..12,
            backward: bool,
        ) {
            let direction = if backward { Direction::Backward } else { Direction::Forward };
            let range = KeyRange { start: from.into(), end: to.map(Bytes::from) };
            let limit = ScanLimit { rows, bytes };
            let store = MemoryStore::new();
            let merged = MemoryStore::new();
            let mut all: BTreeMap<Vec<u8>, u8> = below.clone();
            let mut changes = Overlay::default();
            for (key, change) in above {
                match change {
                    Some(value) => all.insert(key.clone(), value),
                    None => all.remove(&key),
                };
                match change {
                    Some(value) => changes.put(key.into(), Bytes::from(vec![value])),
                    None => changes.delete(key.into()),
                }
            }
            for (store, rows) in [(&store, &below), (&merged, &all)] {
                block_on(store.create_space(SPACE)).unwrap();
                let mut batch = Batch::with_capacity(rows.len());
                rows.iter().for_each(|(key, value)| batch.put(SPACE, key.clone(), vec![*value]));
                block_on(store.commit(batch)).unwrap();
            }
            let layered = Layered { below: store.snapshot(), changes: Arc::new(changes) };
            let wanted = block_on(merged.snapshot().scan(SPACE, range.clone(), direction, limit)).unwrap();
            prop_assert_eq!(block_on(layered.scan(SPACE, range, direction, limit)).unwrap(), wanted);
        }
    }
}
