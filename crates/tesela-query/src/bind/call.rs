//! Calls: built-in functions, aggregates, user-defined functions, and what can be prepared for constant arguments.

use super::expression::{constant, constant_val};
use super::origin::PathStep;
use super::select::has_subquery;
use super::{Binder, Bound, has_aggregate};
use crate::aggregate::AggregateKind;
use crate::error::code;
use crate::full_text::Analyzer;
use crate::functions::full_text::{Search, Wanted};
use crate::functions::vector::{Measure, measure, vector};
use crate::functions::{self, Function, regular_expression};
use crate::limits::UDF_CALLS_MAX;
use crate::tree::{Expr, Prepared};
use crate::value::Val;
use tesela_model::json::Value;
use tesela_sql::ast::{self, ExprKind, Ident};
use tesela_sql::{Span, SqlError};

/// The aggregate an expression calls, if it does.
pub(super) fn aggregate_kind(expr: &ast::Expr) -> Option<AggregateKind> {
    match &expr.kind {
        ExprKind::Call { name, .. } => AggregateKind::from_name(&name.name),
        _ => None,
    }
}

impl Binder<'_> {
    /// Binds a call. `span` covers all of it.
    pub(super) fn call(&mut self, name: &Ident, args: &[ast::Expr], span: Span) -> Bound<Expr> {
        if let Some(kind) = AggregateKind::from_name(&name.name) {
            return self.aggregate(kind, name, args, span);
        }
        match name.name.as_str() {
            "DOCUMENTID" => return self.document_id(name, args, span),
            "FULLTEXTSCORE" => {
                let message = "FullTextScore can only be used in ORDER BY RANK, alone or inside RRF.";
                return Err(SqlError::new(code::SCORE_PLACE, span, message));
            }
            _ => {}
        }
        let Some(function) = functions::find(&name.name) else {
            let message = format!("'{}' is not a recognized built-in function name.", name.name);
            return Err(SqlError::new(code::UNKNOWN_FUNCTION, name.span, message));
        };
        check_arity(function.name, function.arity.accepts(args.len()), function.arity, args.len(), span)?;
        let bound = self.all(args)?;
        self.prepare(function, bound, span).map(|call| self.fold(call))
    }

    fn aggregate(&mut self, kind: AggregateKind, name: &Ident, args: &[ast::Expr], span: Span) -> Bound<Expr> {
        let arity = functions::Arity::Between(1, 1);
        check_arity(&name.name, arity.accepts(args.len()), arity, args.len(), span)?;
        if self.level().inside_aggregate || args.iter().any(|arg| has_aggregate(arg) || has_subquery(arg)) {
            let message =
                "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.";
            return Err(SqlError::new(code::NESTED_AGGREGATE, span, message));
        }
        if self.level().aggregates.is_none() {
            let message = format!("{} is an aggregate and belongs into the SELECT clause.", name.name);
            return Err(SqlError::new(code::AGGREGATE_PLACE, span, message));
        }
        self.level().inside_aggregate = true;
        let arg = self.expr(&args[0]);
        self.level().inside_aggregate = false;
        let arg = arg?;
        let aggregates = self.level().aggregates.as_mut().expect("checked above");
        aggregates.push((kind, arg));
        Ok(Expr::Aggregate(aggregates.len() - 1))
    }

    fn document_id(&mut self, name: &Ident, args: &[ast::Expr], span: Span) -> Bound<Expr> {
        let arity = functions::Arity::Between(1, 1);
        check_arity(&name.name, arity.accepts(args.len()), arity, args.len(), span)?;
        let arg = self.expr(&args[0])?;
        if self.origin(&arg).path().is_some_and(Vec::is_empty) {
            return Ok(Expr::DocumentId);
        }
        let message = "DOCUMENTID takes the alias of the container.";
        Err(SqlError::new(code::ARGUMENT, args[0].span, message))
    }

    pub(super) fn user_function(&mut self, name: &Ident, args: &[ast::Expr]) -> Bound<Expr> {
        self.user_functions += 1;
        if self.user_functions > UDF_CALLS_MAX {
            let message = format!("The query calls user-defined functions more than {UDF_CALLS_MAX} times.");
            return Err(SqlError::new(code::UDF_CALLS, name.span, message));
        }
        if !self.context.functions.knows(&name.name) {
            let message =
                format!("'udf.{}' is not defined: the container has no such user-defined function.", name.name);
            return Err(SqlError::new(code::UNKNOWN_FUNCTION, name.span, message));
        }
        Ok(Expr::UserFunction(name.name.as_str().into(), self.all(args)?))
    }

    /// Compiles patterns, search terms and vectors that do not depend on the row.
    fn prepare(&mut self, function: &'static Function, args: Box<[Expr]>, span: Span) -> Bound<Expr> {
        let prepared = match function.name {
            "REGEXMATCH" => prepare_regex(&args),
            "FullTextContains" | "FullTextContainsAll" => self.prepare_search(&args, Wanted::All),
            "FullTextContainsAny" => self.prepare_search(&args, Wanted::Any),
            "VectorDistance" => Some(self.prepare_vector(&args, span)?),
            _ => None,
        };
        Ok(prepared.unwrap_or(Expr::Call(function, args)))
    }

    fn prepare_search(&self, args: &[Expr], wanted: Wanted) -> Option<Expr> {
        let terms = args[1..].iter().map(constant_val).collect::<Option<Vec<Val<'_>>>>()?;
        Some(match Search::new(self.analyzer(&args[0]), &terms, wanted) {
            Some(search) => Expr::Prepared(Box::new(Prepared::Search(search)), Box::new(args[0].clone())),
            None => Expr::Undefined,
        })
    }

    /// The rules of the language the policy names for the path.
    pub(super) fn analyzer(&self, text: &Expr) -> Analyzer {
        let policy = self.names(text).and_then(|path| self.context.full_text.iter().find(|known| known.path == path));
        Analyzer::new(policy.map_or(self.context.language, |policy| policy.language))
    }

    /// The property names of a document path, when the expression is one.
    fn names(&self, expr: &Expr) -> Option<Vec<String>> {
        let origin = self.origin(expr);
        let name = |step: &PathStep| match step {
            PathStep::Name(name) => Some(name.clone()),
            PathStep::Index(_) | PathStep::Each => None,
        };
        origin.path()?.iter().map(name).collect()
    }

    /// Settles how vectors are compared and keeps a constant one as numbers.
    fn prepare_vector(&self, args: &[Expr], span: Span) -> Bound<Expr> {
        let options = args.get(3).and_then(constant_val).unwrap_or(Val::Undefined);
        check_vector_options(&options, span)?;
        let of_policy = |expr: &Expr| {
            let path = self.names(expr)?;
            self.context.vectors.iter().find(|known| known.path == path).map(|known| known.measure)
        };
        let measure =
            measure(&options).or_else(|| of_policy(&args[0])).or_else(|| of_policy(&args[1])).unwrap_or_default();
        let prepared = |wanted: &Expr, other: &Expr| {
            let constant = constant_val(wanted).map(|wanted| vector(&wanted))?;
            let of = |vector| Expr::Prepared(Box::new(Prepared::Vector(measure, vector)), Box::new(other.clone()));
            Some(constant.map_or(Expr::Undefined, of))
        };
        let pair = || {
            let both: Box<[Expr]> = Box::new([args[0].clone(), args[1].clone()]);
            Expr::Prepared(Box::new(Prepared::VectorPair(measure)), Box::new(Expr::Array(both)))
        };
        Ok(prepared(&args[1], &args[0]).or_else(|| prepared(&args[0], &args[1])).unwrap_or_else(pair))
    }
}

fn prepare_regex(args: &[Expr]) -> Option<Expr> {
    let pattern = constant_val(&args[1])?;
    let modifiers = match args.get(2) {
        Some(modifiers) => constant_val(modifiers)?,
        None => Val::text(""),
    };
    let regex = match (pattern.as_str(), modifiers.as_str()) {
        (Some(pattern), Some(modifiers)) => regular_expression(&pattern, &modifiers),
        _ => None,
    };
    Some(match regex {
        Some(regex) => Expr::Prepared(Box::new(Prepared::Regex(regex)), Box::new(args[0].clone())),
        None => Expr::Undefined,
    })
}

/// The measure of a bound VectorDistance.
pub(super) fn bound_measure(expr: &Expr) -> Option<Measure> {
    match expr {
        Expr::Prepared(prepared, _) => match **prepared {
            Prepared::Vector(measure, _) | Prepared::VectorPair(measure) => Some(measure),
            _ => None,
        },
        _ => None,
    }
}

fn check_vector_options(options: &Val<'_>, span: Span) -> Bound<()> {
    let refuse = |message: String| Err(SqlError::new(code::VECTOR_OPTION, span, message));
    let multiplier = options.get("searchListSizeMultiplier");
    if multiplier.is_defined() && !multiplier.as_i64().is_some_and(|value| (1..=100).contains(&value)) {
        return refuse("The option searchListSizeMultiplier must be a whole number from 1 to 100.".to_owned());
    }
    let name = options.get("distanceFunction");
    if name.is_defined() && measure(options).is_none() {
        return refuse("The option distanceFunction must be cosine, dotproduct or euclidean.".to_owned());
    }
    Ok(())
}

pub(super) fn check_arity(name: &str, fits: bool, arity: functions::Arity, count: usize, span: Span) -> Bound<()> {
    if fits {
        return Ok(());
    }
    let message = format!("The {name} function requires {arity} argument(s), the query gives {count}.");
    Err(SqlError::new(code::ARITY, span, message))
}

/// The numbers of a constant array, for weights.
pub(super) fn constant_numbers(expr: &Expr) -> Option<Vec<f64>> {
    match constant(expr)? {
        Some(Value::Array(items)) => items.iter().map(Value::as_f64).collect(),
        _ => None,
    }
}
