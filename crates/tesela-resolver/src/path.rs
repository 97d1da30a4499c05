//! Property paths: `/address/city`, with quotes for names that need them: `/"first name"/"a\"b"`.
//!
//! The grammar is that of partition key paths. A path never leaves objects: there is no index into arrays,
//! for a key that depends on the order of an array would be no key.

use std::fmt;

use tesela_model::json::{Object, Value};

use crate::error::ConfigError;

/// A path of at least one property.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropertyPath(Vec<String>);

impl PropertyPath {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let refuse = || ConfigError::Path { text: text.to_owned() };
        let mut names = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.strip_prefix('/').ok_or_else(refuse)?;
            let (name, after) = if rest.starts_with('"') { quoted(rest) } else { plain(rest) }.ok_or_else(refuse)?;
            names.push(name);
            rest = after;
        }
        if names.is_empty() { Err(refuse()) } else { Ok(Self(names)) }
    }

    /// The value at the path, if every step is there.
    pub fn get<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(document, |value, name| value.get(name))
    }

    /// Puts `value` at the path, making the objects on the way. Fails, and changes nothing, where a step is
    /// there but no object; the error names it.
    pub fn set(&self, document: &mut Value, value: Value) -> Result<(), String> {
        let mut found: &Value = document;
        for (depth, name) in self.0.iter().enumerate() {
            if found.as_object().is_none() {
                return Err(Self(self.0[..depth].to_vec()).to_string());
            }
            match found.get(name) {
                Some(next) => found = next,
                None => break,
            }
        }
        let (last, parents) = self.0.split_last().expect("a path has at least one property");
        let mut object = document.as_object_mut().expect("checked above");
        for name in parents {
            if !object.contains_key(name) {
                object.insert(name.as_str(), Object::new());
            }
            object = object.get_mut(name).and_then(Value::as_object_mut).expect("checked above or just made");
        }
        object.insert(last.as_str(), value);
        Ok(())
    }
}

fn plain(text: &str) -> Option<(String, &str)> {
    let end = text.find('/').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let usable = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-$.@: ".contains(c));
    usable.then(|| (name.to_owned(), rest))
}

fn quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((name, &text[at + 1..])),
            '\\' => name.push(chars.next().map(|(_, c)| c).filter(|c| matches!(c, '"' | '\\'))?),
            c => name.push(c),
        }
    }
    None
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("/");
        }
        for name in &self.0 {
            if name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty() {
                write!(f, "/{name}")?;
            } else {
                write!(f, "/\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tesela_model::json::{parse, to_string};

    use super::*;

    #[test]
    fn text_forms_read_back() {
        for text in ["/id", "/address/city", "/\"first name\"/x", "/\"a\\\"b\\\\\"", "/\"\"", "/größe"] {
            assert_eq!(PropertyPath::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "/", "id", "/a//b", "/a/", "/\"open", "/\"a\"b", "/\"\\n\"", "/a{b"] {
            assert_eq!(PropertyPath::parse(text), Err(ConfigError::Path { text: text.into() }));
        }
    }

    #[test]
    fn set_makes_the_way_or_changes_nothing() {
        let path = PropertyPath::parse("/a/b/c").unwrap();
        let mut document = parse(br#"{"x":1}"#).unwrap();
        path.set(&mut document, "v".into()).unwrap();
        assert_eq!(to_string(&document), r#"{"x":1,"a":{"b":{"c":"v"}}}"#);
        assert_eq!(path.get(&document).and_then(Value::as_str), Some("v"));

        let mut blocked = parse(br#"{"a":{"b":7}}"#).unwrap();
        assert_eq!(path.set(&mut blocked, "v".into()), Err("/a/b".into()));
        assert_eq!(to_string(&blocked), r#"{"a":{"b":7}}"#);
        assert_eq!(path.set(&mut Value::Null, "v".into()), Err("/".into()));
    }
}
