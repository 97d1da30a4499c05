//! Resolver of resolvers (R34): an outer one names a group, the group's own resolver names the collection.
//!
//! The outer resolver's "collections" are group names. A document's key is the pair of both keys, so each
//! level extracts as it likes: regions by lookup and users by hash inside a region; document types by lookup
//! on `/type`, each type with a scheme of its own.
//!
//! Reading: a pair goes to one collection; any other key is the outer one and visits its whole group;
//! [`ReadScope::Within`] says an outer key and any scope inside it. When the outer keys are pairs themselves,
//! a bare outer key cannot be told from a full one: use `Within`.

use std::collections::BTreeMap;

use tesela_model::json::Value;

use crate::error::{ConfigError, ResolveError};
use crate::key::{Key, ReadScope};
use crate::link::{CollectionLink, extend_distinct};
use crate::resolver::{PartitionResolver, Resolver};

/// Groups of collections, each with a resolver of its own.
#[derive(Clone, Debug)]
pub struct NestedResolver {
    outer: Resolver,
    groups: BTreeMap<CollectionLink, Resolver>,
}

impl NestedResolver {
    /// Every group the outer resolver names must be there.
    pub fn new(
        outer: Resolver,
        groups: impl IntoIterator<Item = (impl Into<CollectionLink>, Resolver)>,
    ) -> Result<Self, ConfigError> {
        let mut map = BTreeMap::new();
        for (name, resolver) in groups {
            let name = name.into();
            if map.insert(name.clone(), resolver).is_some() {
                return Err(ConfigError::DuplicateName { name: name.to_string() });
            }
        }
        // An outer resolver that refuses for the moment is checked when it answers.
        for group in outer.collections().unwrap_or_default() {
            if !map.contains_key(&group) {
                return Err(ConfigError::GroupWithoutResolver { group });
            }
        }
        Ok(Self { outer, groups: map })
    }

    /// The resolver that names groups.
    pub fn outer(&self) -> &Resolver {
        &self.outer
    }

    /// The groups by name.
    pub fn groups(&self) -> &BTreeMap<CollectionLink, Resolver> {
        &self.groups
    }

    fn group(&self, name: &CollectionLink) -> Result<&Resolver, ResolveError> {
        self.groups.get(name).ok_or_else(|| ResolveError::UnknownGroup { group: name.clone() })
    }

    fn read(&self, outer: &ReadScope, inner: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        let mut links = Vec::new();
        for group in self.outer.resolve_for_read(outer)? {
            extend_distinct(&mut links, self.group(&group)?.resolve_for_read(inner)?);
        }
        Ok(links)
    }

    fn read_key(&self, key: &Key) -> Result<Vec<CollectionLink>, ResolveError> {
        match pair(key) {
            Some((outer, inner)) => self.read(&ReadScope::Key(outer.clone()), &ReadScope::Key(inner.clone())),
            None => self.read(&ReadScope::Key(key.clone()), &ReadScope::All),
        }
    }
}

fn pair(key: &Key) -> Option<(&Key, &Key)> {
    match key {
        Key::Compound(keys) => match keys.as_slice() {
            [outer, inner] => Some((outer, inner)),
            _ => None,
        },
        _ => None,
    }
}

impl PartitionResolver for NestedResolver {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        let outer = self.outer.partition_key(document)?;
        let group = self.outer.resolve_for_create(&outer)?;
        let inner = self.group(&group)?.partition_key(document)?;
        Ok(Key::Compound(vec![outer, inner]))
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        let (outer, inner) = pair(key).ok_or_else(|| ResolveError::NotNested { key: key.clone() })?;
        let group = self.outer.resolve_for_create(outer)?;
        self.group(&group)?.resolve_for_create(inner)
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        match scope {
            ReadScope::Key(key) => self.read_key(key),
            ReadScope::Keys(keys) => {
                let mut links = Vec::new();
                for key in keys {
                    extend_distinct(&mut links, self.read_key(key)?);
                }
                Ok(links)
            }
            ReadScope::Within { outer, inner } => self.read(&ReadScope::Key(outer.clone()), inner),
            // A range of pairs is a range of outer keys with some ends inside: the outer ends alone are known to
            // every outer resolver, and visiting them whole is right, if wide.
            ReadScope::Range(_) | ReadScope::All => self.read(&ReadScope::All, &ReadScope::All),
        }
    }
}

#[cfg(test)]
mod tests {
    use tesela_model::json::parse;

    use super::*;
    use crate::extract::KeyExtractor;
    use crate::resolvers::{HashResolver, LookupResolver};

    fn shop() -> NestedResolver {
        let types = LookupResolver::new(
            KeyExtractor::path("/type").unwrap(),
            [("user", "people"), ("product", "catalogue")],
            None,
        );
        let people = HashResolver::buckets(KeyExtractor::path("/name").unwrap(), ["p1", "p2", "p3"]);
        let catalogue = HashResolver::buckets(KeyExtractor::path("/sku").unwrap(), ["c1", "c2"]);
        NestedResolver::new(
            types.unwrap().into(),
            [("people", people.unwrap().into()), ("catalogue", catalogue.unwrap().into())],
        )
        .unwrap()
    }

    #[test]
    fn r34_each_type_has_a_scheme_of_its_own() {
        let shop = shop();
        let user = parse(br#"{"type":"user","name":"ada"}"#).unwrap();
        let key = shop.partition_key(&user).unwrap();
        assert_eq!(key, ("user", "ada").into());
        let home = shop.resolve_for_create(&key).unwrap();
        assert!(home.as_str().starts_with('p'));
        assert_eq!(shop.resolve_for_read(&key.into()).unwrap(), [home]);
        assert_eq!(shop.resolve_for_read(&"product".into()).unwrap(), ["c1".into(), "c2".into()]);
        let within = ReadScope::Within { outer: "user".into(), inner: Box::new(ReadScope::All) };
        assert_eq!(shop.resolve_for_read(&within).unwrap().len(), 3);
        assert_eq!(shop.resolve_for_read(&ReadScope::All).unwrap().len(), 5);
    }

    #[test]
    fn r34_a_half_key_cannot_create_and_every_group_must_exist() {
        let shop = shop();
        assert_eq!(shop.resolve_for_create(&"user".into()), Err(ResolveError::NotNested { key: "user".into() }));
        let outer = shop.outer().clone();
        let made = NestedResolver::new(outer, Vec::<(CollectionLink, Resolver)>::new());
        assert_eq!(made.unwrap_err(), ConfigError::GroupWithoutResolver { group: "catalogue".into() });
    }
}
