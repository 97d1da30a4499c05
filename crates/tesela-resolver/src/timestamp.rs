//! Instants as keys: the proleptic Gregorian calendar in UTC, read from the ISO 8601 forms that JSON documents carry.
//!
//! Accepted: `2018`, `2018-08`, `2018-08-09`, and a date followed by `T` or a space, `hh:mm`, optionally
//! `:ss`, a fraction of up to nine digits, and `Z` or an offset. What is left out of the text is the smallest
//! there is; no offset means UTC. So `2018-08` is the first moment of August: right for the low end of a
//! range, and the reason why ranges of months are half-open.
//!
//! Left out: leap seconds (`:60` is refused), week dates, years outside 0000–9999.

use std::fmt;

const SECONDS_PER_DAY: i64 = 86_400;
const DAYS_PER_ERA: i64 = 146_097;
const YEARS_PER_ERA: i64 = 400;
/// Days from 0000-03-01, where the era arithmetic starts, to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;

/// A moment, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
}

/// A moment's fields in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CivilTime {
    /// 0 to 9999 for every timestamp read from text.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
}

impl Timestamp {
    /// Seconds since 1970, as the service writes `_ts`.
    pub fn from_unix_seconds(seconds: i64) -> Self {
        Self { seconds, nanos: 0 }
    }

    /// Seconds since 1970 with a fraction; `None` when it is no number or beyond 64 bits.
    pub fn from_unix_f64(seconds: f64) -> Option<Self> {
        let whole = seconds.floor();
        if !(-9.2e18..=9.2e18).contains(&whole) {
            return None;
        }
        let nanos = ((seconds - whole) * 1e9) as u32;
        Some(Self { seconds: whole as i64, nanos: nanos.min(999_999_999) })
    }

    /// Reads one of the forms above.
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text.as_bytes() };
        let timestamp = reader.timestamp()?;
        reader.rest.is_empty().then_some(timestamp)
    }

    /// The moment's fields in UTC.
    pub fn civil(self) -> CivilTime {
        let (year, month, day) = civil_from_days(self.seconds.div_euclid(SECONDS_PER_DAY));
        let in_day = self.seconds.rem_euclid(SECONDS_PER_DAY) as u32;
        CivilTime { year, month, day, hour: in_day / 3600, minute: in_day / 60 % 60, second: in_day % 60 }
    }
}

impl fmt::Display for Timestamp {
    /// The shortest full form: seconds always, a fraction when there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CivilTime { year, month, day, hour, minute, second } = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanos > 0 {
            let digits = format!("{:09}", self.nanos);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn timestamp(&mut self) -> Option<Timestamp> {
        let year = i64::from(self.number(4)?);
        let month = if self.eat(b'-') { self.number(2)? } else { 1 };
        let day = if self.eat(b'-') { self.number(2)? } else { 1 };
        if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
            return None;
        }
        let days = days_from_civil(year, month, day);
        let (mut seconds, mut nanos, mut offset) = (0, 0, 0);
        if self.eat(b'T') || self.eat(b't') || self.eat(b' ') {
            (seconds, nanos) = self.time_of_day()?;
            offset = self.offset()?;
        }
        Some(Timestamp { seconds: days * SECONDS_PER_DAY + i64::from(seconds) - offset, nanos })
    }

    fn time_of_day(&mut self) -> Option<(u32, u32)> {
        let hour = self.number(2)?;
        if !self.eat(b':') {
            return None;
        }
        let minute = self.number(2)?;
        let (mut second, mut nanos) = (0, 0);
        if self.eat(b':') {
            second = self.number(2)?;
            if self.eat(b'.') {
                nanos = self.fraction()?;
            }
        }
        (hour < 24 && minute < 60 && second < 60).then_some((hour * 3600 + minute * 60 + second, nanos))
    }

    fn fraction(&mut self) -> Option<u32> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&digits) {
            return None;
        }
        let value = self.number(digits)?;
        Some(value * 10u32.pow(9 - digits as u32))
    }

    fn offset(&mut self) -> Option<i64> {
        if self.eat(b'Z') || self.eat(b'z') || self.rest.is_empty() {
            return Some(0);
        }
        let sign = match self.rest.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        let hours = self.number(2)?;
        self.eat(b':');
        let minutes = if self.rest.is_empty() { 0 } else { self.number(2)? };
        (hours < 24 && minutes < 60).then(|| sign * i64::from(hours * 3600 + minutes * 60))
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    /// Exactly `digits` decimal digits (at most nine, so that the value fits).
    fn number(&mut self, digits: usize) -> Option<u32> {
        let (number, rest) = self.rest.split_at_checked(digits)?;
        if !number.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.rest = rest;
        Some(number.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
    }
}

fn days_in_month(year: i64, month: u32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01. Years are counted from March, so that the leap day is the last of its year, and in eras of
/// 400 years, after which the calendar repeats.
fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let from_march = i64::from((month + 9) % 12);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(YEARS_PER_ERA);
    let year_of_era = year.rem_euclid(YEARS_PER_ERA);
    let day_of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - DAYS_TO_EPOCH
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + DAYS_TO_EPOCH;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * from_march + 2) / 5 + 1) as u32;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 } as u32;
    let year = era * YEARS_PER_ERA + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(text: &str) -> Option<i64> {
        Timestamp::parse(text).map(|timestamp| timestamp.seconds)
    }

    #[test]
    fn r29_the_usual_forms_are_read() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1970", 0),
            ("2018-08-09", 1_533_772_800),
            ("2018-08-09T12:34:56Z", 1_533_818_096),
            ("2018-08-09 12:34:56", 1_533_818_096),
            ("2018-08-09T12:34:56.789+02:00", 1_533_810_896),
            ("2018-08-09T12:34-0230", 1_533_827_040),
            ("2000-02-29", 951_782_400),
            ("1969-12-31T23:59:59Z", -1),
        ] {
            assert_eq!(unix(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "20",
            "2018-13",
            "2018-02-29",
            "1900-02-29",
            "2018-08-09T",
            "2018-08-09T25:00",
            "2018-08-09T12",
            "2018-08-09T12:60",
            "2018-08-09T12:00:60",
            "2018-08-09T12:00:00.",
            "2018-08-09T12:00:00.1234567890",
            "2018-08-09T12:00:00+",
            "2018-08-09x",
            "２018",
            "2018-08-09T12:00:00Zz",
        ] {
            assert_eq!(unix(text), None, "{text}");
        }
    }

    #[test]
    fn days_and_dates_are_inverse_over_four_centuries_and_beyond() {
        let mut expected = (-1, 12, 31);
        for days in days_from_civil(0, 1, 1)..days_from_civil(2401, 1, 1) {
            let (year, month, day) = civil_from_days(days);
            let (last_year, last_month, last_day) = expected;
            let next = if last_month == 12 && last_day == 31 {
                (last_year + 1, 1, 1)
            } else if last_day == days_in_month(last_year, last_month) {
                (last_year, last_month + 1, 1)
            } else {
                (last_year, last_month, last_day + 1)
            };
            assert_eq!((year, month, day), next);
            assert_eq!(days_from_civil(year, month, day), days);
            expected = next;
        }
    }

    #[test]
    fn text_reads_back_as_the_same_moment() {
        for text in ["2018-08-09T12:34:56Z", "2018-08-09T12:34:56.789Z", "0001-01-01T00:00:00Z"] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Timestamp::from_unix_f64(-0.5).unwrap().to_string(), "1969-12-31T23:59:59.5Z");
        assert_eq!(Timestamp::from_unix_f64(f64::NAN), None);
    }
}
