//! What a reader sees, and when.

use bytes::Bytes;

use super::{A, B, Subject, put, rows, subject_with_spaces, value};
use crate::{Batch, Error, KEY_BYTES_MAX, Snapshot, SpaceId, Store, VALUE_BYTES_MAX};

pub async fn reads_follow_commits<S: Subject>() {
    let (_subject, store) = subject_with_spaces::<S>().await;
    assert_eq!(value(&store.snapshot(), A, "k").await, None, "a new space is empty");

    put(&store, A, "k", "1").await;
    assert_eq!(value(&store.snapshot(), A, "k").await.as_deref(), Some(&b"1"[..]));
    assert_eq!(value(&store.snapshot(), B, "k").await, None, "spaces do not share keys");

    put(&store, A, "k", "2").await;
    assert_eq!(value(&store.snapshot(), A, "k").await.as_deref(), Some(&b"2"[..]), "a put replaces");

    put(&store, A, "k", "").await;
    assert_eq!(value(&store.snapshot(), A, "k").await.as_deref(), Some(&b""[..]), "an empty value is a value");

    let mut batch = Batch::new();
    batch.delete(A, "k");
    batch.delete(A, "never there");
    store.commit(batch).await.expect("deleting a missing key is no error");
    assert_eq!(value(&store.snapshot(), A, "k").await, None);

    store.commit(Batch::new()).await.expect("an empty batch is no error");
}

pub async fn the_last_change_of_a_key_wins<S: Subject>() {
    let (_subject, store) = subject_with_spaces::<S>().await;
    put(&store, A, "deleted", "0").await;
    let mut batch = Batch::new();
    batch.put(A, "twice", "1");
    batch.put(A, "deleted", "1");
    batch.delete(A, "kept");
    batch.put(A, "twice", "2");
    batch.delete(A, "deleted");
    batch.put(A, "kept", "2");
    store.commit(batch).await.expect("one batch may change a key twice");
    let snapshot = store.snapshot();
    assert_eq!(value(&snapshot, A, "twice").await.as_deref(), Some(&b"2"[..]));
    assert_eq!(value(&snapshot, A, "deleted").await, None);
    assert_eq!(value(&snapshot, A, "kept").await.as_deref(), Some(&b"2"[..]));
    assert_eq!(rows(&snapshot, A).await.len(), 2, "a scan shows each key once");
}

/// Invariant 1, for refusals.
pub async fn a_refused_batch_leaves_nothing<S: Subject>() {
    let (_subject, store) = subject_with_spaces::<S>().await;
    let unknown = SpaceId(77);
    let too_long_key = Bytes::from(vec![b'k'; KEY_BYTES_MAX + 1]);
    let too_long_value = Bytes::from(vec![b'v'; VALUE_BYTES_MAX + 1]);
    type Refusal = fn(&Error) -> bool;
    let cases: [(SpaceId, Bytes, Bytes, Refusal); 4] = [
        (unknown, "k".into(), "v".into(), |error| matches!(error, Error::NoSuchSpace(SpaceId(77)))),
        (A, Bytes::new(), "v".into(), |error| matches!(error, Error::EmptyKey { .. })),
        (A, too_long_key, "v".into(), |error| matches!(error, Error::KeyTooLong { .. })),
        (A, "k".into(), too_long_value, |error| matches!(error, Error::ValueTooLong { .. })),
    ];
    for (space, key, bytes, is_expected) in cases {
        let mut batch = Batch::new();
        batch.put(A, "before", "1");
        batch.put(space, key, bytes);
        batch.put(B, "behind", "1");
        let error = store.commit(batch).await.expect_err("the batch must be refused");
        assert!(is_expected(&error), "unexpected refusal: {error}");
        assert!(!error.may_have_applied(), "a refusal is a clear no: {error}");
    }
    let snapshot = store.snapshot();
    assert!(rows(&snapshot, A).await.is_empty() && rows(&snapshot, B).await.is_empty());
    assert!(matches!(snapshot.get(unknown, b"k").await, Err(Error::NoSuchSpace(SpaceId(77)))));
    put(&store, A, "next", "1").await;
}

/// Invariant 4.
pub async fn a_snapshot_keeps_its_moment<S: Subject>() {
    let (_subject, store) = subject_with_spaces::<S>().await;
    put(&store, A, "replaced", "old").await;
    put(&store, A, "deleted", "old").await;
    put(&store, B, "other space", "old").await;
    let old = store.snapshot();
    let old_rows = (rows(&old, A).await, rows(&old, B).await);

    for round in 0..50_u32 {
        let mut batch = Batch::new();
        batch.put(A, "replaced", round.to_string());
        batch.put(A, format!("new {round}"), "new");
        batch.delete(A, "deleted");
        batch.delete(B, "other space");
        store.commit(batch).await.expect("a small batch is accepted");
    }
    let clone = old.clone();
    drop(old);
    assert_eq!((rows(&clone, A).await, rows(&clone, B).await), old_rows);
    assert_eq!(value(&clone, A, "deleted").await.as_deref(), Some(&b"old"[..]));
    assert_eq!(value(&clone, A, "new 7").await, None);
    assert_eq!(value(&store.snapshot(), A, "replaced").await.as_deref(), Some(&b"49"[..]));

    let later_space = SpaceId(3);
    store.create_space(later_space).await.expect("a new space can be created");
    assert!(matches!(clone.get(later_space, b"k").await, Err(Error::NoSuchSpace(_))), "it did not exist then");
}

pub async fn large_rows_survive<S: Subject>() {
    let (_subject, store) = subject_with_spaces::<S>().await;
    let key = Bytes::from(vec![b'k'; KEY_BYTES_MAX]);
    let large = Bytes::from((0..3_000_000_u32).map(|i| (i % 251) as u8).collect::<Vec<_>>());
    let mut batch = Batch::new();
    batch.put(A, key.clone(), large.clone());
    batch.put(A, &b"\0"[..], &b"\0\0"[..]);
    store.commit(batch).await.expect("rows within the limits are accepted");
    let snapshot = store.snapshot();
    assert!(snapshot.get(A, &key).await.expect("readable") == Some(large), "every byte is kept");
    assert_eq!(snapshot.get(A, b"\0").await.expect("readable").as_deref(), Some(&b"\0\0"[..]));
}
