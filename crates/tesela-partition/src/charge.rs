//! Request charges: what an operation costs in RU (R13), as pure functions of measured facts.
//!
//! Calibrated to the figures the service publishes: a table of read and write costs by item size, 0.2 RU for each index
//! term written or removed, 0.4 RU for each patch operation, reads doubled under strong and bounded-staleness
//! consistency. Between the rows of the table the cost is linear. The same facts always give the same charge.
//!
//! Example: creating a 1 KB item with 10 indexed terms costs 4.95 + 10 × 0.2 = 6.95 RU.

/// Size in KB, read RU, write RU (published; sessions and eventual reads, writes without index terms).
const SIZE_TABLE: [(f64, f64, f64); 12] = [
    (1.0, 1.00, 4.95),
    (2.0, 1.04, 6.29),
    (4.0, 1.14, 6.67),
    (8.0, 1.33, 7.04),
    (16.0, 1.67, 9.52),
    (32.0, 2.19, 11.23),
    (64.0, 4.76, 22.67),
    (128.0, 9.95, 48.19),
    (256.0, 20.28, 98.29),
    (512.0, 40.95, 184.57),
    (1024.0, 145.90, 625.00),
    (2048.0, 291.80, 1250.00),
];

/// RU for each index term written or removed (published).
const TERM_RU: f64 = 0.2;
/// RU for each operation of a patch, above the replace it makes (published).
const PATCH_OPERATION_RU: f64 = 0.4;
/// RU of an operation that found nothing to do: a miss, a failed condition, a 304 (published for point reads).
pub const LOOKUP_RU: f64 = 1.0;
/// RU of a request that was refused for lack of throughput (seen in public traces).
pub const THROTTLED_RU: f64 = 0.38;

/// RU of visiting one physical partition with a query (published: 2 to 3).
const QUERY_VISIT_RU: f64 = 2.3;
/// RU of an index entry looked at, and of a KB of documents loaded and put out by a query. Chosen so that one
/// indexed hit of 10 KB costs about 3.0 (published 2.98–3.19) and a scan of 400 MB about 4,000 (published 4,060).
const QUERY_INDEX_ENTRY_RU: f64 = 0.01;
const QUERY_LOADED_KB_RU: f64 = 0.01;
const QUERY_OUTPUT_KB_RU: f64 = 0.06;
/// RU of one call of a user-defined function. Ours.
const QUERY_FUNCTION_CALL_RU: f64 = 0.1;

/// Share of the RU of its operations a script is charged with: they come without a request each. Ours.
const SCRIPT_OPERATIONS_SHARE: f64 = 0.9;
/// Steps of a script for one RU, and the least a run costs. Ours: about what one millisecond allows for.
const SCRIPT_STEPS_PER_RU: f64 = 100_000.0;
const SCRIPT_RUN_RU: f64 = 1.0;

/// Charges are told to a hundredth.
pub fn round(charge_ru: f64) -> f64 {
    (charge_ru * 100.0).round() / 100.0
}

fn by_size(bytes: usize, cost: impl Fn(&(f64, f64, f64)) -> f64) -> f64 {
    let kb = bytes as f64 / 1024.0;
    let first = &SIZE_TABLE[0];
    if kb <= first.0 {
        return cost(first);
    }
    let upper = SIZE_TABLE.iter().position(|row| kb <= row.0).unwrap_or(SIZE_TABLE.len() - 1);
    let (low, high) = (&SIZE_TABLE[upper - 1], &SIZE_TABLE[upper]);
    cost(low) + (cost(high) - cost(low)) * (kb - low.0) / (high.0 - low.0)
}

/// A point read of an item of `bytes`; `strong` when two replicas would be asked.
pub fn read(bytes: usize, strong: bool) -> f64 {
    round(by_size(bytes, |row| row.1) * if strong { 2.0 } else { 1.0 })
}

/// Items read through a feed cost as point reads do.
pub fn feed(item_bytes: impl Iterator<Item = usize>) -> f64 {
    round(item_bytes.map(|bytes| by_size(bytes, |row| row.1)).sum::<f64>().max(LOOKUP_RU))
}

fn size_write(bytes: usize) -> f64 {
    by_size(bytes, |row| row.2)
}

/// What a write did, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteFacts {
    /// Bytes of the version removed and of the version written, where there is one.
    pub removed_bytes: Option<usize>,
    pub written_bytes: Option<usize>,
    /// Index terms taken out and put in.
    pub terms_removed: usize,
    pub terms_added: usize,
    pub patch_operations: usize,
}

/// Create, replace, upsert, patch and delete alike: sizes touched, terms changed, patch operations.
pub fn write(facts: &WriteFacts) -> f64 {
    let sizes = facts.removed_bytes.map_or(0.0, size_write) + facts.written_bytes.map_or(0.0, size_write);
    let terms = (facts.terms_removed + facts.terms_added) as f64 * TERM_RU;
    round(sizes + terms + facts.patch_operations as f64 * PATCH_OPERATION_RU)
}

/// A write that was refused after its lookup: conflict, precondition, unique key.
pub fn refused_write(bytes: usize) -> f64 {
    /// Share of the write's cost a refusal is charged with. Ours: the service publishes none.
    const SHARE: f64 = 0.05;
    round(LOOKUP_RU + SHARE * size_write(bytes))
}

/// A run of a script: its operations, and its own work.
pub fn script(operations_ru: f64, steps: u64) -> f64 {
    round(operations_ru * SCRIPT_OPERATIONS_SHARE + (steps as f64 / SCRIPT_STEPS_PER_RU).max(SCRIPT_RUN_RU))
}

/// What a page of a query did in one physical partition.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryFacts {
    pub index_entries: u64,
    pub loaded_bytes: u64,
    pub output_bytes: u64,
    pub function_calls: u64,
}

/// One page of a query in one physical partition.
pub fn query(facts: &QueryFacts) -> f64 {
    let kb = |bytes: u64| bytes as f64 / 1024.0;
    round(
        QUERY_VISIT_RU
            + facts.index_entries as f64 * QUERY_INDEX_ENTRY_RU
            + kb(facts.loaded_bytes) * QUERY_LOADED_KB_RU
            + kb(facts.output_bytes) * QUERY_OUTPUT_KB_RU
            + facts.function_calls as f64 * QUERY_FUNCTION_CALL_RU,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: usize = 1024;

    /// R13: the published points.
    #[test]
    fn published_figures() {
        assert_eq!(read(KB, false), 1.0);
        assert_eq!(read(100, false), 1.0);
        assert_eq!(read(64 * KB, false), 4.76);
        assert_eq!(read(2048 * KB, false), 291.8);
        assert_eq!(read(KB, true), 2.0);
        let create = WriteFacts { written_bytes: Some(KB), terms_added: 10, ..Default::default() };
        assert_eq!(write(&create), 6.95);
        let replace = WriteFacts { removed_bytes: Some(KB), terms_removed: 2, terms_added: 2, ..create };
        assert_eq!(write(&WriteFacts { terms_added: 2, ..replace }), 10.7);
        assert_eq!(write(&WriteFacts { terms_added: 2, patch_operations: 2, ..replace }), 11.5);
    }

    #[test]
    fn cost_grows_with_size() {
        let mut last = 0.0;
        for kb in (1..3000).step_by(7) {
            let cost = read(kb * KB, false);
            assert!(cost >= last, "{kb} KB costs {cost}, less than {last}");
            last = cost;
        }
    }

    #[test]
    fn a_script_costs_what_it_does() {
        assert_eq!(script(0.0, 0), 1.0);
        assert_eq!(script(10.0, 20_000), 10.0);
        assert_eq!(script(0.0, 500_000_000), 5000.0);
    }

    #[test]
    fn a_query_costs_what_it_touches() {
        let hit = QueryFacts {
            index_entries: 1,
            loaded_bytes: 10 * KB as u64,
            output_bytes: 10 * KB as u64,
            ..Default::default()
        };
        assert!((2.9..3.3).contains(&query(&hit)));
        let scan = QueryFacts { loaded_bytes: 400 << 20, ..Default::default() };
        assert!((3900.0..4200.0).contains(&query(&scan)));
    }
}
