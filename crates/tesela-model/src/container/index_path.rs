//! A path of the indexing policy: which values of an item it speaks of.
//!
//! ```text
//! /*                 everything
//! /a/b/?             the scalar at a.b
//! /a/*               a itself and everything below it
//! /tags/[]/?         the scalar elements of the array tags
//! /"a-b"/[]/c/*      quotes around a label with unusual characters; \ escapes a quote
//! ```
//!
//! `/` is an old spelling of `/*`.

use super::DefinitionError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPath {
    text: String,
    steps: Vec<IndexStep>,
    end: PathEnd,
}

/// One level down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexStep {
    Property(String),
    /// `[]`: any element of an array.
    Elements,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathEnd {
    /// `?`: the value itself, when it is a scalar.
    Scalar,
    /// `*`: the value and everything below it.
    Subtree,
}

impl IndexPath {
    /// Everything.
    pub fn root() -> Self {
        Self { text: "/*".to_owned(), steps: Vec::new(), end: PathEnd::Subtree }
    }

    /// The path the service excludes when the client does not speak of it: an etag is new on every write, and nobody
    /// searches by it.
    pub fn etag() -> Self {
        let steps = vec![IndexStep::Property("_etag".to_owned())];
        Self { text: "/\"_etag\"/?".to_owned(), steps, end: PathEnd::Scalar }
    }

    pub fn parse(text: &str) -> Result<Self, DefinitionError> {
        if text == "/" {
            return Ok(Self::root());
        }
        let refused = |position| DefinitionError::IndexPath { path: text.to_owned(), position };
        let mut steps = Vec::new();
        let mut rest = text;
        loop {
            let position = text.len() - rest.len();
            rest = rest.strip_prefix('/').ok_or_else(|| refused(position))?;
            let end = match rest {
                "?" => Some(PathEnd::Scalar),
                "*" => Some(PathEnd::Subtree),
                _ => None,
            };
            if let Some(end) = end {
                return Ok(Self { text: text.to_owned(), steps, end });
            }
            let (step, tail) = step(rest).ok_or_else(|| refused(position + 1))?;
            steps.push(step);
            rest = tail;
        }
    }

    /// A path that leaves out its end, which is then `/?`.
    pub(super) fn parse_open(text: &str) -> Option<Self> {
        let path = Self::parse(&format!("{text}/?")).ok()?;
        Some(Self { text: text.to_owned(), ..path })
    }

    /// As it is echoed.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn steps(&self) -> &[IndexStep] {
        &self.steps
    }

    pub fn end(&self) -> PathEnd {
        self.end
    }

    pub fn is_root(&self) -> bool {
        self.steps.is_empty() && self.end == PathEnd::Subtree
    }

    /// Whether the two speak of the same values, however they are spelled.
    pub fn same_place(&self, other: &Self) -> bool {
        self.steps == other.steps && self.end == other.end
    }

    /// Whether the path is about the top-level property `name`.
    pub(super) fn begins_with(&self, name: &str) -> bool {
        matches!(self.steps.first(), Some(IndexStep::Property(first)) if first == name)
    }
}

/// The step a text begins with, and what is behind it.
fn step(text: &str) -> Option<(IndexStep, &str)> {
    if text.starts_with(['"', '\'']) {
        let (label, rest) = quoted(text)?;
        return (!label.is_empty()).then_some((IndexStep::Property(label), rest));
    }
    let (label, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
    if label == "[]" {
        return Some((IndexStep::Elements, rest));
    }
    let plain = !label.is_empty() && !label.contains(['*', '?', '[', ']', '"', '\'']);
    plain.then(|| (IndexStep::Property(label.to_owned()), rest))
}

fn quoted(text: &str) -> Option<(String, &str)> {
    let mut chars = text.char_indices();
    let (_, quote) = chars.next()?;
    let mut label = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => label.push(chars.next()?.1),
            c if c == quote => return Some((label, &text[at + c.len_utf8()..])),
            c => label.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> String {
        let path = IndexPath::parse(text).unwrap();
        let mut out: Vec<&str> = Vec::new();
        for step in path.steps() {
            out.push(match step {
                IndexStep::Property(name) => name,
                IndexStep::Elements => "<elements>",
            });
        }
        out.push(match path.end() {
            PathEnd::Scalar => "?",
            PathEnd::Subtree => "*",
        });
        out.join(" ")
    }

    #[test]
    fn paths_are_read() {
        for (text, wanted) in [
            ("/", "*"),
            ("/*", "*"),
            ("/?", "?"),
            ("/a/?", "a ?"),
            ("/a/b/*", "a b *"),
            ("/a/[]/b/?", "a <elements> b ?"),
            ("/a/[]/[]/*", "a <elements> <elements> *"),
            ("/\"a/b\"/?", "a/b ?"),
            ("/\"a\\\"b\"/?", "a\"b ?"),
            ("/'a b'/?", "a b ?"),
            ("/\"[]\"/?", "[] ?"),
            ("/é-ü/?", "é-ü ?"),
        ] {
            assert_eq!(steps(text), wanted, "{text}");
        }
    }

    #[test]
    fn bad_paths_are_refused_with_their_position() {
        for (text, position) in [
            ("", 0),
            ("a/?", 0),
            ("/a", 2),
            ("/a/", 3),
            ("//?", 1),
            ("/a/*/b", 3),
            ("/a/?/b", 3),
            ("/a[]/?", 1),
            ("/\"a/?", 1),
            ("/\"\"/?", 1),
            ("/\"a\"b/?", 4),
            ("/a*/?", 1),
        ] {
            let refused = DefinitionError::IndexPath { path: text.to_owned(), position };
            assert_eq!(IndexPath::parse(text), Err(refused), "{text}");
        }
    }

    #[test]
    fn spelling_does_not_matter_for_the_place() {
        let parse = |text| IndexPath::parse(text).unwrap();
        assert!(parse("/\"_etag\"/?").same_place(&parse("/_etag/?")));
        assert!(parse("/").same_place(&IndexPath::root()));
        assert!(!parse("/a/?").same_place(&parse("/a/*")));
        assert_eq!(parse("/\"_etag\"/?"), IndexPath::etag());
    }
}
