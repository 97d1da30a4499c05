//! A walk over the partitions of a range of the hash space, one at a time, that can be put down and taken up again.
//!
//! Feeds and queries over several physical partitions answer page by page, each page from one partition. Between pages
//! the client holds a continuation token, and until it comes back partitions may have split or merged. So the token
//! names *ranges of the hash space*, never partitions: what is still to be read, in order, each range with the state
//! its partition left there.
//!
//! Example: the walk over `["", FF)` reads partition `["", 1F)` up to state *s*; the token says `["", 1F): s` and
//! `[1F, FF): fresh`. If `["", 1F)` splits at `0F`, the walk goes on with `["", 0F): s`, `[0F, 1F): s`, then `[1F, FF)`:
//! a state speaks of places (`_rid`, index terms) that both children inherited.

use crate::catalog::{PartitionMap, PhysicalPartition};
use tesela_model::epk::{Epk, EpkRange};

/// What is left to read, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    pending: Vec<(EpkRange, Option<Vec<u8>>)>,
}

/// The next page comes from here.
#[derive(Clone, Debug)]
pub struct Stop<'m> {
    pub partition: &'m PhysicalPartition,
    /// The part of the partition the walk is about.
    pub range: EpkRange,
    /// What the partition said when the page before ended.
    pub state: Option<Vec<u8>>,
}

impl Walk {
    pub fn over(range: EpkRange) -> Self {
        Self { pending: vec![(range, None)] }
    }

    pub fn is_done(&self) -> bool {
        self.pending.is_empty()
    }

    /// The next stop by the map of now; `None` when everything has been read.
    pub fn next<'m>(&mut self, map: &'m PartitionMap) -> Option<Stop<'m>> {
        let (range, state) = self.pending.first()?.clone();
        let partition = map.owner(range.min());
        let here = partition.range.intersection(&range).unwrap_or_else(|| range.clone());
        if let Some(rest) = EpkRange::new(here.max().clone(), range.max().clone()) {
            self.pending[0].0 = here.clone();
            self.pending.insert(1, (rest, state.clone()));
        }
        Some(Stop { partition, range: here, state })
    }

    /// The stop gave a page: `Some` state when it has more, `None` when it is read to its end.
    pub fn advance(&mut self, state: Option<Vec<u8>>) {
        match state {
            Some(state) => {
                if let Some(first) = self.pending.first_mut() {
                    first.1 = Some(state);
                }
            }
            None => {
                self.pending.remove(0);
            }
        }
    }

    /// Nothing more is to be read.
    pub fn finish(&mut self) {
        self.pending.clear();
    }

    /// The bytes of a continuation token.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let put = |out: &mut Vec<u8>, bytes: &[u8]| {
            out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
            out.extend_from_slice(bytes);
        };
        for (range, state) in &self.pending {
            put(&mut out, range.min().as_bytes());
            put(&mut out, range.max().as_bytes());
            match state {
                Some(state) => {
                    out.push(1);
                    put(&mut out, state);
                }
                None => out.push(0),
            }
        }
        out
    }

    /// Takes a walk up again, as far as it lies in `range`: the client may have been given the token for more, as when
    /// its partition has split, and a token must not lead out of what the request is about. `None` when nothing is left.
    pub fn resume(bytes: &[u8], range: &EpkRange) -> Option<Self> {
        let mut walk = Self::decode(bytes)?;
        walk.pending = walk
            .pending
            .into_iter()
            .filter_map(|(pending, state)| Some((pending.intersection(range)?, state)))
            .collect();
        (!walk.is_done()).then_some(walk)
    }

    /// From a token. `None` when the bytes are no walk: they come from a client.
    fn decode(bytes: &[u8]) -> Option<Self> {
        fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
            let (taken, rest) = bytes.split_at_checked(count)?;
            *bytes = rest;
            Some(taken)
        }
        fn field<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
            let length = u16::from_le_bytes(take(bytes, 2)?.try_into().ok()?);
            take(bytes, usize::from(length))
        }
        let mut rest = bytes;
        let mut pending = Vec::new();
        while !rest.is_empty() {
            let min = Epk::from_bytes(field(&mut rest)?);
            let max = Epk::from_bytes(field(&mut rest)?);
            let state = match take(&mut rest, 1)? {
                [0] => None,
                [1] => Some(field(&mut rest)?.to_vec()),
                _ => return None,
            };
            pending.push((EpkRange::new(min, max)?, state));
        }
        let ordered = pending.windows(2).all(|pair| pair[0].0.max() <= pair[1].0.min());
        (ordered && !pending.is_empty()).then_some(Self { pending })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(min: &str, max: &str) -> EpkRange {
        EpkRange::new(Epk::from_hex(min).unwrap(), Epk::from_hex(max).unwrap()).unwrap()
    }

    #[test]
    fn a_walk_round_trips() {
        let mut walk = Walk { pending: vec![(range("", "1F"), None), (range("1F", "FF"), None)] };
        walk.advance(Some(b"state".to_vec()));
        assert_eq!(Walk::decode(&walk.encode()), Some(walk));
    }

    #[test]
    fn a_token_does_not_lead_out_of_its_request() {
        let walk = Walk { pending: vec![(range("", "1F"), Some(b"state".to_vec())), (range("1F", "FF"), None)] };
        let resume = |within: EpkRange| Walk::resume(&walk.encode(), &within);
        assert_eq!(resume(EpkRange::full()), Some(walk.clone()));
        let child = resume(range("10", "30")).unwrap();
        assert_eq!(child.pending, [(range("10", "1F"), Some(b"state".to_vec())), (range("1F", "30"), None)]);
        let read = Walk { pending: vec![(range("1F", "FF"), None)] };
        assert_eq!(Walk::resume(&read.encode(), &range("", "10")), None);
    }

    #[test]
    fn foreign_bytes_are_no_walk() {
        for bytes in [&b""[..], b"\x01", b"\x01\x00a\x01\x00a\x00", b"\x01\x00a\x01\x00b\x02", b"\xff\xff"] {
            assert_eq!(Walk::decode(bytes), None, "{bytes:?}");
        }
        let backwards = Walk { pending: vec![(range("20", "30"), None), (range("10", "20"), None)] };
        assert_eq!(Walk::decode(&backwards.encode()), None);
    }

    proptest! {
        #[test]
        fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = Walk::decode(&bytes);
        }
    }
}
