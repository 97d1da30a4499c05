//! Documents carried over from one partition to others while it serves, checked row by row.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::epk::{Epk, EpkRange};
use tesela_model::json;
use tesela_model::rid::ResourceId;
use tesela_partition::container::Container;
use tesela_partition::error::WriteError;
use tesela_partition::item::{Item, LogicalKey};
use tesela_partition::layout::{Counters, DocumentRecord, Key};
use tesela_partition::split::{Portion, Tally, Target, Transfer, put_counters};
use tesela_partition::write::{Conditions, Write, WriteRequest};
use tesela_partition::{BatchStep, Partition};
use tesela_store::{Batch, Direction, KeyRange, MemoryStore, ScanLimit, Snapshot, SpaceId, Store};

const PARENT: SpaceId = SpaceId(1);
const CHILDREN: [SpaceId; 2] = [SpaceId(2), SpaceId(3)];
/// Everything that makes rows: unique keys, time to live, history, composite indexes.
const DEFINITION: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2},"defaultTtl":1000,
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]},"changeFeedPolicy":{"retentionDuration":10},
    "indexingPolicy":{"includedPaths":[{"path":"/*"}],
        "compositeIndexes":[[{"path":"/n","order":"ascending"},{"path":"/u","order":"descending"}]]}}"#;
/// One row at a time, so that writes fall between any two.
const TINY: Portion = Portion { page: ScanLimit { rows: 1, bytes: 1 }, commit_bytes: 1 };

type Rows = BTreeMap<Bytes, Bytes>;

struct World {
    store: MemoryStore,
    env: Env,
    container: Arc<Container>,
}

impl World {
    async fn new() -> Self {
        let definition = ContainerDefinition::from_json(&json::parse(DEFINITION.as_bytes()).unwrap()).unwrap();
        let store = MemoryStore::new();
        for space in [PARENT, CHILDREN[0], CHILDREN[1]] {
            store.create_space(space).await.unwrap();
        }
        let container = Container::new(ResourceId::container(1, 1), "dbs/x/colls/y/".to_owned(), &definition);
        Self { store, env: Env::simulated(1), container: Arc::new(container) }
    }

    async fn partition(&self, space: SpaceId, id: u32) -> Partition<MemoryStore> {
        Partition::open(self.store.clone(), space, id, self.env.clone(), self.container.clone()).await.unwrap()
    }

    fn key(&self, pk: u8) -> LogicalKey {
        let item = Item::parse(format!(r#"{{"id":"x","pk":{pk}}}"#).as_bytes()).unwrap();
        item.key(&self.container.partition_key).unwrap()
    }

    fn request(&self, pk: u8, write: Write) -> WriteRequest {
        WriteRequest { key: self.key(pk), write, conditions: Conditions::default(), indexed: true }
    }

    /// Every row but counters, tombstones and the policy of the index, which whoever splits puts.
    async fn rows(&self, space: SpaceId) -> Rows {
        let page = self.store.snapshot().scan(space, KeyRange::all(), Direction::Forward, ScanLimit::NONE).await;
        let own = [Key::counters(), Key::index_policy()];
        let moved = |key: &Bytes| !own.contains(key) && !Key::tombstones().contains(key);
        page.unwrap().rows.into_iter().filter(|(key, _)| moved(key)).collect()
    }

    async fn counters(&self, space: SpaceId) -> Counters {
        let row = self.store.snapshot().get(space, &Key::counters()).await.unwrap();
        row.map(|row| Counters::decode(&row).unwrap()).unwrap_or_default()
    }
}

fn halves(at: &Epk) -> Vec<Target> {
    let ranges = [EpkRange::new(Epk::min(), at.clone()).unwrap(), EpkRange::new(at.clone(), Epk::max()).unwrap()];
    CHILDREN.into_iter().zip(ranges).map(|(space, range)| Target { space, range }).collect()
}

fn item(pk: u8, id: u8, unique: u8) -> Item {
    let text = format!(r#"{{"id":"{id}","pk":{pk},"u":{unique},"n":[{unique},{{"x":"é"}}],"ttl":{}}}"#, 5 + id);
    Item::parse(text.as_bytes()).unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    Upsert {
        pk: u8,
        id: u8,
        unique: u8,
    },
    Rename {
        pk: u8,
        id: u8,
        to: u8,
    },
    Delete {
        pk: u8,
        id: u8,
    },
    /// Two items exchange their unique values, under one LSN.
    Exchange {
        pk: u8,
        ids: (u8, u8),
        unique: u8,
    },
    Copy,
    CatchUp,
}

fn any_step() -> impl Strategy<Value = Step> {
    let (pk, id, unique) = (0..4_u8, 0..4_u8, 0..5_u8);
    prop_oneof![
        4 => (pk.clone(), id.clone(), unique.clone()).prop_map(|(pk, id, unique)| Step::Upsert { pk, id, unique }),
        1 => (pk.clone(), id.clone(), id.clone()).prop_map(|(pk, id, to)| Step::Rename { pk, id, to }),
        2 => (pk.clone(), id.clone()).prop_map(|(pk, id)| Step::Delete { pk, id }),
        1 => (pk, (id.clone(), id), unique).prop_map(|(pk, ids, unique)| Step::Exchange { pk, ids, unique }),
        4 => Just(Step::Copy),
        1 => Just(Step::CatchUp),
    ]
}

/// Runs a write; a refused one is as good as any.
async fn write(world: &World, partition: &Partition<MemoryStore>, step: &Step) {
    match step {
        Step::Upsert { pk, id, unique } => {
            let _ = partition.write(world.request(*pk, Write::Upsert(item(*pk, *id, *unique)))).await;
        }
        Step::Rename { pk, id, to } => {
            let write = Write::Replace { id: id.to_string(), item: item(*pk, *to, 9) };
            let _ = partition.write(world.request(*pk, write)).await;
        }
        Step::Delete { pk, id } => {
            let _ = partition.write(world.request(*pk, Write::Delete { id: id.to_string() })).await;
        }
        Step::Exchange { pk, ids, unique } => {
            let steps = [(ids.0, 7), (ids.1, *unique), (ids.0, 8)];
            let steps = steps.map(|(id, unique)| Write::Upsert(item(*pk, id, unique)));
            let steps = steps.map(|write| BatchStep::Write(world.request(*pk, write)));
            let _ = partition.batch(world.key(*pk), steps.to_vec()).await;
        }
        Step::Copy | Step::CatchUp => unreachable!("not a write"),
    }
}

/// Takes steps of a transfer as the history says, then the rest of them.
async fn run(
    world: &World,
    parent: &Partition<MemoryStore>,
    mut transfer: Transfer<MemoryStore>,
    history: &[Step],
) -> Vec<Tally> {
    let mut copied = false;
    for step in history {
        match step {
            Step::Copy => copied |= transfer.copy_page().await.unwrap().is_none(),
            Step::CatchUp if copied => drop(transfer.catch_up().await.unwrap()),
            Step::CatchUp => {}
            other => write(world, parent, other).await,
        }
    }
    while transfer.copy_page().await.unwrap().is_some() {}
    let hold = parent.hold().await;
    let finished = transfer.finish(&hold).await.unwrap();
    world.store.commit(finished.rows).await.unwrap();
    assert_eq!(finished.lsn, parent.counters().lsn);
    finished.tallies
}

async fn split_case(before: Vec<Step>, during: Vec<Step>) -> Result<(), TestCaseError> {
    let world = World::new().await;
    let parent = world.partition(PARENT, 0).await;
    for step in before.iter().filter(|step| !matches!(step, Step::Copy | Step::CatchUp)) {
        write(&world, &parent, step).await;
    }
    let at = world.key(1).epk;
    let transfer = Transfer::begin(&parent, halves(&at), TINY).await.unwrap();
    let tallies = run(&world, &parent, transfer, &during).await;
    let (low, high) = (world.rows(CHILDREN[0]).await, world.rows(CHILDREN[1]).await);
    for (rows, tally, below) in [(&low, tallies[0], true), (&high, tallies[1], false)] {
        let documents: Vec<DocumentRecord> = rows
            .iter()
            .filter(|(key, _)| Key::documents().contains(key))
            .map(|(_, value)| DocumentRecord::decode(value).unwrap())
            .collect();
        prop_assert!(documents.iter().all(|record| (record.epk < at) == below));
        let bytes = documents.iter().map(|record| u64::from(record.bytes)).sum();
        prop_assert_eq!(tally, Tally { documents: documents.len() as u64, bytes });
    }
    prop_assert!(low.keys().all(|key| !high.contains_key(key)), "a row is in one child only");
    let union: Rows = low.into_iter().chain(high).collect();
    prop_assert_eq!(union, world.rows(PARENT).await);
    Ok(())
}

/// Two partitions whose LSNs and sequences coincide become one.
async fn merge_case(before: Vec<Step>, during: Vec<Step>) -> Result<(), TestCaseError> {
    let world = World::new().await;
    let at = world.key(1).epk;
    let parents = [world.partition(CHILDREN[0], 1).await, world.partition(CHILDREN[1], 2).await];
    let side = |step: &Step| {
        let (Step::Upsert { pk, .. } | Step::Rename { pk, .. } | Step::Delete { pk, .. } | Step::Exchange { pk, .. }) =
            step
        else {
            return None;
        };
        Some(usize::from(world.key(*pk).epk >= at))
    };
    for step in &before {
        if let Some(side) = side(step) {
            write(&world, &parents[side], step).await;
        }
    }
    let target = vec![Target { space: PARENT, range: EpkRange::full() }];
    for (number, parent) in parents.iter().enumerate() {
        let transfer = Transfer::begin(parent, target.clone(), TINY).await.unwrap();
        let mine = |step: &&Step| side(step).is_none_or(|side| side == number);
        let during: Vec<Step> = during.iter().filter(mine).cloned().collect();
        run(&world, parent, transfer, &during).await;
    }
    let (low, high) = (world.rows(CHILDREN[0]).await, world.rows(CHILDREN[1]).await);
    prop_assert!(low.keys().all(|key| !high.contains_key(key)), "no two rows of the parents have one key");
    let union: Rows = low.into_iter().chain(high).collect();
    prop_assert_eq!(union, world.rows(PARENT).await);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever is written while a split runs, the children end up with exactly the parent's rows.
    #[test]
    fn children_hold_what_the_parent_held(
        before in prop::collection::vec(any_step(), 0..25),
        during in prop::collection::vec(any_step(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(split_case(before, during))?;
    }

    #[test]
    fn a_merged_partition_holds_what_both_held(
        before in prop::collection::vec(any_step(), 0..25),
        during in prop::collection::vec(any_step(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(merge_case(before, during))?;
    }
}

/// The one order that must not be followed row by row: Y takes the value X gave up, and X comes later in the feed.
#[tokio::test]
async fn a_unique_value_changes_hands_behind_the_copy() {
    let world = World::new().await;
    let parent = world.partition(PARENT, 0).await;
    let upsert = async |id, unique| {
        parent.write(world.request(1, Write::Upsert(item(1, id, unique)))).await.unwrap();
    };
    upsert(0, 1).await;
    let mut transfer = Transfer::begin(&parent, halves(&world.key(1).epk), Portion::default()).await.unwrap();
    while transfer.copy_page().await.unwrap().is_some() {}
    upsert(0, 2).await;
    upsert(1, 1).await;
    upsert(0, 3).await;
    assert_eq!(transfer.catch_up().await.unwrap(), 2);
    let hold = parent.hold().await;
    world.store.commit(transfer.finish(&hold).await.unwrap().rows).await.unwrap();
    let union: Rows = world.rows(CHILDREN[0]).await.into_iter().chain(world.rows(CHILDREN[1]).await).collect();
    assert_eq!(union, world.rows(PARENT).await);
}

/// A held writer keeps writes waiting; let go, it runs them; closed, it sends them away.
#[tokio::test]
async fn writes_wait_for_the_cut_and_then_go_elsewhere() {
    let world = Arc::new(World::new().await);
    let parent = world.partition(PARENT, 0).await;
    let write = |id| {
        let (world, parent) = (world.clone(), parent.clone());
        tokio::spawn(async move { parent.write(world.request(1, Write::Create(item(1, id, id)))).await })
    };
    let hold = parent.hold().await;
    let waiting = write(1);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    drop(hold);
    assert_eq!(waiting.await.unwrap().unwrap().lsn, 1);
    let mut hold = parent.hold().await;
    let waiting = write(2);
    tokio::task::yield_now().await;
    hold.close_when_dropped();
    drop(hold);
    assert!(matches!(waiting.await.unwrap(), Err(WriteError::Gone)));
    assert!(matches!(write(3).await.unwrap(), Err(WriteError::Gone)));
    assert!(parent.is_closed());
    assert!(parent.read(&world.key(1), "1").await.unwrap().is_some(), "reads go on");
}

/// A hold that begins in the middle of a group waits for it, and a caller that gives up lets go.
#[tokio::test]
async fn a_hold_waits_for_the_group_under_way() {
    let world = Arc::new(World::new().await);
    let parent = world.partition(PARENT, 0).await;
    let spawn = |id| {
        let (world, parent) = (world.clone(), parent.clone());
        tokio::spawn(async move { parent.write(world.request(1, Write::Create(item(1, id, id)))).await })
    };
    let mut writes = Vec::new();
    for id in 0..50 {
        writes.push(spawn(id));
        if id == 25 {
            tokio::task::yield_now().await;
            let hold = parent.hold().await;
            let stored = world.counters(PARENT).await;
            assert_eq!(stored, hold.counters(), "nothing is half done");
        }
    }
    for write in writes {
        write.await.unwrap().unwrap();
    }
    {
        let mut giving_up = std::pin::pin!(parent.hold());
        let _ = std::future::poll_fn(|context| std::task::Poll::Ready(giving_up.as_mut().poll(context))).await;
    }
    parent.write(world.request(1, Write::Create(item(1, 60, 60)))).await.unwrap();
}

/// A transfer that is dropped leaves a partition that works as before, and the next one starts from nothing.
#[tokio::test]
async fn a_transfer_can_be_given_up() {
    let world = World::new().await;
    let parent = world.partition(PARENT, 0).await;
    for id in 0..6 {
        parent.write(world.request(id % 3, Write::Create(item(id % 3, id, id)))).await.unwrap();
    }
    let mut transfer = Transfer::begin(&parent, halves(&world.key(1).epk), TINY).await.unwrap();
    transfer.copy_page().await.unwrap();
    parent.write(world.request(0, Write::Delete { id: "0".to_owned() })).await.unwrap();
    let tombstones = async || {
        let snapshot = world.store.snapshot();
        snapshot.scan(PARENT, Key::tombstones(), Direction::Forward, ScanLimit::NONE).await.unwrap().rows.len()
    };
    assert_eq!(tombstones().await, 1);
    drop(transfer);
    parent.write(world.request(1, Write::Delete { id: "1".to_owned() })).await.unwrap();
    assert_eq!(tombstones().await, 1, "nobody needs them any more");
    let transfer = Transfer::begin(&parent, halves(&world.key(1).epk), TINY).await.unwrap();
    assert_eq!(tombstones().await, 0);
    transfer.abandon().await.unwrap();
}

/// The counters of a target are behind no session token of its sources.
#[tokio::test]
async fn targets_go_on_counting() {
    let world = World::new().await;
    let mut batch = Batch::new();
    put_counters(&mut batch, CHILDREN[0], 8, Tally { documents: 3, bytes: 300 });
    world.store.commit(batch).await.unwrap();
    let child = world.partition(CHILDREN[0], 5).await;
    assert_eq!(child.counters(), Counters { lsn: 8, documents: 3, bytes: 300, issued: 0 });
    let outcome = child.write(world.request(1, Write::Create(item(1, 1, 1)))).await.unwrap();
    assert_eq!(outcome.lsn, 9);
    assert_eq!(outcome.written.record.lsn, 9);
}

/// The point that divides the bytes best is where a logical partition begins.
#[tokio::test]
async fn the_balance_names_a_good_point() {
    let world = World::new().await;
    let parent = world.partition(PARENT, 0).await;
    let empty = parent.balance(&Epk::max()).await.unwrap();
    assert_eq!((empty.bytes, empty.below, empty.best), (0, 0, None));
    let mut keys: Vec<(Epk, u8)> = (0..5).map(|pk| (world.key(pk).epk, pk)).collect();
    keys.sort();
    // The first logical partition holds as much as the other four.
    for (place, (_, pk)) in keys.iter().enumerate() {
        for id in 0..if place == 0 { 4 } else { 1 } {
            parent.write(world.request(*pk, Write::Create(item(*pk, id, id)))).await.unwrap();
        }
        if place == 0 {
            assert_eq!(parent.balance(&Epk::max()).await.unwrap().best, None, "one logical partition is never cut");
        }
    }
    let balance = parent.balance(&keys[3].0).await.unwrap();
    let one = balance.bytes / 8;
    assert_eq!(balance.best, Some((keys[1].0.clone(), 4 * one)));
    assert_eq!(balance.below, 6 * one);
}
