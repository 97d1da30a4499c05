//! Everything the catalog keeps: databases, containers, users, permissions, scripts, encryption keys and offers.
//!
//! They are alike: a feed that is listed, queried and posted to, and resources that are read, replaced and deleted. What
//! differs is which of these a kind has, and what a write needs besides its body.

use super::{not_allowed, permissions, query_plan};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use http::{HeaderValue, Method};
use tesela_model::limits::FEED_PAGE_ITEMS_DEFAULT;
use tesela_protocol::feed::{FeedName, FeedWriter};
use tesela_protocol::link::{ResourcePath, ScriptKind as WireScriptKind};
use tesela_protocol::status::Status;
use tesela_protocol::{header, percent};
use tesela_router::catalog::{
    ContainerOptions, Feed, Folder, Precondition, Resource, ResourceKind, ScriptKind, Throughput,
};
use tesela_store::Store;

/// RU of reading and of writing a resource of the catalog. Ours: the service publishes none.
const READ_RU: f64 = 1.0;
const WRITE_RU: f64 = 4.95;

/// A header of ours: how many physical partitions a new container gets, whatever its throughput.
static PARTITION_COUNT: http::HeaderName = http::HeaderName::from_static("x-tesela-partition-count");

/// A path in the catalog: a feed, or a resource in it.
struct Target<'a> {
    feed: Feed<'a>,
    id: Option<&'a str>,
}

fn script_kind(kind: WireScriptKind) -> ScriptKind {
    match kind {
        WireScriptKind::StoredProcedure => ScriptKind::StoredProcedure,
        WireScriptKind::Trigger => ScriptKind::Trigger,
        WireScriptKind::UserDefinedFunction => ScriptKind::Function,
    }
}

fn target<'a>(path: &'a ResourcePath<'_>) -> Option<Target<'a>> {
    use ResourcePath as P;
    let (feed, id): (Feed<'a>, Option<&'a str>) = match path {
        P::Databases => (Feed::Databases, None),
        P::Database { database } => (Feed::Databases, Some(database)),
        P::Containers { database } => (Feed::Containers { database }, None),
        P::Container { database, container } => (Feed::Containers { database }, Some(container)),
        P::Offers => (Feed::Offers, None),
        P::Offer { offer } => (Feed::Offers, Some(offer)),
        P::Users { database } => (Folder::Users { database }.into(), None),
        P::User { database, user } => (Folder::Users { database }.into(), Some(user)),
        P::Permissions { database, user } => (Folder::Permissions { database, user }.into(), None),
        P::Permission { database, user, permission } => {
            (Folder::Permissions { database, user }.into(), Some(permission))
        }
        P::EncryptionKeys { database } => (Folder::EncryptionKeys { database }.into(), None),
        P::EncryptionKey { database, key } => (Folder::EncryptionKeys { database }.into(), Some(key)),
        P::Scripts { database, container, kind } => {
            (Folder::Scripts { database, container, kind: script_kind(*kind) }.into(), None)
        }
        P::Script { database, container, kind, script } => {
            (Folder::Scripts { database, container, kind: script_kind(*kind) }.into(), Some(script))
        }
        _ => return None,
    };
    Some(Target { feed, id })
}

fn feed_name(kind: ResourceKind) -> FeedName {
    match kind {
        ResourceKind::Database => FeedName::Databases,
        ResourceKind::Container => FeedName::Containers,
        ResourceKind::User => FeedName::Users,
        ResourceKind::Permission => FeedName::Permissions,
        ResourceKind::EncryptionKey => FeedName::ClientEncryptionKeys,
        ResourceKind::StoredProcedure => FeedName::StoredProcedures,
        ResourceKind::Trigger => FeedName::Triggers,
        ResourceKind::Function => FeedName::UserDefinedFunctions,
        ResourceKind::Offer => FeedName::Offers,
    }
}

/// The conditions of a request.
fn precondition<'c>(call: &'c Call<'_>) -> Result<Precondition<'c>, ApiError> {
    Ok(Precondition { if_match: call.text(&header::IF_MATCH)?, if_none_match: call.text(&header::IF_NONE_MATCH)? })
}

impl<S: Store> Gateway<S> {
    pub(super) async fn resources(&self, call: &Call<'_>) -> Result<Answer, ApiError> {
        let Some(target) = target(&call.link.path) else { return Err(not_allowed(call)) };
        match (&call.method, target.id) {
            (&Method::GET, None) => self.list(call, target.feed),
            (&Method::POST, None) if call.is_query()? => self.query_feed(call, target.feed),
            (&Method::POST, None) => self.create_resource(call, target.feed).await,
            (&Method::GET, Some(id)) => self.read_resource(call, target.feed, id).await,
            (&Method::PUT, Some(id)) => self.replace_resource(call, target.feed, id).await,
            (&Method::DELETE, Some(id)) => self.delete_resource(call, target.feed, id).await,
            _ => Err(not_allowed(call)),
        }
    }

    fn list(&self, call: &Call<'_>, feed: Feed<'_>) -> Result<Answer, ApiError> {
        let most = call.max_item_count()?.unwrap_or(FEED_PAGE_ITEMS_DEFAULT);
        let continuation = call.text(&header::CONTINUATION)?.filter(|token| !token.is_empty());
        let mut page = self.router().catalog().state().page(feed, continuation, most)?;
        page.resources = page.resources.iter().map(|one| self.shown(call, feed, one)).collect::<Result<_, _>>()?;
        let mut answer = Answer::json(Status::Ok, page.to_json());
        answer.set_request_charge(READ_RU);
        answer.write(&header::ITEM_COUNT, page.resources.len());
        if let Some(next) = &page.continuation {
            answer.write(&header::CONTINUATION, next);
        }
        Ok(answer)
    }

    fn query_feed(&self, call: &Call<'_>, feed: Feed<'_>) -> Result<Answer, ApiError> {
        let spec = query_plan::spec(&call.body)?;
        let mut page = self.router().catalog().state().page(feed, None, usize::MAX)?;
        page.resources = page.resources.iter().map(|one| self.shown(call, feed, one)).collect::<Result<_, _>>()?;
        let rows = page.query(&spec)?;
        let mut writer = FeedWriter::new(&page.owner_rid, feed_name(feed.kind()));
        rows.iter().for_each(|row| writer.push(std::str::from_utf8(row).expect("rows are JSON text")));
        let mut answer = Answer::json(Status::Ok, writer.finish());
        answer.set_request_charge(READ_RU);
        answer.write(&header::ITEM_COUNT, rows.len());
        Ok(answer)
    }

    async fn create_resource(&self, call: &Call<'_>, feed: Feed<'_>) -> Result<Answer, ApiError> {
        let catalog = self.router().catalog();
        let body = call.json_object()?;
        permissions::check(call, feed, &body)?;
        let (status, resource) = match feed {
            Feed::Databases => (Status::Created, catalog.create_database(&body, throughput(call)?).await?),
            Feed::Containers { database } => {
                let options = ContainerOptions {
                    throughput: throughput(call)?,
                    partitions: header::number(call.headers, &PARTITION_COUNT)?,
                };
                (Status::Created, catalog.create_container(database, &body, options).await?)
            }
            Feed::In(folder) => {
                self.check_script(folder, &body).await?;
                let upsert = call.flag(&header::IS_UPSERT)?;
                let written = catalog.create_entry(folder, &body, upsert, precondition(call)?).await?;
                (if written.created { Status::Created } else { Status::Ok }, written.resource)
            }
            Feed::Offers => return Err(not_allowed(call)),
        };
        Ok(single(status, &self.shown(call, feed, &resource)?, WRITE_RU))
    }

    async fn read_resource(&self, call: &Call<'_>, feed: Feed<'_>, id: &str) -> Result<Answer, ApiError> {
        let state = self.router().catalog().state();
        let resource = state.resource(feed, id)?;
        if precondition(call)?.not_modified(&resource.etag) {
            let mut answer = Answer::new(Status::NotModified);
            answer.write(&header::ETAG, &resource.etag);
            answer.set_request_charge(READ_RU);
            return Ok(answer);
        }
        let mut answer = single(Status::Ok, &self.shown(call, feed, resource)?, READ_RU);
        match feed {
            Feed::Containers { database } => {
                self.write_container_extras(call, &mut answer, state.container(database, id)?).await?;
            }
            Feed::Offers => self.write_offer_headers(&mut answer, &state, state.offer(id)?),
            Feed::Databases | Feed::In(_) => {}
        }
        Ok(answer)
    }

    async fn replace_resource(&self, call: &Call<'_>, feed: Feed<'_>, id: &str) -> Result<Answer, ApiError> {
        let catalog = self.router().catalog();
        let body = call.json_object()?;
        permissions::check(call, feed, &body)?;
        let resource = match feed {
            Feed::Containers { database } => {
                catalog.replace_container(database, id, &body, precondition(call)?).await?
            }
            Feed::In(folder) => {
                self.check_script(folder, &body).await?;
                catalog.replace_entry(folder, id, &body, precondition(call)?).await?
            }
            Feed::Offers => return self.replace_offer(call, id, &body, precondition(call)?).await,
            Feed::Databases => return Err(not_allowed(call)),
        };
        Ok(single(Status::Ok, &self.shown(call, feed, &resource)?, WRITE_RU))
    }

    async fn delete_resource(&self, call: &Call<'_>, feed: Feed<'_>, id: &str) -> Result<Answer, ApiError> {
        let catalog = self.router().catalog();
        let precondition = precondition(call)?;
        match feed {
            Feed::Databases => catalog.delete_database(id, precondition).await?,
            Feed::Containers { database } => catalog.delete_container(database, id, precondition).await?,
            Feed::In(folder) => catalog.delete_entry(folder, id, precondition).await?,
            Feed::Offers => return Err(not_allowed(call)),
        }
        self.router().forget_dropped();
        let mut answer = Answer::new(Status::NoContent);
        answer.set_request_charge(WRITE_RU);
        Ok(answer)
    }
}

/// The throughput headers of a create.
fn throughput(call: &Call<'_>) -> Result<Option<Throughput>, ApiError> {
    let (manual, autoscale) = (call.text(&header::OFFER_THROUGHPUT)?, call.text(&header::OFFER_AUTOPILOT)?);
    Throughput::from_headers(manual, autoscale).map_err(|error| ApiError::bad_request(error.to_string()))
}

/// One resource as an answer.
pub(super) fn single(status: Status, resource: &Resource, charge_ru: f64) -> Answer {
    let mut answer = Answer::json(status, resource.json.clone());
    answer.set_request_charge(charge_ru);
    answer.write(&header::ETAG, &resource.etag);
    answer.write(&header::CONTENT_PATH, &resource.rid);
    answer.write(&header::ALT_CONTENT_PATH, percent::encode(&resource.id, b"-_.~ "));
    answer.set(&header::SCHEMA_VERSION, HeaderValue::from_static("1.16"));
    answer
}
