//! Pieces of syntax tree for rewritten queries. They stand nowhere in the user's text, so their spans are empty.

use tesela_model::json::Value;
use tesela_sql::Span;
use tesela_sql::ast::{Expr, ExprKind, Ident, Literal, Property, RowCount, RowCountKind, SelectItem};

pub(super) fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default())
}

pub(super) fn name(name: &str) -> Ident {
    Ident::new(name, Span::default())
}

pub(super) fn call(function: &str, args: Vec<Expr>) -> Expr {
    expr(ExprKind::Call { name: name(function), args })
}

pub(super) fn integer(value: i64) -> Expr {
    expr(ExprKind::Literal(Literal::Integer(value)))
}

pub(super) fn float(value: f64) -> Expr {
    expr(ExprKind::Literal(Literal::Float(value)))
}

pub(super) fn array(items: Vec<Expr>) -> Expr {
    expr(ExprKind::Array(items))
}

pub(super) fn object<N: Into<String>>(members: impl IntoIterator<Item = (N, Expr)>) -> Expr {
    let property = |(name, value): (N, Expr)| Property { name: name.into(), value, span: Span::default() };
    expr(ExprKind::Object(members.into_iter().map(property).collect()))
}

/// `alias.member`
pub(super) fn member(alias: &str, member: &str) -> Expr {
    let base = Box::new(expr(ExprKind::Identifier(alias.to_owned())));
    expr(ExprKind::Member { base, name: name(member) })
}

/// A hole the client fills in.
pub(super) fn placeholder(text: impl Into<String>) -> Expr {
    expr(ExprKind::Placeholder(text.into()))
}

/// `expr AS alias`
pub(super) fn item(expr: Expr, alias: &str) -> SelectItem {
    SelectItem { expr, alias: Some(name(alias)), span: Span::default() }
}

pub(super) fn row_count(value: u64) -> RowCount {
    RowCount { kind: RowCountKind::Literal(value), span: Span::default() }
}

/// A conjunction that keeps the tree's rule: the first operand is no conjunction itself.
pub(super) fn all_of(conditions: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    let mut conditions = conditions.into_iter();
    let first = conditions.next()?;
    let mut operands = match first.kind {
        ExprKind::And(operands) => operands,
        kind => vec![Expr::new(kind, first.span)],
    };
    operands.extend(conditions);
    Some(if operands.len() == 1 { operands.remove(0) } else { expr(ExprKind::And(operands)) })
}

/// The constructor of a constant.
pub(super) fn constant(value: &Value) -> Expr {
    let literal = match value {
        Value::Null => Literal::Null,
        Value::Bool(value) => Literal::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Literal::Integer(integer),
            None => Literal::Float(number.as_f64()),
        },
        Value::String(text) => Literal::String(text.clone()),
        Value::Array(items) => return array(items.iter().map(constant).collect()),
        Value::Object(members) => return object(members.iter().map(|(name, member)| (name, constant(member)))),
    };
    expr(ExprKind::Literal(literal))
}
