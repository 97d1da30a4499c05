//! Rendezvous, or highest random weight (Thaler and Ravishankar, 1998), weighted by the logarithmic method.
//!
//! Every collection draws a number u in (0, 1) for the point — a hash of both — and the highest score w / −ln u wins.
//! A collection's draws do not depend on the others, so an addition only ever takes, a removal only ever gives,
//! and the share of a collection is exactly its weight's. Costs one draw per collection and lookup.
//!
//! All processes must agree to the bit, and the logarithm of a platform's library may differ in the last one. So
//! the logarithm is computed here with the four exact IEEE operations alone.

use super::Members;
use crate::hash::{Hasher, avalanche_64};

/// Collections that bid for each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendezvous {
    members: Members,
    /// One seed per member, from its link: the order of members plays no part.
    seeds: Vec<u64>,
    equal_weights: bool,
}

impl Rendezvous {
    /// Each member bids with its weight.
    pub fn new(hasher: &Hasher, members: Members) -> Self {
        let seed =
            |link: &crate::link::CollectionLink| avalanche_64(hasher.scaled(hasher.point(link.as_str().as_bytes())));
        let seeds = members.links().map(seed).collect();
        let equal_weights = members.equal_weights();
        Self { members, seeds, equal_weights }
    }

    /// The collections.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Index of the highest bidder for a scaled point.
    pub fn owner(&self, scaled: u64) -> usize {
        let bids = self.seeds.iter().map(|seed| avalanche_64(scaled ^ seed));
        if self.equal_weights {
            // The score grows with the draw, so equal weights need no logarithm.
            return highest(bids);
        }
        highest(bids.zip(self.members.iter()).map(|(bid, member)| score(bid, member.weight)))
    }
}

/// Index of the first of the highest bids.
fn highest<T: PartialOrd>(bids: impl Iterator<Item = T>) -> usize {
    let mut best: Option<(usize, T)> = None;
    for (index, bid) in bids.enumerate() {
        if best.as_ref().is_none_or(|(_, top)| bid > *top) {
            best = Some((index, bid));
        }
    }
    best.expect("members are never empty").0
}

fn score(bid: u64, weight: u32) -> f64 {
    // 53 bits, moved to the middle of their step: never 0, never 1.
    let draw = ((bid >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0);
    f64::from(weight) / -logarithm(draw)
}

/// ln x for a normal x in (0, 1), within 1e-14 relative away from 1, the same on every platform.
///
/// x = m·2^e with m in [√½, √2); ln m = 2·artanh((m − 1)/(m + 1)) by its series, whose argument is below 0.1716:
/// eleven terms leave less than 1e-17.
fn logarithm(x: f64) -> f64 {
    const TERMS: i32 = 11;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let series = (0..TERMS).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * t * series
}

#[cfg(test)]
mod tests {
    use super::super::Member;
    use super::*;

    #[test]
    fn the_logarithm_is_one() {
        let mut seed = 7u64;
        for _ in 0..20_000 {
            seed = avalanche_64(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
            let x = ((seed >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0;
            let (ours, library) = (logarithm(x), x.ln());
            assert!((ours - library).abs() <= 1e-14 * library.abs().max(1e-3), "{x}: {ours} {library}");
        }
    }

    #[test]
    fn equal_weights_bid_as_scores_would() {
        let hasher = Hasher::murmur3_128();
        let members = |weight| Members::new((0..9).map(|n| Member::weighted(format!("c{n}"), weight))).unwrap();
        let plain = Rendezvous::new(&hasher, members(1));
        let mut scored = Rendezvous::new(&hasher, members(1));
        scored.equal_weights = false;
        for n in 0..5_000u64 {
            let point = avalanche_64(n);
            assert_eq!(plain.owner(point), scored.owner(point));
        }
    }

    #[test]
    fn shares_follow_the_weights() {
        let members = Members::new([Member::weighted("a", 1), Member::weighted("b", 3)]).unwrap();
        let placed = Rendezvous::new(&Hasher::murmur3_128(), members);
        let heavy = (0..100_000u64).filter(|&n| placed.owner(avalanche_64(n)) == 1).count();
        // 75,000 expected, deviation √(n·p·q) ≈ 137: five of them.
        assert!((74_315..=75_685).contains(&heavy), "{heavy}");
    }
}
