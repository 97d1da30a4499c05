//! Answers become HTTP here, and nowhere else.
//!
//! A handler describes an [`Answer`] — status, headers, body — or an [`ApiError`], which is an answer with the
//! service's error body. [`Responder::respond`] adds what every response carries (activity id, duration, versions …)
//! and builds the HTTP message.
//!
//! A third of the cost of a small response is its headers, so they are built cheaply: names are statics, constant
//! values are shared, and the text of all others goes into one buffer that the header values are slices of.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use tesela_env::Env;
use tesela_protocol::error_body::ErrorBody;
use tesela_protocol::header;
use tesela_protocol::http_date;
use tesela_protocol::link::PathError;
use tesela_protocol::status::{Status, SubStatus};

use crate::body::BodyError;

#[cfg(test)]
mod tests;

/// The body of every response: complete before its first byte is sent, so its length is always known.
pub type Body = Full<Bytes>;

/// Longest activity id that is echoed. Ours: a GUID with braces fits twice.
const ACTIVITY_ID_BYTES_MAX: usize = 80;
/// Headers of an ordinary answer, to size the map once; the map rounds up from the next number.
const HEADERS_USUAL: usize = 24;
/// Bytes of their values.
const HEADER_TEXT_BYTES_USUAL: usize = 384;

static JSON: HeaderValue = HeaderValue::from_static("application/json");
static SERVICE_VERSION: HeaderValue = HeaderValue::from_static("version=2.14.0.0");
static GATEWAY_VERSION: HeaderValue = HeaderValue::from_static("version=2.14.0");
static SCHEMA_VERSION: HeaderValue = HeaderValue::from_static("1.16");
/// Read regions beside the one that answers.
static OTHER_READ_REGIONS: HeaderValue = HeaderValue::from_static("0");

/// What is known of one request and goes into its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    activity_id: HeaderValue,
    started: Duration,
}

impl Exchange {
    /// Begins when the headers of a request have been read. The client's activity id is kept, if it has one.
    pub fn begin(headers: &HeaderMap, env: &Env) -> Self {
        let sent = headers.get(&header::ACTIVITY_ID);
        let fit = |id: &&HeaderValue| {
            !id.is_empty() && id.len() <= ACTIVITY_ID_BYTES_MAX && id.as_bytes().iter().all(u8::is_ascii_graphic)
        };
        let activity_id = match sent.filter(fit) {
            Some(id) => id.clone(),
            None => HeaderValue::try_from(env.uuid()).expect("a GUID is visible ASCII"),
        };
        Self { activity_id, started: env.elapsed() }
    }

    pub fn activity_id(&self) -> &str {
        self.activity_id.to_str().expect("only visible ASCII is kept")
    }
}

/// What to say to a client.
#[derive(Debug)]
pub struct Answer {
    status: Status,
    body: Bytes,
    content_type: HeaderValue,
    request_charge: f64,
    constants: Vec<(&'static HeaderName, HeaderValue)>,
    /// Names of the values in `texts`, with where each ends.
    fields: Vec<(&'static HeaderName, usize)>,
    texts: BytesMut,
}

impl Answer {
    pub fn new(status: Status) -> Self {
        Self {
            status,
            body: Bytes::new(),
            content_type: JSON.clone(),
            request_charge: 0.0,
            constants: Vec::new(),
            fields: Vec::with_capacity(HEADERS_USUAL / 2),
            texts: BytesMut::with_capacity(HEADER_TEXT_BYTES_USUAL),
        }
    }

    /// With a body of JSON text.
    pub fn json(status: Status, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..Self::new(status) }
    }

    /// With a body of another type.
    pub fn with_body(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        self.content_type = HeaderValue::from_static(content_type);
        self.body = body.into();
        self
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn set_body(&mut self, body: impl Into<Bytes>) {
        self.body = body.into();
    }

    /// Request units, sent with every response (R13).
    pub fn set_request_charge(&mut self, request_units: f64) {
        self.request_charge = request_units;
    }

    /// A header whose value is at hand already.
    pub fn set(&mut self, name: &'static HeaderName, value: HeaderValue) {
        self.constants.push((name, value));
    }

    /// A header with a text. What a header cannot hold is replaced by `?`: texts that may contain anything have to be
    /// encoded by whoever knows how clients read them.
    pub fn text(&mut self, name: &'static HeaderName, value: &str) {
        self.texts.extend_from_slice(value.as_bytes());
        self.fields.push((name, self.texts.len()));
    }

    /// A header with anything that can be printed; [`Answer::text`] is cheaper for what is text already.
    pub fn write(&mut self, name: &'static HeaderName, value: impl std::fmt::Display) {
        write!(self.texts, "{value}").expect("writing to memory does not fail");
        self.fields.push((name, self.texts.len()));
    }

    fn into_parts(self) -> (StatusCode, HeaderMap, Bytes) {
        let mut headers = HeaderMap::with_capacity(HEADERS_USUAL);
        let texts = self.texts.freeze();
        let mut start = 0;
        for (name, end) in self.fields {
            headers.insert(name, header_value(texts.slice(start..end)));
            start = end;
        }
        for (name, value) in self.constants {
            headers.insert(name, value);
        }
        if !self.body.is_empty() {
            headers.insert(CONTENT_TYPE, self.content_type);
        }
        let status = StatusCode::from_u16(self.status.number()).expect("the catalogue holds HTTP statuses");
        (status, headers, self.body)
    }
}

/// A request that failed, in the terms of the protocol.
#[derive(Debug, thiserror::Error)]
#[error("{} {}: {message}", status.number(), sub_status.0)]
pub struct ApiError {
    pub status: Status,
    pub sub_status: SubStatus,
    pub message: String,
    pub request_charge: f64,
    pub retry_after_ms: Option<u64>,
    pub additional_error_info: Option<String>,
    /// Headers an error shares with the success it could have been: session token, LSN, range …
    pub headers: Vec<(&'static HeaderName, HeaderValue)>,
}

impl ApiError {
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            sub_status: SubStatus::NONE,
            message: message.into(),
            request_charge: 0.0,
            retry_after_ms: None,
            additional_error_info: None,
            headers: Vec::new(),
        }
    }

    pub fn with_sub_status(mut self, sub_status: SubStatus) -> Self {
        self.sub_status = sub_status;
        self
    }

    pub fn with_request_charge(mut self, request_units: f64) -> Self {
        self.request_charge = request_units;
        self
    }

    pub fn with_header(mut self, name: &'static HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Status::BadRequest, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Status::NotFound, message)
    }

    /// The answer that tells of the error.
    pub fn into_answer(self, activity_id: &str) -> Answer {
        let body = ErrorBody {
            code: self.status.code_word(),
            message: &self.message,
            activity_id,
            additional_error_info: self.additional_error_info.as_deref(),
        };
        let mut answer = Answer::json(self.status, body.to_json());
        answer.set_request_charge(self.request_charge);
        if !self.sub_status.is_none() {
            answer.write(&header::SUBSTATUS, self.sub_status.0);
        }
        if let Some(wait) = self.retry_after_ms {
            answer.write(&header::RETRY_AFTER_MS, wait);
        }
        for (name, value) in self.headers {
            answer.set(name, value);
        }
        answer
    }
}

impl From<PathError> for ApiError {
    fn from(error: PathError) -> Self {
        let status = match error {
            PathError::Unknown => Status::NotFound,
            PathError::EmptySegment | PathError::NotUtf8 | PathError::NothingToResolve => Status::BadRequest,
        };
        Self::new(status, error.to_string())
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        let status = match error {
            BodyError::TooLarge { .. } => Status::RequestEntityTooLarge,
            BodyError::TimedOut { .. } => Status::RequestTimeout,
            BodyError::Broken => Status::BadRequest,
        };
        Self::new(status, error.to_string())
    }
}

impl From<header::HeaderError> for ApiError {
    fn from(error: header::HeaderError) -> Self {
        Self::bad_request(error.to_string())
    }
}

/// Builds responses for one server.
#[derive(Clone)]
pub struct Responder {
    env: Env,
    last_state_change: HeaderValue,
}

impl Responder {
    /// The moment a server starts is the last change of its state that clients are told about.
    pub fn new(env: Env) -> Self {
        let started = http_date::format(env.now().unix_seconds() as i64);
        let last_state_change = HeaderValue::try_from(started).expect("a date is visible ASCII");
        Self { env, last_state_change }
    }

    pub fn respond(&self, outcome: Result<Answer, ApiError>, exchange: &Exchange) -> Response<Body> {
        let mut answer = outcome.unwrap_or_else(|error| error.into_answer(exchange.activity_id()));
        let took = self.env.elapsed().saturating_sub(exchange.started);
        answer.write(&header::REQUEST_CHARGE, answer.request_charge);
        answer.write(&header::REQUEST_DURATION_MS, Milliseconds(took));
        let (status, mut headers, body) = answer.into_parts();
        headers.insert(&header::ACTIVITY_ID, exchange.activity_id.clone());
        headers.insert(&header::LAST_STATE_CHANGE, self.last_state_change.clone());
        headers.insert(&header::SERVICE_VERSION, SERVICE_VERSION.clone());
        headers.insert(&header::GATEWAY_VERSION, GATEWAY_VERSION.clone());
        headers.insert(&header::SCHEMA_VERSION, SCHEMA_VERSION.clone());
        headers.insert(&header::READ_REGIONS, OTHER_READ_REGIONS.clone());
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}

/// A value as it is or, where a header cannot hold that, with `?` for what does not fit.
fn header_value(text: Bytes) -> HeaderValue {
    if text.is_ascii()
        && let Ok(value) = HeaderValue::from_maybe_shared(text.clone())
    {
        return value;
    }
    let visible = |byte: &u8| if matches!(byte, b' '..=b'~') { *byte } else { b'?' };
    let replaced: Vec<u8> = text.iter().map(visible).collect();
    HeaderValue::from_maybe_shared(Bytes::from(replaced)).expect("only visible ASCII is left")
}

/// Milliseconds with three places.
struct Milliseconds(Duration);

impl std::fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let micros = self.0.as_micros();
        write!(f, "{}.{:03}", micros / 1000, micros % 1000)
    }
}

/// The answer to a request whose path nobody should have to parse.
pub(crate) fn url_too_long() -> Response<Body> {
    let error = ApiError::new(Status::UriTooLong, "the URL of the request is too long");
    let (status, headers, body) = error.into_answer("").into_parts();
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
