//! Partition keys: how a container defines one (R2), what an item's value is (R4), and reading it from the item.

use crate::document::{Kind, Node};
use crate::json::{Number, Object, Value};
use crate::limits::PARTITION_KEY_LEVELS_MAX;

/// One component of a key value. Objects and arrays at the path count as missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    String(String),
}

impl Component {
    /// `{}` is how the wire spells undefined.
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.as_f64()),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(_) | Value::Object(_) => Self::Undefined,
        }
    }

    pub fn from_node(node: Option<Node<'_>>) -> Self {
        let Some(node) = node else { return Self::Undefined };
        match node.kind() {
            Kind::Null => Self::Null,
            Kind::Bool => Self::Bool(node.as_bool() == Some(true)),
            Kind::Number => Self::Number(node.as_f64().expect("kind is number")),
            Kind::String => Self::String(node.as_str().expect("kind is string").into_owned()),
            Kind::Array | Kind::Object => Self::Undefined,
        }
    }

    pub fn to_json(&self) -> Value {
        match self {
            Self::Undefined => Value::Object(Object::new()),
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            // A whole number is written as an integer, so that the text does not depend on how the client wrote it.
            Self::Number(number) => {
                Value::Number(Number::from(*number).as_i64().map_or_else(|| Number::from(*number), Number::from))
            }
            Self::String(text) => Value::String(text.clone()),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::String(text) => text.len(),
            Self::Number(_) => 8,
            _ => 1,
        }
    }
}

/// A key value, or a leading part of a hierarchical one.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PartitionKeyValue(Vec<Component>);

impl PartitionKeyValue {
    pub fn new(components: Vec<Component>) -> Self {
        Self(components)
    }

    pub fn components(&self) -> &[Component] {
        &self.0
    }

    /// Size as the service's limit counts it.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(Component::bytes).sum()
    }

    /// The array form of the wire; also the canonical text of the key in reports and errors.
    pub fn to_json(&self) -> Value {
        Value::Array(self.0.iter().map(Component::to_json).collect())
    }

    /// From the array form.
    pub fn from_json(value: &Value) -> Option<Self> {
        value.as_array().map(|components| Self(components.iter().map(Component::from_json).collect()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionKeyKind {
    Hash,
    MultiHash,
    Range,
}

impl PartitionKeyKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Hash => "Hash",
            Self::MultiHash => "MultiHash",
            Self::Range => "Range",
        }
    }
}

/// A path of property names: `/a/"b-c"/d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyPath {
    text: String,
    steps: Vec<String>,
}

impl PropertyPath {
    /// Letters, digits and most characters stand as they are; a quoted step may hold a slash, and `\` escapes a quote.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.strip_prefix('/')?;
            let (step, tail) = if rest.starts_with(['"', '\'']) { quoted_step(rest)? } else { bare_step(rest) };
            if step.is_empty() {
                return None;
            }
            steps.push(step);
            rest = tail;
        }
        (!steps.is_empty()).then(|| Self { text: text.to_owned(), steps })
    }

    /// As the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    pub fn find<'a>(&self, root: Node<'a>) -> Option<Node<'a>> {
        self.steps.iter().try_fold(root, |node, step| node.get(step))
    }
}

fn bare_step(rest: &str) -> (String, &str) {
    let end = rest.find('/').unwrap_or(rest.len());
    (rest[..end].to_owned(), &rest[end..])
}

fn quoted_step(rest: &str) -> Option<(String, &str)> {
    let quote = rest.chars().next()?;
    let mut step = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => step.push(chars.next()?.1),
            c if c == quote => return Some((step, &rest[at + 1..])),
            c => step.push(c),
        }
    }
    None
}

/// Why a definition is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    #[error("the partition key definition must be an object")]
    NotAnObject,
    #[error("the partition key definition has no paths")]
    NoPaths,
    #[error("Too many partition key paths specified: {found}, at most {allowed} for kind {kind}")]
    TooManyPaths { found: usize, allowed: usize, kind: &'static str },
    #[error("the partition key component definition path '{0}' could not be accepted, failed near position '0'")]
    BadPath(String),
    #[error("partition key path '{0}' occurs twice")]
    RepeatedPath(String),
    #[error("partition key kind '{0}' is not one of Hash, MultiHash, Range")]
    UnknownKind(String),
    #[error("partition key version {0} is not 1 or 2")]
    UnknownVersion(String),
    #[error("partition key kind MultiHash needs version 2")]
    MultiHashVersion,
}

/// How a container finds its key. Immutable for the life of the container (R6).
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionKeyDefinition {
    pub paths: Vec<PropertyPath>,
    pub kind: PartitionKeyKind,
    /// Absent on the wire means version 1, and must stay absent: clients hash with what they are told.
    pub version: Option<u8>,
    pub system_key: bool,
}

impl PartitionKeyDefinition {
    /// A single path, kind Hash. The path is ours, not a user's.
    pub fn hash(path: &str, version: Option<u8>) -> Self {
        let path = PropertyPath::parse(path).expect("a literal path of ours");
        Self { paths: vec![path], kind: PartitionKeyKind::Hash, version, system_key: false }
    }

    pub fn version_number(&self) -> u8 {
        self.version.unwrap_or(1)
    }

    pub fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        let object = value.as_object().ok_or(DefinitionError::NotAnObject)?;
        let texts: Vec<&str> = match object.get("paths") {
            Some(Value::Array(paths)) => paths.iter().map(|path| path.as_str().unwrap_or_default()).collect(),
            _ => return Err(DefinitionError::NoPaths),
        };
        if texts.is_empty() {
            return Err(DefinitionError::NoPaths);
        }
        let kind = kind_of(object.get("kind"), texts.len())?;
        let allowed = if kind == PartitionKeyKind::Hash { 1 } else { PARTITION_KEY_LEVELS_MAX };
        if texts.len() > allowed {
            return Err(DefinitionError::TooManyPaths { found: texts.len(), allowed, kind: kind.name() });
        }
        let version = version_of(object.get("version"))?;
        if kind == PartitionKeyKind::MultiHash && version == Some(1) {
            return Err(DefinitionError::MultiHashVersion);
        }
        // A hierarchical key exists only in version 2, so naming it is not demanded.
        let version = if kind == PartitionKeyKind::MultiHash { Some(2) } else { version };
        let system_key = object.get("systemKey").and_then(Value::as_bool).unwrap_or(false);
        Ok(Self { paths: parse_paths(&texts)?, kind, version, system_key })
    }

    /// The wire form, `version` only when it was given.
    pub fn to_json(&self) -> Value {
        let mut object = Object::new();
        let paths: Vec<Value> = self.paths.iter().map(|path| Value::from(path.text())).collect();
        object.insert("paths", paths);
        object.insert("kind", self.kind.name());
        if let Some(version) = self.version {
            object.insert("version", version);
        }
        if self.system_key {
            object.insert("systemKey", true);
        }
        Value::Object(object)
    }

    /// The key value of a document.
    pub fn extract(&self, root: Node<'_>) -> PartitionKeyValue {
        PartitionKeyValue(self.paths.iter().map(|path| Component::from_node(path.find(root))).collect())
    }
}

fn kind_of(value: Option<&Value>, paths: usize) -> Result<PartitionKeyKind, DefinitionError> {
    match value {
        // Several paths can only mean a hierarchical key.
        None | Some(Value::Null) if paths > 1 => Ok(PartitionKeyKind::MultiHash),
        None | Some(Value::Null) => Ok(PartitionKeyKind::Hash),
        Some(Value::String(kind)) if kind.eq_ignore_ascii_case("Hash") => Ok(PartitionKeyKind::Hash),
        Some(Value::String(kind)) if kind.eq_ignore_ascii_case("MultiHash") => Ok(PartitionKeyKind::MultiHash),
        Some(Value::String(kind)) if kind.eq_ignore_ascii_case("Range") => Ok(PartitionKeyKind::Range),
        Some(other) => Err(DefinitionError::UnknownKind(crate::json::to_string(other))),
    }
}

fn version_of(value: Option<&Value>) -> Result<Option<u8>, DefinitionError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(other) => match other.as_i64() {
            Some(1) => Ok(Some(1)),
            Some(2) => Ok(Some(2)),
            _ => Err(DefinitionError::UnknownVersion(crate::json::to_string(other))),
        },
    }
}

fn parse_paths(texts: &[&str]) -> Result<Vec<PropertyPath>, DefinitionError> {
    let mut paths: Vec<PropertyPath> = Vec::with_capacity(texts.len());
    for text in texts {
        let path = PropertyPath::parse(text)
            .filter(|path| path.steps.iter().all(|step| step != "*" && step != "[]" && step != "?"));
        let path = path.ok_or_else(|| DefinitionError::BadPath((*text).to_owned()))?;
        if paths.iter().any(|earlier| earlier.steps == path.steps) {
            return Err(DefinitionError::RepeatedPath((*text).to_owned()));
        }
        paths.push(path);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::json;

    fn define(text: &str) -> Result<PartitionKeyDefinition, DefinitionError> {
        PartitionKeyDefinition::from_json(&json::parse(text.as_bytes()).unwrap())
    }

    fn key_of(definition: &str, document: &str) -> String {
        let document = Document::encode(document.as_bytes()).unwrap();
        json::to_string(&define(definition).unwrap().extract(document.root()).to_json())
    }

    /// R2, R4: one path, nested, quoted, hierarchical; every kind of value.
    #[test]
    fn keys_are_read_from_documents() {
        assert_eq!(key_of(r#"{"paths":["/pk"]}"#, r#"{"pk":"x"}"#), r#"["x"]"#);
        assert_eq!(key_of(r#"{"paths":["/a/b"]}"#, r#"{"a":{"b":1.0}}"#), "[1]");
        assert_eq!(key_of(r#"{"paths":["/\"a-b/c\"/d"]}"#, r#"{"a-b/c":{"d":true}}"#), "[true]");
        assert_eq!(key_of(r#"{"paths":["/'x'/y"]}"#, r#"{"x":{"y":null}}"#), "[null]");
        assert_eq!(key_of(r#"{"paths":["/pk"]}"#, r#"{"pk":{"x":1}}"#), "[{}]");
        assert_eq!(key_of(r#"{"paths":["/pk"]}"#, "{}"), "[{}]");
        assert_eq!(
            key_of(r#"{"paths":["/a","/b"],"kind":"MultiHash","version":2}"#, r#"{"a":"t","b":2.5}"#),
            r#"["t",2.5]"#
        );
    }

    #[test]
    fn definitions_are_checked() {
        assert_eq!(define("{}"), Err(DefinitionError::NoPaths));
        assert_eq!(define("[]"), Err(DefinitionError::NotAnObject));
        assert!(matches!(
            define(r#"{"paths":["/a","/b"],"kind":"Hash"}"#),
            Err(DefinitionError::TooManyPaths { found: 2, .. })
        ));
        assert!(matches!(
            define(r#"{"paths":["/a","/b","/c","/d"],"kind":"MultiHash"}"#),
            Err(DefinitionError::TooManyPaths { .. })
        ));
        assert!(matches!(define(r#"{"paths":["/a","/a"],"kind":"MultiHash"}"#), Err(DefinitionError::RepeatedPath(_))));
        assert_eq!(
            define(r#"{"paths":["/a"],"kind":"MultiHash","version":1}"#),
            Err(DefinitionError::MultiHashVersion)
        );
        for bad in ["", "a", "/", "//a", "/a/", "/\"a", "/a/*", "/a/[]"] {
            let text = format!(r#"{{"paths":[{}]}}"#, json::to_string(&Value::from(bad)));
            assert!(matches!(define(&text), Err(DefinitionError::BadPath(_))), "{bad}");
        }
        assert!(matches!(define(r#"{"paths":["/a"],"version":3}"#), Err(DefinitionError::UnknownVersion(_))));
    }

    /// A container made without a version is version 1 and is told so by silence.
    #[test]
    fn version_is_echoed_as_given() {
        let silent = define(r#"{"paths":["/a"]}"#).unwrap();
        assert_eq!(
            (silent.version_number(), json::to_string(&silent.to_json())),
            (1, r#"{"paths":["/a"],"kind":"Hash"}"#.to_owned())
        );
        let two = define(r#"{"paths":["/a"],"kind":"Hash","version":2}"#).unwrap();
        assert_eq!(json::to_string(&two.to_json()), r#"{"paths":["/a"],"kind":"Hash","version":2}"#);
    }
}
