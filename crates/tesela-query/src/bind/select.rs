//! SELECT, WHERE and GROUP BY.

use super::ranking::Ordering;
use super::scope::Level;
use super::{Binder, Bound, check_count, has_aggregate};
use crate::error::code;
use crate::limits::{GROUP_KEYS_MAX, MEMBERS_MAX};
use crate::tree::{Expr, Grouping, Order, Projection, Select};
use tesela_model::json::Value;
use tesela_sql::SqlError;
use tesela_sql::ast::{self, ExprKind, Query, SelectItem, SelectSpec};

impl Binder<'_> {
    /// Binds the whole query; only it has an order.
    pub(super) fn outermost(&mut self, query: &Query) -> Bound<(Select, Order)> {
        self.in_new_level(|binder| {
            let select = binder.select(query)?;
            let order = match &query.order_by {
                Some(order_by) => Ordering::new(binder).order(order_by)?,
                None => Order::None,
            };
            // One row needs no order; several groups cannot have one (the grammar's rules refuse it).
            Ok(if select.grouping.is_some() { (select, Order::None) } else { (select, order) })
        })
    }

    /// Binds a subquery. Clauses it may not have are reported by the grammar's rules and ignored here.
    pub(super) fn subquery(&mut self, query: &Query) -> Bound<Select> {
        self.in_new_level(|binder| binder.select(query))
    }

    fn in_new_level<T>(&mut self, bind: impl FnOnce(&mut Self) -> Bound<T>) -> Bound<T> {
        self.levels.push(Level::default());
        let result = bind(self);
        self.levels.pop();
        result
    }

    fn select(&mut self, query: &Query) -> Bound<Select> {
        let sources = self.sources(query)?;
        let filter = match &query.where_ {
            Some(filter) => Some(self.expr(filter)?),
            None => None,
        };
        // `WHERE true` is what clients leave of a filter they did not need.
        let filter = filter.filter(|filter| !matches!(filter, Expr::Constant(Value::Bool(true))));
        let (grouping, projection) = self.grouped(query)?;
        Ok(Select { sources, filter, grouping, projection, distinct: query.select.distinct })
    }

    fn grouped(&mut self, query: &Query) -> Bound<(Option<Grouping>, Projection)> {
        let aggregated = match &query.select.spec {
            SelectSpec::Star => false,
            SelectSpec::Value(expr) => has_aggregate(expr),
            SelectSpec::List(items) => items.iter().any(|item| has_aggregate(&item.expr)),
        };
        if query.group_by.is_none() && !aggregated {
            return Ok((None, self.projection(&query.select.spec, query)?));
        }
        if let Some(group_by) = &query.group_by {
            check_count("GROUP BY keys", group_by.keys.len(), GROUP_KEYS_MAX, group_by.span)?;
        }
        let key_trees: Vec<ast::Expr> = query.group_by.iter().flat_map(|group_by| group_by.keys.clone()).collect();
        let keys = key_trees.iter().map(|key| self.group_key(key)).collect::<Bound<Vec<Expr>>>()?;
        self.level().keys = Some(key_trees);
        self.level().aggregates = Some(Vec::new());
        let projection = self.projection(&query.select.spec, query)?;
        self.level().keys = None;
        let aggregates = self.level().aggregates.take().unwrap_or_default();
        Ok((Some(Grouping { keys, has_group_by: query.group_by.is_some(), aggregates }), projection))
    }

    fn group_key(&mut self, key: &ast::Expr) -> Bound<Expr> {
        if has_subquery(key) {
            let message = "GROUP BY takes no subquery.";
            return Err(SqlError::new(code::GROUP_KEY, key.span, message));
        }
        self.expr(key)
    }

    fn projection(&mut self, spec: &SelectSpec, query: &Query) -> Bound<Projection> {
        Ok(match spec {
            SelectSpec::Star => match (self.level().last_source, self.level().sees_groups()) {
                (Some(slot), false) => Projection::Value(Expr::Slot(slot)),
                _ => {
                    let message = "SELECT * needs a FROM clause with exactly one source and no grouping";
                    return Err(SqlError::new(tesela_sql::code::STAR_SOURCES, query.select.span, message));
                }
            },
            SelectSpec::Value(expr) => Projection::Value(self.expr(expr)?),
            SelectSpec::List(items) => Projection::List(self.items(items)?),
        })
    }

    /// Items without a name are counted: `$1`, `$2`, ...
    fn items(&mut self, items: &[SelectItem]) -> Bound<Vec<(Box<str>, Expr)>> {
        if let (Some(first), Some(last)) = (items.first(), items.last()) {
            check_count("SELECT items", items.len(), MEMBERS_MAX, first.span.to(last.span))?;
        }
        let mut unnamed = 0;
        let mut bound: Vec<(Box<str>, Expr)> = Vec::with_capacity(items.len());
        for item in items {
            let name = item_name(item).unwrap_or_else(|| {
                unnamed += 1;
                format!("${unnamed}")
            });
            let expr = self.expr(&item.expr)?;
            // Of two items with one name the last counts, as in an object constructor.
            bound.retain(|(known, _)| **known != *name);
            bound.push((name.into(), expr));
        }
        Ok(bound)
    }
}

/// The alias, or the last step of a path.
fn item_name(item: &SelectItem) -> Option<String> {
    if let Some(alias) = &item.alias {
        return Some(alias.name.clone());
    }
    match &item.expr.kind {
        ExprKind::Identifier(name) => Some(name.clone()),
        ExprKind::Member { name, .. } => Some(name.name.clone()),
        _ => None,
    }
}

pub(super) fn has_subquery(expr: &ast::Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::Subquery { .. });
    expr.for_each_child(|child| found |= has_subquery(child));
    found
}
