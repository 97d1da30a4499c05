//! A partition over the memory engine, driven through its public face and checked against a plain model.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::json;
use tesela_model::rid::ResourceId;
use tesela_partition::container::Container;
use tesela_partition::error::WriteError;
use tesela_partition::item::{Item, LogicalKey};
use tesela_partition::layout::{DocumentRecord, Key};
use tesela_partition::patch::Patch;
use tesela_partition::read::{FeedScope, PageLimit};
use tesela_partition::write::{Action, Conditions, Write, WriteRequest};
use tesela_partition::{BatchStep, Partition, StepOutcome, SweepPosition, Swept};
use tesela_store::{Direction, KeyRange, MemoryStore, ScanLimit, Snapshot, SpaceId, Store};

const SPACE: SpaceId = SpaceId(1);
const PAGE: PageLimit = PageLimit { items: 1000, bytes: 4 << 20 };

struct Bench {
    store: MemoryStore,
    env: Env,
    container: Arc<Container>,
    partition: Partition<MemoryStore>,
}

async fn bench(definition: &str) -> Bench {
    let definition = ContainerDefinition::from_json(&json::parse(definition.as_bytes()).unwrap()).unwrap();
    let (store, env) = (MemoryStore::new(), Env::simulated(1));
    store.create_space(SPACE).await.unwrap();
    let container = Container::new(ResourceId::container(1, 1), "dbs/x/colls/y/".to_owned(), &definition);
    let container = Arc::new(container);
    let partition = Partition::open(store.clone(), SPACE, 0, env.clone(), container.clone()).await.unwrap();
    Bench { store, env, container, partition }
}

const PLAIN: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2}}"#;

impl Bench {
    fn key(&self, pk: &str) -> LogicalKey {
        let item = Item::parse(format!(r#"{{"id":"x","pk":{pk}}}"#).as_bytes()).unwrap();
        item.key(&self.container.partition_key).unwrap()
    }

    fn request(&self, pk: &str, write: Write) -> WriteRequest {
        WriteRequest { key: self.key(pk), write, conditions: Conditions::default(), indexed: true }
    }

    async fn write(&self, pk: &str, write: Write) -> Result<(Action, DocumentRecord), WriteError> {
        let outcome = self.partition.write(self.request(pk, write)).await?;
        Ok((outcome.written.action, outcome.written.record))
    }

    async fn text(&self, pk: &str, id: &str) -> Option<String> {
        let record = self.partition.read(&self.key(pk), id).await.unwrap()?;
        let mut value = record.document.root().to_value();
        let object = value.as_object_mut().unwrap();
        tesela_partition::etag::SYSTEM_PROPERTIES
            .iter()
            .for_each(|name| assert!(object.remove(name).is_some(), "{name}"));
        Some(json::to_string(&value))
    }

    async fn rows(&self, range: KeyRange) -> Vec<(Bytes, Bytes)> {
        self.store.snapshot().scan(SPACE, range, Direction::Forward, ScanLimit::rows(1_000_000)).await.unwrap().rows
    }
}

fn item(body: &str) -> Item {
    Item::parse(body.as_bytes()).unwrap()
}

fn create(body: &str) -> Write {
    Write::Create(item(body))
}

#[tokio::test]
async fn an_item_lives_from_create_to_delete() {
    let bench = bench(PLAIN).await;
    let (action, first) = bench.write("\"a\"", create(r#"{"id":"1","pk":"a","n":1.0}"#)).await.unwrap();
    assert_eq!((action, first.lsn), (Action::Created, 1));
    assert_eq!(bench.text("\"a\"", "1").await.as_deref(), Some(r#"{"id":"1","pk":"a","n":1.0}"#));
    assert!(matches!(
        bench.write("\"a\"", create(r#"{"id":"1","pk":"a"}"#)).await,
        Err(WriteError::AlreadyExists { .. })
    ));

    let replace = Write::Replace { id: "1".into(), item: item(r#"{"id":"1","pk":"a","n":2}"#) };
    let (action, second) = bench.write("\"a\"", replace).await.unwrap();
    assert_eq!((action, second.lsn), (Action::Replaced, 2), "the refused create used up no LSN");
    let property = |record: &DocumentRecord, name: &str| record.document.root().get(name).unwrap().text().to_owned();
    assert_eq!(property(&first, "_rid"), property(&second, "_rid"));
    assert_ne!(property(&first, "_etag"), property(&second, "_etag"));

    let patch = Patch::from_json(&json::parse(br#"[{"op":"incr","path":"/n","value":5}]"#).unwrap()).unwrap();
    bench.write("\"a\"", Write::Patch { id: "1".into(), patch, condition: None }).await.unwrap();
    assert_eq!(bench.text("\"a\"", "1").await.as_deref(), Some(r#"{"id":"1","pk":"a","n":7}"#));

    bench.write("\"a\"", Write::Delete { id: "1".into() }).await.unwrap();
    assert_eq!(bench.text("\"a\"", "1").await, None);
    assert!(matches!(bench.write("\"a\"", Write::Delete { id: "1".into() }).await, Err(WriteError::NotFound { .. })));
    let counters = bench.partition.counters();
    assert_eq!((counters.documents, counters.bytes, counters.lsn), (0, 0, 4));
    assert_eq!(bench.rows(KeyRange::all()).await.len(), 2, "only the counters and the policy of the index are left");
}

/// R5: an id is unique inside a logical partition, not across.
#[tokio::test]
async fn the_same_id_may_live_under_other_keys() {
    let bench = bench(PLAIN).await;
    for pk in ["\"a\"", "\"b\"", "1", "true", "null", "{}"] {
        bench.write(pk, create(&format!(r#"{{"id":"1","pk":{pk}}}"#))).await.unwrap();
    }
    assert_eq!(bench.partition.counters().documents, 6);
    assert_eq!(bench.text("null", "1").await.as_deref(), Some(r#"{"id":"1","pk":null}"#));
}

#[tokio::test]
async fn conditions_are_checked_before_anything_changes() {
    let bench = bench(PLAIN).await;
    let (_, record) = bench.write("1", create(r#"{"id":"1","pk":1}"#)).await.unwrap();
    let good = tesela_partition::etag::of(&record);
    let with = |if_match: Option<&str>, if_none_match: Option<&str>| {
        let mut request = bench.request("1", Write::Upsert(item(r#"{"id":"1","pk":1,"x":1}"#)));
        request.conditions =
            Conditions { if_match: if_match.map(Into::into), if_none_match: if_none_match.map(Into::into) };
        request
    };
    assert!(matches!(bench.partition.write(with(Some("\"junk\""), None)).await, Err(WriteError::EtagMismatch { .. })));
    assert!(matches!(bench.partition.write(with(None, Some("*"))).await, Err(WriteError::Exists { .. })));
    assert_eq!(bench.partition.counters().lsn, 1);
    assert!(bench.partition.write(with(Some(&good), None)).await.is_ok());
    assert!(bench.partition.write(with(Some("*"), None)).await.is_ok());
}

/// R16: all steps of a batch or none, under one LSN, each seeing those before it.
#[tokio::test]
async fn a_batch_is_all_or_nothing() {
    let bench = bench(PLAIN).await;
    let step = |write| BatchStep::Write(bench.request("1", write));
    let steps = vec![
        step(create(r#"{"id":"1","pk":1}"#)),
        BatchStep::Read { id: "1".into(), if_none_match: None },
        step(Write::Replace { id: "1".into(), item: item(r#"{"id":"1","pk":1,"v":2}"#) }),
        step(create(r#"{"id":"2","pk":1}"#)),
    ];
    let committed = bench.partition.batch(bench.key("1"), steps.clone()).await.unwrap();
    assert_eq!((committed.lsn, committed.outcomes.len()), (1, 4));
    assert!(matches!(committed.outcomes[1], StepOutcome::Read(_)));
    let failed = bench
        .partition
        .batch(bench.key("1"), vec![step(create(r#"{"id":"3","pk":1}"#)), steps[0].clone()])
        .await
        .unwrap_err();
    assert_eq!(failed.step, 1);
    assert!(matches!(failed.error, WriteError::AlreadyExists { .. }));
    assert_eq!(bench.text("1", "3").await, None);
    assert_eq!(bench.partition.counters().lsn, 1);
}

#[tokio::test]
async fn unique_keys_hold_inside_a_logical_partition() {
    let bench = bench(r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/b/c"]}]}}"#).await;
    bench.write("1", create(r#"{"id":"1","pk":1,"a":"x","b":{"c":1}}"#)).await.unwrap();
    let clash = bench.write("1", create(r#"{"id":"2","pk":1,"a":"x","b":{"c":1.0}}"#)).await;
    assert!(matches!(clash, Err(WriteError::UniqueKey { .. })));
    bench.write("2", create(r#"{"id":"2","pk":2,"a":"x","b":{"c":1}}"#)).await.unwrap();
    bench.write("1", create(r#"{"id":"3","pk":1}"#)).await.unwrap();
    assert!(
        matches!(bench.write("1", create(r#"{"id":"4","pk":1,"a":null}"#)).await, Err(WriteError::UniqueKey { .. })),
        "missing is null"
    );
    bench.write("1", Write::Upsert(item(r#"{"id":"1","pk":1,"a":"y"}"#))).await.unwrap();
    bench.write("1", create(r#"{"id":"2","pk":1,"a":"x","b":{"c":1}}"#)).await.unwrap();
    bench.write("1", Write::Delete { id: "2".into() }).await.unwrap();
    bench.write("1", create(r#"{"id":"5","pk":1,"a":"x","b":{"c":1}}"#)).await.unwrap();
}

#[tokio::test]
async fn expired_items_are_gone_at_once_and_removed_later() {
    let bench = bench(r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2},"defaultTtl":10}"#).await;
    for body in [
        r#"{"id":"1","pk":1}"#,
        r#"{"id":"2","pk":1,"ttl":100}"#,
        r#"{"id":"3","pk":1,"ttl":-1}"#,
        r#"{"id":"4","pk":1}"#,
    ] {
        bench.write("1", create(body)).await.unwrap();
    }
    bench.env.advance(Duration::from_secs(11));
    assert_eq!(bench.text("1", "1").await, None);
    let feed = bench.partition.feed(&FeedScope::All, None, PAGE).await.unwrap();
    assert_eq!(feed.records.len(), 2);
    assert_eq!(bench.write("1", create(r#"{"id":"1","pk":1}"#)).await.unwrap().0, Action::Created);
    assert_eq!(bench.partition.counters().documents, 4);
    let mut position = SweepPosition::default();
    assert_eq!(bench.partition.remove_expired(&mut position, 100).await.unwrap(), Swept { removed: 1, more: false });
    assert_eq!(bench.partition.counters().documents, 3);
    assert_eq!(bench.partition.remove_expired(&mut position, 100).await.unwrap(), Swept::default());
}

/// A replace with another id moves the item to it, unless somebody is there.
#[tokio::test]
async fn a_replace_may_rename() {
    let bench = bench(PLAIN).await;
    let (_, first) = bench.write("1", create(r#"{"id":"a","pk":1}"#)).await.unwrap();
    bench.write("1", create(r#"{"id":"b","pk":1}"#)).await.unwrap();
    let renamed = |to: &str| Write::Replace { id: "a".into(), item: item(&format!(r#"{{"id":"{to}","pk":1}}"#)) };
    assert!(matches!(bench.write("1", renamed("b")).await, Err(WriteError::AlreadyExists { .. })));
    let (action, moved) = bench.write("1", renamed("c")).await.unwrap();
    let rid = |record: &DocumentRecord| record.document.root().get("_rid").unwrap().text().to_owned();
    assert_eq!((action, rid(&moved)), (Action::Replaced, rid(&first)));
    assert_eq!(bench.text("1", "a").await, None);
    assert_eq!(bench.text("1", "c").await.as_deref(), Some(r#"{"id":"c","pk":1}"#));
    bench.write("1", create(r#"{"id":"a","pk":1}"#)).await.unwrap();
    for id in ["a", "b", "c"] {
        bench.write("1", Write::Delete { id: id.into() }).await.unwrap();
    }
    assert_eq!(bench.rows(KeyRange::all()).await.len(), 2, "only the counters and the policy of the index are left");
}

/// More items than one transaction removes; the neighbours stay, and nothing of the key is left behind.
#[tokio::test]
async fn a_logical_partition_goes_as_a_whole() {
    let bench = bench(
        r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2},"defaultTtl":-1,
        "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/n"]}]}}"#,
    )
    .await;
    for n in 0..250 {
        bench.write("1", create(&format!(r#"{{"id":"{n}","pk":1,"n":{n},"ttl":5}}"#))).await.unwrap();
    }
    bench.write("2", create(r#"{"id":"0","pk":2,"n":0}"#)).await.unwrap();
    let before = bench.partition.counters().lsn;
    let removed = bench.partition.remove_logical(&bench.key("1")).await.unwrap();
    assert_eq!((removed.items, removed.lsn), (250, before + 3));
    assert!(removed.charge_ru > 250.0, "{removed:?}");
    assert_eq!(bench.partition.logical(&bench.key("1").epk).await.unwrap(), None);
    assert_eq!(bench.text("2", "0").await.as_deref(), Some(r#"{"id":"0","pk":2,"n":0}"#));
    let again = bench.partition.remove_logical(&bench.key("1")).await.unwrap();
    assert_eq!((again.items, again.lsn), (0, removed.lsn), "nothing to do uses up no LSN");
    bench.write("2", Write::Delete { id: "0".into() }).await.unwrap();
    assert_eq!(bench.rows(KeyRange::all()).await.len(), 2, "only the counters and the policy of the index are left");
}

#[tokio::test]
async fn feeds_come_in_insertion_order_and_resume() {
    let bench = bench(PLAIN).await;
    for n in 0..25 {
        bench.write(&format!("{}", n % 3), create(&format!(r#"{{"id":"{n}","pk":{}}}"#, n % 3))).await.unwrap();
    }
    let scopes =
        [FeedScope::All, FeedScope::Logical(bench.key("1").epk), FeedScope::Range(tesela_model::epk::EpkRange::full())];
    for scope in scopes {
        let mut ids = Vec::new();
        let mut after = None;
        loop {
            let page = bench.partition.feed(&scope, after, PageLimit { items: 4, bytes: 1 << 20 }).await.unwrap();
            ids.extend(page.records.iter().map(|(_, record)| {
                record.document.root().get("id").unwrap().as_str().unwrap().parse::<u32>().unwrap()
            }));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let expected: Vec<u32> = (0..25).filter(|n| !matches!(scope, FeedScope::Logical(_)) || n % 3 == 1).collect();
        assert_eq!(ids, expected, "{scope:?}");
    }
}

#[tokio::test]
async fn the_latest_feed_shows_each_item_once_at_its_last_write() {
    let bench = bench(PLAIN).await;
    for n in 0..4 {
        bench.write("1", create(&format!(r#"{{"id":"{n}","pk":1}}"#))).await.unwrap();
    }
    bench.write("1", Write::Upsert(item(r#"{"id":"0","pk":1,"v":2}"#))).await.unwrap();
    bench.write("1", Write::Delete { id: "1".into() }).await.unwrap();
    let page = bench.partition.latest_changes(&FeedScope::All, 0, None, PAGE).await.unwrap();
    let seen: Vec<(u64, String)> = page
        .changes
        .iter()
        .map(|(lsn, r)| (*lsn, r.document.root().get("id").unwrap().as_str().unwrap().into_owned()))
        .collect();
    assert_eq!(seen, [(3, "2".into()), (4, "3".into()), (5, "0".into())]);
    assert_eq!((page.position, page.more), (6, false));
    let small =
        bench.partition.latest_changes(&FeedScope::All, 3, None, PageLimit { items: 1, bytes: 1 << 20 }).await.unwrap();
    assert_eq!((small.changes.len(), small.position, small.more), (1, 4, true));
}

#[tokio::test]
async fn the_full_feed_keeps_every_change() {
    let bench =
        bench(r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2},"changeFeedPolicy":{"retentionDuration":10}}"#)
            .await;
    bench.write("1", create(r#"{"id":"1","pk":1}"#)).await.unwrap();
    bench.write("1", Write::Upsert(item(r#"{"id":"1","pk":1,"v":2}"#))).await.unwrap();
    bench.write("1", Write::Delete { id: "1".into() }).await.unwrap();
    let page = bench.partition.all_changes(&FeedScope::All, 0, PAGE).await.unwrap();
    use tesela_partition::layout::Operation::{Create, Delete, Replace};
    let seen: Vec<_> = page.changes.iter().map(|(lsn, change)| (*lsn, change.operation, change.previous_lsn)).collect();
    assert_eq!(seen, [(1, Create, 0), (2, Replace, 1), (3, Delete, 2)]);
}

/// R11: a full logical partition refuses growth, names its key, and still lets items shrink and go.
#[tokio::test]
async fn a_logical_partition_has_a_size_limit() {
    let mut bench = bench(PLAIN).await;
    let small = Container { logical_partition_bytes_max: 100, ..(*bench.container).clone() };
    bench.container = Arc::new(small);
    bench.partition.set_container(bench.container.clone());
    bench.write("1", create(r#"{"id":"1","pk":1,"x":"0123456789012345678901234567890123456789"}"#)).await.unwrap();
    let full = bench
        .write("1", create(r#"{"id":"2","pk":1,"x":"0123456789012345678901234567890123456789"}"#))
        .await
        .unwrap_err();
    assert!(full.to_string().contains("[1]"), "{full}");
    bench.write("2", create(r#"{"id":"2","pk":2,"x":"0123456789012345678901234567890123456789"}"#)).await.unwrap();
    bench.write("1", Write::Upsert(item(r#"{"id":"1","pk":1,"x":"0"}"#))).await.unwrap();
}

/// Many writers at once: every write is answered, LSNs are dense, nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writers_share_group_commits() {
    let bench = Arc::new(bench(PLAIN).await);
    let tasks: Vec<_> = (0..32)
        .map(|writer| {
            let bench = bench.clone();
            tokio::spawn(async move {
                let mut lsns = Vec::new();
                for n in 0..20 {
                    let body = format!(r#"{{"id":"{writer}-{n}","pk":{}}}"#, writer % 5);
                    lsns.push(bench.write(&format!("{}", writer % 5), create(&body)).await.unwrap().1.lsn);
                }
                lsns
            })
        })
        .collect();
    let mut lsns = BTreeSet::new();
    for task in tasks {
        lsns.extend(task.await.unwrap());
    }
    assert_eq!(lsns, (1..=640).collect());
    assert_eq!(bench.partition.counters().documents, 640);
}

/// What a reopened partition knows is what it knew.
#[tokio::test]
async fn reopening_continues() {
    let bench = bench(PLAIN).await;
    bench.write("1", create(r#"{"id":"1","pk":1}"#)).await.unwrap();
    let again =
        Partition::open(bench.store.clone(), SPACE, 0, bench.env.clone(), bench.container.clone()).await.unwrap();
    assert_eq!(again.counters(), bench.partition.counters());
    let outcome = again.write(bench.request("1", create(r#"{"id":"2","pk":1}"#))).await.unwrap();
    assert_eq!(outcome.lsn, 2);
}

#[derive(Clone, Debug)]
enum Step {
    Upsert { pk: u8, id: u8, body: String },
    Delete { pk: u8, id: u8 },
    Batch { pk: u8, ids: Vec<u8> },
}

fn any_step() -> impl Strategy<Value = Step> {
    let body = prop::sample::select(vec![
        r#""n":1"#,
        r#""n":1.5,"tags":["a","b","a"]"#,
        r#""o":{"x":null,"y":[{"z":"é"}]}"#,
        r#""s":"text","t":true"#,
        r#""n":[]"#,
    ]);
    prop_oneof![
        4 => (0..3_u8, 0..4_u8, body).prop_map(|(pk, id, body)| Step::Upsert { pk, id, body: body.to_owned() }),
        2 => (0..3_u8, 0..4_u8).prop_map(|(pk, id)| Step::Delete { pk, id }),
        1 => (0..3_u8, prop::collection::vec(0..4_u8, 1..4)).prop_map(|(pk, ids)| Step::Batch { pk, ids }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Invariant 2 of the architecture: index == rebuild(documents); and counters, feed and items agree with a model.
    #[test]
    fn rows_follow_documents(steps in prop::collection::vec(any_step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check_history(steps))?;
    }
}

async fn check_history(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let bench = bench(r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2},"indexingPolicy":{"includedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/n","order":"ascending"},{"path":"/s","order":"descending"}]]}}"#).await;
    let mut model: BTreeMap<(u8, u8), String> = BTreeMap::new();
    for step in steps {
        match step {
            Step::Upsert { pk, id, body } => {
                let text = format!(r#"{{"id":"{id}","pk":{pk},{body}}}"#);
                bench.write(&pk.to_string(), Write::Upsert(item(&text))).await.unwrap();
                model.insert((pk, id), text);
            }
            Step::Delete { pk, id } => {
                let gone = bench.write(&pk.to_string(), Write::Delete { id: id.to_string() }).await;
                prop_assert_eq!(gone.is_ok(), model.remove(&(pk, id)).is_some());
            }
            Step::Batch { pk, ids } => {
                let text = |id: &u8| format!(r#"{{"id":"{id}","pk":{pk},"b":1}}"#);
                let steps = ids.iter().map(|id| BatchStep::Write(bench.request(&pk.to_string(), create(&text(id)))));
                let done = bench.partition.batch(bench.key(&pk.to_string()), steps.collect()).await.is_ok();
                let distinct: BTreeSet<_> = ids.iter().collect();
                prop_assert_eq!(
                    done,
                    distinct.len() == ids.len() && ids.iter().all(|id| !model.contains_key(&(pk, *id)))
                );
                if done {
                    ids.iter().for_each(|id| drop(model.insert((pk, *id), text(id))));
                }
            }
        }
    }
    for ((pk, id), text) in &model {
        let found = bench.text(&pk.to_string(), &id.to_string()).await;
        prop_assert_eq!(found.as_ref(), Some(text));
    }
    let counters = bench.partition.counters();
    prop_assert_eq!(counters.documents as usize, model.len());
    prop_assert_eq!(counters.bytes as usize, model.values().map(String::len).sum::<usize>());
    let mut rebuilt = BTreeSet::new();
    for (key, value) in bench.rows(Key::documents()).await {
        let record = DocumentRecord::decode(&value).unwrap();
        rebuilt
            .extend(bench.container.index.entries(record.document.root()).keys(Key::document_ordinal(&key).unwrap()));
    }
    let mut stored = BTreeSet::new();
    for range in Key::index_rows() {
        stored.extend(bench.rows(range).await.into_iter().map(|(key, _)| key));
    }
    prop_assert_eq!(stored, rebuilt);
    let feed = bench.partition.latest_changes(&FeedScope::All, 0, None, PAGE).await.unwrap();
    prop_assert_eq!(feed.changes.len(), model.len());
    Ok(())
}
