//! A container, clients that write to it and remember what they were told, and an oracle.

use crate::catalog::{Catalog, CatalogOptions, Container, ContainerOptions, Throughput};
use crate::feeds::ChangeStart;
use crate::router::Router;
use crate::scope::Scope;
use crate::split::{SplitOptions, SplitPoint};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tesela_env::Env;
use tesela_model::epk::Epk;
use tesela_model::json;
use tesela_partition::item::{Item, LogicalKey};
use tesela_partition::layout::{Counters, DocumentRecord, Key, LogicalRecord};
use tesela_partition::read::PageLimit;
use tesela_partition::split::Portion;
use tesela_partition::write::{Conditions, Write, WriteRequest};
use tesela_store::faulty::FaultyStore;
use tesela_store::{Direction, KeyRange, MemoryStore, ScanLimit, Snapshot, SpaceId, Store};

pub type Faulty = FaultyStore<MemoryStore>;

const DEFINITION: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2},
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/id"]}]},"changeFeedPolicy":{"retentionDuration":10},
    "indexingPolicy":{"includedPaths":[{"path":"/*"}],
        "compositeIndexes":[[{"path":"/v","order":"ascending"},{"path":"/id","order":"descending"}]]}}"#;

/// Pages of a few rows, so that a reshape takes many steps.
pub fn small_steps() -> SplitOptions {
    steps_of(3)
}

pub fn steps_of(rows: usize) -> SplitOptions {
    SplitOptions {
        portion: Portion { page: ScanLimit { rows, bytes: 1 << 20 }, commit_bytes: 1_000 * rows },
        grace: Duration::ZERO,
        ..SplitOptions::default()
    }
}

pub async fn open<S: Store>(store: S, options: SplitOptions) -> Router<S> {
    let env = Env::simulated(7);
    let catalog = Catalog::open(store.clone(), env.clone(), CatalogOptions::default()).await.unwrap();
    Router::with_splits(store, env, catalog, options)
}

/// A store that holds the container `c` of database `d`, with one partition.
pub async fn prepared(ru: u32) -> MemoryStore {
    let store = MemoryStore::new();
    let router = open(store.clone(), SplitOptions::default()).await;
    let parse = |text: &str| json::parse(text.as_bytes()).unwrap();
    router.catalog().create_database(&parse(r#"{"id":"d"}"#), None).await.unwrap();
    let options = ContainerOptions { throughput: Some(Throughput::Manual { ru }), partitions: None };
    router.catalog().create_container("d", &parse(DEFINITION), options).await.unwrap();
    store
}

pub fn container<S: Store>(router: &Router<S>) -> Arc<Container> {
    router.catalog().container("d", "c").unwrap()
}

pub fn ids(container: &Container) -> Vec<u32> {
    container.partitions.partitions().iter().map(|partition| partition.id).collect()
}

/// What an item is: its version, or nothing.
type State = Option<u64>;

/// What clients know of an item: what it was when they were last told, and what they have asked for since.
#[derive(Clone, Debug, Default)]
struct Known {
    told: State,
    asked: Option<State>,
}

/// What clients know of all items.
#[derive(Clone, Default)]
pub struct Model(Arc<Mutex<BTreeMap<(u32, u32), Known>>>);

/// A client that writes the items of some keys, one at a time.
pub struct Client {
    pub model: Model,
    pub keys: std::ops::Range<u32>,
    random: u64,
}

impl Client {
    pub fn new(model: &Model, number: u32, seed: u64) -> Self {
        let random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(number + 1) << 17;
        Self { model: model.clone(), keys: number * 4..number * 4 + 4, random }
    }

    fn chance(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    /// Writes an item; false when the store did not answer, and nobody knows whether it was written.
    pub async fn write<S: Store>(&mut self, router: &Router<S>) -> bool {
        let pk = self.keys.start + self.chance(u64::from(self.keys.end - self.keys.start)) as u32;
        let id = self.chance(6) as u32;
        let known = self.model.0.lock().get(&(pk, id)).cloned().unwrap_or_default();
        let asked = match known.told {
            Some(_) if self.chance(4) == 0 => None,
            Some(version) => Some(version + 1),
            None => Some(self.chance(1000) + 1),
        };
        self.model.0.lock().insert((pk, id), Known { told: known.told, asked: Some(asked) });
        let container = container(router);
        let key = key(&container, pk);
        let write = match asked {
            Some(version) => Write::Upsert(item(pk, id, version)),
            None => Write::Delete { id: id.to_string() },
        };
        let request = WriteRequest { key, write, conditions: Conditions::default(), indexed: true };
        let answer = router.write_item(&container, request).await;
        if answer.is_ok() {
            self.model.0.lock().insert((pk, id), Known { told: asked, asked: None });
            let read = self.read(router, pk, id).await;
            assert_eq!(read, Ok(asked), "clients read their own writes");
        }
        answer.is_ok()
    }

    /// After a write nobody answered: looks what became of it.
    pub async fn look<S: Store>(&self, router: &Router<S>) {
        for pk in self.keys.clone() {
            for id in 0..6 {
                let known = self.model.0.lock().get(&(pk, id)).cloned();
                if let Some(Known { told, asked: Some(asked) }) = known {
                    let found = self.read(router, pk, id).await.unwrap();
                    assert!(found == told || found == asked, "{pk}/{id} is {found:?}, was {told:?} or {asked:?}");
                    self.model.0.lock().insert((pk, id), Known { told: found, asked: None });
                }
            }
        }
    }

    async fn read<S: Store>(&self, router: &Router<S>, pk: u32, id: u32) -> Result<State, String> {
        let container = container(router);
        let read = router.read_item(&container, &key(&container, pk), &id.to_string(), false).await;
        Ok(read.map_err(|error| error.to_string())?.record.map(|record| version(&record)))
    }
}

pub fn key(container: &Container, pk: u32) -> LogicalKey {
    item(pk, 0, 0).key(&container.definition.partition_key).unwrap()
}

pub fn item(pk: u32, id: u32, version: u64) -> Item {
    let text = format!(r#"{{"id":"{id}","pk":"k{pk}","v":{version},"tags":["a","b{}"]}}"#, version % 3);
    Item::parse(text.as_bytes()).unwrap()
}

fn version(record: &DocumentRecord) -> u64 {
    record.document.root().get("v").unwrap().as_f64().unwrap() as u64
}

fn name(record: &DocumentRecord) -> (u32, u32) {
    let root = record.document.root();
    let text = |name: &str| root.get(name).unwrap().as_str().unwrap().into_owned();
    (text("pk")[1..].parse().unwrap(), text("id").parse().unwrap())
}

impl Model {
    /// Holds everything there is against what clients were told, and every row against the documents.
    pub async fn check<S: Store>(&self, router: &Router<S>) {
        let container = container(router);
        let mut known = self.0.lock().clone();
        let found = read_all(router, &container).await;
        for (name, version) in &found {
            let known = known.remove(name).unwrap_or_default();
            let right = known.told == Some(*version) || known.asked == Some(Some(*version));
            assert!(right, "{name:?} is {version}, known: {known:?}");
        }
        for (name, known) in known {
            let right = known.told.is_none() || known.asked == Some(None);
            assert!(right, "{name:?} is not there, known: {known:?}");
        }
        assert_eq!(changes(router, &container).await, found, "the change feed shows each item once");
        for physical in container.partitions.partitions() {
            let partition = router.partition(&container, physical).await.unwrap();
            check_rows(router.store(), &partition, physical.range.min(), physical.range.max()).await;
        }
    }
}

/// Every item once, by the read feed.
async fn read_all<S: Store>(router: &Router<S>, container: &Container) -> BTreeMap<(u32, u32), u64> {
    let mut found = BTreeMap::new();
    let mut continuation: Option<Vec<u8>> = None;
    loop {
        let limit = PageLimit { items: 5, bytes: 1 << 20 };
        let page = router.read_feed(container, &Scope::Container, continuation.as_deref(), limit).await.unwrap();
        for record in &page.records {
            assert_eq!(found.insert(name(record), version(record)), None, "an item came twice");
        }
        continuation = page.continuation;
        if continuation.is_none() {
            return found;
        }
    }
}

/// Every item once, by the change feeds of all partitions.
async fn changes<S: Store>(router: &Router<S>, container: &Container) -> BTreeMap<(u32, u32), u64> {
    let mut found = BTreeMap::new();
    for physical in container.partitions.partitions() {
        let scope = Scope::Partition { id: physical.id, window: None };
        let limit = PageLimit { items: usize::MAX, bytes: usize::MAX };
        let changes = router.latest_changes(container, &scope, ChangeStart::Beginning, limit).await.unwrap();
        for (lsn, record) in changes.page.changes {
            assert_eq!(lsn, record.lsn);
            assert_eq!(found.insert(name(&record), version(&record)), None, "an item came twice");
        }
    }
    found
}

/// Documents, counters, logical partitions, feed and index of a partition agree, and its keys are its own.
async fn check_rows<S: Store>(store: &S, partition: &tesela_partition::Partition<S>, min: &Epk, max: &Epk) {
    let rows = |range: KeyRange| {
        let snapshot = store.snapshot();
        let space = partition.space();
        async move { snapshot.scan(space, range, Direction::Forward, ScanLimit::NONE).await.unwrap().rows }
    };
    let mut counted =
        Counters { lsn: partition.counters().lsn, issued: partition.counters().issued, ..Counters::default() };
    let mut logicals: BTreeMap<Bytes, (u64, u64)> = BTreeMap::new();
    let (mut index, mut feed) = (BTreeSet::new(), BTreeSet::new());
    for (key, value) in rows(Key::documents()).await {
        let ordinal = Key::document_ordinal(&key).unwrap();
        let record = DocumentRecord::decode(&value).unwrap();
        assert!(*min <= record.epk && record.epk < *max, "a document in a partition that does not own it");
        assert!(record.lsn <= counted.lsn, "no document is ahead of its partition");
        counted.documents += 1;
        counted.bytes += u64::from(record.bytes);
        let logical = logicals.entry(Key::logical(&record.epk)).or_default();
        *logical = (logical.0 + 1, logical.1 + u64::from(record.bytes));
        index.extend(partition.container().index.entries(record.document.root()).keys(ordinal));
        feed.insert(Key::feed(record.lsn, record.sequence, ordinal));
    }
    assert_eq!(partition.counters(), counted);
    let kept = rows(Key::logicals()).await.into_iter().map(|(key, value)| {
        let record = LogicalRecord::decode(&value).unwrap();
        (key, (record.documents, record.bytes))
    });
    assert_eq!(kept.collect::<BTreeMap<_, _>>(), logicals);
    let keys = |rows: Vec<(Bytes, Bytes)>| rows.into_iter().map(|(key, _)| key).collect::<BTreeSet<_>>();
    assert_eq!(keys(rows(Key::feed_after(0)).await), feed);
    let mut stored = BTreeSet::new();
    for range in Key::index_rows() {
        stored.extend(keys(rows(range).await));
    }
    assert_eq!(stored, index, "the index equals a rebuild");
}

/// The spaces that must exist, and no others.
pub async fn check_spaces<S: Store>(router: &Router<S>) {
    let mut named: Vec<SpaceId> = container(router).partitions.spaces().collect();
    named.push(SpaceId::CATALOG);
    named.sort_unstable();
    assert_eq!(router.store().spaces().await.unwrap(), named);
}

/// Changes the map at random, for as long as it is asked to.
pub async fn reshape_once<S: Store>(router: &Router<S>, random: u64) -> Result<(), crate::split::ReshapeError> {
    let container = container(router);
    let partitions = container.partitions.partitions();
    let at = random as usize % partitions.len();
    if partitions.len() > 1 && (random >> 20).is_multiple_of(2) || partitions.len() > 4 {
        let (a, b) = (&partitions[at], &partitions[(at + 1) % partitions.len()]);
        // The last has no neighbour behind it.
        let (a, b) = if a.range.max() == b.range.min() { (a, b) } else { (&partitions[0], &partitions[1]) };
        return router.merge(&container.rid, b.id, a.id).await.map(drop);
    }
    router.split(&container.rid, partitions[at].id, SplitPoint::Best).await.map(drop)
}
