//! A router over the memory engine with one container of several physical partitions, and its scripts.

use std::sync::Arc;
use tesela_env::Env;
use tesela_model::json::{self, Value};
use tesela_partition::item::{Item, LogicalKey};
use tesela_partition::patch::Patch;
use tesela_partition::write::{Conditions, Write, WriteRequest};
use tesela_partition::{BatchStep, StepOutcome};
use tesela_router::catalog::{
    Addressing, Catalog, CatalogOptions, Container, ContainerOptions, Folder, Precondition, ScriptKind,
};
use tesela_router::{Executed, Refused, Router};
use tesela_store::MemoryStore;

pub struct Server {
    pub router: Router<MemoryStore>,
}

pub fn parse(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

impl Server {
    pub async fn start() -> Arc<Self> {
        let (store, env) = (MemoryStore::new(), Env::real());
        let catalog = Catalog::open(store.clone(), env.clone(), CatalogOptions::default()).await.unwrap();
        catalog.create_database(&parse(r#"{"id":"d"}"#), None).await.unwrap();
        let definition = parse(r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#);
        let options = ContainerOptions { partitions: Some(2), ..ContainerOptions::default() };
        catalog.create_container("d", &definition, options).await.unwrap();
        Arc::new(Self { router: Router::new(store, env, catalog) })
    }

    pub async fn script(&self, kind: ScriptKind, id: &str, source: &str) {
        let folder = Folder::Scripts { database: "d", container: "c", kind };
        let mut body = parse("{}");
        let object = body.as_object_mut().unwrap();
        object.insert("id", id);
        object.insert("body", source);
        self.router.catalog().create_entry(folder, &body, false, Precondition::NONE).await.unwrap();
    }

    pub async fn procedure(&self, id: &str, source: &str) {
        self.script(ScriptKind::StoredProcedure, id, source).await;
    }

    pub fn container(&self) -> Arc<Container> {
        self.router.catalog().state().container("d", "c").unwrap().clone()
    }

    pub fn key(&self, pk: u32) -> LogicalKey {
        item(&format!(r#"{{"id":"x","pk":"{pk}"}}"#)).key(&self.container().definition.partition_key).unwrap()
    }

    /// The answer of a stored procedure.
    pub async fn execute(&self, pk: u32, id: &str, arguments: &str) -> Result<Executed, Refused> {
        let container = self.container();
        let procedure = container.script(ScriptKind::StoredProcedure, id, Addressing::Name).unwrap();
        self.router.execute_procedure(&container, self.key(pk), procedure, arguments.to_owned(), false).await
    }

    pub fn request(&self, pk: u32, write: Write, if_match: Option<String>) -> WriteRequest {
        let conditions = Conditions { if_match, if_none_match: None };
        WriteRequest { key: self.key(pk), write, conditions, indexed: true }
    }

    pub async fn upsert(&self, pk: u32, body: &str) {
        let request = self.request(pk, Write::Upsert(item(body)), None);
        self.router.write_item(&self.container(), request).await.unwrap();
    }

    pub async fn batch(&self, pk: u32, steps: Vec<BatchStep>) -> Option<Vec<StepOutcome>> {
        let committed = self.router.batch(&self.container(), self.key(pk), steps).await;
        committed.ok().map(|(_, committed)| committed.outcomes)
    }

    /// A step that appends to the list of an item.
    pub fn append(&self, pk: u32, id: &str, value: u64) -> BatchStep {
        self.patch(pk, id, &format!(r#"[{{"op":"add","path":"/list/-","value":{value}}}]"#))
    }

    pub fn patch(&self, pk: u32, id: &str, operations: &str) -> BatchStep {
        let patch = Patch::from_json(&parse(operations)).unwrap();
        BatchStep::Write(self.request(pk, Write::Patch { id: id.to_owned(), patch, condition: None }, None))
    }
}

pub fn item(body: &str) -> Item {
    Item::parse(body.as_bytes()).unwrap()
}
