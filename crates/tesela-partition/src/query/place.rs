//! A place in the order of an [`OrderIndex`], where a page ended.

use super::order_index::OrderIndex;
use crate::layout::DocumentRecord;
use std::cmp::Ordering;

/// Bytes of a code and of a sort key that a continuation token carries. Ours: two such places, as after a split, must
/// fit the token's limit. A place that was cut is completed from its document.
const CODE_BYTES_MAX: usize = 160;
const KEY_BYTES_MAX: usize = 96;

/// Documents up to this one have been consumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Of its row, or of its run when forms are shared.
    pub code: Vec<u8>,
    /// Inside a run: its values as the query sorts them.
    pub key: Vec<u8>,
    pub ordinal: u64,
}

impl Place {
    /// Where a document stands whose row has this code.
    pub fn of(order: &OrderIndex, mut code: Vec<u8>, ordinal: u64, record: &DocumentRecord) -> Self {
        let mut key = Vec::new();
        if let Some(run) = order.run(&code) {
            code.truncate(run);
            key = order.sort_key(record.document.root());
        }
        Self { code, key, ordinal }
    }

    pub fn compare(&self, other: &Self, order: &OrderIndex) -> Ordering {
        let ties = || {
            let order_of = self.ordinal.cmp(&other.ordinal);
            if order.ties_descend() { order_of.reverse() } else { order_of }
        };
        order.compare_codes(&self.code, &other.code).then_with(|| self.key.cmp(&other.key)).then_with(ties)
    }

    /// The part of it that fits a token.
    pub fn cut(mut self) -> Self {
        self.code.truncate(CODE_BYTES_MAX);
        self.key.truncate(KEY_BYTES_MAX);
        self
    }

    /// Whether something may be missing.
    pub fn is_cut(&self) -> bool {
        self.code.len() >= CODE_BYTES_MAX || self.key.len() >= KEY_BYTES_MAX
    }

    /// Whether `whole` is the place this one was cut from.
    pub fn is_cut_from(&self, whole: &Self) -> bool {
        whole.code.starts_with(&self.code) && whole.key.starts_with(&self.key) && whole.ordinal == self.ordinal
    }
}
