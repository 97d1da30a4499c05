//! Lookup resolver (R30): discrete values → collections, with an optional default for all others.
//!
//! Example: `eu → dbs/shop/colls/europe`, `us → dbs/shop/colls/america`, everything else → `dbs/shop/colls/world`.
//!
//! A range of keys visits the collections of the values inside it, and the default as well: unnamed values
//! may lie there too.

use std::collections::BTreeMap;

use tesela_model::json::Value;

use crate::error::{ConfigError, ResolveError};
use crate::extract::KeyExtractor;
use crate::key::{Key, ReadScope};
use crate::limits::MAP_ENTRIES_MAX;
use crate::link::{CollectionLink, extend_distinct};
use crate::resolver::PartitionResolver;

/// Places documents by a table of keys.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupResolver {
    extractor: KeyExtractor,
    entries: BTreeMap<Key, CollectionLink>,
    default: Option<CollectionLink>,
}

impl LookupResolver {
    /// Refuses a key that is named twice, and a map without any collection.
    pub fn new(
        extractor: KeyExtractor,
        entries: impl IntoIterator<Item = (impl Into<Key>, impl Into<CollectionLink>)>,
        default: Option<CollectionLink>,
    ) -> Result<Self, ConfigError> {
        let mut map = BTreeMap::new();
        for (key, link) in entries {
            let key = key.into();
            if map.insert(key.clone(), link.into()).is_some() {
                return Err(ConfigError::DuplicateKey { key });
            }
        }
        if map.len() > MAP_ENTRIES_MAX {
            return Err(ConfigError::TooManyEntries { found: map.len() });
        }
        if map.is_empty() && default.is_none() {
            return Err(ConfigError::NoCollections);
        }
        Ok(Self { extractor, entries: map, default })
    }

    /// How keys are found.
    pub fn extractor(&self) -> &KeyExtractor {
        &self.extractor
    }

    /// The table, in order of keys.
    pub fn entries(&self) -> &BTreeMap<Key, CollectionLink> {
        &self.entries
    }

    /// Where every other key goes.
    pub fn default_link(&self) -> Option<&CollectionLink> {
        self.default.as_ref()
    }

    fn link_of(&self, key: &Key) -> Option<&CollectionLink> {
        self.entries.get(key).or(self.default.as_ref())
    }
}

impl PartitionResolver for LookupResolver {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        self.extractor.extract(document)
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        self.link_of(key).cloned().ok_or_else(|| ResolveError::NoEntry { key: key.clone() })
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        let mut links = Vec::new();
        match scope {
            ReadScope::Key(key) => links.extend(self.link_of(key).cloned()),
            ReadScope::Keys(keys) => {
                extend_distinct(&mut links, keys.iter().filter_map(|key| self.link_of(key)).cloned());
            }
            ReadScope::Range(range) => {
                let named = self.entries.range((range.low(), range.high())).map(|(_, link)| link);
                extend_distinct(&mut links, named.chain(&self.default).cloned());
            }
            ReadScope::All | ReadScope::Within { .. } => {
                extend_distinct(&mut links, self.entries.values().chain(&self.default).cloned());
            }
        }
        Ok(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyRange;

    fn regions(default: Option<&str>) -> LookupResolver {
        let extractor = KeyExtractor::path("/region").unwrap();
        let entries = [("eu", "europe"), ("uk", "europe"), ("us", "america")];
        LookupResolver::new(extractor, entries, default.map(CollectionLink::new)).unwrap()
    }

    fn read(resolver: &LookupResolver, scope: impl Into<ReadScope>) -> Vec<String> {
        let links = resolver.resolve_for_read(&scope.into()).unwrap();
        links.iter().map(CollectionLink::to_string).collect()
    }

    #[test]
    fn r30_values_have_collections_and_the_rest_a_default() {
        let some = regions(Some("world"));
        assert_eq!(read(&some, "uk"), ["europe"]);
        assert_eq!(read(&some, "jp"), ["world"]);
        assert_eq!(read(&some, ReadScope::All), ["europe", "america", "world"]);
        assert_eq!(read(&some, KeyRange::closed("e", "f").unwrap()), ["europe", "world"]);
        let none = regions(None);
        assert_eq!(none.resolve_for_create(&"jp".into()), Err(ResolveError::NoEntry { key: "jp".into() }));
        assert!(read(&none, "jp").is_empty());
        assert_eq!(read(&none, KeyRange::closed("u", "v").unwrap()), ["europe", "america"]);
    }

    #[test]
    fn r30_a_key_has_one_home() {
        let made = LookupResolver::new(KeyExtractor::path("/r").unwrap(), [(1, "a"), (2, "b"), (1, "c")], None);
        assert_eq!(made, Err(ConfigError::DuplicateKey { key: 1.into() }));
    }
}
