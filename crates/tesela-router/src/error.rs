//! Why the router did not do what it was asked. The border turns these facts into status codes.

use crate::catalog::{CatalogError, TriggerMoment, TriggerOperation};
use tesela_partition::StepError;
use tesela_partition::error::{ReadError, WriteError};
use tesela_partition::query::{OrderError, PageError};
use tesela_query::QueryError;
use tesela_query::plan::PlanError;
use tesela_script::ScriptError;

#[derive(Debug, thiserror::Error)]
pub enum RouterError {
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("operation {} of the batch failed: {}", .0.step, .0.error)]
    Step(StepError),
    #[error("partition key range {id} does not exist any more")]
    PartitionGone { id: u32 },
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Script(ScriptError),
    #[error("too many scripts are running")]
    ScriptsBusy,
    #[error("there is no {moment:?}-trigger '{name}'")]
    NoTrigger { name: String, moment: TriggerMoment },
    #[error("the trigger '{name}' is for operations of the type {operation:?}, which this is not")]
    TriggerOperation { name: String, operation: TriggerOperation },
    #[error("triggers do not run with a patch")]
    TriggerOnPatch,
    #[error(transparent)]
    Order(#[from] OrderError),
    #[error("the continuation token does not belong to this request")]
    Continuation,
}

impl From<PageError> for RouterError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Read(error) => Self::Read(error),
            PageError::Query(error) => Self::Query(error),
            PageError::Order(error) => Self::Order(error),
        }
    }
}
