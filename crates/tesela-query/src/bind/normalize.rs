//! One spelling for one meaning, before anything is bound.
//!
//! `c["a"]`, `c[@p]` with a string and `c.a` become the same member access, and function names lose their case, so
//! that a SELECT item can be recognised as a GROUP BY key by comparing trees.

use tesela_model::json::Value;
use tesela_sql::ast::{Collection, Expr, ExprKind, Ident, Literal, PathStepKind, Query, SelectSpec, SourceKind};

/// A copy of the query with uniform spelling.
pub(super) fn normalize(query: &Query, parameters: &[(String, Value)]) -> Query {
    let mut query = query.clone();
    Normalizer { parameters }.query(&mut query);
    query
}

struct Normalizer<'a> {
    parameters: &'a [(String, Value)],
}

impl Normalizer<'_> {
    fn query(&self, query: &mut Query) {
        match &mut query.select.spec {
            SelectSpec::Star => {}
            SelectSpec::Value(expr) => self.expr(expr),
            SelectSpec::List(items) => items.iter_mut().for_each(|item| {
                name_before_change(item);
                self.expr(&mut item.expr);
            }),
        }
        for source in query.from.iter_mut().flat_map(|from| &mut from.sources) {
            let (SourceKind::Named { collection, .. } | SourceKind::Iteration { collection, .. }) = &mut source.kind;
            match collection {
                Collection::Subquery(inner) => self.query(inner),
                Collection::Path { steps, .. } => {
                    for step in steps {
                        if let PathStepKind::Quoted(name) = &mut step.kind {
                            step.kind = PathStepKind::Member(std::mem::take(name));
                        }
                    }
                }
            }
        }
        query.where_.iter_mut().for_each(|expr| self.expr(expr));
        query.group_by.iter_mut().flat_map(|group_by| &mut group_by.keys).for_each(|expr| self.expr(expr));
        query.order_by.iter_mut().flat_map(|order_by| &mut order_by.items).for_each(|item| self.expr(&mut item.expr));
    }

    fn expr(&self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.expr(index);
                if let Some(name) = self.constant_name(index) {
                    let span = index.span;
                    let base = std::mem::replace(base, Box::new(undefined(span)));
                    expr.kind = ExprKind::Member { base, name: Ident::new(name, span) };
                }
            }
            ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Identifier(_) | ExprKind::Placeholder(_) => {}
            ExprKind::Member { base, .. } => self.expr(base),
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Binary { left, right, .. }
            | ExprKind::Coalesce { left, right }
            | ExprKind::Like { operand: left, pattern: right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional { condition: first, then: second, otherwise: third }
            | ExprKind::Between { operand: first, low: second, high: third, .. } => {
                self.expr(first);
                self.expr(second);
                self.expr(third);
            }
            ExprKind::In { operand, items, .. } => {
                self.expr(operand);
                items.iter_mut().for_each(|item| self.expr(item));
            }
            ExprKind::Call { name, args } => {
                name.name.make_ascii_uppercase();
                args.iter_mut().for_each(|arg| self.expr(arg));
            }
            ExprKind::And(items)
            | ExprKind::Or(items)
            | ExprKind::Array(items)
            | ExprKind::UdfCall { args: items, .. } => {
                items.iter_mut().for_each(|item| self.expr(item));
            }
            ExprKind::Object(properties) => properties.iter_mut().for_each(|property| self.expr(&mut property.value)),
            ExprKind::Subquery { query, .. } => self.query(query),
        }
    }

    fn constant_name(&self, index: &Expr) -> Option<String> {
        match &index.kind {
            ExprKind::Literal(Literal::String(name)) => Some(name.clone()),
            ExprKind::Parameter(name) => {
                let (_, value) = self.parameters.iter().find(|(known, _)| known == name)?;
                value.as_str().map(str::to_owned)
            }
            _ => None,
        }
    }
}

/// An item is known by its last step as written, and `c[@p]` has no name.
fn name_before_change(item: &mut tesela_sql::ast::SelectItem) {
    if let (None, ExprKind::Index { index, .. }) = (&item.alias, &item.expr.kind)
        && let ExprKind::Literal(Literal::String(name)) = &index.kind
    {
        item.alias = Some(Ident::new(name.clone(), index.span));
    }
}

fn undefined(span: tesela_sql::Span) -> Expr {
    Expr::new(ExprKind::Literal(Literal::Undefined), span)
}
