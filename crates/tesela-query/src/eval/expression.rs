//! The value of an expression.

use super::rows::select_rows;
use super::{Evaluated, Flow, Frame};
use crate::error::QueryError;
use crate::full_text::bm25;
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
pub fn eval<'r>(expr: &'r Expr, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    Ok(match expr {
        Expr::Undefined => Val::Undefined,
        Expr::Constant(value) => Val::Constant(value),
        Expr::Slot(slot) => frame.slot(*slot).clone(),
        Expr::Path(slot, steps) => walk(frame.slot(*slot), steps),
        Expr::Step(base, step) => one_step(&eval(base, frame)?, step),
        Expr::Computed(_, value, steps) => walk(&eval(value, frame)?, steps),
        Expr::Unary(UnaryOp::Not, _)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Between(_)
        | Expr::In(..)
        | Expr::InSet(..) => truth(expr, frame)?.into(),
        Expr::Unary(op, operand) => operators::unary(*op, &eval(operand, frame)?),
        Expr::Binary(op, both) => operators::binary(*op, &eval(&both.0, frame)?, &eval(&both.1, frame)?),
        Expr::Coalesce(both) => match eval(&both.0, frame)? {
            Val::Undefined => eval(&both.1, frame)?,
            defined => defined,
        },
        Expr::Conditional(all) => {
            let chosen = if truth(&all.0, frame)? == Some(true) { &all.1 } else { &all.2 };
            eval(chosen, frame)?
        }
        Expr::Like(both, escape) => like(&eval(&both.0, frame)?, &eval(&both.1, frame)?, *escape),
        Expr::Prepared(prepared, operand) => apply_prepared(prepared, &eval(operand, frame)?),
        Expr::Array(items) => Val::array(args(items, frame)?),
        Expr::Object(members) => object(members, frame)?,
        Expr::Call(function, args_of) => function.apply(&args(args_of, frame)?, &frame.run().scope),
        Expr::UserFunction(name, args_of) => user_function(name, &args(args_of, frame)?, frame)?,
        Expr::Subquery(kind, select) => subquery(*kind, select, frame)?,
        Expr::Aggregate(index) => frame.aggregates[*index].clone(),
        Expr::GroupKey(index) => frame.keys[*index].clone(),
        Expr::DocumentId => Val::int(i64::try_from(frame.rid).unwrap_or(i64::MAX)),
        Expr::Score(index, text) => score(*index, &eval(text, frame)?, frame),
    })
}

/// The truth value of an expression, without making a value of it where that can be spared.
pub fn truth<'r>(expr: &'r Expr, frame: &mut Frame<'r>) -> Evaluated<Truth> {
    Ok(match expr {
        Expr::And(operands) => {
            let mut result = Some(true);
            for operand in operands {
                match truth(operand, frame)? {
                    Some(true) => {}
                    Some(false) => return Ok(Some(false)),
                    None => result = None,
                }
            }
            result
        }
        Expr::Or(operands) => {
            let mut result = Some(false);
            for operand in operands {
                match truth(operand, frame)? {
                    Some(false) => {}
                    Some(true) => return Ok(Some(true)),
                    None => result = None,
                }
            }
            result
        }
        Expr::Unary(UnaryOp::Not, operand) => truth(operand, frame)?.map(|value| !value),
        Expr::Binary(BinaryOp::Equal, both) => operators::equals(&eval(&both.0, frame)?, &eval(&both.1, frame)?),
        Expr::Between(all) => operators::between(&eval(&all.0, frame)?, &eval(&all.1, frame)?, &eval(&all.2, frame)?),
        Expr::In(operand, items) => {
            let operand = eval(operand, frame)?;
            let mut result = Some(false);
            for item in items {
                match operators::equals(&operand, &eval(item, frame)?) {
                    Some(true) => return Ok(Some(true)),
                    Some(false) => {}
                    None => result = None,
                }
            }
            result
        }
        Expr::InSet(operand, set) => in_set(&eval(operand, frame)?, set),
        other => eval(other, frame)?.as_bool(),
    })
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

fn like<'r>(operand: &Val<'_>, pattern: &Val<'_>, escape: Option<char>) -> Val<'r> {
    match (operand.as_str(), pattern.as_str()) {
        (Some(text), Some(pattern)) => Val::Bool(LikePattern::new(&pattern, escape).matches(&text)),
        _ => Val::Undefined,
    }
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

fn user_function<'r>(name: &str, args: &[Val<'r>], frame: &Frame<'r>) -> Evaluated<Val<'r>> {
    let args: Vec<_> = args.iter().map(Val::to_value).collect();
    match frame.run().functions.call(name, &args) {
        Ok(result) => Ok(result.map_or(Val::Undefined, Val::from_value)),
        Err(message) => Err(Box::new(QueryError::UserFunction { name: name.to_owned(), message })),
    }
}

fn score<'r>(index: usize, text: &Val<'_>, frame: &Frame<'r>) -> Val<'r> {
    let (scorer, statistics) = (&frame.run().scorers[index], &frame.run().statistics[index]);
    let Some(text) = text.as_str() else { return Val::Undefined };
    let tokens = scorer.analyzer.tokens(&text);
    let occurrences: Vec<usize> = scorer.phrases.iter().map(|phrase| tokens.occurrences(phrase)).collect();
    Val::double(bm25(&occurrences, tokens.len(), statistics))
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
