//! LIKE patterns: `%` any run, `_` one character, `[set]`, `[a-f]`, `[^set]`, and an escape character.
//!
//! A pattern is compiled once into a list of parts and matched by walking the text with one point to fall back to:
//! when a part fails, only the last `%` may take one character more. That is enough (a later `%` can stand in for
//! whatever an earlier one could still take), so matching is at worst `text × pattern` steps and never recursive.
//!
//! An unclosed `[` and an empty `[]` stand for themselves.

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    AnyRun,
    AnyOne,
    One(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikePattern {
    parts: Vec<Part>,
}

impl LikePattern {
    pub fn new(pattern: &str, escape: Option<char>) -> Self {
        let mut parts = Vec::new();
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            if Some(c) == escape {
                // At the end of the pattern there is nothing to escape: it stands for itself.
                parts.push(Part::One(rest.next().unwrap_or(c)));
                continue;
            }
            match c {
                '%' if parts.last() == Some(&Part::AnyRun) => {}
                '%' => parts.push(Part::AnyRun),
                '_' => parts.push(Part::AnyOne),
                '[' => match set(rest.as_str(), escape) {
                    Some((part, used)) => {
                        parts.push(part);
                        rest = rest.as_str()[used..].chars();
                    }
                    None => parts.push(Part::One('[')),
                },
                other => parts.push(Part::One(other)),
            }
        }
        Self { parts }
    }

    pub fn matches(&self, text: &str) -> bool {
        let mut rest = text.chars();
        let mut part = 0;
        // The part behind the last `%` seen, and the text it was last tried on.
        let mut fallback: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            if self.parts.get(part) == Some(&Part::AnyRun) {
                part += 1;
                fallback = Some((part, rest.clone()));
                continue;
            }
            let before = rest.clone();
            let matched = match (self.parts.get(part), rest.next()) {
                (None, None) => return true,
                (Some(part), Some(c)) => part.accepts(c),
                _ => false,
            };
            if matched {
                part += 1;
                continue;
            }
            let Some((resume, tried)) = &mut fallback else { return false };
            if before.as_str().is_empty() && self.parts.get(part).is_some() {
                return false; // the text is used up; giving `%` more of it cannot help
            }
            if tried.next().is_none() {
                return false;
            }
            (part, rest) = (*resume, tried.clone());
        }
    }

    /// The literal text every match starts with, and whether the pattern is exactly that text followed by one `%`
    /// (or by nothing, when the flag of the second half says so).
    pub fn prefix(&self) -> (String, PrefixRest) {
        let mut prefix = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::One(c) => prefix.push(*c),
                Part::AnyRun if index + 1 == self.parts.len() => return (prefix, PrefixRest::AnyRun),
                _ => return (prefix, PrefixRest::Pattern),
            }
        }
        (prefix, PrefixRest::Nothing)
    }
}

/// What follows the literal prefix of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixRest {
    /// The pattern is a plain text.
    Nothing,
    /// A single closing `%`: the pattern means "starts with".
    AnyRun,
    /// Something that must be matched.
    Pattern,
}

impl Part {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::AnyOne => true,
            Self::One(expected) => *expected == c,
            Self::Set { negated, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated,
            Self::AnyRun => false,
        }
    }
}

/// Reads a set behind its `[`; with it the bytes used up, the `]` included.
fn set(rest: &str, escape: Option<char>) -> Option<(Part, usize)> {
    let mut chars = rest.char_indices().peekable();
    let negated = chars.next_if(|(_, c)| *c == '^').is_some();
    let mut ranges = Vec::new();
    while let Some((at, c)) = chars.next() {
        if c == ']' && !ranges.is_empty() {
            return Some((Part::Set { negated, ranges }, at + 1));
        }
        if c == ']' {
            return None;
        }
        let low = if Some(c) == escape { chars.next()?.1 } else { c };
        let mut ahead = chars.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some((_, '-')), Some((_, high))) if high != ']' => {
                chars = ahead;
                high
            }
            _ => low,
        };
        ranges.push((low, high));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(text: &str, pattern: &str) -> bool {
        LikePattern::new(pattern, None).matches(text)
    }

    #[test]
    fn wildcards() {
        for (text, pattern) in [
            ("", ""),
            ("", "%"),
            ("abc", "%"),
            ("abc", "a%"),
            ("abc", "%c"),
            ("abc", "%b%"),
            ("abc", "a_c"),
            ("aXbXc", "a%b%c"),
            ("aab", "%ab"),
            ("ababac", "%abac"),
            ("mississippi", "%iss%ip%"),
            ("ünï", "_n_"),
            ("100%", "100[%]"),
            ("a_c", "a[_]c"),
            ("b", "[a-f]"),
            ("g", "[^a-f]"),
            ("-", "[a-]"),
            ("]", "]"),
            ("[", "["),
            ("[]", "[]"),
            ("a[b", "a[b"),
        ] {
            assert!(like(text, pattern), "{text} LIKE {pattern}");
        }
        for (text, pattern) in [
            ("", "_"),
            ("abc", ""),
            ("abc", "ab"),
            ("abc", "_"),
            ("aXbc", "a_c"),
            ("g", "[a-f]"),
            ("b", "[^a-f]"),
            ("", "[^a]"),
            ("abc", "%d"),
            ("100x", "100[%]"),
            ("ABC", "abc"),
        ] {
            assert!(!like(text, pattern), "{text} LIKE {pattern}");
        }
    }

    #[test]
    fn escape_makes_the_next_character_literal() {
        let pattern = LikePattern::new("%20^%%", Some('^'));
        assert!(pattern.matches("save 20% now"));
        assert!(!pattern.matches("save 20 now"));
        assert!(LikePattern::new("a!_b", Some('!')).matches("a_b"));
        assert!(!LikePattern::new("a!_b", Some('!')).matches("axb"));
        assert!(LikePattern::new("50%!", Some('!')).matches("50!"));
        assert!(LikePattern::new("[!]]", Some('!')).matches("]"));
    }

    #[test]
    fn many_stars_stay_cheap() {
        let pattern = "%a".repeat(200) + "%";
        assert!(like(&"a".repeat(2_000), &pattern));
        assert!(!like(&"b".repeat(20_000), &pattern));
    }

    #[test]
    fn prefixes_tell_what_an_index_can_serve() {
        let prefix = |pattern: &str| LikePattern::new(pattern, None).prefix();
        assert_eq!(prefix("abc%"), ("abc".into(), PrefixRest::AnyRun));
        assert_eq!(prefix("abc"), ("abc".into(), PrefixRest::Nothing));
        assert_eq!(prefix("abc%d"), ("abc".into(), PrefixRest::Pattern));
        assert_eq!(prefix("%abc"), (String::new(), PrefixRest::Pattern));
        assert_eq!(prefix("a_"), ("a".into(), PrefixRest::Pattern));
        assert_eq!(prefix("%"), (String::new(), PrefixRest::AnyRun));
    }
}
