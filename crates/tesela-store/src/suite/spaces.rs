//! The life of a space.

use super::{A, B, Subject, put, rows, subject_with_spaces, value};
use crate::{Batch, Error, SpaceId, Store};

pub async fn creating_twice_keeps_the_rows<S: Subject>() {
    let (_subject, store) = subject_with_spaces::<S>().await;
    put(&store, A, "k", "v").await;
    store.create_space(A).await.expect("creating again is no error");
    assert_eq!(value(&store.snapshot(), A, "k").await.as_deref(), Some(&b"v"[..]));

    store.create_space(SpaceId::CATALOG).await.expect("creatable");
    store.create_space(SpaceId(u64::MAX)).await.expect("creatable");
    let spaces = store.spaces().await.expect("listable");
    assert_eq!(spaces, [SpaceId(0), A, B, SpaceId(u64::MAX)], "each once, ascending");
}

/// Invariant 6.
pub async fn dropping_leaves_other_spaces_alone<S: Subject>() {
    let (_subject, store) = subject_with_spaces::<S>().await;
    put(&store, A, "k", "a").await;
    put(&store, B, "k", "b").await;
    let before = store.snapshot();

    store.drop_space(A).await.expect("droppable");
    store.drop_space(A).await.expect("dropping again is no error");
    store.drop_space(SpaceId(99)).await.expect("dropping what never was is no error");
    assert_eq!(store.spaces().await.expect("listable"), [B]);
    let mut batch = Batch::new();
    batch.put(A, "k", "lost");
    assert!(matches!(store.commit(batch).await, Err(Error::NoSuchSpace(A))));
    assert_eq!(value(&store.snapshot(), B, "k").await.as_deref(), Some(&b"b"[..]));
    assert_eq!(value(&before, B, "k").await.as_deref(), Some(&b"b"[..]));

    store.create_space(A).await.expect("a dropped name can be used again");
    assert!(rows(&store.snapshot(), A).await.is_empty(), "nothing of the old space comes back");
    put(&store, A, "new", "a").await;
    assert_eq!(rows(&store.snapshot(), A).await.len(), 1);
}

pub async fn size_follows_the_rows<S: Subject>() {
    let (_subject, store) = subject_with_spaces::<S>().await;
    let empty_bytes = store.size_bytes(A).await.expect("sizable");
    let mut batch = Batch::new();
    for number in 0..100_u32 {
        // Not compressible, so that every honest measure grows.
        let mut noise = u64::from(number);
        let value: Vec<u8> = (0..1_000)
            .map(|_| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (noise >> 56) as u8
            })
            .collect();
        batch.put(A, number.to_be_bytes().to_vec(), value);
    }
    store.commit(batch).await.expect("accepted");
    let grown_bytes = store.size_bytes(A).await.expect("sizable");
    // "About" is within half.
    assert!(grown_bytes >= empty_bytes + 50_000, "{empty_bytes} grew to {grown_bytes}");
    let other_bytes = store.size_bytes(B).await.expect("sizable");
    assert!(other_bytes < 50_000, "an empty space measures {other_bytes}");
    assert!(matches!(store.size_bytes(SpaceId(99)).await, Err(Error::NoSuchSpace(_))));
}
