//! ORDER BY and ORDER BY RANK.
//!
//! A plain item must be a path of the document, because the service sorts by its index; the exceptions are the scores
//! of ranking queries. Elements of a JOIN are no paths in that sense. Scores come best first, and rows without one last.

use super::call::{bound_measure, check_arity, constant_numbers};
use super::origin::PathStep;
use super::{Binder, Bound};
use crate::error::code;
use crate::functions::Arity;
use crate::functions::full_text::phrases;
use crate::tree::{Component, Expr, Order, OrderItem, Scorer};
use crate::value::Val;
use tesela_sql::ast::{self, Direction, ExprKind, Ident, OrderBy};
use tesela_sql::{Span, SqlError};

/// Binds the order of the outermost select.
pub(super) struct Ordering<'b, 'a> {
    binder: &'b mut Binder<'a>,
}

impl<'b, 'a> Ordering<'b, 'a> {
    pub fn new(binder: &'b mut Binder<'a>) -> Self {
        Self { binder }
    }

    pub fn order(&mut self, order_by: &OrderBy) -> Bound<Order> {
        if order_by.rank {
            return self.rank(order_by);
        }
        order_by.items.iter().map(|item| self.item(item)).collect::<Bound<Vec<_>>>().map(Order::By)
    }

    fn item(&mut self, item: &ast::OrderItem) -> Bound<OrderItem> {
        let expr = self.binder.expr(&item.expr)?;
        let called = |wanted: &str| matches!(&item.expr.kind, ExprKind::Call { name, .. } if name.name == wanted);
        if called("VECTORDISTANCE") {
            if item.direction.is_some() {
                let message = "Specifying a sorting order (ASC or DESC) with VectorDistance function is not supported.";
                return Err(SqlError::new(code::SCORE_DIRECTION, item.span, message));
            }
            return Ok(vector_item(expr));
        }
        let direction = item.direction.unwrap_or(Direction::Ascending);
        if called("_FULLTEXTSCORE") {
            return Ok(OrderItem { expr, direction, undefined_last: true });
        }
        let origin = self.binder.origin(&expr);
        let sortable = origin.path().is_some_and(|path| !path.is_empty() && !path.contains(&PathStep::Each));
        if !sortable {
            let message = "ORDER BY takes a property path of the document, VectorDistance, or a computed property.";
            return Err(SqlError::new(code::ORDER_BY_PATH, item.span, message));
        }
        Ok(OrderItem { expr, direction, undefined_last: false })
    }

    fn rank(&mut self, order_by: &OrderBy) -> Bound<Order> {
        let [item] = &order_by.items[..] else { return Err(no_rank(order_by.span)) };
        let ExprKind::Call { name, args } = &item.expr.kind else { return Err(no_rank(item.span)) };
        if name.name != "RRF" {
            return Ok(Order::By(vec![self.score(&item.expr)?]));
        }
        let (components, weights) = match args.split_last() {
            Some((last, components)) if !is_score(last) => (components, Some(last)),
            _ => (&args[..], None),
        };
        if components.len() < 2 {
            let message = "RRF fuses two or more of FullTextScore and VectorDistance.";
            return Err(SqlError::new(code::RANK_FUNCTION, item.span, message));
        }
        let weights = match weights {
            Some(weights) => self.weights(weights, components.len())?,
            None => vec![1.0; components.len()],
        };
        let mut bound = Vec::with_capacity(components.len());
        for (component, weight) in components.iter().zip(weights) {
            let OrderItem { expr, direction, .. } = self.score(component)?;
            bound.push(Component { expr, direction, weight });
        }
        Ok(Order::Fusion(bound))
    }

    fn weights(&mut self, weights: &ast::Expr, components: usize) -> Bound<Vec<f64>> {
        let bound = self.binder.expr(weights)?;
        match constant_numbers(&bound) {
            Some(numbers) if numbers.len() == components => Ok(numbers),
            Some(numbers) => {
                let message = format!("RRF has {components} components and {} weights.", numbers.len());
                Err(SqlError::new(code::RANK_WEIGHTS, weights.span, message))
            }
            None => {
                let message = "The last argument of RRF is neither a score nor an array of weights.";
                Err(SqlError::new(code::RANK_FUNCTION, weights.span, message))
            }
        }
    }

    /// FullTextScore or VectorDistance.
    fn score(&mut self, expr: &ast::Expr) -> Bound<OrderItem> {
        match &expr.kind {
            ExprKind::Call { name, args } if name.name == "FULLTEXTSCORE" => self.full_text(name, args, expr.span),
            ExprKind::Call { name, .. } if name.name == "VECTORDISTANCE" => Ok(vector_item(self.binder.expr(expr)?)),
            _ => Err(no_rank(expr.span)),
        }
    }

    fn full_text(&mut self, name: &Ident, args: &[ast::Expr], span: Span) -> Bound<OrderItem> {
        let arity = Arity::AtLeast(2);
        check_arity(&name.name, arity.accepts(args.len()), arity, args.len(), span)?;
        let bound = self.binder.all(args)?;
        let analyzer = self.binder.analyzer(&bound[0]);
        let terms: Option<Vec<Val<'_>>> = bound[1..].iter().map(super::expression::constant_val).collect();
        let Some(phrases) = terms.and_then(|terms| phrases(analyzer, &terms)) else {
            let message = "The search terms of FullTextScore must be constant strings.";
            return Err(SqlError::new(code::ARGUMENT, span, message));
        };
        let text = bound[0].clone();
        self.binder.scorers.push(Scorer { text: text.clone(), analyzer, phrases });
        let expr = Expr::Score(self.binder.scorers.len() - 1, Box::new(text));
        Ok(OrderItem { expr, direction: Direction::Descending, undefined_last: true })
    }
}

fn vector_item(expr: Expr) -> OrderItem {
    let direction = bound_measure(&expr).unwrap_or_default().best_first();
    OrderItem { expr, direction, undefined_last: true }
}

fn is_score(expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { name, .. } if name.name == "FULLTEXTSCORE" || name.name == "VECTORDISTANCE")
}

fn no_rank(span: Span) -> SqlError {
    let message = "ORDER BY RANK takes one of FullTextScore, VectorDistance and RRF.";
    SqlError::new(code::RANK_FUNCTION, span, message)
}
