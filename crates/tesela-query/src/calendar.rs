//! Civil time as the query language knows it: UTC, the proleptic Gregorian calendar, 100 ns ticks.
//!
//! An instant is a count of ticks since 1970-01-01, negative before it. The years 1 to 9999 are covered;
//! whatever leaves them has no text form and is therefore `None`.
//!
//! ```text
//! "2020-07-03T00:00:00.0000001Z"  <->  Ticks(15937344000000001)
//! ```
//!
//! Left out: time zones (the language has only `Z`), leap seconds.

/// Ticks in a second: one tick is 100 ns, the resolution of every date function.
pub const TICKS_PER_SECOND: i64 = 10_000_000;
pub const TICKS_PER_DAY: i64 = 86_400 * TICKS_PER_SECOND;

/// First and last tick that have a four-digit year.
const FIRST: i64 = days_from_civil(1, 1, 1) * TICKS_PER_DAY;
const LAST: i64 = days_from_civil(10_000, 1, 1) * TICKS_PER_DAY - 1;

/// The date and time of day of an instant, field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// Ticks within the second, below [`TICKS_PER_SECOND`].
    pub fraction: i64,
}

/// Days since 1970-01-01. Counts years from March, so that the leap day is the last of its year.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Civil {
    /// Ticks of the instant, or `None` when the fields name no such day or moment.
    pub fn ticks(self) -> Option<i64> {
        let in_range = (1..=9999).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
            && (0..24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..60).contains(&self.second)
            && (0..TICKS_PER_SECOND).contains(&self.fraction);
        in_range.then(|| {
            let seconds = self.hour * 3600 + self.minute * 60 + self.second;
            days_from_civil(self.year, self.month, self.day) * TICKS_PER_DAY
                + seconds * TICKS_PER_SECOND
                + self.fraction
        })
    }

    pub fn from_ticks(ticks: i64) -> Option<Self> {
        if !(FIRST..=LAST).contains(&ticks) {
            return None;
        }
        let (year, month, day) = civil_from_days(ticks.div_euclid(TICKS_PER_DAY));
        let of_day = ticks.rem_euclid(TICKS_PER_DAY);
        let seconds = of_day / TICKS_PER_SECOND;
        Some(Self {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            fraction: of_day % TICKS_PER_SECOND,
        })
    }
}

/// Reads `YYYY-MM-DD`, optionally followed by `T` or a blank and `hh:mm:ss`, one to seven digits of
/// fraction, and `Z`.
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| -> Option<i64> {
        bytes
            .get(from..to)?
            .iter()
            .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
    };
    let separator = |at: usize, expected: u8| (bytes.get(at) == Some(&expected)).then_some(());
    separator(4, b'-')?;
    separator(7, b'-')?;
    let mut civil = Civil {
        year: digits(0, 4)?,
        month: digits(5, 7)?,
        day: digits(8, 10)?,
        hour: 0,
        minute: 0,
        second: 0,
        fraction: 0,
    };
    match bytes.get(10) {
        None => return civil.ticks(),
        Some(b'Z') if bytes.len() == 11 => return civil.ticks(),
        Some(b'T' | b' ') => {}
        Some(_) => return None,
    }
    separator(13, b':')?;
    separator(16, b':')?;
    (civil.hour, civil.minute, civil.second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    let rest = &text[19..];
    let rest = rest.strip_suffix('Z').unwrap_or(rest);
    if !rest.is_empty() {
        let fraction = rest.strip_prefix('.')?;
        if fraction.is_empty() || fraction.len() > 7 {
            return None;
        }
        let scale = 10_i64.pow(7 - fraction.len() as u32);
        civil.fraction = digits(20, 20 + fraction.len())? * scale;
    }
    civil.ticks()
}

/// Writes the one canonical form, `YYYY-MM-DDThh:mm:ss.fffffffZ`.
pub fn format(ticks: i64) -> Option<String> {
    let Civil { year, month, day, hour, minute, second, fraction } = Civil::from_ticks(ticks)?;
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:07}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_two_eras_survives_the_round_trip() {
        for days in days_from_civil(1599, 12, 31)..days_from_civil(2401, 1, 2) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
            assert!(day <= days_in_month(year, month), "{year}-{month}-{day}");
        }
    }

    #[test]
    fn canonical_text_is_a_fixed_point() {
        for text in [
            "0001-01-01T00:00:00.0000000Z",
            "1600-02-29T23:59:59.9999999Z",
            "1969-12-31T23:59:59.9999999Z",
            "1970-01-01T00:00:00.0000000Z",
            "2024-02-29T12:34:56.7890123Z",
            "9999-12-31T23:59:59.9999999Z",
        ] {
            assert_eq!(format(parse(text).unwrap()).unwrap(), text);
        }
        assert_eq!(parse("1970-01-01T00:00:00.0000001Z"), Some(1));
        assert_eq!(parse("1969-12-31T23:59:59.9999999Z"), Some(-1));
    }

    #[test]
    fn short_forms_name_the_same_instants() {
        for text in
            ["2023-03-06", "2023-03-06Z", "2023-03-06T00:00:00", "2023-03-06 00:00:00Z", "2023-03-06T00:00:00.0Z"]
        {
            assert_eq!(parse(text), parse("2023-03-06T00:00:00.0000000Z"), "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "2023",
            "2023-3-06",
            "2023-02-29",
            "2023-13-01",
            "2023-03-06T15:29",
            "2023-03-06T24:00:00",
            "2023-03-06T15:29:60",
            "2023-03-06T15:29:59.",
            "2023-03-06T15:29:59.12345678Z",
            "2023-03-06T15:29:59+01:00",
            "0000-01-01",
            "2023-03-06x",
            "2023-03-06T15:29:59é",
            "é023-03-06",
            "+023-03-06",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn outside_the_calendar_there_is_no_text() {
        assert_eq!(format(LAST + 1), None);
        assert_eq!(format(FIRST - 1), None);
        assert_eq!(format(i64::MIN), None);
    }
}
