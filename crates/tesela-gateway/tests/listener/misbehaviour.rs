//! Clients that are slow, greedy, broken or hostile lose their connection and harm nobody else.

use std::time::Duration;

use tesela_gateway::body::BodyError;
use tesela_gateway::limits::{HEAD_BYTES_MAX, HEADERS_MAX, URL_BYTES_MAX};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep, timeout};

use crate::server::{BODY_BYTES_MAX, PATIENCE, Server, TIMEOUTS, exchange, read_to_end};

const ECHO: &[u8] = b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";

async fn assert_alive(server: &Server) {
    let answer = exchange(&mut server.connect().await, ECHO).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn a_client_that_says_nothing_is_let_go() {
    let server = Server::start().await;
    let began = Instant::now();
    assert_eq!(read_to_end(&mut server.connect().await).await, "");
    assert!(began.elapsed() >= TIMEOUTS.handshake);
    // Nor is one that begins a TLS handshake, or HTTP/2, and then stops.
    for bytes in [&b"\x16\x03\x01"[..], b"PR"] {
        assert_eq!(exchange(&mut server.connect().await, bytes).await, "", "{bytes:?}");
    }
    assert_alive(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_dribbles_headers_is_let_go() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET /echo HTTP/1.1\r\nhost: x\r\n").await.unwrap();
    let began = Instant::now();
    let mut end = [0];
    loop {
        // Each byte is activity, yet the request is never complete.
        let _ = stream.write_all(b"a").await;
        match timeout(Duration::from_millis(30), stream.read(&mut end)).await {
            Err(_) => assert!(began.elapsed() < PATIENCE, "the server keeps waiting"),
            Ok(ended) => break assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}"),
        }
    }
    assert!(began.elapsed() >= TIMEOUTS.head);
    server.stop().await;
}

#[tokio::test]
async fn a_connection_kept_alive_for_nothing_is_closed() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let began = Instant::now();
    let answer = exchange(&mut stream, b"GET /echo HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(began.elapsed() >= TIMEOUTS.idle);
    server.stop().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_a_time_out() {
    let server = Server::start().await;
    let head = b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\nconnection: close\r\n\r\n{";
    let answer = exchange(&mut server.connect().await, head).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("\"code\":\"RequestTimeout\""), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn a_body_cut_short_is_never_taken_for_a_whole_one() {
    let mut server = Server::start().await;
    let cut: [&[u8]; 2] = [
        b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{}",
        b"POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
    ];
    for bytes in cut {
        let mut stream = server.connect().await;
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let error = timeout(PATIENCE, server.broken.recv()).await.expect("the handler is told").unwrap();
        assert_eq!(error, BodyError::Broken);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_body_past_the_limit_is_413_however_it_is_sent() {
    let server = Server::start().await;
    let body = "x".repeat(BODY_BYTES_MAX + 1);
    let sized =
        format!("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let chunked = "POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    for request in [format!("{sized}{body}"), format!("{chunked}{:x}\r\n{body}\r\n0\r\n\r\n", body.len())] {
        let answer = exchange(&mut server.connect().await, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(answer.contains("\"code\":\"RequestEntityTooLarge\""), "{answer}");
    }
    let exact = "x".repeat(BODY_BYTES_MAX);
    let request = format!("{chunked}{:x}\r\n{exact}\r\n0\r\n\r\n", exact.len());
    let answer = exchange(&mut server.connect().await, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(&exact), "a body at the limit is taken");
    server.stop().await;
}

#[tokio::test]
async fn heads_past_the_limits_are_refused() {
    let server = Server::start().await;
    let large = format!("GET /echo HTTP/1.1\r\nhost: x\r\na: {}\r\n\r\n", "a".repeat(HEAD_BYTES_MAX));
    let many = format!("GET /echo HTTP/1.1\r\nhost: x\r\n{}\r\n", "a: b\r\n".repeat(HEADERS_MAX));
    let long = format!("GET /{} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "a".repeat(URL_BYTES_MAX));
    for (request, status) in [(large, "431"), (many, "431"), (long, "414")] {
        let answer = exchange(&mut server.connect().await, request.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {answer}");
    }
    assert_alive(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn garbage_is_refused() {
    let server = Server::start().await;
    let long = vec![b'a'; 1 << 20];
    let pieces: [&[u8]; 8] = [
        b"\0\0\0\0",
        b"\xff\xfe\r\n\r\n",
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nhost x\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nthis is no frame at all, whatever one makes of it",
        &long,
    ];
    for bytes in pieces {
        let answer = exchange(&mut server.connect().await, bytes).await;
        assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    }
    let junk = [&[0x16, 0x03, 0x01, 0x02, 0x00][..], &[0x5a; 600]].concat();
    exchange(&mut server.connect().await, &junk).await;
    assert_alive(&server).await;
    server.stop().await;
}

#[tokio::test]
async fn two_lengths_are_not_a_way_to_smuggle_a_request() {
    let server = Server::start().await;
    let pieces: [&[u8]; 2] = [
        b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x",
        b"POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
    ];
    for bytes in pieces {
        let answer = exchange(&mut server.connect().await, bytes).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_let_go() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET /big HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    // Reading nothing for a while must cost the connection: what the kernel holds is far less than the answer.
    sleep(TIMEOUTS.write_stall * 4).await;
    let answer = read_to_end(&mut stream).await;
    assert!(answer.len() < 64 << 20, "{} bytes arrived", answer.len());
    server.stop().await;
}

#[tokio::test]
async fn connections_past_the_limit_wait_their_turn() {
    let server = Server::start_with(|options| options.connections_max = 1).await;
    let first = server.connect().await;
    let mut second = server.connect().await;
    second.write_all(ECHO).await.unwrap();
    let mut byte = [0];
    let waiting = timeout(TIMEOUTS.handshake / 2, second.read(&mut byte)).await;
    assert!(waiting.is_err(), "the second connection is not served while the first lasts");
    drop(first);
    let answer = read_to_end(&mut second).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn without_tls_a_handshake_is_closed() {
    let server = Server::start_with(|options| options.tls = None).await;
    assert_eq!(exchange(&mut server.connect().await, b"\x16\x03\x01\x00\x05hello").await, "");
    assert_alive(&server).await;
    server.stop().await;
}
