//! Who may do what: the first question to every request.
//!
//! The checks go in the service's order, so that clients see the error they know: header present, header
//! well-formed, date readable, signature right, clock right, key allowed to. Four keys count: primary and
//! secondary, each also in a read-only form.
//!
//! What cannot be decided from the request alone is handed on: a [`Principal::ResourceToken`] is only good for what
//! its permission says, which the catalog knows. A read-only key reads everything but permissions: with them come tokens
//! that may write.
//!
//! Directory tokens are accepted of an issuer that was configured ([`directory`]), and of nobody otherwise.
//!
//! Outside the protocol: `/_tesela/…` takes an account key as a bearer token, because people and scripts call
//! it by hand; the certificate and the explorer's files are for everyone. With the emulator's well-known key, and only with it,
//! the directory tokens that SDK test suites make up for the emulator are accepted, too: anyone can make
//! them, as anyone can sign with that key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, Method};
use tesela_model::json::{self, Value};
use tesela_protocol::authorization::{self, Authorization, AuthorizationError};
use tesela_protocol::header;
use tesela_protocol::link::{Link, ResourcePath};
use tesela_protocol::signature::{AccountKey, KeyError, Secret, Signature, SignedDate, text_to_sign};
use tesela_protocol::status::{Status, SubStatus};

use crate::authorize::directory::{DataRole, Directory, TokenRefusal};
use crate::operation::{Access, Operation};
use crate::resource_token::TokenIssuer;
use crate::respond::ApiError;

pub mod directory;
#[cfg(test)]
mod tests;

/// The public key of the official emulator, which samples and test suites have built in.
pub const EMULATOR_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
/// `kid` of the directory tokens made up for the emulator.
const EMULATOR_TOKEN_KEY_ID: &str = "CosmosEmulatorPrimaryMaster";

/// On whose behalf a request is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// Holds a full key, or the directory's role to write. The request has been found to be within it.
    ReadWrite,
    /// Holds a read-only key, or the directory's role to read. The request has been found to be a read.
    ReadOnly,
    /// Holds the token of a permission, still to be looked up and checked.
    ResourceToken(String),
    /// Nobody in particular; only for what is open to everyone.
    Anonymous,
}

/// The account keys, in base64, as configured.
#[derive(Clone, Debug, Default)]
pub struct KeyTexts {
    pub primary: String,
    pub secondary: Option<String>,
    pub primary_read_only: Option<String>,
    pub secondary_read_only: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Full,
    ReadOnly,
}

struct Credential {
    role: Role,
    key: AccountKey,
    bearer: Secret,
}

/// Decides on requests by the keys of the account.
pub struct Authorizer {
    credentials: Vec<Credential>,
    tokens: TokenIssuer,
    directory: Option<Directory>,
    /// The signature of the emulator's directory tokens, where they are accepted.
    emulator_token: Option<Secret>,
}

impl Authorizer {
    pub fn new(keys: &KeyTexts) -> Result<Self, KeyError> {
        let full = std::iter::once(&keys.primary).chain(&keys.secondary).map(|text| (Role::Full, text));
        let read_only =
            keys.primary_read_only.iter().chain(&keys.secondary_read_only).map(|text| (Role::ReadOnly, text));
        let credential = |(role, text): (Role, &String)| {
            Ok(Credential { role, key: AccountKey::from_base64(text)?, bearer: Secret::new(text.trim()) })
        };
        let credentials = full.chain(read_only).map(credential).collect::<Result<Vec<_>, _>>()?;
        let full = credentials.iter().filter(|credential| credential.role == Role::Full);
        let tokens = TokenIssuer::new(full.map(|credential| &credential.key));
        let emulator_token = (keys.primary.trim() == EMULATOR_KEY).then(|| Secret::new(EMULATOR_KEY));
        Ok(Self { credentials, tokens, directory: None, emulator_token })
    }

    /// Accepts the tokens of this issuer, too.
    pub fn with_directory(self, directory: Directory) -> Self {
        Self { directory: Some(directory), ..self }
    }

    /// Makes the tokens of permissions.
    pub(crate) fn tokens(&self) -> &TokenIssuer {
        &self.tokens
    }

    /// On whose behalf the request is, or the error to answer it with.
    pub fn authorize(
        &self,
        method: &Method,
        link: &Link<'_>,
        headers: &HeaderMap,
        now_unix_seconds: i64,
    ) -> Result<Principal, ApiError> {
        match link.path {
            ResourcePath::EmulatorCertificate | ResourcePath::Explorer { .. } => return Ok(Principal::Anonymous),
            ResourcePath::Admin { .. } => return self.bearer(method, link, headers),
            _ => {}
        }
        let sent =
            header::text(headers, &header::AUTHORIZATION).map_err(|_| malformed(AuthorizationError::Malformed))?;
        let sent = sent.filter(|text| !text.is_empty()).ok_or_else(missing)?;
        let text = authorization::decode(sent).map_err(malformed)?;
        match Authorization::parse(&text).map_err(malformed)? {
            Authorization::Master { signature } => {
                let role = self.master(method, link, headers, signature, now_unix_seconds)?;
                allowed(role, method, link, headers)
            }
            Authorization::Resource { token } => Ok(Principal::ResourceToken(token.to_owned())),
            Authorization::Aad { token } => {
                if let Some(principal) = self.emulator_principal(token, now_unix_seconds)? {
                    return Ok(principal);
                }
                self.directory_principal(token, Operation::of(method, &link.path, headers)?, now_unix_seconds)
            }
            Authorization::Sas { .. } => Err(unauthorized("shared access signatures are not accepted by this server")),
        }
    }

    fn master(
        &self,
        method: &Method,
        link: &Link<'_>,
        headers: &HeaderMap,
        signature: &str,
        now_unix_seconds: i64,
    ) -> Result<Role, ApiError> {
        let x_ms_date = header::text(headers, &header::X_MS_DATE)?;
        let date = SignedDate::parse(x_ms_date, header::text(headers, &header::DATE)?)
            .map_err(|error| unauthorized(error.to_string()))?;
        let signed_by = Signature::from_base64(signature).and_then(|signature| {
            link.signed.candidates().find_map(|(kind, resource)| {
                let text = text_to_sign(method.as_str(), kind, resource, &date);
                self.credentials.iter().find(|credential| credential.key.verifies(&text, &signature))
            })
        });
        let Some(credential) = signed_by else { return Err(mismatch(method, link, &date)) };
        if !date.is_within_skew(now_unix_seconds) {
            return Err(skewed(&date, now_unix_seconds));
        }
        Ok(credential.role)
    }

    /// `Authorization: Bearer <account key>`.
    fn bearer(&self, method: &Method, link: &Link<'_>, headers: &HeaderMap) -> Result<Principal, ApiError> {
        let sent = header::text(headers, &header::AUTHORIZATION)?.ok_or_else(missing)?;
        let presented = sent.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let (_, presented) = presented.ok_or_else(|| malformed(AuthorizationError::Malformed))?;
        // Every key is compared, whichever matches.
        let role = self.credentials.iter().fold(None, |found, credential| {
            let matches = credential.bearer.matches(presented.trim());
            found.or(matches.then_some(credential.role))
        });
        match role {
            Some(role) => allowed(role, method, link, headers),
            None => Err(unauthorized("the bearer token is not a key of this account")),
        }
    }

    /// The holder of a token made up for the emulator; `None` when it is no such token.
    fn emulator_principal(&self, token: &str, now_unix_seconds: i64) -> Result<Option<Principal>, ApiError> {
        let claims = self.emulator_token.as_ref().and_then(|secret| emulator_claims(token, secret));
        let Some(claims) = claims else { return Ok(None) };
        match claims.get("exp").and_then(Value::as_f64) {
            Some(expiry) if expiry < now_unix_seconds as f64 => {
                Err(unauthorized("the directory token has expired").with_sub_status(SubStatus::AAD_TOKEN_EXPIRED))
            }
            _ => Ok(Some(Principal::ReadWrite)),
        }
    }

    fn directory_principal(
        &self,
        token: &str,
        operation: Operation,
        now_unix_seconds: i64,
    ) -> Result<Principal, ApiError> {
        let Some(directory) = &self.directory else {
            return Err(unauthorized("directory tokens are not accepted by this server")
                .with_sub_status(SubStatus::AAD_WRONG_ISSUER));
        };
        let role = directory.verify(token, now_unix_seconds).map_err(|refusal| match refusal {
            TokenRefusal::Malformed => {
                unauthorized(refusal.to_string()).with_sub_status(SubStatus::AUTHORIZATION_MALFORMED)
            }
            TokenRefusal::Signature | TokenRefusal::Stranger => {
                unauthorized(refusal.to_string()).with_sub_status(SubStatus::AAD_WRONG_ISSUER)
            }
            TokenRefusal::Expired => unauthorized(refusal.to_string()).with_sub_status(SubStatus::AAD_TOKEN_EXPIRED),
            TokenRefusal::NoRole => {
                ApiError::new(Status::Forbidden, refusal.to_string()).with_sub_status(SubStatus::RBAC_DENIED)
            }
        })?;
        if !role.allows(operation) {
            let message = "the role of the directory token does not cover the request";
            return Err(ApiError::new(Status::Forbidden, message).with_sub_status(SubStatus::RBAC_DENIED));
        }
        Ok(match role {
            DataRole::Read => Principal::ReadOnly,
            DataRole::Write => Principal::ReadWrite,
        })
    }
}

/// The claims of a token made up for the emulator: its header names the emulator's key, and its signature is that
/// key, spelled out.
fn emulator_claims(token: &str, secret: &Secret) -> Option<Value> {
    let mut parts = token.split('.');
    let (head, claims, signature) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok();
    let head = json::parse(&decode(head)?).ok()?;
    let is_emulators = head.get("kid").and_then(Value::as_str) == Some(EMULATOR_TOKEN_KEY_ID);
    let signature = String::from_utf8(decode(signature)?).ok()?;
    if !is_emulators || !secret.matches(&signature) {
        return None;
    }
    json::parse(&decode(claims)?).ok()
}

fn allowed(role: Role, method: &Method, link: &Link<'_>, headers: &HeaderMap) -> Result<Principal, ApiError> {
    if role == Role::Full {
        return Ok(Principal::ReadWrite);
    }
    let refused =
        |reason: &str| ApiError::new(Status::Forbidden, format!("the key of the request is read-only and {reason}"));
    match Operation::of(method, &link.path, headers)? {
        Operation::ReadPermissions => Err(refused("does not open permissions")),
        operation if operation.access() == Access::Read => Ok(Principal::ReadOnly),
        _ => Err(refused("the operation is a write")),
    }
}

fn unauthorized(message: impl Into<String>) -> ApiError {
    ApiError::new(Status::Unauthorized, message)
}

fn missing() -> ApiError {
    unauthorized("the request has no authorization header").with_sub_status(SubStatus::AUTHORIZATION_MISSING)
}

fn malformed(error: AuthorizationError) -> ApiError {
    unauthorized(error.to_string()).with_sub_status(SubStatus::AUTHORIZATION_MALFORMED)
}

/// Shows the text this server signed: comparing it with their own is how people find their mistake.
fn mismatch(method: &Method, link: &Link<'_>, date: &SignedDate<'_>) -> ApiError {
    let (kind, resource) = link.signed.candidates().next().unwrap_or_default();
    let text = text_to_sign(method.as_str(), kind, resource, date).replace('\n', "\\n");
    unauthorized(format!(
        "the signature of the request was not made with a key of this account, or not over this request; \
         the server used the following text to sign: '{text}'"
    ))
}

fn skewed(date: &SignedDate<'_>, now_unix_seconds: i64) -> ApiError {
    use tesela_model::limits::CLOCK_SKEW_SECONDS_MAX;
    use tesela_protocol::http_date;
    ApiError::new(
        Status::Forbidden,
        format!(
            "the request is dated {}, which is more than {} minutes from the server's time, {}",
            http_date::format(date.unix_seconds),
            CLOCK_SKEW_SECONDS_MAX / 60,
            http_date::format(now_unix_seconds),
        ),
    )
}
