//! The part of a container a feed or query is about, as its headers say.

use super::item_key;
use crate::request::Call;
use crate::respond::ApiError;
use tesela_model::epk::{Epk, EpkRange};
use tesela_model::partition_key::PartitionKeyKind;
use tesela_protocol::header;
use tesela_router::Scope;
use tesela_router::catalog::Container;

/// The only kind of bounds a window may have.
const EPK_RANGE: &str = "EffectivePartitionKeyRange";

/// A key wins over a range id, a range id is cut to the window, a window stands alone, and without any of them it is the
/// whole container.
pub fn of(call: &Call<'_>, container: &Container) -> Result<Scope, ApiError> {
    let definition = &container.definition.partition_key;
    match call.partition_key()? {
        Some(value) if !value.components().is_empty() => {
            let given = value.components().len();
            if given < definition.paths.len() && definition.kind == PartitionKeyKind::MultiHash {
                return Ok(Scope::of_key(&value, definition));
            }
            return Ok(Scope::Logical(item_key::full(value, definition)?.epk));
        }
        _ => {}
    }
    let window = window(call)?;
    match call.text(&header::PARTITION_KEY_RANGE_ID)? {
        Some(id) if !id.is_empty() => {
            // An id that is no number never was one of ours.
            let id = id.parse().unwrap_or(u32::MAX);
            Ok(Scope::Partition { id, window })
        }
        _ => Ok(window.map_or(Scope::Container, Scope::Range)),
    }
}

fn window(call: &Call<'_>) -> Result<Option<EpkRange>, ApiError> {
    let (start, end) = (call.text(&header::START_EPK)?, call.text(&header::END_EPK)?);
    if start.is_none() && end.is_none() {
        return Ok(None);
    }
    let kind = call.text(&header::READ_KEY_TYPE)?;
    if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case(EPK_RANGE)) {
        return Err(ApiError::bad_request(format!(
            "One of the input values is invalid: a key window needs the read key type {EPK_RANGE}"
        )));
    }
    let bound = |text: Option<&str>, default: Epk| match text {
        None => Ok(default),
        Some(text) => {
            Epk::from_hex(text).ok_or_else(|| ApiError::bad_request(format!("'{text}' is no effective partition key")))
        }
    };
    let (min, max) = (bound(start, Epk::min())?, bound(end, Epk::max())?);
    match EpkRange::new(min.clone(), max.clone()) {
        Some(range) => Ok(Some(range)),
        None if min == max => Ok(Some(beyond_every_key())),
        None => Err(ApiError::bad_request("the key window ends before it starts")),
    }
}

/// A range without keys: none hashes to the end of the space or behind it.
fn beyond_every_key() -> EpkRange {
    let end = Epk::max();
    let mut behind = end.as_bytes().to_vec();
    behind.push(0);
    EpkRange::new(end, Epk::from_bytes(behind)).expect("a longer key is greater")
}
