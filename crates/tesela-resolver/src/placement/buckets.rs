//! Fixed buckets with an explicit owner each: the default for new databases.
//!
//! The circle is cut into B equal stretches once and for ever; a table says who owns each. The hash decides the
//! bucket, people (or [`BucketMap::with_added`]) decide the owner. So evenness, movement and exceptions are a matter of
//! the table: shares differ by one bucket, an addition moves exactly the newcomer's quota, a hot bucket can be given
//! a collection of its own.
//!
//! Invariants: B never changes; a bucket is a contiguous range of points; growth never moves a bucket between
//! two collections that both stay.
//!
//! Example, B = 8: adding `c` to `aaaabbbb` makes the quotas 3, 3, 2. `c` takes one bucket at a time from whoever
//! holds most, the highest bucket first: `aaaabbbb` → `aaaabbbc` → `aaacbbbc`.

use super::{Member, Members, Stretch, coalesced};
use crate::error::ConfigError;
use crate::hash::Hasher;
use crate::limits::BUCKETS_MAX;
use crate::link::CollectionLink;

/// The table of owners, shared by the placements that are built on buckets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BucketTable(Box<[u32]>);

impl BucketTable {
    pub(super) fn new(owners: Vec<u32>) -> Self {
        Self(owners.into_boxed_slice())
    }

    pub(super) fn owners(&self) -> &[u32] {
        &self.0
    }

    /// The bucket of a scaled point: the high half of `scaled * B`, which needs no division.
    #[inline]
    pub(super) fn bucket(&self, scaled: u64) -> usize {
        ((u128::from(scaled) * self.0.len() as u128) >> 64) as usize
    }

    #[inline]
    pub(super) fn owner(&self, scaled: u64) -> usize {
        self.0[self.bucket(scaled)] as usize
    }

    pub(super) fn stretches(&self, hasher: &Hasher) -> Vec<Stretch> {
        let count = self.0.len();
        let starts = (0..count).map(|bucket| bucket_start(hasher, bucket, count));
        coalesced(starts.zip(&self.0).map(|(start, &owner)| Stretch { start, owner: owner as usize }))
    }
}

/// The smallest point whose bucket is `bucket` or a later one (later only when buckets outnumber points).
fn bucket_start(hasher: &Hasher, bucket: usize, count: usize) -> u128 {
    let scaled = ((bucket as u128) << 64).div_ceil(count as u128);
    let bits = hasher.width_bits();
    if bits >= 64 { scaled << (bits - 64) } else { scaled.div_ceil(1 << (64 - bits)) }
}

pub(super) fn check_bucket_count(count: usize, collections: usize) -> Result<u32, ConfigError> {
    match u32::try_from(count) {
        Ok(fits) if (1..=BUCKETS_MAX).contains(&fits) && count >= collections => Ok(fits),
        _ => Err(ConfigError::Buckets { found: count, collections }),
    }
}

/// Buckets with an explicit owner each.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketMap {
    members: Members,
    table: BucketTable,
}

impl BucketMap {
    /// `buckets` buckets, shared out by weight in contiguous runs.
    pub fn even(members: Members, buckets: u32) -> Result<Self, ConfigError> {
        let buckets = check_bucket_count(buckets as usize, members.len())?;
        let quotas = members.quotas(buckets);
        let owners =
            quotas.iter().enumerate().flat_map(|(owner, &quota)| std::iter::repeat_n(owner as u32, quota as usize));
        Ok(Self { table: BucketTable::new(owners.collect()), members })
    }

    /// A table made elsewhere: `owners[bucket]` is an index into `members`.
    pub fn explicit(members: Members, owners: Vec<u32>) -> Result<Self, ConfigError> {
        check_bucket_count(owners.len(), members.len())?;
        match owners.iter().position(|&owner| owner as usize >= members.len()) {
            Some(bucket) => Err(ConfigError::BucketOwner { bucket, owner: owners[bucket] }),
            None => Ok(Self { members, table: BucketTable::new(owners) }),
        }
    }

    /// The collections.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// The whole table, bucket by bucket.
    pub fn owners(&self) -> &[u32] {
        self.table.owners()
    }

    /// Index of the collection that owns a scaled point.
    #[inline]
    pub fn owner(&self, scaled: u64) -> usize {
        self.table.owner(scaled)
    }

    /// The bucket of a scaled point.
    pub fn bucket(&self, scaled: u64) -> usize {
        self.table.bucket(scaled)
    }

    pub(super) fn stretches(&self, hasher: &Hasher) -> Vec<Stretch> {
        self.table.stretches(hasher)
    }

    /// The map with one bucket given to `link`, as an operator may decide for a hot one.
    pub fn with_assigned(&self, bucket: usize, link: &CollectionLink) -> Result<Self, ConfigError> {
        let owner = self.members.position(link).ok_or_else(|| ConfigError::UnknownCollection { link: link.clone() })?;
        let mut owners = self.owners().to_vec();
        let count = owners.len();
        *owners.get_mut(bucket).ok_or(ConfigError::NoSuchBucket { bucket, count })? = owner as u32;
        Ok(Self { members: self.members.clone(), table: BucketTable::new(owners) })
    }

    /// The map after an addition: the newcomer takes its quota from whoever holds most for its weight.
    pub fn with_added(&self, member: Member) -> Result<Self, ConfigError> {
        let members = self.members.with_added(member)?;
        let buckets = check_bucket_count(self.owners().len(), members.len())?;
        let newcomer = members.len() - 1;
        let quota = members.quotas(buckets)[newcomer];
        let mut held = Holdings::new(&members, self.owners());
        let mut owners = self.owners().to_vec();
        for _ in 0..quota {
            let bucket = held.take_from_fullest(newcomer);
            owners[bucket] = newcomer as u32;
        }
        Ok(Self { members, table: BucketTable::new(owners) })
    }

    /// The map after a removal: each bucket of the leaver goes to whoever then holds least for its weight.
    pub fn with_removed(&self, link: &CollectionLink) -> Result<Self, ConfigError> {
        let leaver =
            self.members.position(link).ok_or_else(|| ConfigError::UnknownCollection { link: link.clone() })?;
        let members = self.members.with_removed(link)?;
        // Members after the leaver move down by one; `None` marks the orphans.
        let mut owners: Vec<Option<u32>> = self
            .owners()
            .iter()
            .map(|&owner| match (owner as usize).cmp(&leaver) {
                std::cmp::Ordering::Less => Some(owner),
                std::cmp::Ordering::Equal => None,
                std::cmp::Ordering::Greater => Some(owner - 1),
            })
            .collect();
        let mut counts = vec![0u64; members.len()];
        for owner in owners.iter().flatten() {
            counts[*owner as usize] += 1;
        }
        for owner in owners.iter_mut().filter(|owner| owner.is_none()) {
            let heir = emptiest(&members, &counts);
            counts[heir] += 1;
            *owner = Some(heir as u32);
        }
        let owners = owners.into_iter().flatten().collect();
        Ok(Self { members, table: BucketTable::new(owners) })
    }
}

/// The member with the fewest buckets for its weight, counting the one it is about to get; the earlier one of equals.
fn emptiest(members: &Members, counts: &[u64]) -> usize {
    let load = |index: usize| (counts[index] + 1, u64::from(members.as_slice()[index].weight));
    (0..members.len())
        .min_by(|&a, &b| {
            let ((count_a, weight_a), (count_b, weight_b)) = (load(a), load(b));
            (count_a * weight_b).cmp(&(count_b * weight_a))
        })
        .expect("members are never empty")
}

/// Who holds which buckets, while an addition is worked out.
struct Holdings {
    weights: Vec<u64>,
    /// Buckets of each member, ascending: the highest is given away first.
    buckets: Vec<Vec<usize>>,
}

impl Holdings {
    fn new(members: &Members, owners: &[u32]) -> Self {
        let mut buckets = vec![Vec::new(); members.len()];
        for (bucket, &owner) in owners.iter().enumerate() {
            buckets[owner as usize].push(bucket);
        }
        Self { weights: members.iter().map(|member| u64::from(member.weight)).collect(), buckets }
    }

    /// Takes one bucket from the member other than `newcomer` that holds most for its weight.
    fn take_from_fullest(&mut self, newcomer: usize) -> usize {
        let load = |index: usize| (self.buckets[index].len() as u64, self.weights[index]);
        let fullest = (0..self.buckets.len())
            .filter(|&index| index != newcomer)
            .max_by(|&a, &b| {
                let ((count_a, weight_a), (count_b, weight_b)) = (load(a), load(b));
                // The later of equals gives first, so that early members keep their runs.
                (count_a * weight_b).cmp(&(count_b * weight_a))
            })
            .expect("an addition has at least one member before it");
        self.buckets[fullest].pop().expect("the quota is below the number of buckets the others hold")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(map: &BucketMap) -> String {
        map.owners().iter().map(|&owner| map.members().link(owner as usize).as_str()).collect()
    }

    fn even(names: &[&str], buckets: u32) -> BucketMap {
        BucketMap::even(Members::new(names.iter().copied()).unwrap(), buckets).unwrap()
    }

    #[test]
    fn growth_takes_from_the_fullest_and_shrinking_gives_to_the_emptiest() {
        let two = even(&["a", "b"], 8);
        assert_eq!(drawing(&two), "aaaabbbb");
        let three = two.with_added(Member::new("c")).unwrap();
        assert_eq!(drawing(&three), "aaacbbbc");
        let back = three.with_removed(&"a".into()).unwrap();
        assert_eq!(drawing(&back), "cbccbbbc");
        assert_eq!(back.members().links().map(CollectionLink::as_str).collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn weights_set_the_quota() {
        let map = even(&["a", "b"], 8).with_added(Member::weighted("c", 2)).unwrap();
        assert_eq!(drawing(&map), "aaccbbcc");
    }

    #[test]
    fn an_operator_can_single_out_a_bucket() {
        let map = even(&["a", "b"], 4).with_assigned(0, &"b".into()).unwrap();
        assert_eq!(drawing(&map), "babb");
        assert_eq!(map.with_assigned(4, &"a".into()), Err(ConfigError::NoSuchBucket { bucket: 4, count: 4 }));
        assert_eq!(map.with_assigned(0, &"z".into()), Err(ConfigError::UnknownCollection { link: "z".into() }));
    }

    #[test]
    fn tables_are_checked() {
        let members = || Members::new(["a", "b"]).unwrap();
        let stranger = BucketMap::explicit(members(), vec![0, 1, 2]);
        assert_eq!(stranger, Err(ConfigError::BucketOwner { bucket: 2, owner: 2 }));
        let crowded = BucketMap::even(members(), 1);
        assert_eq!(crowded, Err(ConfigError::Buckets { found: 1, collections: 2 }));
    }

    #[test]
    fn starts_agree_with_lookups_at_every_border() {
        for hasher in [Hasher::md5(), Hasher::murmur3_32(), Hasher::murmur3_128()] {
            for count in [1usize, 3, 7, 1000] {
                let table = BucketTable::new((0..count as u32).collect());
                for bucket in 0..count {
                    let start = bucket_start(&hasher, bucket, count);
                    assert_eq!(table.bucket(hasher.scaled(start)), bucket, "{} {count}", hasher.name());
                    if start > 0 {
                        assert_eq!(table.bucket(hasher.scaled(start - 1)), bucket - 1, "{} {count}", hasher.name());
                    }
                }
            }
        }
    }
}
