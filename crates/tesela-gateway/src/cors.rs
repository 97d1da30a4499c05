//! Requests from browsers: clients of another origin are let in, since every request carries its own credential.

use crate::respond::Body;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ORIGIN,
};
use http::{HeaderMap, HeaderValue, Response};

static ANY: HeaderValue = HeaderValue::from_static("*");

/// Lets the page that asked read the answer and its headers.
pub fn allow(mut response: Response<Body>, request: &HeaderMap) -> Response<Body> {
    if request.contains_key(ORIGIN) {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY.clone());
        response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, ANY.clone());
    }
    response
}

/// Answers the question a browser asks before a request.
pub fn preflight(response: Response<Body>, request: &HeaderMap) -> Response<Body> {
    let mut response = allow(response, request);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"));
    // A browser lists what it wants to send; `*` would leave out `authorization`.
    let asked = request.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned().unwrap_or_else(|| ANY.clone());
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}
