//! From a bound WHERE to a filter.
//!
//! [`when`] answers "for which documents is this condition true", and likewise "false": NOT exchanges the two, AND of
//! falsehoods is an OR, and a comparison that is false is a comparison (of the same type) the other way round. What
//! cannot be said of paths is said of all documents.

use super::{DocumentPath, Filter, Kinds, PathStep, PathTest, Test};
use crate::bind::CompiledQuery;
use crate::bind::origin::Origin;
use crate::like::PrefixRest;
use crate::tree::{Expr, Prepared, Select, Source};
use crate::value::Kind;
use std::ops::Bound;
use tesela_model::json::Value;
use tesela_sql::ast::{BinaryOp, SubqueryKind, UnaryOp};

/// A filter, and whether it is the condition itself and not only implied by it.
type Derived = (Filter, bool);

const UNKNOWN: Derived = (Filter::All, false);

pub(super) fn filter(query: &CompiledQuery) -> Derived {
    let context = Context { slots: &query.slots, computed: &query.computed };
    let (filter, exact) = context.select(&query.stages[0]);
    let whole_documents = matches!(query.stages[0].sources[..], [Source::Document(_)]);
    (filter, exact && whole_documents)
}

struct Context<'q> {
    slots: &'q [Origin],
    /// Names of the computed properties the query uses.
    computed: &'q [String],
}

impl Context<'_> {
    /// The documents for which a select has a row.
    fn select(&self, select: &Select) -> Derived {
        let sources = select.sources.iter().map(|source| self.source(source));
        let condition = select.filter.as_ref().map(|filter| self.when(filter, true));
        all(sources.chain(condition))
    }

    fn source(&self, source: &Source) -> Derived {
        match source {
            Source::Document(_) | Source::Input(_) => (Filter::All, true),
            Source::Value(_, expr) => self.test(expr, Test::Kinds(Kinds::DEFINED)).unwrap_or(UNKNOWN),
            // An array must be there, but an index knows only its elements.
            Source::Each(..) => UNKNOWN,
            Source::Rows(_, inner) if inner.grouping.is_none() => (self.select(inner).0, false),
            Source::Rows(..) => UNKNOWN,
        }
    }

    /// The documents for which a condition has the wanted truth value.
    fn when(&self, expr: &Expr, wanted: bool) -> Derived {
        match expr {
            Expr::Constant(value) if value.as_bool() == Some(wanted) => (Filter::All, true),
            Expr::Constant(_) | Expr::Undefined => (Filter::None, true),
            Expr::And(operands) | Expr::Or(operands) => {
                let parts = operands.iter().map(|operand| self.when(operand, wanted));
                // AND is true when all are, and false when one is; OR the other way round.
                if matches!(expr, Expr::And(_)) == wanted { all(parts) } else { any(parts) }
            }
            Expr::Unary(UnaryOp::Not, operand) => self.when(operand, !wanted),
            Expr::Binary(op, both) => self.comparison(*op, &both.0, &both.1, wanted).unwrap_or(UNKNOWN),
            Expr::Between(all_three) => self.between(all_three, wanted).unwrap_or(UNKNOWN),
            Expr::In(operand, items) => {
                let values: Option<Vec<Value>> = items.iter().map(constant).collect();
                values.and_then(|values| self.one_of(operand, values, wanted)).unwrap_or(UNKNOWN)
            }
            Expr::InSet(operand, set) => self.one_of(operand, set.values.clone(), wanted).unwrap_or(UNKNOWN),
            Expr::Prepared(prepared, operand) => self.prepared(prepared, operand, wanted).unwrap_or(UNKNOWN),
            Expr::Call(function, args) => self.call(function.name, args, wanted).unwrap_or(UNKNOWN),
            Expr::Subquery(SubqueryKind::Exists, inner) if wanted && inner.grouping.is_none() => {
                (self.select(inner).0, false)
            }
            Expr::Slot(_) | Expr::Path(..) | Expr::Computed(..) | Expr::Step(..) => {
                self.test(expr, Test::Equals(Value::Bool(wanted))).unwrap_or(UNKNOWN)
            }
            _ => UNKNOWN,
        }
    }

    /// A test on the path an expression is; `None` when it is none.
    fn test(&self, expr: &Expr, test: Test) -> Option<Derived> {
        let path = self.path(expr)?;
        // Of one element of several the test says "some", while the condition is about a certain one.
        let exact = !path.contains(&PathStep::Each);
        Some((self.path_test(path, test), exact))
    }

    fn path_test(&self, path: DocumentPath, test: Test) -> Filter {
        let computed = matches!(path.first(), Some(PathStep::Name(name)) if self.computed.contains(name));
        Filter::Test(PathTest { path, test, computed })
    }

    fn path(&self, expr: &Expr) -> Option<DocumentPath> {
        Origin::of(expr, self.slots).path().filter(|path| !path.is_empty()).cloned()
    }

    fn inexact(&self, expr: &Expr, test: Test) -> Option<Derived> {
        self.test(expr, test).map(|(filter, _)| (filter, false))
    }

    fn comparison(&self, op: BinaryOp, left: &Expr, right: &Expr, wanted: bool) -> Option<Derived> {
        let (path, value, op) = match (constant(left), constant(right)) {
            (None, Some(value)) => (left, value, op),
            (Some(value), None) => (right, value, mirrored(op)),
            _ => return None,
        };
        let op = if wanted { op } else { negated(op) };
        let test = match op {
            BinaryOp::Equal => Test::Equals(value),
            BinaryOp::NotEqual => Test::Differs(value),
            // Only primitive values are ordered; a comparison with an array is never true nor false.
            _ if !is_primitive(&value) => return Some((Filter::None, true)),
            BinaryOp::Less => range(Bound::Unbounded, Bound::Excluded(value)),
            BinaryOp::LessOrEqual => range(Bound::Unbounded, Bound::Included(value)),
            BinaryOp::Greater => range(Bound::Excluded(value), Bound::Unbounded),
            BinaryOp::GreaterOrEqual => range(Bound::Included(value), Bound::Unbounded),
            _ => return None,
        };
        self.test(path, test)
    }

    fn between(&self, (operand, low, high): &(Expr, Expr, Expr), wanted: bool) -> Option<Derived> {
        let (low, high) = (constant(low)?, constant(high)?);
        let side = |low: Bound<Value>, high: Bound<Value>| self.test(operand, range(low, high));
        let comparable = is_primitive(&low) && low.type_name() == high.type_name();
        match (comparable, wanted) {
            (true, true) => side(Bound::Included(low), Bound::Included(high)),
            // False needs only one bound to fail, and then the other one may be of any type.
            (_, false) => {
                let below = if is_primitive(&low) {
                    side(Bound::Unbounded, Bound::Excluded(low))?
                } else {
                    (Filter::None, true)
                };
                let above = if is_primitive(&high) {
                    side(Bound::Excluded(high), Bound::Unbounded)?
                } else {
                    (Filter::None, true)
                };
                Some(any([below, above]))
            }
            (false, true) => self.path(operand).map(|_| (Filter::None, true)),
        }
    }

    fn one_of(&self, operand: &Expr, values: Vec<Value>, wanted: bool) -> Option<Derived> {
        if wanted {
            return self.test(operand, Test::OneOf(values));
        }
        let differs = values.into_iter().map(|value| self.test(operand, Test::Differs(value)));
        Some(all(differs.collect::<Option<Vec<_>>>()?))
    }

    fn prepared(&self, prepared: &Prepared, operand: &Expr, wanted: bool) -> Option<Derived> {
        let string = Test::Kinds(Kinds::of(Kind::String));
        match prepared {
            Prepared::Like(pattern) if wanted => {
                let (prefix, rest) = pattern.prefix();
                match rest {
                    PrefixRest::Nothing => self.test(operand, Test::Equals(Value::String(prefix))),
                    PrefixRest::AnyRun => self.test(operand, Test::Prefix(prefix)),
                    PrefixRest::Pattern => self.inexact(operand, Test::Prefix(prefix)),
                }
            }
            Prepared::Like(_) | Prepared::Regex(_) | Prepared::Search(_) => self.inexact(operand, string),
            Prepared::Vector(..) | Prepared::VectorPair(_) => None,
        }
    }

    fn call(&self, name: &str, args: &[Expr], wanted: bool) -> Option<Derived> {
        if let Some(kinds) = kinds_of(name) {
            return self.test(&args[0], Test::Kinds(if wanted { kinds } else { kinds.complement() }));
        }
        let string = Test::Kinds(Kinds::of(Kind::String));
        let ignores_case = match args.get(2) {
            None => Some(false),
            Some(flag) => constant(flag).and_then(|flag| flag.as_bool()),
        };
        let text = |index: usize| constant(args.get(index)?).and_then(|value| value.as_str().map(str::to_owned));
        match (name, wanted, ignores_case) {
            ("STARTSWITH", true, Some(false)) => self.test(&args[0], Test::Prefix(text(1)?)),
            ("StringEquals", true, Some(false)) => self.test(&args[0], Test::Equals(Value::String(text(1)?))),
            ("STARTSWITH" | "ENDSWITH" | "CONTAINS" | "StringEquals", _, _) => self.inexact(&args[0], string),
            ("IS_DATETIME", true, _) => self.inexact(&args[0], string),
            ("IS_INTEGER" | "IS_FINITE_NUMBER", true, _) => {
                self.inexact(&args[0], Test::Kinds(Kinds::of(Kind::Number)))
            }
            ("ARRAY_CONTAINS", true, partial) => self.array_contains(&args[0], &args[1], partial != Some(false)),
            ("ARRAY_CONTAINS_ANY", true, _) => self.contains_each(args, any),
            ("ARRAY_CONTAINS_ALL", true, _) => self.contains_each(args, all),
            _ => None,
        }
    }

    fn contains_each(&self, args: &[Expr], join: impl Fn(Vec<Derived>) -> Derived) -> Option<Derived> {
        let (array, needles) = args.split_first()?;
        let each = needles.iter().map(|needle| self.array_contains(array, needle, false));
        each.collect::<Option<Vec<_>>>().map(join)
    }

    /// An array of the document that holds a constant, or a constant array that holds a value of the document.
    fn array_contains(&self, array: &Expr, needle: &Expr, partial: bool) -> Option<Derived> {
        if let Some(Value::Array(values)) = constant(array) {
            if partial {
                return None;
            }
            if values.is_empty() {
                return self.path(needle).map(|_| (Filter::None, true));
            }
            return self.test(needle, Test::OneOf(values));
        }
        let (value, mut path) = (constant(needle)?, self.path(array)?);
        let exact = !path.contains(&PathStep::Each) && !partial;
        path.push(PathStep::Each);
        let test = |path: DocumentPath, value: &Value| self.path_test(path, Test::Equals(value.clone()));
        match &value {
            // Every property of the needle must be in one element; that it is the same one is left to the query.
            Value::Object(object) if partial => {
                let member = |(name, value): (&str, &Value)| {
                    let mut path = path.clone();
                    path.push(PathStep::Name(name.to_owned()));
                    if is_primitive(value) { test(path, value) } else { Filter::All }
                };
                Some((Filter::and(object.iter().map(member)), false))
            }
            value => Some((test(path, value), exact)),
        }
    }
}

fn all(parts: impl IntoIterator<Item = Derived>) -> Derived {
    let (filters, exact): (Vec<Filter>, Vec<bool>) = parts.into_iter().unzip();
    (Filter::and(filters), exact.into_iter().all(|exact| exact))
}

fn any(parts: impl IntoIterator<Item = Derived>) -> Derived {
    let (filters, exact): (Vec<Filter>, Vec<bool>) = parts.into_iter().unzip();
    (Filter::or(filters), exact.into_iter().all(|exact| exact))
}

fn constant(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Constant(value) => Some(value.clone()),
        _ => None,
    }
}

fn is_primitive(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

fn range(low: Bound<Value>, high: Bound<Value>) -> Test {
    Test::Range { low, high }
}

/// The operator with its operands exchanged.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessOrEqual => BinaryOp::GreaterOrEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterOrEqual => BinaryOp::LessOrEqual,
        other => other,
    }
}

/// The operator that is true where this one is false (and not undefined).
fn negated(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterOrEqual,
        BinaryOp::LessOrEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessOrEqual,
        BinaryOp::GreaterOrEqual => BinaryOp::Less,
        other => other,
    }
}

/// The types a check lets through, when that is all it looks at.
fn kinds_of(name: &str) -> Option<Kinds> {
    Some(match name {
        "IS_ARRAY" => Kinds::of(Kind::Array),
        "IS_BOOL" | "IS_BOOLEAN" => Kinds::of(Kind::Bool),
        "IS_DEFINED" => Kinds::DEFINED,
        "IS_NULL" => Kinds::of(Kind::Null),
        "IS_NUMBER" => Kinds::of(Kind::Number),
        "IS_OBJECT" => Kinds::of(Kind::Object),
        "IS_PRIMITIVE" => {
            Kinds::of(Kind::Null).and(Kinds::of(Kind::Bool)).and(Kinds::of(Kind::Number)).and(Kinds::of(Kind::String))
        }
        "IS_STRING" => Kinds::of(Kind::String),
        _ => return None,
    })
}
