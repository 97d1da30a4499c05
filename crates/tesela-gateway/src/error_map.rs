//! What went wrong below, in the terms of the protocol: the one place where an inner error becomes a status.
//!
//! No `_` arms: an error that is new below must be decided on here.

use crate::handlers::scripts::SCRIPTS_BUSY_RETRY_MS;
use crate::respond::ApiError;
use tesela_model::container::DefinitionError;
use tesela_model::json::{Object, Value, to_string};
use tesela_partition::error::{ReadError, WriteError};
use tesela_partition::item::ItemError;
use tesela_protocol::status::{Status, SubStatus};
use tesela_query::QueryError;
use tesela_query::plan::PlanError;
use tesela_router::catalog::{CatalogError, ResourceKind};
use tesela_router::{ReshapeError, RouterError};
use tesela_sql::SqlError;

impl From<RouterError> for ApiError {
    fn from(error: RouterError) -> Self {
        let message = error.to_string();
        match error {
            RouterError::Catalog(error) => error.into(),
            RouterError::Write(error) => error.into(),
            RouterError::Read(error) => error.into(),
            RouterError::Step(failed) => failed.error.into(),
            RouterError::PartitionGone { .. } => {
                Self::new(Status::Gone, message).with_sub_status(SubStatus::PARTITION_KEY_RANGE_GONE)
            }
            RouterError::Continuation
            | RouterError::Order(_)
            | RouterError::NoTrigger { .. }
            | RouterError::TriggerOperation { .. }
            | RouterError::TriggerOnPatch => Self::bad_request(message),
            RouterError::Script(error) => error.into(),
            RouterError::ScriptsBusy => {
                let busy = Self::new(Status::TooManyRequests, message).with_sub_status(SubStatus::SCRIPT_CONCURRENCY);
                Self { retry_after_ms: Some(SCRIPTS_BUSY_RETRY_MS), ..busy }
            }
            RouterError::Query(error) => error.into(),
            RouterError::Plan(PlanError::Query(error)) => error.into(),
            RouterError::Plan(error) if error.is_unservable() => {
                Self::bad_request(message).with_sub_status(SubStatus::CROSS_PARTITION_QUERY_NOT_SERVABLE)
            }
            RouterError::Plan(_) => Self::bad_request(message),
        }
    }
}

impl From<ReshapeError> for ApiError {
    fn from(error: ReshapeError) -> Self {
        let message = error.to_string();
        match error {
            ReshapeError::Catalog(error) => error.into(),
            ReshapeError::Router(error) => error.into(),
            ReshapeError::Read(error) => error.into(),
            ReshapeError::Map(_) => Self::bad_request(message),
            ReshapeError::Indivisible { .. } | ReshapeError::Needed { .. } | ReshapeError::TooLarge { .. } => {
                Self::new(Status::Conflict, message)
            }
            ReshapeError::DefinitionChanged => {
                Self::new(Status::Conflict, message).with_sub_status(SubStatus::CONTROL_PLANE_CONFLICT)
            }
            ReshapeError::Transfer(_) => Self::new(Status::InternalServerError, message),
        }
    }
}

/// Faults with their codes and places, in the shape the service lists them in.
impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        if error.faults().is_empty() {
            return Self::bad_request(error.to_string());
        }
        let fault = |fault: &SqlError| {
            let location: Object = [("start", fault.span.start), ("end", fault.span.end)].into_iter().collect();
            let mut object = Object::new();
            object.insert("severity", "Error");
            object.insert("location", location);
            object.insert("code", fault.code);
            object.insert("message", fault.message.as_str());
            Value::Object(object)
        };
        let faults: Object = [("errors", error.faults().iter().map(fault).collect::<Vec<_>>())].into_iter().collect();
        Self::bad_request(to_string(&Value::Object(faults)))
    }
}

impl From<WriteError> for ApiError {
    fn from(error: WriteError) -> Self {
        let message = error.to_string();
        let plain = |status| Self::new(status, message.clone());
        match error {
            WriteError::NotFound { .. } => plain(Status::NotFound),
            WriteError::AlreadyExists { .. } => plain(Status::Conflict),
            WriteError::UniqueKey { .. } => plain(Status::Conflict).with_sub_status(SubStatus::UNIQUE_KEY_VIOLATION),
            WriteError::HashCollision { .. } => plain(Status::Conflict).with_sub_status(SubStatus::EPK_COLLISION),
            WriteError::EtagMismatch { .. } | WriteError::Exists { .. } => plain(Status::PreconditionFailed),
            WriteError::PatchCondition { .. } => {
                plain(Status::PreconditionFailed).with_sub_status(SubStatus::PATCH_CONDITION_FALSE)
            }
            WriteError::KeyMismatch { .. } => {
                plain(Status::BadRequest).with_sub_status(SubStatus::PARTITION_KEY_MISMATCH)
            }
            WriteError::TooLarge { .. } => plain(Status::RequestEntityTooLarge),
            WriteError::LogicalPartitionFull { .. } => {
                plain(Status::Forbidden).with_sub_status(SubStatus::LOGICAL_PARTITION_FULL)
            }
            WriteError::Item(ItemError::TooLarge { .. }) => plain(Status::RequestEntityTooLarge),
            WriteError::Item(_) | WriteError::Patch(_) => plain(Status::BadRequest),
            WriteError::Contended { .. } => plain(Status::RetryWith),
            WriteError::Gone => plain(Status::Gone).with_sub_status(SubStatus::COMPLETING_SPLIT),
            WriteError::Layout(_) => plain(Status::InternalServerError),
            WriteError::Store(error) => store(&error),
        }
    }
}

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Layout(error) => Self::new(Status::InternalServerError, error.to_string()),
            ReadError::Store(error) => store(&error),
        }
    }
}

/// A space that is not there was dropped with its container while the request ran.
fn store(error: &tesela_store::Error) -> ApiError {
    match error {
        tesela_store::Error::NoSuchSpace(_) => {
            ApiError::not_found("the container was deleted").with_sub_status(SubStatus::OWNER_NOT_FOUND)
        }
        _ => ApiError::new(Status::ServiceUnavailable, error.to_string()),
    }
}

impl From<CatalogError> for ApiError {
    fn from(error: CatalogError) -> Self {
        let message = error.to_string();
        let plain = |status| Self::new(status, message.clone());
        match error {
            CatalogError::NotFound { .. } => plain(Status::NotFound),
            CatalogError::OwnerNotFound { .. } => plain(Status::NotFound).with_sub_status(SubStatus::OWNER_NOT_FOUND),
            CatalogError::AlreadyExists { kind, .. } => {
                let sub_status =
                    if kind == ResourceKind::Database { SubStatus::DATABASE_NAME_EXISTS } else { SubStatus::NONE };
                plain(Status::Conflict).with_sub_status(sub_status)
            }
            CatalogError::PermissionExists { .. } => plain(Status::Conflict),
            CatalogError::PreconditionFailed { .. } => plain(Status::PreconditionFailed),
            CatalogError::Definition(DefinitionError::NoPartitionKey) => {
                plain(Status::BadRequest).with_sub_status(SubStatus::PARTITION_KEY_DEFINITION_MISSING)
            }
            CatalogError::Id(_)
            | CatalogError::Definition(_)
            | CatalogError::Throughput(_)
            | CatalogError::Invalid { .. }
            | CatalogError::BadContinuation(_)
            | CatalogError::PartitionCount { .. }
            | CatalogError::TooMany { .. } => plain(Status::BadRequest),
            CatalogError::SharedThroughputTooLow { .. } => {
                plain(Status::Forbidden).with_sub_status(SubStatus::SHARED_THROUGHPUT_CONTAINERS)
            }
            CatalogError::NumbersUsedUp(_) => plain(Status::Forbidden),
            CatalogError::MapMoved { .. } => plain(Status::Conflict).with_sub_status(SubStatus::CONTROL_PLANE_CONFLICT),
            CatalogError::Map(_) | CatalogError::NewerFormat { .. } | CatalogError::Damaged { .. } => {
                plain(Status::InternalServerError)
            }
            CatalogError::Store(error) => store(&error),
        }
    }
}
