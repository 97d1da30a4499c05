//! Connections: HTTP/1.1 over TCP or TLS, kept open, one request at a time.

use crate::failure::{Doing, Failure, Result};
use crate::signer::Prepared;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Where a server listens, on this machine.
#[derive(Clone)]
pub struct Address {
    pub port: u16,
    tls: Option<TlsConnector>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// Whether the server hangs up after this answer.
    fn closes(&self) -> bool {
        self.headers.get(header::CONNECTION).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"))
    }
}

pub struct Connection(SendRequest<Full<Bytes>>);

/// A client's way to a server: a connection that is opened when needed and kept as long as the server lets it.
pub struct Line {
    address: Address,
    open: Option<Connection>,
}

impl Line {
    pub fn to(address: &Address) -> Self {
        Self { address: address.clone(), open: None }
    }

    pub async fn send(&mut self, prepared: &Prepared) -> Result<Answer> {
        let mut connection = match self.open.take() {
            Some(open) => open,
            None => self.address.connect().await?,
        };
        let answer = connection.send(prepared).await?;
        if !answer.closes() {
            self.open = Some(connection);
        }
        Ok(answer)
    }

    /// Makes the next request open a connection of its own.
    pub fn hang_up(&mut self) {
        self.open = None;
    }
}

impl Address {
    pub fn new(port: u16, tls: bool) -> Result<Self> {
        let tls = if tls { Some(connector()?) } else { None };
        Ok(Self { port, tls })
    }

    pub fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    pub async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.doing("connecting")?;
        stream.set_nodelay(true).doing("setting TCP_NODELAY")?;
        match &self.tls {
            None => Connection::over(TokioIo::new(stream)).await,
            Some(connector) => {
                let name = ServerName::try_from("localhost").doing("server name")?;
                let stream = connector.connect(name, stream).await.doing("TLS handshake")?;
                Connection::over(TokioIo::new(stream)).await
            }
        }
    }
}

impl Connection {
    async fn over<I>(io: I) -> Result<Self>
    where
        I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        let (sender, connection) = handshake(io).await.doing("HTTP handshake")?;
        // Ends with the sender, or with an error that the next request reports.
        tokio::spawn(async move { connection.await.ok() });
        Ok(Self(sender))
    }

    pub async fn send(&mut self, prepared: &Prepared) -> Result<Answer> {
        self.0.ready().await.doing("connection")?;
        let mut request = Request::new(Full::new(prepared.body.clone()));
        *request.method_mut() = prepared.method.clone();
        *request.uri_mut() = prepared.uri.clone();
        *request.headers_mut() = prepared.headers.clone();
        let answer = self.0.send_request(request).await.doing("request")?;
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.doing("answer")?.to_bytes();
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }
}

/// TLS that takes any certificate: the servers measured here make their own.
fn connector() -> Result<TlsConnector> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::new(format!("TLS versions: {error}")))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
