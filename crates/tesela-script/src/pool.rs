//! Warm realms waiting for their container's next run.
//!
//! A realm serves one container only: code of one customer's container never meets an object another
//! container's code has seen, frozen or not. Within a container the realm used last is taken first, so
//! that few stay warm under light load; over all containers the one unused longest gives way.

use std::sync::Mutex;
use std::time::Duration;

use crate::limits::IDLE_REALM_MS;
use crate::realm::Realm;

pub(crate) struct Pool {
    capacity: usize,
    /// In order of return; the last is the one used most recently.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    container: Box<str>,
    realm: Realm,
    since: Duration,
    swept: bool,
}

impl Pool {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, idle: Mutex::new(Vec::new()) }
    }

    pub(crate) fn take(&self, container: &str) -> Option<Realm> {
        let mut idle = self.lock();
        let at = idle.iter().rposition(|idle| &*idle.container == container)?;
        Some(idle.remove(at).realm)
    }

    /// Keeps the realm if it may serve again.
    pub(crate) fn put(&self, container: &str, realm: Realm, now: Duration) {
        if !realm.is_reusable() {
            return;
        }
        let mut idle = self.lock();
        idle.push(Idle { container: container.into(), realm, since: now, swept: false });
        let evicted = (idle.len() > self.capacity).then(|| idle.remove(0));
        // Freeing a heap takes long; not under the lock.
        drop(idle);
        drop(evicted);
    }

    /// Collects the garbage of realms used since the last sweep and drops those unused for long. One
    /// realm at a time is out of the pool meanwhile.
    pub(crate) fn sweep(&self, now: Duration) {
        let unused = |idle: &Idle| now.saturating_sub(idle.since) > Duration::from_millis(IDLE_REALM_MS);
        let gone: Vec<Idle> = self.lock().extract_if(.., |idle| unused(idle)).collect();
        drop(gone);
        for _ in 0..self.len() {
            let mut realms = self.lock();
            let Some(at) = realms.iter().position(|idle| !idle.swept) else { return };
            let mut idle = realms.remove(at);
            drop(realms);
            idle.realm.tidy();
            idle.swept = true;
            if idle.realm.is_reusable() {
                self.lock().push(idle);
            }
        }
    }

    pub(crate) fn forget(&self, container: &str) {
        let mut idle = self.lock();
        let (gone, kept) = idle.drain(..).partition::<Vec<_>, _>(|idle| &*idle.container == container);
        *idle = kept;
        drop(idle);
        drop(gone);
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        self.lock().iter().map(|idle| idle.realm.heap_bytes()).sum()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        // A panic between two Vec operations leaves the list whole.
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
