//! Resource tokens: what the holder of a permission shows instead of a key.
//!
//! ```text
//! type=resource&ver=1&sig=<base64 of a MAC>;<base64 of a statement>;
//! ```
//!
//! The statement says which permission the token stands for, which version of it, and from when until when. The server
//! keeps no list of tokens: the MAC proves that it made the statement, and everything else is looked up when the token is
//! shown. So a token ends with its time, with the permission it stands for, with the next change of that permission, and
//! with the account key it was made under.
//!
//! The MAC's key is derived from an account key, so that no signature of a request can pass for a token or the other way
//! round. Tokens are made under the primary key and accepted under both full keys: after a rotation that moves the
//! primary key to second place they still open what they did.
//!
//! Left out: what a token allows, which is [`crate::permission`]'s.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tesela_model::limits::CLOCK_SKEW_SECONDS_MAX;
use tesela_model::rid::ResourceId;
use tesela_protocol::http_date;
use tesela_protocol::signature::{AccountKey, Signature};

/// What precedes the parts.
const PREFIX: &str = "type=resource&ver=1&sig=";
/// What the account key signs to give the key of tokens.
const PURPOSE: &str = "tesela resource tokens, format 1";
/// First byte of a statement: what follows may change with it.
const FORMAT: u8 = 1;
/// Characters of a permission's RID.
const RID_CHARS: usize = 24;

/// What a token states. Everything but the MAC has yet to be checked against the present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceToken {
    pub permission: ResourceId,
    /// The version of the permission it was made for.
    pub etag: String,
    /// Unix seconds.
    pub from: u64,
    pub until: u64,
}

/// Why a text is no token of this account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("the resource token is not of the form type=resource&ver=1&sig=…;…;")]
    Malformed,
    #[error("the resource token was not issued under a key of this account")]
    Forged,
}

/// Makes tokens, and tells its own from others.
pub struct TokenIssuer {
    /// The first one signs.
    keys: Vec<AccountKey>,
}

impl TokenIssuer {
    /// From the full keys of an account, the primary one first.
    pub fn new<'k>(account_keys: impl IntoIterator<Item = &'k AccountKey>) -> Self {
        let derive = |key: &AccountKey| AccountKey::from_base64(&key.sign(PURPOSE)).expect("a MAC is base64");
        let keys: Vec<AccountKey> = account_keys.into_iter().map(derive).collect();
        assert!(!keys.is_empty(), "an account has a primary key");
        Self { keys }
    }

    /// The text of a token. `nonce` makes every one unlike the last, which clients take for a sign of freshness.
    pub fn issue(&self, token: &ResourceToken, nonce: u64) -> String {
        let permission = token.permission.to_string();
        assert_eq!(permission.len(), RID_CHARS, "tokens are for permissions");
        let mut statement = vec![FORMAT];
        statement.extend_from_slice(permission.as_bytes());
        for number in [token.from, token.until, nonce] {
            statement.extend_from_slice(&number.to_be_bytes());
        }
        statement.extend_from_slice(token.etag.as_bytes());
        let statement = STANDARD.encode(statement);
        format!("{PREFIX}{};{statement};", self.keys[0].sign(&statement))
    }

    /// What a token of ours states.
    pub fn open(&self, text: &str) -> Result<ResourceToken, TokenError> {
        let signature = text.splitn(3, '&').nth(2).and_then(|part| part.split_once('=')).map(|(_, value)| value);
        let mut parts = signature.ok_or(TokenError::Malformed)?.split(';');
        let (mac, statement) = (parts.next(), parts.next().ok_or(TokenError::Malformed)?);
        let mac = mac.and_then(Signature::from_base64).ok_or(TokenError::Malformed)?;
        if !self.keys.iter().any(|key| key.verifies(statement, &mac)) {
            return Err(TokenError::Forged);
        }
        let bytes = STANDARD.decode(statement).map_err(|_| TokenError::Malformed)?;
        read(&bytes).ok_or(TokenError::Malformed)
    }
}

fn read(statement: &[u8]) -> Option<ResourceToken> {
    let (format, rest) = statement.split_first()?;
    let (permission, rest) = rest.split_at_checked(RID_CHARS)?;
    let (from, rest) = rest.split_first_chunk::<8>()?;
    let (until, rest) = rest.split_first_chunk::<8>()?;
    let (_nonce, etag) = rest.split_first_chunk::<8>()?;
    let permission = ResourceId::parse(std::str::from_utf8(permission).ok()?)?;
    let etag = std::str::from_utf8(etag).ok()?.to_owned();
    (*format == FORMAT).then(|| ResourceToken {
        permission,
        etag,
        from: u64::from_be_bytes(*from),
        until: u64::from_be_bytes(*until),
    })
}

impl ResourceToken {
    /// Whether it is good at this moment. A clock that was set back does not undo what was issued.
    pub fn is_current(&self, now_unix_seconds: u64) -> bool {
        let from = self.from.saturating_sub(CLOCK_SKEW_SECONDS_MAX.unsigned_abs());
        (from..self.until).contains(&now_unix_seconds)
    }

    /// The time it is good for, as messages tell it.
    pub fn window(&self) -> String {
        format!("from {} until {}", http_date::format(self.from as i64), http_date::format(self.until as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_767_225_600;

    fn key(seed: u8) -> AccountKey {
        AccountKey::from_base64(&STANDARD.encode([seed; 64])).unwrap()
    }

    fn token() -> ResourceToken {
        let permission = ResourceId::permission(&ResourceId::user(3, 4), 5);
        ResourceToken { permission, etag: "\"e1\"".to_owned(), from: NOW, until: NOW + 3600 }
    }

    #[test]
    fn a_token_comes_back_as_it_was_made() {
        let issuer = TokenIssuer::new([&key(1)]);
        let text = issuer.issue(&token(), 7);
        assert!(text.starts_with("type=resource&ver=1&sig=") && text.ends_with(';'), "{text}");
        assert_eq!(issuer.open(&text), Ok(token()));
        assert_ne!(issuer.issue(&token(), 8), text);
        assert_eq!(issuer.open(&text.replace("ver=1", "ver=1.0")), Ok(token()), "some clients write the version so");
    }

    #[test]
    fn tokens_outlive_the_rotation_of_keys_and_not_their_loss() {
        let text = TokenIssuer::new([&key(1), &key(2)]).issue(&token(), 7);
        assert_eq!(TokenIssuer::new([&key(3), &key(1)]).open(&text), Ok(token()));
        assert_eq!(TokenIssuer::new([&key(2), &key(3)]).open(&text), Err(TokenError::Forged));
    }

    #[test]
    fn a_signature_of_the_account_key_is_no_token() {
        let statement = STANDARD.encode("anything");
        let text = format!("{PREFIX}{};{statement};", key(1).sign(&statement));
        assert_eq!(TokenIssuer::new([&key(1)]).open(&text), Err(TokenError::Forged));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let issuer = TokenIssuer::new([&key(1)]);
        let text = issuer.issue(&token(), 7);
        let parts = PREFIX.len()..text.len() - 1;
        for at in parts {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(issuer.open(&changed).is_err(), "{changed}");
        }
    }

    #[test]
    fn other_texts_are_malformed() {
        let issuer = TokenIssuer::new([&key(1)]);
        let mac = key(1).sign("x");
        for text in ["", "sig", "type=resource&ver=1", "type=resource&ver=1&sig=", "type=resource&ver=1&sig=a;b;"] {
            assert_eq!(issuer.open(text), Err(TokenError::Malformed), "{text}");
        }
        assert_eq!(issuer.open(&format!("{PREFIX}{mac}")), Err(TokenError::Malformed));
        // Signed by us, but too short or of another format to be a statement.
        for statement in [&b""[..], b"\x01", &[FORMAT; 40], &[2; 60]] {
            let statement = STANDARD.encode(statement);
            let text = format!("{PREFIX}{};{statement};", issuer.keys[0].sign(&statement));
            assert_eq!(issuer.open(&text), Err(TokenError::Malformed), "{statement}");
        }
    }

    #[test]
    fn a_token_is_good_for_its_time() {
        let token = token();
        for (moment, good) in
            [(NOW - 901, false), (NOW - 900, true), (NOW, true), (NOW + 3599, true), (NOW + 3600, false)]
        {
            assert_eq!(token.is_current(moment), good, "{moment}");
        }
        assert_eq!(token.window(), "from Thu, 01 Jan 2026 00:00:00 GMT until Thu, 01 Jan 2026 01:00:00 GMT");
    }
}
