//! Which part of a container a feed, query or change feed is about, and which partitions that is (R19).

use crate::catalog::PartitionMap;
use crate::error::RouterError;
use tesela_model::epk::{Epk, EpkRange, prefix_range};
use tesela_model::partition_key::{PartitionKeyDefinition, PartitionKeyValue};
use tesela_partition::read::FeedScope;

/// As the request says it.
#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    /// The whole container.
    Container,
    /// One logical partition.
    Logical(Epk),
    /// A range of the hash space: a feed range of the client, or a prefix of a hierarchical key.
    Range(EpkRange),
    /// One physical partition by its id, or a part of it.
    Partition { id: u32, window: Option<EpkRange> },
}

impl Scope {
    /// The scope of a key value that has all components or, where `prefix` allows it, only the first ones.
    pub fn of_key(value: &PartitionKeyValue, definition: &PartitionKeyDefinition) -> Self {
        let range = prefix_range(value, definition);
        if value.components().len() < definition.paths.len() {
            Self::Range(range)
        } else {
            Self::Logical(range.min().clone())
        }
    }

    /// The range of the hash space to visit. A partition id that is not live is gone (410/1002): the client refreshes its
    /// map and asks the children.
    pub fn range(&self, map: &PartitionMap) -> Result<EpkRange, RouterError> {
        match self {
            Self::Container => Ok(EpkRange::full()),
            Self::Logical(epk) => Ok(point(epk)),
            Self::Range(range) => Ok(range.clone()),
            Self::Partition { id, window } => {
                let partition = map.by_id(*id).ok_or(RouterError::PartitionGone { id: *id })?;
                match window {
                    None => Ok(partition.range.clone()),
                    Some(window) => partition.range.intersection(window).ok_or(RouterError::PartitionGone { id: *id }),
                }
            }
        }
    }

    /// What of one partition a page is about.
    pub fn within(&self, partition: &EpkRange, stop: &EpkRange) -> FeedScope {
        match self {
            Self::Logical(epk) => FeedScope::Logical(epk.clone()),
            _ if stop.covers(partition) => FeedScope::All,
            _ => FeedScope::Range(stop.clone()),
        }
    }
}

/// The smallest range around a point.
pub fn point(epk: &Epk) -> EpkRange {
    let mut next = epk.as_bytes().to_vec();
    next.push(0);
    EpkRange::new(epk.clone(), Epk::from_bytes(next)).expect("a longer key is greater")
}
