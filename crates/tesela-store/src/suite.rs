//! The suite every engine passes: the contract as scenarios that can fail.
//!
//! An engine gives a [`Subject`], which knows how to open a new store and how to end one without
//! warning, and one line in its tests, `store_suite!(MySubject)`, which makes a test of each
//! scenario below. A scenario panics at the first broken promise and names it. Engines that keep
//! nothing answer `None` to [`Subject::reopen`]; for them the scenarios about durability end early.
//!
//! Scenarios use threads and [`block_on`](crate::block_on), never a runtime, so that any engine can
//! be driven; chance comes from fixed seeds, so that a failure repeats.

mod concurrency;
mod durability;
mod model;
mod scans;
mod spaces;
mod visibility;

use std::future::Future;

use bytes::Bytes;

use crate::{Batch, Direction, KeyRange, ScanLimit, Snapshot, SpaceId, Store};

pub use concurrency::{commits_of_one_writer_keep_their_order, readers_never_see_half_a_commit};
pub use durability::{acknowledged_commits_survive, spaces_survive};
pub use model::random_history_matches_a_sorted_map;
pub use scans::{pages_join_to_the_range, scans_match_a_sorted_map};
pub use spaces::{creating_twice_keeps_the_rows, dropping_leaves_other_spaces_alone, size_follows_the_rows};
pub use visibility::{
    a_refused_batch_leaves_nothing, a_snapshot_keeps_its_moment, large_rows_survive, reads_follow_commits,
    the_last_change_of_a_key_wins,
};

/// One store under test, from its making to its end.
pub trait Subject: Sized {
    type Store: Store;

    /// A new store without spaces.
    fn open() -> impl Future<Output = Self>;

    fn store(&self) -> Self::Store;

    /// Ends the store as a crash would, without any farewell, and opens what it kept. `None` if the
    /// engine does not outlive its process.
    fn reopen(self) -> impl Future<Output = Option<Self>>;
}

/// Makes a `#[test]` of every scenario for one [`Subject`].
#[macro_export]
macro_rules! store_suite {
    ($subject:ty) => {
        $crate::store_suite! { @tests $subject:
            reads_follow_commits
            the_last_change_of_a_key_wins
            a_refused_batch_leaves_nothing
            a_snapshot_keeps_its_moment
            large_rows_survive
            scans_match_a_sorted_map
            pages_join_to_the_range
            creating_twice_keeps_the_rows
            dropping_leaves_other_spaces_alone
            size_follows_the_rows
            commits_of_one_writer_keep_their_order
            readers_never_see_half_a_commit
            acknowledged_commits_survive
            spaces_survive
            random_history_matches_a_sorted_map
        }
    };
    (@tests $subject:ty: $($scenario:ident)+) => {
        $(
            #[test]
            fn $scenario() {
                $crate::block_on($crate::suite::$scenario::<$subject>());
            }
        )+
    };
}

const A: SpaceId = SpaceId(1);
const B: SpaceId = SpaceId(2);

/// A subject with the spaces `A` and `B`.
async fn subject_with_spaces<S: Subject>() -> (S, S::Store) {
    let subject = S::open().await;
    let store = subject.store();
    store.create_space(A).await.expect("a new space can be created");
    store.create_space(B).await.expect("a new space can be created");
    (subject, store)
}

async fn put<S: Store>(store: &S, space: SpaceId, key: &'static str, value: &'static str) {
    let mut batch = Batch::new();
    batch.put(space, key, value);
    store.commit(batch).await.expect("a small batch is accepted");
}

async fn value<S: Snapshot>(snapshot: &S, space: SpaceId, key: &str) -> Option<Bytes> {
    snapshot.get(space, key.as_bytes()).await.expect("an existing space can be read")
}

async fn rows<S: Snapshot>(snapshot: &S, space: SpaceId) -> Vec<(Bytes, Bytes)> {
    let page = snapshot.scan(space, KeyRange::all(), Direction::Forward, ScanLimit::NONE).await;
    page.expect("an existing space can be scanned").rows
}
