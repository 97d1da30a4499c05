//! The `authorization` header: `type={t}&ver={v}&sig={s}`, usually percent-encoded as a whole.
//!
//! The text splits at its first two `&`, and only there: a resource token's signature may contain
//! anything. A comma ends the signature, because proxies fold repeated headers into one.

use std::borrow::Cow;

use crate::percent;

/// Longest header with a master key signature or a shared access signature (service limit).
pub const MASTER_BYTES_MAX: usize = 1024;
/// Longest header with a resource token (service limit).
pub const RESOURCE_BYTES_MAX: usize = 8 * 1024;
/// Longest header with a directory token (service limit).
pub const AAD_BYTES_MAX: usize = 16 * 1024;

/// Who vouches for the request, and the proof, still unchecked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authorization<'a> {
    /// Base64 of an HMAC made with one of the account's keys.
    Master { signature: &'a str },
    /// The token of a permission, in full (`type=resource&ver=1&sig=…`), as the permission hands it out.
    Resource { token: &'a str },
    /// A JWT.
    Aad { token: &'a str },
    /// A shared access signature.
    Sas { token: &'a str },
}

/// Why the header is no authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthorizationError {
    #[error("the authorization header is not of the form type=…&ver=…&sig=…")]
    Malformed,
    #[error("the authorization header has an unknown type")]
    UnknownType,
    #[error("the authorization header has an unsupported version")]
    UnknownVersion,
    #[error("the authorization header is longer than {limit} bytes")]
    TooLong { limit: usize },
}

/// The header text without its percent-encoding, ready for [`Authorization::parse`].
pub fn decode(header: &str) -> Result<Cow<'_, str>, AuthorizationError> {
    if header.len() > AAD_BYTES_MAX {
        return Err(AuthorizationError::TooLong { limit: AAD_BYTES_MAX });
    }
    percent::decode(header.trim_ascii()).ok_or(AuthorizationError::Malformed)
}

impl<'a> Authorization<'a> {
    /// Reads a header text already percent-decoded.
    pub fn parse(text: &'a str) -> Result<Self, AuthorizationError> {
        let mut parts = text.splitn(3, '&').map(|part| part.split_once('='));
        let (Some(Some((type_key, kind))), Some(Some((version_key, version))), Some(Some((signature_key, rest)))) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(AuthorizationError::Malformed);
        };
        let keyed = type_key.eq_ignore_ascii_case("type")
            && version_key.eq_ignore_ascii_case("ver")
            && signature_key.eq_ignore_ascii_case("sig");
        let signature = rest.split(',').next().unwrap_or(rest);
        if !keyed || signature.is_empty() {
            return Err(AuthorizationError::Malformed);
        }
        if version != "1.0" && version != "1" {
            return Err(AuthorizationError::UnknownVersion);
        }
        let is = |name: &str| kind.eq_ignore_ascii_case(name);
        let (parsed, limit) = if is("master") {
            (Self::Master { signature }, MASTER_BYTES_MAX)
        } else if is("resource") {
            let token = &text[..text.len() - (rest.len() - signature.len())];
            (Self::Resource { token }, RESOURCE_BYTES_MAX)
        } else if is("aad") {
            (Self::Aad { token: signature }, AAD_BYTES_MAX)
        } else if is("sas") {
            (Self::Sas { token: signature }, MASTER_BYTES_MAX)
        } else {
            return Err(AuthorizationError::UnknownType);
        };
        if text.len() > limit { Err(AuthorizationError::TooLong { limit }) } else { Ok(parsed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_is_read_encoded_or_not() {
        for (header, expected) in [
            ("type%3Dmaster%26ver%3D1.0%26sig%3Da%2Fb%2Bc%3D", Authorization::Master { signature: "a/b+c=" }),
            ("type%3dmaster%26ver%3d1.0%26sig%3da%2fb%2bc%3d", Authorization::Master { signature: "a/b+c=" }),
            ("type=master&ver=1.0&sig=a/b+c=", Authorization::Master { signature: "a/b+c=" }),
            ("type=master&ver=1.0&sig=a=, other", Authorization::Master { signature: "a=" }),
            ("type=aad&ver=1.0&sig=h.p.s", Authorization::Aad { token: "h.p.s" }),
            ("type=sas&ver=1.0&sig=x", Authorization::Sas { token: "x" }),
            (
                "type%3Dresource%26ver%3D1%26sig%3Da%3Bb%26c%3B",
                Authorization::Resource { token: "type=resource&ver=1&sig=a;b&c;" },
            ),
            ("type=resource&ver=1&sig=a;b;,x", Authorization::Resource { token: "type=resource&ver=1&sig=a;b;" }),
        ] {
            let text = decode(header).unwrap();
            assert_eq!(Authorization::parse(&text), Ok(expected), "{header}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_its_reason() {
        let long = format!("type=master&ver=1.0&sig={}", "a".repeat(MASTER_BYTES_MAX));
        for (header, expected) in [
            ("", AuthorizationError::Malformed),
            ("Bearer x", AuthorizationError::Malformed),
            ("type=master&ver=1.0", AuthorizationError::Malformed),
            ("type=master&ver=1.0&sig=", AuthorizationError::Malformed),
            ("ver=1.0&type=master&sig=x", AuthorizationError::Malformed),
            ("type=other&ver=1.0&sig=x", AuthorizationError::UnknownType),
            ("type=master&ver=2.0&sig=x", AuthorizationError::UnknownVersion),
            (&long, AuthorizationError::TooLong { limit: MASTER_BYTES_MAX }),
        ] {
            assert_eq!(Authorization::parse(header), Err(expected), "{header}");
        }
        assert_eq!(decode("%ff"), Err(AuthorizationError::Malformed));
        assert!(matches!(decode(&"a".repeat(AAD_BYTES_MAX + 1)), Err(AuthorizationError::TooLong { .. })));
    }
}
