//! A moment in UTC, to the microsecond.

/// Microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    pub fn from_unix_micros(micros: u64) -> Self {
        Self(micros)
    }

    pub fn from_unix_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    pub fn unix_micros(self) -> u64 {
        self.0
    }

    pub fn unix_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// What `_ts` shows.
    pub fn unix_seconds(self) -> u64 {
        self.0 / 1_000_000
    }
}
