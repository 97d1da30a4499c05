//! The partition key ranges of a container, and two feeds that are always empty.

use super::query_plan::spec;
use super::{item_answer, not_allowed, query, scope};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use http::Method;
use tesela_protocol::feed::{FeedName, FeedWriter};
use tesela_protocol::header;
use tesela_protocol::status::Status;
use tesela_router::Scope;
use tesela_router::catalog::Container;
use tesela_store::Store;

impl<S: Store> Gateway<S> {
    /// Clients read this feed again and again with the ETag they have, until a literal 304 tells them that they are up
    /// to date: a server that answers 200 to a current ETag sends them into an endless loop.
    pub(super) fn partition_key_ranges(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        let current = &*container.ranges_etag;
        let known =
            call.text(&header::IF_NONE_MATCH)?.is_some_and(|etag| etag.trim_matches('"') == current.trim_matches('"'));
        let mut answer = if known {
            Answer::new(Status::NotModified)
        } else {
            Answer::json(Status::Ok, container.ranges_feed.clone())
        };
        answer.write(&header::ETAG, current);
        answer.set_request_charge(1.0);
        if !known {
            answer.write(&header::ITEM_COUNT, container.partitions.partitions().len());
        }
        item_answer::write_owner(&mut answer, container);
        Ok(answer)
    }

    /// One write region makes no conflicts. A query over them is held to the rules of queries all the same.
    pub(super) fn conflicts(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        if call.method == Method::POST {
            if !call.is_query()? {
                return Err(not_allowed(call));
            }
            self.router().prepare(container, spec(&call.body)?)?;
            if scope::of(call, container)? == Scope::Container && !call.flag(&header::ENABLE_CROSS_PARTITION)? {
                return Err(query::cross_partition_disabled());
            }
        }
        Ok(empty_feed(container, FeedName::Conflicts))
    }

    pub(super) fn attachments(&self, container: &Container) -> Result<Answer, ApiError> {
        Ok(empty_feed(container, FeedName::Attachments))
    }
}

fn empty_feed(container: &Container, name: FeedName) -> Answer {
    let mut answer = Answer::json(Status::Ok, FeedWriter::new(&container.resource.rid, name).finish());
    answer.set_request_charge(1.0);
    answer.write(&header::ITEM_COUNT, 0);
    item_answer::write_owner(&mut answer, container);
    answer
}
