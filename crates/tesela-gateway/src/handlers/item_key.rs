//! The partition key of a request on items: from the header, from the body, or both and equal.

use crate::request::Call;
use crate::respond::ApiError;
use tesela_model::partition_key::{Component, PartitionKeyDefinition, PartitionKeyValue};
use tesela_partition::item::{Item, LogicalKey};
use tesela_protocol::status::SubStatus;

const MISMATCH: &str = "Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key field values specified in the document.";

/// A key that does not fit the container.
pub fn mismatch() -> ApiError {
    ApiError::bad_request(MISMATCH).with_sub_status(SubStatus::PARTITION_KEY_MISMATCH)
}

/// A full key value from the header. `[]` is how containers of the time before partition keys say "none".
pub fn full(value: PartitionKeyValue, definition: &PartitionKeyDefinition) -> Result<LogicalKey, ApiError> {
    let value = if value.components().is_empty() && definition.paths.len() == 1 {
        PartitionKeyValue::new(vec![Component::Undefined])
    } else {
        value
    };
    if value.components().len() != definition.paths.len() {
        return Err(mismatch());
    }
    LogicalKey::new(value, definition).map_err(|error| ApiError::bad_request(error.to_string()))
}

/// The key of a point operation, which must name it.
pub fn of_point(call: &Call<'_>, definition: &PartitionKeyDefinition) -> Result<LogicalKey, ApiError> {
    let value = call.partition_key()?;
    let value =
        value.ok_or_else(|| ApiError::bad_request("PartitionKey value must be supplied for this operation."))?;
    full(value, definition)
}

/// The key of a write with a body: the header's, which must be the body's; without a header the body's.
pub fn of_body(call: &Call<'_>, definition: &PartitionKeyDefinition, item: &Item) -> Result<LogicalKey, ApiError> {
    let found = item.key(definition).map_err(|error| ApiError::bad_request(error.to_string()))?;
    match call.partition_key()? {
        None => Ok(found),
        Some(value) => {
            let wanted = full(value, definition)?;
            if wanted.value == found.value { Ok(found) } else { Err(mismatch()) }
        }
    }
}
