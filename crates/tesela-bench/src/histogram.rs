//! A latency histogram: fixed memory, three significant figures, cheap to add to.
//!
//! Values up to 2^[`EXACT_BITS`] microseconds have a bucket each. Above that every power of two is cut
//! into 2^([`EXACT_BITS`] - 1) equal buckets, so a reading is never further than one part in 512 from
//! the truth. Example: 3,000 µs lies between 2^11 and 2^12, where buckets are 4 µs wide.

const EXACT_BITS: u32 = 10;
const EXACT: u64 = 1 << EXACT_BITS;
const HALF: u64 = EXACT / 2;
/// Past 2^40 µs (12 days) everything is one bucket.
const POWERS: u64 = 30;

#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    pub fn new() -> Self {
        Self { counts: vec![0; (EXACT + POWERS * HALF) as usize], total: 0 }
    }

    pub fn add(&mut self, microseconds: u64) {
        let bucket = bucket_of(microseconds).min(self.counts.len() - 1);
        self.counts[bucket] += 1;
        self.total += 1;
    }

    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// The value that `share` (0 to 1) of all values do not exceed; 0 when there are none.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.total as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return upper_bound(bucket as u64);
            }
        }
        0
    }
}

fn bucket_of(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let power = u64::from(value.ilog2() - EXACT_BITS);
    let inside = (value >> (power + 1)) - HALF;
    (EXACT + power * HALF + inside) as usize
}

/// The largest value that falls into the bucket.
fn upper_bound(bucket: u64) -> u64 {
    if bucket < EXACT {
        return bucket;
    }
    let power = (bucket - EXACT) / HALF;
    let inside = (bucket - EXACT) % HALF + HALF;
    ((inside + 1) << (power + 1)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_its_bound_says() {
        for value in (0..5_000).chain([65_535, 65_536, 1 << 30, (1 << 30) + 12_345]) {
            let bound = upper_bound(bucket_of(value) as u64);
            assert!(bound >= value, "{value} in a bucket up to {bound}");
            assert!(bound - value <= value / HALF, "{value} too far from {bound}");
            assert_eq!(bucket_of(bound), bucket_of(value), "the bound belongs to its own bucket");
        }
    }

    #[test]
    fn quantiles_count_from_below() {
        let mut histogram = Histogram::new();
        (1..=1_000).for_each(|value| histogram.add(value));
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| histogram.quantile(share)), [1, 500, 990, 1_000]);
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        assert_eq!((twice.total(), twice.quantile(0.5)), (2_000, 500));
        assert_eq!(Histogram::new().quantile(0.99), 0);
    }
}
