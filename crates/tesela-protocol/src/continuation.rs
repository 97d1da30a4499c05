//! Continuation tokens: where a page ended, in the client's keeping.
//!
//! A token is opaque to clients and stateless for us: any server may resume any page, after a restart,
//! days later. What it says is the business of the layer that made it; this module wraps those bytes so
//! that they travel in a header and come back unharmed, to the resource they were made for.
//!
//! ```text
//! T1.<base64url of: checksum (8 bytes) | payload>
//! ```
//!
//! The checksum covers the version, the scope (the RID of the container or other owner) and the payload. So
//! a token cut short, altered, or taken from another container (also one deleted and created anew under
//! the same name) is refused instead of resuming somewhere wrong. It is no protection against a client that
//! forges tokens on purpose: a payload must not say anything a client may not ask for anyway.
//!
//! Clients also hold tokens of the real service (`-RID:~…#RT:1#…`). Those are recognised, so that a
//! server can start from the beginning instead of failing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;
use tesela_model::limits::CONTINUATION_BYTES_MAX;

/// Marks our tokens and the version of their form. Neither base64 nor JSON starts like it.
const PREFIX: &str = "T1.";
const CHECKSUM_BYTES: usize = 8;

/// The longest payload whose token fits [`CONTINUATION_BYTES_MAX`].
pub const PAYLOAD_BYTES_MAX: usize = (CONTINUATION_BYTES_MAX - PREFIX.len()) / 4 * 3 - CHECKSUM_BYTES;

/// A token a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// One of ours: the payload as it was given to [`encode`].
    Ours(Vec<u8>),
    /// In the form of the real service: it names a place this server cannot find.
    Foreign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContinuationError {
    #[error("the continuation token is malformed")]
    Malformed,
    #[error("the continuation token was altered or belongs to another resource")]
    Mismatch,
    #[error("a continuation of {bytes} bytes does not fit a token")]
    PayloadTooLong { bytes: usize },
}

/// The token for a payload, valid only with the same scope.
pub fn encode(scope: &[u8], payload: &[u8]) -> Result<String, ContinuationError> {
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(ContinuationError::PayloadTooLong { bytes: payload.len() });
    }
    let mut bytes = Vec::with_capacity(CHECKSUM_BYTES + payload.len());
    bytes.extend_from_slice(&checksum(scope, payload));
    bytes.extend_from_slice(payload);
    let mut token = String::with_capacity(CONTINUATION_BYTES_MAX);
    token.push_str(PREFIX);
    URL_SAFE_NO_PAD.encode_string(&bytes, &mut token);
    Ok(token)
}

/// Reads a token a client sent for a resource.
pub fn decode(scope: &[u8], token: &str) -> Result<Continuation, ContinuationError> {
    let Some(text) = token.strip_prefix(PREFIX) else {
        return if is_foreign(token) { Ok(Continuation::Foreign) } else { Err(ContinuationError::Malformed) };
    };
    if token.len() > CONTINUATION_BYTES_MAX {
        return Err(ContinuationError::Malformed);
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| ContinuationError::Malformed)?;
    let (found, payload) = bytes.split_first_chunk::<CHECKSUM_BYTES>().ok_or(ContinuationError::Malformed)?;
    if *found == checksum(scope, payload) {
        Ok(Continuation::Ours(payload.to_vec()))
    } else {
        Err(ContinuationError::Mismatch)
    }
}

/// A token of the service: a RID and `#`-separated fields, alone or inside the JSON the service's gateway
/// wraps around it.
fn is_foreign(token: &str) -> bool {
    let is_place = |text: &str| text.starts_with("-RID:") || text.starts_with("+RID:");
    is_place(token) || (token.starts_with(['{', '[']) && (token.contains("\"-RID:") || token.contains("\"+RID:")))
}

fn checksum(scope: &[u8], payload: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(PREFIX.as_bytes());
    // The length keeps a byte of the scope from passing for one of the payload.
    context.update(&(scope.len() as u64).to_le_bytes());
    context.update(scope);
    context.update(payload);
    let digest = context.finish();
    *digest.as_ref().first_chunk().expect("a digest is longer than its prefix")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPE: &[u8] = b"\xa8\x75\x5d\x00\x89\x9e\x28\x04";

    #[test]
    fn a_payload_of_any_size_comes_back() {
        for size in [0, 1, 2, 3, 100, PAYLOAD_BYTES_MAX] {
            let payload: Vec<u8> = (0..size).map(|i| (i * 7) as u8).collect();
            let token = encode(SCOPE, &payload).unwrap();
            assert!(token.len() <= CONTINUATION_BYTES_MAX, "{size} gives {}", token.len());
            assert!(token.bytes().all(|b| b.is_ascii_graphic() && b != b','), "{token}");
            assert_eq!(decode(SCOPE, &token), Ok(Continuation::Ours(payload)));
        }
        let bytes = PAYLOAD_BYTES_MAX + 1;
        assert_eq!(encode(SCOPE, &vec![0; bytes]), Err(ContinuationError::PayloadTooLong { bytes }));
    }

    #[test]
    fn a_token_of_another_resource_is_refused() {
        let token = encode(SCOPE, b"xy").unwrap();
        for scope in [&b""[..], b"\xa8\x75\x5d\x00\x89\x9e\x28\x05", b"\xa8\x75\x5d\x00\x89\x9e\x28\x04x"] {
            assert_eq!(decode(scope, &token), Err(ContinuationError::Mismatch));
        }
    }

    #[test]
    fn every_altered_or_shortened_token_is_refused() {
        let token = encode(SCOPE, b"payload").unwrap();
        for index in 0..token.len() {
            assert!(decode(SCOPE, &token[..index]).is_err(), "cut at {index}");
            for other in ["A", "b", "-"] {
                let mut altered = token.clone();
                altered.replace_range(index..=index, other);
                assert!(altered == token || decode(SCOPE, &altered).is_err(), "{altered}");
            }
        }
    }

    #[test]
    fn tokens_of_the_service_are_known_as_such() {
        for token in [
            "-RID:~qHVdAImeKAQBAAAAAAAAAA==#RT:1#TRC:10#ISV:2#IEO:65567#QCF:8",
            "+RID:~qHVdAImeKAQBAAAAAAAAAA==#RT:1",
            r#"{"token":"+RID:~qHVdAImeKAQBAAAAAAAAAA==#RT:1","range":{"min":"","max":"FF"}}"#,
            r#"[{"token":"-RID:~x#RT:1","range":{"min":"","max":"FF"}}]"#,
        ] {
            assert_eq!(decode(SCOPE, token), Ok(Continuation::Foreign), "{token}");
        }
    }

    #[test]
    fn other_texts_are_malformed() {
        let long = format!("T1.{}", "A".repeat(CONTINUATION_BYTES_MAX));
        for token in ["", "x", "T1.", "T1.AAAA", "T2.AAAAAAAAAAAAAAAA", "{}", "[1,2]", "T1.%%", &long] {
            assert_eq!(decode(SCOPE, token), Err(ContinuationError::Malformed), "{token}");
        }
    }
}
