//! Query text to tokens, in one pass over the bytes.
//!
//! The lexer cannot fail: what is no token becomes a [`TokenKind::Bad`] one and lexing goes
//! on behind it. The last token is always [`TokenKind::End`].
//!
//! * Blanks are the Unicode white space characters (documents are pasted from web pages full
//!   of narrow no-break spaces) and the byte order mark.
//! * `--` starts a comment up to the end of the line, `/*` one up to `*/`.
//! * Names follow Unicode's identifier rules, plus a leading `_`.
//! * A number has digits on both sides of its point; no letter may touch it.
//! * A sign is not part of a number: `1-2` is a subtraction. The parser joins a minus that
//!   touches a number at the start of an operand.

use crate::span::Span;
use crate::token::{BadToken, Keyword, Symbol, Token, TokenKind};

/// All tokens of `text`, which must not be longer than a [`Span`] can say.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    assert!(u32::try_from(text.len()).is_ok(), "the parser checks the length of the text first");
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        let token = lexer.next();
        tokens.push(token);
        if token.kind == TokenKind::End {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Token {
        if let Some(unterminated) = self.skip_blanks() {
            return unterminated;
        }
        let start = self.at;
        let kind = match self.peek() {
            None => TokenKind::End,
            Some(quote @ ('"' | '\'')) => self.string(quote),
            Some('0'..='9') => self.number(),
            Some('@') => self.parameter(),
            Some(c) if is_name_start(c) => self.word(),
            Some(c) => self.symbol(c),
        };
        self.token(start, kind)
    }

    fn token(&self, start: usize, kind: TokenKind) -> Token {
        // Cannot truncate: `tokens` asserted the length.
        Token { kind, span: Span::new(start as u32, self.at as u32) }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += length;
        length
    }

    /// Skips blanks and comments; a comment without an end is a token of its own.
    fn skip_blanks(&mut self) -> Option<Token> {
        loop {
            self.take_while(|c| c.is_whitespace() || c == '\u{feff}');
            let start = self.at;
            if self.rest().starts_with("--") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                match self.rest()[2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => {
                        self.at = self.text.len();
                        return Some(self.token(start, TokenKind::Bad(BadToken::UnterminatedComment)));
                    }
                }
            } else {
                return None;
            }
        }
    }

    /// Only finds the end; escapes are decoded when the parser takes the string.
    fn string(&mut self, quote: char) -> TokenKind {
        self.at += quote.len_utf8();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            if c == quote {
                return TokenKind::String;
            }
            if c == '\\' {
                self.at += self.peek().map_or(0, char::len_utf8);
            }
        }
        TokenKind::Bad(BadToken::UnterminatedString)
    }

    fn number(&mut self) -> TokenKind {
        let well_formed = if self.rest().starts_with("0x") || self.rest().starts_with("0X") {
            self.at += 2;
            self.take_while(|c| c.is_ascii_hexdigit()) > 0
        } else {
            self.decimal()
        };
        // `12a` is one mistake, not a number and a name.
        let tail = self.take_while(is_name_part);
        if well_formed && tail == 0 { TokenKind::Number } else { TokenKind::Bad(BadToken::MalformedNumber) }
    }

    fn decimal(&mut self) -> bool {
        self.take_while(|c| c.is_ascii_digit());
        if self.rest().starts_with('.') {
            self.at += 1;
            if self.take_while(|c| c.is_ascii_digit()) == 0 {
                return false;
            }
        }
        if self.rest().starts_with(['e', 'E']) {
            self.at += 1;
            if self.rest().starts_with(['+', '-']) {
                self.at += 1;
            }
            return self.take_while(|c| c.is_ascii_digit()) > 0;
        }
        true
    }

    fn parameter(&mut self) -> TokenKind {
        self.at += 1;
        if self.take_while(is_name_part) > 0 { TokenKind::Parameter } else { TokenKind::Bad(BadToken::LonelyAt) }
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        self.take_while(is_name_part);
        match Keyword::from_word(&self.text[start..self.at]) {
            Some(keyword) => TokenKind::Keyword(keyword),
            None => TokenKind::Word,
        }
    }

    fn symbol(&mut self, first: char) -> TokenKind {
        match SYMBOLS.iter().find(|(text, _)| self.rest().starts_with(text)) {
            Some((text, symbol)) => {
                self.at += text.len();
                TokenKind::Symbol(*symbol)
            }
            None => {
                self.at += first.len_utf8();
                TokenKind::Bad(BadToken::Character)
            }
        }
    }
}

fn is_name_start(c: char) -> bool {
    c == '_' || unicode_ident::is_xid_start(c)
}

fn is_name_part(c: char) -> bool {
    unicode_ident::is_xid_continue(c)
}

/// Longer symbols stand before their own prefixes.
const SYMBOLS: &[(&str, Symbol)] = &[
    (">>>", Symbol::ShiftRightUnsigned),
    (">>", Symbol::ShiftRight),
    (">=", Symbol::GreaterOrEqual),
    (">", Symbol::Greater),
    ("<<", Symbol::ShiftLeft),
    ("<=", Symbol::LessOrEqual),
    ("<>", Symbol::NotEqual),
    ("<", Symbol::Less),
    ("!=", Symbol::NotEqual),
    ("||", Symbol::DoubleBar),
    ("|", Symbol::Bar),
    ("??", Symbol::Coalesce),
    ("?", Symbol::Question),
    ("(", Symbol::OpenParen),
    (")", Symbol::CloseParen),
    ("[", Symbol::OpenBracket),
    ("]", Symbol::CloseBracket),
    ("{", Symbol::OpenBrace),
    ("}", Symbol::CloseBrace),
    (",", Symbol::Comma),
    (":", Symbol::Colon),
    (".", Symbol::Dot),
    ("*", Symbol::Star),
    ("/", Symbol::Slash),
    ("%", Symbol::Percent),
    ("+", Symbol::Plus),
    ("-", Symbol::Minus),
    ("~", Symbol::Tilde),
    ("&", Symbol::Ampersand),
    ("^", Symbol::Caret),
    ("=", Symbol::Equal),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens as `kind:text`, for readable assertions.
    fn shapes(text: &str) -> Vec<String> {
        tokens(text)
            .iter()
            .map(|token| {
                let kind = match token.kind {
                    TokenKind::Word => "word",
                    TokenKind::Keyword(_) => "keyword",
                    TokenKind::Parameter => "parameter",
                    TokenKind::Number => "number",
                    TokenKind::String => "string",
                    TokenKind::Symbol(_) => "symbol",
                    TokenKind::Bad(_) => "bad",
                    TokenKind::End => "end",
                };
                format!("{kind}:{}", token.span.of(text))
            })
            .collect()
    }

    #[test]
    fn symbols_are_matched_longest_first() {
        assert_eq!(
            shapes("a>>>b>>c>=d"),
            ["word:a", "symbol:>>>", "word:b", "symbol:>>", "word:c", "symbol:>=", "word:d", "end:"]
        );
        for (at, (text, _)) in SYMBOLS.iter().enumerate() {
            for (later, _) in &SYMBOLS[at + 1..] {
                assert!(!later.starts_with(text), "{later} is never reached behind {text}");
            }
        }
    }

    #[test]
    fn comments_and_odd_blanks_separate_tokens() {
        assert_eq!(shapes("\u{feff}a -- b 'c\n\u{202f}d/* e\n* */f"), ["word:a", "word:d", "word:f", "end:"]);
        assert_eq!(shapes("a -- b"), ["word:a", "end:"]);
        assert_eq!(shapes("a /*/ b"), ["word:a", "bad:/*/ b", "end:"]);
    }

    #[test]
    fn numbers_keep_clear_of_letters_and_points() {
        assert_eq!(
            shapes("1 1.5 1e3 1.5E-3 0xfF"),
            ["number:1", "number:1.5", "number:1e3", "number:1.5E-3", "number:0xfF", "end:"]
        );
        for bad in ["12a", "1.", "0.E", "1e", "1e+", "0x", "0xg", "1é"] {
            assert!(shapes(bad)[0].starts_with("bad:"), "{bad}");
        }
        assert_eq!(shapes("1-2"), ["number:1", "symbol:-", "number:2", "end:"]);
    }

    #[test]
    fn strings_end_at_their_own_unescaped_quote() {
        assert_eq!(shapes(r#"'a"b\'c' "\\" 'ü"#), [r#"string:'a"b\'c'"#, r#"string:"\\""#, "bad:'ü", "end:"]);
        assert_eq!(shapes("'\\"), ["bad:'\\", "end:"]);
    }

    #[test]
    fn names_follow_unicode() {
        assert_eq!(
            shapes("größe _x x1 名前 @p1 @ é\u{301}"),
            ["word:größe", "word:_x", "word:x1", "word:名前", "parameter:@p1", "bad:@", "word:é\u{301}", "end:"]
        );
    }
}
