//! Counting: how many tests passed and failed, read from the closing lines of each runner.
//!
//! | runner      | line                                         |
//! |-------------|----------------------------------------------|
//! | pytest      | `== 2 failed, 10 passed, 1 skipped in 3.2s ==` |
//! | node:test   | `ℹ pass 10` and `ℹ fail 2`                     |
//! | cargo test  | `test result: ok. 10 passed; 2 failed; …`      |

use std::fmt;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
}

impl Tally {
    /// A suite whose own thread died.
    pub fn broken() -> Self {
        Self { passed: 0, failed: 1 }
    }

    pub fn plus(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }

    pub fn read(log: &str) -> Self {
        log.lines().map(Self::of_line).fold(Self::default(), Self::plus)
    }

    fn of_line(line: &str) -> Self {
        let words: Vec<&str> = line.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
        if line.starts_with("==") && line.trim_end().ends_with("==") {
            return Self {
                passed: before(&words, "passed"),
                failed: before(&words, "failed") + before(&words, "errors") + before(&words, "error"),
            };
        }
        match words.as_slice() {
            ["test", "result:", ..] => Self { passed: before(&words, "passed"), failed: before(&words, "failed") },
            ["ℹ" | "#", "pass", count] => Self { passed: count.parse().unwrap_or(0), failed: 0 },
            ["ℹ" | "#", "fail" | "cancelled", count] => Self { passed: 0, failed: count.parse().unwrap_or(0) },
            _ => Self::default(),
        }
    }
}

/// The number that stands before `word`, or 0.
fn before(words: &[&str], word: &str) -> u64 {
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_runner() {
        let cases = [
            ("===== 2 failed, 10 passed, 1 skipped in 3.20s =====", 10, 2),
            ("===== 10 passed, 1 error in 3.20s =====", 10, 1),
            ("ℹ tests 12\nℹ pass 10\nℹ fail 1\nℹ cancelled 1", 10, 2),
            ("test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured", 10, 2),
            ("10 passed in the middle of a line", 0, 0),
        ];
        for (log, passed, failed) in cases {
            assert_eq!(Tally::read(log), Tally { passed, failed }, "{log}");
        }
    }
}
