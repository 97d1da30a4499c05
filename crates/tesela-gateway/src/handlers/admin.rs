//! `/_tesela/dbs/{db}/colls/{coll}/…`: the physical partitions of a container, and commands that change them.
//!
//! ```text
//! GET  …/partitions
//! POST …/split   {"partition":"0"}  or  {"partition":"0","at":"1FFF…"}
//! POST …/merge   {"partitions":["1","2"]}
//! ```
//!
//! A command answers when it is done, with the partitions as they are then. A client that goes away does not stop it.

use super::not_allowed;
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use http::Method;
use std::sync::Arc;
use tesela_model::epk::Epk;
use tesela_model::json::{Object, Value, to_string};
use tesela_protocol::status::Status;
use tesela_router::catalog::{Container, ContainerThroughput};
use tesela_router::{PartitionState, ReshapeError, SplitPoint};
use tesela_store::Store;

impl<S: Store> Gateway<S> {
    /// `rest` is what follows `/_tesela/`.
    pub(super) async fn admin(&self, call: &Call<'_>, rest: &str) -> Result<Answer, ApiError> {
        let segments: Vec<&str> = rest.split('/').filter(|segment| !segment.is_empty()).collect();
        let ["dbs", database, "colls", container, what] = segments[..] else {
            return Err(ApiError::not_found("there is nothing at this path"));
        };
        let container = self.router().catalog().state().container(database, container)?.clone();
        match (what, &call.method) {
            ("partitions", &Method::GET) => self.partitions(&container).await,
            ("split", &Method::POST) => self.split(call, &container).await,
            ("merge", &Method::POST) => self.merge(call, &container).await,
            ("partitions" | "split" | "merge", _) => Err(not_allowed(call)),
            _ => Err(ApiError::not_found("there is nothing at this path")),
        }
    }

    async fn partitions(&self, container: &Container) -> Result<Answer, ApiError> {
        let states = self.router().partition_states(container).await?;
        let state = self.router().catalog().state();
        let pending = state.offer_of(&container.rid).is_some_and(|offer| offer.terms.pending);
        let ru = match state.throughput_of(container) {
            Some(ContainerThroughput::Own(throughput) | ContainerThroughput::Shared { throughput, .. }) => {
                throughput.max_ru()
            }
            None => 0,
        };
        let partitions: Vec<Value> = states.iter().map(|state| partition_json(state, ru)).collect();
        let mut object = Object::new();
        object.insert("container", &*container.path);
        object.insert("epoch", container.partitions.epoch());
        object.insert("pending", pending);
        object.insert("partitions", partitions);
        Ok(Answer::json(Status::Ok, to_string(&Value::Object(object))))
    }

    async fn split(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        let body = call.json_object()?;
        let id = partition_id(body.get("partition"), "partition")?;
        let at = match body.get("at") {
            None | Some(Value::Null) => SplitPoint::Best,
            Some(at) => {
                let point = at.as_str().and_then(Epk::from_hex);
                SplitPoint::At(point.ok_or_else(|| ApiError::bad_request("'at' must be hexadecimal digits"))?)
            }
        };
        let (router, rid) = (self.router().clone(), container.rid.clone());
        let done = tokio::spawn(async move { router.split(&rid, id, at).await });
        self.reshaped(done).await
    }

    async fn merge(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        let body = call.json_object()?;
        let expected = || ApiError::bad_request("'partitions' must name two partitions");
        let Some([a, b]) = body.get("partitions").and_then(Value::as_array) else { return Err(expected()) };
        let (a, b) = (partition_id(Some(a), "partitions")?, partition_id(Some(b), "partitions")?);
        let (router, rid) = (self.router().clone(), container.rid.clone());
        let done = tokio::spawn(async move { router.merge(&rid, a, b).await });
        self.reshaped(done).await
    }

    async fn reshaped(
        &self,
        done: tokio::task::JoinHandle<Result<Arc<Container>, ReshapeError>>,
    ) -> Result<Answer, ApiError> {
        let failed = |_| ApiError::new(Status::InternalServerError, "the server made a mistake while doing this");
        let container = done.await.map_err(failed)??;
        self.partitions(&container).await
    }
}

/// Ids are strings in the partition key ranges feed; a number is understood.
fn partition_id(value: Option<&Value>, name: &str) -> Result<u32, ApiError> {
    let id = value.and_then(|value| match value.as_str() {
        Some(text) => text.parse().ok(),
        None => value.as_i64().and_then(|number| u32::try_from(number).ok()),
    });
    id.ok_or_else(|| ApiError::bad_request(format!("'{name}' must be the id of a partition, as a string")))
}

/// `ru` is what the container has, or shares.
fn partition_json(state: &PartitionState, ru: u32) -> Value {
    let parents: Vec<Value> = state.parents.iter().map(|id| Value::from(id.to_string())).collect();
    let mut object = Object::new();
    object.insert("id", state.id.to_string());
    object.insert("minInclusive", state.range.min().to_hex());
    object.insert("maxExclusive", state.range.max().to_hex());
    object.insert("parents", parents);
    object.insert("sizeBytes", state.bytes);
    object.insert("documentCount", state.documents);
    object.insert("lsn", state.lsn);
    object.insert("provisionedRu", f64::from(ru) * state.throughput_fraction);
    object.insert("normalizedRu", 0);
    object.insert("throttled", 0);
    Value::Object(object)
}
