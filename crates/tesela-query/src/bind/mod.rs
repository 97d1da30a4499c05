//! From syntax to meaning: names become slots, parameters values, calls table rows; rules are checked on the way.
//!
//! [`CompiledQuery::compile`] first makes the spelling uniform ([`normalize`]), then binds clause by clause in the order
//! they are evaluated: FROM, WHERE, GROUP BY, SELECT, ORDER BY. The first fault ends the binding; faults that need no
//! names ([`tesela_sql::rules`]) are all reported with it.
//!
//! How names resolve: the first source of a query that stands in no other one's reach names the container, whatever
//! its spelling; every other name must be an alias, innermost first. An alias hides the name it stands for.

mod call;
mod expression;
mod normalize;
pub mod origin;
mod ranking;
mod scope;
mod select;
mod source;

use crate::error::{QueryError, code};
use crate::eval::Run;
use crate::full_text::Language;
use crate::functions::Geospatial;
use crate::functions::vector::Measure;
use crate::tree::{Expr, Order, Scorer, Select, Slot};
use origin::Origin;
use scope::Level;
use tesela_model::json::Value;
use tesela_sql::ast::{self, Query, RowCount, RowCountKind};
use tesela_sql::rules::{self, RowCountClause};
use tesela_sql::{Span, SqlError};

/// The JavaScript functions of a container.
pub trait UserFunctions: Sync {
    /// Whether there is a function of that name; a query that calls another is refused.
    fn knows(&self, name: &str) -> bool;

    /// Calls it. An undefined result is `None`; the error is its message. It is not called with undefined arguments:
    /// those make the result undefined.
    fn call(&self, name: &str, args: &[Value]) -> Result<Option<Value>, String>;
}

/// A container without functions.
pub struct NoFunctions;

impl UserFunctions for NoFunctions {
    fn knows(&self, _: &str) -> bool {
        false
    }

    fn call(&self, name: &str, _: &[Value]) -> Result<Option<Value>, String> {
        Err(format!("there is no function {name}"))
    }
}

/// What the meaning of a query depends on beside its text.
pub struct CompileContext<'a> {
    pub computed_properties: &'a [ComputedProperty],
    pub geospatial: Geospatial,
    pub vectors: &'a [VectorPath],
    pub full_text: &'a [FullTextPath],
    /// Language of texts no policy names.
    pub language: Language,
    /// The moment of the `…Static` functions, in 100 ns ticks since 1970.
    pub now_ticks: i64,
    pub functions: &'a dyn UserFunctions,
}

impl Default for CompileContext<'_> {
    fn default() -> Self {
        Self {
            computed_properties: &[],
            geospatial: Geospatial::default(),
            vectors: &[],
            full_text: &[],
            language: Language::default(),
            now_ticks: 0,
            functions: &NoFunctions,
        }
    }
}

/// A property the container computes: `name` is the value of `query`, a `SELECT VALUE … FROM c`.
#[derive(Clone, Debug)]
pub struct ComputedProperty {
    pub name: String,
    pub query: String,
}

/// A path of the vector policy, by its property names.
#[derive(Clone, Debug)]
pub struct VectorPath {
    pub path: Vec<String>,
    pub measure: Measure,
}

/// A path of the full-text policy, by its property names.
#[derive(Clone, Debug)]
pub struct FullTextPath {
    pub path: Vec<String>,
    pub language: Language,
}

/// A query ready to run, any number of times and on any number of partitions.
pub struct CompiledQuery {
    /// Innermost first; see [`crate::tree`].
    pub(crate) stages: Vec<Select>,
    pub(crate) order: Order,
    pub(crate) offset: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) slots: Vec<Origin>,
    pub(crate) scorers: Vec<Scorer>,
    pub(crate) geospatial: Geospatial,
    pub(crate) reads_documents: bool,
    /// Names of the computed properties it uses.
    pub(crate) computed: Vec<String>,
}

impl CompiledQuery {
    /// Binds a query. Parameter names include their `@`.
    pub fn compile(
        query: &Query,
        parameters: &[(String, Value)],
        context: &CompileContext<'_>,
    ) -> Result<Self, QueryError> {
        let mut faults = rules::check(query);
        let normal = normalize::normalize(query, parameters);
        let mut binder = Binder {
            context,
            parameters,
            levels: Vec::new(),
            slots: Vec::new(),
            scorers: Vec::new(),
            stages: Vec::new(),
            user_functions: 0,
            computing: false,
            reads_documents: false,
            computed: Vec::new(),
            run: Run::for_constants(context.now_ticks, context.geospatial),
        };
        match binder.whole(&normal) {
            Ok(compiled) if faults.is_empty() => Ok(compiled),
            Ok(_) => Err(QueryError::Refused(faults)),
            Err(fault) => {
                faults.push(fault);
                Err(QueryError::Refused(faults))
            }
        }
    }

    /// Whether rows come as documents are pushed: nothing is sorted, grouped or kept apart.
    pub fn is_streaming(&self) -> bool {
        matches!(self.order, Order::None) && self.is_streaming_in_order()
    }

    /// Whether rows come as documents are pushed, provided these come in the order the query asks for.
    pub fn is_streaming_in_order(&self) -> bool {
        self.stages.iter().all(|select| select.grouping.is_none() && !select.distinct)
    }

    /// Whether the answer depends on documents at all; `SELECT 1` does not, and yields its row once.
    pub fn reads_documents(&self) -> bool {
        self.reads_documents
    }
}

type Bound<T> = Result<T, SqlError>;

/// Binds one query with its subqueries.
struct Binder<'a> {
    context: &'a CompileContext<'a>,
    parameters: &'a [(String, Value)],
    levels: Vec<Level>,
    /// The origin of each slot handed out.
    slots: Vec<Origin>,
    scorers: Vec<Scorer>,
    stages: Vec<Select>,
    user_functions: usize,
    /// Inside a computed property, which sees no other computed property.
    computing: bool,
    /// Whether the container was named.
    reads_documents: bool,
    computed: Vec<String>,
    /// Computes constants.
    run: Run<'static>,
}

impl Binder<'_> {
    fn whole(&mut self, query: &Query) -> Bound<CompiledQuery> {
        let (select, order) = self.outermost(query)?;
        let top = query.select.top.as_ref().map(|top| self.row_count(RowCountClause::Top, top)).transpose()?;
        let (offset, limit) = match &query.offset_limit {
            Some(clause) => {
                let offset = self.row_count(RowCountClause::Offset, &clause.offset)?;
                (offset, Some(self.row_count(RowCountClause::Limit, &clause.limit)?))
            }
            None => (0, None),
        };
        self.stages.push(select);
        Ok(CompiledQuery {
            reads_documents: self.reads_documents,
            stages: std::mem::take(&mut self.stages),
            order,
            offset,
            limit: [top, limit].into_iter().flatten().min(),
            slots: std::mem::take(&mut self.slots),
            scorers: std::mem::take(&mut self.scorers),
            geospatial: self.context.geospatial,
            computed: std::mem::take(&mut self.computed),
        })
    }

    fn row_count(&self, clause: RowCountClause, count: &RowCount) -> Bound<u64> {
        let value = match &count.kind {
            RowCountKind::Literal(value) => *value,
            RowCountKind::Parameter(name) => {
                let value = self.parameter(name, count.span)?.as_i64().and_then(|value| u64::try_from(value).ok());
                let message = || format!("parameter '{name}' must be a whole number that is not negative");
                value.ok_or_else(|| SqlError::new(code::NO_COUNT, count.span, message()))?
            }
        };
        rules::row_count(clause, value, count.span)?;
        Ok(value)
    }

    fn parameter(&self, name: &str, span: Span) -> Bound<&Value> {
        let known = self.parameters.iter().find(|(known, _)| known == name);
        known.map(|(_, value)| value).ok_or_else(|| {
            SqlError::new(code::UNRESOLVED, span, format!("Parameter '{name}' could not be resolved: it has no value."))
        })
    }

    fn new_slot(&mut self, origin: Origin) -> Slot {
        self.slots.push(origin);
        self.slots.len() - 1
    }

    /// The level names are bound in now.
    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("expressions are bound inside a select")
    }

    /// The level, and the slot there, an identifier names.
    fn resolve(&self, name: &str) -> Option<(usize, Slot)> {
        let levels = self.levels.iter().enumerate().rev();
        levels.filter_map(|(at, level)| level.find(name).map(|slot| (at, slot))).next()
    }

    fn identifier(&self, name: &str, span: Span) -> Bound<Expr> {
        let Some((level, slot)) = self.resolve(name) else {
            let message = format!("Identifier '{name}' could not be resolved.");
            return Err(SqlError::new(code::UNRESOLVED, span, message));
        };
        if self.levels[level].sees_groups() {
            let message = format!(
                "Property reference '{name}' is invalid in the select list because it is not contained in either an \
                 aggregate function or the GROUP BY clause."
            );
            return Err(SqlError::new(code::UNGROUPED, span, message));
        }
        Ok(Expr::Slot(slot))
    }

    fn origin(&self, expr: &Expr) -> Origin {
        Origin::of(expr, &self.slots)
    }
}

/// Refuses more of something than a query may have.
fn check_count(what: &str, count: usize, max: usize, span: Span) -> Bound<()> {
    if count <= max {
        return Ok(());
    }
    Err(SqlError::new(code::TOO_MANY, span, format!("The query has {count} {what}, at most {max} are allowed.")))
}

/// Whether an expression holds an aggregate of its own select.
fn has_aggregate(expr: &ast::Expr) -> bool {
    let mut found = call::aggregate_kind(expr).is_some();
    expr.for_each_child(|child| found |= has_aggregate(child));
    found
}
