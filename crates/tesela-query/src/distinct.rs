//! Keeping rows apart: DISTINCT lets each value through once.

use crate::value::{Val, key};
use std::collections::HashSet;

/// The rows seen so far, by their keys.
#[derive(Clone, Debug, Default)]
pub struct DistinctRows {
    keys: HashSet<Vec<u8>>,
    bytes: usize,
}

impl DistinctRows {
    /// Whether the row is new.
    pub fn insert(&mut self, row: &Val<'_>) -> bool {
        let mut bytes = Vec::new();
        key::append(row, &mut bytes);
        self.insert_key(bytes)
    }

    /// Whether the key is new.
    pub fn insert_key(&mut self, key: Vec<u8>) -> bool {
        let length = key.len();
        let new = self.keys.insert(key);
        if new {
            self.bytes += length + std::mem::size_of::<Vec<u8>>();
        }
        new
    }

    /// Bytes held, for the limit of the execution.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
