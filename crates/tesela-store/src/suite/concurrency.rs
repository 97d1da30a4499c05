//! Many writers and readers at once, on real threads.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::{A, B, Subject, rows, subject_with_spaces};
use crate::{Batch, Direction, KeyRange, ScanLimit, Snapshot, SpaceId, Store, block_on};

const WRITERS: u32 = 3;

/// Invariants 2 and 5.
pub async fn commits_of_one_writer_keep_their_order<S: Subject>() {
    const COMMITS: u32 = 150;
    let (_subject, store) = subject_with_spaces::<S>().await;
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let store = store.clone();
            scope.spawn(move || {
                for number in 0..COMMITS {
                    let mut batch = Batch::new();
                    batch.put(A, format!("last of {writer}"), number.to_be_bytes().to_vec());
                    batch.put(A, format!("all/{writer}/{number:05}"), "");
                    block_on(store.commit(batch)).expect("accepted");
                    let seen = block_on(store.snapshot().get(A, format!("last of {writer}").as_bytes()));
                    let seen = seen.expect("readable").expect("just written");
                    assert_eq!(seen[..], number.to_be_bytes(), "a writer reads its own last commit");
                }
            });
        }
    });
    let snapshot = store.snapshot();
    let all = snapshot.scan(A, KeyRange::prefix(b"all/"), Direction::Forward, ScanLimit::NONE).await;
    assert_eq!(all.expect("scannable").rows.len(), (WRITERS * COMMITS) as usize, "no commit is lost");
}

/// Invariants 1 and 4. Every commit stamps all keys of two spaces alike, so a reader that finds
/// two stamps has seen half a commit. Rows are large, so that an engine flushes and compacts
/// meanwhile, and each snapshot is read twice, so that it must hold still.
pub async fn readers_never_see_half_a_commit<S: Subject>() {
    const COMMITS: u32 = 200;
    const KEYS: u32 = 8;
    let (_subject, store) = subject_with_spaces::<S>().await;
    let stamp = |stamp: String| {
        let mut batch = Batch::new();
        let value = Bytes::from(format!("{stamp:~<2000}"));
        for key in 0..KEYS {
            batch.put(A, key.to_be_bytes().to_vec(), value.clone());
            batch.put(B, key.to_be_bytes().to_vec(), value.clone());
        }
        batch
    };
    store.commit(stamp("first".into())).await.expect("accepted");

    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut snapshots = 0_u32;
                    while !done.load(Ordering::Relaxed) {
                        block_on(assert_one_stamp(&store.snapshot(), KEYS as usize));
                        snapshots += 1;
                    }
                    snapshots
                })
            })
            .collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let store = store.clone();
                scope.spawn(move || {
                    for number in 0..COMMITS {
                        block_on(store.commit(stamp(format!("{writer}/{number}")))).expect("accepted");
                    }
                })
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        // Before any assertion: readers stop only by this flag.
        done.store(true, Ordering::Relaxed);
        assert!(written.iter().all(Result::is_ok), "a writer failed");
        for reader in readers {
            assert!(reader.join().expect("a reader saw half a commit") > 0);
        }
    });
}

async fn assert_one_stamp<S: Snapshot>(snapshot: &S, keys: usize) {
    let mut first_pass = Vec::new();
    for space in [A, B] {
        first_pass.extend(stamps_by_scan(snapshot, space).await);
    }
    assert_eq!(first_pass.len(), 2 * keys);
    assert!(first_pass.iter().all(|stamp| *stamp == first_pass[0]), "half a commit is visible");
    for space in [B, A] {
        for key in 0..keys as u32 {
            let again = snapshot.get(space, &key.to_be_bytes()).await.expect("readable");
            assert_eq!(again.as_ref(), first_pass.first(), "the snapshot moved");
        }
    }
}

async fn stamps_by_scan<S: Snapshot>(snapshot: &S, space: SpaceId) -> Vec<Bytes> {
    rows(snapshot, space).await.into_iter().map(|(_, value)| value).collect()
}
