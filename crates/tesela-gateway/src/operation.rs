//! What a request does, told from its method, path and headers alone.
//!
//! Whether somebody may do it is decided on this, before the body is read. So the tests here are those the handlers
//! dispatch by, in the same order: a request that is called a query here must not be a write there. What no handler
//! serves is [`Operation::Unknown`], and counts as a write.
//!
//! ```text
//! POST /dbs/d/colls/c/docs                                     CreateItem
//! POST /dbs/d/colls/c/docs         x-ms-documentdb-isquery     Query
//! POST /dbs/d/colls/c/sprocs/s     x-ms-documentdb-isquery     ExecuteScript: a marker does not make it a query
//! ```

use http::{HeaderMap, Method};
use tesela_protocol::header::{self, HeaderError};
use tesela_protocol::link::{ResourcePath, ScriptKind};

/// Everything a request can ask for. Creating, replacing and deleting are told apart only where some credential allows
/// the one and not the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    ReadAccount,

    ReadDatabase,
    ListDatabases,
    WriteDatabase,
    ReadContainer,
    ListContainers,
    WriteContainer,
    /// The partition key ranges of a container.
    ReadRanges,
    ReadUsers,
    WriteUser,
    ReadPermissions,
    WritePermission,
    ReadEncryptionKeys,
    WriteEncryptionKey,
    ReadOffers,
    WriteOffer,

    /// Create or upsert.
    CreateItem,
    ReadItem,
    ReplaceItem,
    PatchItem,
    DeleteItem,
    ReadFeed,
    ReadChanges,
    Query,
    PlanQuery,
    /// A batch of one logical partition, which the header names.
    AtomicBatch,
    /// A batch whose operations name their own logical partitions.
    Bulk,
    /// Deletes a whole logical partition.
    DeleteByKey,
    ReadAttachments,
    WriteAttachment,
    ReadConflicts,
    DeleteConflict,

    ListScripts,
    CreateScript,
    ReadScript,
    ReplaceScript,
    DeleteScript,
    ExecuteScript,

    /// Where the replicas of a resource are.
    ResolveAddress,
    ReadAdmin,
    WriteAdmin,
    /// What is open to everyone.
    ReadPublic,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// A POST that asks, by one of the markers clients use.
pub fn is_query(headers: &HeaderMap) -> Result<bool, HeaderError> {
    if header::flag(headers, &header::IS_QUERY)? || header::flag(headers, &header::QUERY)? {
        return Ok(true);
    }
    let kind = headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    Ok(kind.is_some_and(|kind| kind.starts_with("application/query+json")))
}

impl Operation {
    pub fn of(method: &Method, path: &ResourcePath<'_>, headers: &HeaderMap) -> Result<Self, HeaderError> {
        use ResourcePath as P;
        let feed = |read, write| Ok(if reads_feed(method, headers)? { read } else { write });
        let point = |read, write| Ok(if method == Method::GET { read } else { write });
        match path {
            P::Account => point(Self::ReadAccount, Self::Unknown),
            P::Databases => feed(Self::ListDatabases, Self::WriteDatabase),
            P::Database { .. } => point(Self::ReadDatabase, Self::WriteDatabase),
            P::Containers { .. } => feed(Self::ListContainers, Self::WriteContainer),
            P::Container { .. } => point(Self::ReadContainer, Self::WriteContainer),
            P::PartitionKeyRanges { .. } | P::PartitionKeyRange { .. } => point(Self::ReadRanges, Self::Unknown),
            P::Users { .. } => feed(Self::ReadUsers, Self::WriteUser),
            P::User { .. } => point(Self::ReadUsers, Self::WriteUser),
            P::Permissions { .. } => feed(Self::ReadPermissions, Self::WritePermission),
            P::Permission { .. } => point(Self::ReadPermissions, Self::WritePermission),
            P::EncryptionKeys { .. } => feed(Self::ReadEncryptionKeys, Self::WriteEncryptionKey),
            P::EncryptionKey { .. } => point(Self::ReadEncryptionKeys, Self::WriteEncryptionKey),
            P::Offers => feed(Self::ReadOffers, Self::WriteOffer),
            P::Offer { .. } => point(Self::ReadOffers, Self::WriteOffer),
            P::Items { .. } => on_items(method, headers),
            P::Item { .. } => Ok(on_item(method)),
            P::PartitionKeyDelete { .. } => Ok(Self::DeleteByKey),
            P::Attachments { .. } | P::Attachment { .. } => point(Self::ReadAttachments, Self::WriteAttachment),
            P::Conflicts { .. } => feed(Self::ReadConflicts, Self::Unknown),
            P::Conflict { .. } => point(Self::ReadConflicts, Self::DeleteConflict),
            P::Scripts { .. } => feed(Self::ListScripts, Self::CreateScript),
            P::Script { kind, .. } => Ok(on_script(method, *kind)),
            P::Addresses { .. } => Ok(Self::ResolveAddress),
            P::Admin { .. } => point(Self::ReadAdmin, Self::WriteAdmin),
            P::Explorer { .. } | P::EmulatorCertificate => point(Self::ReadPublic, Self::Unknown),
        }
    }

    pub fn access(self) -> Access {
        match self {
            Self::ReadAccount
            | Self::ReadDatabase
            | Self::ListDatabases
            | Self::ReadContainer
            | Self::ListContainers
            | Self::ReadRanges
            | Self::ReadUsers
            | Self::ReadPermissions
            | Self::ReadEncryptionKeys
            | Self::ReadOffers
            | Self::ReadItem
            | Self::ReadFeed
            | Self::ReadChanges
            | Self::Query
            | Self::PlanQuery
            | Self::ReadAttachments
            | Self::ReadConflicts
            | Self::ListScripts
            | Self::ReadScript
            | Self::ResolveAddress
            | Self::ReadAdmin
            | Self::ReadPublic => Access::Read,
            Self::WriteDatabase
            | Self::WriteContainer
            | Self::WriteUser
            | Self::WritePermission
            | Self::WriteEncryptionKey
            | Self::WriteOffer
            | Self::CreateItem
            | Self::ReplaceItem
            | Self::PatchItem
            | Self::DeleteItem
            | Self::AtomicBatch
            | Self::Bulk
            | Self::DeleteByKey
            | Self::WriteAttachment
            | Self::DeleteConflict
            | Self::CreateScript
            | Self::ReplaceScript
            | Self::DeleteScript
            | Self::ExecuteScript
            | Self::WriteAdmin
            | Self::Unknown => Access::Write,
        }
    }
}

/// A feed is read by listing it, or by a POST that asks.
fn reads_feed(method: &Method, headers: &HeaderMap) -> Result<bool, HeaderError> {
    Ok(method == Method::GET || (method == Method::POST && is_query(headers)?))
}

fn on_items(method: &Method, headers: &HeaderMap) -> Result<Operation, HeaderError> {
    Ok(match *method {
        Method::GET if headers.contains_key(&header::A_IM) => Operation::ReadChanges,
        Method::GET => Operation::ReadFeed,
        Method::POST if header::flag(headers, &header::IS_QUERY_PLAN)? => Operation::PlanQuery,
        Method::POST if header::flag(headers, &header::IS_BATCH)? => {
            if header::flag(headers, &header::BATCH_ATOMIC)? {
                Operation::AtomicBatch
            } else {
                Operation::Bulk
            }
        }
        Method::POST if is_query(headers)? => Operation::Query,
        Method::POST => Operation::CreateItem,
        _ => Operation::Unknown,
    })
}

fn on_item(method: &Method) -> Operation {
    match *method {
        Method::GET => Operation::ReadItem,
        Method::PUT => Operation::ReplaceItem,
        Method::PATCH => Operation::PatchItem,
        Method::DELETE => Operation::DeleteItem,
        _ => Operation::Unknown,
    }
}

fn on_script(method: &Method, kind: ScriptKind) -> Operation {
    match *method {
        Method::GET => Operation::ReadScript,
        Method::PUT => Operation::ReplaceScript,
        Method::DELETE => Operation::DeleteScript,
        Method::POST if kind == ScriptKind::StoredProcedure => Operation::ExecuteScript,
        _ => Operation::Unknown,
    }
}
