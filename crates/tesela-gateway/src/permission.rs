//! What the holder of a permission may do.
//!
//! A permission is on a container, on one item or on one script, to read or to do anything, and may be narrowed to one
//! value of the partition key. [`allows`] decides, from two plain descriptions: the [`Grant`], which is the permission
//! with its links resolved, and the [`Facts`] of the request. Resolving is done elsewhere (`admit`): by the time a
//! request gets here, names and RIDs of the same thing are the same.
//!
//! | permission on | allows, by its mode |
//! |---|---|
//! | a container | its items one by one and in batches, feeds, queries and their plans, changes, scripts, conflicts |
//! | an item | that item |
//! | a script | that script; executing it, if it is a stored procedure |
//! | any of them | reading the container and its partition key ranges: clients cannot address anything without |
//! | anything at all | reading the account |
//!
//! A permission narrowed to a key is good where a request names that key: for items, and for feeds, queries, changes,
//! batches and procedures of one logical partition. Scripts are not in any partition, so it does not reach them; neither
//! does it reach bulk requests, whose operations bring keys of their own. Of a hierarchical key the permission may name
//! the first levels only; then it is good for every key that begins with them.
//!
//! Nothing else is allowed: not the container itself to be changed, not databases, users, permissions, throughput.

use crate::operation::{Access, Operation};
use tesela_model::partition_key::{Component, PartitionKeyValue};
use tesela_model::rid::ResourceId;
use tesela_router::catalog::PermissionMode;

#[cfg(test)]
mod tests;

/// A permission, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    pub mode: PermissionMode,
    /// The container it is on or in.
    pub container: ResourceId,
    pub target: Target,
    /// The one key value it is for.
    pub key: Option<PartitionKeyValue>,
}

/// What in its container a permission is on.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Container,
    /// By its id, and by its key where the permission names the item by its RID.
    Item {
        id: String,
        key: Option<PartitionKeyValue>,
    },
    /// By its RID.
    Script(String),
}

/// A request, as far as permissions are concerned.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub operation: Operation,
    /// The container it is about or about something in.
    pub container: Option<ResourceId>,
    /// The id of the item it is about.
    pub item: Option<String>,
    /// The RID of the script it is about.
    pub script: Option<String>,
    /// The key value it names: by its header, or by the item when that is addressed by its RID.
    pub key: Option<PartitionKeyValue>,
}

/// Whether a permission covers a request.
pub fn allows(grant: &Grant, facts: &Facts) -> bool {
    use Operation as O;
    if facts.operation == O::ReadAccount {
        return true;
    }
    let may_write = grant.mode == PermissionMode::All;
    if facts.container.as_ref() != Some(&grant.container) || (facts.operation.access() == Access::Write && !may_write) {
        return false;
    }
    let on_container = grant.target == Target::Container;
    match facts.operation {
        O::ReadContainer | O::ReadRanges => true,
        O::ReadItem | O::ReplaceItem | O::PatchItem | O::DeleteItem | O::ReadAttachments | O::WriteAttachment => {
            reaches_item(grant, facts)
        }
        O::PlanQuery => on_container,
        O::CreateItem
        | O::ReadFeed
        | O::ReadChanges
        | O::Query
        | O::AtomicBatch
        | O::DeleteByKey
        | O::ReadConflicts
        | O::DeleteConflict => on_container && names_key(grant, facts),
        O::Bulk | O::ListScripts | O::CreateScript => on_container && grant.key.is_none(),
        O::ReadScript | O::ReplaceScript | O::DeleteScript => {
            (on_container && grant.key.is_none()) || is_script(grant, facts)
        }
        O::ExecuteScript => (on_container || is_script(grant, facts)) && names_key(grant, facts),
        O::ReadAccount
        | O::ReadDatabase
        | O::ListDatabases
        | O::WriteDatabase
        | O::ListContainers
        | O::WriteContainer
        | O::ReadUsers
        | O::WriteUser
        | O::ReadPermissions
        | O::WritePermission
        | O::ReadEncryptionKeys
        | O::WriteEncryptionKey
        | O::ReadOffers
        | O::WriteOffer
        | O::ResolveAddress
        | O::ReadAdmin
        | O::WriteAdmin
        | O::ReadPublic
        | O::Unknown => false,
    }
}

fn reaches_item(grant: &Grant, facts: &Facts) -> bool {
    let is_it = match &grant.target {
        Target::Container => true,
        Target::Item { id, key } => {
            let same_key = key.as_ref().is_none_or(|key| facts.key.as_ref().is_some_and(|named| same(named, key)));
            facts.item.as_ref() == Some(id) && same_key
        }
        Target::Script(_) => false,
    };
    is_it && names_key(grant, facts)
}

fn is_script(grant: &Grant, facts: &Facts) -> bool {
    matches!((&grant.target, &facts.script), (Target::Script(permitted), Some(script)) if permitted == script)
}

/// Whether the request keeps to the key the permission is for, if it is for one.
fn names_key(grant: &Grant, facts: &Facts) -> bool {
    match (&grant.key, &facts.key) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(permitted), Some(named)) => begins_with(named, permitted),
    }
}

fn begins_with(named: &PartitionKeyValue, permitted: &PartitionKeyValue) -> bool {
    let (named, permitted) = (named.components(), permitted.components());
    // No components stand for every key, where feeds are concerned, so they never fulfil a condition.
    !permitted.is_empty() && named.len() >= permitted.len() && named.iter().zip(permitted).all(|(a, b)| equal(a, b))
}

fn same(a: &PartitionKeyValue, b: &PartitionKeyValue) -> bool {
    a.components().len() == b.components().len() && begins_with(a, b)
}

/// Two zeros are one number and two places of the hash space.
fn equal(a: &Component, b: &Component) -> bool {
    match (a, b) {
        (Component::Number(a), Component::Number(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}
