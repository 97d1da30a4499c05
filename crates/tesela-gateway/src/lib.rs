//! HTTP: listens, decodes, authorizes, asks the router, encodes.
//!
//! ```text
//! listen -> connection -> (Handler: authorize -> … -> respond)
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`listen`] | the port: accepting, limits, stopping |
//! | `connection`, `pulse` | one connection: telling protocols apart, and letting go of idle and slow clients |
//! | [`tls`] | the certificate and the handshake |
//! | [`body`] | reading a request's body |
//! | [`authorize`] | who may do what |
//! | `gateway`, `request` | one request from link to answer |
//! | [`handlers`] | what is done, a file for each kind of resource |
//! | `error_map` | what went wrong below, as a status |
//! | [`account`] | what `GET /` tells |
//! | `cors` | requests from browsers |
//! | [`respond`] | answers and errors as HTTP |
//! | [`limits`] | what a connection may cost |

pub mod account;
pub mod authorize;
pub mod body;
mod connection;
mod cors;
mod error_map;
mod gateway;
pub mod handlers;
pub mod limits;
pub mod listen;
mod pulse;
mod request;
pub mod respond;
pub mod tls;

pub use gateway::Gateway;
