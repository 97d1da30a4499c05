//! Changing small resources: users, permissions, encryption keys, scripts.

use super::change::Change;
use super::folder::{self, Detail, Entry, EntryKind, Folder, ScriptKind};
use super::layout::Row;
use super::named::Named;
use super::resource::Stamp;
use super::{Catalog, CatalogError, Precondition, Resource, Result, State, Written, named::Addressing};
use std::sync::Arc;
use tesela_model::json::{Object, Value};
use tesela_model::rid::{ChildKind, ResourceId};
use tesela_store::Store;

/// A folder by numbers: where its rows and its entries are.
#[derive(Clone, Copy)]
enum Place {
    Users { database: u32 },
    Permissions { database: u32, user: u32 },
    EncryptionKeys { database: u32 },
    Scripts { database: u32, container: u32, kind: ScriptKind },
}

impl<S: Store> Catalog<S> {
    /// Creates, or with `upsert` replaces what has the same name.
    pub async fn create_entry(
        &self,
        folder: Folder<'_>,
        body: &Value,
        upsert: bool,
        precondition: Precondition<'_>,
    ) -> Result<Written> {
        let (object, detail) = folder::read(folder.entry_kind(), body)?;
        let name = object.get("id").and_then(Value::as_str).expect("the id was read").to_owned();
        let change = self.begin().await?;
        let place = Place::of(folder, &change.state)?;
        let (entries, owner, _) = change.state.folder(folder)?;
        let (owner, kind) = (owner.clone(), folder.kind());
        if let Some(old) = entries.get(&name, Addressing::Name).cloned() {
            if !upsert {
                return Err(CatalogError::AlreadyExists { kind, name });
            }
            precondition.check(kind, &old.resource)?;
            check_permission(entries, &owner, &detail, Some(&old))?;
            return change.write_over(place, &owner, &old, object, detail).await;
        }
        let max = folder.entry_kind().limit();
        if entries.len() >= max {
            return Err(CatalogError::TooMany { kind, max });
        }
        check_permission(entries, &owner, &detail, None)?;
        change.write_new(place, &owner, object, detail).await
    }

    /// Replaces an entry; its name may change, its RID stays.
    pub async fn replace_entry(
        &self,
        folder: Folder<'_>,
        id: &str,
        body: &Value,
        precondition: Precondition<'_>,
    ) -> Result<Resource> {
        let (object, detail) = folder::read(folder.entry_kind(), body)?;
        let change = self.begin().await?;
        let old = change.state.entry(folder, id)?.clone();
        let kind = folder.kind();
        precondition.check(kind, &old.resource)?;
        let place = Place::of(folder, &change.state)?;
        let (entries, owner, _) = change.state.folder(folder)?;
        let owner = owner.clone();
        let name = object.get("id").and_then(Value::as_str).expect("the id was read");
        if name != &*old.resource.id && entries.get(name, Addressing::Name).is_some() {
            return Err(CatalogError::AlreadyExists { kind, name: name.to_owned() });
        }
        check_permission(entries, &owner, &detail, Some(&old))?;
        change.write_over(place, &owner, &old, object, detail).await.map(|written| written.resource)
    }

    pub async fn delete_entry(&self, folder: Folder<'_>, id: &str, precondition: Precondition<'_>) -> Result<()> {
        let mut change = self.begin().await?;
        let old = change.state.entry(folder, id)?.clone();
        precondition.check(folder.kind(), &old.resource)?;
        let place = Place::of(folder, &change.state)?;
        if let Place::Users { database } = place {
            for (permission, _) in old.permissions.iter() {
                change.delete(Row::Permission(database, old.number as u32, permission));
            }
        }
        change.delete(place.row(old.number));
        place.change(&mut change.state, |entries| entries.remove(old.number));
        change.commit().await
    }
}

/// A user has one permission on a resource at most.
fn check_permission(
    entries: &Named<Entry>,
    user: &Resource,
    new: &Detail,
    replaced: Option<&Arc<Entry>>,
) -> Result<()> {
    let Detail::Permission(new) = new else { return Ok(()) };
    for (_, entry) in entries.iter() {
        let other = replaced.is_none_or(|replaced| replaced.resource.rid != entry.resource.rid);
        if let Detail::Permission(old) = &entry.detail
            && other
            && old.resource == new.resource
            && old.partition_key == new.partition_key
        {
            return Err(CatalogError::PermissionExists {
                user: user.id.to_string(),
                permission: entry.resource.id.to_string(),
                resource: new.resource.clone(),
            });
        }
    }
    Ok(())
}

impl<S: Store> Change<'_, S> {
    async fn write_new(mut self, place: Place, owner: &Resource, body: Object, detail: Detail) -> Result<Written> {
        let (number, rid) = match place {
            Place::Users { database } => {
                let number = self.next_user()?;
                (u64::from(number), ResourceId::user(database, number))
            }
            Place::EncryptionKeys { database } => {
                let number = self.next_user()?;
                (u64::from(number), ResourceId::encryption_key(database, number))
            }
            Place::Permissions { database, user } => {
                let number = self.next_child();
                (number, ResourceId::permission(&ResourceId::user(database, user), number))
            }
            Place::Scripts { database, container, kind } => {
                let number = self.next_child();
                (number, ResourceId::child(&ResourceId::container(database, container), child_kind(kind), number))
            }
        };
        let resource = self.stamp(place, owner, &rid, body);
        let entry = Entry { number, resource, detail, permissions: Named::default() };
        self.write(place, entry, true).await
    }

    async fn write_over(
        self,
        place: Place,
        owner: &Resource,
        old: &Arc<Entry>,
        body: Object,
        detail: Detail,
    ) -> Result<Written> {
        let rid = ResourceId::parse(&old.resource.rid).expect("RIDs of ours read back");
        let resource = self.stamp(place, owner, &rid, body);
        let entry = Entry { number: old.number, resource, detail, permissions: old.permissions.clone() };
        self.write(place, entry, false).await
    }

    fn stamp(&self, place: Place, owner: &Resource, rid: &ResourceId, body: Object) -> Resource {
        let self_link = format!("{}{}/{rid}/", owner.self_link, place.kind().segment());
        let links: &[_] = if place.kind() == EntryKind::User { &[("_permissions", "permissions/")] } else { &[] };
        Stamp { rid, owner_rid: &owner.rid, self_link, etag: self.etag(), ts: self.now, links }.apply(body)
    }

    async fn write(mut self, place: Place, entry: Entry, created: bool) -> Result<Written> {
        let resource = entry.resource.clone();
        self.put(place.row(entry.number), resource.json.clone());
        place.change(&mut self.state, |entries| drop(entries.put(entry.number, entry)));
        self.commit().await?;
        Ok(Written { resource, created })
    }
}

fn child_kind(kind: ScriptKind) -> ChildKind {
    match kind {
        ScriptKind::StoredProcedure => ChildKind::StoredProcedure,
        ScriptKind::Trigger => ChildKind::Trigger,
        ScriptKind::Function => ChildKind::UserDefinedFunction,
    }
}

impl Place {
    fn of(folder: Folder<'_>, state: &State) -> Result<Self> {
        Ok(match folder {
            Folder::Users { database } => Self::Users { database: state.owner_database(database)?.0.number },
            Folder::EncryptionKeys { database } => {
                Self::EncryptionKeys { database: state.owner_database(database)?.0.number }
            }
            Folder::Permissions { database, user } => {
                let number = state.owner_database(database)?.0.number;
                let user = state.owner_user(database, user)?.number as u32;
                Self::Permissions { database: number, user }
            }
            Folder::Scripts { database, container, kind } => {
                let container = state.owner_container(database, container)?;
                Self::Scripts { database: container.database_number, container: container.number, kind }
            }
        })
    }

    fn kind(self) -> EntryKind {
        match self {
            Self::Users { .. } => EntryKind::User,
            Self::Permissions { .. } => EntryKind::Permission,
            Self::EncryptionKeys { .. } => EntryKind::EncryptionKey,
            Self::Scripts { kind, .. } => EntryKind::Script(kind),
        }
    }

    fn row(self, number: u64) -> Row {
        match self {
            Self::Users { database } => Row::User(database, number as u32),
            Self::Permissions { database, user } => Row::Permission(database, user, number),
            Self::EncryptionKeys { database } => Row::EncryptionKey(database, number as u32),
            Self::Scripts { database, container, kind } => Row::Script(database, container, kind, number),
        }
    }

    fn change(self, state: &mut State, change: impl FnOnce(&mut Named<Entry>)) {
        match self {
            Self::Users { database } => state.change_database(database, |database| change(&mut database.users)),
            Self::EncryptionKeys { database } => state.change_database(database, |database| change(&mut database.keys)),
            Self::Permissions { database, user } => state.change_database(database, |database| {
                let user_number = u64::from(user);
                let entry = database.users.at(user_number).expect("the folder's user was found");
                let mut entry = entry.as_ref().clone();
                change(&mut entry.permissions);
                database.users.put(user_number, entry);
            }),
            Self::Scripts { database, container, kind } => state.change_database(database, |database| {
                let container_number = u64::from(container);
                let owner = database.containers.at(container_number).expect("the folder's container was found");
                let mut owner = owner.as_ref().clone();
                change(&mut owner.scripts[kind as usize]);
                database.containers.put(container_number, owner);
            }),
        }
    }
}
