//! The small resources: users and their permissions, client encryption keys, stored procedures, triggers and
//! user-defined functions. The catalog keeps them alike: a body that is checked here, echoed as it was sent, and a few
//! facts of it that others act upon.
//!
//! Left out: scripts are texts; whether they compile is asked before they get here. Permissions are not checked
//! against what they speak of (it may be created later), and their tokens are made by whoever holds the keys.

use super::named::{HasResource, Named};
use super::{CatalogError, Resource, ResourceKind, Result};
use std::sync::Arc;
use tesela_model::container::validate_resource_id;
use tesela_model::json::{Object, Value};
use tesela_model::limits::{CONTAINER_FUNCTIONS_MAX, CONTAINER_PROCEDURES_MAX, CONTAINER_TRIGGERS_MAX};
use tesela_model::partition_key::PartitionKeyValue;

/// Where small resources of one kind are, by names or RIDs as the request has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder<'a> {
    Users { database: &'a str },
    Permissions { database: &'a str, user: &'a str },
    EncryptionKeys { database: &'a str },
    Scripts { database: &'a str, container: &'a str, kind: ScriptKind },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScriptKind {
    StoredProcedure,
    Trigger,
    Function,
}

impl ScriptKind {
    pub(super) const ALL: [Self; 3] = [Self::StoredProcedure, Self::Trigger, Self::Function];

    fn segment(self) -> &'static str {
        match self {
            Self::StoredProcedure => "sprocs",
            Self::Trigger => "triggers",
            Self::Function => "udfs",
        }
    }
}

/// The kinds of small resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    User,
    Permission,
    EncryptionKey,
    Script(ScriptKind),
}

impl EntryKind {
    pub(super) fn resource_kind(self) -> ResourceKind {
        match self {
            Self::User => ResourceKind::User,
            Self::Permission => ResourceKind::Permission,
            Self::EncryptionKey => ResourceKind::EncryptionKey,
            Self::Script(ScriptKind::StoredProcedure) => ResourceKind::StoredProcedure,
            Self::Script(ScriptKind::Trigger) => ResourceKind::Trigger,
            Self::Script(ScriptKind::Function) => ResourceKind::Function,
        }
    }

    /// The segment of links.
    pub(super) fn segment(self) -> &'static str {
        match self {
            Self::User => "users",
            Self::Permission => "permissions",
            Self::EncryptionKey => "clientencryptionkeys",
            Self::Script(kind) => kind.segment(),
        }
    }

    /// How many of them one container may have.
    pub(super) fn limit(self) -> usize {
        match self {
            Self::User | Self::Permission | Self::EncryptionKey => usize::MAX,
            Self::Script(ScriptKind::StoredProcedure) => CONTAINER_PROCEDURES_MAX,
            Self::Script(ScriptKind::Trigger) => CONTAINER_TRIGGERS_MAX,
            Self::Script(ScriptKind::Function) => CONTAINER_FUNCTIONS_MAX,
        }
    }
}

impl Folder<'_> {
    pub fn kind(&self) -> ResourceKind {
        self.entry_kind().resource_kind()
    }

    pub(super) fn entry_kind(&self) -> EntryKind {
        match self {
            Self::Users { .. } => EntryKind::User,
            Self::Permissions { .. } => EntryKind::Permission,
            Self::EncryptionKeys { .. } => EntryKind::EncryptionKey,
            Self::Scripts { kind, .. } => EntryKind::Script(*kind),
        }
    }
}

/// One small resource.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The number inside its RID.
    pub(super) number: u64,
    pub resource: Resource,
    pub detail: Detail,
    /// Of a user.
    pub(super) permissions: Named<Entry>,
}

impl HasResource for Entry {
    fn resource(&self) -> &Resource {
        &self.resource
    }
}

/// The facts of an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    User,
    Permission(Permission),
    EncryptionKey,
    Script(Script),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    pub mode: PermissionMode,
    /// A link by names or RIDs, without slashes around it.
    pub resource: String,
    /// The one logical partition it is for.
    pub partition_key: Option<PartitionKeyValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermissionMode {
    Read,
    All,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// JavaScript source.
    pub body: Arc<str>,
    /// Of a trigger: when it runs.
    pub trigger: Option<Trigger>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trigger {
    pub moment: TriggerMoment,
    pub operation: TriggerOperation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TriggerMoment {
    Pre,
    Post,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TriggerOperation {
    All,
    Create,
    Update,
    Delete,
    Replace,
    Upsert,
}

/// A body that has a good id, and what else it says. SDKs spell modes and operations in either case and expect them
/// back so.
pub(super) fn read(kind: EntryKind, body: &Value) -> Result<(Object, Detail)> {
    let body = Body { kind: kind.resource_kind(), value: body };
    let object = body.value.as_object().ok_or_else(|| body.invalid("the body", "an object"))?;
    validate_resource_id(body.text("id")?)?;
    let detail = match kind {
        EntryKind::User => Detail::User,
        EntryKind::Permission => Detail::Permission(body.permission()?),
        EntryKind::EncryptionKey => {
            body.text("wrappedDataEncryptionKey")?;
            Detail::EncryptionKey
        }
        EntryKind::Script(kind) => {
            let trigger = (kind == ScriptKind::Trigger).then(|| body.trigger()).transpose()?;
            Detail::Script(Script { body: body.text("body")?.into(), trigger })
        }
    };
    Ok((object.clone(), detail))
}

struct Body<'a> {
    kind: ResourceKind,
    value: &'a Value,
}

impl<'a> Body<'a> {
    fn invalid(&self, property: &'static str, expected: &'static str) -> CatalogError {
        CatalogError::Invalid { kind: self.kind, property, expected }
    }

    fn text(&self, property: &'static str) -> Result<&'a str> {
        let text = self.value.get(property).and_then(Value::as_str).filter(|text| !text.is_empty());
        text.ok_or_else(|| self.invalid(property, "a string that is not empty"))
    }

    fn word<T: Copy>(&self, property: &'static str, expected: &'static str, words: &[(&str, T)]) -> Result<T> {
        let text = self.value.get(property).and_then(Value::as_str).unwrap_or_default();
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| *value);
        found.ok_or_else(|| self.invalid(property, expected))
    }

    fn permission(&self) -> Result<Permission> {
        const MODES: [(&str, PermissionMode); 2] = [("Read", PermissionMode::Read), ("All", PermissionMode::All)];
        let partition_key = match self.value.get("resourcePartitionKey") {
            None | Some(Value::Null) => None,
            Some(value) => {
                let key = PartitionKeyValue::from_json(value);
                Some(key.ok_or_else(|| self.invalid("resourcePartitionKey", "a list of key components"))?)
            }
        };
        Ok(Permission {
            mode: self.word("permissionMode", "Read or All", &MODES)?,
            resource: self.text("resource")?.trim_matches('/').to_owned(),
            partition_key,
        })
    }

    fn trigger(&self) -> Result<Trigger> {
        const MOMENTS: [(&str, TriggerMoment); 2] = [("Pre", TriggerMoment::Pre), ("Post", TriggerMoment::Post)];
        const OPERATIONS: [(&str, TriggerOperation); 6] = [
            ("All", TriggerOperation::All),
            ("Create", TriggerOperation::Create),
            ("Update", TriggerOperation::Update),
            ("Delete", TriggerOperation::Delete),
            ("Replace", TriggerOperation::Replace),
            ("Upsert", TriggerOperation::Upsert),
        ];
        let expected = "All, Create, Update, Delete, Replace or Upsert";
        Ok(Trigger {
            moment: self.word("triggerType", "Pre or Post", &MOMENTS)?,
            operation: self.word("triggerOperation", expected, &OPERATIONS)?,
        })
    }
}
