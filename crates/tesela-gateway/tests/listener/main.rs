//! The listener at its border: real sockets, real clients, and clients that behave badly.

mod http;
mod misbehaviour;
mod server;
mod stopping;
