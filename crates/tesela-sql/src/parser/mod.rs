//! Tokens to tree: recursive descent for clauses, operator precedence for expressions.
//!
//! ```text
//! query      SELECT [DISTINCT] [TOP n] projection [FROM sources] [WHERE e]
//!            [GROUP BY e, ...] [ORDER BY [RANK] e [ASC|DESC], ...] [OFFSET n LIMIT m]
//! projection *  |  VALUE e  |  e [[AS] alias], ...
//! sources    source [JOIN source]...
//! source     alias IN collection  |  collection [[AS] alias]
//! collection name{.name | ["name"] | [n]}  |  (query)
//! e          see `expression`
//! ```
//!
//! The stack stays bounded whatever the text says. Three things could make it deep, and each
//! is met in its own way:
//!
//! * operator chains `a OR b OR c` are loops, and AND/OR collect into one node;
//! * groups that open together, `((((a OR b) OR c) ...`, are counted and closed in a loop,
//!   since LINQ providers and our own printer write long chains like that;
//! * everything else that nests counts against [`NESTING_MAX`].
//!
//! Besides, the height of every expression is known while it is built and is refused above
//! [`EXPRESSION_HEIGHT_MAX`], so that whoever walks the tree may recurse too.
//!
//! Left out: HAVING, set operations, LEFT/RIGHT JOIN, which the language does not have, and
//! every rule that needs names (the binder) or only looks at the finished tree
//! ([`crate::rules`]).

mod expression;
mod operator;
mod query;

use tesela_model::limits::QUERY_TEXT_BYTES_MAX;

use crate::ast::{Ident, Query};
use crate::error::SqlError;
use crate::lexer;
use crate::literal;
use crate::span::Span;
use crate::token::{BadToken, Keyword, Symbol, Token, TokenKind};

/// Longest path from the root of a tree to a leaf, counted in expressions, through
/// subqueries. Ours: consumers recurse over the tree on threads with 2 MB of stack.
pub const EXPRESSION_HEIGHT_MAX: u32 = 192;
/// Operands the parser may be inside of at once. Ours: a printed tree has at most two of
/// them on a level (a right operand and the group it is), so what was printed can be parsed.
pub const NESTING_MAX: u32 = 2 * EXPRESSION_HEIGHT_MAX;
/// Deepest nesting of subqueries. Ours: each level of evaluating one costs more stack than
/// an operator does.
pub const SUBQUERY_DEPTH_MAX: u32 = 32;

const _: () = assert!(QUERY_TEXT_BYTES_MAX <= u32::MAX as usize, "spans are 32 bits");

/// Longest piece of query text quoted in a message.
const QUOTED_CHARS_MAX: usize = 40;

/// Boxed so that the common case, success, passes through small frames.
type Result<T> = std::result::Result<T, Box<SqlError>>;

/// Parses a query. The tree follows the grammar; see [`crate::rules`] for what it may say.
pub fn parse(text: &str) -> std::result::Result<Query, SqlError> {
    if text.len() > QUERY_TEXT_BYTES_MAX {
        let message = format!("the query has {} bytes, at most {QUERY_TEXT_BYTES_MAX} are allowed", text.len());
        return Err(SqlError::syntax(Span::new(0, 0), message));
    }
    let mut parser = Parser { text, tokens: lexer::tokens(text), at: 0, nesting: 0, subqueries: 0 };
    parser.whole_query().map_err(|error| *error)
}

struct Parser<'a> {
    text: &'a str,
    /// Ends with [`TokenKind::End`], which is never passed.
    tokens: Vec<Token>,
    at: usize,
    nesting: u32,
    subqueries: u32,
}

impl Parser<'_> {
    fn whole_query(&mut self) -> Result<Query> {
        let (query, _height) = self.query()?;
        match self.peek().kind {
            TokenKind::End => Ok(query),
            _ => Err(self.unexpected("the end of the query")),
        }
    }

    fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token `ahead` of the next one; the end when there is none.
    fn peek_ahead(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.at + ahead).map_or(TokenKind::End, |token| token.kind)
    }

    fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// The span of the last consumed token: where a finished piece of syntax ends.
    fn last_span(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |last| self.tokens[last].span)
    }

    fn at_symbol(&self, symbol: Symbol) -> bool {
        self.peek().kind == TokenKind::Symbol(symbol)
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        self.peek().kind == TokenKind::Keyword(keyword)
    }

    fn eat_symbol(&mut self, symbol: Symbol) -> bool {
        let found = self.at_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    fn expect_symbol(&mut self, symbol: Symbol, expected: &str) -> Result<Token> {
        if self.at_symbol(symbol) { Ok(self.advance()) } else { Err(self.unexpected(expected)) }
    }

    fn expect_keyword(&mut self, keyword: Keyword) -> Result<Token> {
        if self.at_keyword(keyword) { Ok(self.advance()) } else { Err(self.unexpected(keyword.text())) }
    }

    fn text_of(&self, token: Token) -> &str {
        token.span.of(self.text)
    }

    /// A name: any word that is not reserved.
    fn name(&mut self, expected: &str) -> Result<Ident> {
        match self.peek().kind {
            TokenKind::Word => Ok(self.take_name()),
            TokenKind::Keyword(keyword) if !keyword.is_reserved() => Ok(self.take_name()),
            TokenKind::Keyword(_) => {
                let word = self.text_of(self.peek());
                let message =
                    format!("Syntax error, incorrect syntax near '{word}': a reserved word cannot be {expected}");
                Err(SqlError::syntax(self.peek().span, message).into())
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// The name after a dot.
    fn property_name(&mut self) -> Result<Ident> {
        self.name("a property name").map_err(|mut error| {
            if let TokenKind::Keyword(_) = self.peek().kind {
                let word = self.text_of(self.peek());
                error.message = format!("{} after a dot, write [\"{word}\"]", error.message);
            }
            error
        })
    }

    /// The next token, known to be a word or a keyword, as a name.
    fn take_name(&mut self) -> Ident {
        let token = self.advance();
        Ident::new(self.text_of(token), token.span)
    }

    fn take_string(&mut self) -> Result<String> {
        let token = self.advance();
        Ok(literal::string(self.text_of(token), token.span.start)?)
    }

    fn take_parameter(&mut self) -> String {
        let token = self.advance();
        self.text_of(token).to_owned()
    }

    /// The error for the next token, when `expected` should have been there.
    fn unexpected(&self, expected: &str) -> Box<SqlError> {
        let token = self.peek();
        let text = quoted(self.text_of(token));
        let message = match token.kind {
            TokenKind::Bad(BadToken::UnterminatedString) => {
                format!("Syntax error, incorrect syntax near {text}: the string has no end")
            }
            TokenKind::Bad(BadToken::UnterminatedComment) => {
                format!("Syntax error, incorrect syntax near {text}: the comment has no end")
            }
            TokenKind::Bad(BadToken::MalformedNumber) => {
                format!("Syntax error, incorrect syntax near {text}: this is neither a number nor a name")
            }
            TokenKind::Bad(BadToken::LonelyAt) => {
                format!("Syntax error, incorrect syntax near {text}: a parameter needs a name after '@'")
            }
            TokenKind::End => format!("syntax error at the end of the query: expected {expected}"),
            _ => match self.hint() {
                Some(hint) => format!("Syntax error, incorrect syntax near {text}: {hint}"),
                None => format!("Syntax error, incorrect syntax near {text}: expected {expected}"),
            },
        };
        SqlError::syntax(token.span, message).into()
    }

    /// What someone who knows another dialect probably meant by the next token.
    fn hint(&self) -> Option<&'static str> {
        let before = self.at.checked_sub(1).map(|before| self.tokens[before].kind);
        let text = self.text_of(self.peek());
        match (before, self.peek().kind) {
            (Some(TokenKind::Symbol(Symbol::Equal)), TokenKind::Symbol(Symbol::Equal)) => {
                Some("equality is written with one '='")
            }
            (Some(TokenKind::Symbol(Symbol::Ampersand)), TokenKind::Symbol(Symbol::Ampersand)) => {
                Some("the logical operator is AND")
            }
            (_, TokenKind::Bad(BadToken::Character)) if text == "!" => Some("negation is written NOT"),
            (_, TokenKind::Bad(BadToken::Character)) if matches!(text, "“" | "”" | "‘" | "’") => {
                Some("strings stand between straight quotes")
            }
            (_, TokenKind::Word) if text.eq_ignore_ascii_case("is") => {
                Some("there is no IS operator, use IS_NULL(...) or IS_DEFINED(...)")
            }
            (_, TokenKind::Word) if text.eq_ignore_ascii_case("having") => {
                Some("there is no HAVING clause, filter an outer query over a subquery")
            }
            _ => None,
        }
    }
}

/// Text in quotes, shortened to what fits a message.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("'{}...'", &text[..end]),
        None => format!("'{text}'"),
    }
}
