//! What a crash leaves. The subject decides what a crash is: a memory engine has none.

use super::{A, B, Subject, put, rows, subject_with_spaces, value};
use crate::{Batch, SpaceId, Store, block_on};

/// Invariant 3.
pub async fn acknowledged_commits_survive<S: Subject>() {
    const ROUNDS: u32 = 3;
    const WRITERS: u32 = 4;
    const COMMITS: u32 = 20;
    let (mut subject, _) = subject_with_spaces::<S>().await;
    for round in 0..ROUNDS {
        let store = subject.store();
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let store = store.clone();
                scope.spawn(move || {
                    for number in 0..COMMITS {
                        let mut batch = Batch::new();
                        batch.put(A, format!("{round}/{writer}/{number}"), "a");
                        batch.put(B, format!("{round}/{writer}/{number}"), "b");
                        batch.put(B, "replaced each time", format!("{round}/{writer}/{number}"));
                        if number > 0 {
                            batch.delete(A, format!("{round}/{writer}/{}", number - 1));
                        }
                        block_on(store.commit(batch)).expect("accepted");
                    }
                });
            }
        });
        let before = (rows(&store.snapshot(), A).await, rows(&store.snapshot(), B).await);
        assert_eq!(before.0.len() as u32, (round + 1) * WRITERS);
        drop(store);
        let Some(reopened) = subject.reopen().await else { return };
        subject = reopened;
        let snapshot = subject.store().snapshot();
        let after = (rows(&snapshot, A).await, rows(&snapshot, B).await);
        assert!(before == after, "acknowledged rows differ after a crash in round {round}");
    }
}

pub async fn spaces_survive<S: Subject>() {
    let (subject, store) = subject_with_spaces::<S>().await;
    put(&store, A, "k", "old").await;
    store.drop_space(A).await.expect("droppable");
    store.drop_space(B).await.expect("droppable");
    store.create_space(A).await.expect("creatable");
    store.create_space(SpaceId(7)).await.expect("creatable");
    put(&store, SpaceId(7), "k", "v").await;
    store.flush().await.expect("flushable");
    drop(store);

    let Some(subject) = subject.reopen().await else { return };
    let store = subject.store();
    assert_eq!(store.spaces().await.expect("listable"), [A, SpaceId(7)], "created and dropped spaces stay so");
    assert_eq!(value(&store.snapshot(), SpaceId(7), "k").await.as_deref(), Some(&b"v"[..]));
    assert!(rows(&store.snapshot(), A).await.is_empty(), "rows of a dropped space stay gone");
    put(&store, A, "k", "new").await;
    drop(store);

    let subject = subject.reopen().await.expect("it could before");
    assert_eq!(value(&subject.store().snapshot(), A, "k").await.as_deref(), Some(&b"new"[..]));
}
