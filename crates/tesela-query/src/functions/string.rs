//! Strings. Lengths and positions count UTF-16 units, as the service and its clients do.
//!
//! A cut inside a surrogate pair leaves half a character, which no UTF-8 text can hold: it becomes U+FFFD.

use super::{Arity, Function, Scope, exactly, seeing, strict};
use crate::limits::{ARRAY_ELEMENTS_MAX, TEXT_BYTES_MAX};
use crate::operators::{self, Truth};
use crate::value::Val;
use std::borrow::Cow;
use tesela_model::json::{self, Number, Value};

/// Length of what REPLICATE may build, in UTF-16 units (service limit).
const REPLICATE_UNITS_MAX: usize = 10_000;

pub(super) const FUNCTIONS: &[Function] = &[
    strict("CONCAT", Arity::AtLeast(2), |args, _| operators::concat(args)),
    strict("CONTAINS", Arity::Between(2, 3), |args, _| test(args, |text, part| text.contains(part))),
    seeing("CONTAINS_ALL_CI", Arity::AtLeast(2), |args, _| contains_each(args, true, operators::and)),
    seeing("CONTAINS_ALL_CS", Arity::AtLeast(2), |args, _| contains_each(args, false, operators::and)),
    seeing("CONTAINS_ANY_CI", Arity::AtLeast(2), |args, _| contains_each(args, true, operators::or)),
    seeing("CONTAINS_ANY_CS", Arity::AtLeast(2), |args, _| contains_each(args, false, operators::or)),
    strict("ENDSWITH", Arity::Between(2, 3), |args, _| test(args, |text, part| text.ends_with(part))),
    strict("INDEX_OF", Arity::Between(2, 3), index_of),
    strict("LASTINDEXOF", Arity::Between(2, 3), last_index_of),
    strict("LastSubstringAfter", exactly(2), |args, _| around(args, Match::Last, Piece::After)),
    strict("LastSubstringBefore", exactly(2), |args, _| around(args, Match::Last, Piece::Before)),
    strict("LEFT", exactly(2), left),
    strict("LENGTH", exactly(1), |args, _| args[0].as_str().map_or(Val::Undefined, |text| Val::count(units(&text)))),
    strict("LOWER", exactly(1), |args, _| args[0].as_str().map(|text| lower(&text)).into()),
    strict("LTRIM", Arity::Between(1, 2), |args, _| trim(args, true, false)),
    strict("REGEXMATCH", Arity::Between(2, 3), regex_match),
    strict("REPLACE", exactly(3), replace),
    strict("REPLICATE", exactly(2), replicate),
    strict("REVERSE", exactly(1), |args, _| args[0].as_str().map(|text| text.chars().rev().collect::<String>()).into()),
    strict("RIGHT", exactly(2), right),
    strict("RTRIM", Arity::Between(1, 2), |args, _| trim(args, false, true)),
    strict("STARTSWITH", Arity::Between(2, 3), |args, _| test(args, |text, part| text.starts_with(part))),
    strict("StringEquals", Arity::Between(2, 3), |args, _| test(args, |text, part| text == part)),
    strict("StringJoin", exactly(2), string_join),
    strict("StringSplit", exactly(2), string_split),
    strict("StringToArray", exactly(1), |args, _| read(args, |value| matches!(value, Value::Array(_)))),
    strict("StringToBoolean", exactly(1), |args, _| read(args, |value| matches!(value, Value::Bool(_)))),
    strict("StringToNull", exactly(1), |args, _| read(args, Value::is_null)),
    strict("StringToNumber", exactly(1), |args, _| read(args, |value| matches!(value, Value::Number(_)))),
    strict("StringToObject", exactly(1), |args, _| read(args, |value| matches!(value, Value::Object(_)))),
    strict("SUBSTRING", exactly(3), substring),
    strict("SubstringAfter", exactly(2), |args, _| around(args, Match::First, Piece::After)),
    strict("SubstringBefore", exactly(2), |args, _| around(args, Match::First, Piece::Before)),
    strict("ToString", exactly(1), to_string),
    strict("TRIM", Arity::Between(1, 2), |args, _| trim(args, true, true)),
    strict("UPPER", exactly(1), |args, _| args[0].as_str().map(|text| upper(&text)).into()),
];

/// Length in UTF-16 units.
fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// The piece of `length` units from `start` on, or what there is of it.
fn slice(text: Cow<'_, str>, start: usize, length: usize) -> Cow<'_, str> {
    if text.is_ascii() {
        let start = start.min(text.len());
        let end = start.saturating_add(length).min(text.len());
        return match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
            Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
        };
    }
    let all: Vec<u16> = text.encode_utf16().skip(start).take(length).collect();
    Cow::Owned(String::from_utf16_lossy(&all))
}

/// Simple case mapping: characters that would turn into several stay as they are, like the service's.
fn lower(text: &str) -> String {
    text.chars().map(|c| single(c, c.to_lowercase())).collect()
}

fn upper(text: &str) -> String {
    text.chars().map(|c| single(c, c.to_uppercase())).collect()
}

fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// A question about two strings; a third argument of `true` asks it without regard to case.
fn test<'r>(args: &[Val<'r>], question: impl Fn(&str, &str) -> bool) -> Val<'r> {
    let ignore_case = args.get(2).map_or(Some(false), Val::as_bool);
    let (Some(text), Some(part), Some(ignore_case)) = (args[0].as_str(), args[1].as_str(), ignore_case) else {
        return Val::Undefined;
    };
    Val::Bool(if ignore_case { question(&upper(&text), &upper(&part)) } else { question(&text, &part) })
}

fn contains_each<'r>(args: &[Val<'r>], ignore_case: bool, join: impl Fn(Vec<Truth>) -> Truth) -> Val<'r> {
    let Some(text) = args[0].as_str() else { return Val::Undefined };
    let text = if ignore_case { Cow::Owned(upper(&text)) } else { text };
    let contains = |part: &Val<'r>| {
        let part = part.as_str()?;
        Some(if ignore_case { text.contains(&upper(&part)) } else { text.contains(&*part) })
    };
    join(args[1..].iter().map(contains).collect()).into()
}

/// Zero-based; -1 when there is no match at or behind the optional start.
fn index_of<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let start = args.get(2).map_or(Some(0.0), Val::as_f64);
    let (Some(text), Some(part), Some(start)) = (args[0].as_str(), args[1].as_str(), start) else {
        return Val::Undefined;
    };
    let start = start.max(0.0) as usize;
    let Some(from) = byte_at(&text, start) else { return Val::int(-1) };
    match text[from..].find(&*part) {
        Some(at) => Val::count(units(&text[..from + at])),
        None => Val::int(-1),
    }
}

/// The last match that ends at or before the optional position; -1 when there is none.
fn last_index_of<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let end = args.get(2).map_or(Some(f64::INFINITY), Val::as_f64);
    let (Some(text), Some(part), Some(end)) = (args[0].as_str(), args[1].as_str(), end) else {
        return Val::Undefined;
    };
    let until = byte_at(&text, end.max(0.0) as usize).unwrap_or(text.len());
    match text[..until].rfind(&*part) {
        Some(at) => Val::count(units(&text[..at])),
        None => Val::int(-1),
    }
}

/// Byte offset of a position in UTF-16 units; inside a pair, the offset behind it. `None` past the end.
fn byte_at(text: &str, position: usize) -> Option<usize> {
    let mut seen = 0;
    for (at, c) in text.char_indices() {
        if seen >= position {
            return Some(at);
        }
        seen += c.len_utf16();
    }
    (seen >= position).then_some(text.len())
}

enum Match {
    First,
    Last,
}

enum Piece {
    Before,
    After,
}

/// The part of a string before or behind a match; the whole string when there is none.
fn around<'r>(args: &[Val<'r>], which: Match, piece: Piece) -> Val<'r> {
    let (Some(text), Some(part)) = (args[0].as_str(), args[1].as_str()) else { return Val::Undefined };
    let found = match which {
        Match::First => text.find(&*part),
        Match::Last => text.rfind(&*part),
    };
    match (found, piece) {
        (Some(at), Piece::Before) => Val::from(text[..at].to_owned()),
        (Some(at), Piece::After) => Val::from(text[at + part.len()..].to_owned()),
        (None, _) => args[0].clone(),
    }
}

fn left<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    match (args[0].to_text(), args[1].as_f64()) {
        (Some(text), Some(count)) => Val::Text(slice(text, 0, count.max(0.0) as usize)),
        _ => Val::Undefined,
    }
}

fn right<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    match (args[0].to_text(), args[1].as_f64()) {
        (Some(text), Some(count)) => {
            let count = count.max(0.0) as usize;
            let start = units(&text).saturating_sub(count);
            Val::Text(slice(text, start, count))
        }
        _ => Val::Undefined,
    }
}

fn substring<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    match (args[0].to_text(), args[1].as_f64(), args[2].as_f64()) {
        (Some(_), Some(start), Some(length)) if start < 0.0 || length <= 0.0 => Val::text(""),
        (Some(text), Some(start), Some(length)) => Val::Text(slice(text, start as usize, length as usize)),
        _ => Val::Undefined,
    }
}

/// Blanks, or the characters of the second argument.
fn trim<'r>(args: &[Val<'r>], start: bool, end: bool) -> Val<'r> {
    let set = args.get(1).map(Val::as_str);
    let Some(text) = args[0].as_str() else { return Val::Undefined };
    let gone = |c: char| match &set {
        None => c.is_whitespace(),
        Some(set) => set.as_ref().is_some_and(|set| set.contains(c)),
    };
    if set == Some(None) {
        return Val::Undefined;
    }
    let mut rest = &*text;
    if start {
        rest = rest.trim_start_matches(gone);
    }
    if end {
        rest = rest.trim_end_matches(gone);
    }
    if rest.len() == text.len() { args[0].clone() } else { Val::from(rest.to_owned()) }
}

fn regex_match<'r>(args: &[Val<'r>], scope: &Scope) -> Val<'r> {
    let modifiers = args.get(2).map_or(Some(Cow::Borrowed("")), Val::as_str);
    match (args[0].as_str(), args[1].as_str(), modifiers) {
        (Some(text), Some(pattern), Some(modifiers)) => scope.matches(&text, &pattern, &modifiers).into(),
        _ => Val::Undefined,
    }
}

/// All occurrences; an empty one to find leaves the string as it is.
fn replace<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let (Some(text), Some(from), Some(to)) = (args[0].as_str(), args[1].as_str(), args[2].as_str()) else {
        return Val::Undefined;
    };
    if from.is_empty() {
        return args[0].clone();
    }
    let grown = text.matches(&*from).count().saturating_mul(to.len()).saturating_add(text.len());
    if to.len() > from.len() && grown > TEXT_BYTES_MAX {
        return Val::Undefined;
    }
    Val::from(text.replace(&*from, &to))
}

fn replicate<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let (Some(text), Some(count)) = (args[0].as_str(), args[1].as_f64()) else { return Val::Undefined };
    if !count.is_finite() || count < 0.0 {
        return Val::Undefined;
    }
    let count = count as usize; // truncates, saturates
    if units(&text).saturating_mul(count) > REPLICATE_UNITS_MAX {
        return Val::Undefined;
    }
    Val::from(text.repeat(count))
}

fn string_join<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let (Some(elements), Some(separator)) = (args[0].elements(), args[1].as_str()) else { return Val::Undefined };
    let mut joined = String::new();
    for (index, element) in elements.enumerate() {
        let Some(text) = element.as_str() else { return Val::Undefined };
        if index > 0 {
            joined.push_str(&separator);
        }
        joined.push_str(&text);
        if joined.len() > TEXT_BYTES_MAX {
            return Val::Undefined;
        }
    }
    Val::from(joined)
}

/// An empty separator cuts nothing.
fn string_split<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let (Some(text), Some(separator)) = (args[0].as_str(), args[1].as_str()) else { return Val::Undefined };
    if separator.is_empty() {
        return Val::Array([args[0].clone()].into());
    }
    let pieces: Vec<Val<'r>> =
        text.split(&*separator).take(ARRAY_ELEMENTS_MAX + 1).map(|piece| Val::from(piece.to_owned())).collect();
    if pieces.len() > ARRAY_ELEMENTS_MAX { Val::Undefined } else { Val::Array(pieces.into()) }
}

/// Reads JSON text that must be of the wanted type.
fn read<'r>(args: &[Val<'r>], wanted: impl Fn(&Value) -> bool) -> Val<'r> {
    let value = args[0].as_str().and_then(|text| json::parse(text.as_bytes()).ok());
    value.filter(wanted).map_or(Val::Undefined, Val::from_value)
}

/// JSON text with numbers in their shortest spelling, except that a string stays as it is and numbers JSON cannot spell
/// have names.
fn to_string<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    if let Some(number) = args[0].as_num() {
        return Val::from(Number::from(number).text().into_owned());
    }
    match args[0].to_text() {
        Some(text) => Val::Text(text),
        None => args[0].to_value().map_or(Val::Undefined, |value| Val::from(Val::from_value(value).to_json())),
    }
}
