//! Jump consistent hash (Lamping and Veach, 2014): no table at all.
//!
//! A key follows the history of the database as a coin would: when the n-th collection came, it jumped there with
//! probability 1/n. The algorithm leaps from jump to jump, about ln N of them. Even and minimal in expectation, but
//! collections are numbers: only the last can leave, and weights cannot be had.

use super::Members;
use crate::error::ConfigError;
use crate::link::CollectionLink;

/// Multiplier of the generator the paper prescribes; it is part of the placement.
const STEP_FACTOR: u64 = 2_862_933_555_777_941_757;

/// Collections numbered in the order they were added.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    members: Members,
}

impl Jump {
    /// Refuses weights: a jump has no way to prefer one.
    pub fn new(members: Members) -> Result<Self, ConfigError> {
        match members.iter().find(|member| member.weight != 1) {
            Some(member) => Err(ConfigError::JumpWeight { link: member.link.clone() }),
            None => Ok(Self { members }),
        }
    }

    /// The collections.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Number of the collection of a scaled point.
    pub fn owner(&self, scaled: u64) -> usize {
        jump(scaled, self.members.len() as u64)
    }

    pub(super) fn with_removed(&self, link: &CollectionLink) -> Result<Self, ConfigError> {
        match self.members.position(link) {
            Some(at) if at + 1 < self.members.len() => Err(ConfigError::JumpRemovesLast { link: link.clone() }),
            _ => Self::new(self.members.with_removed(link)?),
        }
    }
}

fn jump(mut seed: u64, collections: u64) -> usize {
    let mut landed = 0u64;
    let mut next = 0u64;
    while next < collections {
        landed = next;
        seed = seed.wrapping_mul(STEP_FACTOR).wrapping_add(1);
        // IEEE division and multiplication are exact to the bit on every platform.
        let stride = (1u64 << 31) as f64 / ((seed >> 33) + 1) as f64;
        next = ((landed + 1) as f64 * stride) as u64;
    }
    landed as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_numbers() {
        // Known answers of the reference function.
        assert_eq!(jump(1, 1), 0);
        assert_eq!(jump(42, 57), 43);
        assert_eq!(jump(0xDEAD_10CC, 1), 0);
        assert_eq!(jump(0xDEAD_10CC, 666), 361);
        assert_eq!(jump(256, 1024), 520);
    }

    #[test]
    fn only_the_last_can_leave() {
        let three = Jump::new(Members::new(["a", "b", "c"]).unwrap()).unwrap();
        for link in ["a", "b"].map(CollectionLink::new) {
            assert_eq!(three.with_removed(&link), Err(ConfigError::JumpRemovesLast { link }));
        }
        assert_eq!(three.with_removed(&"c".into()).unwrap().members().len(), 2);
        assert_eq!(three.with_removed(&"x".into()), Err(ConfigError::UnknownCollection { link: "x".into() }));
    }
}
