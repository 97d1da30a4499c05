//! Permissions as clients read them: with a token that stands for them.
//!
//! The catalog keeps permissions without tokens. Each time one is shown, alone, in a list or to a query, a fresh token
//! is made for it, good for as long as the request asks.

use crate::admit::is_grantable;
use crate::gateway::Gateway;
use crate::request::Call;
use crate::resource_token::ResourceToken;
use crate::respond::ApiError;
use tesela_model::json::{Value, to_string};
use tesela_model::limits::{RESOURCE_TOKEN_SECONDS_DEFAULT, RESOURCE_TOKEN_SECONDS_MAX, RESOURCE_TOKEN_SECONDS_MIN};
use tesela_model::rid::ResourceId;
use tesela_protocol::header;
use tesela_protocol::link::Link;
use tesela_router::catalog::{Feed, Resource, ResourceKind};
use tesela_store::Store;

impl<S: Store> Gateway<S> {
    /// A resource as it is shown: permissions get their tokens, everything else is as it is.
    pub(super) fn shown(&self, call: &Call<'_>, feed: Feed<'_>, resource: &Resource) -> Result<Resource, ApiError> {
        if feed.kind() != ResourceKind::Permission {
            return Ok(resource.clone());
        }
        let (env, seconds) = (self.router().env(), token_seconds(call)?);
        let now = env.now().unix_seconds();
        let token = ResourceToken {
            permission: ResourceId::parse(&resource.rid).expect("RIDs of ours read back"),
            etag: resource.etag.to_string(),
            from: now,
            until: now + seconds,
        };
        let text = self.authorizer().tokens().issue(&token, env.random());
        Ok(Resource { json: resource.json_with("_token", &to_string(&Value::from(text))), ..resource.clone() })
    }
}

/// For how long tokens of this answer are good.
fn token_seconds(call: &Call<'_>) -> Result<u64, ApiError> {
    let asked = header::number(call.headers, &header::TOKEN_EXPIRY_SECONDS)?;
    let seconds = asked.unwrap_or(RESOURCE_TOKEN_SECONDS_DEFAULT);
    if (RESOURCE_TOKEN_SECONDS_MIN..=RESOURCE_TOKEN_SECONDS_MAX).contains(&seconds) {
        return Ok(seconds);
    }
    Err(ApiError::bad_request(format!(
        "a resource token is good for {RESOURCE_TOKEN_SECONDS_MIN} to {RESOURCE_TOKEN_SECONDS_MAX} seconds, not {seconds}"
    )))
}

/// Refuses a permission before it is written whose link could never name anything, or that is for no key.
pub(super) fn check(call: &Call<'_>, feed: Feed<'_>, body: &Value) -> Result<(), ApiError> {
    if feed.kind() != ResourceKind::Permission {
        return Ok(());
    }
    // The token of the answer cannot fail any more once the permission is written.
    token_seconds(call)?;
    if let Some(resource) = body.get("resource").and_then(Value::as_str) {
        let path = format!("/{}", resource.trim_matches('/').replace('%', "%25"));
        if !Link::parse(&path, None).is_ok_and(|link| is_grantable(&link.path)) {
            return Err(ApiError::bad_request(format!(
                "a permission is on a container, an item or a script; '{resource}' is a link to none of them"
            )));
        }
    }
    match body.get("resourcePartitionKey").and_then(Value::as_array) {
        Some([]) => Err(ApiError::bad_request("resourcePartitionKey must have at least one component")),
        _ => Ok(()),
    }
}
