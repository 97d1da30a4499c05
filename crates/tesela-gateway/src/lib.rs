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
//! | [`authorize`] | who asks, and whether his key allows it |
//! | `operation` | what a request does |
//! | `resource_token`, `permission`, `admit` | tokens of permissions, and what they allow |
//! | `gateway`, `request` | one request from link to answer |
//! | [`handlers`] | what is done, a file for each kind of resource |
//! | `error_map` | what went wrong below, as a status |
//! | [`account`] | what `GET /` tells |
//! | `cors` | requests from browsers |
//! | [`respond`] | answers and errors as HTTP |
//! | [`limits`] | what a connection may cost |

pub mod account;
mod admit;
pub mod authorize;
pub mod body;
mod connection;
mod cors;
mod error_map;
mod gateway;
pub mod handlers;
pub mod limits;
pub mod listen;
mod operation;
mod permission;
mod pulse;
mod request;
mod resource_token;
pub mod respond;
pub mod tls;

pub use gateway::Gateway;
