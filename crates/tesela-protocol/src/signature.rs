//! Master-key signatures: the text both sides build from a request, and its HMAC-SHA256.
//!
//! ```text
//! get\n                               verb, lower case
//! docs\n                              resource type, lower case
//! dbs/d1/colls/C1/docs/x\n            resource link, case kept
//! thu, 27 apr 2017 00:51:12 gmt\n     x-ms-date, lower case
//! \n                                  date, lower case, only when x-ms-date is absent
//! ```
//!
//! The signature is the base64 of the HMAC of that text under the base64-decoded account key. A key is
//! expanded once, when it is configured, so that checking a request hashes only its text. Comparing is
//! constant-time in everything secret.
//!
//! A signature says nothing about the body or other headers: the transport has to protect those.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use tesela_model::limits::CLOCK_SKEW_SECONDS_MAX;

use crate::http_date;

#[cfg(test)]
mod tests;

/// Bytes of an HMAC-SHA256.
const SIGNATURE_BYTES: usize = 32;

/// A text is no account key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an account key is non-empty base64 text")]
pub struct KeyError;

/// The dates of a request do not say when it was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DateError {
    #[error("the request has neither an x-ms-date nor a date header")]
    Missing,
    #[error("the date of the request is not an RFC 1123 date in GMT")]
    Malformed,
}

/// When a request says it was signed: the header that counts, and its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedDate<'a> {
    text: &'a str,
    is_x_ms_date: bool,
    pub unix_seconds: i64,
}

impl<'a> SignedDate<'a> {
    /// `x-ms-date` wins over `date`, which some HTTP stacks do not let a program set.
    pub fn parse(x_ms_date: Option<&'a str>, date: Option<&'a str>) -> Result<Self, DateError> {
        let text = x_ms_date.or(date).ok_or(DateError::Missing)?;
        let unix_seconds = http_date::parse(text).ok_or(DateError::Malformed)?;
        Ok(Self { text, is_x_ms_date: x_ms_date.is_some(), unix_seconds })
    }

    /// Whether the signature is fresh: at most 15 minutes from our clock, either way.
    pub fn is_within_skew(&self, now_unix_seconds: i64) -> bool {
        now_unix_seconds.abs_diff(self.unix_seconds) <= CLOCK_SKEW_SECONDS_MAX.unsigned_abs()
    }
}

/// The text a signature covers.
pub fn text_to_sign(method: &str, resource_type: &str, resource_link: &str, date: &SignedDate<'_>) -> String {
    const SEPARATORS: usize = 5;
    let length = method.len() + resource_type.len() + resource_link.len() + date.text.len() + SEPARATORS;
    let mut text = String::with_capacity(length);
    push_lowercase(&mut text, method);
    push_lowercase(&mut text, resource_type);
    text.push_str(resource_link);
    text.push('\n');
    let (x_ms_date, plain_date) = if date.is_x_ms_date { (date.text, "") } else { ("", date.text) };
    push_lowercase(&mut text, x_ms_date);
    push_lowercase(&mut text, plain_date);
    text
}

fn push_lowercase(text: &mut String, part: &str) {
    let start = text.len();
    text.push_str(part);
    text[start..].make_ascii_lowercase();
    text.push('\n');
}

/// An HMAC as a client sent it.
#[derive(Clone, Copy, Debug)]
pub struct Signature([u8; SIGNATURE_BYTES]);

impl Signature {
    /// `None` when the text is not base64 of exactly one HMAC, which no key can have made.
    pub fn from_base64(text: &str) -> Option<Self> {
        // One block more than needed, so that a longer text is seen to be longer.
        let mut bytes = [0; SIGNATURE_BYTES + 4];
        let length = STANDARD.decode_slice(text, &mut bytes).ok()?;
        let exact: &[u8; SIGNATURE_BYTES] = bytes.get(..length)?.try_into().ok()?;
        Some(Self(*exact))
    }
}

/// An account key, expanded for signing and checking.
#[derive(Clone, Debug)]
pub struct AccountKey(hmac::Key);

impl AccountKey {
    pub fn from_base64(text: &str) -> Result<Self, KeyError> {
        match STANDARD.decode(text.trim_ascii()) {
            Ok(bytes) if !bytes.is_empty() => Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes))),
            _ => Err(KeyError),
        }
    }

    /// The base64 signature of a text, as clients put it after `sig=`.
    pub fn sign(&self, text: &str) -> String {
        STANDARD.encode(hmac::sign(&self.0, text.as_bytes()))
    }

    /// Whether this key made the signature of this text.
    pub fn verifies(&self, text: &str, signature: &Signature) -> bool {
        hmac::verify(&self.0, text.as_bytes(), &signature.0).is_ok()
    }
}

/// A secret text that can be recognised but not read back.
///
/// Comparing HMACs of the two texts, instead of the texts, takes the same time whatever is presented.
#[derive(Clone, Debug)]
pub struct Secret {
    key: hmac::Key,
    tag: hmac::Tag,
}

impl Secret {
    pub fn new(text: &str) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
        let tag = hmac::sign(&key, text.as_bytes());
        Self { key, tag }
    }

    pub fn matches(&self, presented: &str) -> bool {
        hmac::verify(&self.key, presented.as_bytes(), self.tag.as_ref()).is_ok()
    }
}
