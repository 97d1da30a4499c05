//! The syntax tree of one query.
//!
//! Plain data: every field is public, nothing is resolved. A name is still a name, `root`
//! is not yet known to be the container, and `COUNT` is a call like any other. Whoever
//! binds the query decides those things.
//!
//! ```text
//! SELECT VALUE p.name FROM c JOIN p IN c.parts WHERE p.n > 1 AND p.n < 9 AND p.ok
//!
//! Query
//!   select  Value(Member(Identifier p, name))
//!   from    [ Named { c }, Iteration { p IN c.parts } ]
//!   where_  And [ p.n > 1, p.n < 9, p.ok ]
//! ```
//!
//! Invariants of every tree the parser returns:
//!
//! * **Bounded height.** No path from the root to a leaf is longer than
//!   [`crate::EXPRESSION_HEIGHT_MAX`] expressions, and subqueries nest at most
//!   [`crate::SUBQUERY_DEPTH_MAX`] deep, so evaluating, printing and dropping may recurse.
//!   Long `AND` and `OR` chains do not add height: they are one node with many operands.
//! * **`And`/`Or` have at least two operands, and the first one is never of the same
//!   kind**: `(a AND b) AND c` and `a AND b AND c` are one tree. `a AND (b AND c)` keeps
//!   its grouping.
//! * **Parentheses leave no node**; spans of parenthesised expressions include them.
//!
//! Two trees are equal when they say the same thing: `==` looks past spans. That is what
//! matching a SELECT item with a GROUP BY expression wants, and what the printer's
//! round-trip test checks.

use crate::span::Span;

/// Equality over the named fields only, so that spans stay out of it.
macro_rules! eq_without_span {
    ($($ty:ident { $($field:ident),+ })*) => {$(
        impl PartialEq for $ty {
            fn eq(&self, other: &Self) -> bool {
                $(self.$field == other.$field)&&+
            }
        }
        impl Eq for $ty {}
    )*};
}

eq_without_span! {
    Query { select, from, where_, group_by, order_by, offset_limit }
    Select { distinct, top, spec }
    SelectItem { expr, alias }
    FromClause { sources }
    Source { kind }
    PathStep { kind }
    GroupBy { keys }
    OrderBy { rank, items }
    OrderItem { expr, direction }
    OffsetLimit { offset, limit }
    RowCount { kind }
    Ident { name }
    Expr { kind }
    Escape { text }
    Property { name, value }
}

/// A whole query, or a subquery.
#[derive(Debug, Clone)]
pub struct Query {
    pub select: Select,
    pub from: Option<FromClause>,
    pub where_: Option<Expr>,
    pub group_by: Option<GroupBy>,
    pub order_by: Option<OrderBy>,
    pub offset_limit: Option<OffsetLimit>,
    pub span: Span,
}

/// `SELECT [DISTINCT] [TOP n] ...`
#[derive(Debug, Clone)]
pub struct Select {
    pub distinct: bool,
    pub top: Option<RowCount>,
    pub spec: SelectSpec,
    /// From `SELECT` to the end of the projection.
    pub span: Span,
}

/// What a row of the result is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectSpec {
    /// `*`: the row of the only source, unchanged.
    Star,
    /// `VALUE e`: the value itself.
    Value(Expr),
    /// `e [[AS] alias], ...`: an object with one property per item. Never empty.
    List(Vec<SelectItem>),
}

/// One item of a SELECT list.
#[derive(Debug, Clone)]
pub struct SelectItem {
    pub expr: Expr,
    pub alias: Option<Ident>,
    pub span: Span,
}

/// A name as the query spells it: alias, identifier or property.
#[derive(Debug, Clone)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

/// `FROM source [JOIN source]...`
///
/// The first source is the one after `FROM`; the others are its JOINs, in order. Never empty.
#[derive(Debug, Clone)]
pub struct FromClause {
    pub sources: Vec<Source>,
    pub span: Span,
}

/// One source of rows.
#[derive(Debug, Clone)]
pub struct Source {
    pub kind: SourceKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceKind {
    /// `collection [[AS] alias]`: one row per value of the collection.
    ///
    /// Without an alias a path is known by its last step's name, a subquery by none.
    Named { collection: Collection, alias: Option<Ident> },
    /// `alias IN collection`: one row per element of the array.
    Iteration { alias: Ident, collection: Collection },
}

/// What a source reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Collection {
    /// `name.step["step"][0]`. `root` is an alias of an earlier source or of an outer query,
    /// else it stands for the container (whatever its spelling).
    Path { root: Ident, steps: Vec<PathStep> },
    /// `(SELECT ...)`
    Subquery(Box<Query>),
}

/// One step of a source path.
#[derive(Debug, Clone)]
pub struct PathStep {
    pub kind: PathStepKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStepKind {
    /// `.name`
    Member(String),
    /// `["name"]`; means the same as `.name` and is printed as written.
    Quoted(String),
    /// `[3]`
    Element(u64),
    /// `[@p]`; the name includes the `@`.
    Parameter(String),
}

/// `GROUP BY key, ...`; never empty.
#[derive(Debug, Clone)]
pub struct GroupBy {
    pub keys: Vec<Expr>,
    pub span: Span,
}

/// `ORDER BY [RANK] item, ...`; never empty. With `rank`, every item is a function call.
#[derive(Debug, Clone)]
pub struct OrderBy {
    pub rank: bool,
    pub items: Vec<OrderItem>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct OrderItem {
    pub expr: Expr,
    /// `None` when the query names no direction: ascending, or best first for scores.
    pub direction: Option<Direction>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Ascending,
    Descending,
}

/// `OFFSET n LIMIT m`
#[derive(Debug, Clone)]
pub struct OffsetLimit {
    pub offset: RowCount,
    pub limit: RowCount,
    pub span: Span,
}

/// The operand of TOP, OFFSET or LIMIT.
#[derive(Debug, Clone)]
pub struct RowCount {
    pub kind: RowCountKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowCountKind {
    /// Saturates at `u64::MAX`; the range rule is checked in [`crate::rules`].
    Literal(u64),
    /// The name includes the `@`.
    Parameter(String),
}

/// A scalar expression.
#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExprKind {
    Literal(Literal),
    /// The name includes the `@`, as in the request's parameter list.
    Parameter(String),
    /// An alias of some source in reach.
    Identifier(String),
    /// `base.name`
    Member {
        base: Box<Expr>,
        name: Ident,
    },
    /// `base[index]`; `base["name"]` means the same as `base.name`.
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// Conjunction of two or more operands, in text order.
    And(Vec<Expr>),
    /// Disjunction of two or more operands, in text order.
    Or(Vec<Expr>),
    /// `left ?? right`
    Coalesce {
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `condition ? then : otherwise`
    Conditional {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `operand [NOT] BETWEEN low AND high`
    Between {
        negated: bool,
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
    },
    /// `operand [NOT] IN (item, ...)`; never empty.
    In {
        negated: bool,
        operand: Box<Expr>,
        items: Vec<Expr>,
    },
    /// `operand [NOT] LIKE pattern [ESCAPE "c"]`
    Like {
        negated: bool,
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Escape>,
    },
    /// `name(args)`: a built-in function or an aggregate. Names compare without case.
    Call {
        name: Ident,
        args: Vec<Expr>,
    },
    /// `udf.name(args)`: a function of the container. The name compares with case.
    UdfCall {
        name: Ident,
        args: Vec<Expr>,
    },
    /// `{"name": value, ...}` in text order; a repeated name is kept, the last one wins.
    Object(Vec<Property>),
    /// `[item, ...]`
    Array(Vec<Expr>),
    /// `(SELECT ...)`, `EXISTS(SELECT ...)`, `ARRAY(SELECT ...)` and so on.
    Subquery {
        kind: SubqueryKind,
        query: Box<Query>,
    },
    /// Text the printer emits unchanged, for the `{documentdb-...}` holes of rewritten
    /// queries that clients fill in. The parser never builds it.
    Placeholder(String),
}

/// A constant.
#[derive(Debug, Clone)]
pub enum Literal {
    Undefined,
    Null,
    Bool(bool),
    /// An integer that 64 bits hold exactly.
    Integer(i64),
    /// Any other number, with `NaN` and the infinities.
    Float(f64),
    String(String),
}

/// Floats compare by their bits, so that equality is total: NaN equals itself and 0 differs
/// from -0. `1` and `1.0` are different spellings, hence different literals.
impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::String(a), Self::String(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Literal {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Plus,
    Minus,
    BitNot,
    Not,
}

/// Operators whose two operands are always both evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Multiply,
    Divide,
    Modulo,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    Concat,
}

/// The character after ESCAPE; `text` holds exactly one character.
#[derive(Debug, Clone)]
pub struct Escape {
    pub text: String,
    pub span: Span,
}

/// One `name: value` of an object constructor.
#[derive(Debug, Clone)]
pub struct Property {
    pub name: String,
    pub value: Expr,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubqueryKind {
    Scalar,
    Exists,
    Array,
    All,
    First,
    Last,
}

impl Ident {
    pub fn new(name: impl Into<String>, span: Span) -> Self {
        Self { name: name.into(), span }
    }
}

impl UnaryOp {
    /// The operator as the printer writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::BitNot => "~",
            Self::Not => "NOT",
        }
    }
}

impl BinaryOp {
    /// The operator as the printer writes it; `<>` is written `!=`.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::ShiftRightUnsigned => ">>>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::BitAnd => "&",
            Self::BitXor => "^",
            Self::BitOr => "|",
            Self::Concat => "||",
        }
    }
}

impl Expr {
    pub fn new(kind: ExprKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// Calls `visit` for each direct operand, in text order. Subqueries are not entered.
    pub fn for_each_child<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Parameter(_)
            | ExprKind::Identifier(_)
            | ExprKind::Subquery { .. }
            | ExprKind::Placeholder(_) => {}
            ExprKind::Member { base, .. } => visit(base),
            ExprKind::Unary { operand, .. } => visit(operand),
            ExprKind::Index { base: left, index: right }
            | ExprKind::Binary { left, right, .. }
            | ExprKind::Coalesce { left, right }
            | ExprKind::Like { operand: left, pattern: right, .. } => {
                visit(left);
                visit(right);
            }
            ExprKind::Conditional { condition: first, then: second, otherwise: third }
            | ExprKind::Between { operand: first, low: second, high: third, .. } => {
                visit(first);
                visit(second);
                visit(third);
            }
            ExprKind::In { operand, items, .. } => {
                visit(operand);
                items.iter().for_each(visit);
            }
            ExprKind::And(items)
            | ExprKind::Or(items)
            | ExprKind::Array(items)
            | ExprKind::Call { args: items, .. }
            | ExprKind::UdfCall { args: items, .. } => items.iter().for_each(visit),
            ExprKind::Object(properties) => properties.iter().for_each(|p| visit(&p.value)),
        }
    }
}

impl Query {
    /// Calls `visit` for each expression that stands directly in a clause of this query.
    /// Subqueries in FROM are not entered.
    pub fn for_each_expr<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match &self.select.spec {
            SelectSpec::Star => {}
            SelectSpec::Value(expr) => visit(expr),
            SelectSpec::List(items) => items.iter().for_each(|item| visit(&item.expr)),
        }
        self.where_.iter().for_each(&mut visit);
        if let Some(group_by) = &self.group_by {
            group_by.keys.iter().for_each(&mut visit);
        }
        if let Some(order_by) = &self.order_by {
            order_by.items.iter().for_each(|item| visit(&item.expr));
        }
    }
}
