//! Questions about the type of a value. They are never undefined: an undefined argument is simply not of the type.

use super::{Function, Implementation, Scope, exactly, seeing};
use crate::calendar;
use crate::value::{Kind, Num, Val};

pub(super) const FUNCTIONS: &[Function] = &[
    check("IS_ARRAY", |args, scope| is(Kind::Array, args, scope)),
    check("IS_BOOL", |args, scope| is(Kind::Bool, args, scope)),
    // The .NET SDK writes this name into the filters it resumes an ORDER BY with.
    check("IS_BOOLEAN", |args, scope| is(Kind::Bool, args, scope)),
    check("IS_DATETIME", is_date_time),
    check("IS_DEFINED", |args, _| Val::Bool(args[0].is_defined())),
    check("IS_FINITE_NUMBER", |args, _| Val::Bool(args[0].as_f64().is_some_and(f64::is_finite))),
    check("IS_INTEGER", is_integer),
    check("IS_NULL", |args, scope| is(Kind::Null, args, scope)),
    check("IS_NUMBER", |args, scope| is(Kind::Number, args, scope)),
    check("IS_OBJECT", |args, scope| is(Kind::Object, args, scope)),
    check("IS_PRIMITIVE", is_primitive),
    check("IS_STRING", |args, scope| is(Kind::String, args, scope)),
];

const fn check(name: &'static str, call: Implementation) -> Function {
    seeing(name, exactly(1), call)
}

fn is<'r>(kind: Kind, args: &[Val<'r>], _: &Scope) -> Val<'r> {
    Val::Bool(args[0].kind() == kind)
}

fn is_primitive<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    Val::Bool(matches!(args[0].kind(), Kind::Null | Kind::Bool | Kind::Number | Kind::String))
}

fn is_date_time<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    Val::Bool(args[0].as_str().is_some_and(|text| calendar::parse(&text).is_some()))
}

/// Whole and within 64 bits.
fn is_integer<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0; // 2^63
    Val::Bool(match args[0].as_num() {
        Some(Num::Int(_)) => true,
        Some(Num::Double(value)) => value.fract() == 0.0 && (-BEYOND..BEYOND).contains(&value),
        None => false,
    })
}
