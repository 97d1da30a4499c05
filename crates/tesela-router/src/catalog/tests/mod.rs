//! The catalog over the memory engine and over one that fails; every test ends by opening the store again.

mod crash;
mod partitions;
mod resources;
mod throughput;

use super::*;
use tesela_model::json::{self, Value};
use tesela_store::{MemoryStore, SpaceId, Store, block_on};

/// A catalog over memory, driven without a runtime.
struct Account {
    store: MemoryStore,
    env: Env,
    catalog: Catalog<MemoryStore>,
}

fn account() -> Account {
    account_with(CatalogOptions::default())
}

fn account_with(options: CatalogOptions) -> Account {
    let (store, env) = (MemoryStore::new(), Env::simulated(1));
    let catalog = block_on(Catalog::open(store.clone(), env.clone(), options)).unwrap();
    Account { store, env, catalog }
}

fn parse(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn body(resource: &Resource) -> Value {
    json::parse(&resource.json).unwrap()
}

/// A container with key `/pk`, version 2.
fn container_body(id: &str) -> Value {
    parse(&format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}}}"#))
}

impl Account {
    fn database(&self, id: &str) -> Resource {
        block_on(self.catalog.create_database(&parse(&format!(r#"{{"id":"{id}"}}"#)), None)).unwrap()
    }

    fn container(&self, database: &str, id: &str) -> Resource {
        self.container_with(database, id, ContainerOptions::default())
    }

    fn container_with(&self, database: &str, id: &str, options: ContainerOptions) -> Resource {
        block_on(self.catalog.create_container(database, &container_body(id), options)).unwrap()
    }

    fn entry(&self, folder: Folder<'_>, text: &str) -> Resource {
        let written = block_on(self.catalog.create_entry(folder, &parse(text), false, Precondition::NONE)).unwrap();
        assert!(written.created);
        written.resource
    }

    /// Invariant 1: what is in memory is what a new process would find, and no key space is left over.
    fn check(&self) {
        let options = *self.catalog.options();
        let again = block_on(Catalog::open(self.store.clone(), self.env.clone(), options)).unwrap();
        assert_eq!(dump(&again.state()), dump(&self.catalog.state()));
        assert_eq!(block_on(self.store.spaces()).unwrap(), named_spaces(&again.state()));
    }
}

/// The spaces that must exist.
fn named_spaces(state: &State) -> Vec<SpaceId> {
    let mut spaces: Vec<SpaceId> = state.containers().flat_map(|container| container.partitions.spaces()).collect();
    spaces.push(SpaceId::CATALOG);
    spaces.sort_unstable();
    spaces
}

/// Everything a client could read, as text.
fn dump(state: &State) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |text: &[u8]| lines.push(String::from_utf8(text.to_vec()).unwrap());
    let mut entries = |entries: &named::Named<Entry>| {
        for (_, entry) in entries.iter() {
            line(&entry.resource.json);
            entry.permissions.iter().for_each(|(_, permission)| line(&permission.resource.json));
        }
    };
    for database in state.databases() {
        entries(&database.users);
        entries(&database.keys);
    }
    for container in state.containers() {
        container.scripts.iter().for_each(&mut entries);
    }
    for database in state.databases() {
        line(&database.resource.json);
    }
    for container in state.containers() {
        line(&container.resource.json);
        line(&container.ranges_feed);
        line(format!("{} {} {:?}", container.path, container.ranges_etag, container.partitions).as_bytes());
    }
    state.offers.values().for_each(|offer| line(&offer.resource.json));
    lines
}

fn ids(page: &FeedPage) -> Vec<&str> {
    page.resources.iter().map(|resource| &*resource.id).collect()
}
