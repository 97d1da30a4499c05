//! Stopping: idle connections close, requests in flight are answered, and nothing waits forever.

use std::time::Duration;

use ::http::Request;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::server::{Server, TIMEOUTS, read_to_end};

/// Long enough for a request to be on its way.
const UNDER_WAY: Duration = Duration::from_millis(150);

#[tokio::test]
async fn requests_in_flight_are_answered() {
    let server = Server::start().await;
    let address = server.address;
    let mut http1 = server.connect().await;
    http1.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(server.connect().await)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get("http://localhost/slow").body(Empty::<Bytes>::new()).unwrap();
    let http2 = tokio::spawn(sender.send_request(request));
    sleep(UNDER_WAY).await;

    let stopping = server.ask_to_stop();
    let answer = read_to_end(&mut http1).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\"slow\""), "{answer}");
    let body = http2.await.unwrap().unwrap().into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "\"slow\"");
    assert_eq!(stopping.await_stopped().await.cut_connections, 0);
    assert!(TcpStream::connect(address).await.is_err(), "the port is closed");
}

#[tokio::test]
async fn idle_connections_close_at_once() {
    let server = Server::start_with(|options| options.timeouts.idle = Duration::from_secs(3600)).await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET /none HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = [0; 1024];
    assert!(idle.read(&mut answer).await.unwrap() > 0);
    let began = Instant::now();
    assert_eq!(server.stop().await.cut_connections, 0);
    assert!(began.elapsed() < TIMEOUTS.drain);
    assert_eq!(read_to_end(&mut idle).await, "");
}

#[tokio::test]
async fn requests_that_never_end_are_cut() {
    let server = Server::start_with(|options| options.timeouts.drain = Duration::from_millis(300)).await;
    let mut stuck = server.connect().await;
    stuck.write_all(b"GET /hang HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    sleep(UNDER_WAY).await;
    assert_eq!(server.stop().await.cut_connections, 1);
    assert_eq!(read_to_end(&mut stuck).await, "");
}
