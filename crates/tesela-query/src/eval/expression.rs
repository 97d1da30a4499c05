//! The value of an expression.

use super::rows::select_rows;
use super::{Evaluated, Flow, Frame};
use crate::error::QueryError;
use crate::full_text::bm25;
use crate::functions::Function;
use crate::functions::vector::vector;
use crate::like::LikePattern;
use crate::operators::{self, Truth};
use crate::tree::{ConstantSet, Expr, Prepared, Select, Step};
use crate::value::{Val, key};
use smallvec::SmallVec;
use std::borrow::Cow;
use tesela_sql::ast::{BinaryOp, SubqueryKind, UnaryOp};

/// Arguments of most calls fit without an allocation.
type Args<'r> = SmallVec<[Val<'r>; 3]>;

/// The value of an expression for the row in the frame.
///
/// One call per kind of expression and nothing else in here: the recursion goes through this frame, so it must be small.
pub fn eval<'r>(expr: &'r Expr, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    match expr {
        Expr::Undefined => Ok(Val::Undefined),
        Expr::Constant(value) => Ok(Val::Constant(value)),
        Expr::Slot(slot) => Ok(frame.slot(*slot).clone()),
        Expr::Path(slot, steps) => Ok(walk(frame.slot(*slot), steps)),
        Expr::Step(base, step) => step_of(base, step, frame),
        Expr::Computed(_, value, steps) => computed(value, steps, frame),
        Expr::Unary(UnaryOp::Not, _)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Between(_)
        | Expr::In(..)
        | Expr::InSet(..) => truth(expr, frame).map(Val::from),
        Expr::Unary(op, operand) => unary(*op, operand, frame),
        Expr::Binary(op, both) => binary(*op, both, frame),
        Expr::Coalesce(both) => coalesce(both, frame),
        Expr::Conditional(all) => conditional(all, frame),
        Expr::Like(both, escape) => like(both, *escape, frame),
        Expr::Prepared(prepared, operand) => prepared_call(prepared, operand, frame),
        Expr::Array(items) => args(items, frame).map(Val::array),
        Expr::Object(members) => object(members, frame),
        Expr::Call(function, args) => call(function, args, frame),
        Expr::UserFunction(name, args) => user_function(name, args, frame),
        Expr::Subquery(kind, select) => subquery(*kind, select, frame),
        Expr::Aggregate(index) => Ok(frame.aggregates[*index].clone()),
        Expr::GroupKey(index) => Ok(frame.keys[*index].clone()),
        Expr::DocumentId => Ok(Val::int(i64::try_from(frame.rid).unwrap_or(i64::MAX))),
        Expr::Score(index, text) => score(*index, text, frame),
    }
}

fn step_of<'r>(base: &'r Expr, step: &Step, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    Ok(one_step(&eval(base, frame)?, step))
}

fn computed<'r>(value: &'r Expr, steps: &[Step], frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    Ok(walk(&eval(value, frame)?, steps))
}

fn unary<'r>(op: UnaryOp, operand: &'r Expr, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    Ok(operators::unary(op, &eval(operand, frame)?))
}

fn binary<'r>(op: BinaryOp, both: &'r (Expr, Expr), frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    Ok(operators::binary(op, &eval(&both.0, frame)?, &eval(&both.1, frame)?))
}

fn coalesce<'r>(both: &'r (Expr, Expr), frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    match eval(&both.0, frame)? {
        Val::Undefined => eval(&both.1, frame),
        defined => Ok(defined),
    }
}

fn conditional<'r>(all: &'r (Expr, Expr, Expr), frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    let chosen = if truth(&all.0, frame)? == Some(true) { &all.1 } else { &all.2 };
    eval(chosen, frame)
}

fn prepared_call<'r>(prepared: &Prepared, operand: &'r Expr, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    Ok(apply_prepared(prepared, &eval(operand, frame)?))
}

fn call<'r>(function: &Function, exprs: &'r [Expr], frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    Ok(function.apply(&args(exprs, frame)?, &frame.run().scope))
}

/// The truth value of an expression, without making a value of it where that can be spared.
pub fn truth<'r>(expr: &'r Expr, frame: &mut Frame<'r>) -> Evaluated<Truth> {
    match expr {
        Expr::And(operands) => and(operands, frame),
        Expr::Or(operands) => or(operands, frame),
        Expr::Unary(UnaryOp::Not, operand) => Ok(truth(operand, frame)?.map(|value| !value)),
        Expr::Binary(BinaryOp::Equal, both) => equals(both, frame),
        Expr::Between(all) => between(all, frame),
        Expr::In(operand, items) => one_of(operand, items, frame),
        Expr::InSet(operand, set) => Ok(in_set(&eval(operand, frame)?, set)),
        other => Ok(eval(other, frame)?.as_bool()),
    }
}

fn and<'r>(operands: &'r [Expr], frame: &mut Frame<'r>) -> Evaluated<Truth> {
    let mut result = Some(true);
    for operand in operands {
        match truth(operand, frame)? {
            Some(true) => {}
            Some(false) => return Ok(Some(false)),
            None => result = None,
        }
    }
    Ok(result)
}

fn or<'r>(operands: &'r [Expr], frame: &mut Frame<'r>) -> Evaluated<Truth> {
    let mut result = Some(false);
    for operand in operands {
        match truth(operand, frame)? {
            Some(false) => {}
            Some(true) => return Ok(Some(true)),
            None => result = None,
        }
    }
    Ok(result)
}

fn equals<'r>(both: &'r (Expr, Expr), frame: &mut Frame<'r>) -> Evaluated<Truth> {
    Ok(operators::equals(&eval(&both.0, frame)?, &eval(&both.1, frame)?))
}

fn between<'r>(all: &'r (Expr, Expr, Expr), frame: &mut Frame<'r>) -> Evaluated<Truth> {
    Ok(operators::between(&eval(&all.0, frame)?, &eval(&all.1, frame)?, &eval(&all.2, frame)?))
}

fn one_of<'r>(operand: &'r Expr, items: &'r [Expr], frame: &mut Frame<'r>) -> Evaluated<Truth> {
    let operand = eval(operand, frame)?;
    let mut result = Some(false);
    for item in items {
        match operators::equals(&operand, &eval(item, frame)?) {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => result = None,
        }
    }
    Ok(result)
}

fn in_set(operand: &Val<'_>, set: &ConstantSet) -> Truth {
    if !operand.is_defined() {
        return None;
    }
    let mut bytes = Vec::new();
    key::append(operand, &mut bytes);
    Some(set.keys.contains(&bytes))
}

/// Follows steps; a stored document is walked without making values on the way.
fn walk<'r>(base: &Val<'r>, steps: &[Step]) -> Val<'r> {
    if let Val::Stored(node) = base {
        let mut node = *node;
        for step in steps {
            let next = match step {
                Step::Name(name) => node.get(name),
                Step::Index(index) => node.at(*index),
            };
            match next {
                Some(next) => node = next,
                None => return Val::Undefined,
            }
        }
        return Val::Stored(node);
    }
    steps.iter().fold(base.clone(), |value, step| one_step(&value, step))
}

fn one_step<'r>(base: &Val<'r>, step: &Step) -> Val<'r> {
    match step {
        Step::Name(name) => base.get(name),
        Step::Index(index) => base.at(*index),
    }
}

fn args<'r>(exprs: &'r [Expr], frame: &mut Frame<'r>) -> Evaluated<Args<'r>> {
    exprs.iter().map(|expr| eval(expr, frame)).collect()
}

fn object<'r>(members: &'r [(Box<str>, Expr)], frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    let mut values = Vec::with_capacity(members.len());
    for (name, member) in members {
        values.push((Cow::Borrowed(&**name), eval(member, frame)?));
    }
    Ok(Val::object(values))
}

fn like<'r>(both: &'r (Expr, Expr), escape: Option<char>, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    let (operand, pattern) = (eval(&both.0, frame)?, eval(&both.1, frame)?);
    Ok(match (operand.as_str(), pattern.as_str()) {
        (Some(text), Some(pattern)) => Val::Bool(LikePattern::new(&pattern, escape).matches(&text)),
        _ => Val::Undefined,
    })
}

fn apply_prepared<'r>(prepared: &Prepared, operand: &Val<'_>) -> Val<'r> {
    match prepared {
        Prepared::Like(pattern) => operand.as_str().map(|text| pattern.matches(&text)).into(),
        Prepared::Regex(regex) => operand.as_str().map(|text| regex.is_match(&text)).into(),
        Prepared::Search(search) => search.test(operand),
        Prepared::Vector(measure, wanted) => vector(operand).and_then(|found| measure.apply(&found, wanted)).into(),
        Prepared::VectorPair(measure) => {
            let (a, b) = (vector(&operand.at(0)), vector(&operand.at(1)));
            a.zip(b).and_then(|(a, b)| measure.apply(&a, &b)).into()
        }
    }
}

fn user_function<'r>(name: &str, exprs: &'r [Expr], frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    let args: Option<Vec<_>> = args(exprs, frame)?.iter().map(Val::to_value).collect();
    let Some(args) = args else { return Ok(Val::Undefined) };
    match frame.run().functions.call(name, &args) {
        Ok(result) => Ok(result.map_or(Val::Undefined, Val::from_value)),
        Err(message) => Err(Box::new(QueryError::UserFunction { name: name.to_owned(), message })),
    }
}

fn score<'r>(index: usize, text: &'r Expr, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    let text = eval(text, frame)?;
    let (scorer, statistics) = (&frame.run().scorers[index], &frame.run().statistics[index]);
    let Some(text) = text.as_str() else { return Ok(Val::Undefined) };
    let tokens = scorer.analyzer.tokens(&text);
    let occurrences: Vec<usize> = scorer.phrases.iter().map(|phrase| tokens.occurrences(phrase)).collect();
    Ok(Val::double(bm25(&occurrences, tokens.len(), statistics)))
}

fn subquery<'r>(kind: SubqueryKind, select: &'r Select, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    match kind {
        SubqueryKind::Scalar => {
            let mut rows = 0;
            let last = last_row(select, frame, |_| {
                rows += 1;
                if rows > 1 { Flow::Enough } else { Flow::More }
            })?;
            if rows > 1 { Err(Box::new(QueryError::SubqueryRows)) } else { Ok(last) }
        }
        SubqueryKind::Exists => Ok(Val::Bool(last_row(select, frame, |_| Flow::Enough)?.is_defined())),
        SubqueryKind::First => last_row(select, frame, |_| Flow::Enough),
        SubqueryKind::Last => last_row(select, frame, |_| Flow::More),
        SubqueryKind::All => {
            let stop_at_other = |row: &Val<'r>| if row.is_true() { Flow::More } else { Flow::Enough };
            let last = last_row(select, frame, stop_at_other)?;
            Ok(Val::Bool(!last.is_defined() || last.is_true()))
        }
        SubqueryKind::Array => {
            let mut rows = Vec::new();
            select_rows(select, frame, &mut |_, row| {
                rows.push(row);
                Ok(Flow::More)
            })?;
            Ok(Val::Array(rows.into()))
        }
    }
}

/// The last row a walk sees; `wants` decides after each whether to go on. Undefined when there is none.
fn last_row<'r>(
    select: &'r Select,
    frame: &mut Frame<'r>,
    mut wants: impl FnMut(&Val<'r>) -> Flow,
) -> Evaluated<Val<'r>> {
    let mut last = Val::Undefined;
    select_rows(select, frame, &mut |_, row| {
        let flow = wants(&row);
        last = row;
        Ok(flow)
    })?;
    Ok(last)
}
