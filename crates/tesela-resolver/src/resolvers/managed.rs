//! Managed resolver (R31): a hash resolver whose collections are made from a template.
//!
//! The resolver knows the names of its collections by number, says which must be made, and grows by number.
//! It never routes to a collection it was not told is there: [`ManagedResolver::provision`] makes what is
//! missing before first use, and growth gives the plan of the newcomer beside the next resolver, to be made
//! before the documents move.

use tesela_model::json::Value;

use super::template::{CollectionFactory, CollectionPlan, CollectionTemplate, Ensured, ProviderError};
use super::{HashResolver, Scheme};
use crate::error::{ConfigError, ResolveError};
use crate::extract::KeyExtractor;
use crate::hash::Hasher;
use crate::key::{Key, ReadScope};
use crate::limits::COLLECTIONS_MAX;
use crate::link::CollectionLink;
use crate::placement::Member;
use crate::resolver::PartitionResolver;

/// A hash resolver and the template of its collections.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagedResolver {
    template: CollectionTemplate,
    inner: HashResolver,
}

impl ManagedResolver {
    /// The first `count` collections of a template, under any hash scheme.
    pub fn new(
        template: CollectionTemplate,
        count: usize,
        extractor: KeyExtractor,
        hasher: Hasher,
        scheme: Scheme,
    ) -> Result<Self, ConfigError> {
        if count > COLLECTIONS_MAX {
            return Err(ConfigError::TooManyCollections { found: count });
        }
        let links = (template.first..).take(count).map(|number| template.naming.link(number));
        let inner = HashResolver::new(extractor, hasher, scheme, links)?;
        Ok(Self { template, inner })
    }

    /// A template and a hash resolver whose collections it names.
    pub fn from_parts(template: CollectionTemplate, inner: HashResolver) -> Result<Self, ConfigError> {
        let stranger = inner.members().links().find(|link| template.naming.number(link).is_none()).cloned();
        match stranger {
            Some(link) => Err(ConfigError::UnknownCollection { link }),
            None => Ok(Self { template, inner }),
        }
    }

    /// What new collections look like.
    pub fn template(&self) -> &CollectionTemplate {
        &self.template
    }

    /// The scheme.
    pub fn inner(&self) -> &HashResolver {
        &self.inner
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        let number = |link| self.template.naming.number(link).expect("every member is named by the template");
        self.inner.members().links().map(number)
    }

    /// What every collection of the map must look like.
    pub fn plans(&self) -> Vec<CollectionPlan> {
        self.numbers().map(|number| self.template.plan(number)).collect()
    }

    /// Makes every collection that is not there yet; tells how many were made. Stops at the first failure, and may be
    /// called again.
    pub async fn provision(&self, factory: &dyn CollectionFactory) -> Result<usize, ProviderError> {
        let mut created = 0;
        for plan in self.plans() {
            created += usize::from(factory.ensure(&plan).await? == Ensured::Created);
        }
        Ok(created)
    }

    /// The resolver with the next collection of the template, and what must be made for it.
    ///
    /// Numbers are never used twice: the next one follows the highest there is.
    pub fn with_next(&self, weight: u32) -> Result<(Self, CollectionPlan), ConfigError> {
        let number = self.numbers().max().map_or(self.template.first, |highest| highest + 1);
        let plan = self.template.plan(number);
        let inner = self.inner.with_added(Member::weighted(plan.link.clone(), weight))?;
        Ok((Self { template: self.template.clone(), inner }, plan))
    }

    /// The resolver without one collection.
    pub fn with_removed(&self, link: &CollectionLink) -> Result<Self, ConfigError> {
        Ok(Self { template: self.template.clone(), inner: self.inner.with_removed(link)? })
    }
}

impl PartitionResolver for ManagedResolver {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        self.inner.partition_key(document)
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        self.inner.resolve_for_create(key)
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        self.inner.resolve_for_read(scope)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use super::super::template::BoxFuture;
    use super::*;
    use crate::testing::block_on;

    #[derive(Default)]
    struct Database {
        collections: Mutex<BTreeSet<String>>,
        refuses: Option<&'static str>,
    }

    impl CollectionFactory for Database {
        fn ensure<'a>(&'a self, plan: &'a CollectionPlan) -> BoxFuture<'a, Result<Ensured, ProviderError>> {
            Box::pin(async move {
                if self.refuses.is_some_and(|name| plan.link.as_str() == name) {
                    return Err("no room".into());
                }
                let made = self.collections.lock().unwrap().insert(plan.link.to_string());
                Ok(if made { Ensured::Created } else { Ensured::Existed })
            })
        }
    }

    fn users(count: usize) -> ManagedResolver {
        let template = CollectionTemplate::new("users-{n:02}").unwrap();
        let extractor = KeyExtractor::path("/id").unwrap();
        ManagedResolver::new(template, count, extractor, Hasher::murmur3_128(), Scheme::BUCKETS).unwrap()
    }

    #[test]
    fn r31_collections_are_made_once() {
        let database = Database::default();
        assert_eq!(block_on(users(3).provision(&database)).unwrap(), 3);
        assert_eq!(block_on(users(3).provision(&database)).unwrap(), 0);
        assert_eq!(
            *database.collections.lock().unwrap(),
            ["users-00", "users-01", "users-02"].map(String::from).into()
        );
    }

    #[test]
    fn r31_a_failed_provision_can_be_resumed() {
        let database = Database { refuses: Some("users-01"), ..Database::default() };
        assert_eq!(block_on(users(3).provision(&database)).unwrap_err().to_string(), "no room");
        let database = Database { collections: database.collections, refuses: None };
        assert_eq!(block_on(users(3).provision(&database)).unwrap(), 2);
    }

    #[test]
    fn r31_growth_takes_the_next_number_and_never_one_twice() {
        let (four, plan) = users(3).with_next(1).unwrap();
        assert_eq!(plan.link.as_str(), "users-03");
        let without = four.with_removed(&"users-01".into()).unwrap();
        assert_eq!(without.with_next(1).unwrap().1.link.as_str(), "users-04");
    }

    #[test]
    fn r31_strangers_cannot_be_managed() {
        let inner = HashResolver::buckets(KeyExtractor::path("/id").unwrap(), ["carts"]).unwrap();
        let made = ManagedResolver::from_parts(CollectionTemplate::new("users-{n}").unwrap(), inner);
        assert_eq!(made, Err(ConfigError::UnknownCollection { link: "carts".into() }));
    }
}
