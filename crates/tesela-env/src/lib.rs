//! The clock, randomness and ids: the only door to the outside world, real or simulated.
//!
//! Nothing above reads the wall clock or draws a random number but through an [`Env`] it was handed, so that a test or
//! a simulation replays a run from a seed. The lint configuration bans the standard library's own doors.
//!
//! Example: `Env::simulated(7)` starts at a fixed instant and moves only when told.
//!
//! ```
//! # use tesela_env::Env;
//! let env = Env::simulated(7);
//! let start = env.now();
//! env.advance(std::time::Duration::from_secs(2));
//! assert_eq!(env.now().unix_seconds() - start.unix_seconds(), 2);
//! assert_eq!(Env::simulated(7).random(), Env::simulated(7).random());
//! ```

mod timestamp;

pub use timestamp::Timestamp;

use parking_lot::Mutex;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A handle to the world; clones share it.
#[derive(Clone)]
pub struct Env(Arc<World>);

struct World {
    clock: Clock,
    chance: Mutex<StdRng>,
}

enum Clock {
    /// The wall clock for time stamps, a monotonic one for durations.
    Real { started: Instant },
    /// Microseconds since the Unix epoch, moved by [`Env::advance`].
    Simulated { micros: AtomicU64 },
}

/// Where simulated time begins: 2026-01-01T00:00:00Z.
const SIMULATION_START_SECONDS: u64 = 1_767_225_600;

impl Env {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn real() -> Self {
        let clock = Clock::Real { started: Instant::now() };
        Self(Arc::new(World { clock, chance: Mutex::new(StdRng::from_os_rng()) }))
    }

    pub fn simulated(seed: u64) -> Self {
        let clock = Clock::Simulated { micros: AtomicU64::new(SIMULATION_START_SECONDS * 1_000_000) };
        Self(Arc::new(World { clock, chance: Mutex::new(StdRng::seed_from_u64(seed)) }))
    }

    /// The date and time.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_micros(match &self.0.clock {
            Clock::Real { .. } => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                since.as_micros() as u64
            }
            Clock::Simulated { micros } => micros.load(Ordering::Relaxed),
        })
    }

    /// Time that only moves forward, for measuring durations.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn elapsed(&self) -> Duration {
        match &self.0.clock {
            Clock::Real { started } => Instant::now().duration_since(*started),
            Clock::Simulated { micros } => Duration::from_micros(micros.load(Ordering::Relaxed)),
        }
    }

    /// Moves simulated time. Real time moves on its own and is left alone.
    pub fn advance(&self, by: Duration) {
        if let Clock::Simulated { micros } = &self.0.clock {
            micros.fetch_add(by.as_micros() as u64, Ordering::Relaxed);
        }
    }

    pub fn random(&self) -> u64 {
        self.0.chance.lock().random()
    }

    /// A random UUID (version 4), lower case.
    pub fn uuid(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut bytes = [0_u8; 16];
        self.0.chance.lock().fill(&mut bytes);
        bytes[6] = bytes[6] & 0x0F | 0x40;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        let mut text = String::with_capacity(36);
        for (index, byte) in bytes.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_replays() {
        let (a, b) = (Env::simulated(3), Env::simulated(3));
        assert_eq!((a.uuid(), a.random()), (b.uuid(), b.random()));
        assert_ne!(a.uuid(), Env::simulated(4).uuid());
        assert_eq!(a.now(), b.now());
    }

    #[test]
    fn uuids_have_their_shape() {
        let uuid = Env::real().uuid();
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(matches!(uuid.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
    }

    #[test]
    fn real_time_moves_forward() {
        let env = Env::real();
        let before = env.elapsed();
        assert!(env.now().unix_seconds() > 1_700_000_000);
        assert!(env.elapsed() >= before);
    }
}
