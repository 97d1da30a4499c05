//! What the conditions of a query say about the partition key of the documents that satisfy them.
//!
//! Walks bound expressions, where names are resolved, parameters filled in and constants computed. The question asked
//! of a condition is [`Deriver::when`]: which keys can a document have for which it is true (or, below a NOT, false)?
//! The answer covers: an expression this module knows nothing about says "any".
//!
//! ```text
//! c.pk = 1 OR ABS(c.pk) = 2          1, 2 or -2
//! NOT c.pk                           false
//! c.pk = 1 AND c.x = (SELECT VALUE t FROM t IN c.tags WHERE c.pk = 2)
//!                                    none: an undefined operand makes `=` undefined, and the subquery has no row
//!                                    unless c.pk = 2
//! ```
//!
//! Objects and arrays count as a missing key, so `c.pk = {}` selects the undefined key. Left out: conditions on parts
//! of a key value (`c.pk.x = 1`, `LENGTH(c.pk) = 3`), since a hash tells nothing of them, and ranges, likewise.

use super::key_set::{KeyPart, KeySet, KeySpace};
use crate::bind::origin::{Origin, PathStep};
use crate::functions::{Function, Undefined};
use crate::tree::{Expr, Select, Source};
use tesela_model::json::Value;
use tesela_model::partition_key::{PartitionKeyDefinition, PropertyPath};
use tesela_sql::ast::{BinaryOp, SubqueryKind, UnaryOp};

pub(super) struct Deriver<'a> {
    /// The steps of each component's path.
    paths: Vec<&'a [String]>,
    slots: &'a [Origin],
    space: KeySpace,
}

impl<'a> Deriver<'a> {
    pub fn new(definition: &'a PartitionKeyDefinition, slots: &'a [Origin]) -> Self {
        let paths: Vec<&[String]> = definition.paths.iter().map(PropertyPath::steps).collect();
        Self { space: KeySpace::new(paths.len()), paths, slots }
    }

    /// Keys of the documents that reach the projection of a select.
    pub fn documents(&self, select: &Select) -> KeySet {
        let sources = select.sources.iter().map(|source| self.source(source));
        let filter = select.filter.iter().map(|filter| self.when(filter, true));
        self.space.every(sources.chain(filter))
    }

    fn source(&self, source: &Source) -> KeySet {
        match source {
            Source::Document(_) | Source::Input(_) => self.space.all(),
            Source::Value(_, expr) | Source::Each(_, expr) => self.defined(expr),
            Source::Rows(_, select) => self.rows(select),
        }
    }

    /// Keys of the documents for which a subquery has a row. An aggregate has one of nothing, too.
    fn rows(&self, select: &Select) -> KeySet {
        match &select.grouping {
            Some(grouping) if !grouping.has_group_by => self.space.all(),
            _ => self.documents(select),
        }
    }

    /// Keys of the documents for which `expr` is `wanted`.
    fn when(&self, expr: &Expr, wanted: bool) -> KeySet {
        match expr {
            Expr::Constant(Value::Bool(value)) if *value == wanted => self.space.all(),
            Expr::Constant(_) | Expr::Undefined => KeySet::none(),
            Expr::Slot(_) | Expr::Path(..) | Expr::Step(..) => match self.component(expr) {
                Some(component) => self.space.one_of(component, [KeyPart::Bool(wanted)]),
                None => self.space.all(),
            },
            Expr::Computed(_, value, steps) if steps.is_empty() => self.when(value, wanted),
            Expr::Unary(UnaryOp::Not, operand) => self.when(operand, !wanted),
            Expr::And(operands) => self.chain(operands, wanted, wanted),
            Expr::Or(operands) => self.chain(operands, wanted, !wanted),
            Expr::Binary(op, both) => match (op, wanted) {
                (BinaryOp::Equal, true) | (BinaryOp::NotEqual, false) => self.equal(&both.0, &both.1),
                _ => self.all_defined([&both.0, &both.1]),
            },
            Expr::In(operand, items) if wanted => self.space.any(items.iter().map(|item| self.equal(operand, item))),
            Expr::InSet(operand, set) if wanted => match self.component(operand) {
                Some(component) => self.space.one_of(component, set.values.iter().map(KeyPart::of)),
                None => self.space.any(set.values.iter().map(|value| self.equal_to(operand, value))),
            },
            Expr::Conditional(parts) => {
                let (condition, then, otherwise) = &**parts;
                let first = self.space.every([self.when(condition, true), self.when(then, wanted)]);
                self.space.any([first, self.when(otherwise, wanted)])
            }
            Expr::Coalesce(both) => self.space.any([self.when(&both.0, wanted), self.when(&both.1, wanted)]),
            Expr::Call(function, args) => self.call(function, args, wanted),
            Expr::Subquery(SubqueryKind::Exists, select) if wanted => self.rows(select),
            _ => self.defined(expr),
        }
    }

    /// `joined`: all operands must be `wanted`, else one of them.
    fn chain(&self, operands: &[Expr], wanted: bool, joined: bool) -> KeySet {
        let sets = operands.iter().map(|operand| self.when(operand, wanted));
        if joined { self.space.every(sets) } else { self.space.any(sets) }
    }

    fn equal(&self, left: &Expr, right: &Expr) -> KeySet {
        match (left, right) {
            (Expr::Undefined, _) | (_, Expr::Undefined) => KeySet::none(),
            (expr, Expr::Constant(value)) | (Expr::Constant(value), expr) => self.equal_to(expr, value),
            _ => self.all_defined([left, right]),
        }
    }

    fn equal_to(&self, expr: &Expr, value: &Value) -> KeySet {
        if let Some(component) = self.component(expr) {
            return self.space.one_of(component, [KeyPart::of(value)]);
        }
        match (expr, value) {
            (Expr::Computed(_, inner, steps), _) if steps.is_empty() => self.equal_to(inner, value),
            (Expr::Call(function, args), _) if function.name == "ABS" => self.absolute(&args[0], value),
            (_, Value::Bool(value)) => self.when(expr, *value),
            _ => self.defined(expr),
        }
    }

    fn absolute(&self, operand: &Expr, value: &Value) -> KeySet {
        let Some(component) = self.component(operand) else { return self.defined(operand) };
        let magnitude = value.as_f64().filter(|magnitude| *magnitude >= 0.0);
        let signed = magnitude.map(|magnitude| [KeyPart::number(magnitude), KeyPart::number(-magnitude)]);
        self.space.one_of(component, signed.into_iter().flatten())
    }

    fn call(&self, function: &Function, args: &[Expr], wanted: bool) -> KeySet {
        let of_key = |parts: &[KeyPart]| {
            let component = args.first().and_then(|arg| self.component(arg));
            component.map(|component| self.space.one_of(component, parts.iter().cloned()))
        };
        let known = match (function.name, wanted) {
            ("IS_NULL", true) => of_key(&[KeyPart::Null]),
            ("IS_BOOL" | "IS_BOOLEAN", true) => of_key(&[KeyPart::Bool(false), KeyPart::Bool(true)]),
            ("IS_DEFINED", false) => of_key(&[KeyPart::Undefined]),
            ("IS_DEFINED", true) => Some(self.defined(&args[0])),
            ("ARRAY_CONTAINS" | "_TRY_ARRAY_CONTAINS", true) => self.contained(&args[0], &args[1]),
            _ => None,
        };
        known.unwrap_or_else(|| self.defined_call(function, args))
    }

    /// `ARRAY_CONTAINS([…], sought)`. A partial match finds objects only, and these are all one key.
    fn contained(&self, list: &Expr, sought: &Expr) -> Option<KeySet> {
        let component = self.component(sought)?;
        match list {
            Expr::Constant(Value::Array(values)) => Some(self.space.one_of(component, values.iter().map(KeyPart::of))),
            Expr::Array(items) => Some(self.space.any(items.iter().map(|item| self.equal(item, sought)))),
            _ => None,
        }
    }

    /// Keys of the documents for which `expr` has a value.
    fn defined(&self, expr: &Expr) -> KeySet {
        match expr {
            Expr::Undefined => KeySet::none(),
            Expr::Computed(_, operand, _) | Expr::Step(operand, _) | Expr::Unary(_, operand) => self.defined(operand),
            Expr::Prepared(_, operand) => self.defined(operand),
            Expr::Binary(_, both) => self.all_defined([&both.0, &both.1]),
            Expr::Call(function, args) => self.defined_call(function, args),
            Expr::Subquery(SubqueryKind::Scalar, select) => self.rows(select),
            _ => self.space.all(),
        }
    }

    fn defined_call(&self, function: &Function, args: &[Expr]) -> KeySet {
        if function.undefined != Undefined::Strict {
            return self.space.all();
        }
        let spatial = function.name.starts_with("ST_");
        self.space.every(args.iter().map(|arg| match self.component(arg) {
            // A shape is an object, and an object is no key.
            Some(component) if spatial => self.space.one_of(component, [KeyPart::Undefined]),
            _ => self.defined(arg),
        }))
    }

    fn all_defined<const N: usize>(&self, exprs: [&Expr; N]) -> KeySet {
        self.space.every(exprs.map(|expr| self.defined(expr)))
    }

    /// The component of the key an expression reads, when it reads one.
    fn component(&self, expr: &Expr) -> Option<usize> {
        if !matches!(expr, Expr::Slot(_) | Expr::Path(..) | Expr::Step(..)) {
            return None;
        }
        let origin = Origin::of(expr, self.slots);
        let found = origin.path()?;
        let same = |path: &[String]| {
            let step = |(name, step): (&String, &PathStep)| matches!(step, PathStep::Name(found) if found == name);
            path.len() == found.len() && path.iter().zip(found).all(step)
        };
        self.paths.iter().position(|path| same(path))
    }
}
