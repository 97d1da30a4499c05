//! The ceiling: a bare hyper server that returns one canned answer, whatever it is asked.
//!
//! Same HTTP stack, same number of headers, same bytes as the measured server, and nothing behind it.
//! What Tesela reaches of its rate is what authorization, routing, the store and encoding leave over.

use crate::arguments::Arguments;
use crate::failure::{Doing, Failure, Result};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// An answer written down so that another process can repeat it.
#[derive(Debug, Clone)]
pub struct Canned {
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Canned {
    pub fn save(&self, path: &Path) -> Result<()> {
        let value = json!({ "headers": self.headers, "body": self.body });
        std::fs::write(path, value.to_string()).doing("writing the canned answer")
    }

    fn load(path: &Path) -> Result<Response<Full<Bytes>>> {
        let text = std::fs::read_to_string(path).doing("reading the canned answer")?;
        let value: Value = serde_json::from_str(&text).doing("reading the canned answer")?;
        let body = value["body"].as_str().unwrap_or_default().to_owned();
        let mut response = Response::new(Full::new(Bytes::from(body)));
        for pair in value["headers"].as_array().into_iter().flatten() {
            let (name, text) = (pair[0].as_str().unwrap_or_default(), pair[1].as_str().unwrap_or_default());
            let name: HeaderName = name.parse().doing("header name")?;
            response.headers_mut().append(name, HeaderValue::from_str(text).doing("header value")?);
        }
        Ok(response)
    }
}

/// The child process: serves until it is ended.
pub fn run(arguments: &Arguments) -> Result<()> {
    let canned = Canned::load(&arguments.path("answer")?)?;
    let port: u16 = arguments.number("port", 0)?;
    let tls = if arguments.text("tls") == Some("true") { Some(acceptor()?) } else { None };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().doing("runtime")?;
    runtime.block_on(async move {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.doing("listening")?;
        println!("ready");
        let canned = Arc::new(canned);
        loop {
            let (stream, _) = listener.accept().await.doing("accepting")?;
            tokio::spawn(serve(stream, tls.clone(), canned.clone()));
        }
    })
}

async fn serve(stream: TcpStream, tls: Option<TlsAcceptor>, canned: Arc<Response<Full<Bytes>>>) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    match tls {
        None => serve_http(TokioIo::new(stream), canned).await,
        Some(acceptor) => {
            if let Ok(stream) = acceptor.accept(stream).await {
                serve_http(TokioIo::new(stream), canned).await;
            }
        }
    }
}

async fn serve_http<I>(io: I, canned: Arc<Response<Full<Bytes>>>)
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + 'static,
{
    let answer = service_fn(move |_: Request<Incoming>| {
        let response = Response::clone(&canned);
        async move { Ok::<_, Infallible>(response) }
    });
    // A client that goes away is the end of its connection and of nothing else.
    let _ = http1::Builder::new().serve_connection(io, answer).await;
}

fn acceptor() -> Result<TlsAcceptor> {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).doing("making a certificate")?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::new(format!("TLS versions: {error}")))?
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .doing("TLS configuration")?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
