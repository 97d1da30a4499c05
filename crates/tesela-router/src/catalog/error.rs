//! What can go wrong in the catalog. A variant holds the facts the gateway needs to choose status and sub-status; it
//! knows no HTTP.

use super::{MapError, ThroughputError};
use tesela_model::container::{DefinitionError, IdError};
use tesela_model::json::ParseError;
use tesela_store::keycode::KeyError;

pub type Result<T, E = CatalogError> = std::result::Result<T, E>;

/// The kinds of resources the catalog keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    Database,
    Container,
    User,
    Permission,
    EncryptionKey,
    StoredProcedure,
    Trigger,
    Function,
    Offer,
}

impl ResourceKind {
    /// As messages name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Container => "container",
            Self::User => "user",
            Self::Permission => "permission",
            Self::EncryptionKey => "client encryption key",
            Self::StoredProcedure => "stored procedure",
            Self::Trigger => "trigger",
            Self::Function => "user defined function",
            Self::Offer => "offer",
        }
    }
}

impl std::fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The resource the request is about.
    #[error("{kind} '{name}' does not exist")]
    NotFound { kind: ResourceKind, name: String },
    /// Something the resource would be in (sub-status 1003).
    #[error("{kind} '{name}', the owner of the resource, does not exist")]
    OwnerNotFound { kind: ResourceKind, name: String },
    /// For databases with sub-status 3206.
    #[error("{kind} '{name}' already exists")]
    AlreadyExists { kind: ResourceKind, name: String },
    /// A user has at most one permission on a resource.
    #[error("user '{user}' already has permission '{permission}' on '{resource}'")]
    PermissionExists { user: String, permission: String, resource: String },
    #[error("{kind} '{name}' has etag {found}, which the request's condition does not allow")]
    PreconditionFailed { kind: ResourceKind, name: String, found: String },
    #[error(transparent)]
    Id(#[from] IdError),
    /// [`DefinitionError::NoPartitionKey`] has sub-status 1013.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    #[error(transparent)]
    Throughput(#[from] ThroughputError),
    #[error("One of the specified inputs is invalid: {property} of a {kind} must be {expected}")]
    Invalid { kind: ResourceKind, property: &'static str, expected: &'static str },
    #[error("the continuation '{0}' is none of ours")]
    BadContinuation(String),
    #[error("a container can be created with 1 to {max} physical partitions, not {requested}")]
    PartitionCount { requested: u32, max: u32 },
    #[error("a container has at most {max} resources of kind {kind}")]
    TooMany { kind: ResourceKind, max: usize },
    /// Shared throughput is too low for one more container (sub-status 1019).
    #[error("database '{database}' shares {ru} RU/s; with one more container it needs {needed}")]
    SharedThroughputTooLow { database: String, ru: u32, needed: u32 },
    #[error("no more {0}s can be numbered")]
    NumbersUsedUp(ResourceKind),

    #[error(transparent)]
    Map(#[from] MapError),
    /// Somebody else changed the map first.
    #[error("the partition map of container {container} is at epoch {found}, the change was made for {expected}")]
    MapMoved { container: String, expected: u64, found: u64 },

    /// The data was written by a newer release.
    #[error("the catalog has format {found}, this release reads up to {supported}")]
    NewerFormat { found: i64, supported: i64 },
    #[error("catalog row {row} is damaged: {reason}")]
    Damaged { row: String, reason: Damage },
    #[error(transparent)]
    Store(#[from] tesela_store::Error),
}

/// What is wrong with a stored row.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Damage {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("unknown tag")]
    UnknownTag,
    #[error(transparent)]
    Json(#[from] ParseError),
    #[error("property {0} is missing or of a wrong type")]
    Property(&'static str),
    #[error("its owner is missing")]
    NoOwner,
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    #[error(transparent)]
    Map(#[from] MapError),
    #[error(transparent)]
    Throughput(#[from] ThroughputError),
}
