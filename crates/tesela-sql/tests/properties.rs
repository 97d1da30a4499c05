//! Random text against the parser, with fixed seeds.
//!
//! Three sources, from nonsense to sense: token soup, valid queries with pieces changed, and
//! queries made from the grammar. None may panic; what parses must print, parse again to the
//! same tree and print the same; every span must lie in the text; and in queries made from the
//! grammar the text under an expression's span must parse to that expression.

use tesela_sql::ast::{Expr, ExprKind, Query, SelectSpec};
use tesela_sql::{parse, print, rules};

const SOUPS: u64 = 4_000;
const MUTATIONS: u64 = 6_000;
const GENERATED: u64 = 3_000;

/// A splitmix generator: tiny, and every seed gives another sequence.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

/// Parses and checks what must hold for any text at all; the query if the text is one.
fn check(text: &str) -> Option<Query> {
    let query = match parse(text) {
        Ok(query) => query,
        Err(error) => {
            assert!(text.get(error.span.range()).is_some(), "{error:?} lies outside {text:?}");
            assert!(!error.message.is_empty());
            return None;
        }
    };
    for error in rules::check(&query) {
        assert!(text.get(error.span.range()).is_some(), "{error:?} lies outside {text:?}");
    }
    let printed = print(&query);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{text}\n{printed}"));
    assert_eq!(again, query, "\n{text}\n{printed}");
    assert_eq!(print(&again), printed, "{text}");
    Some(query)
}

const VOCABULARY: &[&str] = &[
    "SELECT",
    "VALUE",
    "DISTINCT",
    "TOP",
    "FROM",
    "JOIN",
    "IN",
    "WHERE",
    "GROUP",
    "BY",
    "ORDER",
    "RANK",
    "ASC",
    "DESC",
    "OFFSET",
    "LIMIT",
    "AS",
    "AND",
    "OR",
    "NOT",
    "BETWEEN",
    "LIKE",
    "ESCAPE",
    "EXISTS",
    "ARRAY",
    "ALL",
    "FIRST",
    "LAST",
    "udf",
    "LEFT",
    "true",
    "null",
    "undefined",
    "NaN",
    "Infinity",
    "a",
    "b.c",
    "é",
    "f(",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "?",
    "??",
    "*",
    "/",
    "%",
    "+",
    "-",
    "~",
    "&",
    "^",
    "|",
    "||",
    "=",
    "!=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "<<",
    ">>",
    ">>>",
    "1",
    "-1",
    "1.5",
    "0x1F",
    "1e9",
    "'s'",
    "\"s\"",
    "'\\u0041'",
    "'\\x'",
    "@p",
    "@",
    "!",
    "#",
    "$",
    ";",
    "'",
    "\"",
    "--",
    "/*",
    "*/",
    "\\",
    "\u{202f}",
    "\u{0}",
    "😀",
    "\n",
];

#[test]
fn token_soup_never_panics() {
    for seed in 0..SOUPS {
        let mut random = Random(seed);
        let mut text = String::from(if random.one_in(4) { "" } else { "SELECT " });
        for _ in 0..random.below(30) {
            text.push_str(random.pick(VOCABULARY));
            if random.one_in(2) {
                text.push(' ');
            }
        }
        check(&text);
    }
}

#[test]
fn changed_queries_never_panic() {
    let mut parsed = 0;
    for seed in 0..MUTATIONS {
        let mut random = Random(seed);
        let mut text = Generator::new(&mut random).query(3);
        for _ in 0..=random.below(3) {
            mutate(&mut text, &mut random);
        }
        parsed += u64::from(check(&text).is_some());
    }
    assert!(parsed > MUTATIONS / 50, "only {parsed} changed queries were still queries");
    assert!(parsed < MUTATIONS, "no change broke a query");
}

/// Deletes, duplicates, truncates at or inserts into a random place.
fn mutate(text: &mut String, random: &mut Random) {
    let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut place = || boundaries[random.below(boundaries.len())];
    let (a, b) = (place(), place());
    let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 8));
    let end = boundaries.iter().copied().find(|at| *at >= end).unwrap_or(text.len());
    match random.below(4) {
        0 => text.replace_range(start..end, ""),
        1 => {
            let piece = text[start..end].to_owned();
            text.insert_str(end, &piece);
        }
        2 if random.one_in(3) => text.truncate(start),
        _ => text.insert_str(start, random.pick(VOCABULARY)),
    }
}

#[test]
fn grammatical_queries_round_trip_and_their_spans_hold() {
    for seed in 0..GENERATED {
        let mut random = Random(seed);
        let text = Generator::new(&mut random).query(4);
        let query = check(&text).unwrap_or_else(|| panic!("{:?}\n{text}", parse(&text)));
        assert_eq!(query.span.of(&text), text.trim(), "{text}");
        query.for_each_expr(|expr| check_spans(expr, &text));
    }
}

fn check_spans(expr: &Expr, text: &str) {
    let piece = expr.span.of(text);
    let alone = parse(&format!("SELECT VALUE {piece}")).unwrap_or_else(|error| panic!("{error}\n{piece}\n{text}"));
    match &alone.select.spec {
        SelectSpec::Value(value) => assert_eq!(value, expr, "\n{piece}\n{text}"),
        other => panic!("{other:?}"),
    }
    if let ExprKind::Subquery { query, .. } = &expr.kind {
        query.for_each_expr(|inner| check_spans(inner, text));
    }
    expr.for_each_child(|child| check_spans(child, text));
}

/// Writes random queries, always valid, with more parentheses and stranger spacing than a
/// person would.
struct Generator<'a> {
    random: &'a mut Random,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random) -> Self {
        Self { random }
    }

    fn name(&mut self) -> String {
        self.random
            .pick(&["a", "c", "item", "größe", "_x", "all", "first", "limit", "rank", "udf", "Value1"])
            .to_owned()
    }

    fn blank(&mut self) -> &'static str {
        self.random.pick(&[" ", " ", " ", "\n", "\t ", " -- remark\n", " /* remark */ "])
    }

    fn words(&mut self, words: &[&str]) -> String {
        let mut text = String::new();
        for word in words {
            if !text.is_empty() {
                text.push_str(self.blank());
            }
            text.push_str(word);
        }
        text
    }

    fn listed(&mut self, depth: usize, most: usize, item: impl Fn(&mut Self, usize) -> String) -> String {
        let count = 1 + self.random.below(most);
        (0..count).map(|_| item(self, depth)).collect::<Vec<_>>().join(", ")
    }

    fn query(&mut self, depth: usize) -> String {
        let mut clauses = vec![self.select(depth)];
        if !self.random.one_in(4) {
            clauses.push(self.from(depth));
        }
        if self.random.one_in(2) {
            let condition = self.expr(depth);
            clauses.push(self.words(&["WHERE", &condition]));
        }
        if self.random.one_in(5) {
            let keys = self.listed(depth, 2, Self::expr);
            clauses.push(self.words(&["group", "BY", &keys]));
        }
        if self.random.one_in(4) {
            let items = if self.random.one_in(3) {
                format!("Rank Score({})", self.expr(depth))
            } else {
                self.listed(depth, 2, |this, depth| this.expr(depth) + this.random.pick(&["", " ASC", " desc"]))
            };
            clauses.push(self.words(&["ORDER", "by", &items]));
        }
        if self.random.one_in(5) {
            clauses.push(self.words(&["OFFSET", "3", "LIMIT", "@limit"]));
        }
        clauses.join(self.blank())
    }

    fn select(&mut self, depth: usize) -> String {
        let head = self.random.pick(&["SELECT", "select", "SELECT DISTINCT", "SELECT TOP 5", "SELECT DISTINCT TOP @n"]);
        let projection = match self.random.below(4) {
            0 => "*".to_owned(),
            1 => self.listed(depth, 3, |this, depth| {
                let expr = this.expr(depth);
                let alias = this.name();
                expr + &match this.random.below(3) {
                    0 => String::new(),
                    1 => format!(" AS {alias}"),
                    _ => " alias".to_owned(),
                }
            }),
            _ => format!("VALUE {}", self.expr(depth)),
        };
        self.words(&[head, &projection])
    }

    fn from(&mut self, depth: usize) -> String {
        let sources = 1 + self.random.below(3);
        let sources: Vec<String> = (0..sources).map(|_| self.source(depth)).collect();
        format!("FROM {}", sources.join(" JOIN "))
    }

    fn source(&mut self, depth: usize) -> String {
        let collection = if depth > 1 && self.random.one_in(3) {
            format!("({})", self.query(depth - 2))
        } else {
            self.name() + self.random.pick(&["", ".x", "[\"y z\"]", "[0]", ".limit[@p]"])
        };
        match self.random.below(3) {
            0 => collection,
            1 => format!("{collection} AS {}", self.name()),
            _ => format!("{} IN {collection}", self.name()),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let below = depth - 1;
        match self.random.below(13) {
            0 => self.leaf(),
            // Operands of these are in parentheses or tight, so that any combination is valid.
            1..=3 => {
                let operator = self.random.pick(&[
                    "+", "-", "*", "/", "%", "=", "!=", "<>", "<", "<=", ">", ">=", "<<", ">>", ">>>", "&", "|", "^",
                    "||",
                ]);
                let (left, right) = (self.tight(below), self.tight(below));
                self.words(&[&left, operator, &right])
            }
            4 | 5 => {
                let operator = self.random.pick(&["AND", "or", "??"]);
                let operands: Vec<String> = (0..2 + self.random.below(3)).map(|_| self.tight(below)).collect();
                operands.join(&format!(" {operator} "))
            }
            6 => format!("{} ? {} : {}", self.tight(below), self.expr(below), self.expr(below)),
            7 => {
                let predicate = self.random.pick(&["IN", "BETWEEN", "LIKE", "NOT in", "not BETWEEN", "NOT LIKE"]);
                let operand = self.tight(below);
                let tail = match &predicate.to_ascii_uppercase() {
                    p if p.ends_with("IN") => format!("({})", self.listed(below, 3, Self::expr)),
                    p if p.ends_with("LIKE") => self.tight(below) + self.random.pick(&["", " ESCAPE '!'"]),
                    _ => format!("{} AND {}", self.tight(below), self.tight(below)),
                };
                self.words(&[&operand, predicate, &tail])
            }
            8 => {
                let operator = self.random.pick(&["NOT ", "- ", "-", "~", "+", "not not "]);
                let operand = self.tight(below);
                // Two minus signs in a row would start a comment.
                let gap = if operator == "-" && operand.starts_with('-') { " " } else { "" };
                format!("{operator}{gap}{operand}")
            }
            _ => self.tight(depth),
        }
    }

    /// An expression that can be an operand of anything.
    fn tight(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let below = depth - 1;
        match self.random.below(9) {
            0 => self.leaf(),
            1 => format!("({})", self.expr(below)),
            2 => format!("(({}))", self.expr(below)),
            3 => {
                format!("{}({})", self.random.pick(&["ABS", "left", "ALL", "udf.f"]), self.listed(below, 3, Self::expr))
            }
            4 => format!("[{}]", self.listed(below, 3, Self::expr)),
            5 => format!("{{{}}}", self.listed(below, 2, |this, depth| format!("'k': {}", this.expr(depth)))),
            6 if depth > 1 => {
                let kind = self.random.pick(&["", "EXISTS", "array", "All", "FIRST", "LAST"]);
                format!("{kind}({})", self.query(depth - 2))
            }
            7 => format!("({}){}", self.expr(below), self.random.pick(&[".p", "[1]", "['q']"])),
            _ => format!("{}.p[{}]", self.name(), self.expr(below)),
        }
    }

    fn leaf(&mut self) -> String {
        match self.random.below(3) {
            0 => self.name(),
            1 => self.name() + self.random.pick(&[".p", "[\"q\"]", ".p[0].limit"]),
            _ => self
                .random
                .pick(&[
                    "1",
                    "-1",
                    "- 1",
                    "0.25",
                    "1e300",
                    "0xff",
                    "-0",
                    "'s'",
                    "\"\\n\\u00e9\"",
                    "true",
                    "null",
                    "undefined",
                    "NaN",
                    "-Infinity",
                    "@p",
                    "[]",
                    "{}",
                    "PI()",
                ])
                .to_owned(),
        }
    }
}
