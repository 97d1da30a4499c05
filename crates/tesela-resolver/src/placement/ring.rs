//! The consistent-hash ring of the DocumentDB libraries (R28).
//!
//! A collection puts virtual nodes on the circle. The first is the point of its link's UTF-8 bytes, each further
//! one the point of its predecessor's digest: a chain, so that a link determines all its nodes. A point belongs to the
//! nearest node *at or before* it; points before the first node belong to the last one.
//!
//! Two details are kept because the legacy Python library has them and data already lies by them: digests compare
//! from their last byte (see [`crate::hash`]), and of two nodes on one point the later-named collection wins.
//!
//! With V virtual nodes the share of a collection has a relative deviation of about 1/√V; 16 (the documented default)
//! leaves ±25 %, 128 about ±9 %.

use super::{Members, Stretch, coalesced};
use crate::error::ConfigError;
use crate::hash::Hasher;
use crate::limits::RING_POINTS_MAX;

/// A ring of virtual nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ring {
    members: Members,
    virtual_nodes: u32,
    /// Ascending; beside it the owners, apart so that a search touches points only.
    points: Vec<u128>,
    owners: Vec<u32>,
}

impl Ring {
    /// A ring with `virtual_nodes` nodes for each unit of weight.
    pub fn new(hasher: &Hasher, members: Members, virtual_nodes: u32) -> Result<Self, ConfigError> {
        let wanted = u64::from(virtual_nodes) * members.total_weight();
        if virtual_nodes == 0 || wanted > RING_POINTS_MAX as u64 {
            return Err(ConfigError::VirtualNodes { found: virtual_nodes, points: wanted });
        }
        let mut nodes: Vec<(u128, u32)> = Vec::with_capacity(wanted as usize);
        for (owner, member) in members.iter().enumerate() {
            let mut point = hasher.point(member.link.as_str().as_bytes());
            for _ in 0..virtual_nodes * member.weight {
                nodes.push((point, owner as u32));
                point = hasher.point_of_point(point);
            }
        }
        // Stable and by point alone: equal points stay in the order of their members.
        nodes.sort_by_key(|(point, _)| *point);
        let (points, owners) = nodes.into_iter().unzip();
        Ok(Self { members, virtual_nodes, points, owners })
    }

    /// The collections on the ring.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Nodes for each unit of weight.
    pub fn virtual_nodes(&self) -> u32 {
        self.virtual_nodes
    }

    /// Index of the collection whose node is at or before `point`.
    pub fn owner(&self, point: u128) -> usize {
        let after = self.points.partition_point(|node| *node <= point);
        let node = after.checked_sub(1).unwrap_or(self.points.len() - 1);
        self.owners[node] as usize
    }

    /// The ring cut open at point 0.
    pub(super) fn stretches(&self) -> Vec<Stretch> {
        let wrapped = Stretch { start: 0, owner: self.owner(0) };
        let nodes = self.points.iter().zip(&self.owners);
        coalesced([wrapped].into_iter().chain(nodes.map(|(&start, &owner)| Stretch { start, owner: owner as usize })))
    }

    /// The ring's nodes in order: point and index of the owner.
    pub(super) fn nodes(&self) -> impl ExactSizeIterator<Item = (u128, usize)> {
        self.points.iter().zip(&self.owners).map(|(&point, &owner)| (point, owner as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(names: &[&str], virtual_nodes: u32) -> Ring {
        Ring::new(&Hasher::murmur3_32(), Members::new(names.iter().copied()).unwrap(), virtual_nodes).unwrap()
    }

    #[test]
    fn r28_nodes_are_a_chain_of_digests() {
        let hasher = Hasher::murmur3_32();
        let mut expected = Vec::new();
        let mut digest = b"dbs/db/colls/c".to_vec();
        for _ in 0..5 {
            let point = hasher.point(&digest);
            expected.push(point);
            digest = (point as u32).to_le_bytes().to_vec();
        }
        expected.sort_unstable();
        assert_eq!(ring(&["dbs/db/colls/c"], 5).points, expected);
    }

    #[test]
    fn r28_a_point_belongs_to_the_node_at_or_before_it() {
        let ring = ring(&["a", "b", "c"], 4);
        let nodes: Vec<(u128, usize)> = ring.nodes().collect();
        let last = nodes[nodes.len() - 1].1;
        assert_eq!(ring.owner(0), last, "before the first node the circle closes");
        assert_eq!(ring.owner(u128::from(u32::MAX)), last);
        for pair in nodes.windows(2) {
            assert_eq!(ring.owner(pair[0].0), pair[0].1);
            assert_eq!(ring.owner(pair[1].0 - 1), pair[0].1);
        }
    }

    #[test]
    fn a_weight_multiplies_the_nodes() {
        let members = Members::new([super::super::Member::weighted("a", 3), "b".into()]).unwrap();
        let ring = Ring::new(&Hasher::md5(), members, 16).unwrap();
        assert_eq!(ring.nodes().filter(|(_, owner)| *owner == 0).count(), 48);
        assert_eq!(ring.nodes().filter(|(_, owner)| *owner == 1).count(), 16);
    }

    #[test]
    fn a_ring_needs_nodes_and_has_a_limit() {
        let make = |nodes| Ring::new(&Hasher::md5(), Members::new(["a"]).unwrap(), nodes);
        assert_eq!(make(0), Err(ConfigError::VirtualNodes { found: 0, points: 0 }));
        assert!(matches!(make(u32::MAX), Err(ConfigError::VirtualNodes { .. })));
    }
}
