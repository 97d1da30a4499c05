//! The name of a collection: what a resolver answers with.
//!
//! A link is the text a map stores and a ring hashes, so it must outlive hosts. The usual form is
//! `dbs/{database}/colls/{collection}`; on several endpoints an alias goes before it, `@west/dbs/shop/colls/users`,
//! and the client alone knows which URL `west` is today. Self links of old accounts and any other text
//! work too: nothing here asks what a link means.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// A collection's link. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionLink(Arc<str>);

impl CollectionLink {
    /// A link of any form.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(Arc::from(text.as_ref()))
    }

    /// `dbs/{database}/colls/{collection}`.
    pub fn in_database(database: &str, collection: &str) -> Self {
        Self::new(format!("dbs/{database}/colls/{collection}"))
    }

    /// The same collection name on the endpoint known by `alias`.
    pub fn at(&self, alias: &str) -> Self {
        Self::new(format!("@{alias}/{}", self.path()))
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The endpoint's alias, when the link has one.
    pub fn endpoint(&self) -> Option<&str> {
        self.0.strip_prefix('@').and_then(|rest| rest.split_once('/')).map(|(alias, _)| alias)
    }

    /// The link without the endpoint's alias.
    pub fn path(&self) -> &str {
        self.0.strip_prefix('@').and_then(|rest| rest.split_once('/')).map_or(&*self.0, |(_, path)| path)
    }
}

impl fmt::Display for CollectionLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for CollectionLink {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for CollectionLink {
    fn from(text: String) -> Self {
        Self(Arc::from(text))
    }
}

impl Borrow<str> for CollectionLink {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Appends the links not yet in `into`, in order: read sets name a collection once.
pub(crate) fn extend_distinct(into: &mut Vec<CollectionLink>, links: impl IntoIterator<Item = CollectionLink>) {
    // Fan-out sets can hold thousands of links: a set beside the vector keeps this linear.
    let mut seen: std::collections::HashSet<CollectionLink> = into.iter().cloned().collect();
    into.extend(links.into_iter().filter(|link| seen.insert(link.clone())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_apart_from_the_path() {
        let plain = CollectionLink::in_database("shop", "users");
        assert_eq!((plain.endpoint(), plain.path()), (None, "dbs/shop/colls/users"));
        let west = plain.at("west");
        assert_eq!((west.endpoint(), west.path()), (Some("west"), "dbs/shop/colls/users"));
        assert_eq!(west.at("east").as_str(), "@east/dbs/shop/colls/users");
        let odd = CollectionLink::new("@nothing-behind-it");
        assert_eq!((odd.endpoint(), odd.path()), (None, "@nothing-behind-it"));
    }

    #[test]
    fn distinct_keeps_the_first_of_each() {
        let mut links = vec![CollectionLink::new("b")];
        extend_distinct(&mut links, ["a", "b", "a", "c"].map(CollectionLink::new));
        assert_eq!(links.iter().map(CollectionLink::as_str).collect::<Vec<_>>(), ["b", "a", "c"]);
    }
}
