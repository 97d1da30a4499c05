//! The compact text form, for command lines.
//!
//! ```text
//! key     = path "=" part+ [ "|" "escape" ]
//! part    = "{" path [ " " date-format ] "}"
//!         | "{random " count "}"
//!         | "{hash " count " " path { " " path } [ " by " name ] "}"
//!         | literal            doubled braces stand for one
//! ```
//!
//! Spaces around `=` and before `|` are for the eye; a literal that ends in a space or holds a bar is written
//! in the JSON form. Paths inside braces that hold spaces or braces are quoted: `{/"first name"}`.

use std::fmt;

use super::{DateFormat, Part, SyntheticError, SyntheticKey};
use crate::hash::{HashGenerators, Hasher};
use crate::limits::SYNTHETIC_TEXT_BYTES_MAX;
use crate::path::PropertyPath;

const ESCAPE_OPTION: &str = "escape";

impl SyntheticKey {
    /// Reads the text form; names of hashes are found among `hashes`.
    pub fn parse(text: &str, hashes: &HashGenerators) -> Result<Self, SyntheticError> {
        if text.len() > SYNTHETIC_TEXT_BYTES_MAX {
            return Err(syntax(SYNTHETIC_TEXT_BYTES_MAX, "too long"));
        }
        let equals = text.find('=').ok_or_else(|| syntax(text.len(), "no ="))?;
        let target = PropertyPath::parse(text[..equals].trim())?;
        let body_start = equals + 1 + (text[equals + 1..].len() - text[equals + 1..].trim_start().len());
        let (body, escape) = match text[body_start..].rsplit_once('|') {
            Some((body, option)) if option.trim() == ESCAPE_OPTION => (body.trim_end(), true),
            Some((body, _)) => return Err(syntax(body_start + body.len(), "unknown option")),
            None => (text[body_start..].trim_end(), false),
        };
        Self::new(target, parts(body, body_start, hashes)?, escape)
    }
}

fn syntax(offset: usize, reason: &'static str) -> SyntheticError {
    SyntheticError::Syntax { offset, reason }
}

fn parts(body: &str, start: usize, hashes: &HashGenerators) -> Result<Vec<Part>, SyntheticError> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(c) = body[at..].chars().next() {
        let rest = &body[at + c.len_utf8()..];
        if matches!(c, '{' | '}') && rest.starts_with(c) {
            literal.push(c);
            at += 2;
        } else if c == '{' {
            let end = closing(rest).ok_or_else(|| syntax(start + at, "no closing brace"))?;
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(braced(&rest[..end], start + at + 1, hashes)?);
            at += end + 2;
        } else if c == '}' {
            return Err(syntax(start + at, "no opening brace"));
        } else {
            literal.push(c);
            at += c.len_utf8();
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// Where the closing brace is, not counting quoted ones.
fn closing(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn braced(text: &str, offset: usize, hashes: &HashGenerators) -> Result<Part, SyntheticError> {
    let words = words(text);
    match words.as_slice() {
        ["random", count] => Ok(Part::Random { count: self::count(count, offset)? }),
        ["hash", count, rest @ ..] => {
            let (paths, hasher) = match rest {
                [paths @ .., "by", name] => {
                    let found = hashes.get(name);
                    (paths, found.ok_or_else(|| SyntheticError::UnknownHash { name: (*name).to_owned() })?)
                }
                paths => (paths, Hasher::murmur3_32()),
            };
            let paths = paths.iter().map(|path| PropertyPath::parse(path)).collect::<Result<_, _>>()?;
            Ok(Part::Hash { count: self::count(count, offset)?, paths, hasher })
        }
        [path] if path.starts_with('/') => Ok(Part::Property(PropertyPath::parse(path)?)),
        [path, ..] if path.starts_with('/') => {
            // A format may hold spaces: everything after the path and one space.
            let format = text.trim_start()[path.len()..].strip_prefix(' ').unwrap_or_default();
            Ok(Part::Date { path: PropertyPath::parse(path)?, format: DateFormat::parse(format)? })
        }
        _ => Err(syntax(offset, "expected a path, random or hash")),
    }
}

fn count(text: &str, offset: usize) -> Result<u32, SyntheticError> {
    text.parse().map_err(|_| syntax(offset, "expected a number of suffixes"))
}

/// Splits at spaces outside quotes.
fn words(text: &str) -> Vec<&str> {
    let mut quoted = false;
    let mut escaped = false;
    let split = |c: char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ' ' => return !quoted,
            _ => {}
        }
        false
    };
    text.split(split).filter(|word| !word.is_empty()).collect()
}

impl fmt::Display for SyntheticKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = ", self.target())?;
        for part in self.parts() {
            match part {
                Part::Literal(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                Part::Property(path) => write!(f, "{{{path}}}")?,
                Part::Date { path, format } => write!(f, "{{{path} {}}}", format.as_str())?,
                Part::Random { count } => write!(f, "{{random {count}}}")?,
                Part::Hash { count, paths, hasher } => {
                    write!(f, "{{hash {count}")?;
                    paths.iter().try_for_each(|path| write!(f, " {path}"))?;
                    if *hasher != Hasher::murmur3_32() {
                        write!(f, " by {}", hasher.name())?;
                    }
                    f.write_str("}")?;
                }
            }
        }
        if self.escapes() { write!(f, " | {ESCAPE_OPTION}") } else { Ok(()) }
    }
}
