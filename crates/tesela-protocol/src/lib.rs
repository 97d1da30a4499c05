//! The wire: every name and shape that crosses HTTP, and nothing that decides.
//!
//! Pure functions over bytes. The gateway reads requests with it and the client writes them with it,
//! so both sides share one spelling of each header, link, status and token.
//!
//! | module | models |
//! |---|---|
//! | [`header`] | request and response header names, typed reading of their values |
//! | [`link`] | the path of a request: which resource, by name or by RID, and what a signature covers |
//! | [`authorization`], [`signature`], [`http_date`] | who sent a request |
//! | [`status`], [`error_body`] | how an answer says what happened |
//! | [`partition_key_header`], [`session_token`], [`continuation`] | values that travel in headers |
//! | [`binary_json`] | bodies in the service's binary form |
//! | [`feed`], [`batch`], [`query_plan`] | bodies with a shape of their own |
//!
//! Absent on purpose: sockets, clocks, what a resource means, and how a query is answered. Whatever
//! comes from outside is parsed without panics and without unbounded recursion.

pub mod authorization;
pub mod batch;
pub mod binary_json;
pub mod continuation;
pub mod error_body;
pub mod feed;
pub mod header;
pub mod http_date;
pub mod link;
pub mod partition_key_header;
pub mod percent;
pub mod query_plan;
pub mod session_token;
pub mod signature;
pub mod status;
