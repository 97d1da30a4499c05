//! An item on its way in: the body a client sent, checked once, so that nobody below checks again.
//!
//! Invariants of an [`Item`]: the body is a JSON object without repeated names; `id` is a lawful string; the partition
//! key value fits its limit; `ttl`, where there is one, is lawful. System properties are still as the client sent them:
//! the write replaces them.

use tesela_model::document::{Document, Kind};
use tesela_model::epk::{Epk, effective_partition_key};
use tesela_model::json::ParseError;
use tesela_model::limits::{DOCUMENT_BYTES_MAX, ITEM_ID_BYTES_MAX, PARTITION_KEY_BYTES_MAX, TTL_SECONDS_MAX};
use tesela_model::partition_key::{PartitionKeyDefinition, PartitionKeyValue};

/// Why a body is no item.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ItemError {
    #[error("the body is not valid JSON: {0}")]
    Syntax(#[from] ParseError),
    #[error("the body of an item must be a JSON object")]
    NotAnObject,
    #[error("the required property 'id' is missing")]
    MissingId,
    #[error("the property 'id' must be a string")]
    IdNotAString,
    #[error("the property 'id' is empty. Ensure to provide a unique non-empty string less than '1024' characters.")]
    EmptyId,
    #[error(
        "the property 'id' is {bytes} bytes long. Ensure to provide a unique non-empty string less than '1024' characters."
    )]
    IdTooLong { bytes: usize },
    #[error(
        "the property 'id' holds the character {character:?} or ends with a blank. Ensure to provide a unique non-empty string less than '1024' characters."
    )]
    IdCharacter { character: char },
    #[error("the item is {bytes} bytes large, more than {DOCUMENT_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("the partition key value is {bytes} bytes long, more than {PARTITION_KEY_BYTES_MAX}")]
    KeyTooLong { bytes: usize },
    #[error("the property 'ttl' must be -1 or a whole number of seconds from 1 to {TTL_SECONDS_MAX}")]
    Ttl,
}

/// A logical partition: the key value and the point it hashes to.
#[derive(Clone, Debug, PartialEq)]
pub struct LogicalKey {
    pub value: PartitionKeyValue,
    pub epk: Epk,
}

impl LogicalKey {
    pub fn new(value: PartitionKeyValue, definition: &PartitionKeyDefinition) -> Result<Self, ItemError> {
        if value.bytes() > PARTITION_KEY_BYTES_MAX {
            return Err(ItemError::KeyTooLong { bytes: value.bytes() });
        }
        let epk = effective_partition_key(&value, definition);
        Ok(Self { value, epk })
    }
}

/// A checked body.
#[derive(Clone, Debug)]
pub struct Item {
    pub id: String,
    pub document: Document,
}

impl Item {
    pub fn parse(body: &[u8]) -> Result<Self, ItemError> {
        Self::from_document(Document::encode(body)?)
    }

    pub fn from_document(document: Document) -> Result<Self, ItemError> {
        let root = document.root();
        if root.kind() != Kind::Object {
            return Err(ItemError::NotAnObject);
        }
        let id = root.get("id").ok_or(ItemError::MissingId)?.as_str().ok_or(ItemError::IdNotAString)?.into_owned();
        check_id(&id)?;
        check_ttl(&document)?;
        let bytes = document.text().len();
        if bytes > DOCUMENT_BYTES_MAX {
            return Err(ItemError::TooLarge { bytes });
        }
        Ok(Self { id, document })
    }

    /// The key value in the body, by the container's definition.
    pub fn key(&self, definition: &PartitionKeyDefinition) -> Result<LogicalKey, ItemError> {
        LogicalKey::new(definition.extract(self.document.root()), definition)
    }
}

/// The rules of an item id.
pub fn check_id(id: &str) -> Result<(), ItemError> {
    if id.is_empty() {
        return Err(ItemError::EmptyId);
    }
    if id.len() > ITEM_ID_BYTES_MAX {
        return Err(ItemError::IdTooLong { bytes: id.len() });
    }
    let forbidden = id.chars().find(|c| matches!(c, '/' | '\\' | '?' | '#' | '\t' | '\r' | '\n'));
    match forbidden.or(id.chars().last().filter(|c| *c == ' ')) {
        Some(character) => Err(ItemError::IdCharacter { character }),
        None => Ok(()),
    }
}

fn check_ttl(document: &Document) -> Result<(), ItemError> {
    let Some(ttl) = document.root().get("ttl") else { return Ok(()) };
    match ttl.as_number().and_then(|number| number.as_i64()) {
        Some(-1) | Some(1..=TTL_SECONDS_MAX) => Ok(()),
        _ => Err(ItemError::Ttl),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> ItemError {
        Item::parse(body.as_bytes()).unwrap_err()
    }

    #[test]
    fn bodies_are_checked() {
        assert!(Item::parse(br#"{"id":"a"}"#).is_ok());
        assert!(Item::parse(r#"{"id":" é 😀","ttl":-1}"#.as_bytes()).is_ok());
        assert!(matches!(refusal("{"), ItemError::Syntax(_)));
        assert_eq!(refusal("[]"), ItemError::NotAnObject);
        assert_eq!(refusal("{}"), ItemError::MissingId);
        assert_eq!(refusal(r#"{"id":1}"#), ItemError::IdNotAString);
        assert_eq!(refusal(r#"{"id":""}"#), ItemError::EmptyId);
        for id in ["a/b", "a\\b", "a?", "#", "a ", "a\tb"] {
            assert!(matches!(check_id(id), Err(ItemError::IdCharacter { .. })), "{id}");
        }
        assert!(check_id(&"é".repeat(511)).is_ok());
        assert_eq!(check_id(&"é".repeat(512)), Err(ItemError::IdTooLong { bytes: 1024 }));
    }

    #[test]
    fn time_to_live_is_checked() {
        for bad in ["0", "null", "-10", "\"5\"", "1.5", "2147483648"] {
            assert_eq!(refusal(&format!(r#"{{"id":"a","ttl":{bad}}}"#)), ItemError::Ttl, "{bad}");
        }
    }

    #[test]
    fn large_items_and_keys_are_refused() {
        let body = format!(r#"{{"id":"a","x":"{}"}}"#, "y".repeat(DOCUMENT_BYTES_MAX));
        assert!(matches!(refusal(&body), ItemError::TooLarge { .. }));
        let keyed =
            |bytes: usize| Item::parse(format!(r#"{{"id":"a","pk":"{}"}}"#, "k".repeat(bytes)).as_bytes()).unwrap();
        for version in [None, Some(1), Some(2)] {
            let definition = PartitionKeyDefinition::hash("/pk", version);
            assert!(keyed(2048).key(&definition).is_ok(), "version {version:?}");
            assert_eq!(keyed(2049).key(&definition), Err(ItemError::KeyTooLong { bytes: 2049 }), "version {version:?}");
        }
    }
}
