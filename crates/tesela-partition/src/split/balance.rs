//! Where the data of a partition divides.

use crate::error::ReadError;
use crate::layout::{Counters, Key, LogicalRecord};
use crate::partition::Partition;
use tesela_model::epk::Epk;
use tesela_store::{Snapshot, Store};

/// Rows looked at a time.
const SCAN_ROWS: usize = 1024;

/// How the bytes of a partition lie on both sides of a point, and of the best point there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    pub bytes: u64,
    /// Bytes of the logical partitions below the point that was asked about.
    pub below: u64,
    /// The beginning of the logical partition that divides the bytes best, and the bytes below it. `None` when there
    /// are fewer than two logical partitions: no point divides one (R11).
    pub best: Option<(Epk, u64)>,
}

impl<S: Store> Partition<S> {
    /// Weighs the logical partitions, of one moment, below and above `point`.
    pub async fn balance(&self, point: &Epk) -> Result<Balance, ReadError> {
        let view = self.view();
        let counters = view.snapshot.get(self.space(), &Key::counters()).await?;
        let bytes = counters.map(|row| Counters::decode(&row)).transpose()?.unwrap_or_default().bytes;
        let mut balance = Balance { bytes, below: 0, best: None };
        let mut seen = 0_u64;
        let mut first = true;
        let mut range = Key::logicals();
        loop {
            let (rows, rest) = view.rows(range, SCAN_ROWS).await?;
            for (key, value) in rows {
                let epk = Key::logical_epk(&key)?;
                let here = LogicalRecord::decode(&value)?.bytes;
                if epk < *point {
                    balance.below += here;
                } else if seen.saturating_mul(2) > bytes && balance.best.is_some() {
                    // Both answers are known: from here on the division only gets worse.
                    return Ok(balance);
                }
                let better = balance.best.as_ref().is_none_or(|(_, best)| off(bytes, seen) < off(bytes, *best));
                if !first && better {
                    balance.best = Some((epk, seen));
                }
                first = false;
                seen += here;
            }
            match rest {
                Some(rest) => range = rest,
                None => return Ok(balance),
            }
        }
    }
}

/// How far a division is from even.
fn off(bytes: u64, below: u64) -> u64 {
    bytes.abs_diff(below.saturating_mul(2))
}
