//! The embedded engine passes the suite: with its defaults, and with buffers so small that tables
//! are written and merged all the time. Reopening closes the store here; `crash.rs` kills processes.

use tempfile::TempDir;
use tesela_store::suite::Subject;
use tesela_store_embedded::{Durability, EmbeddedStore, Options};

struct Opened<const SMALL: bool> {
    store: EmbeddedStore,
    folder: TempDir,
}

fn options(small: bool) -> Options {
    if !small {
        return Options::default();
    }
    // Not synced, because this is about tables and the suite's history is long.
    Options {
        durability: Durability::Buffered,
        memtable_bytes: 64 * 1024,
        cache_bytes: 64 * 1024,
        ..Options::default()
    }
}

impl<const SMALL: bool> Subject for Opened<SMALL> {
    type Store = EmbeddedStore;

    async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = EmbeddedStore::open(folder.path(), options(SMALL)).expect("the store opens");
        Self { store, folder }
    }

    fn store(&self) -> EmbeddedStore {
        self.store.clone()
    }

    async fn reopen(self) -> Option<Self> {
        let Self { store, folder } = self;
        drop(store);
        let store = EmbeddedStore::open(folder.path(), options(SMALL)).expect("the store opens");
        Some(Self { store, folder })
    }
}

mod defaults {
    tesela_store::store_suite!(super::Opened<false>);
}

mod small_buffers {
    tesela_store::store_suite!(super::Opened<true>);
}
