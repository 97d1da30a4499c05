//! From a document to its key (R34).
//!
//! An extractor is data wherever it can be — a path, several paths, a choice by the document's type — so that
//! it goes to JSON and back. A function is kept under a name, and the reader of the stored map must know a
//! function of that name: state never holds code.
//!
//! A document without the property has no key, and that is an error that names the path: placing it by a made-up key
//! would hide it from every reader who knows the real one.

use std::fmt;
use std::sync::Arc;

use tesela_model::json::Value;

use crate::error::{ConfigError, ResolveError};
use crate::key::Key;
use crate::limits::{KEY_COMPONENTS_MAX, MAP_ENTRIES_MAX};
use crate::path::PropertyPath;

/// A function from documents to keys; `None` when the document has none.
pub type KeyFunction = dyn Fn(&Value) -> Option<Key> + Send + Sync;

/// How a resolver finds the key of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyExtractor {
    /// One property.
    Path(PropertyPath),
    /// Several properties, as a compound key.
    Paths(Vec<PropertyPath>),
    /// A different way for each type of document.
    ByType(TypedExtractor),
    /// A function known by name.
    Named(NamedFunction),
}

/// Chooses an extractor by the text of one property.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedExtractor {
    /// The property that tells the type.
    pub property: PropertyPath,
    /// Extractor of each type.
    pub cases: Vec<(String, KeyExtractor)>,
    /// For every other type, and for documents without one.
    pub otherwise: Option<Box<KeyExtractor>>,
}

/// A function and the name under which other processes know it.
#[derive(Clone)]
pub struct NamedFunction {
    name: Arc<str>,
    function: Arc<KeyFunction>,
}

impl NamedFunction {
    /// Names a function.
    pub fn new(name: &str, function: impl Fn(&Value) -> Option<Key> + Send + Sync + 'static) -> Self {
        Self { name: Arc::from(name), function: Arc::new(function) }
    }

    /// The name that is stored.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for NamedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NamedFunction({})", self.name)
    }
}

impl PartialEq for NamedFunction {
    /// By name: that is the contract of a name.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl KeyExtractor {
    /// The property at a path such as `/userId`.
    pub fn path(path: &str) -> Result<Self, ConfigError> {
        PropertyPath::parse(path).map(Self::Path)
    }

    /// A compound of the properties at several paths.
    pub fn paths<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<Self, ConfigError> {
        let paths: Vec<PropertyPath> = paths.into_iter().map(PropertyPath::parse).collect::<Result<_, _>>()?;
        if paths.is_empty() || paths.len() > KEY_COMPONENTS_MAX {
            return Err(ConfigError::KeyPaths { found: paths.len() });
        }
        Ok(Self::Paths(paths))
    }

    /// A different extractor for each value of `property`.
    pub fn by_type<'a>(
        property: &str,
        cases: impl IntoIterator<Item = (&'a str, KeyExtractor)>,
        otherwise: Option<KeyExtractor>,
    ) -> Result<Self, ConfigError> {
        let cases: Vec<_> = cases.into_iter().map(|(name, extractor)| (name.to_owned(), extractor)).collect();
        if cases.len() > MAP_ENTRIES_MAX {
            return Err(ConfigError::TooManyEntries { found: cases.len() });
        }
        let property = PropertyPath::parse(property)?;
        Ok(Self::ByType(TypedExtractor { property, cases, otherwise: otherwise.map(Box::new) }))
    }

    /// Any function, under the name other processes know it by.
    pub fn function(name: &str, function: impl Fn(&Value) -> Option<Key> + Send + Sync + 'static) -> Self {
        Self::Named(NamedFunction::new(name, function))
    }

    /// The key of `document`.
    pub fn extract(&self, document: &Value) -> Result<Key, ResolveError> {
        match self {
            Self::Path(path) => key_at(path, document),
            Self::Paths(paths) => {
                let keys: Result<Vec<Key>, _> = paths.iter().map(|path| key_at(path, document)).collect();
                keys.map(Key::Compound)
            }
            Self::ByType(typed) => typed.choose(document)?.extract(document),
            Self::Named(named) => (named.function)(document)
                .ok_or_else(|| ResolveError::KeyMissing { at: format!("function {}", named.name) }),
        }
    }
}

impl TypedExtractor {
    fn choose(&self, document: &Value) -> Result<&KeyExtractor, ResolveError> {
        let found = self.property.get(document).and_then(Value::as_str);
        let case = found.and_then(|name| self.cases.iter().find(|(case, _)| case == name));
        case.map(|(_, extractor)| extractor).or(self.otherwise.as_deref()).ok_or_else(|| match found {
            Some(name) => ResolveError::UnknownType { property: self.property.to_string(), found: name.to_owned() },
            None => ResolveError::KeyMissing { at: self.property.to_string() },
        })
    }
}

fn key_at(path: &PropertyPath, document: &Value) -> Result<Key, ResolveError> {
    let value = path.get(document).ok_or_else(|| ResolveError::KeyMissing { at: path.to_string() })?;
    Key::from_json(value).ok_or_else(|| ResolveError::KeyUnusable { at: path.to_string(), kind: value.type_name() })
}

#[cfg(test)]
mod tests {
    use tesela_model::json::parse;

    use super::*;

    fn document(text: &str) -> Value {
        parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn r34_one_path_several_paths_or_any_function() {
        let order = document(r#"{"id":"o1","user":{"name":"ada"},"year":2018}"#);
        let name = KeyExtractor::path("/user/name").unwrap();
        assert_eq!(name.extract(&order), Ok("ada".into()));
        let both = KeyExtractor::paths(["/user/name", "/year"]).unwrap();
        assert_eq!(both.extract(&order), Ok(("ada", 2018).into()));
        let initial = KeyExtractor::function("initial", |doc| {
            let name = doc.get("user")?.get("name")?.as_str()?;
            Some(name.get(..1)?.into())
        });
        assert_eq!(initial.extract(&order), Ok("a".into()));
        assert_eq!(initial.extract(&document("{}")), Err(ResolveError::KeyMissing { at: "function initial".into() }));
    }

    #[test]
    fn r34_types_have_their_own_keys() {
        let extractor = KeyExtractor::by_type(
            "/type",
            [("user", KeyExtractor::path("/id").unwrap()), ("order", KeyExtractor::path("/userId").unwrap())],
            None,
        )
        .unwrap();
        assert_eq!(extractor.extract(&document(r#"{"type":"user","id":"ada"}"#)), Ok("ada".into()));
        assert_eq!(extractor.extract(&document(r#"{"type":"order","id":"7","userId":"ada"}"#)), Ok("ada".into()));
        assert_eq!(
            extractor.extract(&document(r#"{"type":"cart"}"#)),
            Err(ResolveError::UnknownType { property: "/type".into(), found: "cart".into() })
        );
        assert_eq!(extractor.extract(&document("{}")), Err(ResolveError::KeyMissing { at: "/type".into() }));
    }

    #[test]
    fn a_document_without_a_usable_key_is_refused() {
        let extractor = KeyExtractor::path("/a").unwrap();
        assert_eq!(extractor.extract(&document("{}")), Err(ResolveError::KeyMissing { at: "/a".into() }));
        assert_eq!(
            extractor.extract(&document(r#"{"a":[1]}"#)),
            Err(ResolveError::KeyUnusable { at: "/a".into(), kind: "array" })
        );
        assert!(matches!(KeyExtractor::paths([]), Err(ConfigError::KeyPaths { found: 0 })));
    }
}
