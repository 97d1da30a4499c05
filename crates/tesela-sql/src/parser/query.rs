//! Clauses and sources.

use crate::ast::{
    Collection, Direction, Expr, ExprKind, FromClause, GroupBy, Ident, OffsetLimit, OrderBy, OrderItem, PathStep,
    PathStepKind, Query, RowCount, RowCountKind, Select, SelectItem, SelectSpec, Source, SourceKind,
};
use crate::error::SqlError;
use crate::token::{Keyword, Symbol, TokenKind};

use super::{Parser, Result, SUBQUERY_DEPTH_MAX};

impl Parser<'_> {
    /// A query, with the height of its tallest expression.
    pub(super) fn query(&mut self) -> Result<(Query, u32)> {
        let start = self.peek().span;
        let mut height = 0;
        let select = self.select(&mut height)?;
        let from = if self.at_keyword(Keyword::From) { Some(self.from(&mut height)?) } else { None };
        let where_ = if self.eat_keyword(Keyword::Where) { Some(self.clause_expression(&mut height)?) } else { None };
        let group_by = if self.at_keyword(Keyword::Group) { Some(self.group_by(&mut height)?) } else { None };
        let order_by = if self.at_keyword(Keyword::Order) { Some(self.order_by(&mut height)?) } else { None };
        let offset_limit = if self.at_keyword(Keyword::Offset) { Some(self.offset_limit()?) } else { None };
        let span = start.to(self.last_span());
        Ok((Query { select, from, where_, group_by, order_by, offset_limit, span }, height))
    }

    /// The rest of `(query)` after its parenthesis.
    pub(super) fn subquery(&mut self) -> Result<(Query, u32)> {
        if self.subqueries == SUBQUERY_DEPTH_MAX {
            let message = format!("subqueries are nested more than {SUBQUERY_DEPTH_MAX} deep");
            return Err(SqlError::syntax(self.peek().span, message).into());
        }
        self.subqueries += 1;
        let query = self.query()?;
        self.subqueries -= 1;
        self.expect_symbol(Symbol::CloseParen, "')' to close the subquery")?;
        Ok(query)
    }

    /// Whether `(SELECT` comes next.
    pub(super) fn at_subquery(&self) -> bool {
        self.at_symbol(Symbol::OpenParen) && self.peek_ahead(1) == TokenKind::Keyword(Keyword::Select)
    }

    /// An expression that stands directly in a clause.
    fn clause_expression(&mut self, height: &mut u32) -> Result<Expr> {
        let node = self.expression()?;
        *height = node.height.max(*height);
        Ok(*node.expr)
    }

    fn select(&mut self, height: &mut u32) -> Result<Select> {
        let start = self.expect_keyword(Keyword::Select)?.span;
        let distinct = self.eat_keyword(Keyword::Distinct);
        let top = if self.eat_keyword(Keyword::Top) { Some(self.row_count("TOP")?) } else { None };
        let spec = if self.eat_symbol(Symbol::Star) {
            SelectSpec::Star
        } else if self.eat_keyword(Keyword::Value) {
            SelectSpec::Value(self.clause_expression(height)?)
        } else {
            let mut items = vec![self.select_item(height)?];
            while self.eat_symbol(Symbol::Comma) {
                items.push(self.select_item(height)?);
            }
            SelectSpec::List(items)
        };
        Ok(Select { distinct, top, spec, span: start.to(self.last_span()) })
    }

    fn select_item(&mut self, height: &mut u32) -> Result<SelectItem> {
        let expr = self.clause_expression(height)?;
        let alias = self.alias()?;
        let span = expr.span.to(self.last_span());
        Ok(SelectItem { expr, alias, span })
    }

    /// `[[AS] alias]`
    fn alias(&mut self) -> Result<Option<Ident>> {
        if self.eat_keyword(Keyword::As) {
            return self.name("an alias").map(Some);
        }
        Ok(match self.peek().kind {
            // Not names of this language: the user means a clause or operator of another one.
            TokenKind::Word if self.hint().is_some() => None,
            TokenKind::Word => Some(self.take_name()),
            TokenKind::Keyword(keyword) if keyword.is_bare_alias() => Some(self.take_name()),
            _ => None,
        })
    }

    fn row_count(&mut self, clause: &str) -> Result<RowCount> {
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::Parameter => RowCountKind::Parameter(self.take_parameter()),
            TokenKind::Number if self.text_of(token).bytes().all(|b| b.is_ascii_digit()) => {
                self.advance();
                // Only digits: parsing fails for nothing but size.
                RowCountKind::Literal(self.text_of(token).parse().unwrap_or(u64::MAX))
            }
            _ => return Err(self.unexpected(&format!("a whole number or a parameter after {clause}"))),
        };
        Ok(RowCount { kind, span: token.span })
    }

    fn from(&mut self, height: &mut u32) -> Result<FromClause> {
        let start = self.expect_keyword(Keyword::From)?.span;
        let mut sources = vec![self.source(height)?];
        while self.eat_keyword(Keyword::Join) {
            sources.push(self.source(height)?);
        }
        Ok(FromClause { sources, span: start.to(self.last_span()) })
    }

    fn source(&mut self, height: &mut u32) -> Result<Source> {
        let start = self.peek().span;
        let iterates = self.peek_ahead(1) == TokenKind::Keyword(Keyword::In);
        let kind = if iterates {
            let alias = self.name("an alias")?;
            self.expect_keyword(Keyword::In)?;
            SourceKind::Iteration { alias, collection: self.collection(height)? }
        } else {
            let collection = self.collection(height)?;
            SourceKind::Named { collection, alias: self.alias()? }
        };
        Ok(Source { kind, span: start.to(self.last_span()) })
    }

    fn collection(&mut self, height: &mut u32) -> Result<Collection> {
        if self.at_subquery() {
            self.advance();
            let (query, query_height) = self.subquery()?;
            *height = query_height.max(*height);
            return Ok(Collection::Subquery(Box::new(query)));
        }
        let root = self.name("a source, which is a name, a path or a subquery in parentheses")?;
        let mut steps = Vec::new();
        loop {
            let start = self.peek().span;
            let kind = if self.eat_symbol(Symbol::Dot) {
                PathStepKind::Member(self.property_name()?.name)
            } else if self.eat_symbol(Symbol::OpenBracket) {
                self.bracket_step()?
            } else {
                return Ok(Collection::Path { root, steps });
            };
            steps.push(PathStep { kind, span: start.to(self.last_span()) });
        }
    }

    /// The rest of `["name"]`, `[3]` or `[@p]`.
    fn bracket_step(&mut self) -> Result<PathStepKind> {
        const EXPECTED: &str = "a property name in quotes, an array index or a parameter";
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::String => PathStepKind::Quoted(self.take_string()?),
            TokenKind::Parameter => PathStepKind::Parameter(self.take_parameter()),
            TokenKind::Number => match self.text_of(token).parse() {
                Ok(index) => {
                    self.advance();
                    PathStepKind::Element(index)
                }
                Err(_) => return Err(self.unexpected(EXPECTED)),
            },
            _ => return Err(self.unexpected(EXPECTED)),
        };
        self.expect_symbol(Symbol::CloseBracket, "']'")?;
        Ok(kind)
    }

    fn group_by(&mut self, height: &mut u32) -> Result<GroupBy> {
        let start = self.expect_keyword(Keyword::Group)?.span;
        self.expect_keyword(Keyword::By)?;
        let mut keys = vec![self.clause_expression(height)?];
        while self.eat_symbol(Symbol::Comma) {
            keys.push(self.clause_expression(height)?);
        }
        Ok(GroupBy { keys, span: start.to(self.last_span()) })
    }

    fn order_by(&mut self, height: &mut u32) -> Result<OrderBy> {
        let start = self.expect_keyword(Keyword::Order)?.span;
        self.expect_keyword(Keyword::By)?;
        let rank = self.at_rank();
        if rank {
            self.advance();
        }
        let mut items = vec![self.order_item(rank, height)?];
        while self.eat_symbol(Symbol::Comma) {
            items.push(self.order_item(rank, height)?);
        }
        Ok(OrderBy { rank, items, span: start.to(self.last_span()) })
    }

    /// Whether RANK comes next as a keyword: something that can only be its operand follows.
    /// `ORDER BY rank` and `ORDER BY rank.x DESC` order by a source of that name.
    fn at_rank(&self) -> bool {
        self.at_keyword(Keyword::Rank)
            && match self.peek_ahead(1) {
                TokenKind::Word | TokenKind::Number | TokenKind::String | TokenKind::Parameter => true,
                TokenKind::Keyword(keyword) => !keyword.is_reserved() && keyword != Keyword::Offset,
                _ => false,
            }
    }

    fn order_item(&mut self, rank: bool, height: &mut u32) -> Result<OrderItem> {
        let expr = self.clause_expression(height)?;
        if rank && !matches!(expr.kind, ExprKind::Call { .. }) {
            let message = "ORDER BY RANK takes calls of scoring functions, such as FullTextScore(...) or RRF(...)";
            return Err(SqlError::syntax(expr.span, message).into());
        }
        let direction = if self.eat_keyword(Keyword::Asc) {
            Some(Direction::Ascending)
        } else if self.eat_keyword(Keyword::Desc) {
            Some(Direction::Descending)
        } else {
            None
        };
        let span = expr.span.to(self.last_span());
        Ok(OrderItem { expr, direction, span })
    }

    fn offset_limit(&mut self) -> Result<OffsetLimit> {
        let start = self.expect_keyword(Keyword::Offset)?.span;
        let offset = self.row_count("OFFSET")?;
        self.expect_keyword(Keyword::Limit)?;
        let limit = self.row_count("LIMIT")?;
        Ok(OffsetLimit { offset, limit, span: start.to(self.last_span()) })
    }
}
