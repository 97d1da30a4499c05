//! Where a map is kept, so that several processes follow the same one.

use crate::limits::STATE_BYTES_MAX;
use crate::resolvers::{BoxFuture, ProviderError};

/// A map as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredState {
    /// The JSON text.
    pub text: Vec<u8>,
    /// Names this very content; opaque to everyone but the store.
    pub etag: String,
}

/// Why a store did not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the stored map is not the one that was read: someone changed it meanwhile")]
    Conflict,
    #[error("the map has {found} bytes, at most {STATE_BYTES_MAX} can be stored")]
    TooLarge { found: usize },
    #[error("the map's store failed: {0}")]
    Provider(#[source] ProviderError),
}

/// Keeps one map.
///
/// `save` is atomic and durable when it resolves, and happens only if the stored map is still the expected
/// one (`None`: there is none yet); else [`StoreError::Conflict`], and nothing was changed. A `load` sees a
/// whole map or none.
pub trait StateStore: Send + Sync {
    /// The map, if there is one.
    fn load(&self) -> BoxFuture<'_, Result<Option<StoredState>, StoreError>>;

    /// Replaces the map `expected`; gives the etag of the new one.
    fn save<'a>(&'a self, text: &'a [u8], expected: Option<&'a str>) -> BoxFuture<'a, Result<String, StoreError>>;

    /// The map, if it is another one than `seen`: the seam for change notification. A store that can be told of
    /// changes (a change feed, `If-None-Match`) overrides it; whoever follows a map decides when to ask.
    fn load_if_changed<'a>(&'a self, seen: &'a str) -> BoxFuture<'a, Result<Option<StoredState>, StoreError>> {
        Box::pin(async move { Ok(self.load().await?.filter(|stored| stored.etag != seen)) })
    }
}
