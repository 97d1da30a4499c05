//! One file for each kind of resource; here a request finds its file.
//!
//! The order of tests for a POST to the items of a container matters: plan, batch, query, upsert, create.

mod admin;
mod batch;
mod change_feed;
mod item_answer;
mod item_feed;
mod item_key;
mod items;
mod key_delete;
mod offers;
mod paging;
mod permissions;
mod query;
mod query_plan;
mod ranges;
mod resources;
mod scope;
pub(crate) mod scripts;
pub mod session;

use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use http::Method;
use std::sync::Arc;
use tesela_protocol::header;
use tesela_protocol::link::ResourcePath;
use tesela_protocol::status::{Status, SubStatus};
use tesela_router::catalog::Container;
use tesela_store::Store;

fn not_allowed(call: &Call<'_>) -> ApiError {
    ApiError::new(Status::MethodNotAllowed, format!("the method {} is not for this path", call.method))
}

impl<S: Store> Gateway<S> {
    pub(crate) async fn dispatch(&self, call: &Call<'_>) -> Result<Answer, ApiError> {
        use ResourcePath as P;
        match &call.link.path {
            P::Account if call.method == Method::GET => {
                Ok(Answer::json(Status::Ok, self.account().to_json(&call.endpoint)))
            }
            P::EmulatorCertificate if call.method == Method::GET => self.certificate().await,
            P::Items { database, container } => self.items(call, &*self.container(call, database, container)?).await,
            P::Item { database, container, item } => {
                self.item(call, &*self.container(call, database, container)?, item).await
            }
            P::Script { database, container, kind, script } if call.method == Method::POST => {
                self.execute(call, &*self.container(call, database, container)?, *kind, script).await
            }
            P::PartitionKeyRanges { database, container } if call.method == Method::GET => {
                self.partition_key_ranges(call, &*self.container(call, database, container)?)
            }
            P::PartitionKeyDelete { database, container } if call.method == Method::POST => {
                self.delete_by_key(call, &*self.container(call, database, container)?).await
            }
            P::Conflicts { database, container } if matches!(call.method, Method::GET | Method::POST) => {
                self.conflicts(call, &*self.container(call, database, container)?)
            }
            P::Conflict { conflict, .. } if matches!(call.method, Method::GET | Method::DELETE) => {
                Err(ApiError::not_found(format!("there is no conflict '{conflict}'")))
            }
            P::Attachments { database, container, .. } if call.method == Method::GET => {
                self.attachments(&*self.container(call, database, container)?)
            }
            P::Attachments { .. } | P::Attachment { .. } => {
                Err(ApiError::bad_request("attachments are no longer part of the service"))
            }
            P::Addresses { .. } => {
                Err(ApiError::not_found("this server has no replicas to connect to directly; use gateway mode"))
            }
            P::Admin { rest } => self.admin(call, rest).await,
            P::Explorer { .. } => Err(ApiError::not_found("there is nothing at this path")),
            _ => self.resources(call).await,
        }
    }

    /// The container a request is about something in. A client that knows an older container of that name is told so.
    fn container(&self, call: &Call<'_>, database: &str, container: &str) -> Result<Arc<Container>, ApiError> {
        let found = self.router().catalog().state().owner_container(database, container)?.clone();
        match call.text(&header::INTENDED_COLLECTION_RID)? {
            Some(rid) if !rid.is_empty() && rid != &*found.resource.rid => {
                let message = format!(
                    "Collection rid {rid} of the request does not match {}: the container was created anew",
                    found.resource.rid
                );
                Err(ApiError::bad_request(message).with_sub_status(SubStatus::COLLECTION_RID_MISMATCH))
            }
            _ => Ok(found),
        }
    }

    async fn items(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        match call.method {
            Method::GET if call.headers.contains_key(&header::A_IM) => self.change_feed(call, container).await,
            Method::GET => self.read_items(call, container).await,
            Method::POST if call.flag(&header::IS_QUERY_PLAN)? => self.query_plan(call, container),
            Method::POST if call.flag(&header::IS_BATCH)? => self.batch(call, container).await,
            Method::POST if call.is_query()? => self.query_items(call, container).await,
            Method::POST => self.create_item(call, container).await,
            _ => Err(not_allowed(call)),
        }
    }

    async fn item(&self, call: &Call<'_>, container: &Container, id: &str) -> Result<Answer, ApiError> {
        match call.method {
            Method::GET => self.read_item(call, container, id).await,
            Method::PUT => self.replace_item(call, container, id).await,
            Method::PATCH => self.patch_item(call, container, id).await,
            Method::DELETE => self.delete_item(call, container, id).await,
            _ => Err(not_allowed(call)),
        }
    }
}
