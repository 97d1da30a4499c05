//! The storage ceiling: how fast the engine alone commits what a create makes it commit.
//!
//! Nothing is assumed about the layout. After a run of creates the server's own folder is opened and
//! its rows are counted: rows per create, bytes of keys, bytes of the documents and of everything
//! else. Batches of exactly that shape are then committed by as many tasks as there were clients,
//! with the same durability, on the same disk. Rows that every commit overwrites (counters) leave no
//! trace in the count, so the ceiling is, if anything, too high.

use crate::failure::{Doing, Failure, Result};
use crate::item::mixed;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tesela_store::{Batch, Direction, KeyRange, ScanLimit, Snapshot, SpaceId, Store};
use tesela_store_embedded::{EmbeddedStore, Options};

/// A stored value at least this long is a document; an index row is far shorter.
const DOCUMENT_BYTES_MIN: usize = 512;

const PAGE_ROWS: usize = 10_000;

/// The first space holds the catalog, not documents.
const CATALOG: SpaceId = SpaceId(0);

/// What one create puts into the engine, on average.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub rows: usize,
    pub key_bytes: usize,
    pub document_bytes: usize,
    pub other_value_bytes: usize,
}

impl Shape {
    /// Reads the shape off the folder of a stopped server.
    pub async fn of_folder(folder: &Path) -> Result<Self> {
        let store = EmbeddedStore::open(folder, Options::default()).doing("opening the server's folder")?;
        let mut rows = 0;
        let mut key_bytes = 0;
        let (mut documents, mut document_bytes) = (0, 0);
        let mut other_bytes = 0;
        for space in store.spaces().await.doing("listing spaces")? {
            if space == CATALOG {
                continue;
            }
            let snapshot = store.snapshot();
            let mut range = KeyRange::all();
            loop {
                let page = snapshot
                    .scan(space, range.clone(), Direction::Forward, ScanLimit::rows(PAGE_ROWS))
                    .await
                    .doing("scanning the server's folder")?;
                for (key, value) in &page.rows {
                    rows += 1;
                    key_bytes += key.len();
                    if value.len() >= DOCUMENT_BYTES_MIN {
                        documents += 1;
                        document_bytes += value.len();
                    } else {
                        other_bytes += value.len();
                    }
                }
                match page.rows.last() {
                    Some((last, _)) if page.more => range = range.after(last, Direction::Forward),
                    _ => break,
                }
            }
        }
        if documents == 0 {
            return Err(Failure::new("the server's folder holds no documents"));
        }
        Ok(Self {
            rows: rows / documents,
            key_bytes: key_bytes / rows,
            document_bytes: document_bytes / documents,
            other_value_bytes: other_bytes / (rows - documents).max(1),
        })
    }

    fn batch(self, number: u64) -> Batch {
        let mut batch = Batch::with_capacity(self.rows);
        for row in 0..self.rows {
            let mut key = mixed(number ^ ((row as u64) << 48)).to_be_bytes().to_vec();
            key.extend_from_slice(&number.to_be_bytes());
            key.resize(self.key_bytes.max(key.len()), b'k');
            let value_bytes = if row == 0 { self.document_bytes } else { self.other_value_bytes };
            batch.put(SpaceId(1), key, text(number, value_bytes));
        }
        batch
    }
}

/// Durable commits per second of `committers` tasks, each waiting for its own.
pub async fn commit_rate(folder: &Path, shape: Shape, committers: u64, time: Duration) -> Result<f64> {
    let store = EmbeddedStore::open(folder, Options::default()).doing("opening a folder for the engine")?;
    store.create_space(SpaceId(1)).await.doing("making a space")?;
    let next = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let tasks: Vec<_> = (0..committers)
        .map(|_| {
            let (store, next) = (store.clone(), next.clone());
            tokio::spawn(async move {
                let mut commits = 0_u64;
                while begun.elapsed() < time {
                    store.commit(shape.batch(next.fetch_add(1, Ordering::Relaxed))).await?;
                    commits += 1;
                }
                Ok::<_, tesela_store::Error>(commits)
            })
        })
        .collect();
    let mut commits = 0;
    for task in tasks {
        commits += task.await.doing("committing")?.doing("committing")?;
    }
    Ok(commits as f64 / begun.elapsed().as_secs_f64())
}

/// Bytes that compress about as an item's text does.
fn text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 32);
    let mut state = seed;
    while text.len() < bytes {
        state = mixed(state);
        text.extend_from_slice(format!("{:x},\"property\":", state >> 24).as_bytes());
    }
    text.truncate(bytes);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_the_shape_it_was_given() {
        let shape = Shape { rows: 5, key_bytes: 40, document_bytes: 1_000, other_value_bytes: 7 };
        let batch = shape.batch(9);
        assert_eq!(batch.len(), 5);
        assert_eq!(batch.bytes(), 5 * 40 + 1_000 + 4 * 7);
    }
}
