//! A request, read: what the handlers work with.

use crate::operation;
use crate::respond::ApiError;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method};
use tesela_model::json::{self, Value};
use tesela_model::partition_key::PartitionKeyValue;
use tesela_protocol::link::Link;
use tesela_protocol::{header, partition_key_header};

/// Everything known of a request once it is authorized and its body has arrived.
pub struct Call<'a> {
    pub method: Method,
    pub link: &'a Link<'a>,
    pub headers: &'a HeaderMap,
    /// JSON text: a body in binary JSON has been turned into text already.
    pub body: Bytes,
    /// The endpoint as the client reached it, `http://host:port/`.
    pub endpoint: String,
}

impl Call<'_> {
    pub fn text(&self, name: &HeaderName) -> Result<Option<&str>, ApiError> {
        Ok(header::text(self.headers, name)?)
    }

    pub fn flag(&self, name: &HeaderName) -> Result<bool, ApiError> {
        Ok(header::flag(self.headers, name)?)
    }

    /// The body as a JSON object.
    pub fn json_object(&self) -> Result<Value, ApiError> {
        let value = json::parse(&self.body)
            .map_err(|error| ApiError::bad_request(format!("the body is not valid JSON: {error}")))?;
        match value {
            Value::Object(_) => Ok(value),
            other => Err(ApiError::bad_request(format!("the body must be a JSON object, not {}", other.type_name()))),
        }
    }

    pub fn partition_key(&self) -> Result<Option<PartitionKeyValue>, ApiError> {
        match self.text(&header::PARTITION_KEY)? {
            None => Ok(None),
            Some(text) => {
                let value = partition_key_header::parse(text);
                value.map(Some).map_err(|error| ApiError::bad_request(error.to_string()))
            }
        }
    }

    /// Whether the answer to a write should be without a body.
    pub fn wants_minimal(&self) -> Result<bool, ApiError> {
        let prefer = self.text(&header::PREFER)?;
        if prefer.is_some_and(|prefer| prefer.eq_ignore_ascii_case("return=minimal")) {
            return Ok(true);
        }
        Ok(header::optional_flag(self.headers, &header::POPULATE_CONTENT_RESPONSE)? == Some(false))
    }

    /// A query by any of the markers clients use.
    pub fn is_query(&self) -> Result<bool, ApiError> {
        Ok(operation::is_query(self.headers)?)
    }

    /// The page size asked for; `None` leaves it to the server.
    pub fn max_item_count(&self) -> Result<Option<usize>, ApiError> {
        match header::number::<i64>(self.headers, &header::MAX_ITEM_COUNT)? {
            None | Some(-1) => Ok(None),
            Some(count) if count > 0 => Ok(Some(usize::try_from(count).unwrap_or(usize::MAX))),
            Some(count) => Err(ApiError::bad_request(format!("the page size {count} is neither -1 nor positive"))),
        }
    }
}
