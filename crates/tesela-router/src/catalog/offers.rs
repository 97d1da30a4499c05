//! Changing throughput: an offer is replaced.

use super::layout::Row;
use super::{Catalog, Migration, Offer, Precondition, ResourceKind, Result, Terms};
use std::sync::Arc;
use tesela_model::json::Value;
use tesela_store::Store;

impl<S: Store> Catalog<S> {
    /// `stored_bytes` is what the container or database holds: throughput may not fall below a part of it. The offer
    /// that comes back is pending if its container now needs more partitions; see [`Catalog::partitions_needed`].
    pub async fn replace_offer(
        &self,
        rid: &str,
        body: &Value,
        migration: Migration,
        stored_bytes: u64,
        precondition: Precondition<'_>,
    ) -> Result<Arc<Offer>> {
        let mut change = self.begin().await?;
        let old = change.state.offer(rid)?.clone();
        precondition.check(ResourceKind::Offer, &old.resource)?;
        let throughput = old.requested(body, migration)?;
        throughput.check_minimum(&change.state.minimum_facts(&old.terms, stored_bytes))?;
        let highest_ru = old.terms.highest_ru.max(throughput.max_ru());
        let terms = Terms { throughput, highest_ru, pending: false, ..old.terms.clone() };
        let new = Offer::new(old.number, terms, change.etag(), change.now);
        change.put(Row::Offer(new.number), new.resource.json.clone());
        change.state.put_offer(new);
        if let Some(container) = change.state.container_by_rid(&old.terms.target) {
            change.state.settle_offer(&container, &self.0.options);
        }
        let new = change.state.offer(rid)?.clone();
        change.commit().await?;
        Ok(new)
    }
}
