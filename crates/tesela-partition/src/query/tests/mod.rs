//! The answer of an index is the answer of a scan, and the pages of an answer are the answer.

mod laws;
mod paths;

use crate::container::Container;
use crate::item::{Item, LogicalKey};
use crate::partition::Partition;
use crate::query::{AccessPath, PageError, QueryPage, QueryRequest, Resume};
use crate::read::{FeedScope, PageLimit};
use crate::write::{Conditions, Write, WriteRequest};
use std::sync::Arc;
use std::time::Duration;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::json;
use tesela_model::rid::ResourceId;
use tesela_query::{CompileContext, CompiledQuery, ComputedProperty, Execution, ExecutionOptions, Flow, NoFunctions};
use tesela_store::{MemoryStore, SpaceId, Store};

const SPACE: SpaceId = SpaceId(1);

/// A partition in memory.
struct Bench {
    env: Env,
    partition: Partition<MemoryStore>,
}

impl Bench {
    /// `more` is put into the definition.
    async fn new(more: &str) -> Self {
        let (store, env) = (MemoryStore::new(), Env::simulated(1));
        store.create_space(SPACE).await.unwrap();
        let partition = Partition::open(store, SPACE, 0, env.clone(), container(more)).await.unwrap();
        Self { env, partition }
    }

    fn key(&self, pk: &str) -> LogicalKey {
        let item = Item::parse(format!(r#"{{"id":"x","pk":{pk}}}"#).as_bytes()).unwrap();
        item.key(&self.partition.container().partition_key).unwrap()
    }

    async fn put(&self, body: &str, indexed: bool) {
        let item = Item::parse(body.as_bytes()).unwrap();
        let key = item.key(&self.partition.container().partition_key).unwrap();
        let write = Write::Upsert(item);
        let request = WriteRequest { key, write, conditions: Conditions::default(), indexed };
        self.partition.write(request).await.unwrap();
    }

    async fn delete(&self, pk: &str, id: &str) {
        let (key, write) = (self.key(pk), Write::Delete { id: id.to_owned() });
        let request = WriteRequest { key, write, conditions: Conditions::default(), indexed: true };
        // It may not be there.
        let _ = self.partition.write(request).await;
    }

    async fn page(&self, ask: &Ask<'_>, resume: Resume) -> Result<QueryPage, PageError> {
        self.partition.query(&ask.request(resume)).await
    }

    /// All pages, each token through its bytes.
    async fn rows(&self, ask: &Ask<'_>) -> Result<Vec<String>, PageError> {
        let mut rows = Vec::new();
        let mut resume = Resume::default();
        for _ in 0..10_000 {
            let page = self.page(ask, resume).await?;
            assert!(page.rows.len() <= ask.items);
            rows.extend(page.rows.into_iter().map(|row| String::from_utf8(row).unwrap()));
            match page.next {
                Some(next) => resume = Resume::decode(&next.encode()).expect("our own token"),
                None => return Ok(rows),
            }
        }
        panic!("the pages do not end");
    }

    /// The answer by looking at every document.
    async fn scanned(&self, ask: &Ask<'_>) -> Vec<String> {
        let all = PageLimit { items: usize::MAX, bytes: usize::MAX };
        let feed = self.partition.feed(&ask.scope, None, all).await.unwrap();
        let mut execution = Execution::new(ask.query, ExecutionOptions::default());
        let mut rows = Vec::new();
        for (ordinal, record) in &feed.records {
            let flow = execution.push(record.document.root(), ordinal.0).unwrap();
            rows.extend(execution.take_rows());
            if flow == Flow::Enough {
                break;
            }
        }
        rows.extend(execution.finish().unwrap());
        rows.into_iter().map(|row| String::from_utf8(row.json).unwrap()).collect()
    }

    fn path(&self, ask: &Ask<'_>) -> String {
        let path = AccessPath::choose(ask.query, &ask.query.access(), &self.partition.container(), &ask.scope);
        path.map_or_else(|error| error.to_string(), |path| path.to_string())
    }
}

/// A query and how it is asked.
struct Ask<'q> {
    query: &'q CompiledQuery,
    scope: FeedScope,
    items: usize,
}

impl<'q> Ask<'q> {
    fn all(query: &'q CompiledQuery, items: usize) -> Self {
        Self { query, scope: FeedScope::All, items }
    }

    fn request(&self, resume: Resume) -> QueryRequest<'q> {
        QueryRequest {
            query: self.query,
            functions: &NoFunctions,
            scope: self.scope.clone(),
            resume,
            limit: PageLimit { items: self.items, bytes: 1 << 20 },
            now_ticks: 0,
            seed: 0,
            statistics: None,
            elapsed: &|| Duration::ZERO,
        }
    }
}

const COMPUTED: &str = r#""computedProperties":[{"name":"twice","query":"SELECT VALUE c.a * 2 FROM c"}]"#;

fn container(more: &str) -> Arc<Container> {
    let text = format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"version":2}},{COMPUTED}{more}}}"#);
    let definition = ContainerDefinition::from_json(&json::parse(text.as_bytes()).unwrap()).unwrap();
    Arc::new(Container::new(ResourceId::container(1, 1), "dbs/x/colls/y/".to_owned(), &definition))
}

fn compile(text: &str) -> CompiledQuery {
    let computed = [ComputedProperty { name: "twice".into(), query: "SELECT VALUE c.a * 2 FROM c".into() }];
    let context = CompileContext { computed_properties: &computed, ..CompileContext::default() };
    let syntax = tesela_sql::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    CompiledQuery::compile(&syntax, &[], &context).unwrap_or_else(|error| panic!("{text}: {error}"))
}
