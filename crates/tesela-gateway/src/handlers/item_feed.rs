//! The read feed of items, in `_rid` order.

use super::{item_answer, paging, scope, session};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use tesela_model::limits::FEED_PAGE_ITEMS_DEFAULT;
use tesela_protocol::feed::{FeedName, FeedWriter};
use tesela_protocol::header;
use tesela_protocol::status::Status;
use tesela_router::catalog::Container;
use tesela_store::Store;

impl<S: Store> Gateway<S> {
    pub(super) async fn read_items(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        session::reads_strong(call, self.account().consistency)?;
        session::check(call)?;
        let scope = scope::of(call, container)?;
        let resume = paging::resume(call, container)?;
        let limit = paging::limit(call, FEED_PAGE_ITEMS_DEFAULT)?;
        let page = self.router().read_feed(container, &scope, resume.as_deref(), limit).await?;
        let mut feed = FeedWriter::new(&container.rid.to_string(), FeedName::Documents);
        page.records.iter().for_each(|record| feed.push(record.document.text()));
        let mut answer = Answer::json(Status::Ok, feed.finish());
        answer.set_request_charge(page.charge_ru);
        answer.write(&header::ITEM_COUNT, page.records.len());
        item_answer::write_served(&mut answer, container, page.served);
        paging::write_next(&mut answer, container, page.continuation.as_deref())?;
        Ok(answer)
    }
}
