//! Script text: how it becomes a function, and what can be told from the text alone.
//!
//! The text is one function, written as an expression or as a declaration: `function (a) {…}`,
//! `function main(a) {…}`, `(a) => …`, with comments around it. Texts with a trailing semicolon, or with
//! helper functions beside the first one, are accepted too. Each becomes a *factory*: a function of the
//! four names a script sees, which answers the script's own function.
//!
//! ```text
//! function hello() { … }      ->   (function (getContext, __, console, ErrorCodes) { return (function hello() { … }
//!                                  ); })
//! ```
//!
//! The prefix stays on the script's first line, so that line numbers in stack traces are the author's;
//! columns of that line are corrected by `trace`.
//!
//! Two questions are answered from the text: whether it may hold a BigInt literal (refused: see
//! [`Script::new`]) and whether it changes built-in objects ([`Isolation`]). Both err on the safe side.

use std::sync::Arc;

use crate::error::{ErrorKind, ScriptError};
use crate::limits::{BRACKETS_SQUARED_MAX, SCRIPT_SOURCE_BYTES_MAX};

/// Start of the factory of an expression. Its length is what `trace` takes off columns of the
/// first line.
pub(crate) const PREFIX: &str = "(function (getContext, __, console, ErrorCodes) { return (";
/// Start of the factory of a text with several declarations.
const PROGRAM_PREFIX: &str = "(function (getContext, __, console, ErrorCodes) {         ";
const _: () = assert!(PREFIX.len() == PROGRAM_PREFIX.len(), "columns are corrected by one length");

/// A stored procedure, trigger or user-defined function of one container. Cheap to clone; keep it
/// while the script is unchanged, because realms recognize compiled scripts by it.
#[derive(Clone, Debug)]
pub struct Script {
    container: Arc<str>,
    id: Arc<str>,
    source: Arc<str>,
    isolation: Isolation,
}

/// The realm a script needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// A frozen realm, shared with earlier and later runs of the same container.
    Warm,
    /// A realm of its own, in which it may change built-ins; thrown away after the run.
    Own,
}

impl Script {
    /// `container` is any text that names the container for the life of the process, such as its
    /// resource id: realms are never shared between different ones.
    ///
    /// Refuses texts that are too long, that hold a NUL or a BigInt literal, or character classes of
    /// tens of thousands of characters, which take the engine minutes to compile. Operators on BigInts of a million
    /// bits take long and cannot be metered, and the service's engine has no BigInt either.
    pub fn new(container: &str, id: &str, source: &str) -> Result<Self, ScriptError> {
        if source.len() > SCRIPT_SOURCE_BYTES_MAX {
            let message = format!("script {id} has {} bytes, more than {SCRIPT_SOURCE_BYTES_MAX}", source.len());
            return Err(ScriptError::new(ErrorKind::TooLarge, message));
        }
        let refused = |reason: &str, line: usize| {
            let message = format!(
                "Encountered exception while compiling function. Exception = SyntaxError: {reason}\r\nStack trace: at {id}.js:{line}"
            );
            Err(ScriptError::new(ErrorKind::Compile, message))
        };
        if let Some(at) = source.find('\0') {
            return refused("a NUL character in the text", line_of(source.as_bytes(), at));
        }
        if let Some(at) = bigint_literal(source) {
            return refused("BigInt literals are not supported", line_of(source.as_bytes(), at));
        }
        if brackets_squared(source) > BRACKETS_SQUARED_MAX {
            return refused("too much between brackets on one line", 1);
        }
        let isolation = if changes_builtins(source) { Isolation::Own } else { Isolation::Warm };
        Ok(Self { container: container.into(), id: id.into(), source: source.into(), isolation })
    }

    pub fn container(&self) -> &str {
        &self.container
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn shared_id(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    pub(crate) fn shared_source(&self) -> Arc<str> {
        Arc::clone(&self.source)
    }

    pub(crate) fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Name of the script in stack traces.
    pub(crate) fn file_name(&self) -> String {
        // The engine takes it as a C string.
        format!("{}.js", self.id.replace('\0', ""))
    }

    /// Factory texts to try in turn; the first one that compiles is meant.
    pub(crate) fn factories(&self) -> impl Iterator<Item = String> {
        let expression = self.source.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        let program =
            first_function(&self.source).map(|name| format!("{PROGRAM_PREFIX}{}\n; return {name}; }})", self.source));
        std::iter::once(format!("{PREFIX}{expression}\n); }})")).chain(program)
    }
}

/// What compiling the text's character classes may cost, if everything between brackets on one line is
/// one: a regular expression has no line breaks.
fn brackets_squared(source: &str) -> u64 {
    let mut sum = 0u64;
    let mut open = None;
    let mut bytes = source.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'[' => open = open.or(Some(at)),
            b'\n' => open = None,
            b']' => {
                let length = open.take().map_or(0, |start| (at - start) as u64);
                sum = sum.saturating_add(length * length);
            }
            _ => {}
        }
    }
    sum
}

fn line_of(source: &[u8], at: usize) -> usize {
    1 + source[..at].iter().filter(|&&byte| byte == b'\n').count()
}

/// Where the first text begins that looks like a BigInt literal. It may stand in a comment or a string: that
/// is refused as well, because telling them apart safely needs a parser.
fn bigint_literal(source: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() || (at > 0 && is_word(bytes[at - 1])) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
            at += 1;
        }
        let word = &bytes[start..at];
        if word.last() == Some(&b'n') && at.checked_sub(2).is_some_and(|before| bytes[before].is_ascii_hexdigit()) {
            return Some(start);
        }
    }
    None
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Names of the first top-level function, or failing that of the first variable.
fn first_function(source: &str) -> Option<&str> {
    let mut variable = None;
    let mut words = TopLevelWords { source, at: 0, depth: 0 };
    while let Some(word) = words.next() {
        match word {
            "function" => {
                if let Some(name) = words.next() {
                    return Some(name);
                }
            }
            "const" | "let" | "var" if variable.is_none() => variable = words.next(),
            _ => {}
        }
    }
    variable
}

/// Words outside of brackets, comments and texts. Good enough to find a declaration: a wrong guess is
/// a compile error or a reference error, both of them the script's.
struct TopLevelWords<'a> {
    source: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Iterator for TopLevelWords<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.source.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let rest = &bytes[self.at..];
            match byte {
                b'/' if rest.starts_with(b"//") => self.skip_past(b"\n"),
                b'/' if rest.starts_with(b"/*") => self.skip_past(b"*/"),
                b'"' | b'\'' | b'`' => self.skip_text(byte),
                b'{' | b'(' | b'[' => self.step(1),
                b'}' | b')' | b']' => self.step(-1),
                _ if is_word(byte) => {
                    let start = self.at;
                    while bytes.get(self.at).copied().is_some_and(is_word) {
                        self.at += 1;
                    }
                    if self.depth == 0 {
                        return self.source.get(start..self.at);
                    }
                }
                _ => self.at += 1,
            }
        }
        None
    }
}

impl TopLevelWords<'_> {
    fn step(&mut self, change: i32) {
        self.depth = self.depth.saturating_add_signed(change);
        self.at += 1;
    }

    fn skip_past(&mut self, end: &[u8]) {
        let rest = &self.source.as_bytes()[self.at + 1..];
        let length = rest.windows(end.len()).position(|window| window == end);
        self.at += 1 + length.map_or(rest.len(), |length| length + end.len());
    }

    fn skip_text(&mut self, quote: u8) {
        let bytes = self.source.as_bytes();
        self.at += 1;
        while let Some(&byte) = bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote {
                break;
            }
        }
    }
}

/// Built-in objects a script may want to extend.
const BUILTINS: [&str; 20] = [
    "Object",
    "Function",
    "Array",
    "String",
    "Number",
    "Boolean",
    "Symbol",
    "Date",
    "RegExp",
    "Math",
    "JSON",
    "Promise",
    "Map",
    "Set",
    "WeakMap",
    "WeakSet",
    "Error",
    "TypeError",
    "RangeError",
    "Iterator",
];

/// Whether the text seems to change built-in objects: `Array.prototype.last = …`, `Object.assign(String…`,
/// `globalThis.x = …`. Reading them, as in `Array.prototype.slice.call(arguments)`, is no change. A
/// script misjudged as unchanging gets a `TypeError` where it assigns; never a way out.
fn changes_builtins(source: &str) -> bool {
    const TELLING: [&str; 3] = ["globalThis", "__proto__", "setPrototypeOf"];
    let bytes = source.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let word = word_at(source, at);
        if word.is_empty() {
            at += 1;
            continue;
        }
        let end = at + word.len();
        if TELLING.contains(&word) || (BUILTINS.contains(&word) && is_changed(source, at, end)) {
            return true;
        }
        at = end;
    }
    false
}

/// The word that starts at `at`, or nothing. Indexing is by bytes; words are ASCII.
fn word_at(source: &str, at: usize) -> &str {
    let bytes = source.as_bytes();
    let length = bytes[at.min(bytes.len())..].iter().take_while(|&&byte| is_word(byte)).count();
    source.get(at..at + length).unwrap_or("")
}

fn skip_space(source: &str, at: usize) -> usize {
    at + source.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Splits `.name` off the text at `at`.
fn member(source: &str, at: usize) -> Option<(&str, usize)> {
    let dot = skip_space(source, at);
    if source.as_bytes().get(dot) != Some(&b'.') {
        return None;
    }
    let start = skip_space(source, dot + 1);
    let name = word_at(source, start);
    (!name.is_empty()).then_some((name, start + name.len()))
}

/// Whether the built-in named at `start..end` is changed there, or given another name under which it
/// might be.
fn is_changed(source: &str, start: usize, end: usize) -> bool {
    let before = source.get(..start).unwrap_or("").trim_end();
    if is_extended(before) {
        return true;
    }
    match member(source, end) {
        Some(("prototype", after)) => match member(source, after) {
            Some((_, after)) => is_assigned(source, after),
            None => source.as_bytes().get(skip_space(source, after)) == Some(&b'[') || is_named(before),
        },
        Some((_, after)) => is_assigned(source, after),
        None => false,
    }
}

/// `… = …`, not `==` or `=>`.
fn is_assigned(source: &str, at: usize) -> bool {
    let rest = source.as_bytes().get(skip_space(source, at)..).unwrap_or(&[]);
    rest.first() == Some(&b'=') && !matches!(rest.get(1), Some(b'=' | b'>'))
}

/// `x = Array.prototype`, `return Array.prototype`, `{x: Array.prototype`.
fn is_named(before: &str) -> bool {
    before.ends_with([':', '?']) || before.ends_with("return") || (before.ends_with('=') && !before.ends_with("=="))
}

/// `Object.assign(Array…`
fn is_extended(before: &str) -> bool {
    let Some(before) = before.strip_suffix('(') else { return false };
    ["defineProperty", "defineProperties", "assign"].iter().any(|name| before.trim_end().ends_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bigint_literals_are_seen_wherever_they_are() {
        for (source, at) in [
            ("1n", Some(0)),
            ("x\n= 0xFFn;", Some(4)),
            ("f(1_000n)", Some(2)),
            ("0b1n", Some(0)),
            ("a1n + n1 + 12 + $1n + _9n", None),
            ("1e5 + 10 n", None),
            ("", None),
            ("10px", None),
        ] {
            assert_eq!(bigint_literal(source), at, "{source}");
        }
    }

    #[test]
    fn brackets_are_measured_by_line() {
        for (source, squared) in [
            ("[a]", 4),
            ("[a][bc]", 4 + 9),
            (r"[\]]", 9),
            ("\\", 0),
            ("[\n]", 0),
            ("[[a]", 9),
            ("]]", 0),
            ("[a", 0),
            ("", 0),
        ] {
            assert_eq!(brackets_squared(source), squared, "{source}");
        }
    }

    #[test]
    fn the_first_function_is_the_entry() {
        for (source, name) in [
            ("function a() {} function b() {}", Some("a")),
            (
                "// function no() {}\n/* function no2() {} */ async function main() { function inner() {} }",
                Some("main"),
            ),
            ("var s = 'function x'; function main() {}", Some("main")),
            ("const f = (a) => a;", Some("f")),
            ("(function () {})", None),
            ("function", None),
            ("'unfinished", None),
            ("/* unfinished", None),
        ] {
            assert_eq!(first_function(source), name, "{source}");
        }
    }

    #[test]
    fn scripts_that_extend_builtins_get_their_own_realm() {
        for source in [
            "Array.prototype.last = function () {}",
            "String . prototype['x'] = 1",
            "Object.assign(Math, {})",
            "Object.defineProperty( Array, 'x', {})",
            "Math.two = 2",
            "globalThis.a = 1",
            "({}).__proto__.x = 1",
            "const p = Array.prototype; p.last = 1",
            "Object.defineProperty(Array.prototype, 'last', {})",
        ] {
            assert!(changes_builtins(source), "{source}");
        }
        for source in [
            "Array.prototype.slice.call(arguments)",
            "Object.prototype.hasOwnProperty.call(o, 'a')",
            "Mine.prototype.go = function () {}",
            "Mine.prototype = Object.create(Error.prototype); Mine.prototype.constructor = Mine",
            "Object.getPrototypeOf(x) === Array.prototype",
            "Object.keys(a) == Math.max(1)",
            "x = Math.PI === 3; y = Date.now => 1",
            "Object.assign({}, o)",
            "é Array",
        ] {
            assert!(!changes_builtins(source), "{source}");
        }
    }
}
