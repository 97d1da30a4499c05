//! The four ways to speak HTTP to one port.

use ::http::{Request, Response, Version};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tesela_protocol::header;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use crate::server::{Server, exchange};

fn request(path: &str, body: &'static str) -> Request<Full<Bytes>> {
    Request::post(format!("http://localhost{path}")).body(Full::new(Bytes::from_static(body.as_bytes()))).unwrap()
}

async fn text(response: Response<Incoming>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

/// Two requests over one HTTP/1.1 connection.
async fn speak_http1<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, tls: bool) {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let response = sender.send_request(request("/echo", "{\"a\":1}")).await.unwrap();
    assert_eq!((response.status().as_u16(), response.version()), (200, Version::HTTP_11));
    assert_eq!(response.headers()["content-length"], "7");
    assert_eq!(response.headers()["content-type"], "application/json");
    assert!(response.headers().contains_key(&header::ACTIVITY_ID));
    assert_eq!(text(response).await, "{\"a\":1}");
    let response = sender.send_request(request("/info", "")).await.unwrap();
    assert_eq!(text(response).await, format!("{{\"tls\":{tls}}}"));
}

/// Many requests at once over one HTTP/2 connection.
async fn speak_http2<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, tls: bool) {
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let slow = tokio::spawn(sender.send_request(request("/slow", "")));
    let mut answers = Vec::new();
    for _ in 0..50 {
        answers.push(tokio::spawn(sender.send_request(request("/echo", "[1,2,3]"))));
    }
    for answer in answers {
        let response = answer.await.unwrap().unwrap();
        assert_eq!((response.status().as_u16(), response.version()), (200, Version::HTTP_2));
        assert_eq!(text(response).await, "[1,2,3]");
    }
    assert!(!slow.is_finished(), "a slow request does not hold up the others");
    let response = sender.send_request(request("/info", "")).await.unwrap();
    assert_eq!(text(response).await, format!("{{\"tls\":{tls}}}"));
    assert_eq!(text(slow.await.unwrap().unwrap()).await, "\"slow\"");
}

#[tokio::test]
async fn http1_in_the_clear() {
    let server = Server::start().await;
    speak_http1(server.connect().await, false).await;
    assert_eq!(server.stop().await.cut_connections, 0);
}

#[tokio::test]
async fn http1_under_tls_with_and_without_alpn() {
    let server = Server::start().await;
    for alpn in [&[][..], &[&b"http/1.1"[..]]] {
        speak_http1(server.connect_tls("localhost", alpn).await, true).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn http2_in_the_clear_by_prior_knowledge() {
    let server = Server::start().await;
    speak_http2(server.connect().await, false).await;
    server.stop().await;
}

#[tokio::test]
async fn http2_under_tls_when_the_client_offers_nothing_else() {
    let server = Server::start().await;
    let stream = server.connect_tls("localhost", &[b"h2"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    speak_http2(stream, true).await;
    server.stop().await;
}

#[tokio::test]
async fn http2_is_preferred_when_both_are_offered() {
    let server = Server::start().await;
    let stream = server.connect_tls("localhost", &[b"http/1.1", b"h2"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    server.stop().await;
}

#[tokio::test]
async fn the_certificate_is_valid_for_every_name_of_the_server() {
    let server = Server::start().await;
    for name in ["localhost", "127.0.0.1", "::1", "cosmos.example"] {
        server.connect_tls(name, &[]).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn requests_may_come_byte_by_byte() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    stream.set_nodelay(true).unwrap();
    let bytes = b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    for byte in bytes {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let answer = exchange(&mut stream, b"").await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("{}"), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn an_empty_answer_has_neither_body_nor_type() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let answer = exchange(&mut stream, b"DELETE /none HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 204 ") && answer.ends_with("\r\n\r\n"), "{answer}");
    assert!(!answer.contains("content-type"), "{answer}");
    server.stop().await;
}
