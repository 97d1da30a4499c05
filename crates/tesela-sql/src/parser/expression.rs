//! Scalar expressions, by operator precedence.
//!
//! ```text
//! operand(level)  prefixed, then every infix operator that binds at least as tightly
//! prefixed        {NOT | + | - | ~} postfixed
//! postfixed       primary {.name | [expression]}
//! primary         literal, @parameter, name, call, group, subquery, {...}, [...]
//! ```
//!
//! Worked example, `1 + 2 * 3 - 4`: `operand(Conditional)` takes 1, sees `+`, asks
//! `operand(Product)` for its right side, which takes 2, sees `*`, takes 3 and stops at `-`
//! because Sum is looser than Product. The loop goes on with `(1 + (2 * 3))` as left side.

use crate::ast::{Escape, Expr, ExprKind, Ident, Literal, Property, SubqueryKind, UnaryOp};
use crate::error::SqlError;
use crate::literal;
use crate::span::Span;
use crate::token::{Keyword, Symbol, Token, TokenKind};

use super::operator::{Infix, Level, Predicate};
use super::{EXPRESSION_HEIGHT_MAX, NESTING_MAX, Parser, Result};

/// An expression and its height, which decides whether it may grow further.
///
/// Boxed although most nodes are moved once more: it keeps the frames of the recursion small.
pub(super) struct Node {
    pub expr: Box<Expr>,
    pub height: u32,
}

impl Node {
    fn leaf(kind: ExprKind, span: Span) -> Self {
        Self { expr: Box::new(Expr::new(kind, span)), height: 1 }
    }

    /// A node over operands of which the tallest has `tallest` levels.
    fn over(tallest: u32, kind: ExprKind, span: Span) -> Result<Self> {
        if tallest >= EXPRESSION_HEIGHT_MAX {
            return Err(too_deep(span, EXPRESSION_HEIGHT_MAX));
        }
        Ok(Self { expr: Box::new(Expr::new(kind, span)), height: tallest + 1 })
    }
}

fn too_deep(span: Span, limit: u32) -> Box<SqlError> {
    SqlError::syntax(span, format!("the expression is nested more than {limit} levels deep")).into()
}

fn property(key: Ident, value: Expr) -> Property {
    Property { span: key.span.to(value.span), name: key.name, value }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Node> {
        self.operand(Level::LOOSEST)
    }

    /// An expression of operators that bind at least as tightly as `level`. All recursion of
    /// the parser comes through here.
    fn operand(&mut self, level: Level) -> Result<Node> {
        if self.nesting == NESTING_MAX {
            return Err(too_deep(self.peek().span, NESTING_MAX));
        }
        self.nesting += 1;
        let first = self.prefixed()?;
        let node = self.infixed(first, level)?;
        self.nesting -= 1;
        Ok(node)
    }

    /// Extends `left` by the operators that follow it.
    fn infixed(&mut self, mut left: Node, level: Level) -> Result<Node> {
        // A predicate's result may only be an operand of looser operators.
        let mut tightest = Level::Operand;
        while let Some(infix) = self.peek_infix() {
            if infix.level() < level {
                break;
            }
            if infix.level() > tightest {
                return Err(self.unexpected("parentheses around the operand on the left"));
            }
            left = match infix {
                Infix::Conditional => self.conditional(left)?,
                Infix::Coalesce => self.coalesce(left)?,
                Infix::And | Infix::Or => self.logical(left, infix)?,
                Infix::Binary(op) => {
                    self.advance();
                    let right = self.operand(infix.level().tighter())?;
                    let span = left.expr.span.to(right.expr.span);
                    let tallest = left.height.max(right.height);
                    Node::over(tallest, ExprKind::Binary { op, left: left.expr, right: right.expr }, span)?
                }
                Infix::Predicate { negated, predicate } => {
                    tightest = Level::And;
                    self.predicate(left, negated, predicate)?
                }
            };
        }
        Ok(left)
    }

    fn conditional(&mut self, condition: Node) -> Result<Node> {
        self.expect_symbol(Symbol::Question, "'?'")?;
        let then = self.expression()?;
        self.expect_symbol(Symbol::Colon, "':' and the value for when the condition is not true")?;
        let otherwise = self.expression()?;
        let span = condition.expr.span.to(otherwise.expr.span);
        let tallest = condition.height.max(then.height).max(otherwise.height);
        let kind = ExprKind::Conditional { condition: condition.expr, then: then.expr, otherwise: otherwise.expr };
        Node::over(tallest, kind, span)
    }

    fn coalesce(&mut self, left: Node) -> Result<Node> {
        self.expect_symbol(Symbol::Coalesce, "'??'")?;
        let right = self.operand(Level::Coalesce.tighter())?;
        let span = left.expr.span.to(right.expr.span);
        let tallest = left.height.max(right.height);
        Node::over(tallest, ExprKind::Coalesce { left: left.expr, right: right.expr }, span)
    }

    /// One more operand for AND or OR: joins the node on the left if it is of the same kind,
    /// so that a chain of thousands is one node, in groups `((a OR b) OR c)` or without.
    fn logical(&mut self, left: Node, infix: Infix) -> Result<Node> {
        self.advance();
        let right = self.operand(infix.level().tighter())?;
        let span = left.expr.span.to(right.expr.span);
        let (mut operands, tallest) = match (infix, left.expr.kind) {
            (Infix::And, ExprKind::And(operands)) | (Infix::Or, ExprKind::Or(operands)) => (operands, left.height - 1),
            (_, kind) => (vec![Expr::new(kind, left.expr.span)], left.height),
        };
        let tallest = tallest.max(right.height);
        operands.push(*right.expr);
        let kind = if infix == Infix::And { ExprKind::And(operands) } else { ExprKind::Or(operands) };
        Node::over(tallest, kind, span)
    }

    fn predicate(&mut self, operand: Node, negated: bool, predicate: Predicate) -> Result<Node> {
        if negated {
            self.expect_keyword(Keyword::Not)?;
        }
        self.advance();
        match predicate {
            Predicate::Between => self.between(operand, negated),
            Predicate::In => self.in_list(operand, negated),
            Predicate::Like => self.like(operand, negated),
        }
    }

    fn between(&mut self, operand: Node, negated: bool) -> Result<Node> {
        let low = self.operand(Level::Predicate.tighter())?;
        self.expect_keyword(Keyword::And)?;
        let high = self.operand(Level::Predicate.tighter())?;
        let span = operand.expr.span.to(high.expr.span);
        let tallest = operand.height.max(low.height).max(high.height);
        let kind = ExprKind::Between { negated, operand: operand.expr, low: low.expr, high: high.expr };
        Node::over(tallest, kind, span)
    }

    fn in_list(&mut self, operand: Node, negated: bool) -> Result<Node> {
        self.expect_symbol(Symbol::OpenParen, "'(' and a list of values after IN")?;
        let (items, items_height) = self.list(Symbol::CloseParen, "',' or ')'")?;
        let span = operand.expr.span.to(self.last_span());
        let tallest = operand.height.max(items_height);
        Node::over(tallest, ExprKind::In { negated, operand: operand.expr, items }, span)
    }

    fn like(&mut self, operand: Node, negated: bool) -> Result<Node> {
        let pattern = self.operand(Level::Predicate.tighter())?;
        let escape = if self.eat_keyword(Keyword::Escape) { Some(self.escape()?) } else { None };
        let span = operand.expr.span.to(self.last_span());
        let tallest = operand.height.max(pattern.height);
        let kind = ExprKind::Like { negated, operand: operand.expr, pattern: pattern.expr, escape };
        Node::over(tallest, kind, span)
    }

    fn escape(&mut self) -> Result<Escape> {
        const EXPECTED: &str = "a string of one character after ESCAPE";
        let token = self.peek();
        if token.kind != TokenKind::String {
            return Err(self.unexpected(EXPECTED));
        }
        let text = self.take_string()?;
        if text.chars().count() != 1 {
            return Err(SqlError::syntax(token.span, format!("syntax error: expected {EXPECTED}")).into());
        }
        Ok(Escape { text, span: token.span })
    }

    /// Prefix operators are collected and applied from the inside out, without recursion.
    fn prefixed(&mut self) -> Result<Node> {
        let mut prefixes = Vec::new();
        while let Some(op) = self.peek_prefix() {
            prefixes.push((op, self.advance().span));
        }
        let primary = self.primary()?;
        let mut node = self.postfixed(primary)?;
        for (op, start) in prefixes.into_iter().rev() {
            let span = start.to(node.expr.span);
            node = Node::over(node.height, ExprKind::Unary { op, operand: node.expr }, span)?;
        }
        Ok(node)
    }

    fn peek_prefix(&self) -> Option<UnaryOp> {
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Not) => Some(UnaryOp::Not),
            TokenKind::Symbol(Symbol::Plus) => Some(UnaryOp::Plus),
            TokenKind::Symbol(Symbol::Tilde) => Some(UnaryOp::BitNot),
            TokenKind::Symbol(Symbol::Minus) if self.negative_number().is_none() => Some(UnaryOp::Minus),
            _ => None,
        }
    }

    /// The number token that a minus, which comes next, touches: `-5` is a literal, while
    /// `- 5` and `-(5)` negate one.
    fn negative_number(&self) -> Option<Token> {
        let minus = self.peek();
        let number = *self.tokens.get(self.at + 1)?;
        let is_number = number.kind == TokenKind::Number || self.text_of(number) == "Infinity";
        (is_number && minus.span.end == number.span.start).then_some(number)
    }

    fn postfixed(&mut self, mut node: Node) -> Result<Node> {
        loop {
            if self.eat_symbol(Symbol::Dot) {
                let name = self.property_name()?;
                let span = node.expr.span.to(name.span);
                node = Node::over(node.height, ExprKind::Member { base: node.expr, name }, span)?;
            } else if self.eat_symbol(Symbol::OpenBracket) {
                let index = self.expression()?;
                self.expect_symbol(Symbol::CloseBracket, "']'")?;
                let span = node.expr.span.to(self.last_span());
                let tallest = node.height.max(index.height);
                node = Node::over(tallest, ExprKind::Index { base: node.expr, index: index.expr }, span)?;
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> Result<Node> {
        let token = self.peek();
        match token.kind {
            TokenKind::Number => self.number(token, None),
            TokenKind::Symbol(Symbol::Minus) => match self.negative_number() {
                Some(number) => {
                    let minus = self.advance();
                    self.number(number, Some(minus.span))
                }
                None => Err(self.unexpected("an expression")),
            },
            TokenKind::String => {
                let value = self.take_string()?;
                Ok(Node::leaf(ExprKind::Literal(Literal::String(value)), token.span))
            }
            TokenKind::Parameter => Ok(Node::leaf(ExprKind::Parameter(self.take_parameter()), token.span)),
            TokenKind::Symbol(Symbol::OpenParen) if self.at_subquery() => self.scalar_subquery(SubqueryKind::Scalar),
            TokenKind::Symbol(Symbol::OpenParen) => self.group(),
            TokenKind::Symbol(Symbol::OpenBracket) => self.array(),
            TokenKind::Symbol(Symbol::OpenBrace) => self.object(),
            TokenKind::Keyword(keyword) => self.keyword(keyword, token),
            TokenKind::Word => self.word(token),
            TokenKind::Symbol(_) | TokenKind::Bad(_) | TokenKind::End => Err(self.unexpected("an expression")),
        }
    }

    /// A number, or `Infinity` behind a minus.
    fn number(&mut self, token: Token, minus: Option<Span>) -> Result<Node> {
        self.advance();
        let span = minus.map_or(token.span, |minus| minus.to(token.span));
        let value = if token.kind == TokenKind::Number {
            literal::number(self.text_of(token), minus.is_some(), span)?
        } else {
            Literal::Float(f64::NEG_INFINITY)
        };
        Ok(Node::leaf(ExprKind::Literal(value), span))
    }

    fn keyword(&mut self, keyword: Keyword, token: Token) -> Result<Node> {
        let constant = match keyword {
            Keyword::Undefined => Some(Literal::Undefined),
            Keyword::Null => Some(Literal::Null),
            Keyword::True => Some(Literal::Bool(true)),
            Keyword::False => Some(Literal::Bool(false)),
            _ => None,
        };
        if let Some(constant) = constant {
            self.advance();
            return Ok(Node::leaf(ExprKind::Literal(constant), token.span));
        }
        let subquery = match keyword {
            Keyword::Exists => Some(SubqueryKind::Exists),
            Keyword::Array => Some(SubqueryKind::Array),
            Keyword::All => Some(SubqueryKind::All),
            Keyword::First => Some(SubqueryKind::First),
            Keyword::Last => Some(SubqueryKind::Last),
            _ => None,
        };
        let opens = self.peek_ahead(1) == TokenKind::Symbol(Symbol::OpenParen);
        let selects = opens && self.peek_ahead(2) == TokenKind::Keyword(Keyword::Select);
        match (keyword, subquery) {
            (_, Some(kind)) if selects => self.scalar_subquery(kind),
            (Keyword::Exists | Keyword::Array, _) => {
                self.advance();
                Err(self.unexpected(&format!("a subquery in parentheses after {}", keyword.text())))
            }
            (Keyword::Left | Keyword::Right, _) if opens => self.word(token),
            // As an expression it would be taken for the keyword when the query is printed.
            (Keyword::Value, _) => Err(self.unexpected("an expression")),
            (Keyword::Udf, _) if self.at_udf_call() => self.udf_call(token),
            _ if keyword.is_reserved() => Err(self.unexpected("an expression")),
            _ => self.word(token),
        }
    }

    /// A name by itself or the call of a built-in function.
    fn word(&mut self, token: Token) -> Result<Node> {
        let name = self.take_name();
        if self.eat_symbol(Symbol::OpenParen) {
            let (args, height) = self.arguments()?;
            let span = name.span.to(self.last_span());
            return Node::over(height, ExprKind::Call { name, args }, span);
        }
        let kind = match name.name.as_str() {
            "NaN" => ExprKind::Literal(Literal::Float(f64::NAN)),
            "Infinity" => ExprKind::Literal(Literal::Float(f64::INFINITY)),
            _ => ExprKind::Identifier(name.name),
        };
        Ok(Node::leaf(kind, token.span))
    }

    /// Whether `udf.name(` comes next.
    fn at_udf_call(&self) -> bool {
        self.peek_ahead(1) == TokenKind::Symbol(Symbol::Dot)
            && matches!(self.peek_ahead(2), TokenKind::Word | TokenKind::Keyword(_))
            && self.peek_ahead(3) == TokenKind::Symbol(Symbol::OpenParen)
    }

    fn udf_call(&mut self, token: Token) -> Result<Node> {
        self.advance();
        self.expect_symbol(Symbol::Dot, "'.'")?;
        let name: Ident = self.take_name();
        self.expect_symbol(Symbol::OpenParen, "'('")?;
        let (args, height) = self.arguments()?;
        let span = token.span.to(self.last_span());
        Node::over(height, ExprKind::UdfCall { name, args }, span)
    }

    /// The rest of `(a, b)` after the parenthesis; may be empty.
    fn arguments(&mut self) -> Result<(Vec<Expr>, u32)> {
        if self.eat_symbol(Symbol::CloseParen) {
            return Ok((Vec::new(), 0));
        }
        self.list(Symbol::CloseParen, "',' or ')'")
    }

    /// One or more expressions up to `close`, and the height of the tallest.
    fn list(&mut self, close: Symbol, expected: &str) -> Result<(Vec<Expr>, u32)> {
        let mut items = Vec::new();
        let mut height = 0;
        loop {
            let item = self.expression()?;
            height = item.height.max(height);
            items.push(*item.expr);
            if !self.eat_symbol(Symbol::Comma) {
                self.expect_symbol(close, expected)?;
                return Ok((items, height));
            }
        }
    }

    fn array(&mut self) -> Result<Node> {
        let start = self.expect_symbol(Symbol::OpenBracket, "'['")?.span;
        let (items, height) = if self.eat_symbol(Symbol::CloseBracket) {
            (Vec::new(), 0)
        } else {
            self.list(Symbol::CloseBracket, "',' or ']'")?
        };
        Node::over(height, ExprKind::Array(items), start.to(self.last_span()))
    }

    fn object(&mut self) -> Result<Node> {
        let start = self.expect_symbol(Symbol::OpenBrace, "'{'")?.span;
        let mut properties = Vec::new();
        let mut height = 0;
        if !self.eat_symbol(Symbol::CloseBrace) {
            loop {
                let key = self.key()?;
                let value = self.expression()?;
                height = value.height.max(height);
                properties.push(property(key, *value.expr));
                if !self.eat_symbol(Symbol::Comma) {
                    self.expect_symbol(Symbol::CloseBrace, "',' or '}'")?;
                    break;
                }
            }
        }
        Node::over(height, ExprKind::Object(properties), start.to(self.last_span()))
    }

    /// `name:`; the name may be quoted, and may be any word since a colon follows.
    fn key(&mut self) -> Result<Ident> {
        let token = self.peek();
        let name = match token.kind {
            TokenKind::String => Ident::new(self.take_string()?, token.span),
            TokenKind::Word | TokenKind::Keyword(_) => self.take_name(),
            _ => return Err(self.unexpected("a property name")),
        };
        self.expect_symbol(Symbol::Colon, "':' after the property name")?;
        Ok(name)
    }

    /// A subquery of any kind, the next token being its keyword or parenthesis.
    fn scalar_subquery(&mut self, kind: SubqueryKind) -> Result<Node> {
        let start = self.advance().span;
        if kind != SubqueryKind::Scalar {
            self.expect_symbol(Symbol::OpenParen, "'('")?;
        }
        let (query, height) = self.subquery()?;
        let span = start.to(self.last_span());
        Node::over(height, ExprKind::Subquery { kind, query: Box::new(query) }, span)
    }

    /// `(e)`, or any number of groups that open at once: `(((a OR b) OR c) OR d)`. What the
    /// inner group closes with is the first operand of the group around it.
    fn group(&mut self) -> Result<Node> {
        let mut starts = Vec::new();
        while self.at_symbol(Symbol::OpenParen) && !self.at_subquery() {
            starts.push(self.advance().span);
        }
        let mut node = self.expression()?;
        while let Some(start) = starts.pop() {
            self.expect_symbol(Symbol::CloseParen, "')'")?;
            node.expr.span = start.to(self.last_span());
            if !starts.is_empty() {
                node = self.postfixed(node)?;
                node = self.infixed(node, Level::LOOSEST)?;
            }
        }
        Ok(node)
    }
}
