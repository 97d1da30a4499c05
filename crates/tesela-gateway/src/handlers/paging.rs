//! Page limits and continuation tokens.

use crate::request::Call;
use crate::respond::{Answer, ApiError};
use tesela_model::limits::PAGE_BYTES_MAX;
use tesela_partition::read::PageLimit;
use tesela_protocol::continuation::{self, Continuation};
use tesela_protocol::header;
use tesela_router::catalog::Container;

/// The limit of the page a request asks for.
pub fn limit(call: &Call<'_>, items_default: usize) -> Result<PageLimit, ApiError> {
    let items = call.max_item_count()?.unwrap_or(items_default);
    Ok(PageLimit { items, bytes: PAGE_BYTES_MAX })
}

/// What the request's token holds. A token of the real service names a place we cannot find: start over.
pub fn resume(call: &Call<'_>, container: &Container) -> Result<Option<Vec<u8>>, ApiError> {
    match call.text(&header::CONTINUATION)? {
        None | Some("") => Ok(None),
        Some(token) => match continuation::decode(container.rid.as_bytes(), token) {
            Ok(Continuation::Ours(payload)) => Ok(Some(payload)),
            Ok(Continuation::Foreign) => Ok(None),
            Err(error) => Err(ApiError::bad_request(error.to_string())),
        },
    }
}

/// Puts the token of the next page on an answer.
pub fn write_next(answer: &mut Answer, container: &Container, payload: Option<&[u8]>) -> Result<(), ApiError> {
    if let Some(payload) = payload {
        let token = continuation::encode(container.rid.as_bytes(), payload);
        answer.write(&header::CONTINUATION, token.map_err(|error| ApiError::bad_request(error.to_string()))?);
    }
    Ok(())
}
