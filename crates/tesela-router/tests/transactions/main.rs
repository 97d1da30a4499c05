//! Concurrent transactions through stored procedures, batches and single writes, over the memory engine: everything
//! that was seen must have an order that explains it (R16).
//!
//! `TESELA_TRANSACTIONS` is the number of transactions of each test; a few thousand unless it is set.

#![allow(clippy::unwrap_used, reason = "tests")]

mod checker;
mod server;

use checker::{Anomaly, Op, Transaction, anomalies};
use parking_lot::Mutex;
use server::{Server, item, parse};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tesela_model::json::Value;
use tesela_partition::error::WriteError;
use tesela_partition::layout::DocumentRecord;
use tesela_partition::write::Write;
use tesela_partition::{BatchStep, StepOutcome};
use tesela_router::{Refused, RouterError};

const CLIENTS: u32 = 12;
/// Logical partitions, and lists in each that are in use at a time.
const PARTITIONS: u32 = 3;
const LISTS: u32 = 4;
/// Transactions after which other lists come into use: reading a list takes as long as it is.
const GENERATION: u64 = 600;

fn transactions() -> u64 {
    std::env::var("TESELA_TRANSACTIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(3_000)
}

/// Enough for the clients' transactions and some of the test's own.
fn generations() -> u32 {
    (transactions() / GENERATION) as u32 + 1
}

fn partition_of(key: u32) -> u32 {
    key % PARTITIONS
}

/// Runs reads and appends in turn; `abort` throws after them.
const RUN: &str = r#"
function run(ops, abort) {
    const collection = getContext().getCollection();
    const results = [];
    function next() {
        if (results.length === ops.length) {
            if (abort) throw new Error("on purpose");
            getContext().getResponse().setBody(results);
            return;
        }
        const [kind, id, value] = ops[results.length];
        const accepted = collection.readDocument(`${collection.getAltLink()}/docs/${id}`, (error, document) => {
            if (error) throw error;
            if (kind === "read") {
                results.push(document.list);
                return next();
            }
            document.list.push(value);
            collection.replaceDocument(document._self, document, { etag: document._etag }, (error) => {
                if (error) throw error;
                results.push(null);
                next();
            });
        });
        if (!accepted) throw new Error("not accepted");
    }
    next();
}"#;

/// The same generator for every client; the numbers need not be good ones.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What all clients share.
struct World {
    server: Arc<Server>,
    clock: AtomicU64,
    values: AtomicU64,
    history: Mutex<Vec<Transaction>>,
    /// Transactions that were given up because others were faster.
    contended: AtomicU64,
}

impl World {
    async fn new() -> Arc<Self> {
        let server = Server::start().await;
        server.procedure("run", RUN).await;
        for key in 0..generations() * PARTITIONS * LISTS {
            let partition = partition_of(key);
            server.upsert(partition, &format!(r#"{{"id":"{key}","pk":"{partition}","list":[]}}"#)).await;
        }
        let (clock, values, contended) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { server, clock, values, history: Mutex::default(), contended })
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn record(&self, began: u64, committed: bool, ops: Vec<Op>) {
        let ended = self.tick();
        self.history.lock().push(Transaction { began, ended, committed, ops });
    }

    fn value(&self) -> u64 {
        self.values.fetch_add(1, Ordering::Relaxed)
    }

    /// Some reads and appends in one logical partition; reads have no result yet.
    fn plan(&self, dice: &mut Dice, partition: u32) -> Vec<Op> {
        let done = self.history.lock().len() as u64;
        let generation = (done / GENERATION) as u32;
        (0..1 + dice.roll(4))
            .map(|_| {
                let key = (generation * LISTS + dice.roll(u64::from(LISTS)) as u32) * PARTITIONS + partition;
                if dice.roll(2) == 0 { Op::Read(key, Vec::new()) } else { Op::Append(key, self.value()) }
            })
            .collect()
    }

    async fn through_procedure(&self, partition: u32, ops: Vec<Op>, abort: bool) {
        let words: Vec<String> = ops
            .iter()
            .map(|op| match op {
                Op::Read(key, _) => format!(r#"["read","{key}"]"#),
                Op::Append(key, value) => format!(r#"["append","{key}",{value}]"#),
            })
            .collect();
        let began = self.tick();
        let outcome = self.server.execute(partition, "run", &format!("[[{}],{abort}]", words.join(","))).await;
        match outcome {
            Ok(ran) => {
                assert!(!abort, "a procedure that throws must not succeed");
                let results = parse(&ran.body);
                let results = results.as_array().unwrap().iter().map(|list| list.as_array().map(list_of));
                self.record(began, true, filled(ops, results));
            }
            Err(refused) => {
                if is_contended(&refused) {
                    self.contended.fetch_add(1, Ordering::Relaxed);
                } else {
                    assert!(abort, "only those that throw may fail: {refused:?}");
                }
                self.record(began, false, ops);
            }
        }
    }

    async fn through_batch(&self, partition: u32, ops: Vec<Op>, abort: bool) {
        let mut steps: Vec<BatchStep> = ops
            .iter()
            .map(|op| match op {
                Op::Read(key, _) => BatchStep::Read { id: key.to_string(), if_none_match: None },
                Op::Append(key, value) => self.server.append(partition, &key.to_string(), *value),
            })
            .collect();
        if abort {
            steps.push(BatchStep::Read { id: "absent".to_owned(), if_none_match: None });
        }
        let began = self.tick();
        match self.server.batch(partition, steps).await {
            Some(outcomes) => {
                let results = outcomes.iter().map(|outcome| match outcome {
                    StepOutcome::Read(record) => Some(list_in(record)),
                    _ => None,
                });
                self.record(began, true, filled(ops, results));
            }
            None => {
                assert!(abort, "a batch without conditions succeeds");
                self.record(began, false, ops);
            }
        }
    }

    /// Reads every list when nobody writes any more.
    async fn read_all(&self) {
        for key in 0..generations() * PARTITIONS * LISTS {
            self.through_procedure(partition_of(key), vec![Op::Read(key, Vec::new())], false).await;
        }
    }
}

fn is_contended(refused: &Refused) -> bool {
    matches!(refused.error, RouterError::Write(WriteError::Contended { .. }))
}

fn list_of(values: &[Value]) -> Vec<u64> {
    values.iter().map(|value| value.as_f64().unwrap() as u64).collect()
}

fn list_in(record: &DocumentRecord) -> Vec<u64> {
    let list = record.document.root().get("list").unwrap();
    list.elements().map(|value| value.as_f64().unwrap() as u64).collect()
}

/// The operations with what their reads answered.
fn filled(ops: Vec<Op>, results: impl Iterator<Item = Option<Vec<u64>>>) -> Vec<Op> {
    let fill = |(op, result): (Op, Option<Vec<u64>>)| match (op, result) {
        (Op::Read(key, _), Some(values)) => Op::Read(key, values),
        (append, _) => append,
    };
    ops.into_iter().zip(results).map(fill).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_show_no_anomalies() {
    let world = World::new().await;
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let world = world.clone();
        clients.push(tokio::spawn(async move {
            let mut dice = Dice(u64::from(client) + 1);
            for _ in 0..transactions() / u64::from(CLIENTS) {
                let partition = dice.roll(u64::from(PARTITIONS)) as u32;
                let (ops, abort) = (world.plan(&mut dice, partition), dice.roll(10) == 0);
                match dice.roll(3) {
                    0 => world.through_batch(partition, ops, abort).await,
                    _ => world.through_procedure(partition, ops, abort).await,
                }
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    world.read_all().await;
    let history = std::mem::take(&mut *world.history.lock());
    let committed = history.iter().filter(|transaction| transaction.committed).count();
    let contended = world.contended.load(Ordering::Relaxed);
    eprintln!("{} transactions, {committed} committed, {contended} given up as contended", history.len());
    assert!(committed > history.len() / 2, "most transactions must get through");
    assert_eq!(anomalies(&history), BTreeMap::new());
}

/// The alarm rings: clients that read, think and write without a transaction lose updates, and the checker says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_transactions_updates_are_lost() {
    let world = World::new().await;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let world = world.clone();
        clients.push(tokio::spawn(async move {
            for _ in 0..50 {
                let (began, server) = (world.tick(), &world.server);
                let read = server.router.read_item(&server.container(), &server.key(0), "0", false).await.unwrap();
                let (before, value) = (list_in(&read.record.unwrap()), world.value());
                tokio::task::yield_now().await;
                let mut after = before.clone();
                after.push(value);
                server.upsert(0, &format!(r#"{{"id":"0","pk":"0","list":{after:?}}}"#)).await;
                world.record(began, true, vec![Op::Read(0, before), Op::Append(0, value)]);
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    world.read_all().await;
    let found = anomalies(&world.history.lock().clone());
    assert!(found.contains_key(&Anomaly::LostAppend), "{:?}", found.keys());
}

/// Registers: each write says which value it replaced, so the writes of a register form one chain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registers_lose_no_update() {
    const EXCHANGE: &str = r#"
    function exchange(id, value) {
        const collection = getContext().getCollection();
        collection.queryDocuments(collection.getSelfLink(), { query: "SELECT * FROM c WHERE c.id = @id", parameters: [{ name: "@id", value: id }] },
            (error, [document]) => {
                if (error) throw error;
                const before = document.value;
                collection.upsertDocument(collection.getSelfLink(), { id, pk: document.pk, value }, (error) => {
                    if (error) throw error;
                    getContext().getResponse().setBody(before);
                });
            });
    }"#;
    let server = Server::start().await;
    server.procedure("exchange", EXCHANGE).await;
    server.upsert(0, r#"{"id":"r","pk":"0","value":0}"#).await;
    let values = Arc::new(AtomicU64::new(1));
    let replaced: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let (server, values, replaced) = (server.clone(), values.clone(), replaced.clone());
        clients.push(tokio::spawn(async move {
            for _ in 0..transactions() / u64::from(CLIENTS) {
                let value = values.fetch_add(1, Ordering::Relaxed);
                let before = if client % 3 == 0 {
                    exchange_by_etag(&server, value).await
                } else {
                    let ran = server.execute(0, "exchange", &format!(r#"["r",{value}]"#)).await;
                    ran.ok().map(|ran| ran.body.parse().unwrap())
                };
                if let Some(before) = before {
                    replaced.lock().push((before, value));
                }
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    let replaced = replaced.lock().clone();
    let chain: BTreeMap<u64, u64> = replaced.iter().copied().collect();
    assert_eq!(chain.len(), replaced.len(), "two transactions replaced the same value");
    let (mut value, mut length) = (0, 0);
    while let Some(next) = chain.get(&value) {
        (value, length) = (*next, length + 1);
    }
    assert_eq!(length, replaced.len(), "a value was replaced that nobody wrote");
    let last = server.router.read_item(&server.container(), &server.key(0), "r", false).await.unwrap();
    let last = last.record.unwrap().document.root().get("value").unwrap().as_f64().unwrap() as u64;
    assert_eq!(last, value, "the register holds the last of them");
    eprintln!("{length} exchanges");
}

/// Read, then a batch that asks for the version read.
async fn exchange_by_etag(server: &Server, value: u64) -> Option<u64> {
    let read = server.router.read_item(&server.container(), &server.key(0), "r", false).await.unwrap();
    let record = read.record.unwrap();
    let before = record.document.root().get("value").unwrap().as_f64().unwrap() as u64;
    let body = item(&format!(r#"{{"id":"r","pk":"0","value":{value}}}"#));
    let write = Write::Replace { id: "r".to_owned(), item: body };
    let request = server.request(0, write, Some(tesela_partition::etag::of(&record)));
    server.batch(0, vec![BatchStep::Write(request)]).await.map(|_| before)
}

/// The sum of all accounts is the same at every moment anybody looks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_is_neither_made_nor_lost() {
    const ACCOUNTS: u64 = 8;
    const TRANSFER: &str = r#"
    function transfer(from, to, amount) {
        const collection = getContext().getCollection(), link = (id) => `${collection.getAltLink()}/docs/${id}`;
        const change = (id, by, then) => collection.readDocument(link(id), (error, account) => {
            if (error) throw error;
            account.balance += by;
            if (account.balance < 0) throw new Error(402, "not enough");
            collection.replaceDocument(account._self, account, (error) => { if (error) throw error; then(); });
        });
        // The money arrives before it leaves: a throw must take it back.
        change(to, amount, () => change(from, -amount, () => getContext().getResponse().setBody("done")));
    }"#;
    const TOTAL: &str = r#"
    function total() {
        __.queryDocuments(__.getSelfLink(), "SELECT VALUE SUM(c.balance) FROM c", (error, rows) => {
            if (error) throw error;
            __.chain().map((account) => account.balance).value((error, balances) => {
                if (error) throw error;
                __.response.setBody([rows[0], balances.reduce((sum, each) => sum + each, 0)]);
            });
        });
    }"#;
    let server = Server::start().await;
    server.procedure("transfer", TRANSFER).await;
    server.procedure("total", TOTAL).await;
    for account in 0..ACCOUNTS {
        server.upsert(0, &format!(r#"{{"id":"{account}","pk":"0","balance":100}}"#)).await;
    }
    let (done, refused) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let (server, done, refused) = (server.clone(), done.clone(), refused.clone());
        clients.push(tokio::spawn(async move {
            let mut dice = Dice(u64::from(client) + 77);
            for _ in 0..transactions() / u64::from(CLIENTS) {
                let (from, to) = (dice.roll(ACCOUNTS), dice.roll(ACCOUNTS));
                let to = if to == from { (to + 1) % ACCOUNTS } else { to };
                let amount = 1 + dice.roll(60);
                let succeeded = match dice.roll(4) {
                    0 => {
                        let total = server.execute(0, "total", "").await;
                        if let Ok(total) = total {
                            assert_eq!(total.body, "[800,800]");
                        }
                        continue;
                    }
                    1 => {
                        let by = |amount: i64| format!(r#"[{{"op":"incr","path":"/balance","value":{amount}}}]"#);
                        let amount = amount as i64 % 3;
                        let steps = vec![
                            server.patch(0, &from.to_string(), &by(-amount)),
                            server.patch(0, &to.to_string(), &by(amount)),
                        ];
                        server.batch(0, steps).await.is_some()
                    }
                    _ => server.execute(0, "transfer", &format!(r#"["{from}","{to}",{amount}]"#)).await.is_ok(),
                };
                (if succeeded { &done } else { &refused }).fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(server.execute(0, "total", "").await.unwrap().body, "[800,800]");
    assert!(done.load(Ordering::Relaxed) > 0 && refused.load(Ordering::Relaxed) > 0, "both kinds must have occurred");
    eprintln!("{done:?} transfers, {refused:?} refused");
}
