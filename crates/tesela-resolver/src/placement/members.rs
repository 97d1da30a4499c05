//! The collections of a placement.

use std::collections::HashSet;

use crate::error::ConfigError;
use crate::limits::{COLLECTIONS_MAX, WEIGHT_MAX};
use crate::link::CollectionLink;

/// A collection and its share relative to the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Where documents go.
    pub link: CollectionLink,
    /// 1 unless some collections can take more than others.
    pub weight: u32,
}

impl Member {
    /// A collection of weight 1.
    pub fn new(link: impl Into<CollectionLink>) -> Self {
        Self { link: link.into(), weight: 1 }
    }

    /// A collection that takes `weight` times the share of one of weight 1.
    pub fn weighted(link: impl Into<CollectionLink>, weight: u32) -> Self {
        Self { link: link.into(), weight }
    }
}

impl<L: Into<CollectionLink>> From<L> for Member {
    fn from(link: L) -> Self {
        Self::new(link)
    }
}

/// Distinct collections, at least one, in the order they were named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members(Vec<Member>);

impl Members {
    /// Checks that links are distinct and weights usable.
    pub fn new(members: impl IntoIterator<Item = impl Into<Member>>) -> Result<Self, ConfigError> {
        let members: Vec<Member> = members.into_iter().map(Into::into).collect();
        if members.is_empty() {
            return Err(ConfigError::NoCollections);
        }
        if members.len() > COLLECTIONS_MAX {
            return Err(ConfigError::TooManyCollections { found: members.len() });
        }
        let mut seen = HashSet::with_capacity(members.len());
        for member in &members {
            if !(1..=WEIGHT_MAX).contains(&member.weight) {
                return Err(ConfigError::Weight { link: member.link.clone(), found: member.weight });
            }
            if !seen.insert(&member.link) {
                return Err(ConfigError::DuplicateCollection { link: member.link.clone() });
            }
        }
        Ok(Self(members))
    }

    /// The collections as a slice.
    pub fn as_slice(&self) -> &[Member] {
        &self.0
    }

    /// The collections in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Member> {
        self.0.iter()
    }

    /// How many there are; never 0.
    #[expect(clippy::len_without_is_empty, reason = "members are never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The link of the collection at `index`, which a placement of these members gave.
    #[inline]
    pub fn link(&self, index: usize) -> &CollectionLink {
        &self.0[index].link
    }

    /// All links, in order.
    pub fn links(&self) -> impl ExactSizeIterator<Item = &CollectionLink> {
        self.0.iter().map(|member| &member.link)
    }

    /// Where `link` stands.
    pub fn position(&self, link: &CollectionLink) -> Option<usize> {
        self.0.iter().position(|member| &member.link == link)
    }

    /// Sum of the weights.
    pub fn total_weight(&self) -> u64 {
        self.0.iter().map(|member| u64::from(member.weight)).sum()
    }

    /// Whether all take the same share.
    pub fn equal_weights(&self) -> bool {
        self.0.iter().all(|member| member.weight == self.0[0].weight)
    }

    pub(super) fn with_added(&self, member: Member) -> Result<Self, ConfigError> {
        Self::new(self.0.iter().cloned().chain([member]))
    }

    pub(super) fn with_removed(&self, link: &CollectionLink) -> Result<Self, ConfigError> {
        if self.position(link).is_none() {
            return Err(ConfigError::UnknownCollection { link: link.clone() });
        }
        Self::new(self.0.iter().filter(|member| &member.link != link).cloned())
    }

    /// `total` things shared out by weight: whole numbers that add up to `total`, each within one of
    /// the exact share (largest remainder; ties go to the earlier member).
    pub(super) fn quotas(&self, total: u32) -> Vec<u32> {
        let weights = self.total_weight();
        let share = |member: &Member| u64::from(total) * u64::from(member.weight);
        let mut quotas: Vec<u32> = self.0.iter().map(|member| (share(member) / weights) as u32).collect();
        let left = total - quotas.iter().sum::<u32>();
        let mut by_remainder: Vec<usize> = (0..self.0.len()).collect();
        by_remainder.sort_by_key(|&index| std::cmp::Reverse(share(&self.0[index]) % weights));
        for &index in by_remainder.iter().take(left as usize) {
            quotas[index] += 1;
        }
        quotas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_must_be_distinct_and_weighed() {
        assert_eq!(Members::new(Vec::<Member>::new()), Err(ConfigError::NoCollections));
        let twice = Members::new(["a", "b", "a"]);
        assert_eq!(twice, Err(ConfigError::DuplicateCollection { link: "a".into() }));
        let weightless = Members::new([Member::weighted("a", 0)]);
        assert_eq!(weightless, Err(ConfigError::Weight { link: "a".into(), found: 0 }));
    }

    #[test]
    fn quotas_add_up_and_follow_the_weights() {
        let members =
            Members::new([Member::weighted("a", 1), Member::weighted("b", 2), Member::weighted("c", 4)]).unwrap();
        assert_eq!(members.quotas(7), [1, 2, 4]);
        assert_eq!(members.quotas(16), [2, 5, 9]);
        assert_eq!(members.quotas(16).iter().sum::<u32>(), 16);
        assert_eq!(members.quotas(0), [0, 0, 0]);
    }
}
