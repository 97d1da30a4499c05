//! One connection, from its first byte to its last.
//!
//! The first byte decides: a TLS handshake record begins with `0x16`, which no HTTP request does. Inside
//! TLS the protocols were agreed on by ALPN; in the clear, HTTP/2 by prior knowledge begins with `PRI`
//! and everything else is HTTP/1.1, whose parser refuses what is neither.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::server::TlsStream;

use crate::limits::{
    CONNECTION_WINDOW_BYTES, HEAD_BYTES_MAX, HEADERS_MAX, STREAM_WINDOW_BYTES, STREAMS_MAX, Timeouts, URL_BYTES_MAX,
};
use crate::listen::{ConnectionInfo, Handler};
use crate::pulse::{Pulse, Registered, Request};
use crate::respond;
use crate::tls::{Tls, TlsError};

/// First byte of a TLS record that starts a handshake.
const TLS_HANDSHAKE: u8 = 0x16;
/// How HTTP/2 by prior knowledge begins, as far as needed to tell it from a method.
const HTTP2_PREFACE: &[u8; 3] = b"PRI";
/// Wait before looking again at a connection that has sent one or two bytes. Rare enough to be crude.
const SNIFF_PAUSE: Duration = Duration::from_millis(2);

/// What a connection turns out to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Tls,
    Http1,
    Http2,
}

impl Protocol {
    /// `None` while there are too few bytes to tell.
    fn of(first_bytes: &[u8]) -> Option<Self> {
        match first_bytes {
            [] => None,
            [TLS_HANDSHAKE, ..] => Some(Self::Tls),
            bytes if bytes.starts_with(HTTP2_PREFACE) => Some(Self::Http2),
            bytes if HTTP2_PREFACE.starts_with(bytes) => None,
            _ => Some(Self::Http1),
        }
    }
}

/// A connection that is ready for HTTP.
enum Opened {
    Clear(TcpStream, Protocol),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Serves a connection until either side ends it. Failures of a single client concern nobody else, so they
/// are logged here and go no further.
pub(crate) async fn serve<H: Handler>(
    stream: TcpStream,
    mut info: ConnectionInfo,
    handler: Arc<H>,
    tls: Option<Arc<Tls>>,
    registered: Registered,
    timeouts: Timeouts,
) {
    let pulse = &registered.pulse;
    let opened = tokio::select! {
        _ = pulse.asked() => return,
        opened = timeout(timeouts.handshake, open(stream, tls)) => opened,
    };
    let outcome = match opened {
        Err(_) => return tracing::debug!(peer = %info.peer, "connection opened too slowly"),
        Ok(Err(error)) => return tracing::debug!(peer = %info.peer, %error, "connection did not open"),
        Ok(Ok(Opened::Clear(stream, Protocol::Http2))) => serve_http2(stream, info, handler, pulse).await,
        Ok(Ok(Opened::Clear(stream, _))) => serve_http1(stream, info, handler, pulse).await,
        Ok(Ok(Opened::Encrypted(stream))) => {
            info.tls = true;
            match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => serve_http2(stream, info, handler, pulse).await,
                _ => serve_http1(stream, info, handler, pulse).await,
            }
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(peer = %info.peer, %error, "connection ended");
    }
}

async fn open(stream: TcpStream, tls: Option<Arc<Tls>>) -> Result<Opened, TlsError> {
    // Answers are written whole; waiting to fill a segment would only delay them.
    stream.set_nodelay(true).map_err(TlsError::Handshake)?;
    match sniff(&stream).await.map_err(TlsError::Handshake)? {
        Protocol::Tls => match tls {
            Some(tls) => Ok(Opened::Encrypted(Box::new(tls.accept(stream).await?))),
            None => Err(TlsError::Disabled),
        },
        protocol => Ok(Opened::Clear(stream, protocol)),
    }
}

/// Looks at the first bytes of a connection and leaves them there.
async fn sniff(stream: &TcpStream) -> io::Result<Protocol> {
    let mut first_bytes = [0; HTTP2_PREFACE.len()];
    loop {
        let count = stream.peek(&mut first_bytes).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(protocol) = Protocol::of(&first_bytes[..count]) {
            return Ok(protocol);
        }
        // The socket stays readable with what it has, so there is no waiting for "more".
        sleep(SNIFF_PAUSE).await;
    }
}

async fn serve_http1<S, H>(stream: S, info: ConnectionInfo, handler: Arc<H>, pulse: &Arc<Pulse>) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
    H: Handler,
{
    let io = TokioIo::new(Monitored { stream, pulse: Arc::clone(pulse) });
    let for_service = Arc::clone(pulse);
    let service = service_fn(move |request| handle(Arc::clone(&handler), Arc::clone(&for_service), request, info));
    let connection =
        http1::Builder::new().max_headers(HEADERS_MAX).max_header_size(HEAD_BYTES_MAX).serve_connection(io, service);
    watch(connection, pulse, http1::Connection::graceful_shutdown).await
}

async fn serve_http2<S, H>(stream: S, info: ConnectionInfo, handler: Arc<H>, pulse: &Arc<Pulse>) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
    H: Handler,
{
    pulse.set_multiplexed();
    let io = TokioIo::new(Monitored { stream, pulse: Arc::clone(pulse) });
    let for_service = Arc::clone(pulse);
    let service = service_fn(move |request| handle(Arc::clone(&handler), Arc::clone(&for_service), request, info));
    let connection = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .serve_connection(io, service);
    watch(connection, pulse, http2::Connection::graceful_shutdown).await
}

async fn handle<H: Handler>(
    handler: Arc<H>,
    pulse: Arc<Pulse>,
    request: http::Request<Incoming>,
    info: ConnectionInfo,
) -> Result<http::Response<respond::Body>, Infallible> {
    let _in_flight = pulse.on_request();
    let url_bytes = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if url_bytes > URL_BYTES_MAX {
        return Ok(respond::url_too_long());
    }
    Ok(handler.handle(request, info).await)
}

/// Drives a connection and does what is asked of it meanwhile.
async fn watch<C>(connection: C, pulse: &Pulse, close: fn(Pin<&mut C>)) -> hyper::Result<()>
where
    C: Future<Output = hyper::Result<()>>,
{
    let mut connection = pin!(connection);
    let mut is_closing = false;
    poll_fn(|context| {
        match pulse.poll_request(context) {
            Poll::Ready(Request::Cut) => return Poll::Ready(Ok(())),
            Poll::Ready(Request::Close) if !is_closing => {
                is_closing = true;
                close(connection.as_mut());
            }
            Poll::Ready(Request::Close) | Poll::Pending => {}
        }
        connection.as_mut().poll(context)
    })
    .await
}

/// A stream that tells the pulse what moves.
struct Monitored<S> {
    stream: S,
    pulse: Arc<Pulse>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Monitored<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(context, buf);
        if buf.filled().len() > before {
            self.pulse.on_read();
        }
        poll
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Monitored<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, buf);
        self.pulse.on_write(poll.is_ready());
        poll
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, bufs);
        self.pulse.on_write(poll.is_ready());
        poll
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(context);
        if poll.is_pending() {
            self.pulse.on_write(false);
        }
        poll
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_told_apart_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b""[..], None),
            (b"\x16", Some(Protocol::Tls)),
            (b"\x16\x03\x01", Some(Protocol::Tls)),
            (b"P", None),
            (b"PR", None),
            (b"PRI", Some(Protocol::Http2)),
            (b"PUT", Some(Protocol::Http1)),
            (b"PO", Some(Protocol::Http1)),
            (b"GET", Some(Protocol::Http1)),
            (b"\x00", Some(Protocol::Http1)),
            (b"pri", Some(Protocol::Http1)),
        ] {
            assert_eq!(Protocol::of(bytes), expected, "{bytes:?}");
        }
    }
}
