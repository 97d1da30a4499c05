//! Databases: created, deleted with everything in them.

use super::change::Change;
use super::folder::ScriptKind;
use super::layout::Row;
use super::resource::Stamp;
use super::{
    Catalog, CatalogError, Container, Database, Offer, Precondition, Resource, ResourceKind, Result, State, Terms,
    Throughput, named::Addressing,
};
use std::sync::Arc;
use tesela_model::container::validate_resource_id;
use tesela_model::json::Value;
use tesela_model::rid::ResourceId;
use tesela_store::{SpaceId, Store};

impl<S: Store> Catalog<S> {
    /// With `throughput`, containers without their own share it.
    pub async fn create_database(&self, body: &Value, throughput: Option<Throughput>) -> Result<Resource> {
        let kind = ResourceKind::Database;
        let invalid = |property, expected| CatalogError::Invalid { kind, property, expected };
        let object = body.as_object().ok_or(invalid("the body", "an object"))?;
        let id = object.get("id").and_then(Value::as_str).ok_or(invalid("id", "a string"))?;
        validate_resource_id(id)?;
        let mut change = self.begin().await?;
        if change.state.databases.get(id, Addressing::Name).is_some() {
            return Err(CatalogError::AlreadyExists { kind, name: id.to_owned() });
        }
        let number = change.next_database()?;
        let rid = ResourceId::database(number);
        let stamp = Stamp {
            rid: &rid,
            owner_rid: "",
            self_link: format!("dbs/{rid}/"),
            etag: change.etag(),
            ts: change.now,
            links: &[("_colls", "colls/"), ("_users", "users/")],
        };
        let resource = stamp.apply(object.clone());
        change.put(Row::Database(number), resource.json.clone());
        change.state.databases.put(u64::from(number), Database::new(number, resource.clone()));
        if let Some(throughput) = throughput {
            change.create_offer(throughput, rid, &resource)?;
        }
        change.commit().await?;
        Ok(resource)
    }

    /// Deletes a database and all it holds.
    pub async fn delete_database(&self, id: &str, precondition: Precondition<'_>) -> Result<()> {
        let mut change = self.begin().await?;
        let database = change.state.database(id)?.clone();
        precondition.check(ResourceKind::Database, &database.resource)?;
        let mut spaces = Vec::new();
        for (_, container) in database.containers.iter() {
            spaces.extend(container.partitions.spaces());
            change.delete_container_rows(container);
        }
        for (number, user) in database.users.iter() {
            let number = number as u32;
            user.permissions
                .iter()
                .for_each(|(child, _)| change.delete(Row::Permission(database.number, number, child)));
            change.delete(Row::User(database.number, number));
        }
        for (number, _) in database.keys.iter() {
            change.delete(Row::EncryptionKey(database.number, number as u32));
        }
        change.delete_offer(&database.rid);
        change.delete(Row::Database(database.number));
        change.state.databases.remove(u64::from(database.number));
        change.commit().await?;
        self.drop_spaces(&spaces).await;
        Ok(())
    }

    /// Gives back the room of key spaces no map names any more. The deletion has happened, so a failure is not the
    /// caller's: a space that cannot be dropped now is dropped at the next open.
    pub(super) async fn drop_spaces(&self, spaces: &[SpaceId]) {
        for space in spaces {
            let _ = self.0.store.drop_space(*space).await;
        }
    }
}

impl<S: Store> Change<'_, S> {
    pub(super) fn create_offer(
        &mut self,
        throughput: Throughput,
        target: ResourceId,
        resource: &Resource,
    ) -> Result<()> {
        let terms = Terms {
            throughput,
            highest_ru: throughput.max_ru(),
            target,
            target_link: resource.self_link.to_string(),
            pending: false,
        };
        let offer = Offer::new(self.next_offer()?, terms, self.etag(), self.now);
        self.put(Row::Offer(offer.number), offer.resource.json.clone());
        self.state.put_offer(offer);
        Ok(())
    }

    pub(super) fn delete_offer(&mut self, target: &ResourceId) {
        if let Some(number) = self.state.offer_numbers.remove(target) {
            self.state.offers.remove(&number);
            self.delete(Row::Offer(number));
        }
    }

    /// Everything a container has in the catalog.
    pub(super) fn delete_container_rows(&mut self, container: &Container) {
        let (database, number) = (container.database_number, container.number);
        for kind in ScriptKind::ALL {
            for (script, _) in container.scripts[kind as usize].iter() {
                self.delete(Row::Script(database, number, kind, script));
            }
        }
        self.delete_offer(&container.rid);
        self.delete(Row::Partitions(database, number));
        self.delete(Row::Container(database, number));
    }
}

impl State {
    /// Replaces a database by a changed copy.
    pub(super) fn change_database(&mut self, number: u32, change: impl FnOnce(&mut Database)) {
        let database = self.databases.at(u64::from(number)).expect("the caller found something in this database");
        let mut database = database.as_ref().clone();
        change(&mut database);
        self.databases.put(u64::from(number), database);
    }

    /// Adds a container to its database, or replaces it.
    pub(super) fn put_container(&mut self, container: Container) -> Arc<Container> {
        let mut put = None;
        self.change_database(container.database_number, |database| {
            put = Some(database.containers.put(u64::from(container.number), container));
        });
        put.expect("the change ran")
    }

    pub(super) fn put_offer(&mut self, offer: Offer) {
        self.offer_numbers.insert(offer.terms.target.clone(), offer.number);
        self.offers.insert(offer.number, Arc::new(offer));
    }
}
