//! Expiry and retention over simulated time: what is visible is decided by the clock, what is stored by sweeps.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::json;
use tesela_model::rid::ResourceId;
use tesela_partition::container::Container;
use tesela_partition::item::Item;
use tesela_partition::layout::Operation;
use tesela_partition::read::{FeedScope, PageLimit};
use tesela_partition::write::{Conditions, Write, WriteRequest};
use tesela_partition::{Partition, SweepPosition, Swept};
use tesela_store::{MemoryStore, SpaceId, Store};

const SPACE: SpaceId = SpaceId(1);
const PAGE: PageLimit = PageLimit { items: 10_000, bytes: 64 << 20 };

struct Bench {
    env: Env,
    partition: Partition<MemoryStore>,
}

fn container(policies: &str) -> Arc<Container> {
    let text = format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"version":2}}{policies}}}"#);
    let definition = ContainerDefinition::from_json(&json::parse(text.as_bytes()).unwrap()).unwrap();
    Arc::new(Container::new(ResourceId::container(1, 1), "dbs/x/colls/y/".to_owned(), &definition))
}

async fn bench(policies: &str) -> Bench {
    let (store, env) = (MemoryStore::new(), Env::simulated(1));
    store.create_space(SPACE).await.unwrap();
    let partition = Partition::open(store, SPACE, 0, env.clone(), container(policies)).await.unwrap();
    Bench { env, partition }
}

impl Bench {
    /// Writes an item; `ttl` is JSON text, or nothing.
    async fn put(&self, id: u32, ttl: &str) {
        let ttl = if ttl.is_empty() { String::new() } else { format!(r#","ttl":{ttl}"#) };
        let item = Item::parse(format!(r#"{{"id":"{id}","pk":{}{ttl}}}"#, id % 7).as_bytes()).unwrap();
        let key = item.key(&self.partition.container().partition_key).unwrap();
        let request =
            WriteRequest { key, write: Write::Upsert(item), conditions: Conditions::default(), indexed: true };
        self.partition.write(request).await.unwrap();
    }

    async fn visible(&self) -> Vec<u32> {
        let feed = self.partition.feed(&FeedScope::All, None, PAGE).await.unwrap();
        let id = |record: &tesela_partition::layout::DocumentRecord| {
            record.document.root().get("id").unwrap().as_str().unwrap().parse().unwrap()
        };
        let mut ids: Vec<u32> = feed.records.iter().map(|(_, record)| id(record)).collect();
        ids.sort_unstable();
        ids
    }

    /// Sweeps until nothing is left to do; tells how many went and how often it took.
    async fn sweep(&self, position: &mut SweepPosition, most: usize) -> (usize, usize) {
        let (mut removed, mut sweeps) = (0, 0);
        loop {
            let swept = self.partition.remove_expired(position, most).await.unwrap();
            removed += swept.removed;
            sweeps += 1;
            if !swept.more {
                return (removed, sweeps);
            }
        }
    }

    fn advance(&self, seconds: u64) {
        self.env.advance(Duration::from_secs(seconds));
    }
}

#[tokio::test]
async fn a_changed_default_counts_for_what_is_there() {
    let bench = bench("").await;
    bench.put(1, "").await;
    bench.put(2, "100").await;
    bench.put(3, "-1").await;
    bench.advance(50);
    assert_eq!(bench.visible().await, [1, 2, 3], "without a default nothing expires");
    let mut position = SweepPosition::default();
    assert_eq!(bench.sweep(&mut position, 10).await, (0, 1));
    for (policy, wanted) in [
        (r#","defaultTtl":60"#, &[1, 2, 3][..]),
        (r#","defaultTtl":50"#, &[2, 3]),
        (r#","defaultTtl":-1"#, &[1, 2, 3]),
        (r#","defaultTtl":20"#, &[2, 3]),
    ] {
        bench.partition.set_container(container(policy));
        assert_eq!(bench.visible().await, wanted, "{policy}");
    }
    assert_eq!(bench.sweep(&mut position, 10).await.0, 1);
    bench.partition.set_container(container(""));
    bench.advance(1000);
    assert_eq!(bench.visible().await, [2, 3], "what a sweep has removed does not come back");
    bench.partition.set_container(container(r#","defaultTtl":-1"#));
    assert_eq!(bench.sweep(&mut position, 10).await.0, 1);
    assert_eq!((bench.visible().await, bench.partition.counters().documents), (vec![3], 1));
}

#[tokio::test]
async fn a_sweep_is_bounded_and_goes_on_where_it_stopped() {
    let bench = bench(r#","defaultTtl":10"#).await;
    for id in 0..200 {
        // Those that never expire stand among those that do.
        bench.put(id, if id < 100 { "-1" } else { "" }).await;
    }
    for id in 200..300 {
        bench.put(id, "10").await;
    }
    bench.advance(10);
    let mut position = SweepPosition::default();
    let (removed, sweeps) = bench.sweep(&mut position, 25).await;
    assert_eq!(removed, 200);
    assert!((12..=14).contains(&sweeps), "300 items are looked at, 25 at a time: {sweeps}");
    assert_eq!(bench.visible().await, (0..100).collect::<Vec<_>>());
    assert_eq!(bench.partition.counters().documents, 100);
    assert_eq!(bench.sweep(&mut position, 25).await, (0, 1), "what never expires is not looked at again");
    // Another sweeper, or this one after a restart, has to.
    assert_eq!(bench.sweep(&mut SweepPosition::default(), 25).await, (0, 5));
}

#[tokio::test]
async fn a_write_in_time_saves_an_item_from_the_sweep() {
    let bench = bench(r#","defaultTtl":10"#).await;
    bench.put(1, "").await;
    bench.put(2, "").await;
    bench.advance(6);
    bench.put(1, "").await;
    bench.advance(6);
    let mut position = SweepPosition::default();
    assert_eq!(bench.sweep(&mut position, 10).await.0, 1);
    assert_eq!(bench.visible().await, [1]);
    bench.advance(6);
    assert_eq!(bench.sweep(&mut position, 10).await.0, 1);
    assert_eq!(bench.partition.counters().documents, 0);
}

#[tokio::test]
async fn the_full_feed_tells_of_the_end_of_items() {
    let bench = bench(r#","defaultTtl":10,"changeFeedPolicy":{"retentionDuration":5}"#).await;
    bench.put(1, "").await;
    bench.advance(30);
    bench.sweep(&mut SweepPosition::default(), 10).await;
    let page = bench.partition.all_changes(&FeedScope::All, 0, PAGE).await.unwrap();
    let told: Vec<Operation> = page.changes.iter().map(|(_, change)| change.operation).collect();
    assert_eq!(told, [Operation::Create, Operation::Expire]);
}

#[tokio::test]
async fn history_is_kept_for_its_retention() {
    let bench = bench(r#","changeFeedPolicy":{"retentionDuration":5}"#).await;
    for minute in 0..10 {
        for version in 0..10 {
            bench.put(version % 3, &(1000 + minute).to_string()).await;
        }
        bench.advance(60);
    }
    let kept = async || bench.partition.all_changes(&FeedScope::All, 0, PAGE).await.unwrap().changes;
    assert_eq!(kept().await.len(), 100);
    let mut position = SweepPosition::default();
    let trim = async |position: &mut SweepPosition| bench.partition.trim_history(position, 20).await.unwrap();
    assert_eq!(trim(&mut position).await, Swept { removed: 20, more: true });
    assert_eq!(trim(&mut position).await, Swept { removed: 20, more: true });
    assert_eq!(trim(&mut position).await, Swept { removed: 10, more: false });
    assert_eq!(trim(&mut position).await, Swept::default());
    let end = bench.env.now().unix_seconds() - 5 * 60;
    let changes = kept().await;
    assert!(changes.len() == 50 && changes.iter().all(|(_, change)| change.at >= end));
    bench.partition.set_container(container(""));
    bench.advance(1);
    while trim(&mut position).await.more {}
    assert_eq!(kept().await.len(), 0, "a container without a policy keeps none");
    assert_eq!(bench.visible().await.len(), 3, "items are not history");
}

#[derive(Clone, Debug)]
enum Step {
    Put { id: u32, ttl: i32 },
    Advance(u64),
    Default(Option<i32>),
    Sweep { most: usize },
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..12_u32, prop::sample::select(vec![0, 0, -1, 3, 20]))
            .prop_map(|(id, ttl)| Step::Put { id, ttl }),
        2 => (1..15_u64).prop_map(Step::Advance),
        1 => prop::sample::select(vec![None, Some(-1), Some(5), Some(12)]).prop_map(Step::Default),
        2 => (1..6_usize).prop_map(|most| Step::Sweep { most }),
    ]
}

/// The items a container of that default has at a moment, by the rule in its simplest form.
fn living(model: &BTreeMap<u32, (u64, i32)>, default: Option<i32>, now: u64) -> Vec<u32> {
    let lives = |(written, own): &(u64, i32)| match (default, *own) {
        (None, _) | (Some(_), -1) | (Some(-1), 0) => true,
        (Some(default), 0) => written + default as u64 > now,
        (Some(_), own) => written + own as u64 > now,
    };
    model.iter().filter(|(_, item)| lives(item)).map(|(id, _)| *id).collect()
}

async fn check(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let bench = bench("").await;
    let (mut model, mut default) = (BTreeMap::new(), None);
    let mut position = SweepPosition::default();
    let now = || bench.env.now().unix_seconds();
    for step in steps {
        match step {
            Step::Put { id, ttl } => {
                bench.put(id, &if ttl == 0 { String::new() } else { ttl.to_string() }).await;
                model.insert(id, (now(), ttl));
            }
            Step::Advance(seconds) => bench.advance(seconds),
            Step::Default(new) => {
                default = new;
                let policy = new.map(|seconds| format!(r#","defaultTtl":{seconds}"#)).unwrap_or_default();
                bench.partition.set_container(container(&policy));
            }
            Step::Sweep { most } => {
                bench.sweep(&mut position, most).await;
                let alive = living(&model, default, now());
                model.retain(|id, _| alive.contains(id));
                prop_assert_eq!(bench.partition.counters().documents as usize, alive.len());
            }
        }
        prop_assert_eq!(bench.visible().await, living(&model, default, now()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever order things happen in: what is visible follows the rule, and a sweep removes exactly the rest.
    #[test]
    fn sweeps_remove_what_nobody_sees(steps in prop::collection::vec(any_step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(steps))?;
    }
}
