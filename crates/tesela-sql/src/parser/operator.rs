//! Which operators stand between operands, and how tightly they bind.

use crate::ast::BinaryOp;
use crate::token::{Keyword, Symbol, TokenKind};

use super::Parser;

/// Binding strength, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Conditional,
    Coalesce,
    Or,
    And,
    /// BETWEEN, IN and LIKE. They do not associate: their result is no operand of the same
    /// level or a tighter one, so `a IN (1) = b` needs parentheses.
    Predicate,
    Concat,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    /// Above every infix operator: an operand of the tightest one.
    Operand,
}

impl Level {
    pub const LOOSEST: Self = Self::Conditional;

    /// The level right operands of a left-associative operator are parsed at.
    pub fn tighter(self) -> Self {
        match self {
            Self::Conditional => Self::Coalesce,
            Self::Coalesce => Self::Or,
            Self::Or => Self::And,
            Self::And => Self::Predicate,
            Self::Predicate => Self::Concat,
            Self::Concat => Self::BitOr,
            Self::BitOr => Self::BitXor,
            Self::BitXor => Self::BitAnd,
            Self::BitAnd => Self::Equality,
            Self::Equality => Self::Relation,
            Self::Relation => Self::Shift,
            Self::Shift => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product | Self::Operand => Self::Operand,
        }
    }
}

/// What may follow an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    Conditional,
    Coalesce,
    Or,
    And,
    Predicate { negated: bool, predicate: Predicate },
    Binary(BinaryOp),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Predicate {
    Between,
    In,
    Like,
}

impl Infix {
    pub fn level(self) -> Level {
        match self {
            Self::Conditional => Level::Conditional,
            Self::Coalesce => Level::Coalesce,
            Self::Or => Level::Or,
            Self::And => Level::And,
            Self::Predicate { .. } => Level::Predicate,
            Self::Binary(op) => match op {
                BinaryOp::Concat => Level::Concat,
                BinaryOp::BitOr => Level::BitOr,
                BinaryOp::BitXor => Level::BitXor,
                BinaryOp::BitAnd => Level::BitAnd,
                BinaryOp::Equal | BinaryOp::NotEqual => Level::Equality,
                BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Greater | BinaryOp::GreaterOrEqual => {
                    Level::Relation
                }
                BinaryOp::ShiftLeft | BinaryOp::ShiftRight | BinaryOp::ShiftRightUnsigned => Level::Shift,
                BinaryOp::Add | BinaryOp::Subtract => Level::Sum,
                BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo => Level::Product,
            },
        }
    }
}

impl Parser<'_> {
    /// The infix operator that comes next, if one does.
    pub(super) fn peek_infix(&self) -> Option<Infix> {
        match self.peek().kind {
            TokenKind::Symbol(symbol) => symbol_infix(symbol),
            TokenKind::Keyword(Keyword::And) => Some(Infix::And),
            TokenKind::Keyword(Keyword::Or) => Some(Infix::Or),
            TokenKind::Keyword(Keyword::Not) => {
                predicate(self.peek_ahead(1)).map(|predicate| Infix::Predicate { negated: true, predicate })
            }
            other => predicate(other).map(|predicate| Infix::Predicate { negated: false, predicate }),
        }
    }
}

fn predicate(kind: TokenKind) -> Option<Predicate> {
    match kind {
        TokenKind::Keyword(Keyword::Between) => Some(Predicate::Between),
        TokenKind::Keyword(Keyword::In) => Some(Predicate::In),
        TokenKind::Keyword(Keyword::Like) => Some(Predicate::Like),
        _ => None,
    }
}

fn symbol_infix(symbol: Symbol) -> Option<Infix> {
    Some(Infix::Binary(match symbol {
        Symbol::Question => return Some(Infix::Conditional),
        Symbol::Coalesce => return Some(Infix::Coalesce),
        Symbol::Star => BinaryOp::Multiply,
        Symbol::Slash => BinaryOp::Divide,
        Symbol::Percent => BinaryOp::Modulo,
        Symbol::Plus => BinaryOp::Add,
        Symbol::Minus => BinaryOp::Subtract,
        Symbol::Ampersand => BinaryOp::BitAnd,
        Symbol::Caret => BinaryOp::BitXor,
        Symbol::Bar => BinaryOp::BitOr,
        Symbol::DoubleBar => BinaryOp::Concat,
        Symbol::Equal => BinaryOp::Equal,
        Symbol::NotEqual => BinaryOp::NotEqual,
        Symbol::Less => BinaryOp::Less,
        Symbol::LessOrEqual => BinaryOp::LessOrEqual,
        Symbol::Greater => BinaryOp::Greater,
        Symbol::GreaterOrEqual => BinaryOp::GreaterOrEqual,
        Symbol::ShiftLeft => BinaryOp::ShiftLeft,
        Symbol::ShiftRight => BinaryOp::ShiftRight,
        Symbol::ShiftRightUnsigned => BinaryOp::ShiftRightUnsigned,
        Symbol::OpenParen
        | Symbol::CloseParen
        | Symbol::OpenBracket
        | Symbol::CloseBracket
        | Symbol::OpenBrace
        | Symbol::CloseBrace
        | Symbol::Comma
        | Symbol::Colon
        | Symbol::Dot
        | Symbol::Tilde => return None,
    }))
}
