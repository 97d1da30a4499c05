//! Mathematics: doubles for the plain functions, wrapping 64-bit integers for the `Int…` family.

use super::{Arity, Function, Implementation, Scope, each_row, exactly, strict};
use crate::value::Val;

pub(super) const FUNCTIONS: &[Function] = &[
    of_one("ABS", |args, _| one(args, f64::abs)),
    of_one("ACOS", |args, _| one(args, f64::acos)),
    of_one("ASIN", |args, _| one(args, f64::asin)),
    of_one("ATAN", |args, _| one(args, f64::atan)),
    strict("ATN2", exactly(2), |args, _| two(args, f64::atan2)),
    of_one("CEILING", |args, _| one(args, f64::ceil)),
    of_one("COS", |args, _| one(args, f64::cos)),
    of_one("COT", |args, _| one(args, |x| 1.0 / x.tan())),
    of_one("DEGREES", |args, _| one(args, f64::to_degrees)),
    of_one("EXP", |args, _| one(args, f64::exp)),
    of_one("FLOOR", |args, _| one(args, f64::floor)),
    strict("LOG", Arity::Between(1, 2), log),
    of_one("LOG10", |args, _| one(args, f64::log10)),
    strict("NumberBin", Arity::Between(1, 2), number_bin),
    strict("PI", exactly(0), |_, _| Val::double(std::f64::consts::PI)),
    strict("POWER", exactly(2), |args, _| two(args, f64::powf)),
    of_one("RADIANS", |args, _| one(args, f64::to_radians)),
    each_row("RAND", exactly(0), |_, scope| Val::double(scope.random())),
    strict("ROUND", Arity::Between(1, 2), round),
    of_one("SIGN", |args, _| one(args, |x| if x == 0.0 { 0.0 } else { x.signum() })),
    of_one("SIN", |args, _| one(args, f64::sin)),
    of_one("SQRT", |args, _| one(args, f64::sqrt)),
    of_one("SQUARE", |args, _| one(args, |x| x * x)),
    of_one("TAN", |args, _| one(args, f64::tan)),
    of_one("TRUNC", |args, _| one(args, f64::trunc)),
    strict("IntAdd", exactly(2), |args, _| integers(args, |a, b| Some(a.wrapping_add(b)))),
    strict("IntBitAnd", exactly(2), |args, _| integers(args, |a, b| Some(a & b))),
    strict("IntBitLeftShift", exactly(2), |args, _| integers(args, |a, b| Some(a.wrapping_shl(b as u32)))),
    of_one("IntBitNot", |args, _| args[0].as_i64().map(|a| !a).into()),
    strict("IntBitOr", exactly(2), |args, _| integers(args, |a, b| Some(a | b))),
    strict("IntBitRightShift", exactly(2), |args, _| integers(args, |a, b| Some(a.wrapping_shr(b as u32)))),
    strict("IntBitXor", exactly(2), |args, _| integers(args, |a, b| Some(a ^ b))),
    strict("IntDiv", exactly(2), |args, _| integers(args, |a, b| (b != 0).then(|| a.wrapping_div(b)))),
    strict("IntMod", exactly(2), |args, _| integers(args, |a, b| (b != 0).then(|| a.wrapping_rem(b)))),
    strict("IntMul", exactly(2), |args, _| integers(args, |a, b| Some(a.wrapping_mul(b)))),
    strict("IntSub", exactly(2), |args, _| integers(args, |a, b| Some(a.wrapping_sub(b)))),
];

const fn of_one(name: &'static str, call: Implementation) -> Function {
    strict(name, exactly(1), call)
}

fn one<'r>(args: &[Val<'r>], f: impl Fn(f64) -> f64) -> Val<'r> {
    args[0].as_f64().map(f).into()
}

fn two<'r>(args: &[Val<'r>], f: impl Fn(f64, f64) -> f64) -> Val<'r> {
    match (args[0].as_f64(), args[1].as_f64()) {
        (Some(a), Some(b)) => Val::double(f(a, b)),
        _ => Val::Undefined,
    }
}

fn integers<'r>(args: &[Val<'r>], f: impl Fn(i64, i64) -> Option<i64>) -> Val<'r> {
    match (args[0].as_i64(), args[1].as_i64()) {
        (Some(a), Some(b)) => f(a, b).into(),
        _ => Val::Undefined,
    }
}

/// Natural, or to the base of the second argument.
fn log<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    if args.len() == 1 {
        return one(args, f64::ln);
    }
    // The dedicated functions are exact at powers of their base; a quotient of logarithms is not.
    two(args, |x, base| match base {
        2.0 => x.log2(),
        10.0 => x.log10(),
        _ => x.ln() / base.ln(),
    })
}

/// Half away from zero, at the given decimal place.
fn round<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    if args.len() == 1 {
        return one(args, f64::round);
    }
    two(args, |x, digits| {
        let scale = 10_f64.powi(digits.clamp(-400.0, 400.0) as i32);
        let scaled = (x * scale).round();
        // Past the range of a double there is nothing to round (or nothing left).
        if scale == 0.0 {
            0.0
        } else if scaled.is_finite() && scale.is_finite() {
            scaled / scale
        } else {
            x
        }
    })
}

/// The lower edge of the bin `x` falls in; bins of negative size count downwards.
fn number_bin<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let size = args.get(1).map_or(Some(1.0), Val::as_f64);
    match (args[0].as_f64(), size) {
        (Some(x), Some(size)) if size != 0.0 => Val::double((x / size).floor() * size),
        _ => Val::Undefined,
    }
}
