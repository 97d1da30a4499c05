//! Limits of the transport: what a connection may cost before anyone knows who is behind it.
//!
//! Limits of the protocol itself (bodies, pages, tokens) are in `tesela_model::limits`.

use std::time::Duration;

/// Connections served at once. Ours: past it new ones wait in the kernel's queue.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Request line and headers. Ours: a directory token (16 KB) and a continuation fit several times.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Headers of one request. Ours: SDKs send about 20.
pub const HEADERS_MAX: usize = 128;
/// Path and query. Ours: three ids at their limits, in three-byte characters, all percent-encoded.
pub const URL_BYTES_MAX: usize = 16 * 1024;
/// Bytes of an oversized body that are read and dropped, so that the client gets to see the 413 instead
/// of a reset connection. Ours.
pub const DRAINED_BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Requests at once on one HTTP/2 connection. Ours; clients open further connections beyond it.
pub const STREAMS_MAX: u32 = 256;
/// Bytes a client may send ahead on one HTTP/2 stream, and on a connection. Ours: an item of the usual
/// size goes out without waiting for the window to open.
pub const STREAM_WINDOW_BYTES: u32 = 1024 * 1024;
pub const CONNECTION_WINDOW_BYTES: u32 = 4 * 1024 * 1024;

/// How long a connection may do nothing useful.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// How often connections are looked at. The waits below are at most two ticks longer than they say.
    pub tick: Duration,
    /// From accepting a connection to knowing what it speaks, with the TLS handshake.
    pub handshake: Duration,
    /// From the first byte of a request to the end of its headers.
    pub head: Duration,
    /// From the end of the headers to the end of the body.
    pub body: Duration,
    /// Between requests on a connection that is kept alive.
    pub idle: Duration,
    /// Without the client taking a single byte of an answer.
    pub write_stall: Duration,
    /// For requests in flight, after the server was told to stop.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            tick: Duration::from_secs(1),
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body: Duration::from_secs(60),
            // Longer than the idle time of the clients' own pools, so that they close first and never
            // write into a connection that is going away.
            idle: Duration::from_secs(300),
            write_stall: Duration::from_secs(60),
            drain: Duration::from_secs(10),
        }
    }
}
