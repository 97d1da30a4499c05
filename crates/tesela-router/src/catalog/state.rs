//! Everything the catalog knows at one moment, immutable and in memory.
//!
//! Every request looks up its container here, so the look-ups wait for nothing: a few hash probes on maps that no
//! writer ever touches again. A name is tried as a RID first when it has the shape of one, since paths do not say which
//! they are made of: `dbs/{rid}` has a database RID, 8 characters ending in `==`, and everything behind it is a RID too.

use super::folder::{Entry, Folder, ScriptKind};
use super::named::{Addressing, HasResource, Named};
use super::{
    CatalogError, FeedPage, MinimumFacts, Offer, PartitionMap, Resource, ResourceKind, Result, Terms, Throughput,
};
use bytes::Bytes;
use imbl::{HashMap, OrdMap};
use std::sync::Arc;
use tesela_model::container::ContainerDefinition;
use tesela_model::rid::ResourceId;

#[derive(Clone, Debug, Default)]
pub struct State {
    pub(super) databases: Named<Database>,
    pub(super) offers: OrdMap<u32, Arc<Offer>>,
    /// Offer number by the RID of what it pays for.
    pub(super) offer_numbers: HashMap<ResourceId, u32>,
}

#[derive(Clone, Debug)]
pub struct Database {
    pub rid: ResourceId,
    pub resource: Resource,
    pub(super) number: u32,
    pub(super) containers: Named<Container>,
    pub(super) users: Named<Entry>,
    pub(super) keys: Named<Entry>,
}

/// A container with all that a request needs to know of it.
#[derive(Clone, Debug)]
pub struct Container {
    pub rid: ResourceId,
    pub resource: Resource,
    pub definition: Arc<ContainerDefinition>,
    /// `dbs/{name}/colls/{name}`.
    pub path: Arc<str>,
    pub partitions: Arc<PartitionMap>,
    /// The partition key ranges feed of this map, and its ETag with quotes.
    pub ranges_feed: Bytes,
    pub ranges_etag: Arc<str>,
    pub(super) ranges_ts: u64,
    pub(super) number: u32,
    pub(super) database_number: u32,
    pub(super) scripts: [Named<Entry>; 3],
}

impl HasResource for Database {
    fn resource(&self) -> &Resource {
        &self.resource
    }
}

impl HasResource for Container {
    fn resource(&self) -> &Resource {
        &self.resource
    }
}

impl Container {
    /// A script by name or RID.
    pub fn script(&self, kind: ScriptKind, id: &str, addressing: Addressing) -> Option<&Arc<Entry>> {
        self.scripts[kind as usize].get(id, addressing)
    }

    /// The user-defined functions, as they are now.
    pub fn functions(&self) -> Functions {
        Functions(self.scripts[ScriptKind::Function as usize].clone())
    }
}

/// The user-defined functions of a container at one moment; a clone shares them.
#[derive(Clone)]
pub struct Functions(Named<Entry>);

impl Functions {
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.0.get(name, Addressing::Name)
    }
}

/// A list clients can read page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed<'a> {
    Databases,
    Containers { database: &'a str },
    Offers,
    In(Folder<'a>),
}

impl<'a> From<Folder<'a>> for Feed<'a> {
    fn from(folder: Folder<'a>) -> Self {
        Self::In(folder)
    }
}

impl Feed<'_> {
    pub fn kind(&self) -> ResourceKind {
        match self {
            Self::Databases => ResourceKind::Database,
            Self::Containers { .. } => ResourceKind::Container,
            Self::Offers => ResourceKind::Offer,
            Self::In(folder) => folder.kind(),
        }
    }

    /// The property of the envelope.
    pub fn name(&self) -> &'static str {
        match self.kind() {
            ResourceKind::Database => "Databases",
            ResourceKind::Container => "DocumentCollections",
            ResourceKind::User => "Users",
            ResourceKind::Permission => "Permissions",
            ResourceKind::EncryptionKey => "ClientEncryptionKeys",
            ResourceKind::StoredProcedure => "StoredProcedures",
            ResourceKind::Trigger => "Triggers",
            ResourceKind::Function => "UserDefinedFunctions",
            ResourceKind::Offer => "Offers",
        }
    }
}

fn not_found(kind: ResourceKind, name: &str) -> CatalogError {
    CatalogError::NotFound { kind, name: name.to_owned() }
}

fn owner_not_found(kind: ResourceKind, name: &str) -> CatalogError {
    CatalogError::OwnerNotFound { kind, name: name.to_owned() }
}

impl State {
    fn find_database(&self, id: &str) -> Option<(&Arc<Database>, Addressing)> {
        const RID_CHARS: usize = 8;
        if id.len() == RID_CHARS
            && id.ends_with("==")
            && let Some(database) = self.databases.get(id, Addressing::Rid)
        {
            return Some((database, Addressing::Rid));
        }
        self.databases.get(id, Addressing::Name).map(|database| (database, Addressing::Name))
    }

    /// How a path in this database is to be read.
    pub fn addressing(&self, database: &str) -> Addressing {
        self.find_database(database).map_or(Addressing::Name, |(_, addressing)| addressing)
    }

    /// A database, by name or RID.
    pub fn database(&self, id: &str) -> Result<&Arc<Database>> {
        self.find_database(id).map(|(database, _)| database).ok_or_else(|| not_found(ResourceKind::Database, id))
    }

    pub(super) fn owner_database(&self, id: &str) -> Result<(&Arc<Database>, Addressing)> {
        self.find_database(id).ok_or_else(|| owner_not_found(ResourceKind::Database, id))
    }

    /// A container a request is about.
    pub fn container(&self, database: &str, id: &str) -> Result<&Arc<Container>> {
        let (database, addressing) = self.owner_database(database)?;
        database.containers.get(id, addressing).ok_or_else(|| not_found(ResourceKind::Container, id))
    }

    /// A container a request is about something in.
    pub fn owner_container(&self, database: &str, id: &str) -> Result<&Arc<Container>> {
        let (database, addressing) = self.owner_database(database)?;
        database.containers.get(id, addressing).ok_or_else(|| owner_not_found(ResourceKind::Container, id))
    }

    pub(super) fn owner_user(&self, database: &str, id: &str) -> Result<&Arc<Entry>> {
        let (database, addressing) = self.owner_database(database)?;
        database.users.get(id, addressing).ok_or_else(|| owner_not_found(ResourceKind::User, id))
    }

    pub fn databases(&self) -> impl Iterator<Item = &Arc<Database>> {
        self.databases.iter().map(|(_, database)| database)
    }

    /// Every container of every database.
    pub fn containers(&self) -> impl Iterator<Item = &Arc<Container>> {
        self.databases().flat_map(|database| database.containers.iter().map(|(_, container)| container))
    }

    /// The offer with this RID.
    pub fn offer(&self, rid: &str) -> Result<&Arc<Offer>> {
        let number = ResourceId::parse(rid).and_then(|rid| match rid.as_bytes() {
            [low, middle, high] => Some(u32::from_le_bytes([*low, *middle, *high, 0])),
            _ => None,
        });
        number.and_then(|number| self.offers.get(&number)).ok_or_else(|| not_found(ResourceKind::Offer, rid))
    }

    /// The offer that pays for a container or database itself.
    pub fn offer_of(&self, rid: &ResourceId) -> Option<&Arc<Offer>> {
        self.offers.get(self.offer_numbers.get(rid)?)
    }

    /// What a container can use: its own throughput, or what its database shares.
    pub fn throughput_of(&self, container: &Container) -> Option<ContainerThroughput> {
        if let Some(offer) = self.offer_of(&container.rid) {
            return Some(ContainerThroughput::Own(offer.terms.throughput));
        }
        let database = self.databases.at(u64::from(container.database_number))?;
        let offer = self.offer_of(&database.rid)?;
        let shared_by = self.sharing(database);
        Some(ContainerThroughput::Shared {
            throughput: offer.terms.throughput,
            database: database.rid.clone(),
            shared_by,
        })
    }

    /// Containers of a database without throughput of their own.
    pub(super) fn sharing(&self, database: &Database) -> u32 {
        let shares = |container: &Arc<Container>| !self.offer_numbers.contains_key(&container.rid);
        database.containers.iter().filter(|(_, container)| shares(container)).count() as u32
    }

    /// The lowest an offer may be lowered to, given how much its container or database stores.
    pub fn minimum_ru(&self, offer: &Offer, stored_bytes: u64) -> u32 {
        offer.terms.throughput.minimum(&self.minimum_facts(&offer.terms, stored_bytes))
    }

    pub(super) fn minimum_facts(&self, terms: &Terms, stored_bytes: u64) -> MinimumFacts {
        let database = self.databases.get(&terms.target.to_string(), Addressing::Rid);
        let shared_by = database.map_or(0, |database| self.sharing(database));
        MinimumFacts { highest_ru: terms.highest_ru, stored_bytes, shared_by }
    }

    pub(super) fn folder(&self, folder: Folder<'_>) -> Result<(&Named<Entry>, &Resource, Addressing)> {
        match folder {
            Folder::Users { database } => {
                let (database, addressing) = self.owner_database(database)?;
                Ok((&database.users, &database.resource, addressing))
            }
            Folder::EncryptionKeys { database } => {
                let (database, addressing) = self.owner_database(database)?;
                Ok((&database.keys, &database.resource, addressing))
            }
            Folder::Permissions { database, user } => {
                let addressing = self.addressing(database);
                let user = self.owner_user(database, user)?;
                Ok((&user.permissions, &user.resource, addressing))
            }
            Folder::Scripts { database, container, kind } => {
                let addressing = self.addressing(database);
                let container = self.owner_container(database, container)?;
                Ok((&container.scripts[kind as usize], &container.resource, addressing))
            }
        }
    }

    /// A small resource.
    pub fn entry(&self, folder: Folder<'_>, id: &str) -> Result<&Arc<Entry>> {
        let (entries, _, addressing) = self.folder(folder)?;
        entries.get(id, addressing).ok_or_else(|| not_found(folder.kind(), id))
    }

    /// The permission with this RID.
    pub fn permission(&self, rid: &ResourceId) -> Option<&Arc<Entry>> {
        let (database, rest) = rid.as_bytes().split_first_chunk::<4>()?;
        let (user, number) = rest.split_first_chunk::<4>()?;
        let number = u64::from_le_bytes(number.try_into().ok()?);
        let database = self.databases.at(u64::from(u32::from_be_bytes(*database)))?;
        database.users.at(u64::from(u32::from_be_bytes(*user)))?.permissions.at(number)
    }

    /// Any resource of the catalog, as clients read it.
    pub fn resource(&self, feed: Feed<'_>, id: &str) -> Result<&Resource> {
        match feed {
            Feed::Databases => self.database(id).map(|database| &database.resource),
            Feed::Containers { database } => self.container(database, id).map(|container| &container.resource),
            Feed::Offers => self.offer(id).map(|offer| &offer.resource),
            Feed::In(folder) => self.entry(folder, id).map(|entry| &entry.resource),
        }
    }

    /// Up to `max` resources of a feed, behind the place a continuation of ours names.
    pub fn page(&self, feed: Feed<'_>, continuation: Option<&str>, max: usize) -> Result<FeedPage> {
        let bad = |text: &str| CatalogError::BadContinuation(text.to_owned());
        let after = continuation.map(|text| text.parse().map_err(|_| bad(text))).transpose()?;
        let (owner_rid, (page, more)) = match feed {
            Feed::Databases => ("".into(), self.databases.page(after, max)),
            Feed::Offers => ("".into(), self.offers_page(after, max)),
            Feed::Containers { database } => {
                let (database, _) = self.owner_database(database)?;
                (database.resource.rid.clone(), database.containers.page(after, max))
            }
            Feed::In(folder) => {
                let (entries, owner, _) = self.folder(folder)?;
                (owner.rid.clone(), entries.page(after, max))
            }
        };
        let continuation = page.last().filter(|_| more).map(|(number, _)| number.to_string());
        let resources = page.into_iter().map(|(_, resource)| resource).collect();
        Ok(FeedPage { owner_rid, name: feed.name(), resources, continuation })
    }

    fn offers_page(&self, after: Option<u64>, max: usize) -> (Vec<(u64, Resource)>, bool) {
        let first = after.map_or(0, |after| u32::try_from(after).unwrap_or(u32::MAX).saturating_add(1));
        let mut rest = self.offers.range(first..);
        let page =
            rest.by_ref().take(max).map(|(number, offer)| (u64::from(*number), offer.resource.clone())).collect();
        (page, rest.next().is_some())
    }
}

/// Where a container's throughput comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerThroughput {
    Own(Throughput),
    /// One budget for all containers of the database that have none of their own.
    Shared {
        throughput: Throughput,
        database: ResourceId,
        shared_by: u32,
    },
}
