//! Spillover resolver (R32): no scheme at all; the next collection when the last is full to a fill factor.
//!
//! Every create goes to the last collection of the list; every read visits all, newest first, for nothing
//! says where a document is. Good for logs, poor for point reads.
//!
//! Writers never wait. `resolve_for_create` looks at a list in memory; sizes are measured beside it, when
//! someone calls [`SpilloverResolver::advance`] — a background task, say every few seconds. Between two
//! checks a collection can grow past its fill factor, so the factor must leave room for what is written in
//! between.
//!
//! Several writers, in one process or many, need no lock between them. The next number is never drawn from a
//! counter: it follows from the collection that was found full, `last + 1`. Two who find 3 full both ensure 4
//! and both go on to it; nobody can skip to 5, because 4 must be *full* for that. The list only ever grows at
//! its end, so lists of two processes merge by union.
//!
//! What remains to the caller: publish the list after [`Spill::Advanced`] (see [`crate::SharedResolver`]). A reader
//! who has not followed does not yet see what was written to the new collection.

use std::sync::{Arc, PoisonError, RwLock};

use tesela_model::json::Value;

use super::template::{BoxFuture, CollectionFactory, CollectionTemplate, ProviderError};
use crate::error::{ConfigError, ResolveError};
use crate::key::{Key, ReadScope};
use crate::link::CollectionLink;
use crate::resolver::PartitionResolver;

/// Full collections one check may walk past. Ours: a process that slept that long should load the map instead.
const ADVANCES_PER_CHECK_MAX: usize = 64;

/// Measures collections.
pub trait CollectionSizes: Send + Sync {
    /// Bytes the collection holds now, or held a short while ago.
    fn size_bytes<'a>(&'a self, link: &'a CollectionLink) -> BoxFuture<'a, Result<u64, ProviderError>>;
}

/// When a collection counts as full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpillPolicy {
    capacity_bytes: u64,
    fill_percent: u32,
}

impl SpillPolicy {
    /// Full from `fill_percent` (1 to 100) of `capacity_bytes` on.
    pub fn new(capacity_bytes: u64, fill_percent: u32) -> Result<Self, ConfigError> {
        if !(1..=100).contains(&fill_percent) {
            return Err(ConfigError::FillFactor { found: fill_percent });
        }
        if capacity_bytes == 0 {
            return Err(ConfigError::NoCapacity);
        }
        Ok(Self { capacity_bytes, fill_percent })
    }

    /// What a collection can hold.
    pub fn capacity_bytes(self) -> u64 {
        self.capacity_bytes
    }

    /// The share of it at which the next one begins.
    pub fn fill_percent(self) -> u32 {
        self.fill_percent
    }

    fn is_full(self, bytes: u64) -> bool {
        u128::from(bytes) * 100 >= u128::from(self.capacity_bytes) * u128::from(self.fill_percent)
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub enum Spill {
    /// The last collection has room.
    Room {
        /// What it holds.
        bytes: u64,
    },
    /// Writers have moved on; the list should be published.
    Advanced {
        /// To this collection.
        to: CollectionLink,
    },
}

/// Collections filled one after the other. Clones share the list.
#[derive(Clone, Debug)]
pub struct SpilloverResolver {
    template: Arc<CollectionTemplate>,
    policy: SpillPolicy,
    /// Numbers, ascending, never empty. Held only to copy or swap the pointer.
    numbers: Arc<RwLock<Arc<[u64]>>>,
}

impl SpilloverResolver {
    /// Starts with the first collection of the template, which must be there before the first write.
    pub fn new(template: CollectionTemplate, policy: SpillPolicy) -> Self {
        let numbers = Arc::from([template.first]);
        Self { template: Arc::new(template), policy, numbers: Arc::new(RwLock::new(numbers)) }
    }

    /// Goes on with a list: its numbers are sorted, and one at least.
    pub fn resumed(
        template: CollectionTemplate,
        policy: SpillPolicy,
        mut numbers: Vec<u64>,
    ) -> Result<Self, ConfigError> {
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            return Err(ConfigError::NoCollections);
        }
        let resolver = Self::new(template, policy);
        resolver.swap(|_| Some(numbers));
        Ok(resolver)
    }

    /// What new collections look like.
    pub fn template(&self) -> &CollectionTemplate {
        &self.template
    }

    /// When a collection counts as full.
    pub fn policy(&self) -> SpillPolicy {
        self.policy
    }

    /// The numbers of the collections, ascending.
    pub fn numbers(&self) -> Arc<[u64]> {
        // A list is swapped whole, so a panic elsewhere cannot have left half of one.
        self.numbers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn swap(&self, change: impl FnOnce(&[u64]) -> Option<Vec<u64>>) {
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(changed) = change(&numbers) {
            *numbers = changed.into();
        }
    }

    fn last(&self) -> u64 {
        *self.numbers().last().expect("the list is never empty")
    }

    /// Measures the last collection and, when it is full, makes the next and moves writers on. Never called by a write.
    pub async fn advance(
        &self,
        sizes: &dyn CollectionSizes,
        factory: &dyn CollectionFactory,
    ) -> Result<Spill, ProviderError> {
        let mut advanced = None;
        for _ in 0..ADVANCES_PER_CHECK_MAX {
            let last = self.last();
            let bytes = sizes.size_bytes(&self.template.naming.link(last)).await?;
            if !self.policy.is_full(bytes) {
                return Ok(advanced.map_or(Spill::Room { bytes }, |to| Spill::Advanced { to }));
            }
            let plan = self.template.plan(last + 1);
            factory.ensure(&plan).await?;
            // Someone else may have moved on meanwhile; then the list already has it.
            self.swap(|numbers| (numbers.last() == Some(&last)).then(|| [numbers, &[last + 1]].concat()));
            advanced = Some(plan.link);
        }
        let to = self.template.naming.link(self.last());
        Ok(Spill::Advanced { to })
    }

    /// Takes in the list another process published. Lists only grow, so the union is right in any order.
    pub fn absorb(&self, others: &[u64]) {
        self.swap(|numbers| {
            let mut union = [numbers, others].concat();
            union.sort_unstable();
            union.dedup();
            (union != numbers).then_some(union)
        });
    }
}

impl PartitionResolver for SpilloverResolver {
    /// There is no scheme, hence no key.
    fn partition_key(&self, _: &Value) -> Result<Key, ResolveError> {
        Ok(Key::Null)
    }

    fn resolve_for_create(&self, _: &Key) -> Result<CollectionLink, ResolveError> {
        Ok(self.template.naming.link(self.last()))
    }

    /// Newest first: what was written last is asked for most.
    fn resolve_for_read(&self, _: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        Ok(self.numbers().iter().rev().map(|&number| self.template.naming.link(number)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::super::template::{CollectionPlan, Ensured};
    use super::*;
    use crate::testing::block_on;

    /// Collections and their sizes; the only two doors the resolver has.
    #[derive(Default)]
    struct Database(Mutex<BTreeMap<String, u64>>);

    impl Database {
        fn write(&self, link: &CollectionLink, bytes: u64) {
            *self.0.lock().unwrap().get_mut(link.as_str()).expect("collection exists") += bytes;
        }
        fn names(&self) -> Vec<String> {
            self.0.lock().unwrap().keys().cloned().collect()
        }
    }

    impl CollectionSizes for Database {
        fn size_bytes<'a>(&'a self, link: &'a CollectionLink) -> BoxFuture<'a, Result<u64, ProviderError>> {
            Box::pin(
                async move { self.0.lock().unwrap().get(link.as_str()).copied().ok_or("no such collection".into()) },
            )
        }
    }

    impl CollectionFactory for Database {
        fn ensure<'a>(&'a self, plan: &'a CollectionPlan) -> BoxFuture<'a, Result<Ensured, ProviderError>> {
            Box::pin(async move {
                let mut collections = self.0.lock().unwrap();
                let existed = collections.contains_key(plan.link.as_str());
                collections.entry(plan.link.to_string()).or_default();
                Ok(if existed { Ensured::Existed } else { Ensured::Created })
            })
        }
    }

    fn log() -> (Database, SpilloverResolver) {
        let template = CollectionTemplate::new("log-{n}").unwrap();
        let resolver = SpilloverResolver::new(template, SpillPolicy::new(1_000, 90).unwrap());
        let database = Database::default();
        block_on(database.ensure(&resolver.template().plan(0))).unwrap();
        (database, resolver)
    }

    fn target(resolver: &SpilloverResolver) -> CollectionLink {
        resolver.resolve_for_create(&Key::Null).unwrap()
    }

    #[test]
    fn r32_the_next_collection_begins_at_the_fill_factor() {
        let (database, log) = log();
        database.write(&target(&log), 899);
        assert_eq!(block_on(log.advance(&database, &database)).unwrap(), Spill::Room { bytes: 899 });
        assert_eq!(target(&log).as_str(), "log-0");
        database.write(&target(&log), 1);
        assert_eq!(block_on(log.advance(&database, &database)).unwrap(), Spill::Advanced { to: "log-1".into() });
        assert_eq!(target(&log).as_str(), "log-1");
        let read = log.resolve_for_read(&"any".into()).unwrap();
        assert_eq!(read, ["log-1".into(), "log-0".into()]);
    }

    #[test]
    fn r32_a_process_that_lagged_walks_to_the_end_and_no_further() {
        let (database, fast) = log();
        let slow = SpilloverResolver::resumed(fast.template().clone(), fast.policy(), vec![0]).unwrap();
        for _ in 0..3 {
            database.write(&target(&fast), 1_000);
            block_on(fast.advance(&database, &database)).unwrap();
        }
        assert_eq!(target(&slow).as_str(), "log-0");
        assert_eq!(block_on(slow.advance(&database, &database)).unwrap(), Spill::Advanced { to: "log-3".into() });
        assert_eq!(*slow.numbers(), [0, 1, 2, 3]);
        assert_eq!(database.names().len(), 4, "nobody made a fifth");
    }

    #[test]
    fn r32_many_writers_and_checkers_never_skip_a_number() {
        let (database, first) = log();
        std::thread::scope(|scope| {
            for worker in 0..8 {
                // Half share one list, half are other processes.
                let log = if worker % 2 == 0 {
                    first.clone()
                } else {
                    SpilloverResolver::resumed(first.template().clone(), first.policy(), vec![0]).unwrap()
                };
                let database = &database;
                scope.spawn(move || {
                    for _ in 0..200 {
                        database.write(&target(&log), 50);
                        block_on(log.advance(database, database)).unwrap();
                    }
                });
            }
        });
        let made = database.names().len() as u64;
        let sizes = database.0.lock().unwrap();
        for number in 0..made {
            let bytes = sizes.get(&format!("log-{number}")).expect("numbers have no holes");
            assert!(number + 1 == made || *bytes >= 900, "log-{number} was left with {bytes} bytes");
        }
        assert_eq!(sizes.values().sum::<u64>(), 8 * 200 * 50);
    }

    /// Lets another checker of the same list run to its end while this one is making its collection.
    struct Overtaken<'a>(&'a Database, &'a SpilloverResolver);

    impl CollectionFactory for Overtaken<'_> {
        fn ensure<'a>(&'a self, plan: &'a CollectionPlan) -> BoxFuture<'a, Result<Ensured, ProviderError>> {
            Box::pin(async move {
                self.1.advance(self.0, self.0).await?;
                self.0.ensure(plan).await
            })
        }
    }

    #[test]
    fn r32_a_checker_that_is_overtaken_does_not_advance_twice() {
        let (database, log) = log();
        database.write(&target(&log), 1_000);
        let spill = block_on(log.advance(&database, &Overtaken(&database, &log.clone()))).unwrap();
        assert_eq!(spill, Spill::Advanced { to: "log-1".into() });
        assert_eq!(*log.numbers(), [0, 1]);
    }

    #[test]
    fn r32_lists_merge_in_any_order() {
        let (_, log) = log();
        log.absorb(&[2, 1, 0]);
        log.absorb(&[1]);
        assert_eq!(*log.numbers(), [0, 1, 2]);
    }

    #[test]
    fn r32_policies_are_checked() {
        assert_eq!(SpillPolicy::new(1, 0), Err(ConfigError::FillFactor { found: 0 }));
        assert_eq!(SpillPolicy::new(1, 101), Err(ConfigError::FillFactor { found: 101 }));
        assert_eq!(SpillPolicy::new(0, 90), Err(ConfigError::NoCapacity));
    }
}
