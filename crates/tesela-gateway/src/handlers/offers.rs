//! What an answer about a container or an offer tells besides the resource.

use super::{item_answer, resources};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use http::HeaderValue;
use std::time::Duration;
use tesela_model::json::{Object, Value, to_string};
use tesela_protocol::header;
use tesela_protocol::status::Status;
use tesela_router::Usage;
use tesela_router::catalog::{Container, Migration, Offer, Precondition, State};
use tesela_store::Store;

/// How long a raised throughput waits for its partitions before it is answered as pending. Ours: clients look again
/// after 5 to 30 seconds, and a small container is split long before.
const SETTLE_WAIT: Duration = Duration::from_secs(2);

impl<S: Store> Gateway<S> {
    /// Quota, index progress and statistics, which a read of a container asks for.
    pub(super) async fn write_container_extras(
        &self,
        call: &Call<'_>,
        answer: &mut Answer,
        container: &Container,
    ) -> Result<(), ApiError> {
        let mut complete = true;
        for physical in container.partitions.partitions() {
            complete &= self.router().partition(container, physical).await?.index_is_complete();
        }
        // How far a rebuild is, is not counted: it is done or it is not.
        answer.set(&header::INDEX_PROGRESS, HeaderValue::from_static(if complete { "100" } else { "0" }));
        let quota = call.flag(&header::POPULATE_QUOTA_INFO)?;
        let statistics = call.flag(&header::POPULATE_PARTITION_STATISTICS)?;
        if !quota && !statistics {
            return Ok(());
        }
        let mut total = Usage::default();
        let mut parts = Vec::new();
        for physical in container.partitions.partitions() {
            let counters = self.router().partition(container, physical).await?.counters();
            total.documents += counters.documents;
            total.bytes += counters.bytes;
            let mut part = Object::new();
            part.insert("id", physical.id.to_string());
            part.insert("sizeInKB", counters.bytes.div_ceil(1024));
            part.insert("documentCount", counters.documents);
            part.insert("sampledDistinctPartitionKeyCount", 0);
            part.insert("partitionKeys", Vec::new());
            parts.push(Value::Object(part));
        }
        if quota {
            item_answer::write_usage(answer, total);
        }
        if statistics {
            answer.set_body(container.resource.json_with("statistics", &to_string(&Value::Array(parts))));
        }
        Ok(())
    }

    /// The least it may be lowered to, and whether partitions are still missing for it.
    pub(super) fn write_offer_headers(&self, answer: &mut Answer, state: &State, offer: &Offer) {
        answer.write(&header::MIN_THROUGHPUT, state.minimum_ru(offer, 0));
        answer.write(&header::OFFER_REPLACE_PENDING, offer.terms.pending);
    }

    pub(super) async fn replace_offer(
        &self,
        call: &Call<'_>,
        id: &str,
        body: &Value,
        precondition: Precondition<'_>,
    ) -> Result<Answer, ApiError> {
        let migration = match (call.flag(&header::MIGRATE_TO_AUTOPILOT)?, call.flag(&header::MIGRATE_TO_MANUAL)?) {
            (true, false) => Migration::ToAutoscale,
            (false, true) => Migration::ToManual,
            (false, false) => Migration::None,
            (true, true) => {
                return Err(ApiError::bad_request("throughput cannot be migrated to autoscale and to manual at once"));
            }
        };
        let mut offer = self.router().catalog().replace_offer(id, body, migration, 0, precondition).await?;
        if offer.terms.pending {
            // It goes on without us when the time is up.
            let settling = self.router().begin_settling(offer.terms.target.clone());
            let _ = tokio::time::timeout(SETTLE_WAIT, settling).await;
            offer = self.router().catalog().state().offer(id)?.clone();
        }
        let mut answer = resources::single(Status::Ok, &offer.resource, 1.0);
        self.write_offer_headers(&mut answer, &self.router().catalog().state(), &offer);
        Ok(answer)
    }
}
