//! Consistency levels and session tokens of a request.
//!
//! One node serves every level at least as strongly as asked, so a level is only checked: it must not be stronger than
//! the account's default, and reads under the two strongest cost double. Newer clients send a *strategy* instead, which
//! does not depend on the default. Nothing lags behind here, so a session token
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

/// Whether the request's reads cost double. Refuses what the account does not give.
pub fn reads_strong(call: &Call<'_>, account: Consistency) -> Result<bool, ApiError> {
    let (level, strategy) = (call.text(&header::CONSISTENCY_LEVEL)?, call.text(&header::READ_CONSISTENCY_STRATEGY)?);
    match (level.filter(|name| !name.is_empty()), strategy.filter(|name| !name.is_empty())) {
        (Some(_), Some(_)) => Err(ApiError::bad_request(format!(
            "a request has one of the headers {} and {}, not both",
            header::CONSISTENCY_LEVEL,
            header::READ_CONSISTENCY_STRATEGY
        ))),
        (Some(level), None) => at_level(level, account),
        (None, Some(strategy)) => by_strategy(strategy, account),
        (None, None) => Ok(account >= Consistency::BoundedStaleness),
    }
}

/// A level may only be weaker than the account's.
fn at_level(name: &str, account: Consistency) -> Result<bool, ApiError> {
    let level = Consistency::from_name(name)
        .ok_or_else(|| ApiError::bad_request(format!("the consistency level '{name}' is unknown")))?;
    if level > account {
        let (asked, allowed) = (level.name(), account.name());
        let message = format!(
            "ConsistencyLevel {asked} specified in the request is invalid when service is configured with consistency level {allowed}"
        );
        return Err(ApiError::bad_request(message));
    }
    Ok(level >= Consistency::BoundedStaleness)
}

/// A strategy says how to read, whatever the account's default: the latest write can be read under any of them, but a
/// write is only everywhere in an account that waits for it.
fn by_strategy(name: &str, account: Consistency) -> Result<bool, ApiError> {
    let is = |strategy: &str| strategy.eq_ignore_ascii_case(name);
    if is("Eventual") || is("Session") {
        Ok(false)
    } else if is("LatestCommitted") {
        Ok(true)
    } else if !is("GlobalStrong") {
        Err(ApiError::bad_request(format!("the read consistency strategy '{name}' is unknown")))
    } else if account != Consistency::Strong {
        let message = format!("the strategy GlobalStrong is for accounts of level Strong, not {}", account.name());
        Err(ApiError::bad_request(message))
    } else {
        Ok(true)
    }
}

/// Refuses what is no session token.
pub fn check(call: &Call<'_>) -> Result<(), ApiError> {
    let Some(text) = call.text(&header::SESSION_TOKEN)?.filter(|text| !text.is_empty()) else { return Ok(()) };
    session_token::parse(text).map(drop).map_err(|error| ApiError::bad_request(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Consistency::{BoundedStaleness, ConsistentPrefix, Eventual, Session, Strong};
    use bytes::Bytes;
    use http::{HeaderMap, HeaderName, HeaderValue, Method};
    use tesela_protocol::link::Link;

    fn strong(headers: &[(&HeaderName, &'static str)], account: Consistency) -> Result<bool, u16> {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| ((*name).clone(), HeaderValue::from_static(value))).collect();
        let link = Link::parse("/dbs/d/colls/c/docs/i", None).unwrap();
        let (method, endpoint) = (Method::GET, String::new());
        let call = Call { method, link: &link, headers: &headers, body: Bytes::new(), endpoint };
        reads_strong(&call, account).map_err(|error| error.status.number())
    }

    #[test]
    fn a_request_may_ask_for_less_than_the_account_gives() {
        for account in Consistency::ALL {
            assert_eq!(strong(&[], account), Ok(account >= BoundedStaleness), "{account:?}");
            for level in Consistency::ALL {
                let wanted = if level > account { Err(400) } else { Ok(level >= BoundedStaleness) };
                let found = strong(&[(&header::CONSISTENCY_LEVEL, level.name())], account);
                assert_eq!(found, wanted, "{level:?} of an account of {account:?}");
            }
        }
        assert_eq!(strong(&[(&header::CONSISTENCY_LEVEL, "eventual")], Strong), Ok(false), "in any case");
        assert_eq!(strong(&[(&header::CONSISTENCY_LEVEL, "")], Strong), Ok(true), "nothing said");
        assert_eq!(strong(&[(&header::CONSISTENCY_LEVEL, "stronger")], Strong), Err(400));
    }

    #[test]
    fn strategies_stand_beside_the_levels() {
        for account in [Eventual, ConsistentPrefix, Session, BoundedStaleness, Strong] {
            let by = |name| strong(&[(&header::READ_CONSISTENCY_STRATEGY, name)], account);
            assert_eq!((by("Eventual"), by("Session")), (Ok(false), Ok(false)), "{account:?}");
            assert_eq!(by("latestCommitted"), Ok(true), "{account:?}");
            assert_eq!(by("GlobalStrong"), if account == Strong { Ok(true) } else { Err(400) }, "{account:?}");
            assert_eq!((by("Strong"), by("")), (Err(400), Ok(account >= BoundedStaleness)), "{account:?}");
        }
    }

    #[test]
    fn level_and_strategy_exclude_each_other() {
        let both = |level, strategy| {
            strong(&[(&header::CONSISTENCY_LEVEL, level), (&header::READ_CONSISTENCY_STRATEGY, strategy)], Strong)
        };
        assert_eq!(both("Session", "Session"), Err(400));
        assert_eq!((both("Session", ""), both("", "LatestCommitted")), (Ok(false), Ok(true)));
    }
}
