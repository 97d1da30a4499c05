//! Lanes: scripts that lost a race for their key take turns.
//!
//! Scripts of one key run at the same time and the first to commit wins, which is best while they seldom meet. Where
//! they meet often most of the work would be lost, so whoever has lost once enters the lane of its key, and so does
//! whoever comes while there is one. A lane is there only while somebody is in it: a script that runs for long without
//! having lost to anybody stands in nobody's way.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tesela_model::epk::Epk;
use tesela_store::SpaceId;
use tokio::sync::{Mutex as TurnMutex, OwnedMutexGuard};

type Key = (SpaceId, Epk);
type Turns = Arc<TurnMutex<()>>;

#[derive(Clone, Default)]
pub(super) struct Lanes(Arc<Mutex<HashMap<Key, Turns>>>);

/// A place in a lane; dropping it leaves the lane, also while still waiting for the turn.
pub(super) struct Lane {
    lanes: Lanes,
    key: Key,
    turns: Option<Turns>,
    turn: Option<OwnedMutexGuard<()>>,
}

impl Lanes {
    pub(super) fn is_taken(&self, space: SpaceId, epk: &Epk) -> bool {
        let lanes = self.0.lock();
        !lanes.is_empty() && lanes.contains_key(&(space, epk.clone()))
    }

    /// Waits for the turn.
    pub(super) async fn enter(&self, space: SpaceId, epk: &Epk) -> Lane {
        let key = (space, epk.clone());
        let turns = self.0.lock().entry(key.clone()).or_default().clone();
        // Made before the wait, so that whoever gives up waiting is taken out of the books too.
        let mut lane = Lane { lanes: self.clone(), key, turns: Some(turns.clone()), turn: None };
        lane.turn = Some(turns.lock_owned().await);
        lane
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let mut lanes = self.lanes.0.lock();
        self.turn = None;
        self.turns = None;
        if lanes.get(&self.key).is_some_and(|turns| Arc::strong_count(turns) == 1) {
            lanes.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lane_lasts_while_somebody_is_in_it() {
        let lanes = Lanes::default();
        let (space, epk) = (SpaceId(1), Epk::from_bytes(vec![1]));
        assert!(!lanes.is_taken(space, &epk));
        let first = lanes.enter(space, &epk).await;
        let waiting = {
            let (lanes, epk) = (lanes.clone(), epk.clone());
            tokio::spawn(async move { lanes.enter(space, &epk).await })
        };
        let other = lanes.enter(space, &Epk::from_bytes(vec![2])).await;
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        let second = waiting.await.unwrap();
        assert!(lanes.is_taken(space, &epk));
        let given_up = {
            let (lanes, epk) = (lanes.clone(), epk.clone());
            tokio::spawn(async move { lanes.enter(space, &epk).await })
        };
        tokio::task::yield_now().await;
        given_up.abort();
        assert!(given_up.await.is_err());
        drop((second, other));
        assert!(lanes.0.lock().is_empty());
    }
}
