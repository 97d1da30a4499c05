//! Containers: created with their partitions, replaced, deleted, given a new map.

use super::layout::{self, Row};
use super::named::Addressing;
use super::resource::Stamp;
use super::{
    Catalog, CatalogError, CatalogOptions, Container, Database, PartitionMap, Precondition, Resource, ResourceKind,
    Result, State, Throughput, initial_partitions, partitions_needed,
};
use std::sync::Arc;
use tesela_model::container::ContainerDefinition;
use tesela_model::json::Value;
use tesela_model::limits::CONTAINER_PARTITIONS_MAX;
use tesela_model::rid::ResourceId;
use tesela_store::{Batch, SpaceId, Store};

/// What the headers of a create request add to the definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContainerOptions {
    pub throughput: Option<Throughput>,
    /// How many physical partitions to begin with, instead of as many as the throughput asks for.
    pub partitions: Option<u32>,
}

const LINKS: [(&str, &str); 5] = [
    ("_docs", "docs/"),
    ("_sprocs", "sprocs/"),
    ("_triggers", "triggers/"),
    ("_udfs", "udfs/"),
    ("_conflicts", "conflicts/"),
];

impl<S: Store> Catalog<S> {
    /// The definition is checked before its name, so that a bad one is refused even if the name is taken.
    pub async fn create_container(&self, database: &str, body: &Value, options: ContainerOptions) -> Result<Resource> {
        let definition = ContainerDefinition::from_json(body)?;
        if let Some(requested) = options.partitions.filter(|count| !(1..=CONTAINER_PARTITIONS_MAX).contains(count)) {
            return Err(CatalogError::PartitionCount { requested, max: CONTAINER_PARTITIONS_MAX });
        }
        let mut change = self.begin().await?;
        let owner = change.state.owner_database(database)?.0.clone();
        if owner.containers.get(&definition.id, Addressing::Name).is_some() {
            let kind = ResourceKind::Container;
            return Err(CatalogError::AlreadyExists { kind, name: definition.id });
        }
        let throughput = own_throughput(&change.state, &owner, options.throughput, &self.0.options)?;
        let ru = throughput.map_or(0, Throughput::max_ru);
        let count = options.partitions.unwrap_or_else(|| initial_partitions(ru, self.0.options.partition_initial_ru));
        let number = change.next_container()?;
        let spaces = change.create_spaces(count).await?;
        let map = PartitionMap::divide(&definition.partition_key, &spaces);
        let rid = ResourceId::container(owner.number, number);
        let resource = stamp(&definition, &rid, &owner, change.etag(), change.now);
        change.put(Row::Container(owner.number, number), resource.json.clone());
        change.put(Row::Partitions(owner.number, number), layout::map_to_json(&map, change.now));
        let container = Container::new(&owner, number, resource.clone(), definition, map, change.now);
        let container = change.state.put_container(container);
        if let Some(throughput) = throughput {
            change.create_offer(throughput, rid, &resource)?;
            change.state.settle_offer(&container, &self.0.options);
        }
        change.commit().await?;
        Ok(resource)
    }

    /// States the definition anew; see [`ContainerDefinition::replaced_by`] for what may change.
    pub async fn replace_container(
        &self,
        database: &str,
        id: &str,
        body: &Value,
        precondition: Precondition<'_>,
    ) -> Result<Resource> {
        let requested = ContainerDefinition::from_json(body)?;
        let mut change = self.begin().await?;
        let old = change.state.container(database, id)?.clone();
        precondition.check(ResourceKind::Container, &old.resource)?;
        let definition = old.definition.replaced_by(requested)?;
        let (owner, _) = change.state.owner_database(database)?;
        let resource = stamp(&definition, &old.rid, owner, change.etag(), change.now);
        change.put(Row::Container(old.database_number, old.number), resource.json.clone());
        let definition = Arc::new(definition);
        change.state.put_container(Container { resource: resource.clone(), definition, ..old.as_ref().clone() });
        change.commit().await?;
        Ok(resource)
    }

    /// Deletes a container, its scripts, its offer and its partitions.
    pub async fn delete_container(&self, database: &str, id: &str, precondition: Precondition<'_>) -> Result<()> {
        let mut change = self.begin().await?;
        let container = change.state.container(database, id)?.clone();
        precondition.check(ResourceKind::Container, &container.resource)?;
        change.delete_container_rows(&container);
        change.state.change_database(container.database_number, |database| {
            database.containers.remove(u64::from(container.number));
        });
        change.commit().await?;
        let spaces: Vec<SpaceId> = container.partitions.spaces().collect();
        self.drop_spaces(&spaces).await;
        Ok(())
    }

    /// Key spaces for new partitions, made and empty. They are the caller's until a map that names them is installed;
    /// after a crash before that they are dropped.
    pub async fn reserve_spaces(&self, count: u32) -> Result<Vec<SpaceId>> {
        self.begin().await?.create_spaces(count).await
    }

    /// Puts `map` in the place of the container's map of epoch `map.epoch() - 1`, in one commit with `rows` of any
    /// other spaces. Spaces the new map no longer names are left to the caller, who knows when their last reader is
    /// done, and to the next open.
    pub async fn install_map(&self, container: &ResourceId, map: PartitionMap, rows: Batch) -> Result<Arc<Container>> {
        let mut change = self.begin().await?;
        let name = container.to_string();
        let not_found = || CatalogError::NotFound { kind: ResourceKind::Container, name: name.clone() };
        let old = find(&change.state, container).ok_or_else(not_found)?;
        let found = old.partitions.epoch();
        if map.epoch() != found + 1 {
            return Err(CatalogError::MapMoved { container: name, expected: map.epoch() - 1, found });
        }
        change.put(Row::Partitions(old.database_number, old.number), layout::map_to_json(&map, change.now));
        change.append(rows);
        let new = Container { partitions: Arc::new(map), ranges_ts: change.now, ..old.as_ref().clone() };
        let new = change.state.put_container(new.with_ranges());
        change.state.settle_offer(&new, &self.0.options);
        change.commit().await?;
        Ok(new)
    }
}

/// Its own throughput: what was asked for, or the default unless the database shares.
fn own_throughput(
    state: &State,
    database: &Database,
    requested: Option<Throughput>,
    options: &CatalogOptions,
) -> Result<Option<Throughput>> {
    let Some(shared) = state.offer_of(&database.rid) else { return Ok(requested.or(options.default_throughput)) };
    if requested.is_some() {
        return Ok(requested);
    }
    let mut facts = state.minimum_facts(&shared.terms, 0);
    facts.shared_by += 1;
    let (ru, needed) = (shared.terms.throughput.max_ru(), shared.terms.throughput.minimum(&facts));
    if ru >= needed {
        return Ok(None);
    }
    let database = database.resource.id.to_string();
    Err(CatalogError::SharedThroughputTooLow { database, ru, needed })
}

fn stamp(definition: &ContainerDefinition, rid: &ResourceId, database: &Database, etag: String, ts: u64) -> Resource {
    let self_link = format!("{}colls/{rid}/", database.resource.self_link);
    Stamp { rid, owner_rid: &database.resource.rid, self_link, etag, ts, links: &LINKS }.apply(definition.to_json())
}

fn find(state: &State, container: &ResourceId) -> Option<Arc<Container>> {
    const DATABASE_BYTES: usize = 4;
    let (database, _) = container.as_bytes().split_first_chunk::<DATABASE_BYTES>()?;
    let database = state.databases.at(u64::from(u32::from_be_bytes(*database)))?;
    database.containers.get(&container.to_string(), Addressing::Rid).cloned()
}

impl State {
    /// A container by its RID.
    pub fn container_by_rid(&self, rid: &ResourceId) -> Option<Arc<Container>> {
        find(self, rid)
    }

    /// Makes the container's offer, if it has one, say whether partitions are missing.
    pub(super) fn settle_offer(&mut self, container: &Container, options: &CatalogOptions) {
        let Some(offer) = self.offer_of(&container.rid) else { return };
        let current = container.partitions.partitions().len() as u32;
        let needed = partitions_needed(offer.terms.throughput.max_ru(), options.partition_ru_max, current);
        let settled = offer.with_pending(needed > current);
        self.put_offer(settled);
    }
}
