//! Consistency levels and session tokens of a request.
//!
//! One node serves every level at least as strongly as asked, so a level is only checked: it must not be stronger than
//! the account's default, and reads under the two strongest cost double. Nothing lags behind here, so a session token
//! is honoured by its form alone: one that is ahead of its partition speaks of another container, which the Python SDK
//! mixes up with this one when their first answers had no body, or of another server.

use crate::request::Call;
use crate::respond::ApiError;
use tesela_protocol::{header, session_token};

/// Weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consistency {
    Eventual,
    ConsistentPrefix,
    Session,
    BoundedStaleness,
    Strong,
}

impl Consistency {
    const ALL: [Self; 5] =
        [Self::Eventual, Self::ConsistentPrefix, Self::Session, Self::BoundedStaleness, Self::Strong];

    pub fn name(self) -> &'static str {
        match self {
            Self::Eventual => "Eventual",
            Self::ConsistentPrefix => "ConsistentPrefix",
            Self::Session => "Session",
            Self::BoundedStaleness => "BoundedStaleness",
            Self::Strong => "Strong",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name))
    }
}

/// Whether the request's reads cost double. Refuses a level above the account's.
pub fn reads_strong(call: &Call<'_>, account: Consistency) -> Result<bool, ApiError> {
    let level = match call.text(&header::CONSISTENCY_LEVEL)? {
        None | Some("") => account,
        Some(name) => Consistency::from_name(name)
            .ok_or_else(|| ApiError::bad_request(format!("the consistency level '{name}' is unknown")))?,
    };
    if level > account {
        let (asked, allowed) = (level.name(), account.name());
        let message = format!(
            "ConsistencyLevel {asked} specified in the request is invalid when service is configured with consistency level {allowed}"
        );
        return Err(ApiError::bad_request(message));
    }
    Ok(level >= Consistency::BoundedStaleness)
}

/// Refuses what is no session token.
pub fn check(call: &Call<'_>) -> Result<(), ApiError> {
    let Some(text) = call.text(&header::SESSION_TOKEN)?.filter(|text| !text.is_empty()) else { return Ok(()) };
    session_token::parse(text).map(drop).map_err(|error| ApiError::bad_request(error.to_string()))
}
