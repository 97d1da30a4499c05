//! Directory tokens: signed JWTs of one issuer that the server's owner trusts, Entra ID or any other.
//!
//! Switched on by a file with the issuer's public keys (JWKS), the issuer's name and the audience that stands for this
//! server. The file is read once, at start: keys that are rotated need a restart. Nothing is fetched over the network.
//!
//! | claim | must be |
//! |---|---|
//! | `iss`, `aud` | those configured; `aud` may be a list that has it |
//! | `exp`, `nbf` | around now |
//! | `roles` | a list with `read` or `write`, or one of these alone |
//!
//! Roles are of the data plane, as in the service: `read` reads items, feeds and queries and what clients must know of
//! databases and containers; `write` writes items and runs procedures, too. Neither creates containers, manages scripts,
//! users or throughput: that takes a key (403/5300).
//!
//! Accepted signatures are RS256 and ES256, each with keys of its own kind only.

use crate::operation::{Access, Operation};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use tesela_model::json::{self, Value};

#[cfg(test)]
mod tests;

/// How far the issuer's clock may be ahead of ours. Ours: what most verifiers of such tokens allow.
const NOT_BEFORE_LEEWAY_SECONDS: i64 = 5 * 60;
/// Bytes of a coordinate of P-256.
const COORDINATE_BYTES: usize = 32;

/// Why a key file is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    #[error("the key file is not JSON: {0}")]
    NotJson(String),
    #[error("the key file has no list 'keys'")]
    NoKeys,
    #[error("the key file has no key for RS256 or ES256")]
    NothingUsable,
}

/// Why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    #[error("the directory token is no JWT signed with RS256 or ES256")]
    Malformed,
    #[error("the directory token is not signed by a key of the configured issuer")]
    Signature,
    #[error("the directory token is of another issuer, or for another audience")]
    Stranger,
    #[error("the directory token has expired, or is not yet good")]
    Expired,
    #[error("the directory token has neither of the roles 'read' and 'write'")]
    NoRole,
}

/// What a token's holder may do with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataRole {
    Read,
    Write,
}

impl DataRole {
    pub fn allows(self, operation: Operation) -> bool {
        use Operation as O;
        let is_data = match operation {
            O::ReadAccount
            | O::ReadDatabase
            | O::ListDatabases
            | O::ReadContainer
            | O::ListContainers
            | O::ReadRanges
            | O::CreateItem
            | O::ReadItem
            | O::ReplaceItem
            | O::PatchItem
            | O::DeleteItem
            | O::ReadFeed
            | O::ReadChanges
            | O::Query
            | O::PlanQuery
            | O::AtomicBatch
            | O::Bulk
            | O::DeleteByKey
            | O::ReadAttachments
            | O::WriteAttachment
            | O::ReadConflicts
            | O::DeleteConflict
            | O::ExecuteScript => true,
            O::WriteDatabase
            | O::WriteContainer
            | O::ReadUsers
            | O::WriteUser
            | O::ReadPermissions
            | O::WritePermission
            | O::ReadEncryptionKeys
            | O::WriteEncryptionKey
            | O::ReadOffers
            | O::WriteOffer
            | O::ListScripts
            | O::CreateScript
            | O::ReadScript
            | O::ReplaceScript
            | O::DeleteScript
            | O::ResolveAddress
            | O::ReadAdmin
            | O::WriteAdmin
            | O::ReadPublic
            | O::Unknown => false,
        };
        is_data && (self == Self::Write || operation.access() == Access::Read)
    }
}

/// A public key and the name the issuer gave it.
struct IssuerKey {
    id: Option<String>,
    material: Material,
}

enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// Uncompressed.
    P256 {
        point: Vec<u8>,
    },
}

/// A trusted issuer.
pub struct Directory {
    issuer: String,
    audience: String,
    keys: Vec<IssuerKey>,
}

impl Directory {
    /// `jwks` is the text of the key file. Keys it cannot use are passed over: issuers publish several kinds.
    pub fn new(jwks: &str, issuer: String, audience: String) -> Result<Self, DirectoryError> {
        let document = json::parse(jwks.as_bytes()).map_err(|error| DirectoryError::NotJson(error.to_string()))?;
        let keys = document.get("keys").and_then(Value::as_array).ok_or(DirectoryError::NoKeys)?;
        let keys: Vec<IssuerKey> = keys.iter().filter_map(issuer_key).collect();
        if keys.is_empty() { Err(DirectoryError::NothingUsable) } else { Ok(Self { issuer, audience, keys }) }
    }

    /// The role of a token's holder.
    pub fn verify(&self, token: &str, now_unix_seconds: i64) -> Result<DataRole, TokenRefusal> {
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenRefusal::Malformed)?;
        let (head, claims) = signed.split_once('.').ok_or(TokenRefusal::Malformed)?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok();
        let (head, claims, signature) = (decode(head), decode(claims), decode(signature));
        let (head, signature) = (head.ok_or(TokenRefusal::Malformed)?, signature.ok_or(TokenRefusal::Malformed)?);
        let head = json::parse(&head).map_err(|_| TokenRefusal::Malformed)?;
        let algorithm = head.get("alg").and_then(Value::as_str).unwrap_or_default();
        // Extensions that must be understood are not.
        if !matches!(algorithm, "RS256" | "ES256") || head.get("crit").is_some() {
            return Err(TokenRefusal::Malformed);
        }
        let id = head.get("kid").and_then(Value::as_str);
        let named = self.keys.iter().filter(|key| id.is_none() || key.id.is_none() || key.id.as_deref() == id);
        if !named.into_iter().any(|key| key.material.verifies(algorithm, signed, &signature)) {
            return Err(TokenRefusal::Signature);
        }
        let claims = claims.and_then(|claims| json::parse(&claims).ok()).ok_or(TokenRefusal::Malformed)?;
        self.judge(&claims, now_unix_seconds)
    }

    /// Of a token whose signature is right.
    fn judge(&self, claims: &Value, now_unix_seconds: i64) -> Result<DataRole, TokenRefusal> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        if text("iss") != Some(&self.issuer) || !words(claims, "aud").any(|word| word == self.audience) {
            return Err(TokenRefusal::Stranger);
        }
        let moment = |name: &str| claims.get(name).and_then(Value::as_f64);
        let now = now_unix_seconds as f64;
        // A token that never ends is none of ours.
        let is_over = moment("exp").is_none_or(|end| end <= now);
        let is_early = moment("nbf").is_some_and(|start| start > now + NOT_BEFORE_LEEWAY_SECONDS as f64);
        if is_over || is_early {
            return Err(TokenRefusal::Expired);
        }
        let has = |role: &str| words(claims, "roles").any(|word| word.eq_ignore_ascii_case(role));
        match (has("write"), has("read")) {
            (true, _) => Ok(DataRole::Write),
            (false, true) => Ok(DataRole::Read),
            (false, false) => Err(TokenRefusal::NoRole),
        }
    }
}

impl Material {
    fn verifies(&self, algorithm: &str, signed: &str, signature: &[u8]) -> bool {
        match (self, algorithm) {
            (Self::Rsa { modulus, exponent }, "RS256") => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), signature).is_ok()
            }
            (Self::P256 { point }, "ES256") => {
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
                key.verify(signed.as_bytes(), signature).is_ok()
            }
            _ => false,
        }
    }
}

/// The words of a claim that is a list or a single one.
fn words<'v>(claims: &'v Value, name: &str) -> impl Iterator<Item = &'v str> {
    let claim = claims.get(name);
    let list = claim.and_then(Value::as_array).unwrap_or_default();
    claim.and_then(Value::as_str).into_iter().chain(list.iter().filter_map(Value::as_str))
}

/// A key of the file, if it is one for checking RS256 or ES256 signatures.
fn issuer_key(key: &Value) -> Option<IssuerKey> {
    let text = |name: &str| key.get(name).and_then(Value::as_str);
    let number = |name: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(text(name)?.trim_end_matches('=')).ok()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Some(bytes[zeros..].to_vec())
    };
    if text("use").is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let material = match text("kty")? {
        "RSA" => Material::Rsa { modulus: number("n")?, exponent: number("e")? },
        "EC" if text("crv") == Some("P-256") => {
            let mut point = vec![4];
            for name in ["x", "y"] {
                let coordinate = number(name)?;
                point.resize(point.len() + COORDINATE_BYTES.checked_sub(coordinate.len())?, 0);
                point.extend_from_slice(&coordinate);
            }
            Material::P256 { point }
        }
        _ => return None,
    };
    Some(IssuerKey { id: text("kid").map(str::to_owned), material })
}
