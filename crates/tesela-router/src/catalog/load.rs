//! Opening: rows to a state, and the leftovers of a crash dropped.

use super::change::Writer;
use super::error::Damage;
use super::folder::{self, Entry, EntryKind};
use super::layout::{self, Counters, FORMAT, Row};
use super::named::Named;
use super::{
    Catalog, CatalogError, CatalogOptions, Container, Database, Inner, Offer, PartitionMap, Resource, Result, State,
    Terms,
};
use arc_swap::ArcSwap;
use bytes::Bytes;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::json::{self, Value};
use tesela_model::rid::ResourceId;
use tesela_store::{Batch, Direction, KeyRange, ScanLimit, Snapshot, SpaceId, Store};
use tokio::sync::watch;

/// Rows read at a time.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

impl<S: Store> Catalog<S> {
    /// Opens the catalog of a store, or begins one in an empty store.
    pub async fn open(store: S, env: Env, options: CatalogOptions) -> Result<Self> {
        store.create_space(SpaceId::CATALOG).await?;
        begin_if_empty(&store, &env).await?;
        let Loaded { state, mut counters } = load(&store, &options).await?;
        let spaces = store.spaces().await?;
        let used: HashSet<SpaceId> = state.containers().flat_map(|container| container.partitions.spaces()).collect();
        for space in spaces.iter().filter(|space| **space != SpaceId::CATALOG && !used.contains(space)) {
            store.drop_space(*space).await?;
        }
        // A space that was made but never named has a number that was never counted.
        let last = spaces.iter().map(|space| space.0).max().unwrap_or(0);
        counters.space = counters.space.max(last + 1);
        let writer = tokio::sync::Mutex::new(Writer { counters, stale: false });
        let state = ArcSwap::from_pointee(state);
        let published = watch::Sender::new(());
        Ok(Self(Arc::new(Inner { store, env, options, state, published, writer })))
    }
}

async fn begin_if_empty<S: Store>(store: &S, env: &Env) -> Result<()> {
    if store.snapshot().get(SpaceId::CATALOG, &Row::Format.key()).await?.is_some() {
        return Ok(());
    }
    // A random start, so that a client of an earlier, thrown-away store does not meet its RIDs again. Far from both
    // ends: the number never overflows and the RID never looks empty.
    let base = 1 << 24 | (env.random() as u32 & 0x3FFF_FFFF);
    let mut batch = Batch::new();
    batch.put(SpaceId::CATALOG, Row::Format.key(), format!("{{\"format\":{FORMAT}}}"));
    batch.put(SpaceId::CATALOG, Row::Counters.key(), Counters::new(base).to_json());
    store.commit(batch).await?;
    Ok(())
}

pub(super) struct Loaded {
    pub state: State,
    pub counters: Counters,
}

pub(super) async fn load<S: Store>(store: &S, options: &CatalogOptions) -> Result<Loaded> {
    let snapshot = store.snapshot();
    let mut loader = Loader::default();
    let mut range = KeyRange::all();
    loop {
        let limit = ScanLimit::bytes(PAGE_BYTES);
        let page = snapshot.scan(SpaceId::CATALOG, range.clone(), Direction::Forward, limit).await?;
        for (key, value) in &page.rows {
            loader.row(key, value)?;
        }
        match page.rows.last() {
            Some((last, _)) if page.more => range = range.after(last, Direction::Forward),
            _ => return loader.finish(options),
        }
    }
}

/// The value of a row, as text and parsed.
#[derive(Clone, Copy)]
struct Stored<'a> {
    text: &'a Bytes,
    value: &'a Value,
}

/// Takes rows in key order: owners before what they own.
#[derive(Default)]
struct Loader {
    state: State,
    counters: Option<Counters>,
    /// Containers whose map has not come yet.
    waiting: HashMap<(u32, u32), (Resource, ContainerDefinition)>,
}

impl Loader {
    fn row(&mut self, key: &[u8], text: &Bytes) -> Result<()> {
        let damaged = |reason| CatalogError::Damaged { row: shown(key), reason };
        let row = Row::parse(key).map_err(damaged)?;
        let value = json::parse(text).map_err(|error| damaged(error.into()))?;
        if row == Row::Format {
            let found = value.get("format").and_then(Value::as_i64).ok_or(damaged(Damage::Property("format")))?;
            let supported = FORMAT;
            return if found <= supported { Ok(()) } else { Err(CatalogError::NewerFormat { found, supported }) };
        }
        self.apply(row, Stored { text, value: &value }).map_err(damaged)
    }

    fn apply(&mut self, row: Row, stored: Stored<'_>) -> Result<(), Damage> {
        match row {
            Row::Format => Ok(()),
            Row::Counters => {
                self.counters = Some(Counters::from_json(stored.value)?);
                Ok(())
            }
            Row::Database(number) => {
                let resource = stored_resource(stored, "")?;
                self.state.databases.put(u64::from(number), Database::new(number, resource));
                Ok(())
            }
            Row::Container(database, container) => {
                let resource = stored_resource(stored, &self.database(database)?.resource.rid)?;
                let definition = ContainerDefinition::from_json(stored.value)?;
                self.waiting.insert((database, container), (resource, definition));
                Ok(())
            }
            Row::Partitions(database, container) => self.partitions(database, container, stored),
            Row::Script(database, container, kind, number) => {
                let containers = &self.database(database)?.containers;
                let mut owner = containers.at(u64::from(container)).ok_or(Damage::NoOwner)?.as_ref().clone();
                let entry = stored_entry(EntryKind::Script(kind), number, stored, &owner.resource.rid)?;
                owner.scripts[kind as usize].put(number, entry);
                self.state.put_container(owner);
                Ok(())
            }
            Row::User(database, number) => {
                let owner = &self.database(database)?.resource.rid;
                let entry = stored_entry(EntryKind::User, u64::from(number), stored, owner)?;
                self.state.change_database(database, |owner| drop(owner.users.put(entry.number, entry)));
                Ok(())
            }
            Row::EncryptionKey(database, number) => {
                let owner = &self.database(database)?.resource.rid;
                let entry = stored_entry(EntryKind::EncryptionKey, u64::from(number), stored, owner)?;
                self.state.change_database(database, |owner| drop(owner.keys.put(entry.number, entry)));
                Ok(())
            }
            Row::Permission(database, user, number) => {
                let users = &self.database(database)?.users;
                let mut user = users.at(u64::from(user)).ok_or(Damage::NoOwner)?.as_ref().clone();
                let entry = stored_entry(EntryKind::Permission, number, stored, &user.resource.rid)?;
                user.permissions.put(number, entry);
                self.state.change_database(database, |owner| drop(owner.users.put(user.number, user)));
                Ok(())
            }
            Row::Offer(number) => {
                let terms = Terms::from_json(stored.value).ok_or(Damage::Property("content"))??;
                let resource = stored_resource(stored, "")?;
                self.state.put_offer(Offer::new(number, terms, resource.etag.to_string(), resource.ts));
                Ok(())
            }
        }
    }

    fn partitions(&mut self, database: u32, container: u32, stored: Stored<'_>) -> Result<(), Damage> {
        let (map, ts) = layout::map_from_json(stored.value)?;
        let (resource, definition) = self.waiting.remove(&(database, container)).ok_or(Damage::NoOwner)?;
        let container = Container::new(self.database(database)?, container, resource, definition, map, ts);
        self.state.put_container(container);
        Ok(())
    }

    fn database(&self, number: u32) -> Result<&Arc<Database>, Damage> {
        self.state.databases.at(u64::from(number)).ok_or(Damage::NoOwner)
    }

    fn finish(mut self, options: &CatalogOptions) -> Result<Loaded> {
        let damaged = |row: Row, reason| CatalogError::Damaged { row: shown(&row.key()), reason };
        if let Some((database, container)) = self.waiting.keys().next() {
            return Err(damaged(Row::Partitions(*database, *container), Damage::Property("partitions")));
        }
        let counters = self.counters.ok_or_else(|| damaged(Row::Counters, Damage::Property("database")))?;
        let containers: Vec<Arc<Container>> = self.state.containers().cloned().collect();
        for container in containers {
            self.state.settle_offer(&container, options);
        }
        Ok(Loaded { state: self.state, counters })
    }
}

fn stored_entry(kind: EntryKind, number: u64, stored: Stored<'_>, owner_rid: &str) -> Result<Entry, Damage> {
    let resource = stored_resource(stored, owner_rid)?;
    let (_, detail) = folder::read(kind, stored.value).map_err(|_| Damage::Property("body"))?;
    Ok(Entry { number, resource, detail, permissions: Named::default() })
}

fn stored_resource(stored: Stored<'_>, owner_rid: &str) -> Result<Resource, Damage> {
    let Stored { text, value } = stored;
    let ts = value.get("_ts").and_then(Value::as_i64).and_then(|ts| ts.try_into().ok());
    Ok(Resource {
        id: layout::text(value, "id")?.into(),
        rid: layout::text(value, "_rid")?.into(),
        owner_rid: owner_rid.into(),
        self_link: layout::text(value, "_self")?.into(),
        etag: layout::text(value, "_etag")?.into(),
        ts: ts.ok_or(Damage::Property("_ts"))?,
        json: text.clone(),
    })
}

/// A key as hexadecimal digits.
fn shown(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Database {
    pub(super) fn new(number: u32, resource: Resource) -> Self {
        let rid = ResourceId::database(number);
        let (containers, users, keys) = Default::default();
        Self { rid, resource, number, containers, users, keys }
    }
}

impl Container {
    pub(super) fn new(
        database: &Database,
        number: u32,
        resource: Resource,
        definition: ContainerDefinition,
        map: PartitionMap,
        ranges_ts: u64,
    ) -> Self {
        let container = Self {
            rid: ResourceId::container(database.number, number),
            path: format!("dbs/{}/colls/{}", database.resource.id, resource.id).into(),
            resource,
            definition: Arc::new(definition),
            partitions: Arc::new(map),
            ranges_feed: Bytes::new(),
            ranges_etag: "".into(),
            ranges_ts,
            number,
            database_number: database.number,
            scripts: Default::default(),
        };
        container.with_ranges()
    }

    /// With the feed and ETag of its map.
    pub(super) fn with_ranges(mut self) -> Self {
        let (rid, link) = (&self.rid, &self.resource.self_link);
        self.ranges_feed = super::partition_map::ranges_feed(rid, link, &self.partitions, self.ranges_ts).into();
        self.ranges_etag = super::partition_map::ranges_etag(rid, &self.partitions).into();
        self
    }
}
