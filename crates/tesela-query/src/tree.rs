//! A query with its meaning settled: what the binder makes and the evaluator runs.
//!
//! Names are gone. An alias is a *slot* of the frame, numbered over the whole query with its subqueries; a path is a
//! slot and steps; a parameter is its value; a function is a row of its table; constant parts are computed. What an
//! expression needs at run time is in it or in the frame, so a row costs no look-up and no allocation of ours.
//!
//! ```text
//! SELECT c.id FROM c JOIN t IN c.tags WHERE t.n > @min      (@min = 3)
//!
//! sources     Document -> slot 0;  Each(Path 0.tags) -> slot 1
//! filter      Binary(>, Path 1.n, Constant 3)
//! projection  List [ "id": Path 0.id ]
//! ```
//!
//! A query whose FROM is a subquery that must see all documents first (it groups, aggregates or is DISTINCT) is cut
//! into *stages*; each takes the rows of the one before it.

use crate::aggregate::AggregateKind;
use crate::full_text::{Analyzer, Phrase};
use crate::functions::Function;
use crate::functions::full_text::Search;
use crate::functions::vector::Measure;
use crate::like::LikePattern;
use regex::Regex;
use std::collections::HashSet;
use tesela_model::json::Value;
use tesela_sql::ast::{BinaryOp, Direction, SubqueryKind, UnaryOp};

/// Index of an alias in the frame.
pub type Slot = usize;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Name(Box<str>),
    Index(usize),
}

/// A bound scalar expression.
#[derive(Clone)]
pub enum Expr {
    Undefined,
    Constant(Value),
    /// The value of an alias.
    Slot(Slot),
    /// A property or element below an alias.
    Path(Slot, Box<[Step]>),
    /// A property or element of any other value.
    Step(Box<Expr>, Step),
    /// A computed property of the container: its name, what it is, and steps below it.
    Computed(Box<str>, Box<Expr>, Box<[Step]>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<(Expr, Expr)>),
    And(Box<[Expr]>),
    Or(Box<[Expr]>),
    Coalesce(Box<(Expr, Expr)>),
    Conditional(Box<(Expr, Expr, Expr)>),
    Between(Box<(Expr, Expr, Expr)>),
    In(Box<Expr>, Box<[Expr]>),
    /// IN over a long list of constants: their keys, and the list for those who want to see it.
    InSet(Box<Expr>, Box<ConstantSet>),
    /// LIKE with a pattern that is only known with the row.
    Like(Box<(Expr, Expr)>, Option<char>),
    /// An operation prepared for its constant arguments, and the argument that varies.
    Prepared(Box<Prepared>, Box<Expr>),
    Array(Box<[Expr]>),
    Object(Box<[(Box<str>, Expr)]>),
    Call(&'static Function, Box<[Expr]>),
    UserFunction(Box<str>, Box<[Expr]>),
    Subquery(SubqueryKind, Box<Select>),
    /// The result of an aggregate of the enclosing select.
    Aggregate(usize),
    /// The value of a GROUP BY key of the enclosing select.
    GroupKey(usize),
    /// The number of the document in its partition.
    DocumentId,
    /// The BM25 score of a text, with the statistics of that number.
    Score(usize, Box<Expr>),
}

/// The values of a long IN list.
#[derive(Clone)]
pub struct ConstantSet {
    pub values: Vec<Value>,
    pub keys: HashSet<Vec<u8>>,
}

/// What can be prepared when the query is compiled.
#[derive(Clone)]
pub enum Prepared {
    Like(LikePattern),
    Regex(Regex),
    Search(Search),
    /// Distance from a constant vector.
    Vector(Measure, Vec<f64>),
    /// Distance between two vectors of the row (the operand is an array of both).
    VectorPair(Measure),
}

/// Where rows come from. Sources stand in the order they are nested.
#[derive(Clone)]
pub enum Source {
    /// The document itself.
    Document(Slot),
    /// A row of the stage before.
    Input(Slot),
    /// A value, unless it is undefined.
    Value(Slot, Expr),
    /// The elements of an array.
    Each(Slot, Expr),
    /// The rows of a subquery.
    Rows(Slot, Box<Select>),
}

/// A bound select: the whole query, a stage of it, or a subquery.
#[derive(Clone)]
pub struct Select {
    pub sources: Vec<Source>,
    pub filter: Option<Expr>,
    pub grouping: Option<Grouping>,
    pub projection: Projection,
    pub distinct: bool,
}

/// Keys and aggregates. Without keys there is one group, even of nothing.
#[derive(Clone)]
pub struct Grouping {
    pub keys: Vec<Expr>,
    pub has_group_by: bool,
    pub aggregates: Vec<(AggregateKind, Expr)>,
}

#[derive(Clone)]
pub enum Projection {
    /// The value itself; no row when it is undefined.
    Value(Expr),
    /// An object of the defined ones.
    List(Vec<(Box<str>, Expr)>),
}

/// How the rows of the whole query are put in order.
#[derive(Clone)]
pub enum Order {
    /// As the documents come.
    None,
    By(Vec<OrderItem>),
    /// By the ranks the components give, fused.
    Fusion(Vec<Component>),
}

#[derive(Clone)]
pub struct OrderItem {
    pub expr: Expr,
    pub direction: Direction,
    /// Rows without a value come last in either direction: true of scores.
    pub undefined_last: bool,
}

/// A component of RRF.
#[derive(Clone)]
pub struct Component {
    pub expr: Expr,
    pub direction: Direction,
    pub weight: f64,
}

/// A text to score and what to score it for.
#[derive(Clone)]
pub struct Scorer {
    pub text: Expr,
    pub analyzer: Analyzer,
    pub phrases: Vec<Phrase>,
}
