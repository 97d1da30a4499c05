//! Date and time: UTC text in, UTC text out, 100 ns ticks between. See [`crate::calendar`].
//!
//! Texts are read in the short forms too (`2024-10-10 14:40:20`) and always written in the canonical one. The
//! functions that read the clock take the moment the execution was given; their `…Static` forms are replaced by the
//! moment of compilation, so that all rows of a query agree.

mod format;

use super::{Arity, Function, Scope, each_row, exactly, strict};
use crate::calendar::{self, Civil, TICKS_PER_DAY, TICKS_PER_SECOND, days_in_month};
use crate::value::Val;

const TICKS_PER_MILLISECOND: i64 = TICKS_PER_SECOND / 1_000;
const TICKS_PER_MICROSECOND: i64 = TICKS_PER_MILLISECOND / 1_000;
const NANOSECONDS_PER_TICK: i64 = 100;

pub(super) const FUNCTIONS: &[Function] = &[
    each_row("AGO", exactly(2), |args, scope| shifted_now(args, scope, -1)),
    strict("DateTimeAdd", exactly(3), date_time_add),
    strict("DateTimeBin", Arity::Between(2, 4), date_time_bin),
    strict("DateTimeDiff", exactly(3), date_time_diff),
    strict("DateTimeFormat", exactly(2), date_time_format),
    strict("DateTimeFromParts", Arity::Between(3, 7), date_time_from_parts),
    strict("DateTimePart", exactly(2), |args, _| field(part(&args[0]), &args[1])),
    strict("DateTimeToTicks", exactly(1), |args, _| ticks(&args[0]).into()),
    strict("DateTimeToTimestamp", exactly(1), |args, _| ticks(&args[0]).map(timestamp).into()),
    strict("DAY", exactly(1), |args, _| field(Some(Part::Day), &args[0])),
    each_row("GetCurrentDateTime", exactly(0), |_, scope| text(Some(scope.now_ticks.get()))),
    each_row("GetCurrentTicks", exactly(0), |_, scope| Val::int(scope.now_ticks.get())),
    each_row("GetCurrentTimestamp", exactly(0), |_, scope| Val::int(timestamp(scope.now_ticks.get()))),
    // Folded when the query is compiled: the scope then holds the moment of the whole query.
    strict("GetCurrentDateTimeStatic", exactly(0), |_, scope| text(Some(scope.now_ticks.get()))),
    strict("GetCurrentTicksStatic", exactly(0), |_, scope| Val::int(scope.now_ticks.get())),
    strict("GetCurrentTimestampStatic", exactly(0), |_, scope| Val::int(timestamp(scope.now_ticks.get()))),
    strict("MONTH", exactly(1), |args, _| field(Some(Part::Month), &args[0])),
    each_row("NOW", Arity::NoneOr(2), now),
    strict("TicksToDateTime", exactly(1), |args, _| text(args[0].as_i64())),
    strict("TimestampToDateTime", exactly(1), |args, _| {
        text(args[0].as_i64().and_then(|ms| ms.checked_mul(TICKS_PER_MILLISECOND)))
    }),
    strict("YEAR", exactly(1), |args, _| field(Some(Part::Year), &args[0])),
];

/// A unit of the calendar or of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

fn part(name: &Val<'_>) -> Option<Part> {
    Some(match name.as_str()?.to_ascii_lowercase().as_str() {
        "year" | "yyyy" | "yy" => Part::Year,
        "month" | "mm" | "m" => Part::Month,
        "day" | "dd" | "d" => Part::Day,
        "hour" | "hh" => Part::Hour,
        "minute" | "mi" | "n" => Part::Minute,
        "second" | "ss" | "s" => Part::Second,
        "millisecond" | "ms" => Part::Millisecond,
        "microsecond" | "mcs" => Part::Microsecond,
        "nanosecond" | "ns" => Part::Nanosecond,
        _ => return None,
    })
}

impl Part {
    /// Nanoseconds of one unit; years and months have no fixed length.
    fn nanoseconds(self) -> Option<i128> {
        let ticks = match self {
            Self::Year | Self::Month => return None,
            Self::Day => TICKS_PER_DAY,
            Self::Hour => 3600 * TICKS_PER_SECOND,
            Self::Minute => 60 * TICKS_PER_SECOND,
            Self::Second => TICKS_PER_SECOND,
            Self::Millisecond => TICKS_PER_MILLISECOND,
            Self::Microsecond => TICKS_PER_MICROSECOND,
            Self::Nanosecond => return Some(1),
        };
        Some(i128::from(ticks) * i128::from(NANOSECONDS_PER_TICK))
    }
}

fn ticks(value: &Val<'_>) -> Option<i64> {
    calendar::parse(&value.as_str()?)
}

fn text<'r>(ticks: Option<i64>) -> Val<'r> {
    ticks.and_then(calendar::format).into()
}

fn timestamp(ticks: i64) -> i64 {
    ticks.div_euclid(TICKS_PER_MILLISECOND)
}

fn nanoseconds(ticks: i64) -> i128 {
    i128::from(ticks) * i128::from(NANOSECONDS_PER_TICK)
}

/// The tick a count of nanoseconds falls in.
fn to_ticks(nanoseconds: i128) -> Option<i64> {
    i64::try_from(nanoseconds.div_euclid(i128::from(NANOSECONDS_PER_TICK))).ok()
}

/// Months and years keep the day where the target month has it, else take its last day.
fn add(part: Part, count: i64, ticks: i64) -> Option<i64> {
    if let Some(unit) = part.nanoseconds() {
        return to_ticks(nanoseconds(ticks) + unit * i128::from(count));
    }
    let months = if part == Part::Year { count.checked_mul(12)? } else { count };
    let mut civil = Civil::from_ticks(ticks)?;
    let total = (civil.year * 12 + civil.month - 1).checked_add(months)?;
    (civil.year, civil.month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    civil.day = civil.day.min(days_in_month(civil.year, civil.month));
    civil.ticks()
}

fn date_time_add<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    match (part(&args[0]), args[1].as_i64(), ticks(&args[2])) {
        (Some(part), Some(count), Some(ticks)) => text(add(part, count, ticks)),
        _ => Val::Undefined,
    }
}

fn now<'r>(args: &[Val<'r>], scope: &Scope) -> Val<'r> {
    if args.is_empty() { text(Some(scope.now_ticks.get())) } else { shifted_now(args, scope, 1) }
}

fn shifted_now<'r>(args: &[Val<'r>], scope: &Scope, direction: i64) -> Val<'r> {
    match (part(&args[0]), args[1].as_i64().and_then(|count| count.checked_mul(direction))) {
        (Some(part), Some(count)) => text(add(part, count, scope.now_ticks.get())),
        _ => Val::Undefined,
    }
}

/// The start of the bin an instant falls in; bins are counted from an origin that is not before 1601.
fn date_time_bin<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    const FIRST_ORIGIN: &str = "1601-01-01";
    let unit = part(&args[1]).and_then(Part::nanoseconds);
    let size = args.get(2).map_or(Some(1), Val::as_i64).filter(|size| *size > 0);
    let origin = args.get(3).map_or(Some(0), ticks).filter(|origin| Some(*origin) >= calendar::parse(FIRST_ORIGIN));
    let (Some(ticks), Some(unit), Some(size), Some(origin)) = (ticks(&args[0]), unit, size, origin) else {
        return Val::Undefined;
    };
    let (at, origin, bin) = (nanoseconds(ticks), nanoseconds(origin), unit * i128::from(size));
    text(to_ticks(origin + (at - origin).div_euclid(bin) * bin))
}

/// How many borders of the unit lie between two instants, not how much time.
fn date_time_diff<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let (Some(part), Some(start), Some(end)) = (part(&args[0]), ticks(&args[1]), ticks(&args[2])) else {
        return Val::Undefined;
    };
    let ordinal = |ticks: i64| -> Option<i64> {
        match part.nanoseconds() {
            Some(unit) => i64::try_from(nanoseconds(ticks).div_euclid(unit)).ok(),
            None => Civil::from_ticks(ticks)
                .map(|civil| if part == Part::Year { civil.year } else { civil.year * 12 + civil.month }),
        }
    };
    ordinal(end).zip(ordinal(start)).and_then(|(end, start)| end.checked_sub(start)).into()
}

fn date_time_format<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    match (ticks(&args[0]).and_then(Civil::from_ticks), args[1].as_str()) {
        (Some(civil), Some(pattern)) => Val::from(format::format(civil, &pattern)),
        _ => Val::Undefined,
    }
}

fn date_time_from_parts<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let Some(fields) = args.iter().map(Val::as_i64).collect::<Option<Vec<i64>>>() else { return Val::Undefined };
    let field = |index: usize| fields.get(index).copied().unwrap_or(0);
    let civil = Civil {
        year: field(0),
        month: field(1),
        day: field(2),
        hour: field(3),
        minute: field(4),
        second: field(5),
        fraction: field(6),
    };
    text(civil.ticks())
}

/// The fraction of a second is given whole, in the unit asked for.
fn field<'r>(part: Option<Part>, date: &Val<'_>) -> Val<'r> {
    let (Some(part), Some(civil)) = (part, ticks(date).and_then(Civil::from_ticks)) else { return Val::Undefined };
    Val::int(match part {
        Part::Year => civil.year,
        Part::Month => civil.month,
        Part::Day => civil.day,
        Part::Hour => civil.hour,
        Part::Minute => civil.minute,
        Part::Second => civil.second,
        Part::Millisecond => civil.fraction / TICKS_PER_MILLISECOND,
        Part::Microsecond => civil.fraction / TICKS_PER_MICROSECOND,
        Part::Nanosecond => civil.fraction * NANOSECONDS_PER_TICK,
    })
}
