//! The listener at its border: real sockets, real clients, and clients that behave badly.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod http;
mod misbehaviour;
mod server;
mod stopping;
