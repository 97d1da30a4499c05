//! Sweeps over whole accounts, in simulated time.

use super::*;
use crate::catalog::{Catalog, CatalogOptions, ContainerOptions, Precondition};
use tesela_env::Env;
use tesela_model::json::{self, Value};
use tesela_partition::item::Item;
use tesela_partition::read::{FeedScope, PageLimit};
use tesela_partition::write::{Conditions, Write, WriteRequest};
use tesela_store::MemoryStore;

struct Account {
    store: MemoryStore,
    env: Env,
    router: Arc<Router<MemoryStore>>,
}

async fn open(store: MemoryStore, env: Env) -> Account {
    let catalog = Catalog::open(store.clone(), env.clone(), CatalogOptions::default()).await.unwrap();
    let router = Arc::new(Router::new(store.clone(), env.clone(), catalog));
    Account { store, env, router }
}

async fn account() -> Account {
    let account = open(MemoryStore::new(), Env::simulated(1)).await;
    account.router.catalog().create_database(&parse(r#"{"id":"d"}"#), None).await.unwrap();
    account
}

fn parse(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap()
}

fn definition(id: &str, policies: &str) -> Value {
    parse(&format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}{policies}}}"#))
}

impl Account {
    async fn container(&self, id: &str, policies: &str, partitions: u32) {
        let options = ContainerOptions { partitions: Some(partitions), ..ContainerOptions::default() };
        self.router.catalog().create_container("d", &definition(id, policies), options).await.unwrap();
    }

    async fn replace(&self, id: &str, policies: &str) {
        let catalog = self.router.catalog();
        catalog.replace_container("d", id, &definition(id, policies), Precondition::NONE).await.unwrap();
    }

    async fn fill(&self, id: &str, items: usize) {
        let container = self.router.catalog().container("d", id).unwrap();
        for number in 0..items {
            let item = Item::parse(format!(r#"{{"id":"{number}","pk":{number}}}"#).as_bytes()).unwrap();
            let key = item.key(&container.definition.partition_key).unwrap();
            let (write, conditions) = (Write::Upsert(item), Conditions::default());
            self.router.write_item(&container, WriteRequest { key, write, conditions, indexed: true }).await.unwrap();
        }
    }

    /// Items that take up room, seen or not.
    async fn stored(&self, id: &str) -> u64 {
        let container = self.router.catalog().container("d", id).unwrap();
        let mut documents = 0;
        for physical in container.partitions.partitions() {
            documents += self.router.partition(&container, physical).await.unwrap().counters().documents;
        }
        documents
    }

    async fn changes(&self, id: &str) -> usize {
        let container = self.router.catalog().container("d", id).unwrap();
        let limit = PageLimit { items: 10_000, bytes: 64 << 20 };
        let mut changes = 0;
        for physical in container.partitions.partitions() {
            let partition = self.router.partition(&container, physical).await.unwrap();
            changes += partition.all_changes(&FeedScope::All, 0, limit).await.unwrap().changes.len();
        }
        changes
    }

    fn sweeper(&self) -> Sweeper<MemoryStore> {
        Sweeper::new(self.router.clone())
    }

    fn advance(&self, seconds: u64) {
        self.env.advance(Duration::from_secs(seconds));
    }
}

/// A whole round: what went, and in how many bites.
async fn round(sweeper: &mut Sweeper<MemoryStore>) -> (usize, usize) {
    let mut bites = 1;
    loop {
        match sweeper.bite().await {
            Next::Bite => bites += 1,
            Next::Round { removed } => return (removed, bites),
            Next::Nothing => return (0, 0),
        }
    }
}

#[tokio::test]
async fn all_partitions_are_swept_after_a_restart_too() {
    let account = account().await;
    account.container("a", r#","defaultTtl":10"#, 3).await;
    account.container("b", r#","defaultTtl":1000"#, 1).await;
    account.container("c", "", 1).await;
    for id in ["a", "b", "c"] {
        account.fill(id, 30).await;
    }
    account.advance(11);
    let again = open(account.store.clone(), account.env.clone()).await;
    let mut sweeper = again.sweeper();
    assert_eq!(round(&mut sweeper).await.0, 30);
    assert_eq!((again.stored("a").await, again.stored("b").await, again.stored("c").await), (0, 30, 30));
    assert_eq!(round(&mut sweeper).await, (0, 4), "from now on, only those that can expire are visited");
}

#[tokio::test]
async fn without_anything_to_expire_there_is_nothing_to_do() {
    let account = account().await;
    let mut sweeper = account.sweeper();
    assert_eq!(sweeper.bite().await, Next::Nothing);
    account.container("a", "", 2).await;
    account.fill("a", 10).await;
    assert_eq!(round(&mut sweeper).await, (0, 2), "each partition is asked once whether it has history");
    assert_eq!(sweeper.bite().await, Next::Nothing);
    account.replace("a", r#","defaultTtl":5"#).await;
    account.advance(5);
    assert_eq!(round(&mut sweeper).await, (10, 2));
    account.replace("a", "").await;
    round(&mut sweeper).await;
    assert_eq!(sweeper.bite().await, Next::Nothing);
}

#[tokio::test]
async fn a_large_container_does_not_keep_the_others_waiting() {
    let account = account().await;
    account.container("large", r#","defaultTtl":10"#, 1).await;
    account.container("small", r#","defaultTtl":10"#, 1).await;
    account.fill("large", 700).await;
    account.fill("small", 7).await;
    account.advance(11);
    let mut sweeper = account.sweeper();
    assert_eq!([sweeper.bite().await, sweeper.bite().await], [Next::Bite, Next::Bite]);
    assert_eq!(account.stored("small").await, 0);
    assert!(account.stored("large").await > 500);
    assert_eq!(round(&mut sweeper).await.0, 707);
    assert_eq!(account.stored("large").await, 0);
}

#[tokio::test]
async fn history_goes_with_its_retention_and_with_its_policy() {
    let account = account().await;
    account.container("a", r#","changeFeedPolicy":{"retentionDuration":5}"#, 2).await;
    account.fill("a", 20).await;
    account.advance(200);
    account.fill("a", 20).await;
    account.advance(200);
    let mut sweeper = account.sweeper();
    assert_eq!(account.changes("a").await, 40);
    assert_eq!(round(&mut sweeper).await.0, 20);
    assert_eq!(account.changes("a").await, 20);
    account.replace("a", "").await;
    assert_eq!(round(&mut sweeper).await.0, 20);
    assert_eq!((account.changes("a").await, account.stored("a").await), (0, 20));
}

#[tokio::test]
async fn a_container_may_go_while_it_waits_for_its_turn() {
    let account = account().await;
    for id in ["a", "b", "c"] {
        account.container(id, r#","defaultTtl":10"#, 1).await;
        account.fill(id, 5).await;
    }
    account.advance(11);
    let mut sweeper = account.sweeper();
    assert_eq!(sweeper.bite().await, Next::Bite);
    account.router.catalog().delete_container("d", "b", Precondition::NONE).await.unwrap();
    account.router.forget_dropped();
    assert_eq!(round(&mut sweeper).await.0, 10);
}

#[tokio::test]
async fn the_task_works_and_ends_when_told() {
    let account = account().await;
    let background = Background::start(account.router.clone());
    account.container("a", r#","defaultTtl":10"#, 1).await;
    account.fill("a", 300).await;
    account.advance(11);
    for _ in 0..200 {
        if account.stored("a").await == 0 {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(account.stored("a").await, 0);
    background.stop().await;
    account.fill("a", 10).await;
    account.advance(11);
    sleep(2 * ROUND_PAUSE_MIN).await;
    assert_eq!(account.stored("a").await, 10, "a stopped task does nothing");
}
