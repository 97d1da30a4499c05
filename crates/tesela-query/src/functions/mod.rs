//! The built-in functions, one family to a file.
//!
//! A function is a row of its family's table: name, arity, what it makes of undefined arguments, and when it may
//! be computed. The binder looks a call up once; a row then costs one indirect call.
//!
//! Rules that hold for every entry unless it says otherwise:
//! * an undefined argument makes the result undefined ([`Undefined::Strict`]);
//! * an argument of the wrong type makes the result undefined, never an error;
//! * a result that would pass a limit of [`crate::limits`] is undefined.
//!
//! A call whose arguments are all constant is computed when the query is compiled, unless it depends on the moment
//! or on chance.
//!
//! Not here, because they are more than functions of their arguments: the aggregates ([`crate::aggregate`]),
//! `DOCUMENTID` (needs the document), `FullTextScore` and `RRF` (only mean something inside ORDER BY RANK) and
//! user-defined functions. The binder knows them by name.

mod array;
mod conditional;
mod date_time;
pub mod full_text;
mod math;
mod spatial;
mod string;
mod type_check;
pub mod vector;

#[cfg(test)]
mod tests;

pub use spatial::Geospatial;

use crate::limits::{REGEX_BYTES_MAX, REGEX_CACHE_ENTRIES_MAX};
use crate::value::Val;
use regex::{Regex, RegexBuilder};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// The code of a function. Arguments match the arity of its table row.
pub type Implementation = for<'r> fn(&[Val<'r>], &Scope) -> Val<'r>;

/// One row of a family's table.
pub struct Function {
    pub name: &'static str,
    pub arity: Arity,
    pub undefined: Undefined,
    pub timing: Timing,
    pub call: Implementation,
}

/// How many arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    Between(usize, usize),
    AtLeast(usize),
    /// None at all, or exactly this many.
    NoneOr(usize),
}

/// What a function makes of an undefined argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// The result is undefined and the function is not called.
    Strict,
    /// The function sees it and decides.
    Seen,
}

/// When a call with constant arguments may be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// When the query is compiled.
    Constant,
    /// For each row: it depends on the moment or on chance.
    EachRow,
}

impl Arity {
    pub fn accepts(self, count: usize) -> bool {
        match self {
            Self::Between(min, max) => (min..=max).contains(&count),
            Self::AtLeast(min) => count >= min,
            Self::NoneOr(exact) => count == 0 || count == exact,
        }
    }
}

impl std::fmt::Display for Arity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Between(min, max) if min == max => write!(f, "{min}"),
            Self::Between(min, max) => write!(f, "{min} to {max}"),
            Self::AtLeast(min) => write!(f, "at least {min}"),
            Self::NoneOr(exact) => write!(f, "0 or {exact}"),
        }
    }
}

/// A row with the usual rules.
const fn strict(name: &'static str, arity: Arity, call: Implementation) -> Function {
    Function { name, arity, undefined: Undefined::Strict, timing: Timing::Constant, call }
}

/// A row that sees undefined arguments.
const fn seeing(name: &'static str, arity: Arity, call: Implementation) -> Function {
    Function { name, arity, undefined: Undefined::Seen, timing: Timing::Constant, call }
}

/// A row that depends on the moment or on chance.
const fn each_row(name: &'static str, arity: Arity, call: Implementation) -> Function {
    Function { name, arity, undefined: Undefined::Strict, timing: Timing::EachRow, call }
}

const fn exactly(count: usize) -> Arity {
    Arity::Between(count, count)
}

const FAMILIES: [&[Function]; 9] = [
    array::FUNCTIONS,
    conditional::FUNCTIONS,
    date_time::FUNCTIONS,
    full_text::FUNCTIONS,
    math::FUNCTIONS,
    spatial::FUNCTIONS,
    string::FUNCTIONS,
    type_check::FUNCTIONS,
    vector::FUNCTIONS,
];

/// The function of that name, in any case.
pub fn find(name: &str) -> Option<&'static Function> {
    FAMILIES.into_iter().flatten().find(|function| function.name.eq_ignore_ascii_case(name))
}

/// All functions, for listings.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.into_iter().flatten()
}

impl Function {
    /// Applies the rule for undefined arguments, then the function.
    pub fn apply<'r>(&self, args: &[Val<'r>], scope: &Scope) -> Val<'r> {
        if self.undefined == Undefined::Strict && !args.iter().all(Val::is_defined) {
            return Val::Undefined;
        }
        (self.call)(args, scope)
    }
}

/// What functions may know beside their arguments. One per execution; never shared between threads.
pub struct Scope {
    /// The moment of the current row, in ticks.
    pub now_ticks: Cell<i64>,
    pub geospatial: Geospatial,
    random: Cell<u64>,
    /// Patterns that come from documents; those of the query are compiled with it.
    patterns: RefCell<HashMap<(String, String), Option<Regex>>>,
}

impl Scope {
    pub fn new(now_ticks: i64, seed: u64, geospatial: Geospatial) -> Self {
        Self { now_ticks: Cell::new(now_ticks), geospatial, random: Cell::new(seed), patterns: RefCell::default() }
    }

    /// Uniform in [0, 1): SplitMix64 over the caller's seed, so that a seed replays a query.
    fn random(&self) -> f64 {
        let state = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let bits = (mixed ^ (mixed >> 31)) >> 11;
        bits as f64 / (1_u64 << 53) as f64
    }

    fn matches(&self, text: &str, pattern: &str, modifiers: &str) -> Option<bool> {
        let mut patterns = self.patterns.borrow_mut();
        let key = (pattern.to_owned(), modifiers.to_owned());
        if let Some(regex) = patterns.get(&key) {
            return regex.as_ref().map(|regex| regex.is_match(text));
        }
        if patterns.len() >= REGEX_CACHE_ENTRIES_MAX {
            patterns.clear();
        }
        let regex = patterns.entry(key).or_insert_with(|| regular_expression(pattern, modifiers));
        regex.as_ref().map(|regex| regex.is_match(text))
    }
}

/// Compiles a pattern of REGEXMATCH; `None` for a bad pattern or modifier. The engine is linear in the text, which
/// rules out back references and look-around: patterns with those are bad patterns here.
pub fn regular_expression(pattern: &str, modifiers: &str) -> Option<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(REGEX_BYTES_MAX).dfa_size_limit(REGEX_BYTES_MAX);
    for modifier in modifiers.chars() {
        match modifier {
            'm' => builder.multi_line(true),
            's' => builder.dot_matches_new_line(true),
            'i' => builder.case_insensitive(true),
            'x' => builder.ignore_whitespace(true),
            _ => return None,
        };
    }
    builder.build().ok()
}
