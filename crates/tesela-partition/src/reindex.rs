//! Rebuilding the index after its policy was replaced.
//!
//! A row beside the index says by which policy all of its rows were made. Where that is not the policy in force, the index
//! is *incomplete*: queries do not rely on it and read documents instead, so answers stay right at every moment. A rebuild
//! holds the writer, takes that row and all index rows away, writes the rows of every document anew, and puts the row
//! back with the new policy. A crash in between leaves no such row, and the next opening starts over.
//!
//! Reads and queries go on meanwhile; writes wait for the end. The price is stated in COMPAT.md.

use crate::container::Container;
use crate::error::WriteError;
use crate::index::IndexEntries;
use crate::layout::{DocumentRecord, Key};
use crate::partition::Partition;
use crate::removal::read_failed;
use bytes::Bytes;
use std::sync::Arc;
use tesela_store::{Batch, KeyRange, Snapshot, SpaceId, Store};

/// Rows read and written at a time. Ours: bounds the memory of a rebuild.
const STEP_ROWS: usize = 512;

impl<S: Store> Partition<S> {
    /// Whether every row the policy wants is there.
    pub fn index_is_complete(&self) -> bool {
        self.container().index.is_complete()
    }

    /// Takes a changed definition into use. True when the index has to be rebuilt for it: until then queries scan.
    pub fn set_container(&self, container: Arc<Container>) -> bool {
        let old = self.container();
        if old.index_policy == container.index_policy && old.index.is_complete() {
            self.writer().set_container(container);
            return false;
        }
        // The old rows are kept in step until the rebuild takes over, but nobody relies on them any more.
        let waiting = Container { index: old.index.clone().incomplete(), ..(*container).clone() };
        self.writer().set_container(Arc::new(Container { index_policy: old.index_policy.clone(), ..waiting }));
        true
    }

    /// Makes the index what the policy of `container` wants.
    pub async fn rebuild_index(&self, container: Arc<Container>) -> Result<(), WriteError> {
        let hold = self.hold().await;
        let incomplete = Container { index: container.index.clone().incomplete(), ..(*container).clone() };
        self.writer().set_container(Arc::new(incomplete));
        let mut first = Batch::new();
        first.delete(self.space(), Key::index_policy());
        self.store().commit(first).await?;
        for range in Key::index_rows() {
            self.delete_rows(range).await?;
        }
        self.write_entries(&container).await?;
        let mut last = Batch::new();
        put_index_policy(&mut last, self.space(), &container.index_policy);
        self.store().commit(last).await?;
        self.absentees().forget_all();
        self.writer().set_container(container);
        drop(hold);
        Ok(())
    }

    async fn delete_rows(&self, mut range: KeyRange) -> Result<(), WriteError> {
        let view = self.view();
        loop {
            let (rows, rest) = view.rows(range, STEP_ROWS).await.map_err(read_failed)?;
            let mut batch = Batch::with_capacity(rows.len());
            rows.into_iter().for_each(|(key, _)| batch.delete(self.space(), key));
            if !batch.is_empty() {
                self.store().commit(batch).await?;
            }
            match rest {
                Some(rest) => range = rest,
                None => return Ok(()),
            }
            tokio::task::yield_now().await;
        }
    }

    async fn write_entries(&self, container: &Container) -> Result<(), WriteError> {
        let view = self.view();
        let mut range = Key::documents();
        loop {
            let (rows, rest) = view.rows(range, STEP_ROWS).await.map_err(read_failed)?;
            let mut batch = Batch::new();
            for (key, value) in rows {
                let record = DocumentRecord::decode(&value)?;
                let ordinal = Key::document_ordinal(&key)?;
                entries_of(container, &record).keys(ordinal).for_each(|key| batch.put(self.space(), key, Bytes::new()));
            }
            if !batch.is_empty() {
                self.store().commit(batch).await?;
            }
            match rest {
                Some(rest) => range = rest,
                None => return Ok(()),
            }
            tokio::task::yield_now().await;
        }
    }
}

/// The index rows a version has under a definition.
pub(crate) fn entries_of(container: &Container, record: &DocumentRecord) -> IndexEntries {
    if record.indexed { container.index.entries(record.document.root()) } else { IndexEntries::kept_out() }
}

/// The container a partition begins to work with: its index counts as complete when the row says so, or when there is
/// nothing to index and the row can be put.
pub(crate) async fn opened<S: Store>(
    store: &S,
    space: SpaceId,
    container: Arc<Container>,
    documents: u64,
) -> Result<Arc<Container>, crate::error::ReadError> {
    let row = store.snapshot().get(space, &Key::index_policy()).await?;
    if row.is_some_and(|policy| policy == container.index_policy.as_bytes()) {
        return Ok(container);
    }
    if documents == 0 {
        let mut batch = Batch::new();
        put_index_policy(&mut batch, space, &container.index_policy);
        store.commit(batch).await?;
        return Ok(container);
    }
    Ok(Arc::new(Container { index: container.index.clone().incomplete(), ..(*container).clone() }))
}

/// Says that all index rows of a space follow a policy.
pub fn put_index_policy(batch: &mut Batch, space: SpaceId, policy: &str) {
    batch.put(space, Key::index_policy(), Bytes::copy_from_slice(policy.as_bytes()));
}
