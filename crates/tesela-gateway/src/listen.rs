//! The listener: one TCP port for HTTP/1.1 and HTTP/2, in the clear and under TLS.
//!
//! ```text
//! accept -> sniff -> [TLS] -> HTTP/1.1 | HTTP/2 -> Handler
//! ```
//!
//! A task per connection; nothing is shared between them but the [`Handler`]. There is no middleware: what
//! stands between the socket and the handler is hyper and a few stores to atomics (see `pulse`).
//!
//! Stopping is in three steps: no new connections; idle ones close and the others finish their requests in
//! flight; after [`Timeouts::drain`] whatever is left is cut.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::connection;
use crate::limits::{CONNECTIONS_MAX, Timeouts};
use crate::pulse::{Registry, Request};
use crate::respond::Body;
use crate::tls::Tls;

/// Wait after a failed accept, which is mostly a lack of file descriptors that does not end at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What is known of a request besides the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    pub peer: SocketAddr,
    /// The request came under TLS.
    pub tls: bool,
}

/// Answers requests. Every request gets an answer: errors are answers, too.
pub trait Handler: Send + Sync + 'static {
    fn handle(
        &self,
        request: http::Request<Incoming>,
        info: ConnectionInfo,
    ) -> impl Future<Output = http::Response<Body>> + Send;
}

/// How to listen.
#[derive(Clone)]
pub struct ListenOptions {
    /// Without it, connections that open with a TLS handshake are closed.
    pub tls: Option<Arc<Tls>>,
    pub connections_max: usize,
    pub timeouts: Timeouts,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self { tls: None, connections_max: CONNECTIONS_MAX, timeouts: Timeouts::default() }
    }
}

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Connections that were still busy when the time to drain was over.
    pub cut_connections: usize,
}

/// Serves connections until `stop` resolves, then lets requests in flight finish.
pub async fn serve<H: Handler>(
    listener: TcpListener,
    handler: Arc<H>,
    options: ListenOptions,
    stop: impl Future<Output = ()>,
) -> Stopped {
    let registry = Registry::new(&options.timeouts);
    let permits = Arc::new(Semaphore::new(options.connections_max));
    let mut ticks = interval(options.timeouts.tick);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            // An idle server does not wake up.
            _ = ticks.tick(), if registry.len() > 0 => registry.tick(),
            (accepted, permit) = accept(&listener, &permits) => match accepted {
                Ok((stream, peer)) => {
                    let registered = registry.enter();
                    let (handler, tls, timeouts) = (Arc::clone(&handler), options.tls.clone(), options.timeouts);
                    tokio::spawn(async move {
                        let info = ConnectionInfo { peer, tls: false };
                        connection::serve(stream, info, handler, tls, registered, timeouts).await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    drain(&registry, options.timeouts.drain).await
}

/// The next connection, once there is room for it. Safe to abandon: neither wait loses anything.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (io::Result<(TcpStream, SocketAddr)>, OwnedSemaphorePermit) {
    let permit = Arc::clone(permits).acquire_owned().await.expect("the semaphore is never closed");
    (listener.accept().await, permit)
}

async fn drain(registry: &Arc<Registry>, time: Duration) -> Stopped {
    registry.ask_all(Request::Close);
    if timeout(time, registry.empty()).await.is_ok() {
        return Stopped { cut_connections: 0 };
    }
    let cut_connections = registry.len();
    registry.ask_all(Request::Cut);
    tracing::warn!(cut_connections, "connections were still busy when the server stopped");
    Stopped { cut_connections }
}
