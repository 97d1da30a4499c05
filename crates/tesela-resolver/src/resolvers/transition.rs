//! Transition resolver (R33): two schemes while data moves from one to the other.
//!
//! | mode | creates go to | reads visit |
//! |---|---|---|
//! | [`TransitionMode::ReadCurrent`] | current | current |
//! | [`TransitionMode::ReadBoth`] | next | next, then current |
//! | [`TransitionMode::ReadNext`] | next | next |
//! | [`TransitionMode::None`] | refused, retry later | refused, retry later |
//!
//! Creates follow the mode, so that what was written is read in the same mode. A move runs down the table: it
//! may go from `ReadCurrent` to `ReadBoth` at any time, and from `ReadBoth` to `ReadNext` once everything has
//! arrived. A process that still has the older mode of two neighbours misses what the newer one wrote; the
//! manager waits until all have followed, or passes through `None`.
//!
//! In `ReadBoth` a document can be in two collections for a moment, copied and not yet deleted. Links are
//! merged here; documents are merged by whoever reads them, with a [`DuplicateFilter`]: next comes first, so
//! the copy that writers change wins.

use std::collections::HashSet;

use tesela_model::json::Value;

use crate::error::{Remedy, ResolveError};
use crate::key::{Key, ReadScope};
use crate::link::{CollectionLink, extend_distinct};
use crate::resolver::{PartitionResolver, Resolver};

/// Which scheme holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionMode {
    /// The old scheme alone.
    ReadCurrent,
    /// The new scheme alone.
    ReadNext,
    /// Both, merged.
    ReadBoth,
    /// Neither: a retryable error.
    None,
}

/// Two schemes and the mode between them.
#[derive(Clone, Debug)]
pub struct TransitionResolver {
    current: Resolver,
    next: Resolver,
    mode: TransitionMode,
}

impl TransitionResolver {
    /// From `current` to `next`.
    pub fn new(current: Resolver, next: Resolver, mode: TransitionMode) -> Self {
        Self { current, next, mode }
    }

    /// The same schemes in another mode.
    pub fn with_mode(&self, mode: TransitionMode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// The scheme that is being left.
    pub fn current(&self) -> &Resolver {
        &self.current
    }

    /// The scheme that is coming.
    pub fn next(&self) -> &Resolver {
        &self.next
    }

    /// Which of them holds.
    pub fn mode(&self) -> TransitionMode {
        self.mode
    }

    fn writer(&self) -> Result<&Resolver, ResolveError> {
        match self.mode {
            TransitionMode::ReadCurrent => Ok(&self.current),
            TransitionMode::ReadNext | TransitionMode::ReadBoth => Ok(&self.next),
            TransitionMode::None => Err(ResolveError::InTransition),
        }
    }

    fn read_both(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        // A key of the next scheme says nothing to a current scheme that finds keys in another way.
        let same_keys = self.current.extractor().is_some() && self.current.extractor() == self.next.extractor();
        let in_current = if same_keys { scope } else { &ReadScope::All };
        match (self.next.resolve_for_read(scope), self.current.resolve_for_read(in_current)) {
            (Ok(mut links), Ok(more)) => {
                extend_distinct(&mut links, more);
                Ok(links)
            }
            // A scheme that cannot compare the key (text against times) holds no document of it.
            (Ok(links), Err(refusal)) | (Err(refusal), Ok(links)) if refusal.remedy() != Remedy::Retry => Ok(links),
            (Err(refusal), _) | (_, Err(refusal)) => Err(refusal),
        }
    }
}

impl PartitionResolver for TransitionResolver {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        self.writer()?.partition_key(document)
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        self.writer()?.resolve_for_create(key)
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        match self.mode {
            TransitionMode::ReadCurrent => self.current.resolve_for_read(scope),
            TransitionMode::ReadNext => self.next.resolve_for_read(scope),
            TransitionMode::ReadBoth => self.read_both(scope),
            TransitionMode::None => Err(ResolveError::InTransition),
        }
    }
}

/// Lets each document through once. Feed it the collections in the order of the read set.
#[derive(Debug, Default)]
pub struct DuplicateFilter {
    seen: HashSet<(Key, String)>,
}

impl DuplicateFilter {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether this is the first document of this key and id.
    pub fn admit(&mut self, key: Key, id: &str) -> bool {
        self.seen.insert((key, id.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SpillPolicy;
    use crate::extract::KeyExtractor;
    use crate::resolvers::{HashResolver, LookupResolver};

    fn hash(links: &[&str]) -> HashResolver {
        HashResolver::buckets(KeyExtractor::path("/id").unwrap(), links.iter().copied()).unwrap()
    }

    fn growing(mode: TransitionMode) -> (HashResolver, HashResolver, TransitionResolver) {
        let current = hash(&["a", "b"]);
        let next = current.with_added("c").unwrap();
        let moving = TransitionResolver::new(current.clone().into(), next.clone().into(), mode);
        (current, next, moving)
    }

    #[test]
    fn r33_each_mode_reads_and_writes_as_told() {
        for n in 0..200 {
            let key = Key::from(n);
            let scope = ReadScope::Key(key.clone());
            let (current, next, moving) = growing(TransitionMode::ReadCurrent);
            let (old, new) = (current.resolve_for_create(&key).unwrap(), next.resolve_for_create(&key).unwrap());
            assert_eq!(moving.resolve_for_create(&key).unwrap(), old);
            assert_eq!(moving.resolve_for_read(&scope).unwrap(), std::slice::from_ref(&old));
            let moving = moving.with_mode(TransitionMode::ReadNext);
            assert_eq!(moving.resolve_for_create(&key).unwrap(), new);
            assert_eq!(moving.resolve_for_read(&scope).unwrap(), std::slice::from_ref(&new));
            let moving = moving.with_mode(TransitionMode::ReadBoth);
            assert_eq!(moving.resolve_for_create(&key).unwrap(), new);
            let mut both = vec![new.clone()];
            extend_distinct(&mut both, [old]);
            assert_eq!(moving.resolve_for_read(&scope).unwrap(), both, "no duplicates, next first");
        }
        let (_, _, moving) = growing(TransitionMode::ReadBoth);
        assert_eq!(moving.resolve_for_read(&ReadScope::All).unwrap().len(), 3);
    }

    #[test]
    fn r33_none_is_a_retryable_refusal() {
        let (_, _, moving) = growing(TransitionMode::None);
        let refused = moving.resolve_for_create(&"x".into()).unwrap_err();
        assert_eq!((refused.clone(), refused.remedy()), (ResolveError::InTransition, Remedy::Retry));
        assert_eq!(moving.resolve_for_read(&ReadScope::All), Err(ResolveError::InTransition));
    }

    #[test]
    fn r33_a_current_scheme_with_other_keys_is_read_whole() {
        let other = LookupResolver::new(KeyExtractor::path("/region").unwrap(), [("eu", "x"), ("us", "y")], None);
        let moving = TransitionResolver::new(other.unwrap().into(), hash(&["a", "b"]).into(), TransitionMode::ReadBoth);
        assert_eq!(moving.resolve_for_read(&"ada".into()).unwrap().len(), 3);
        let policy = SpillPolicy::new(1_000, 90).unwrap();
        let spilled = crate::SpilloverResolver::new(crate::CollectionTemplate::new("log-{n}").unwrap(), policy);
        let moving = TransitionResolver::new(spilled.into(), hash(&["a", "b"]).into(), TransitionMode::ReadBoth);
        assert_eq!(moving.resolve_for_read(&"ada".into()).unwrap().len(), 2);
    }

    #[test]
    fn r33_documents_pass_once() {
        let mut filter = DuplicateFilter::new();
        assert!(filter.admit("ada".into(), "1"));
        assert!(!filter.admit("ada".into(), "1"));
        assert!(filter.admit("ada".into(), "2") && filter.admit("bob".into(), "1"));
    }
}
