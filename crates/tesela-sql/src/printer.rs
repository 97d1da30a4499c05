//! Tree to canonical text, in the form the service uses for rewritten queries.
//!
//! * The clauses of the outermost query stand on lines of their own, those of subqueries on
//!   one line.
//! * Every operator stands in parentheses with its operands; `a AND b AND c` groups from the
//!   left, `((a AND b) AND c)`, as the grammar reads it.
//! * Strings and object keys are in double quotes, aliases have `AS`, keywords are in upper
//!   case. Names, functions and `.name` against `["name"]` stay as written. A direction of
//!   ORDER BY is written only if the query has one.
//!
//! For every tree of the parser, `parse(print(tree)) == tree`. Trees built by hand print as
//! well; they read back equal if they keep the invariants of [`crate::ast`].

use crate::ast::{
    Collection, Direction, Expr, ExprKind, FromClause, Literal, OrderBy, PathStep, PathStepKind, Query, RowCount,
    RowCountKind, Select, SelectSpec, Source, SourceKind, SubqueryKind,
};
use crate::literal::{write, write_string};

/// The canonical text of a query.
pub fn print(query: &Query) -> String {
    let mut printer = Printer { out: String::new() };
    printer.query(query, '\n');
    printer.out
}

/// The canonical text of an expression, as query plans quote ORDER BY and GROUP BY items.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer { out: String::new() };
    printer.expr(expr);
    printer.out
}

struct Printer {
    out: String,
}

impl Printer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn separated<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (at, next) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            item(self, next);
        }
    }

    fn query(&mut self, query: &Query, between_clauses: char) {
        self.select(&query.select);
        if let Some(from) = &query.from {
            self.from(from, between_clauses);
        }
        if let Some(condition) = &query.where_ {
            self.out.push(between_clauses);
            self.push("WHERE ");
            self.expr(condition);
        }
        if let Some(group_by) = &query.group_by {
            self.out.push(between_clauses);
            self.push("GROUP BY ");
            self.separated(&group_by.keys, Self::expr);
        }
        if let Some(order_by) = &query.order_by {
            self.out.push(between_clauses);
            self.order_by(order_by);
        }
        if let Some(offset_limit) = &query.offset_limit {
            self.out.push(between_clauses);
            self.push("OFFSET ");
            self.row_count(&offset_limit.offset);
            self.push(" LIMIT ");
            self.row_count(&offset_limit.limit);
        }
    }

    fn select(&mut self, select: &Select) {
        self.push("SELECT ");
        if select.distinct {
            self.push("DISTINCT ");
        }
        if let Some(top) = &select.top {
            self.push("TOP ");
            self.row_count(top);
            self.push(" ");
        }
        match &select.spec {
            SelectSpec::Star => self.push("*"),
            SelectSpec::Value(expr) => {
                self.push("VALUE ");
                self.expr(expr);
            }
            SelectSpec::List(items) => self.separated(items, |printer, item| {
                printer.expr(&item.expr);
                if let Some(alias) = &item.alias {
                    printer.push(" AS ");
                    printer.push(&alias.name);
                }
            }),
        }
    }

    fn row_count(&mut self, count: &RowCount) {
        match &count.kind {
            RowCountKind::Literal(value) => self.push(&value.to_string()),
            RowCountKind::Parameter(name) => self.push(name),
        }
    }

    fn from(&mut self, from: &FromClause, between_clauses: char) {
        for (at, source) in from.sources.iter().enumerate() {
            self.out.push(between_clauses);
            self.push(if at == 0 { "FROM " } else { "JOIN " });
            self.source(source);
        }
    }

    fn source(&mut self, source: &Source) {
        match &source.kind {
            SourceKind::Named { collection, alias } => {
                self.collection(collection);
                if let Some(alias) = alias {
                    self.push(" AS ");
                    self.push(&alias.name);
                }
            }
            SourceKind::Iteration { alias, collection } => {
                self.push(&alias.name);
                self.push(" IN ");
                self.collection(collection);
            }
        }
    }

    fn collection(&mut self, collection: &Collection) {
        match collection {
            Collection::Path { root, steps } => {
                self.push(&root.name);
                steps.iter().for_each(|step| self.path_step(step));
            }
            Collection::Subquery(query) => {
                self.push("(");
                self.query(query, ' ');
                self.push(")");
            }
        }
    }

    fn path_step(&mut self, step: &PathStep) {
        match &step.kind {
            PathStepKind::Member(name) => self.push(&format!(".{name}")),
            PathStepKind::Quoted(name) => {
                self.push("[");
                write_string(name, &mut self.out);
                self.push("]");
            }
            PathStepKind::Element(index) => self.push(&format!("[{index}]")),
            PathStepKind::Parameter(name) => self.push(&format!("[{name}]")),
        }
    }

    fn order_by(&mut self, order_by: &OrderBy) {
        self.push(if order_by.rank { "ORDER BY RANK " } else { "ORDER BY " });
        self.separated(&order_by.items, |printer, item| {
            printer.expr(&item.expr);
            match item.direction {
                Some(Direction::Ascending) => printer.push(" ASC"),
                Some(Direction::Descending) => printer.push(" DESC"),
                None => {}
            }
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(literal) => write(literal, &mut self.out),
            ExprKind::Parameter(text) | ExprKind::Identifier(text) | ExprKind::Placeholder(text) => self.push(text),
            ExprKind::Member { base, name } => {
                self.base(base);
                self.push(".");
                self.push(&name.name);
            }
            ExprKind::Index { base, index } => {
                self.base(base);
                self.push("[");
                self.expr(index);
                self.push("]");
            }
            ExprKind::Call { name, args } => {
                self.push(&name.name);
                self.enclosed("(", args, ")");
            }
            ExprKind::UdfCall { name, args } => {
                self.push("udf.");
                self.push(&name.name);
                self.enclosed("(", args, ")");
            }
            ExprKind::Array(items) => self.enclosed("[", items, "]"),
            ExprKind::Object(properties) => {
                self.push("{");
                self.separated(properties, |printer, property| {
                    write_string(&property.name, &mut printer.out);
                    printer.push(": ");
                    printer.expr(&property.value);
                });
                self.push("}");
            }
            ExprKind::Subquery { kind, query } => self.subquery(*kind, query),
            ExprKind::And(operands) => self.chain(operands, " AND "),
            ExprKind::Or(operands) => self.chain(operands, " OR "),
            ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Coalesce { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Between { .. }
            | ExprKind::In { .. }
            | ExprKind::Like { .. } => {
                self.push("(");
                self.operation(expr);
                self.push(")");
            }
        }
    }

    /// The base of a member access. A number would swallow the point behind it.
    fn base(&mut self, base: &Expr) {
        if matches!(base.kind, ExprKind::Literal(Literal::Integer(_) | Literal::Float(_))) {
            self.push("(");
            self.expr(base);
            self.push(")");
        } else {
            self.expr(base);
        }
    }

    fn enclosed(&mut self, open: &str, items: &[Expr], close: &str) {
        self.push(open);
        self.separated(items, Self::expr);
        self.push(close);
    }

    fn subquery(&mut self, kind: SubqueryKind, query: &Query) {
        self.push(match kind {
            SubqueryKind::Scalar => "(",
            SubqueryKind::Exists => "EXISTS(",
            SubqueryKind::Array => "ARRAY(",
            SubqueryKind::All => "ALL(",
            SubqueryKind::First => "FIRST(",
            SubqueryKind::Last => "LAST(",
        });
        self.query(query, ' ');
        self.push(")");
    }

    /// `((a op b) op c)`
    fn chain(&mut self, operands: &[Expr], operator: &str) {
        for _ in 1..operands.len() {
            self.push("(");
        }
        for (at, operand) in operands.iter().enumerate() {
            if at > 0 {
                self.push(operator);
            }
            self.expr(operand);
            if at > 0 {
                self.push(")");
            }
        }
    }

    /// What stands inside the parentheses of an operator.
    fn operation(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Unary { op, operand } => {
                self.push(op.symbol());
                self.push(" ");
                self.expr(operand);
            }
            ExprKind::Binary { op, left, right } => self.infix(left, op.symbol(), right),
            ExprKind::Coalesce { left, right } => self.infix(left, "??", right),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.infix(condition, "?", then);
                self.push(" : ");
                self.expr(otherwise);
            }
            ExprKind::Between { negated, operand, low, high } => {
                self.infix(operand, if *negated { "NOT BETWEEN" } else { "BETWEEN" }, low);
                self.push(" AND ");
                self.expr(high);
            }
            ExprKind::In { negated, operand, items } => {
                self.expr(operand);
                self.enclosed(if *negated { " NOT IN (" } else { " IN (" }, items, ")");
            }
            ExprKind::Like { negated, operand, pattern, escape } => {
                self.infix(operand, if *negated { "NOT LIKE" } else { "LIKE" }, pattern);
                if let Some(escape) = escape {
                    self.push(" ESCAPE ");
                    write_string(&escape.text, &mut self.out);
                }
            }
            other => unreachable!("`expr` prints {other:?} itself"),
        }
    }

    fn infix(&mut self, left: &Expr, operator: &str, right: &Expr) {
        self.expr(left);
        self.push(" ");
        self.push(operator);
        self.push(" ");
        self.expr(right);
    }
}
