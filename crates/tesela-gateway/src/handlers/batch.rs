//! Batches: transactional (R16), and the bulk form in which every operation stands for itself.

use super::{item_answer, item_key, items, scope};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use tesela_model::limits::BATCH_BYTES_MAX;
use tesela_partition::item::{Item, LogicalKey};
use tesela_partition::layout::DocumentRecord;
use tesela_partition::patch::Patch;
use tesela_partition::write::{Action, Conditions, Write, WriteRequest};
use tesela_partition::{BatchStep, StepOutcome, charge, etag};
use tesela_protocol::batch::{self, BatchEncoding, BatchOperation, BatchOperationKind, BatchResult};
use tesela_protocol::header;
use tesela_protocol::status::{Status, SubStatus};
use tesela_router::catalog::Container;
use tesela_router::{RouterError, Scope, Served};
use tesela_store::Store;

/// What became of one operation, owned.
#[derive(Clone, Default)]
struct Entry {
    status: u16,
    sub_status: SubStatus,
    charge_ru: f64,
    etag: Option<String>,
    body: Option<DocumentRecord>,
    message: Option<String>,
}

impl Entry {
    fn failed(error: &ApiError, charge_ru: f64) -> Self {
        Self {
            status: error.status.number(),
            sub_status: error.sub_status,
            charge_ru,
            message: Some(error.message.clone()),
            ..Self::default()
        }
    }

    fn done(outcome: &StepOutcome, minimal: bool) -> Self {
        let (status, record, charge_ru, body) = match outcome {
            StepOutcome::Written(written) => {
                let status = match written.action {
                    Action::Created => Status::Created,
                    Action::Replaced => Status::Ok,
                    Action::Deleted => Status::NoContent,
                };
                (status, &written.record, written.charge_ru, !minimal && written.action != Action::Deleted)
            }
            StepOutcome::Read(record) => (Status::Ok, record, charge::read(record.bytes as usize, false), true),
            StepOutcome::NotModified(record) => (Status::NotModified, record, charge::LOOKUP_RU, false),
            StepOutcome::Discarded(_) => unreachable!("a batch has no such steps"),
        };
        let etag = (status != Status::NoContent).then(|| etag::of(record));
        Self { status: status.number(), charge_ru, etag, body: body.then(|| record.clone()), ..Self::default() }
    }

    fn result(&self) -> BatchResult<'_> {
        BatchResult {
            status: self.status,
            sub_status: self.sub_status,
            request_charge: self.charge_ru,
            etag: self.etag.as_deref(),
            resource_body: self.body.as_ref().map(|record| record.document.text()),
            retry_after_ms: None,
            message: self.message.as_deref(),
        }
    }
}

impl<S: Store> Gateway<S> {
    pub(super) async fn batch(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        if call.body.len() > BATCH_BYTES_MAX {
            return Err(ApiError::new(
                Status::RequestEntityTooLarge,
                format!("Request size is too large: a batch may have {BATCH_BYTES_MAX} bytes"),
            ));
        }
        if BatchEncoding::of(&call.body) == BatchEncoding::HybridRow {
            return Err(ApiError::bad_request(
                "batches in HybridRow encoding are not supported; use a JSON list of operations",
            ));
        }
        let operations = batch::parse(&call.body).map_err(|error| ApiError::bad_request(error.to_string()))?;
        if call.flag(&header::BATCH_ATOMIC)? {
            self.atomic_batch(call, container, &operations).await
        } else {
            self.bulk(call, container, &operations).await
        }
    }

    async fn atomic_batch(
        &self,
        call: &Call<'_>,
        container: &Container,
        operations: &[BatchOperation],
    ) -> Result<Answer, ApiError> {
        let key = item_key::of_point(call, &container.definition.partition_key)?;
        let minimal = call.wants_minimal()?;
        let mut steps = Vec::with_capacity(operations.len());
        for (index, operation) in operations.iter().enumerate() {
            match self.step(container, &key, operation) {
                Ok(step) => steps.push(step),
                Err(error) => {
                    return answer(
                        container,
                        None,
                        failed_at(operations.len(), index, Entry::failed(&error, charge::LOOKUP_RU)),
                    );
                }
            }
        }
        match self.router().batch(container, key, steps).await {
            Ok((served, committed)) => {
                let entries = committed
                    .outcomes
                    .iter()
                    .zip(operations)
                    .map(|(outcome, operation)| Entry::done(outcome, minimal || operation.minimal_return));
                answer(container, Some(served), entries.collect())
            }
            Err(refused) => match refused.error {
                RouterError::Step(failed) => {
                    let entry = Entry::failed(&ApiError::from(RouterError::Write(failed.error)), refused.charge_ru);
                    answer(container, refused.served, failed_at(operations.len(), failed.step, entry))
                }
                other => Err(other.into()),
            },
        }
    }

    async fn bulk(
        &self,
        call: &Call<'_>,
        container: &Container,
        operations: &[BatchOperation],
    ) -> Result<Answer, ApiError> {
        let pinned = match scope::of(call, container)? {
            Scope::Partition { id, .. } => {
                Some(container.partitions.by_id(id).ok_or(RouterError::PartitionGone { id })?)
            }
            _ => None,
        };
        let header_key = call.partition_key()?;
        let minimal = call.wants_minimal()?;
        let mut keyed = Vec::with_capacity(operations.len());
        for operation in operations {
            let value = operation.partition_key.clone().or_else(|| header_key.clone());
            let key = match (value, &operation.body) {
                (Some(value), _) => item_key::full(value, &container.definition.partition_key),
                (None, Some(body)) => items::parse_item(body.as_bytes()).and_then(|item| {
                    item.key(&container.definition.partition_key)
                        .map_err(|error| ApiError::bad_request(error.to_string()))
                }),
                (None, None) => Err(ApiError::bad_request("PartitionKey value must be supplied for this operation.")),
            };
            // A key outside the pinned range means that the client's map is old: it must group anew.
            if let (Some(range), Ok(key)) = (pinned, &key)
                && !range.range.contains(&key.epk)
            {
                return Err(RouterError::PartitionGone { id: range.id }.into());
            }
            keyed.push(key);
        }
        let mut entries = Vec::with_capacity(operations.len());
        let mut last = None;
        for (operation, key) in operations.iter().zip(keyed) {
            let (served, entry) = self.bulk_operation(container, key, operation, minimal).await;
            last = served.or(last);
            entries.push(entry);
        }
        answer(container, last, entries)
    }

    async fn bulk_operation(
        &self,
        container: &Container,
        key: Result<LogicalKey, ApiError>,
        operation: &BatchOperation,
        minimal: bool,
    ) -> (Option<Served>, Entry) {
        let step = key.and_then(|key| Ok((self.step(container, &key, operation)?, key)));
        let (step, key) = match step {
            Ok(step) => step,
            Err(error) => return (None, Entry::failed(&error, charge::LOOKUP_RU)),
        };
        match self.router().batch(container, key, vec![step]).await {
            Ok((served, committed)) => {
                let entry =
                    committed.outcomes.first().map(|outcome| Entry::done(outcome, minimal || operation.minimal_return));
                (Some(served), entry.unwrap_or_default())
            }
            Err(refused) => {
                let error = match refused.error {
                    RouterError::Step(failed) => ApiError::from(RouterError::Write(failed.error)),
                    other => other.into(),
                };
                (refused.served, Entry::failed(&error, refused.charge_ru))
            }
        }
    }

    /// An operation as a step of a transaction of `key`.
    fn step(&self, container: &Container, key: &LogicalKey, operation: &BatchOperation) -> Result<BatchStep, ApiError> {
        let id = || operation.id.clone().unwrap_or_default();
        let write = match operation.kind {
            BatchOperationKind::Read => {
                return Ok(BatchStep::Read { id: id(), if_none_match: operation.if_none_match.clone() });
            }
            BatchOperationKind::Create => Write::Create(item(container, key, operation)?),
            BatchOperationKind::Upsert => Write::Upsert(item(container, key, operation)?),
            BatchOperationKind::Replace => Write::Replace { id: id(), item: item(container, key, operation)? },
            BatchOperationKind::Delete => Write::Delete { id: id() },
            BatchOperationKind::Patch => {
                let body = operation.body.as_deref().unwrap_or_default();
                let body = tesela_model::json::parse(body.as_bytes())
                    .map_err(|error| ApiError::bad_request(error.to_string()))?;
                let patch = Patch::from_json(&body).map_err(|error| ApiError::bad_request(error.to_string()))?;
                let condition = patch
                    .condition
                    .as_deref()
                    .map(|text| self.router().patch_condition(container, text))
                    .transpose()?;
                Write::Patch { id: id(), patch, condition }
            }
        };
        let conditions =
            Conditions { if_match: operation.if_match.clone(), if_none_match: operation.if_none_match.clone() };
        let indexed = items::indexing_directive(operation.indexing_directive.as_deref(), container)?;
        Ok(BatchStep::Write(WriteRequest { key: key.clone(), write, conditions, indexed }))
    }
}

/// The body of an operation; R17: its key must be the batch's.
fn item(container: &Container, key: &LogicalKey, operation: &BatchOperation) -> Result<Item, ApiError> {
    let item = items::parse_item(operation.body.as_deref().unwrap_or_default().as_bytes())?;
    let found =
        item.key(&container.definition.partition_key).map_err(|error| ApiError::bad_request(error.to_string()))?;
    if found.value == key.value { Ok(item) } else { Err(item_key::mismatch()) }
}

/// One failed, so none happened.
fn failed_at(count: usize, index: usize, failed: Entry) -> Vec<Entry> {
    let innocent = Entry { status: Status::FailedDependency.number(), ..Entry::default() };
    let mut entries = vec![innocent; count];
    entries[index] = failed;
    entries
}

fn answer(container: &Container, served: Option<Served>, entries: Vec<Entry>) -> Result<Answer, ApiError> {
    let failed = entries.iter().any(|entry| entry.status >= 400);
    let status = if failed { Status::MultiStatus } else { Status::Ok };
    let mut answer = Answer::json(status, batch::write_results(entries.iter().map(Entry::result)));
    answer.set_request_charge(charge::round(entries.iter().map(|entry| entry.charge_ru).sum()));
    answer.write(&header::ITEM_COUNT, entries.len());
    match served {
        Some(served) => item_answer::write_served(&mut answer, container, served),
        None => item_answer::write_owner(&mut answer, container),
    }
    Ok(answer)
}
