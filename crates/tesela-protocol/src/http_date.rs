//! RFC 1123 dates, `Thu, 27 Apr 2017 00:51:12 GMT`, to and from Unix seconds, without allocating.
//!
//! Reading ignores case (some clients send the lower-cased text they signed) and trusts the numbers
//! over the day name. Calendar arithmetic is the proleptic Gregorian one counted in eras of 400 years
//! that begin on 1 March, so that the leap day is the last of its year.

const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
/// 1 January 1970 was a Thursday.
const WEEKDAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];

const DAY_SECONDS: i64 = 86_400;
const ERA_DAYS: i64 = 146_097;
/// Days from 1 March of year 0 to 1 January 1970.
const EPOCH_DAYS: i64 = 719_468;

/// Length of every formatted date.
pub const TEXT_BYTES: usize = 29;

/// Unix seconds of an RFC 1123 date, or `None` when it is not one.
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.trim_ascii().as_bytes();
    let (weekday, rest) = bytes.split_first_chunk::<3>()?;
    WEEKDAYS.iter().find(|name| name.eq_ignore_ascii_case(weekday))?;
    let [b',', b' ', d1, d2, b' ', m1, m2, m3, b' ', y1, y2, y3, y4, b' ', time @ ..] = rest else { return None };
    let [h1, h2, b':', n1, n2, b':', s1, s2, b' ', zone @ ..] = time else { return None };
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(&[*m1, *m2, *m3]))? as i64 + 1;
    let day = number(&[*d1, *d2])?;
    let year = number(&[*y1, *y2, *y3, *y4])?;
    let (hour, minute, second) = (number(&[*h1, *h2])?, number(&[*n1, *n2])?, number(&[*s1, *s2])?);
    let valid = zone.eq_ignore_ascii_case(b"GMT")
        && (1..=month_days(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    valid.then(|| days_from_civil(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second)
}

/// The RFC 1123 text of a moment. Years past 9999 or before 0 do not fit the form and show modulo.
pub fn format(unix_seconds: i64) -> String {
    let days = unix_seconds.div_euclid(DAY_SECONDS);
    let seconds = unix_seconds.rem_euclid(DAY_SECONDS);
    let (year, month, day) = civil_from_days(days);
    let mut text = Vec::with_capacity(TEXT_BYTES);
    text.extend_from_slice(WEEKDAYS[days.rem_euclid(7) as usize]);
    text.extend_from_slice(b", ");
    push_number(&mut text, day, 2);
    text.push(b' ');
    text.extend_from_slice(MONTHS[month as usize - 1]);
    text.push(b' ');
    push_number(&mut text, year.rem_euclid(10_000), 4);
    for (separator, part) in [(b' ', seconds / 3600), (b':', seconds / 60 % 60), (b':', seconds % 60)] {
        text.push(separator);
        push_number(&mut text, part, 2);
    }
    text.extend_from_slice(b" GMT");
    String::from_utf8(text).expect("names and digits are ASCII")
}

/// Calendar date (year, month 1–12, day 1–31) of a count of days since 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + EPOCH_DAYS;
    let era = shifted.div_euclid(ERA_DAYS);
    let day_of_era = shifted.rem_euclid(ERA_DAYS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted_year = year - i64::from(month <= 2);
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - EPOCH_DAYS
}

fn month_days(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
}

fn push_number(text: &mut Vec<u8>, value: i64, width: u32) {
    for place in (0..width).rev() {
        text.push(b'0' + (value / 10_i64.pow(place) % 10) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates_convert_both_ways() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 27 Apr 2017 00:51:12 GMT", 1_493_254_272),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
            assert_eq!(format(seconds), text);
        }
    }

    #[test]
    fn every_day_of_eight_centuries_survives_a_round_trip() {
        for days in -150_000..150_000 {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
            let noon = days * DAY_SECONDS + DAY_SECONDS / 2;
            assert_eq!(parse(&format(noon)), Some(noon));
        }
    }

    #[test]
    fn case_does_not_matter_and_junk_is_refused() {
        assert_eq!(parse("thu, 27 apr 2017 00:51:12 gmt"), Some(1_493_254_272));
        for text in [
            "",
            "Thu",
            "2017-04-27T00:51:12Z",
            "Thu, 27 Apr 2017 00:51:12",
            "Thu, 27 Apr 2017 00:51:12 CET",
            "Thu, 27 Foo 2017 00:51:12 GMT",
            "Thu, 30 Feb 2017 00:51:12 GMT",
            "Thu, 00 Apr 2017 00:51:12 GMT",
            "Thu, 27 Apr 2017 24:00:00 GMT",
            "Thu, 27 Apr 2017 00:51:12 GMT, Thu",
            "Xyz, 27 Apr 2017 00:51:12 GMT",
            "Thü, 27 Apr 2017 00:51:12 GMT",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
