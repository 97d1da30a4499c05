//! A replaced indexing policy: nobody relies on the index until it is what the new policy wants.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::json;
use tesela_model::rid::ResourceId;
use tesela_partition::Partition;
use tesela_partition::container::Container;
use tesela_partition::item::Item;
use tesela_partition::layout::{DocumentRecord, Key};
use tesela_partition::write::{Conditions, Write, WriteRequest};
use tesela_store::{Batch, Direction, KeyRange, MemoryStore, ScanLimit, Snapshot, SpaceId, Store};

const SPACE: SpaceId = SpaceId(1);

fn container(policy: &str) -> Arc<Container> {
    let text = format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"version":2}},"indexingPolicy":{policy}}}"#);
    let definition = ContainerDefinition::from_json(&json::parse(text.as_bytes()).unwrap()).unwrap();
    Arc::new(Container::new(ResourceId::container(1, 1), "dbs/x/colls/y/".to_owned(), &definition))
}

const NARROW: &str = r#"{"includedPaths":[{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}]}"#;
const WIDE: &str =
    r#"{"includedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}]]}"#;

async fn open(store: &MemoryStore, container: Arc<Container>) -> Partition<MemoryStore> {
    Partition::open(store.clone(), SPACE, 0, Env::simulated(1), container).await.unwrap()
}

async fn put(partition: &Partition<MemoryStore>, body: &str) {
    let item = Item::parse(body.as_bytes()).unwrap();
    let key = item.key(&partition.container().partition_key).unwrap();
    let request = WriteRequest { key, write: Write::Upsert(item), conditions: Conditions::default(), indexed: true };
    partition.write(request).await.unwrap();
}

async fn rows(store: &MemoryStore, range: KeyRange) -> Vec<(bytes::Bytes, bytes::Bytes)> {
    store.snapshot().scan(SPACE, range, Direction::Forward, ScanLimit::rows(1_000_000)).await.unwrap().rows
}

/// Invariant 2 of the architecture: index == rebuild(documents).
async fn assert_index_follows(store: &MemoryStore, container: &Container) {
    let mut wanted = BTreeSet::new();
    for (key, value) in rows(store, Key::documents()).await {
        let record = DocumentRecord::decode(&value).unwrap();
        wanted.extend(container.index.entries(record.document.root()).keys(Key::document_ordinal(&key).unwrap()));
    }
    let mut found = BTreeSet::new();
    for range in Key::index_rows() {
        found.extend(rows(store, range).await.into_iter().map(|(key, _)| key));
    }
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn a_replaced_policy_is_followed_by_every_document() {
    let store = MemoryStore::new();
    store.create_space(SPACE).await.unwrap();
    let (narrow, wide) = (container(NARROW), container(WIDE));
    let partition = open(&store, narrow.clone()).await;
    for n in 0..700 {
        put(&partition, &format!(r#"{{"id":"{n}","pk":{},"a":{n},"b":"x{n}","t":[1,{n}]}}"#, n % 5)).await;
    }
    assert!(partition.index_is_complete());
    assert_index_follows(&store, &narrow).await;

    assert!(partition.set_container(wide.clone()), "another policy needs a rebuild");
    assert!(!partition.index_is_complete());
    put(&partition, r#"{"id":"0","pk":0,"a":"changed"}"#).await;
    assert_index_follows(&store, &narrow).await;

    partition.rebuild_index(wide.clone()).await.unwrap();
    assert!(partition.index_is_complete());
    assert_index_follows(&store, &wide).await;
    put(&partition, r#"{"id":"1","pk":1,"b":"changed"}"#).await;
    assert_index_follows(&store, &wide).await;
    assert!(!partition.set_container(container(WIDE)), "the same policy needs none");
    assert!(open(&store, wide).await.index_is_complete());
}

#[tokio::test]
async fn an_interrupted_rebuild_is_noticed_at_the_next_opening() {
    let store = MemoryStore::new();
    store.create_space(SPACE).await.unwrap();
    let partition = open(&store, container(NARROW)).await;
    put(&partition, r#"{"id":"1","pk":1,"a":1}"#).await;
    let mut batch = Batch::new();
    batch.delete(SPACE, Key::index_policy());
    store.commit(batch).await.unwrap();
    let again = open(&store, container(NARROW)).await;
    assert!(!again.index_is_complete());
    again.rebuild_index(container(NARROW)).await.unwrap();
    assert!(again.index_is_complete());
    assert_index_follows(&store, &container(NARROW)).await;
}
