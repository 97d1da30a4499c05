//! R10: clients read and write while partitions split and merge, and notice nothing.

use super::world::*;
use crate::catalog::{Migration, Precondition};
use crate::feeds::ChangeStart;
use crate::scope::Scope;
use crate::split::{ReshapeError, SplitOptions, SplitPoint};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tesela_model::epk::Epk;
use tesela_model::json;
use tesela_partition::read::PageLimit;
use tesela_store::faulty::{Faults, FaultyStore};

/// Writers that read their own writes, while the map changes six times. No request fails, nothing is lost
/// or doubled, and a reader that pages through the container meanwhile sees every item that was there all the time.
#[test]
fn clients_notice_nothing() {
    for seed in 0..8 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(one_run(seed));
    }
}

async fn one_run(seed: u64) {
    let store = FaultyStore::over(prepared(400).await, Faults::from_seed(seed)).await.unwrap();
    let router = Arc::new(open(store, steps_of(20)).await);
    let model = Model::default();
    let done = Arc::new(AtomicBool::new(false));
    let mut tasks = Vec::new();
    for number in 0..4 {
        let (router, done) = (router.clone(), done.clone());
        let mut client = Client::new(&model, number, seed);
        tasks.push(tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                assert!(client.write(&router).await, "no write fails");
                // History is kept and copied, too: writers at full speed would make each copy longer than the last.
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
            }
        }));
    }
    let (reader, reading) = (router.clone(), done.clone());
    tasks.push(tokio::spawn(async move {
        while !reading.load(Ordering::Relaxed) {
            page_through(&reader).await;
        }
    }));
    for round in 0..6_u64 {
        reshape_once(&router, (seed + 3).wrapping_mul(round + 7).wrapping_mul(0x9E37_79B9_7F4A_7C15)).await.unwrap();
        router.drop_retired().await;
    }
    done.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    model.check(&router).await;
    check_spaces(&router).await;
}

/// Reads the container page by page, each page by the map of its moment: no item twice.
async fn page_through(router: &crate::Router<Faulty>) {
    let mut seen = BTreeMap::new();
    let mut continuation: Option<Vec<u8>> = None;
    loop {
        let limit = PageLimit { items: 4, bytes: 1 << 20 };
        let container = container(router);
        let page = router.read_feed(&container, &Scope::Container, continuation.as_deref(), limit).await.unwrap();
        for record in &page.records {
            let rid = record.document.root().get("_rid").unwrap().text().to_owned();
            assert!(seen.insert(rid, record.lsn).is_none(), "a continuation brought an item back");
        }
        continuation = page.continuation;
        if continuation.is_none() {
            return;
        }
    }
}

#[tokio::test]
async fn throughput_asks_for_partitions() {
    let router = open(prepared(400).await, SplitOptions::default()).await;
    let rid = container(&router).rid.clone();
    let offer = router.catalog().state().offer_of(&rid).unwrap().resource.rid.clone();
    let raise = async |ru: u32| {
        let body = json::parse(format!(r#"{{"content":{{"offerThroughput":{ru}}}}}"#).as_bytes()).unwrap();
        let pending = router.catalog().replace_offer(&offer, &body, Migration::None, 0, Precondition::NONE).await;
        assert!(pending.unwrap().terms.pending);
        router.settle(&rid).await.unwrap();
        assert!(!router.catalog().state().offer(&offer).unwrap().terms.pending);
    };
    raise(11_000).await;
    let shape = || -> Vec<(u32, Vec<u32>, String)> {
        let container = container(&router);
        let partitions = container.partitions.partitions().iter();
        partitions.map(|one| (one.id, one.parents.clone(), one.range.max().to_hex())).collect()
    };
    let half = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF".to_owned();
    assert_eq!(shape(), [(1, vec![0], half.clone()), (2, vec![0], "FF".to_owned())]);
    raise(25_000).await;
    let quarter = "0FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF".to_owned();
    let grown = [(3, vec![0, 1], quarter), (4, vec![0, 1], half), (2, vec![0], "FF".to_owned())];
    assert_eq!(shape(), grown, "one of two splits");
}

/// A partition that is too large is split until none is, and never inside a logical partition.
#[tokio::test]
async fn size_asks_for_partitions() {
    let options = SplitOptions { partition_bytes_max: 2_000, ..small_steps() };
    let router = open(prepared(400).await, options).await;
    let model = Model::default();
    let mut clients: Vec<Client> = (0..8).map(|number| Client::new(&model, number, 3)).collect();
    for _ in 0..30 {
        for client in &mut clients {
            assert!(client.write(&router).await);
        }
    }
    let rid = container(&router).rid.clone();
    router.settle(&rid).await.unwrap();
    let states = router.partition_states(&container(&router)).await.unwrap();
    assert!(states.len() > 3, "{states:?}");
    assert!(states.iter().all(|state| state.bytes <= 2_000), "{states:?}");
    model.check(&router).await;
}

/// One logical partition cannot be divided: the attempt ends and is not repeated.
#[tokio::test]
async fn a_large_logical_partition_stays_whole() {
    let options = SplitOptions { partition_bytes_max: 100, ..small_steps() };
    let router = open(prepared(400).await, options).await;
    let model = Model::default();
    let mut client = Client::new(&model, 0, 1);
    client.keys = 0..1;
    for _ in 0..20 {
        assert!(client.write(&router).await);
    }
    let rid = container(&router).rid.clone();
    router.settle(&rid).await.unwrap();
    assert_eq!(ids(&container(&router)), [0]);
    assert!(router.unsettled().is_empty(), "it is not tried again");
}

/// Session tokens and change feed positions of parents are valid on their children.
#[tokio::test]
async fn positions_outlive_the_partition_they_came_from() {
    let router = open(prepared(400).await, small_steps()).await;
    let model = Model::default();
    let mut clients: Vec<Client> = (0..4).map(|number| Client::new(&model, number, 5)).collect();
    let mut write = async |count: usize| {
        for _ in 0..count {
            for client in &mut clients {
                assert!(client.write(&router).await);
            }
        }
    };
    write(10).await;
    let limit = PageLimit { items: usize::MAX, bytes: usize::MAX };
    let read = async |id: u32, window: Option<tesela_model::epk::EpkRange>, start: ChangeStart| {
        let scope = Scope::Partition { id, window };
        router.latest_changes(&container(&router), &scope, start, limit).await.unwrap()
    };
    let parent = read(0, None, ChangeStart::Beginning).await;
    let rid = container(&router).rid.clone();
    router.split(&rid, 0, SplitPoint::Best).await.unwrap();
    let ranges: Vec<_> = container(&router).partitions.partitions().iter().map(|one| one.range.clone()).collect();
    for id in [1, 2] {
        let quiet = read(id, None, ChangeStart::After(parent.page.position)).await;
        assert!(quiet.page.changes.is_empty(), "everything has been seen on the parent");
        assert!(quiet.served.lsn > parent.served.lsn, "a session token of the parent is met");
    }
    write(5).await;
    let children = [
        read(1, None, ChangeStart::After(parent.page.position)).await,
        read(2, None, ChangeStart::After(parent.page.position)).await,
    ];
    let fresh: usize = children.iter().map(|changes| changes.page.changes.len()).sum();
    assert!(
        fresh > 0 && children.iter().all(|one| one.page.changes.iter().all(|(lsn, _)| *lsn > parent.page.position))
    );
    router.merge(&rid, 2, 1).await.unwrap();
    write(5).await;
    for (changes, range) in children.iter().zip(ranges) {
        let after = read(3, Some(range.clone()), ChangeStart::After(changes.page.position)).await;
        assert!(after.served.lsn > changes.served.lsn);
        assert!(
            after
                .page
                .changes
                .iter()
                .all(|(lsn, record)| { *lsn > changes.page.position && range.contains(&record.epk) })
        );
    }
    model.check(&router).await;
}

#[tokio::test]
async fn commands_are_checked() {
    let router = open(prepared(11_000).await, SplitOptions::default()).await;
    let rid = container(&router).rid.clone();
    let refused = router.merge(&rid, 0, 1).await.unwrap_err();
    assert!(matches!(refused, ReshapeError::Needed { needed: 2, .. }), "{refused}");
    for (id, at) in [(9, SplitPoint::Best), (0, SplitPoint::At(Epk::max())), (1, SplitPoint::At(Epk::min()))] {
        let refused = router.split(&rid, id, at).await.unwrap_err();
        assert!(matches!(refused, ReshapeError::Map(_)), "{refused}");
    }
    let at = Epk::from_hex("0ABC").unwrap();
    router.split(&rid, 0, SplitPoint::At(at.clone())).await.unwrap();
    assert_eq!(container(&router).partitions.partitions()[0].range.max(), &at);
    let refused = router.merge(&rid, 2, 1).await.unwrap_err();
    assert!(matches!(refused, ReshapeError::Map(_)), "no neighbours: {refused}");
    router.merge(&rid, 1, 3).await.unwrap();
    assert_eq!(ids(&container(&router)), [2, 4]);
}
