//! Work nobody waits for: removing what has expired.
//!
//! [`Sweeper`] knows what to do and does it bite by bite; [`Background`] is the task that calls it, sleeps in between,
//! and ends when the server does.
//!
//! How much of the machine it takes: while there is work, it works a quarter of the time, whatever a bite costs here and
//! now; without work it looks around less and less often; and while no container lets anything expire, it sleeps until
//! the catalog changes.

mod sweeper;
#[cfg(test)]
mod tests;

pub use sweeper::{Next, Sweeper};

use crate::router::Router;
use std::sync::Arc;
use std::time::Duration;
use tesela_store::Store;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Rest after a bite, in times of what the bite took. Ours.
const REST_FACTOR: u32 = 3;
/// Between two rounds: after one that found something, and the most after many that did not. Ours: an expired item takes
/// up room for so long, and an idle server wakes so often.
const ROUND_PAUSE_MIN: Duration = Duration::from_secs(1);
const ROUND_PAUSE_MAX: Duration = Duration::from_secs(30);

/// The background task of a server.
pub struct Background {
    /// Dropped to stop the task.
    running: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Background {
    pub fn start<S: Store>(router: Arc<Router<S>>) -> Self {
        let (running, stopped) = watch::channel(());
        Self { running, task: tokio::spawn(run(router, stopped)) }
    }

    /// Ends the task, which finishes its bite first.
    pub async fn stop(self) {
        drop(self.running);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the background task failed");
        }
    }
}

async fn run<S: Store>(router: Arc<Router<S>>, mut stopped: watch::Receiver<()>) {
    let mut changes = router.catalog().changes();
    let mut sweeper = Sweeper::new(router.clone());
    let mut pause = ROUND_PAUSE_MIN;
    loop {
        // Before the catalog is looked at, so that no change of it is missed.
        changes.mark_unchanged();
        let started = router.env().elapsed();
        let next = sweeper.bite().await;
        let took = router.env().elapsed().saturating_sub(started);
        let rest = match next {
            Next::Bite => took * REST_FACTOR,
            Next::Round { removed } => {
                pause = if removed > 0 { ROUND_PAUSE_MIN } else { (pause * 2).min(ROUND_PAUSE_MAX) };
                pause
            }
            Next::Nothing => {
                tokio::select! {
                    _ = changes.changed() => {}
                    _ = stopped.changed() => return,
                }
                // Changes come in bursts: one look for all of them.
                pause = ROUND_PAUSE_MIN;
                pause
            }
        };
        tokio::select! {
            () = sleep(rest) => {}
            _ = stopped.changed() => return,
        }
    }
}
