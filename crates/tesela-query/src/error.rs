//! Why a query is not answered.

use tesela_sql::SqlError;

/// Service codes the binder reports. Those that need no names resolved are in [`tesela_sql::code`].
pub mod code {
    /// An identifier or parameter that names nothing.
    pub const UNRESOLVED: &str = "SC2001";
    /// Two sources under one alias. The service refuses it; the number is ours.
    pub const ALIAS_TWICE: &str = "SC2003";
    /// A function nobody knows.
    pub const UNKNOWN_FUNCTION: &str = "SC2005";
    /// An argument that is not of the kind the function takes. The number is ours.
    pub const ARGUMENT: &str = "SC2051";
    /// Too few or too many arguments.
    pub const ARITY: &str = "SC2050";
    /// TOP, OFFSET or LIMIT by a parameter that is no count. The number is ours.
    pub const NO_COUNT: &str = "SC2063";
    /// An aggregate of an aggregate or of a subquery.
    pub const NESTED_AGGREGATE: &str = "SC2101";
    /// A property outside GROUP BY and outside an aggregate.
    pub const UNGROUPED: &str = "SC2102";
    /// An aggregate outside the SELECT list. The number is ours.
    pub const AGGREGATE_PLACE: &str = "SC2104";
    /// A GROUP BY key that is no plain expression. The number is ours.
    pub const GROUP_KEY: &str = "SC2105";
    /// ORDER BY something that is no path of the document. The service reports it without the prefix.
    pub const ORDER_BY_PATH: &str = "2206";
    /// An option of VectorDistance out of its range.
    pub const VECTOR_OPTION: &str = "SC2213";
    /// ORDER BY RANK of something that does not rank.
    pub const RANK_FUNCTION: &str = "SC2221";
    /// The weights of RRF do not fit its components.
    pub const RANK_WEIGHTS: &str = "SC2229";
    /// A direction for an order that has its own. The number is ours.
    pub const SCORE_DIRECTION: &str = "SC2214";
    /// FullTextScore outside ORDER BY RANK.
    pub const SCORE_PLACE: &str = "SC2240";
    /// An index that depends on the document.
    pub const COMPUTED_INDEX: &str = "SC2990";
    /// Too many JOINs, properties or keys. The number is ours.
    pub const TOO_MANY: &str = "SC3004";
    /// Too many user-defined functions.
    pub const UDF_CALLS: &str = "SC3005";
}

/// Why a query is refused, or stopped half-way.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QueryError {
    /// The text has no meaning. Every fault has a code and a place.
    #[error("{}", list(.0))]
    Refused(Vec<SqlError>),
    /// A scalar subquery yielded a second row.
    #[error("a scalar subquery returned more than one row")]
    SubqueryRows,
    /// A user-defined function failed.
    #[error("user-defined function {name} failed: {message}")]
    UserFunction { name: String, message: String },
    /// One document needs more steps than a query may spend on it.
    #[error("the query takes more than {limit} steps for one document; narrow its joins")]
    TooManySteps { limit: u64 },
    /// The rows to sort, group or keep apart do not fit the memory of one query.
    #[error("the query holds more than {limit} bytes before it can answer; filter it or limit its rows")]
    TooManyBytes { limit: usize },
    /// A row of an inner query cannot be handed on: our own rows fail to parse for no other reason.
    #[error("a row of a subquery nests deeper than {limit} levels")]
    RowDepth { limit: usize },
}

impl QueryError {
    /// The faults of a refused query; none for the others.
    pub fn faults(&self) -> &[SqlError] {
        match self {
            Self::Refused(faults) => faults,
            Self::SubqueryRows
            | Self::UserFunction { .. }
            | Self::TooManySteps { .. }
            | Self::TooManyBytes { .. }
            | Self::RowDepth { .. } => &[],
        }
    }
}

impl From<SqlError> for QueryError {
    fn from(fault: SqlError) -> Self {
        Self::Refused(vec![fault])
    }
}

fn list(faults: &[SqlError]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
