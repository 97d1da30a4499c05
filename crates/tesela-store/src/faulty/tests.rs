use std::collections::BTreeSet;
use std::task::Waker;

use super::*;
use crate::block_on;
use crate::suite::{self, Subject};

const SPACE: SpaceId = SpaceId(1);

/// Honest, but every call takes its time; a crash is a power cut.
struct Delayed(FaultyStore<MemoryStore>);

impl Subject for Delayed {
    type Store = FaultyStore<MemoryStore>;

    async fn open() -> Self {
        Self(FaultyStore::new(MemoryStore::new(), Faults::from_seed(11)))
    }

    fn store(&self) -> Self::Store {
        self.0.clone()
    }

    async fn reopen(self) -> Option<Self> {
        let kept = self.0.crash().await.unwrap();
        Some(Self(FaultyStore::over(kept, Faults::from_seed(12)).await.unwrap()))
    }
}

mod suite_with_delays_and_power_cuts {
    crate::store_suite!(super::Delayed);
}

/// Acknowledges what is not on disk.
struct Lying(FaultyStore<MemoryStore>);

impl Subject for Lying {
    type Store = FaultyStore<MemoryStore>;

    async fn open() -> Self {
        Self(FaultyStore::new(MemoryStore::new(), Faults::from_seed(13).acknowledge_early()))
    }

    fn store(&self) -> Self::Store {
        self.0.clone()
    }

    async fn reopen(self) -> Option<Self> {
        let kept = self.0.crash().await.unwrap();
        Some(Self(FaultyStore::new(kept, Faults::from_seed(14).acknowledge_early())))
    }
}

#[test]
fn the_suite_finds_an_engine_that_acknowledges_too_early() {
    let run = std::panic::catch_unwind(|| block_on(suite::acknowledged_commits_survive::<Lying>()));
    let panic = run.expect_err("a lying engine must not pass");
    let message = panic.downcast_ref::<String>().expect("the scenario names the broken promise");
    assert!(message.contains("acknowledged rows differ after a crash"), "{message}");
}

async fn with_space(faults: Faults) -> FaultyStore<MemoryStore> {
    let store = FaultyStore::new(MemoryStore::new(), faults);
    store.create_space(SPACE).await.unwrap();
    store
}

fn one_row(key: u64) -> Batch {
    let mut batch = Batch::new();
    batch.put(SPACE, key.to_be_bytes().to_vec(), "v");
    batch
}

async fn holds<S: Store>(store: &S, key: u64) -> bool {
    store.snapshot().get(SPACE, &key.to_be_bytes()).await.unwrap().is_some()
}

#[test]
fn a_fault_says_what_the_caller_can_know() {
    block_on(async {
        for (fault, may_have_applied, applied) in
            [(Fault::Refuse, false, false), (Fault::LoseRequest, true, false), (Fault::LoseAnswer, true, true)]
        {
            let store = with_space(Faults::from_seed(1).nth(Call::Commit, 2, fault)).await;
            store.commit(one_row(1)).await.unwrap();
            let error = store.commit(one_row(2)).await.unwrap_err();
            store.commit(one_row(3)).await.unwrap();
            assert_eq!(error.may_have_applied(), may_have_applied, "{fault:?}: {error}");
            assert_eq!(holds(&store, 2).await, applied, "{fault:?}");
            assert!(holds(&store, 1).await && holds(&store, 3).await, "{fault:?} touched another commit");
        }
    });
}

#[test]
fn reads_fail_too() {
    block_on(async {
        let faults = Faults::from_seed(1).nth(Call::Get, 1, Fault::Refuse).nth(Call::Scan, 1, Fault::LoseAnswer);
        let store = with_space(faults).await;
        let snapshot = store.snapshot();
        let scan = || snapshot.scan(SPACE, KeyRange::all(), Direction::Forward, ScanLimit::NONE);
        snapshot.get(SPACE, b"k").await.unwrap_err();
        snapshot.get(SPACE, b"k").await.unwrap();
        scan().await.unwrap_err();
        scan().await.unwrap();
    });
}

#[test]
fn the_same_seed_gives_the_same_run() {
    async fn run(seed: u64) -> Vec<String> {
        let store = with_space(Faults::from_seed(seed).one_in(4, Call::Commit, Fault::LoseAnswer)).await;
        let mut outcomes = Vec::new();
        for key in 0..100 {
            outcomes.push(format!("{:?}", store.commit(one_row(key)).await));
        }
        outcomes
    }
    let (first, again, other) = (block_on(run(5)), block_on(run(5)), block_on(run(6)));
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn a_crash_keeps_a_commit_under_way_in_whole_or_not_at_all() {
    let mut kept_counts = BTreeSet::new();
    for seed in 0..40 {
        let faults = Faults::from_seed(seed).delay_polls_max(5);
        let store = block_on(with_space(faults));
        block_on(store.commit(one_row(0))).unwrap();
        let mut batch = one_row(1);
        batch.append(one_row(2));
        let mut under_way = Box::pin(store.commit(batch));
        let mut context = Context::from_waker(Waker::noop());
        let mut polls = 0;
        while polls < 4 && under_way.as_mut().poll(&mut context).is_pending() {
            polls += 1;
        }
        if polls < 4 {
            continue; // it was acknowledged before the crash
        }
        let kept = block_on(store.crash()).unwrap();
        let error = block_on(under_way).unwrap_err();
        let count = (1..=2).filter(|&key| block_on(holds(&kept, key))).count();
        assert!(block_on(holds(&kept, 0)), "seed {seed}: an acknowledged commit is lost");
        assert_ne!(count, 1, "seed {seed}: half a commit is kept");
        assert!(count == 0 || error.may_have_applied(), "seed {seed}: kept, but the caller was told no");
        kept_counts.insert(count);
        block_on(store.commit(one_row(9))).unwrap_err();
    }
    assert_eq!(kept_counts.len(), 2, "the seeds must show both outcomes");
}

/// How a writer above a networked engine copes: it reads to learn what it was not told.
#[test]
fn a_careful_writer_survives_every_fault() {
    block_on(async {
        for (seed, fault) in [(1, Fault::Refuse), (2, Fault::LoseRequest), (3, Fault::LoseAnswer)] {
            let faults = Faults::from_seed(seed).one_in(3, Call::Commit, fault);
            let store = with_space(faults).await;
            let mut faults_met = 0;
            for key in 0..200 {
                while let Err(error) = store.commit(one_row(key)).await {
                    faults_met += 1;
                    if error.may_have_applied() && holds(&store, key).await {
                        break;
                    }
                }
            }
            assert!(faults_met > 20, "{fault:?} hardly happened");
            let kept = store.crash().await.unwrap();
            for key in 0..200 {
                assert!(holds(&kept, key).await, "{fault:?} lost {key}");
            }
        }
    });
}
