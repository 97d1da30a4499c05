//! Partitions that were replaced: kept for readers that still hold the old map, then dropped.

use crate::router::Router;
use std::time::Duration;
use tesela_partition::Partition;
use tesela_store::{SpaceId, Store};

pub(super) struct Retired {
    space: SpaceId,
    /// On the clock of [`tesela_env::Env::elapsed`].
    due: Duration,
}

impl<S: Store> Router<S> {
    pub(super) fn retire(&self, sources: &[Partition<S>]) {
        let due = self.env().elapsed() + self.splits().options.grace;
        let mut retired = self.splits().retired.lock();
        retired.extend(sources.iter().map(|source| Retired { space: source.space(), due }));
    }

    /// Drops replaced partitions whose time has come.
    pub(super) async fn drop_retired(&self) {
        let now = self.env().elapsed();
        let due: Vec<SpaceId> = {
            let mut retired = self.splits().retired.lock();
            retired.extract_if(.., |retired| retired.due <= now).map(|retired| retired.space).collect()
        };
        for space in due {
            self.forget(space);
            if let Err(error) = self.store().drop_space(space).await {
                // The next opening of the catalog drops it.
                tracing::warn!(%space, %error, "a replaced partition could not be dropped");
            }
        }
    }
}
