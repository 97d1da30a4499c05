//! Tokens and keywords.
//!
//! Keywords are found without regard to case. Most are *reserved*: they never name anything,
//! so `c.left` is refused where `c["left"]` is not. The *contextual* ones came to the
//! language late or are common property names; they are keywords only where the grammar asks
//! for them and names everywhere else:
//!
//! ```text
//! SELECT ALL.x FROM ALL IN c.all         names
//! SELECT VALUE ALL(SELECT VALUE 1)       keyword, because SELECT follows the parenthesis
//! ```
//!
//! `LEFT` and `RIGHT` are reserved and still functions: a name before `(` is a call.

use crate::span::Span;

/// A token is a kind and a place; its text and value are read from the query when needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier that is no keyword.
    Word,
    Keyword(Keyword),
    /// `@name`
    Parameter,
    /// Decimal or hexadecimal, without a sign.
    Number,
    /// With its quotes.
    String,
    Symbol(Symbol),
    /// Something no token can start with or end like. It is reported when the parser gets
    /// there, so that errors come in text order.
    Bad(BadToken),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadToken {
    Character,
    UnterminatedString,
    UnterminatedComment,
    MalformedNumber,
    LonelyAt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Colon,
    Dot,
    Question,
    Coalesce,
    Star,
    Slash,
    Percent,
    Plus,
    Minus,
    Tilde,
    Ampersand,
    Caret,
    Bar,
    DoubleBar,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
}

macro_rules! keywords {
    ($($variant:ident $text:literal $reserved:literal)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Keyword { $($variant),+ }

        impl Keyword {
            const ALL: &[Keyword] = &[$(Keyword::$variant),+];

            pub fn text(self) -> &'static str {
                match self { $(Keyword::$variant => $text),+ }
            }

            /// Whether the word can never be a name.
            pub fn is_reserved(self) -> bool {
                match self { $(Keyword::$variant => $reserved),+ }
            }
        }
    };
}

keywords! {
    All "ALL" false
    And "AND" true
    Array "ARRAY" true
    As "AS" true
    Asc "ASC" true
    Between "BETWEEN" true
    By "BY" true
    Desc "DESC" true
    Distinct "DISTINCT" true
    Escape "ESCAPE" false
    Exists "EXISTS" true
    False "FALSE" true
    First "FIRST" false
    From "FROM" true
    Group "GROUP" true
    In "IN" true
    Join "JOIN" true
    Last "LAST" false
    Left "LEFT" true
    Like "LIKE" true
    Limit "LIMIT" false
    Not "NOT" true
    Null "NULL" true
    Offset "OFFSET" false
    Or "OR" true
    Order "ORDER" true
    Rank "RANK" false
    Right "RIGHT" true
    Select "SELECT" true
    Top "TOP" true
    True "TRUE" true
    Udf "UDF" false
    Undefined "UNDEFINED" true
    Value "VALUE" false
    Where "WHERE" true
}

impl Keyword {
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.text().eq_ignore_ascii_case(word))
    }

    /// Whether the word is an alias when it follows an expression or a source without `AS`.
    /// The words that may continue a query there are not.
    pub fn is_bare_alias(self) -> bool {
        !self.is_reserved() && !matches!(self, Self::Escape | Self::Limit | Self::Offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_found_in_any_case_and_only_whole() {
        assert_eq!(Keyword::from_word("sElEcT"), Some(Keyword::Select));
        assert_eq!(Keyword::from_word("selects"), None);
        assert_eq!(Keyword::from_word("ſelect"), None);
    }

    #[test]
    fn every_keyword_finds_itself() {
        for keyword in Keyword::ALL {
            assert_eq!(Keyword::from_word(keyword.text()), Some(*keyword));
        }
    }
}
