//! A resource as clients read it, conditions on it, and pages of it.

use super::{CatalogError, ResourceKind, Result};
use bytes::Bytes;
use std::sync::Arc;
use tesela_model::json::{self, Object, Value};
use tesela_model::rid::ResourceId;

/// One version of a resource; a clone shares everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The name.
    pub id: Arc<str>,
    pub rid: Arc<str>,
    /// RID of what it is in; empty for databases and offers.
    pub owner_rid: Arc<str>,
    /// `dbs/{rid}/…/`, the value of `_self`.
    pub self_link: Arc<str>,
    /// Quotes included, the value of `_etag`.
    pub etag: Arc<str>,
    /// Unix seconds of the last change.
    pub ts: u64,
    /// The whole resource as text.
    pub json: Bytes,
}

impl Resource {
    /// The text with one more property, whose value is JSON text. For what is made per answer, like tokens.
    pub fn json_with(&self, name: &str, value: &str) -> Bytes {
        let body = self.json.strip_suffix(b"}").expect("a resource is an object");
        let mut text = Vec::with_capacity(body.len() + name.len() + value.len() + 5);
        text.extend_from_slice(body);
        if body.len() > 1 {
            text.push(b',');
        }
        json::write_string(name, &mut text);
        text.push(b':');
        text.extend_from_slice(value.as_bytes());
        text.push(b'}');
        text.into()
    }
}

/// What the server adds to a resource; clients cannot set these.
const SYSTEM_PROPERTIES: [&str; 14] = [
    "_rid",
    "_self",
    "_etag",
    "_ts",
    "_colls",
    "_users",
    "_docs",
    "_sprocs",
    "_triggers",
    "_udfs",
    "_conflicts",
    "_permissions",
    "_token",
    "_attachments",
];

/// Makes one version of a resource.
pub(super) struct Stamp<'a> {
    pub rid: &'a ResourceId,
    pub owner_rid: &'a str,
    pub self_link: String,
    pub etag: String,
    pub ts: u64,
    /// Links to what is inside, e.g. `("_docs", "docs/")`.
    pub links: &'a [(&'a str, &'a str)],
}

impl Stamp<'_> {
    /// `body` has an id; system properties in it are replaced.
    pub(super) fn apply(self, mut body: Object) -> Resource {
        SYSTEM_PROPERTIES.iter().for_each(|name| drop(body.remove(name)));
        let rid = self.rid.to_string();
        body.insert("_rid", rid.as_str());
        body.insert("_self", self.self_link.as_str());
        body.insert("_etag", self.etag.as_str());
        for (name, link) in self.links {
            body.insert(*name, *link);
        }
        body.insert("_ts", self.ts);
        let id = body.get("id").and_then(Value::as_str).expect("resources are stamped after their id was read");
        Resource {
            id: id.into(),
            rid: rid.into(),
            owner_rid: self.owner_rid.into(),
            self_link: self.self_link.into(),
            etag: self.etag.into(),
            ts: self.ts,
            json: json::to_string(&Value::Object(body)).into(),
        }
    }
}

/// The conditions of a request, as its headers spell them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Precondition<'a> {
    pub if_match: Option<&'a str>,
    pub if_none_match: Option<&'a str>,
}

impl Precondition<'_> {
    pub const NONE: Precondition<'static> = Precondition { if_match: None, if_none_match: None };

    /// Whether a write of a resource with this ETag may go on.
    pub fn allows(&self, etag: &str) -> bool {
        self.if_match.is_none_or(|wanted| matches(wanted, etag))
            && self.if_none_match.is_none_or(|unwanted| !matches(unwanted, etag))
    }

    /// Whether a reader already has this version.
    pub fn not_modified(&self, etag: &str) -> bool {
        self.if_none_match.is_some_and(|known| matches(known, etag))
    }

    pub(super) fn check(&self, kind: ResourceKind, resource: &Resource) -> Result<()> {
        if self.allows(&resource.etag) {
            return Ok(());
        }
        let (name, found) = (resource.id.to_string(), resource.etag.to_string());
        Err(CatalogError::PreconditionFailed { kind, name, found })
    }
}

/// Quotes may be left out.
fn matches(condition: &str, etag: &str) -> bool {
    condition == "*" || condition.trim_matches('"') == etag.trim_matches('"')
}

/// A part of a feed, in creation order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedPage {
    /// RID of what the feed is in; empty for databases and offers.
    pub owner_rid: Arc<str>,
    /// The property of the envelope, e.g. `DocumentCollections`.
    pub name: &'static str,
    pub resources: Vec<Resource>,
    /// Where the next page begins; `None` on the last one.
    pub continuation: Option<String>,
}

impl FeedPage {
    /// The envelope: `{"_rid":…,"Databases":[…],"_count":n}`.
    pub fn to_json(&self) -> Bytes {
        let mut text = Vec::with_capacity(64 + self.resources.iter().map(|one| one.json.len() + 1).sum::<usize>());
        text.extend_from_slice(b"{\"_rid\":");
        json::write_string(&self.owner_rid, &mut text);
        text.extend_from_slice(format!(",\"{}\":[", self.name).as_bytes());
        for (index, resource) in self.resources.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            text.extend_from_slice(&resource.json);
        }
        text.extend_from_slice(format!("],\"_count\":{}}}", self.resources.len()).as_bytes());
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        let condition = |if_match, if_none_match| Precondition { if_match, if_none_match };
        for (precondition, allowed, known) in [
            (Precondition::NONE, true, false),
            (condition(Some("\"a\""), None), true, false),
            (condition(Some("a"), None), true, false),
            (condition(Some("*"), None), true, false),
            (condition(Some("\"b\""), None), false, false),
            (condition(None, Some("\"a\"")), false, true),
            (condition(None, Some("*")), false, true),
            (condition(None, Some("\"b\"")), true, false),
            (condition(Some("a"), Some("a")), false, true),
        ] {
            assert_eq!((precondition.allows("\"a\""), precondition.not_modified("\"a\"")), (allowed, known));
        }
    }

    #[test]
    fn a_property_is_added_to_the_text() {
        let rid = ResourceId::user(1, 2);
        let stamp = Stamp {
            rid: &rid,
            owner_rid: "",
            self_link: "dbs/d/users/u/".to_owned(),
            etag: "\"e\"".to_owned(),
            ts: 5,
            links: &[("_permissions", "permissions/")],
        };
        let body = [("id", "u"), ("_etag", "forged"), ("x", "y")].into_iter().collect();
        let resource = stamp.apply(body);
        let wanted = concat!(
            r#"{"id":"u","x":"y","_rid":"AAAAAQAAAAI=","_self":"dbs/d/users/u/","_etag":"\"e\"","#,
            r#""_permissions":"permissions/","_ts":5,"_token":"t"}"#
        );
        assert_eq!(resource.json_with("_token", "\"t\""), wanted);
    }
}
