//! The way in for resource tokens: look up what a token stands for, and hold the request against it.
//!
//! ```text
//! token ─ its MAC (401) ─ its time (403) ─ its permission, unchanged (403) ─> Grant ┐
//! request ──────────────────────────────────────────────────────────────────> Facts ┴─> permission::allows (403)
//! ```
//!
//! Both descriptions are made from one state of the catalog, with everything named by RIDs and items by id and key, so
//! that it does not matter how permission and request spell their links. Only two cases need an item to be read: a
//! permission or a request that names it by its RID.
//!
//! Whoever is refused learns nothing of what exists: a container that is not there and one that is not his are alike.

use crate::gateway::Gateway;
use crate::operation::Operation;
use crate::permission::{Facts, Grant, Target, allows};
use crate::resource_token::TokenError;
use crate::respond::ApiError;
use http::request::Parts;
use std::borrow::Cow;
use std::sync::Arc;
use tesela_model::partition_key::PartitionKeyValue;
use tesela_model::rid::{ChildKind, DocumentOrdinal, ResourceId};
use tesela_protocol::link::{Addressing, Link, ResourcePath, ScriptKind as WireScriptKind};
use tesela_protocol::status::{Status, SubStatus};
use tesela_protocol::{header, partition_key_header};
use tesela_router::catalog::{Container, Detail, Permission, PermissionMode, ScriptKind, State};
use tesela_store::Store;

/// What a link to something inside a container names.
struct Named {
    container: Arc<Container>,
    item: Option<ItemName>,
    /// RID of the script.
    script: Option<String>,
}

/// An item by its name, or by its RID and then with its key.
struct ItemName {
    id: String,
    key: Option<PartitionKeyValue>,
}

impl<S: Store> Gateway<S> {
    /// Refuses a request that its token does not allow.
    pub(crate) async fn admit(&self, token: &str, parts: &Parts, link: &Link<'_>, now: u64) -> Result<(), ApiError> {
        let token = self.authorizer().tokens().open(token).map_err(unusable)?;
        if !token.is_current(now) {
            return Err(forbidden(format!("the resource token is good {}, not now", token.window())));
        }
        let state = self.router().catalog().state();
        let permission = state.permission(&token.permission).filter(|entry| *entry.resource.etag == *token.etag);
        let Some(Detail::Permission(permission)) = permission.map(|entry| &entry.detail) else {
            return Err(forbidden("the permission of the resource token was changed or deleted"));
        };
        let operation = Operation::of(&parts.method, &link.path, &parts.headers)?;
        if operation == Operation::ReadAccount {
            return Ok(());
        }
        let facts = self.facts(&state, operation, parts, link).await?;
        match self.grant(&state, permission).await? {
            Some(grant) if allows(&grant, &facts) => Ok(()),
            _ => Err(beyond(permission)),
        }
    }

    async fn facts(
        &self,
        state: &State,
        operation: Operation,
        parts: &Parts,
        link: &Link<'_>,
    ) -> Result<Facts, ApiError> {
        let key = match header::text(&parts.headers, &header::PARTITION_KEY)? {
            None => None,
            Some(text) => {
                Some(partition_key_header::parse(text).map_err(|error| ApiError::bad_request(error.to_string()))?)
            }
        };
        let none = Facts { operation, container: None, item: None, script: None, key: key.clone() };
        let Some(named) = self.named(state, link).await? else { return Ok(none) };
        let (item, item_key) = named.item.map(|item| (Some(item.id), item.key)).unwrap_or_default();
        Ok(Facts {
            container: Some(named.container.rid.clone()),
            item,
            script: named.script,
            // The item itself knows its key better than a header that comes along.
            key: item_key.or(key),
            ..none
        })
    }

    /// The permission with its link resolved; `None` when there is nothing it could be on.
    async fn grant(&self, state: &State, permission: &Permission) -> Result<Option<Grant>, ApiError> {
        let Some(named) = self.permitted(state, &permission.resource).await? else { return Ok(None) };
        let target = match (named.item, named.script) {
            (Some(item), _) => Target::Item { id: item.id, key: item.key },
            (None, Some(rid)) => Target::Script(rid),
            (None, None) => Target::Container,
        };
        let (mode, key) = (permission.mode, permission.partition_key.clone());
        Ok(Some(Grant { mode, container: named.container.rid.clone(), target, key }))
    }

    /// What a permission's link names: some clients write it encoded as in a URL, some do not.
    async fn permitted(&self, state: &State, resource: &str) -> Result<Option<Named>, ApiError> {
        let encoded = format!("/{resource}");
        let literal = encoded.replace('%', "%25");
        for path in [&encoded, &literal] {
            if let Ok(link) = Link::parse(path, None)
                && is_grantable(&link.path)
                && let Some(named) = self.named(state, &link).await?
            {
                return Ok(Some(named));
            }
        }
        Ok(None)
    }

    /// What a link names, as far as it exists.
    async fn named(&self, state: &State, link: &Link<'_>) -> Result<Option<Named>, ApiError> {
        let (Some(database), Some(container)) = (link.path.database(), link.path.container()) else { return Ok(None) };
        let Ok(container) = state.owner_container(database, container) else { return Ok(None) };
        let mut named = Named { container: container.clone(), item: None, script: None };
        match &link.path {
            ResourcePath::Item { item, .. }
            | ResourcePath::Attachments { item, .. }
            | ResourcePath::Attachment { item, .. } => {
                let Some(item) = self.item_name(container, link.addressing, item).await? else { return Ok(None) };
                named.item = Some(item);
            }
            ResourcePath::Script { kind, script, .. } => {
                let entry = container.script(script_kind(*kind), script, state.addressing(database));
                let Some(entry) = entry else { return Ok(None) };
                named.script = Some(entry.resource.rid.to_string());
            }
            _ => {}
        }
        Ok(Some(named))
    }

    /// An item by name as it is, one by its RID with the name and key it has.
    async fn item_name(
        &self,
        container: &Container,
        addressing: Addressing,
        item: &str,
    ) -> Result<Option<ItemName>, ApiError> {
        let number = ResourceId::parse(item).and_then(|rid| rid.child_number(&container.rid, ChildKind::Document));
        let (Addressing::Rid, Some(number)) = (addressing, number) else {
            return Ok(Some(ItemName { id: item.to_owned(), key: None }));
        };
        let found = self.router().read_item_by_ordinal(container, DocumentOrdinal(number), false).await?;
        let Some(record) = found.and_then(|read| read.record) else { return Ok(None) };
        let root = record.document.root();
        let id = root.get("id").and_then(|id| id.as_str()).map(Cow::into_owned);
        let key = Some(container.definition.partition_key.extract(root));
        Ok(id.map(|id| ItemName { id, key }))
    }
}

/// Whether a permission can be on what a path names.
pub(crate) fn is_grantable(path: &ResourcePath<'_>) -> bool {
    matches!(path, ResourcePath::Container { .. } | ResourcePath::Item { .. } | ResourcePath::Script { .. })
}

fn script_kind(kind: WireScriptKind) -> ScriptKind {
    match kind {
        WireScriptKind::StoredProcedure => ScriptKind::StoredProcedure,
        WireScriptKind::Trigger => ScriptKind::Trigger,
        WireScriptKind::UserDefinedFunction => ScriptKind::Function,
    }
}

fn unusable(error: TokenError) -> ApiError {
    let refused = ApiError::new(Status::Unauthorized, error.to_string());
    match error {
        TokenError::Malformed => refused.with_sub_status(SubStatus::AUTHORIZATION_MALFORMED),
        TokenError::Forged => refused,
    }
}

fn forbidden(message: impl Into<String>) -> ApiError {
    ApiError::new(Status::Forbidden, message)
}

fn beyond(permission: &Permission) -> ApiError {
    let mode = match permission.mode {
        PermissionMode::Read => "read",
        PermissionMode::All => "use",
    };
    let key =
        permission.partition_key.as_ref().map(|key| format!(" under the key {}", partition_key_header::format(key)));
    let (resource, key) = (&permission.resource, key.unwrap_or_default());
    forbidden(format!(
        "the permission of the resource token is to {mode} '{resource}'{key}, which does not cover the request"
    ))
}
