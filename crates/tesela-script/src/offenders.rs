//! Scripts that keep running into their time limit are blocked for a while, as the service does: each
//! such run holds a thread for seconds, and a client that retries would hold them all.
//!
//! A script is known by container, id and text, so a corrected one starts clean. One run within limits
//! clears its record.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use crate::limits::{Limits, OFFENDERS_MAX};
use crate::source::Script;

pub(crate) struct Offenders {
    timeouts_before_block: u32,
    block_time: Duration,
    records: Mutex<HashMap<(String, String), Record>>,
}

struct Record {
    source: std::sync::Arc<str>,
    timeouts: u32,
    last: Duration,
}

impl Offenders {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            timeouts_before_block: limits.timeouts_before_block.max(1),
            block_time: limits.block_time,
            records: Mutex::default(),
        }
    }

    /// How much longer the script is blocked, if it is.
    pub(crate) fn blocked_for(&self, script: &Script, now: Duration) -> Option<Duration> {
        let records = self.lock();
        let record = records.get(&key(script)).filter(|record| *record.source == *script.source())?;
        let until = record.last + self.block_time;
        (record.timeouts >= self.timeouts_before_block && now < until).then(|| until - now)
    }

    /// `overran` means that the script could not even be stopped in time.
    pub(crate) fn timed_out(&self, script: &Script, overran: bool, now: Duration) {
        let mut records = self.lock();
        if records.len() >= OFFENDERS_MAX && !records.contains_key(&key(script)) {
            let oldest = records.iter().min_by_key(|(_, record)| record.last).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                records.remove(&oldest);
            }
        }
        let record = records.entry(key(script)).or_insert_with(|| Record {
            source: script.shared_source(),
            timeouts: 0,
            last: now,
        });
        let expired = now >= record.last + self.block_time;
        if *record.source != *script.source() || expired {
            *record = Record { source: script.shared_source(), timeouts: 0, last: now };
        }
        record.timeouts = if overran { self.timeouts_before_block } else { record.timeouts.saturating_add(1) };
        record.last = now;
    }

    pub(crate) fn behaved(&self, script: &Script) {
        let mut records = self.lock();
        if !records.is_empty() {
            records.remove(&key(script));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), Record>> {
        self.records.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn key(script: &Script) -> (String, String) {
    (script.container().to_owned(), script.id().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_timeouts_block_for_a_while_and_a_good_run_or_a_new_text_clears() {
        let limits = Limits { timeouts_before_block: 2, block_time: Duration::from_secs(10), ..Limits::default() };
        let offenders = Offenders::new(&limits);
        let script = Script::new("c", "s", "function () {}").unwrap();
        let at = Duration::from_secs;
        offenders.timed_out(&script, false, at(1));
        assert_eq!(offenders.blocked_for(&script, at(2)), None);
        offenders.timed_out(&script, false, at(3));
        assert_eq!(offenders.blocked_for(&script, at(4)), Some(at(9)));
        assert_eq!(offenders.blocked_for(&script, at(13)), None, "the block ends");
        assert_eq!(offenders.blocked_for(&Script::new("c", "s", "function () { }").unwrap(), at(4)), None);
        assert_eq!(offenders.blocked_for(&Script::new("d", "s", "function () {}").unwrap(), at(4)), None);
        offenders.behaved(&script);
        assert_eq!(offenders.blocked_for(&script, at(4)), None);
        offenders.timed_out(&script, true, at(20));
        assert_eq!(offenders.blocked_for(&script, at(20)), Some(at(10)), "blocked at once");
    }

    #[test]
    fn the_list_of_offenders_is_bounded() {
        let offenders = Offenders::new(&Limits::default());
        for n in 0..(OFFENDERS_MAX + 50) {
            let script = Script::new("c", &n.to_string(), "function () {}").unwrap();
            offenders.timed_out(&script, false, Duration::from_secs(n as u64));
        }
        assert_eq!(offenders.lock().len(), OFFENDERS_MAX);
    }
}
