//! How many suffixes a value needs.
//!
//! One logical partition gives at most 10,000 RU/s and holds at most 20 GB (R11). A value that needs more of
//! either must be spread over enough keys that none exceeds them. A random or hashed suffix spreads evenly
//! only on average, so the share of the busiest key is kept below the limit with a margin.

use tesela_model::limits::{LOGICAL_PARTITION_BYTES_MAX, PARTITION_RU_MAX};

use crate::limits::SUFFIXES_MAX;

/// What the documents of one value ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyDemand {
    /// Peak throughput, in RU/s.
    pub throughput_ru: f64,
    /// Storage when full grown.
    pub storage_bytes: u64,
    /// Room left on each key, in percent of its limits: 0 to 99.
    pub headroom_percent: u32,
}

/// The least number of suffixes that carries the demand; `None` when none allowed does, or the headroom leaves nothing.
///
/// Example: 1,000,000 RU/s without headroom is 100 suffixes; with 20 % headroom, 125.
pub fn suffixes_for(demand: KeyDemand) -> Option<u32> {
    let usable = 1.0 - f64::from(demand.headroom_percent) / 100.0;
    if usable <= 0.0 || !demand.throughput_ru.is_finite() {
        return None;
    }
    let by_throughput = demand.throughput_ru / (f64::from(PARTITION_RU_MAX) * usable);
    let by_storage = demand.storage_bytes as f64 / (LOGICAL_PARTITION_BYTES_MAX as f64 * usable);
    // A hair below, so that 100 × 0.8 / 0.8 is 100 and not 101.
    let needed = (by_throughput.max(by_storage) - 1e-9).ceil().max(1.0);
    (needed <= f64::from(SUFFIXES_MAX)).then_some(needed as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suffixes(throughput_ru: f64, storage_gb: u64, headroom_percent: u32) -> Option<u32> {
        suffixes_for(KeyDemand { throughput_ru, storage_bytes: storage_gb << 30, headroom_percent })
    }

    #[test]
    fn r22_the_scarcer_of_throughput_and_storage_decides() {
        for (throughput, storage, headroom, expected) in [
            (0.0, 0, 0, Some(1)),
            (10_000.0, 0, 0, Some(1)),
            (10_001.0, 0, 0, Some(2)),
            (1_000_000.0, 0, 0, Some(100)),
            (1_000_000.0, 0, 20, Some(125)),
            (10_000.0, 8_000, 0, Some(400)),
            (f64::NAN, 0, 0, None),
            (1.0, 1, 100, None),
            (1e12, 0, 0, None),
        ] {
            assert_eq!(suffixes(throughput, storage, headroom), expected, "{throughput} {storage} {headroom}");
        }
    }
}
