//! Arrays, sets and the pairs of an object.

use super::{Arity, Function, Scope, exactly, seeing, strict};
use crate::limits::ARRAY_ELEMENTS_MAX;
use crate::operators::{self, Truth};
use crate::value::{Kind, Val, compare, contains_part, equal, key};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

pub(super) const FUNCTIONS: &[Function] = &[
    strict("ARRAY_AVG", exactly(1), array_avg),
    strict("ARRAY_CONCAT", Arity::AtLeast(2), array_concat),
    strict("ARRAY_CONTAINS", Arity::Between(2, 3), array_contains),
    seeing("ARRAY_CONTAINS_ALL", Arity::AtLeast(2), |args, _| contains_each(args, operators::and)),
    seeing("ARRAY_CONTAINS_ANY", Arity::AtLeast(2), |args, _| contains_each(args, operators::or)),
    strict("ARRAY_LENGTH", exactly(1), |args, _| {
        args[0].elements().map_or(Val::Undefined, |all| Val::count(all.count()))
    }),
    strict("ARRAY_MAX", exactly(1), |args, _| extreme(&args[0], Ordering::Greater)),
    strict("ARRAY_MEDIAN", exactly(1), array_median),
    strict("ARRAY_MIN", exactly(1), |args, _| extreme(&args[0], Ordering::Less)),
    strict("ARRAY_SLICE", Arity::Between(2, 3), array_slice),
    strict("ARRAY_SUM", exactly(1), |args, _| numbers(&args[0]).map(|all| all.iter().sum::<f64>()).into()),
    strict("CHOOSE", Arity::AtLeast(2), choose),
    strict("ObjectToArray", Arity::Between(1, 3), object_to_array),
    strict("SetDifference", exactly(2), set_difference),
    strict("SetEqual", exactly(2), set_equal),
    strict("SetIntersect", exactly(2), set_intersect),
    strict("SetUnion", exactly(2), set_union),
    // Sent by SDKs where the first argument need not be an array: then nothing is contained in it.
    seeing("_TRY_ARRAY_CONTAINS", Arity::Between(2, 3), try_array_contains),
];

fn array_concat<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let mut joined = Vec::new();
    for arg in args {
        let Some(elements) = arg.elements() else { return Val::Undefined };
        joined.extend(elements);
        if joined.len() > ARRAY_ELEMENTS_MAX {
            return Val::Undefined;
        }
    }
    Val::Array(joined.into())
}

/// With a third argument of `true`, an object matches when it has all properties of the needle.
fn array_contains<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let partial = args.get(2).map_or(Some(false), Val::as_bool);
    let (Some(mut elements), Some(partial)) = (args[0].elements(), partial) else { return Val::Undefined };
    let needle = &args[1];
    Val::Bool(if partial {
        elements.any(|element| contains_part(&element, needle))
    } else {
        elements.any(|element| equal(&element, needle))
    })
}

fn try_array_contains<'r>(args: &[Val<'r>], scope: &Scope) -> Val<'r> {
    if args.iter().all(Val::is_defined) && args[0].kind() == Kind::Array {
        return array_contains(args, scope);
    }
    Val::Bool(false)
}

/// One question per needle, joined by the three-valued AND or OR.
fn contains_each<'r>(args: &[Val<'r>], join: impl Fn(Vec<Truth>) -> Truth) -> Val<'r> {
    let [array, needles @ ..] = args else { return Val::Undefined };
    if array.kind() != Kind::Array {
        return Val::Undefined;
    }
    let contains = |needle: &Val<'r>| {
        needle.is_defined().then(|| array.elements().is_some_and(|mut all| all.any(|element| equal(&element, needle))))
    };
    join(needles.iter().map(contains).collect()).into()
}

fn numbers(array: &Val<'_>) -> Option<Vec<f64>> {
    array.elements()?.map(|element| element.as_f64()).collect()
}

fn array_avg<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    match numbers(&args[0]) {
        Some(all) if !all.is_empty() => Val::double(all.iter().sum::<f64>() / all.len() as f64),
        _ => Val::Undefined,
    }
}

/// Of an even count, the mean of the middle two.
fn array_median<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let Some(mut all) = numbers(&args[0]).filter(|all| !all.is_empty()) else { return Val::Undefined };
    all.sort_unstable_by(f64::total_cmp);
    let middle = all.len() / 2;
    Val::double(if all.len() % 2 == 1 { all[middle] } else { (all[middle - 1] + all[middle]) / 2.0 })
}

/// The smallest or largest element; only primitive ones can be ranked.
fn extreme<'r>(array: &Val<'r>, wanted: Ordering) -> Val<'r> {
    let Some(elements) = array.elements() else { return Val::Undefined };
    let mut best = Val::Undefined;
    for element in elements {
        if element.kind() >= Kind::Array {
            return Val::Undefined;
        }
        if !best.is_defined() || compare(&element, &best) == wanted {
            best = element;
        }
    }
    best
}

/// A negative start counts from the end; the optional third argument is the largest length of the result.
fn array_slice<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let length = args.get(2).map_or(Some(f64::INFINITY), Val::as_f64);
    let (Some(elements), Some(start), Some(length)) = (args[0].elements(), args[1].as_f64(), length) else {
        return Val::Undefined;
    };
    let all: Vec<Val<'r>> = elements.collect();
    let start = if start < 0.0 { (start + all.len() as f64).max(0.0) } else { start };
    // The casts saturate: whatever is past the array is past the array.
    Val::Array(all.into_iter().skip(start as usize).take(length.max(0.0) as usize).collect())
}

/// One-based.
fn choose<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    match args[0].as_i64().and_then(|index| usize::try_from(index).ok()) {
        Some(index) if index > 0 => args.get(index).cloned().unwrap_or(Val::Undefined),
        _ => Val::Undefined,
    }
}

fn object_to_array<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let name_of = |index: usize, usual: &'static str| match args.get(index) {
        None => Some(Cow::Borrowed(usual)),
        Some(name) => name.to_text(),
    };
    let (Some(members), Some(key), Some(value)) = (args[0].members(), name_of(1, "k"), name_of(2, "v")) else {
        return Val::Undefined;
    };
    Val::Array(
        members
            .into_iter()
            .map(|(name, member)| Val::object([(key.clone(), Val::Text(name)), (value.clone(), member)]))
            .collect(),
    )
}

/// A set of values, by their keys.
#[derive(Default)]
struct Set(HashSet<Vec<u8>>);

impl Set {
    /// Whether the value is new.
    fn insert(&mut self, value: &Val<'_>) -> bool {
        self.0.insert(key_of(value))
    }

    fn contains(&self, value: &Val<'_>) -> bool {
        self.0.contains(&key_of(value))
    }
}

fn key_of(value: &Val<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    key::append(value, &mut bytes);
    bytes
}

fn set_of(array: &Val<'_>) -> Option<Set> {
    Some(Set(array.elements()?.map(|element| key_of(&element)).collect()))
}

fn set_difference<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let (Some(elements), Some(mut taken)) = (args[0].elements(), set_of(&args[1])) else { return Val::Undefined };
    Val::array(elements.filter(|element| taken.insert(element)))
}

fn set_equal<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    match (set_of(&args[0]), set_of(&args[1])) {
        (Some(a), Some(b)) => Val::Bool(a.0 == b.0),
        _ => Val::Undefined,
    }
}

/// In the order of the second array, as the reference shows it.
fn set_intersect<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let (Some(first), Some(elements)) = (set_of(&args[0]), args[1].elements()) else { return Val::Undefined };
    let mut seen = Set::default();
    Val::array(elements.filter(|element| first.contains(element) && seen.insert(element)))
}

fn set_union<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let (Some(first), Some(second)) = (args[0].elements(), args[1].elements()) else { return Val::Undefined };
    let mut seen = Set::default();
    Val::array(first.chain(second).filter(|element| seen.insert(element)))
}
