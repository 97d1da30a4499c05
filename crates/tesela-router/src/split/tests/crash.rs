//! Power cuts, refused calls and lost answers at every moment of splits and merges.

use super::world::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tesela_store::faulty::{Call, Fault, Faults, FaultyStore};

const CLIENTS: u32 = 3;
/// Changes of the map in one run.
const ROUNDS: u64 = 2;

/// Writers and a reshaper over a store that is about to fail. The reshaper ends after its rounds or at the first error.
struct Run {
    router: Arc<crate::Router<Faulty>>,
    model: Model,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    reshaper: tokio::task::JoinHandle<bool>,
    done: Arc<AtomicBool>,
}

impl Run {
    async fn start(store: Faulty, seed: u64, keep_going: bool) -> Self {
        let router = Arc::new(open(store, steps_of(10)).await);
        let model = Model::default();
        let done = Arc::new(AtomicBool::new(false));
        let writer = |number| {
            let (router, done) = (router.clone(), done.clone());
            let mut client = Client::new(&model, number, seed);
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    if !client.write(&router).await {
                        if !keep_going {
                            return;
                        }
                        client.look(&router).await;
                    }
                }
            })
        };
        let tasks = (0..CLIENTS).map(writer).collect();
        let reshaping = router.clone();
        let reshaper = tokio::spawn(async move {
            let mut good = true;
            for round in 0..ROUNDS {
                let random = (seed + 11).wrapping_mul(round + 5).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                good &= reshape_once(&reshaping, random).await.is_ok();
            }
            good
        });
        Self { router, model, tasks, reshaper, done }
    }

    async fn finish(self) -> (Arc<crate::Router<Faulty>>, Model, bool) {
        let good = self.reshaper.await.unwrap();
        self.done.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        (self.router, self.model, good)
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

/// How often a run without faults lets other tasks have their turn.
fn turns(seed: u64) -> u64 {
    runtime().block_on(async {
        let store = FaultyStore::over(prepared(400).await, Faults::from_seed(seed)).await.unwrap();
        let run = Run::start(store, seed, false).await;
        let mut turns = 0;
        while !run.reshaper.is_finished() {
            tokio::task::yield_now().await;
            turns += 1;
        }
        run.finish().await;
        turns
    })
}

/// kill -9 anywhere: what was acknowledged is there once, by the old map or by the new one, and no space is left over.
#[test]
fn a_crash_loses_and_doubles_nothing() {
    for seed in 0..3 {
        let turns = turns(seed);
        const POINTS: u64 = 30;
        for point in 0..POINTS {
            let (kept, model) = runtime().block_on(async {
                let store = FaultyStore::over(prepared(400).await, Faults::from_seed(seed)).await.unwrap();
                let run = Run::start(store.clone(), seed, false).await;
                for _ in 0..turns * point / POINTS {
                    tokio::task::yield_now().await;
                }
                (store.crash().await.unwrap(), run.model.clone())
            });
            runtime().block_on(async {
                let router = open(kept, small_steps()).await;
                check_spaces(&router).await;
                model.check(&router).await;
                reshape_once(&router, seed + point).await.unwrap();
                model.check(&router).await;
            });
        }
    }
}

/// A store that refuses one call, or loses it, or loses its answer, which may be that of the cut itself: clients find
/// out what became of their writes, and everybody goes on; so does the map.
#[test]
fn one_lost_call_is_survived() {
    for fault in [Fault::Refuse, Fault::LoseRequest, Fault::LoseAnswer] {
        let mut reached = [0; 2];
        for (call, most) in [(Call::Commit, 24), (Call::CreateSpace, 4), (Call::Flush, 1), (Call::DropSpace, 2)] {
            for n in 1..=most {
                let good = runtime().block_on(one_fault(call, fault, n));
                reached[usize::from(good)] += 1;
            }
        }
        assert!(reached.iter().all(|times| *times > 2), "{fault:?} has met reshapes and writes: {reached:?}");
    }
}

/// Tells whether no reshape failed.
async fn one_fault(call: Call, fault: Fault, n: u64) -> bool {
    // Opening makes the first space.
    let faults = Faults::from_seed(n).nth(call, n + u64::from(call == Call::CreateSpace), fault);
    let store = FaultyStore::over(prepared(400).await, faults).await.unwrap();
    let run = Run::start(store.clone(), n, true).await;
    let (router, model, good) = run.finish().await;
    model.check(&router).await;
    if reshape_once(&router, n).await.is_err() {
        // The fault had not come up yet.
        reshape_once(&router, n).await.unwrap();
    }
    model.check(&router).await;
    let again = open(store.crash().await.unwrap(), small_steps()).await;
    check_spaces(&again).await;
    model.check(&again).await;
    good
}
