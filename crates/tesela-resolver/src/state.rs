//! Resolver state as JSON (R35): one document that every process reads the same way.
//!
//! ```json
//! { "schema": "tesela.resolver/1", "revision": 7, "resolver": { "kind": "hash", … } }
//! ```
//!
//! `schema` names the format, whose JSON Schema is `schema/resolver-state-1.json` beside the sources;
//! `revision` counts the changes of the map; `resolver` is the map. A reader refuses what it does not know —
//! another schema, an unknown property, a hash or function nobody registered — because guessing would place
//! documents where no one else looks.
//!
//! State holds names, never code: custom hashes, key functions and custom resolvers are found again in a [`Registry`].
//!
//! Invariant: `decode(encode(r))` answers every question as `r` does, and encodes to the same JSON.
//!
//! [`StateStore`] is where the document lives, with optimistic concurrency; [`FileStore`] keeps it in a file.
//! [`SharedResolver`] follows a store and tells listeners of changes.

mod chains;
mod fields;
mod file;
mod hashes;
mod keys;
mod maps;
mod shared;
mod store;
mod templates;

use std::collections::BTreeMap;

use tesela_model::json::{Object, Value};

use crate::error::ConfigError;
use crate::extract::NamedFunction;
use crate::hash::HashGenerators;
use crate::limits::{RESOLVER_DEPTH_MAX, STATE_BYTES_MAX};
use crate::resolver::{CustomResolver, Resolver};

use fields::Fields;

pub use file::FileStore;
pub use shared::{MapSnapshot, SharedError, SharedResolver};
pub use store::{StateStore, StoreError, StoredState};

/// The format this library writes, and the only one it reads.
pub const SCHEMA: &str = "tesela.resolver/1";

/// The JSON Schema of the format.
pub const SCHEMA_TEXT: &str = include_str!("../schema/resolver-state-1.json");

/// State that cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StateError {
    #[error("state is no JSON: {reason} at byte {offset}")]
    Syntax { offset: usize, reason: String },
    #[error("state has {found} bytes, at most {STATE_BYTES_MAX} are read")]
    TooLarge { found: usize },
    #[error("state has schema {found}, this release reads {SCHEMA}")]
    Schema { found: String },
    #[error("state has no {at}")]
    Missing { at: String },
    #[error("state has {found} at {at}, which should be {expected}")]
    Unexpected { at: String, expected: &'static str, found: String },
    #[error("state has {at}, which this release does not know")]
    Unknown { at: String },
    #[error("state names the {what} {name:?} at {at}, which is not registered here")]
    Unregistered { at: String, what: &'static str, name: String },
    #[error("state nests resolvers or keys deeper than {RESOLVER_DEPTH_MAX} at {at}")]
    TooDeep { at: String },
    #[error("state cannot be a map at {at}: {source}")]
    Config { at: String, source: ConfigError },
}

/// A map and the number of its version.
#[derive(Clone, Debug)]
pub struct ResolverState {
    /// Counts the changes of the map, from 1.
    pub revision: u64,
    /// The map.
    pub resolver: Resolver,
}

impl ResolverState {
    /// The JSON document.
    pub fn encode(&self) -> Value {
        let mut state = Object::with_capacity(3);
        state.insert("schema", SCHEMA);
        state.insert("revision", self.revision);
        state.insert("resolver", chains::encode(&self.resolver));
        state.into()
    }
}

/// What the names in a state mean in this process.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    hashes: HashGenerators,
    functions: BTreeMap<String, NamedFunction>,
    resolvers: BTreeMap<String, CustomResolver>,
}

impl Registry {
    /// Knows the standard hash generators.
    pub fn standard() -> Self {
        Self::default()
    }

    /// The hash generators, to add to.
    pub fn hashes_mut(&mut self) -> &mut HashGenerators {
        &mut self.hashes
    }

    /// Adds a key function, or replaces the one of the same name.
    pub fn register_function(&mut self, function: NamedFunction) {
        self.functions.insert(function.name().to_owned(), function);
    }

    /// Adds a custom resolver, or replaces the one of the same name.
    pub fn register_resolver(&mut self, resolver: CustomResolver) {
        self.resolvers.insert(resolver.name().to_owned(), resolver);
    }

    /// Reads a state from text.
    pub fn decode_text(&self, text: &[u8]) -> Result<ResolverState, StateError> {
        if text.len() > STATE_BYTES_MAX {
            return Err(StateError::TooLarge { found: text.len() });
        }
        let value = tesela_model::json::parse(text)
            .map_err(|error| StateError::Syntax { offset: error.offset, reason: error.reason.to_string() })?;
        self.decode(&value)
    }

    /// Reads a state.
    pub fn decode(&self, state: &Value) -> Result<ResolverState, StateError> {
        let mut fields = Fields::of(state, "state".to_owned())?;
        let schema = fields.text("schema")?;
        if schema != SCHEMA {
            return Err(StateError::Schema { found: schema.to_owned() });
        }
        let revision = fields.number("revision", u64::MAX)?;
        let (resolver, at) = fields.value("resolver")?;
        let resolver = chains::decode(self, resolver, at, 0)?;
        fields.finish()?;
        Ok(ResolverState { revision, resolver })
    }
}

/// Guards the recursion of every decoder.
fn check_depth(depth: usize, at: &str) -> Result<(), StateError> {
    if depth > RESOLVER_DEPTH_MAX { Err(StateError::TooDeep { at: at.to_owned() }) } else { Ok(()) }
}

/// Names the place of a map that could not be made.
fn config(at: &str) -> impl FnOnce(ConfigError) -> StateError {
    let at = at.to_owned();
    move |source| StateError::Config { at, source }
}

#[cfg(test)]
mod tests;
