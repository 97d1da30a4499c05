//! The format language of DateTimeFormat, after .NET's custom formats.
//!
//! ```text
//! yyyy yy       year              HH H   hour, 0 to 23      fff    digits of the fraction, zeros kept
//! MMMM MMM      month by name     hh h   hour, 1 to 12      FFF    the same, zeros at the end dropped
//! MM M          month             mm m   minute             tt t   AM or PM, or its first letter
//! dddd ddd      day by name       ss s   second             \x     the character x
//! dd d          day               'text' the text
//! ```
//!
//! A letter repeated doubles the digits; everything else stands for itself.

use crate::calendar::{Civil, TICKS_PER_DAY};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
/// Letters of the short form of a name.
const SHORT_NAME: usize = 3;
/// Digits a field is padded to at most. Ours: nothing of a date needs more.
const FIELD_DIGITS_MAX: usize = 16;
/// Digits of a fraction in ticks.
const FRACTION_DIGITS: usize = 7;

pub(super) fn format(civil: Civil, pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => out.extend(rest.next()),
            '\'' => out.extend(rest.by_ref().take_while(|c| *c != '\'')),
            'y' | 'M' | 'd' | 'H' | 'h' | 'm' | 's' | 'f' | 'F' | 't' => {
                let mut count = 1;
                while rest.next_if_eq(&letter).is_some() {
                    count += 1;
                }
                specifier(civil, letter, count, &mut out);
            }
            other => out.push(other),
        }
    }
    out
}

fn specifier(civil: Civil, letter: char, count: usize, out: &mut String) {
    match letter {
        'y' if count <= 2 => digits(civil.year % 100, count, out),
        'y' => digits(civil.year, count, out),
        'M' if count > 2 => name(MONTHS[(civil.month - 1) as usize], count, out),
        'M' => digits(civil.month, count, out),
        'd' if count > 2 => name(DAYS[day_of_week(civil)], count, out),
        'd' => digits(civil.day, count, out),
        'H' => digits(civil.hour, count.min(2), out),
        'h' => digits((civil.hour + 11) % 12 + 1, count.min(2), out),
        'm' => digits(civil.minute, count.min(2), out),
        's' => digits(civil.second, count.min(2), out),
        'f' | 'F' => {
            let all = format!("{:07}", civil.fraction);
            let wanted = &all[..count.min(FRACTION_DIGITS)];
            out.push_str(if letter == 'F' { wanted.trim_end_matches('0') } else { wanted });
        }
        't' => {
            let half = if civil.hour < 12 { "AM" } else { "PM" };
            out.push_str(&half[..count.min(2)]);
        }
        _ => unreachable!("only specifiers come here"),
    }
}

/// A field as wide as its letters, within reason.
fn digits(value: i64, width: usize, out: &mut String) {
    let width = width.min(FIELD_DIGITS_MAX);
    out.push_str(&format!("{value:0width$}"));
}

fn name(name: &str, count: usize, out: &mut String) {
    out.push_str(if count == SHORT_NAME { &name[..SHORT_NAME] } else { name });
}

/// 1970-01-01 was a Thursday.
fn day_of_week(civil: Civil) -> usize {
    let days = civil.ticks().map_or(0, |ticks| ticks.div_euclid(TICKS_PER_DAY));
    days.rem_euclid(7) as usize
}
