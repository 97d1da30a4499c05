//! Deleting every item of one logical partition in one call.

use super::{item_answer, item_key};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use tesela_partition::charge;
use tesela_protocol::status::Status;
use tesela_router::catalog::Container;
use tesela_store::Store;

impl<S: Store> Gateway<S> {
    /// The key must be a full one. When the answer comes every item that was there is gone: nothing is left to a
    /// background task, so no answer speaks of a deletion that is pending.
    pub(super) async fn delete_by_key(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        let key = item_key::of_point(call, &container.definition.partition_key)?;
        let (served, removed) = self.router().remove_logical(container, &key).await?;
        let mut answer = Answer::new(Status::Ok);
        answer.set_request_charge(charge::round(removed.charge_ru.max(charge::LOOKUP_RU)));
        item_answer::write_served(&mut answer, container, served);
        item_answer::write_usage(&mut answer, self.router().usage(container, served.partition));
        Ok(answer)
    }
}
