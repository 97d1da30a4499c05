//! Fallback chain (R34): the first resolver that knows a key owns it.
//!
//! A key is *known* to a resolver that can place it; one that answers "not in my map" passes it on. A read by
//! key asks the same question in the same order, so it visits exactly the resolver the create used. Ranges
//! and "all" visit every link of the chain.
//!
//! Example: large tenants by lookup, all others by hash.
//!
//! A resolver in transition that refuses is not skipped: passing the key on would create the document where no reader
//! looks once the transition ends.

use tesela_model::json::Value;

use crate::error::{ConfigError, Remedy, ResolveError};
use crate::key::{Key, ReadScope};
use crate::link::{CollectionLink, extend_distinct};
use crate::resolver::{PartitionResolver, Resolver};

/// Resolvers asked in order.
#[derive(Clone, Debug)]
pub struct FallbackResolver {
    chain: Vec<Resolver>,
}

impl FallbackResolver {
    /// At least one resolver.
    pub fn new(chain: Vec<Resolver>) -> Result<Self, ConfigError> {
        if chain.is_empty() { Err(ConfigError::EmptyChain) } else { Ok(Self { chain }) }
    }

    /// The resolvers, in the order they are asked.
    pub fn chain(&self) -> &[Resolver] {
        &self.chain
    }

    /// The first answer that is not "not mine"; else the last refusal.
    fn first<T>(&self, ask: impl Fn(&Resolver) -> Result<T, ResolveError>) -> Result<T, ResolveError> {
        let (last, before) = self.chain.split_last().expect("a chain has at least one resolver");
        for resolver in before {
            match ask(resolver) {
                Err(refusal) if refusal.remedy() != Remedy::Retry => {}
                answer => return answer,
            }
        }
        ask(last)
    }

    fn read_key(&self, key: &Key) -> Result<Vec<CollectionLink>, ResolveError> {
        let scope = ReadScope::Key(key.clone());
        self.first(|resolver| resolver.resolve_for_create(key).and_then(|_| resolver.resolve_for_read(&scope)))
    }

    fn read_everywhere(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        let mut links = Vec::new();
        for resolver in &self.chain {
            match resolver.resolve_for_read(scope) {
                Ok(found) => extend_distinct(&mut links, found),
                // A scope this one cannot compare (text against times) holds none of its keys.
                Err(refusal) if refusal.remedy() != Remedy::Retry => {}
                Err(retry) => return Err(retry),
            }
        }
        Ok(links)
    }
}

impl PartitionResolver for FallbackResolver {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        self.first(|resolver| resolver.partition_key(document))
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        self.first(|resolver| resolver.resolve_for_create(key))
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        match scope {
            ReadScope::Key(key) => match self.read_key(key) {
                // Nobody could have created it, so there is nowhere to look.
                Err(refusal) if refusal.remedy() == Remedy::ExtendMap => Ok(Vec::new()),
                answer => answer,
            },
            ReadScope::Keys(keys) => {
                let mut links = Vec::new();
                for key in keys {
                    extend_distinct(&mut links, self.resolve_for_read(&ReadScope::Key(key.clone()))?);
                }
                Ok(links)
            }
            ReadScope::All | ReadScope::Range(_) | ReadScope::Within { .. } => self.read_everywhere(scope),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::KeyExtractor;
    use crate::resolvers::{HashResolver, LookupResolver, TransitionMode, TransitionResolver};

    fn tenant() -> KeyExtractor {
        KeyExtractor::path("/tenant").unwrap()
    }

    fn large_tenants() -> Resolver {
        LookupResolver::new(tenant(), [("contoso", "big-1"), ("fabrikam", "big-2")], None).unwrap().into()
    }

    fn all_others() -> Resolver {
        HashResolver::buckets(tenant(), ["small-1", "small-2"]).unwrap().into()
    }

    #[test]
    fn r34_large_tenants_by_lookup_the_rest_by_hash() {
        let chain = FallbackResolver::new(vec![large_tenants(), all_others()]).unwrap();
        assert_eq!(chain.resolve_for_read(&"contoso".into()).unwrap(), ["big-1".into()]);
        let small = chain.resolve_for_create(&"corner shop".into()).unwrap();
        assert!(small.as_str().starts_with("small-"));
        assert_eq!(chain.resolve_for_read(&"corner shop".into()).unwrap(), [small]);
        assert_eq!(chain.resolve_for_read(&ReadScope::All).unwrap().len(), 4);
    }

    #[test]
    fn r34_a_chain_without_an_answer_says_so() {
        let chain = FallbackResolver::new(vec![large_tenants()]).unwrap();
        assert_eq!(chain.resolve_for_create(&"x".into()), Err(ResolveError::NoEntry { key: "x".into() }));
        assert_eq!(chain.resolve_for_read(&"x".into()), Ok(Vec::new()));
        assert_eq!(FallbackResolver::new(Vec::new()).unwrap_err(), ConfigError::EmptyChain);
    }

    #[test]
    fn r34_a_refusing_transition_is_not_skipped() {
        let moving = TransitionResolver::new(large_tenants(), all_others(), TransitionMode::None);
        let chain = FallbackResolver::new(vec![moving.into(), all_others()]).unwrap();
        assert_eq!(chain.resolve_for_create(&"contoso".into()), Err(ResolveError::InTransition));
        assert_eq!(chain.resolve_for_read(&ReadScope::All), Err(ResolveError::InTransition));
    }
}
