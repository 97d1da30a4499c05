//! Names of resources and ids of items: what they may be.
//!
//! The sentence about uniqueness and length is the one test suites of official SDKs look for.

use crate::limits::{ITEM_ID_BYTES_MAX, RESOURCE_NAME_CHARS_MAX};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error(
        "The input name '{id}' is invalid: {reason}. Ensure to provide a unique non-empty string less than '{limit}' \
         characters."
    )]
    Refused { id: String, reason: &'static str, limit: usize },
}

/// What a name of a database, container, user, permission, script or key may not hold.
const RESOURCE_FORBIDDEN: [char; 7] = ['/', '\\', '?', '#', '\t', '\r', '\n'];
/// What an item id may not hold: it would not be one segment of a link. The service checks no more than that.
const ITEM_FORBIDDEN: [char; 2] = ['/', '\\'];

/// Of everything but items: 1 to 255 characters, none of `/ \ ? #`, tab, line end, and no blank at the end.
pub fn validate_resource_id(id: &str) -> Result<(), IdError> {
    let refused = |reason| Err(IdError::Refused { id: shown(id), reason, limit: RESOURCE_NAME_CHARS_MAX });
    if id.is_empty() {
        return refused("it is empty");
    }
    if id.chars().count() > RESOURCE_NAME_CHARS_MAX {
        return refused("it is too long");
    }
    if id.contains(RESOURCE_FORBIDDEN) {
        return refused("it holds one of / \\ ? #, a tab or a line end");
    }
    if id.ends_with(' ') {
        return refused("it ends with a space");
    }
    Ok(())
}

/// Of items: 1 to 1,023 bytes, no slash of either kind.
pub fn validate_item_id(id: &str) -> Result<(), IdError> {
    let refused = |reason| Err(IdError::Refused { id: shown(id), reason, limit: ITEM_ID_BYTES_MAX + 1 });
    if id.is_empty() {
        return refused("it is empty");
    }
    if id.len() > ITEM_ID_BYTES_MAX {
        return refused("it is too long");
    }
    if id.contains(ITEM_FORBIDDEN) {
        return refused("it holds / or \\");
    }
    Ok(())
}

/// A name that is too long is not repeated in full.
fn shown(id: &str) -> String {
    const CHARS_MAX: usize = 64;
    match id.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &id[..end]),
        None => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_names() {
        let longest = "é".repeat(RESOURCE_NAME_CHARS_MAX);
        for good in ["a", " leading", "!@$%^&*()-~`'_[]{}|;:,.<>", "हिन्दी भारत", &longest] {
            assert_eq!(validate_resource_id(good), Ok(()), "{good}");
        }
        let too_long = "a".repeat(RESOURCE_NAME_CHARS_MAX + 1);
        for bad in ["", "a/b", "a\\b", "a?b", "a#b", "a\tb", "a\rb", "a\n", "trailing ", &too_long] {
            let message = validate_resource_id(bad).unwrap_err().to_string();
            assert!(
                message.contains("Ensure to provide a unique non-empty string less than '255' characters."),
                "{message}"
            );
        }
    }

    #[test]
    fn item_ids() {
        let longest = "a".repeat(ITEM_ID_BYTES_MAX);
        for good in ["a", "a b ", "a?b#c", "tab\t", &longest] {
            assert_eq!(validate_item_id(good), Ok(()), "{good}");
        }
        // The limit counts bytes: 512 characters of two bytes are too many.
        let too_long = "é".repeat(512);
        for bad in ["", "a/b", "a\\b", &too_long] {
            let message = validate_item_id(bad).unwrap_err().to_string();
            assert!(
                message.contains("Ensure to provide a unique non-empty string less than '1024' characters."),
                "{message}"
            );
            assert!(message.len() < 512, "the message does not repeat a long id");
        }
    }
}
