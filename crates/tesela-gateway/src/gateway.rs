//! The gateway: one request in, one answer out.
//!
//! ```text
//! link -> authorize -> admit -> body -> handlers::dispatch -> Answer | ApiError -> respond
//! ```

use crate::account::Account;
use crate::authorize::{Authorizer, Principal};
use crate::limits::Timeouts;
use crate::listen::{ConnectionInfo, Handler};
use crate::request::Call;
use crate::respond::{Answer, ApiError, Body, Exchange, Responder};
use crate::tls::Tls;
use crate::{body, cors};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::request::Parts;
use http::{Method, Request, Response};
use hyper::body::Incoming;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tesela_model::limits::REQUEST_BODY_BYTES_MAX;
use tesela_protocol::link::{Link, ResourcePath};
use tesela_protocol::status::Status;
use tesela_protocol::{binary_json, header};
use tesela_router::Router;
use tesela_store::Store;

/// Serves the protocol over a router.
pub struct Gateway<S: Store> {
    router: Arc<Router<S>>,
    authorizer: Authorizer,
    account: Account,
    responder: Responder,
    tls: Option<Arc<Tls>>,
    body_time: std::time::Duration,
}

impl<S: Store> Gateway<S> {
    pub fn new(router: Arc<Router<S>>, authorizer: Authorizer, account: Account, tls: Option<Arc<Tls>>) -> Self {
        let responder = Responder::new(router.env().clone());
        Self { router, authorizer, account, responder, tls, body_time: Timeouts::default().body }
    }

    pub(crate) fn router(&self) -> &Arc<Router<S>> {
        &self.router
    }

    pub(crate) fn authorizer(&self) -> &Authorizer {
        &self.authorizer
    }

    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// The certificate for people who want to trust it.
    pub(crate) async fn certificate(&self) -> Result<Answer, ApiError> {
        let Some(tls) = &self.tls else { return Err(ApiError::not_found("this server has no certificate")) };
        let pem = tls.certificate_pem().await;
        let pem = pem.map_err(|error| ApiError::new(Status::InternalServerError, error.to_string()))?;
        Ok(Answer::new(Status::Ok).with_body("application/x-pem-file", Bytes::copy_from_slice(pem.as_bytes())))
    }

    async fn answer(&self, parts: &Parts, incoming: Incoming, info: ConnectionInfo) -> Result<Answer, ApiError> {
        let link = Link::parse(parts.uri.path(), parts.uri.query())?;
        if let ResourcePath::Admin { rest } = &link.path
            && rest == "health"
        {
            return Ok(Answer::json(Status::Ok, &br#"{"status":"ok"}"#[..]));
        }
        let now = self.router.env().now().unix_seconds();
        let principal = self.authorizer.authorize(&parts.method, &link, &parts.headers, now as i64)?;
        if let Principal::ResourceToken(token) = principal {
            self.admit(&token, parts, &link, now).await?;
        }
        let body = body::read(incoming, REQUEST_BODY_BYTES_MAX, self.body_time).await?;
        let call = Call {
            method: parts.method.clone(),
            link: &link,
            headers: &parts.headers,
            body: as_text(body)?,
            endpoint: endpoint(parts, info),
        };
        let mut answer = self.dispatch(&call).await?;
        answer
            .write(&header::CONTENT_LOCATION, format_args!("{}{}", call.endpoint, parts.uri.path().trim_matches('/')));
        Ok(answer)
    }
}

/// The body as JSON text, whichever of the two forms it came in.
fn as_text(body: Bytes) -> Result<Bytes, ApiError> {
    if !binary_json::is_binary(&body) {
        return Ok(body);
    }
    match binary_json::to_text(&body, REQUEST_BODY_BYTES_MAX) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(ApiError::bad_request(format!("the body is not valid binary JSON: {error}"))),
    }
}

/// The endpoint as the client reached it. `localhost` is advertised by its number: clients then keep to one
/// address family, and their test suites tell the two names apart.
fn endpoint(parts: &Parts, info: ConnectionInfo) -> String {
    let host = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = host.or_else(|| parts.headers.get(http::header::HOST).and_then(|host| host.to_str().ok()));
    let host = host.unwrap_or("127.0.0.1:8081");
    let host = match host.strip_prefix("localhost") {
        Some(port) if port.is_empty() || port.starts_with(':') => format!("127.0.0.1{port}"),
        _ => host.to_owned(),
    };
    format!("{}://{host}/", if info.tls { "https" } else { "http" })
}

impl<S: Store> Handler for Gateway<S> {
    async fn handle(&self, request: Request<Incoming>, info: ConnectionInfo) -> Response<Body> {
        let (parts, incoming) = request.into_parts();
        let exchange = Exchange::begin(&parts.headers, self.router.env());
        if parts.method == Method::OPTIONS {
            return cors::preflight(self.responder.respond(Ok(Answer::new(Status::Ok)), &exchange), &parts.headers);
        }
        // A bug in one request must not take the connection's other streams with it.
        let outcome = AssertUnwindSafe(self.answer(&parts, incoming, info)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| {
            tracing::error!(activity_id = exchange.activity_id(), uri = %parts.uri, "a request panicked");
            Err(ApiError::new(Status::InternalServerError, "the server made a mistake while serving this request"))
        });
        if let Err(error) = &outcome
            && error.status.number() >= 500
        {
            tracing::error!(activity_id = exchange.activity_id(), uri = %parts.uri, %error, "a request failed");
        }
        cors::allow(self.responder.respond(outcome, &exchange), &parts.headers)
    }
}
