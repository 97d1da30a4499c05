//! Threads for scripts: how many run at once, and how the long ones are kept out of the way of the short ones.
//!
//! Scripts are work for the processor, so few of them run at a time and the rest waits. But a script may take seconds,
//! and a few such would make everybody wait. So places come in two kinds: a script starts in a *quick* place, and when
//! it has not ended soon it moves to a *lasting* one, of which there are few as well. Only when those are all taken do
//! long scripts hold up short ones, and who waits too long is told to come back (429/3084).

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Scripts that run at once. Ours: they only use the processor, and waiting for a thread costs less than sharing one.
const QUICK_PLACES: usize = 8;
/// Scripts that may go on for long beside them.
const LASTING_PLACES: usize = 8;
/// Time after which a script counts as a long one. Ours: some hundred times what a small one takes.
const QUICK_MS: u64 = 50;
/// Time a script waits for a place. Ours: a tenth of what it may take.
const WAIT_MS: u64 = 500;

pub(super) struct Runs {
    quick: Arc<Semaphore>,
    lasting: Arc<Semaphore>,
}

impl Default for Runs {
    fn default() -> Self {
        Self { quick: Arc::new(Semaphore::new(QUICK_PLACES)), lasting: Arc::new(Semaphore::new(LASTING_PLACES)) }
    }
}

/// The place a script has. The script's thread holds it too: it stays taken when the caller goes away.
type Place = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

impl Runs {
    /// Runs `work` on a thread of its own. `None` when no place became free in time.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let place = self.take().await?;
        let held = place.clone();
        let mut running = tokio::task::spawn_blocking(move || {
            let value = work();
            drop(held);
            value
        });
        let ended = tokio::time::timeout(Duration::from_millis(QUICK_MS), &mut running).await;
        let ended = match ended {
            Ok(ended) => ended,
            Err(_) => {
                self.make_lasting(&place);
                drop(place);
                running.await
            }
        };
        match ended {
            Ok(value) => Some(value),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    async fn take(&self) -> Option<Place> {
        let waited = tokio::time::timeout(Duration::from_millis(WAIT_MS), self.quick.clone().acquire_owned()).await;
        let permit = waited.ok()?.expect("the semaphore is never closed");
        Some(Arc::new(Mutex::new(Some(permit))))
    }

    /// Makes room for another quick one, if this one can go elsewhere.
    fn make_lasting(&self, place: &Place) {
        if let Ok(permit) = self.lasting.clone().try_acquire_owned() {
            *place.lock() = Some(permit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Scripts that do not end, as many as there are lasting places, hold up nobody.
    #[tokio::test(flavor = "multi_thread")]
    async fn long_ones_make_room() {
        let runs = Arc::new(Runs::default());
        let (ends, mut running) = (Mutex::new(Vec::new()), Vec::new());
        for _ in 0..LASTING_PLACES + QUICK_PLACES - 1 {
            let (end, ended) = mpsc::channel::<()>();
            ends.lock().push(end);
            let runs = runs.clone();
            running.push(tokio::spawn(async move { runs.run(move || ended.recv().is_err()).await }));
        }
        for turn in 0..3 {
            assert_eq!(runs.run(move || turn).await, Some(turn));
        }
        // One more that does not end takes the last place, and nobody finds one any more.
        let (end, ended) = mpsc::channel::<()>();
        let last = {
            let runs = runs.clone();
            tokio::spawn(async move { runs.run(move || ended.recv().is_err()).await })
        };
        tokio::time::sleep(Duration::from_millis(2 * QUICK_MS)).await;
        assert_eq!(runs.run(|| ()).await, None);
        ends.lock().clear();
        drop(end);
        for each in running.into_iter().chain([last]) {
            assert_eq!(each.await.unwrap(), Some(true));
        }
        assert_eq!(runs.run(|| 1).await, Some(1));
    }

    /// A caller that goes away does not free the place of a script that still runs.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_place_is_held_by_the_thread() {
        let runs = Arc::new(Runs::default());
        let (end, ended) = mpsc::channel::<()>();
        let caller = {
            let runs = runs.clone();
            tokio::spawn(async move { runs.run(move || ended.recv().is_err()).await })
        };
        while runs.quick.available_permits() == QUICK_PLACES {
            tokio::task::yield_now().await;
        }
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert_eq!(runs.quick.available_permits(), QUICK_PLACES - 1);
        drop(end);
        while runs.quick.available_permits() != QUICK_PLACES {
            tokio::task::yield_now().await;
        }
    }
}
