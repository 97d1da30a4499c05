//! Transactions of scripts over the memory engine: what a script sees, and what of it is committed (R16, R17).

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::json::{self, Value};
use tesela_model::limits::SCRIPT_WRITES_MAX;
use tesela_model::rid::ResourceId;
use tesela_partition::Partition;
use tesela_partition::container::Container;
use tesela_partition::error::WriteError;
use tesela_partition::item::{Item, LogicalKey};
use tesela_partition::read::{FeedScope, PageLimit};
use tesela_partition::script::{BindQuery, BoundQuery, OTHER_KEY, ScriptTransaction};
use tesela_partition::write::{Conditions, Write, WriteRequest};
use tesela_query::{CompileContext, CompiledQuery, NoFunctions, QueryError};
use tesela_script::{Collection, DocumentRef, OpError, PageRequest, Query, Read, WriteOptions};
use tesela_store::{MemoryStore, SpaceId, Store};

const SPACE: SpaceId = SpaceId(1);

struct Plain;

impl BindQuery for Plain {
    fn bind(&self, text: &str, parameters: &[(String, Value)]) -> Result<BoundQuery, QueryError> {
        let query = CompiledQuery::compile(&tesela_sql::parse(text)?, parameters, &CompileContext::default())?;
        Ok(BoundQuery { query, functions: Box::new(NoFunctions) })
    }
}

struct Bench {
    store: MemoryStore,
    env: Env,
    container: Arc<Container>,
    partition: Partition<MemoryStore>,
}

async fn bench() -> Bench {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;
    let definition = ContainerDefinition::from_json(&json::parse(definition.as_bytes()).unwrap()).unwrap();
    let (store, env) = (MemoryStore::new(), Env::simulated(1));
    store.create_space(SPACE).await.unwrap();
    let container = Container::new(ResourceId::container(1, 1), "dbs/x/colls/y/".to_owned(), &definition);
    let container = Arc::new(container);
    let partition = Partition::open(store.clone(), SPACE, 0, env.clone(), container.clone()).await.unwrap();
    Bench { store, env, container, partition }
}

impl Bench {
    fn key(&self, pk: &str) -> LogicalKey {
        item(&format!(r#"{{"id":"x","pk":"{pk}"}}"#)).key(&self.container.partition_key).unwrap()
    }

    fn begin(&self, pk: &str) -> ScriptTransaction<MemoryStore> {
        self.partition.begin_script(self.key(pk), "dbs/d/colls/c", Arc::new(Plain)).unwrap()
    }

    /// An ordinary write.
    async fn upsert(&self, pk: &str, body: &str) -> u64 {
        let write = Write::Upsert(item(body));
        let request = WriteRequest { key: self.key(pk), write, conditions: Conditions::default(), indexed: true };
        self.partition.write(request).await.unwrap().lsn
    }

    async fn commit(&self, transaction: ScriptTransaction<MemoryStore>) -> Result<u64, WriteError> {
        self.partition.commit_script(transaction.finish()).await
    }

    async fn stored(&self, pk: &str) -> Vec<String> {
        let scope = FeedScope::Logical(self.key(pk).epk);
        let page = self.partition.feed(&scope, None, PageLimit { items: 100_000, bytes: 64 << 20 }).await.unwrap();
        page.records.iter().map(|(_, record)| record.document.text().to_owned()).collect()
    }
}

fn item(body: &str) -> Item {
    Item::parse(body.as_bytes()).unwrap()
}

fn page(size: u32, continuation: Option<String>) -> PageRequest {
    PageRequest { size: Some(size), continuation }
}

fn query(text: &str) -> Query {
    Query { text: text.to_owned(), parameters: None }
}

fn id(text: &str) -> DocumentRef {
    DocumentRef::Id(text.to_owned())
}

fn number<T: std::fmt::Debug>(outcome: Result<T, OpError>) -> u16 {
    match outcome.unwrap_err() {
        OpError::Refused { number, .. } => number,
        OpError::Abort { status, .. } => panic!("aborted with {status}"),
    }
}

fn options() -> WriteOptions {
    WriteOptions { disable_automatic_id: true, ..WriteOptions::default() }
}

/// R16: many writes, one LSN; the documents are the ones the script has seen, to the last system property.
#[tokio::test]
async fn what_a_script_has_seen_is_committed() {
    let bench = bench().await;
    bench.upsert("a", r#"{"id":"old","pk":"a","u":0}"#).await;
    bench.upsert("b", r#"{"id":"other","pk":"b"}"#).await;
    let mut script = bench.begin("a");
    let first = script.create(r#"{"id":"1","pk":"a","u":1}"#, &options()).unwrap();
    let second = script.upsert(r#"{"id":"2","pk":"a","u":2}"#, &options()).unwrap();
    let old = script.replace(&id("old"), r#"{"id":"old","pk":"a","u":3}"#, &options()).unwrap();
    assert_eq!((first.created, second.created, old.created), (true, true, false));
    // Nobody else sees anything yet, and time goes on meanwhile.
    assert_eq!(bench.stored("a").await.len(), 1);
    bench.env.advance(std::time::Duration::from_secs(3));
    bench.upsert("b", r#"{"id":"another","pk":"b","u":7}"#).await;
    assert_eq!(bench.commit(script).await.unwrap(), 4);
    assert_eq!(bench.stored("a").await, [old.document, first.document, second.document]);
    assert_eq!(bench.upsert("a", r#"{"id":"3","pk":"a","u":4}"#).await, 5);
}

#[tokio::test]
async fn a_script_sees_its_own_writes_everywhere() {
    let bench = bench().await;
    for n in 0..6 {
        bench.upsert("a", &format!(r#"{{"id":"{n}","pk":"a","u":{n}}}"#)).await;
    }
    let mut script = bench.begin("a");
    script.delete(&id("2"), None).unwrap();
    script.replace(&id("3"), r#"{"id":"3","pk":"a","u":33}"#, &options()).unwrap();
    script.create(r#"{"id":"9","pk":"a","u":9}"#, &options()).unwrap();
    bench.upsert("a", r#"{"id":"late","pk":"a","u":"late"}"#).await;

    assert_eq!(number(script.read(&id("2"), None)), 404);
    assert!(matches!(script.read(&id("3"), None).unwrap(), Read::Found(text) if text.contains("33")));
    assert_eq!(number(script.read(&id("late"), None)), 404, "a snapshot is one moment");
    let mut seen = Vec::new();
    let mut next = None;
    loop {
        let found = script.list(&page(2, next)).unwrap();
        let rows = json::parse(found.rows.as_bytes()).unwrap();
        seen.extend(rows.as_array().unwrap().iter().map(|row| row.get("id").unwrap().as_str().unwrap().to_owned()));
        next = found.continuation;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["0", "1", "3", "4", "5", "9"]);
    let rows = |script: &mut ScriptTransaction<MemoryStore>, text: &str| {
        script.query(&query(text), &page(100, None)).unwrap().rows
    };
    assert_eq!(rows(&mut script, "SELECT VALUE c.id FROM c WHERE c.u >= 4 ORDER BY c.u DESC"), r#"["3","9","5","4"]"#);
    assert_eq!(rows(&mut script, "SELECT VALUE COUNT(1) FROM c"), "[6]");
    assert_eq!(number(script.query(&query("SELECT nonsense FROM"), &page(1, None))), 400);
    assert_eq!(number(script.query(&query("SELECT * FROM c"), &page(1, Some("zz".to_owned())))), 400);
    assert_eq!(number(script.list(&page(1, Some("foreign".to_owned())))), 400);
}

#[tokio::test]
async fn queries_go_on_where_they_stopped() {
    let bench = bench().await;
    for n in 0..7 {
        bench.upsert("a", &format!(r#"{{"id":"{n}","pk":"a","u":{n}}}"#)).await;
    }
    let mut script = bench.begin("a");
    for text in ["SELECT VALUE c.u FROM c", "SELECT VALUE c.u FROM c ORDER BY c.u"] {
        let (mut seen, mut next) = (String::new(), None);
        loop {
            let found = script.query(&query(text), &page(3, next)).unwrap();
            seen += &found.rows;
            next = found.continuation;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(seen, "[0,1,2][3,4,5][6]", "{text}");
    }
    let parameters = Some(r#"[{"name":"@least","value":5}]"#.to_owned());
    let least = Query { text: "SELECT VALUE c.u FROM c WHERE c.u > @least".to_owned(), parameters };
    assert_eq!(script.query(&least, &page(10, None)).unwrap().rows, "[6]");
    let bad = Query { parameters: Some(r#"{"@least":5}"#.to_owned()), ..least };
    assert_eq!(number(script.query(&bad, &page(10, None))), 400);
}

/// A refused write is the script's to handle: it leaves nothing, and what came before stays.
#[tokio::test]
async fn refused_writes_leave_nothing() {
    let bench = bench().await;
    bench.upsert("a", r#"{"id":"1","pk":"a","u":1}"#).await;
    let mut script = bench.begin("a");
    let made = script.create(r#"{"id":"2","pk":"a","u":2}"#, &options()).unwrap();
    let stale = WriteOptions { etag: Some("\"stale\"".to_owned()), ..options() };
    assert_eq!(number(script.create(r#"{"id":"1","pk":"a","u":8}"#, &options())), 409);
    assert_eq!(number(script.create(r#"{"id":"3","pk":"a","u":1}"#, &options())), 409);
    assert_eq!(number(script.replace(&id("1"), r#"{"id":"1","pk":"a","u":2}"#, &options())), 409);
    assert_eq!(number(script.replace(&id("1"), r#"{"id":"1","pk":"a","u":5}"#, &stale)), 412);
    assert_eq!(number(script.replace(&id("9"), r#"{"id":"9","pk":"a"}"#, &options())), 404);
    assert_eq!(number(script.delete(&id("9"), None)), 404);
    assert_eq!(number(script.delete(&id("2"), Some("\"stale\""))), 412);
    assert_eq!(number(script.create(r#"{"pk":"a","u":8}"#, &options())), 400);
    assert_eq!(number(script.create("[]", &options())), 400);
    assert_eq!(number(script.create("{", &options())), 400);
    let large = format!(r#"{{"id":"l","pk":"a","x":"{}"}}"#, "y".repeat(2 << 20));
    assert_eq!(number(script.create(&large, &options())), 413);
    // The ETag the script was shown is good already, and the value freed by nobody is still taken.
    let etag = json::parse(made.document.as_bytes()).unwrap().get("_etag").unwrap().as_str().unwrap().to_owned();
    script.delete(&id("2"), Some(&etag)).unwrap();
    script.create(r#"{"id":"3","pk":"a","u":2}"#, &options()).unwrap();
    bench.commit(script).await.unwrap();
    let ids: Vec<String> = bench.stored("a").await.iter().map(|text| text.chars().take(9).collect()).collect();
    assert_eq!(ids, [r#"{"id":"1""#, r#"{"id":"3""#]);
}

/// R17: no way to another logical partition, by body or by link.
#[tokio::test]
async fn another_key_is_out_of_reach() {
    let bench = bench().await;
    bench.upsert("b", r#"{"id":"1","pk":"b"}"#).await;
    let rid =
        json::parse(bench.stored("b").await[0].as_bytes()).unwrap().get("_rid").unwrap().as_str().unwrap().to_owned();
    let mut script = bench.begin("a");
    let other_key = Err(OpError::refused(400, OTHER_KEY));
    assert_eq!(script.create(r#"{"id":"2","pk":"b"}"#, &options()).map(drop), other_key);
    assert_eq!(script.upsert(r#"{"id":"2"}"#, &options()).map(drop), other_key);
    assert_eq!(script.read(&DocumentRef::Rid(rid.clone()), None).map(drop), other_key);
    assert_eq!(script.delete(&DocumentRef::Rid(rid), None), other_key);
    assert_eq!(number(script.read(&id("1"), None)), 404);
    assert_eq!(script.list(&page(10, None)).unwrap().rows, "[]");
    assert_eq!(script.query(&query("SELECT * FROM c"), &page(10, None)).unwrap().rows, "[]");
    assert_eq!(bench.commit(script).await.unwrap(), 1, "nothing to commit, no LSN used");
}

#[tokio::test]
async fn documents_are_found_by_rid_as_well() {
    let bench = bench().await;
    bench.upsert("a", r#"{"id":"1","pk":"a","u":1}"#).await;
    let mut script = bench.begin("a");
    let made = script.create(r#"{"pk":"a","u":2}"#, &WriteOptions::default()).unwrap();
    let made = json::parse(made.document.as_bytes()).unwrap();
    assert_eq!(made.get("id").unwrap().as_str().unwrap().len(), 36, "a GUID where there was none");
    let rid = DocumentRef::Rid(made.get("_rid").unwrap().as_str().unwrap().to_owned());
    let etag = made.get("_etag").unwrap().as_str().unwrap();
    assert_eq!(script.read(&rid, Some(etag)).unwrap(), Read::NotModified);
    let mut body = made.clone();
    body.as_object_mut().unwrap().insert("u", 3);
    script.replace(&rid, &json::to_string(&body), &options()).unwrap();
    assert_eq!(number(script.read(&DocumentRef::Rid("junk".to_owned()), None)), 404);
    bench.commit(script).await.unwrap();
    let stored = json::parse(bench.stored("a").await[1].as_bytes()).unwrap();
    assert_eq!((stored.get("_rid"), stored.get("u")), (made.get("_rid"), Some(&Value::from(3))));
    assert_ne!(stored.get("_etag"), made.get("_etag"));
}

/// Never a lost update: whoever began before another's commit must look again.
#[tokio::test]
async fn a_script_overtaken_on_its_key_does_not_commit() {
    let bench = bench().await;
    let mut first = bench.begin("a");
    let mut second = bench.begin("a");
    let mut elsewhere = bench.begin("b");
    let mut reader = bench.begin("a");
    first.create(r#"{"id":"1","pk":"a","u":1}"#, &options()).unwrap();
    second.create(r#"{"id":"2","pk":"a","u":2}"#, &options()).unwrap();
    elsewhere.create(r#"{"id":"1","pk":"b"}"#, &options()).unwrap();
    assert_eq!(reader.list(&page(10, None)).unwrap().rows, "[]");
    assert_eq!(bench.commit(first).await.unwrap(), 1);
    assert!(matches!(bench.commit(second).await, Err(WriteError::Contended { .. })));
    assert_eq!(bench.commit(elsewhere).await.unwrap(), 2, "another key is another matter");
    assert_eq!(bench.commit(reader).await.unwrap(), 0, "who only read is as of its snapshot");
    // Created and deleted in between: the logical partition is gone again, and the script is none the worse.
    let mut script = bench.begin("c");
    script.create(r#"{"id":"1","pk":"c"}"#, &options()).unwrap();
    let mut other = bench.begin("c");
    other.create(r#"{"id":"1","pk":"c"}"#, &options()).unwrap();
    other.delete(&id("1"), None).unwrap();
    bench.commit(other).await.unwrap();
    bench.commit(script).await.unwrap();
    assert_eq!(bench.stored("c").await.len(), 1);
}

/// Numbers drawn by scripts, committed or not, name nothing else: not later, and not after a restart.
#[tokio::test]
async fn names_are_given_once() {
    let bench = bench().await;
    let mut lost = bench.begin("a");
    lost.create(r#"{"id":"lost","pk":"a"}"#, &options()).unwrap();
    drop(lost);
    let mut script = bench.begin("a");
    let first = script.create(r#"{"id":"1","pk":"a"}"#, &options()).unwrap().document;
    let replaced = script.replace(&id("1"), r#"{"id":"1","pk":"a","u":5}"#, &options()).unwrap().document;
    bench.commit(script).await.unwrap();
    let again =
        Partition::open(bench.store.clone(), SPACE, 0, bench.env.clone(), bench.container.clone()).await.unwrap();
    let bench = Bench { partition: again, ..bench };
    let mut script = bench.begin("a");
    let second = script.create(r#"{"id":"2","pk":"a"}"#, &options()).unwrap().document;
    let property =
        |text: &str, name: &str| json::parse(text.as_bytes()).unwrap().get(name).unwrap().as_str().unwrap().to_owned();
    let etags = [&first, &replaced, &second].map(|text| property(text, "_etag"));
    assert!(etags[0] != etags[1] && etags[1] != etags[2] && etags[0] != etags[2], "{etags:?}");
    assert_eq!(property(&first, "_rid"), property(&replaced, "_rid"));
    assert_ne!(property(&first, "_rid"), property(&second, "_rid"));
}

#[tokio::test]
async fn a_transaction_has_an_end() {
    let bench = bench().await;
    let mut script = bench.begin("a");
    let mut count = 0;
    while script.accepts_more() {
        script.create(&format!(r#"{{"id":"{count}","pk":"a","u":{count}}}"#), &options()).unwrap();
        count += 1;
    }
    assert_eq!(count, SCRIPT_WRITES_MAX);
    assert_eq!(bench.commit(script).await.unwrap(), 1);
    assert_eq!(bench.stored("a").await.len(), SCRIPT_WRITES_MAX);
}
