//! A listener on a free port with a handler that does what the path says.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::http::{Request, Response};
use bytes::Bytes;
use hyper::body::Incoming;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tesela_env::Env;
use tesela_gateway::body::{self, BodyError};
use tesela_gateway::limits::Timeouts;
use tesela_gateway::listen::{ConnectionInfo, Handler, ListenOptions, Stopped, serve};
use tesela_gateway::respond::{Answer, ApiError, Body, Exchange, Responder};
use tesela_gateway::tls::{CertificateSource, Tls};
use tesela_protocol::status::Status;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Bodies the test handler takes.
pub const BODY_BYTES_MAX: usize = 100_000;
/// Longer than anything here should take, however busy the machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Time-outs short enough for a test.
pub const TIMEOUTS: Timeouts = Timeouts {
    tick: Duration::from_millis(20),
    handshake: Duration::from_millis(500),
    head: Duration::from_millis(300),
    body: Duration::from_millis(300),
    idle: Duration::from_millis(500),
    write_stall: Duration::from_millis(500),
    drain: Duration::from_secs(5),
};

struct PathHandler {
    responder: Responder,
    env: Env,
    broken: mpsc::UnboundedSender<BodyError>,
}

impl PathHandler {
    async fn answer(&self, request: Request<Incoming>, info: ConnectionInfo) -> Result<Answer, ApiError> {
        let path = request.uri().path().to_owned();
        let body = body::read(request.into_body(), BODY_BYTES_MAX, TIMEOUTS.body).await;
        let body = body.inspect_err(|error| self.broken.send(*error).unwrap_or_default())?;
        match path.as_str() {
            "/echo" => Ok(Answer::json(Status::Ok, body)),
            "/info" => Ok(Answer::json(Status::Ok, format!("{{\"tls\":{}}}", info.tls))),
            "/none" => Ok(Answer::new(Status::NoContent)),
            "/big" => Ok(Answer::json(Status::Ok, Bytes::from(vec![b' '; 64 << 20]))),
            "/slow" => {
                sleep(Duration::from_millis(600)).await;
                Ok(Answer::json(Status::Ok, "\"slow\""))
            }
            "/hang" => pending().await,
            _ => Err(ApiError::not_found("no such path")),
        }
    }
}

impl Handler for PathHandler {
    async fn handle(&self, request: Request<Incoming>, info: ConnectionInfo) -> Response<Body> {
        let exchange = Exchange::begin(request.headers(), &self.env);
        let outcome = self.answer(request, info).await;
        self.responder.respond(outcome, &exchange)
    }
}

/// A listener that runs until stopped.
pub struct Server {
    pub address: SocketAddr,
    /// Errors the handler met while reading bodies.
    pub broken: mpsc::UnboundedReceiver<BodyError>,
    tls: Arc<Tls>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Stopped>,
}

impl Server {
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub async fn start_with(change: impl FnOnce(&mut ListenOptions)) -> Self {
        let env = Env::real();
        let now = env.now().unix_seconds() as i64;
        let tls = Arc::new(Tls::new(CertificateSource::Ephemeral { extra_names: vec!["cosmos.example".into()] }, now));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, broken) = mpsc::unbounded_channel();
        let handler = PathHandler { responder: Responder::new(env.clone()), env, broken: sender };
        let mut options = ListenOptions { tls: Some(Arc::clone(&tls)), timeouts: TIMEOUTS, ..ListenOptions::default() };
        change(&mut options);
        let (stop, stopped) = oneshot::channel::<()>();
        let until = async { stopped.await.unwrap_or_default() };
        let running = tokio::spawn(serve(listener, Arc::new(handler), options, until));
        Self { address, broken, tls, stop, running }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A TLS connection that trusts the server's certificate and nothing else.
    pub async fn connect_tls(&self, name: &'static str, alpn: &[&[u8]]) -> TlsStream<TcpStream> {
        let pem = self.tls.certificate_pem().await.unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(ServerName::try_from(name).unwrap(), self.connect().await).await.unwrap()
    }

    pub async fn stop(self) -> Stopped {
        self.ask_to_stop().await_stopped().await
    }

    pub fn ask_to_stop(self) -> Stopping {
        self.stop.send(()).unwrap();
        Stopping(self.running)
    }
}

/// A server that was told to stop.
pub struct Stopping(JoinHandle<Stopped>);

impl Stopping {
    pub async fn await_stopped(self) -> Stopped {
        timeout(PATIENCE, self.0).await.expect("the server stops").unwrap()
    }
}

/// Sends bytes and reads until the server closes.
pub async fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> String {
    // A server that has closed already is one of the answers.
    let _ = stream.write_all(bytes).await;
    read_to_end(stream).await
}

pub async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("the server closes the connection");
    // A reset after the answer is as good as an end.
    let _ = read;
    String::from_utf8_lossy(&answer).into_owned()
}
