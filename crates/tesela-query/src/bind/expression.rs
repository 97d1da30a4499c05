//! Scalar expressions. Whatever is constant is computed on the spot.

use super::{Binder, Bound, check_count};
use crate::error::code;
use crate::eval::{Frame, eval};
use crate::like::LikePattern;
use crate::limits::MEMBERS_MAX;
use crate::tree::{ConstantSet, Expr, Prepared, Slot, Step};
use crate::value::{Val, key};
use std::collections::HashSet;
use tesela_model::json::{Number, Value};
use tesela_sql::ast::{self, Escape, ExprKind, Literal, UnaryOp};
use tesela_sql::{Span, SqlError};

/// IN lists longer than this are looked up instead of searched. Ours: where hashing begins to pay.
const SEARCHED_ITEMS_MAX: usize = 8;

impl Binder<'_> {
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Bound<Expr> {
        if let Some(key) = self.group_key_of(expr) {
            return Ok(Expr::GroupKey(key));
        }
        self.unfolded(expr).map(|bound| self.fold(bound))
    }

    /// One call per kind and nothing else in here: the recursion goes through this frame, so it must be small.
    fn unfolded(&mut self, expr: &ast::Expr) -> Bound<Expr> {
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(literal_value(literal)),
            ExprKind::Parameter(name) => self.parameter(name, expr.span).map(|value| Expr::Constant(value.clone())),
            ExprKind::Identifier(name) => self.identifier(name, expr.span),
            ExprKind::Member { base, name } => self.member(base, &name.name),
            ExprKind::Index { base, index } => self.index(base, index),
            ExprKind::Unary { op, operand } => self.boxed(operand).map(|operand| Expr::Unary(*op, operand)),
            ExprKind::Binary { op, left, right } => self.two(left, right).map(|both| Expr::Binary(*op, both)),
            ExprKind::And(operands) => self.all(operands).map(Expr::And),
            ExprKind::Or(operands) => self.all(operands).map(Expr::Or),
            ExprKind::Coalesce { left, right } => self.two(left, right).map(Expr::Coalesce),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.three(condition, then, otherwise).map(Expr::Conditional)
            }
            ExprKind::Between { negated, operand, low, high } => {
                self.three(operand, low, high).map(|all| negate(*negated, Expr::Between(all)))
            }
            ExprKind::In { negated, operand, items } => self.is_in(operand, items).map(|is_in| negate(*negated, is_in)),
            ExprKind::Like { negated, operand, pattern, escape } => {
                self.two(operand, pattern).map(|both| negate(*negated, like(*both, escape.as_ref())))
            }
            ExprKind::Call { name, args } => self.call(name, args, expr.span),
            ExprKind::UdfCall { name, args } => self.user_function(name, args),
            ExprKind::Object(properties) => self.object(properties, expr.span),
            ExprKind::Array(items) => self.all(items).map(Expr::Array),
            ExprKind::Subquery { kind, query } => {
                self.subquery(query).map(|select| Expr::Subquery(*kind, Box::new(select)))
            }
            ExprKind::Placeholder(text) => {
                let message = format!("the placeholder {text} was not filled in");
                Err(SqlError::new(tesela_sql::code::SYNTAX, expr.span, message))
            }
        }
    }

    fn member(&mut self, base: &ast::Expr, name: &str) -> Bound<Expr> {
        let base = self.expr(base)?;
        self.steps(base, vec![Step::Name(name.into())])
    }

    fn boxed(&mut self, expr: &ast::Expr) -> Bound<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    fn two(&mut self, left: &ast::Expr, right: &ast::Expr) -> Bound<Box<(Expr, Expr)>> {
        Ok(Box::new((self.expr(left)?, self.expr(right)?)))
    }

    fn three(&mut self, a: &ast::Expr, b: &ast::Expr, c: &ast::Expr) -> Bound<Box<(Expr, Expr, Expr)>> {
        Ok(Box::new((self.expr(a)?, self.expr(b)?, self.expr(c)?)))
    }

    fn is_in(&mut self, operand: &ast::Expr, items: &[ast::Expr]) -> Bound<Expr> {
        Ok(one_of(self.boxed(operand)?, self.all(items)?))
    }

    fn object(&mut self, properties: &[ast::Property], span: Span) -> Bound<Expr> {
        check_count("properties in an object", properties.len(), MEMBERS_MAX, span)?;
        let mut members: Vec<(Box<str>, Expr)> = Vec::with_capacity(properties.len());
        for property in properties {
            members.push((property.name.as_str().into(), self.expr(&property.value)?));
        }
        Ok(Expr::Object(members.into()))
    }

    pub(super) fn all(&mut self, exprs: &[ast::Expr]) -> Bound<Box<[Expr]>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn group_key_of(&mut self, expr: &ast::Expr) -> Option<usize> {
        let level = self.levels.last()?;
        if level.inside_aggregate {
            return None;
        }
        level.keys.as_ref()?.iter().position(|key| key == expr)
    }

    /// `base[index]`: the index must be known before the document is.
    fn index(&mut self, base: &ast::Expr, index: &ast::Expr) -> Bound<Expr> {
        let (base, bound) = (self.expr(base)?, self.expr(index)?);
        match constant(&bound) {
            Some(Some(Value::String(name))) => self.steps(base, vec![Step::Name(name.as_str().into())]),
            Some(Some(Value::Number(number))) => match number.as_i64().and_then(|index| usize::try_from(index).ok()) {
                Some(index) => self.steps(base, vec![Step::Index(index)]),
                None => Ok(Expr::Undefined),
            },
            Some(_) => Ok(Expr::Undefined),
            None => {
                let message = "The member indexer is computed from the document; use a constant or a parameter.";
                Err(SqlError::new(code::COMPUTED_INDEX, index.span, message))
            }
        }
    }

    /// Walks steps from a base, through computed properties where the base is the document.
    pub(super) fn steps(&mut self, base: Expr, steps: Vec<Step>) -> Bound<Expr> {
        let mut expr = base;
        for step in steps {
            if let Some(computed) = self.computed_property(&expr, &step)? {
                expr = computed;
                continue;
            }
            expr = match expr {
                Expr::Slot(slot) => Expr::Path(slot, Box::new([step])),
                Expr::Path(slot, path) => Expr::Path(slot, path.into_iter().chain([step]).collect()),
                Expr::Computed(name, value, path) => {
                    Expr::Computed(name, value, path.into_iter().chain([step]).collect())
                }
                other => Expr::Step(Box::new(other), step),
            };
        }
        Ok(self.fold(expr))
    }

    fn computed_property(&mut self, base: &Expr, step: &Step) -> Bound<Option<Expr>> {
        let (Step::Name(name), Expr::Slot(slot)) = (step, base) else { return Ok(None) };
        if self.computing || self.origin(base).path().is_none_or(|path| !path.is_empty()) {
            return Ok(None);
        }
        let Some(property) = self.context.computed_properties.iter().find(|property| *property.name == **name) else {
            return Ok(None);
        };
        let value = self.computed_value(property, *slot)?;
        self.computed.push(property.name.clone());
        Ok(Some(Expr::Computed(name.clone(), Box::new(value), Box::new([]))))
    }

    /// Binds the definition of a computed property over the document in a slot.
    fn computed_value(&mut self, property: &super::ComputedProperty, slot: Slot) -> Bound<Expr> {
        let refuse = |why: String| {
            let message = format!("the computed property '{}' cannot be used: {why}", property.name);
            SqlError::new(code::UNRESOLVED, Span::default(), message)
        };
        let query = tesela_sql::parse(&property.query).map_err(|fault| refuse(fault.to_string()))?;
        let query = super::normalize::normalize(&query, &[]);
        let (ast::SelectSpec::Value(value), Some(alias)) = (&query.select.spec, container_alias(&query)) else {
            return Err(refuse("its query is not of the form SELECT VALUE … FROM c".to_owned()));
        };
        self.levels.push(super::Level { aliases: vec![(alias, slot)], ..super::Level::default() });
        self.computing = true;
        let bound = self.expr(value);
        self.computing = false;
        self.levels.pop();
        bound.map_err(|fault| refuse(fault.to_string()))
    }

    /// Replaces an expression without variable parts by its value.
    pub(super) fn fold(&self, expr: Expr) -> Expr {
        if !is_foldable(&expr) {
            return expr;
        }
        let value = eval(&expr, &mut Frame::without_document(&self.run)).map(|value| value.to_value());
        match value {
            Ok(value) => value.map_or(Expr::Undefined, Expr::Constant),
            Err(_) => expr,
        }
    }
}

fn container_alias(query: &ast::Query) -> Option<String> {
    match &query.from.as_ref()?.sources[..] {
        [
            ast::Source {
                kind: ast::SourceKind::Named { collection: ast::Collection::Path { root, steps }, alias },
                ..
            },
        ] if steps.is_empty() => Some(alias.as_ref().unwrap_or(root).name.clone()),
        _ => None,
    }
}

/// The value of a constant expression; the inner `None` is undefined.
pub(super) fn constant(expr: &Expr) -> Option<Option<&Value>> {
    match expr {
        Expr::Undefined => Some(None),
        Expr::Constant(value) => Some(Some(value)),
        _ => None,
    }
}

pub(super) fn constant_val(expr: &Expr) -> Option<Val<'_>> {
    constant(expr).map(|value| value.map_or(Val::Undefined, Val::Constant))
}

fn is_constant(expr: &Expr) -> bool {
    constant(expr).is_some()
}

/// Whether all direct operands are constant and the operator is a function of them.
fn is_foldable(expr: &Expr) -> bool {
    match expr {
        Expr::Step(base, _) | Expr::Unary(_, base) | Expr::InSet(base, _) | Expr::Prepared(_, base) => {
            is_constant(base)
        }
        Expr::Binary(_, both) | Expr::Coalesce(both) | Expr::Like(both, _) => {
            is_constant(&both.0) && is_constant(&both.1)
        }
        Expr::Conditional(all) | Expr::Between(all) => {
            is_constant(&all.0) && is_constant(&all.1) && is_constant(&all.2)
        }
        Expr::And(items) | Expr::Or(items) | Expr::Array(items) => items.iter().all(is_constant),
        Expr::In(operand, items) => is_constant(operand) && items.iter().all(is_constant),
        Expr::Object(members) => members.iter().all(|(_, member)| is_constant(member)),
        Expr::Call(function, args) => {
            function.timing == crate::functions::Timing::Constant && args.iter().all(is_constant)
        }
        _ => false,
    }
}

fn literal_value(literal: &Literal) -> Expr {
    Expr::Constant(match literal {
        Literal::Undefined => return Expr::Undefined,
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Integer(value) => Value::from(*value),
        Literal::Float(value) => Value::Number(Number::from(*value)),
        Literal::String(text) => Value::String(text.clone()),
    })
}

fn negate(negated: bool, expr: Expr) -> Expr {
    if negated { Expr::Unary(UnaryOp::Not, Box::new(expr)) } else { expr }
}

/// `operand IN (items)`, by search or by look-up.
fn one_of(operand: Box<Expr>, items: Box<[Expr]>) -> Expr {
    let values: Option<Vec<Value>> = items.iter().map(|item| constant(item).flatten().cloned()).collect();
    match values {
        Some(values) if values.len() > SEARCHED_ITEMS_MAX => {
            let key_of = |value: &Value| {
                let mut bytes = Vec::new();
                key::append(&Val::Constant(value), &mut bytes);
                bytes
            };
            let keys: HashSet<Vec<u8>> = values.iter().map(key_of).collect();
            Expr::InSet(operand, Box::new(ConstantSet { values, keys }))
        }
        _ => Expr::In(operand, items),
    }
}

fn like((operand, pattern): (Expr, Expr), escape: Option<&Escape>) -> Expr {
    let escape = escape.and_then(|escape| escape.text.chars().next());
    match constant_val(&pattern) {
        Some(constant) => match constant.as_str() {
            Some(text) => {
                let pattern = LikePattern::new(&text, escape);
                Expr::Prepared(Box::new(Prepared::Like(pattern)), Box::new(operand))
            }
            None => Expr::Undefined,
        },
        None => Expr::Like(Box::new((operand, pattern)), escape),
    }
}
