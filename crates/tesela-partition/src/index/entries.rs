//! The index rows of a document.

use super::{Absentees, Composite, PathCode};
use crate::layout::Key;
use crate::txn::Txn;
use bytes::Bytes;
use tesela_model::document::Node;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::Snapshot;

/// The rows of one document, without its ordinal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexEntries {
    /// Sorted, each once.
    terms: Vec<Vec<u8>>,
    composites: Vec<CompositeEntry>,
}

/// A row of a composite index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CompositeEntry {
    index: u64,
    values: Vec<u8>,
    /// Whether the key ends in the inverted ordinal.
    inverts_ordinal: bool,
}

impl IndexEntries {
    /// A document its client keeps out of the index. It has one row, which says so: a query that relies on the index
    /// must look at it none the less.
    pub fn kept_out() -> Self {
        Self { terms: vec![Self::kept_out_term()], composites: Vec::new() }
    }

    /// The term of documents without others: a value of the document itself, which nothing else has.
    pub fn kept_out_term() -> Vec<u8> {
        PathCode::root().terms_prefix()
    }

    pub(super) fn push_term(&mut self, term: Vec<u8>) {
        self.terms.push(term);
    }

    pub(super) fn push_composite(&mut self, composite: &Composite, root: Node<'_>) {
        let (index, values) = (composite.id(), composite.values(root));
        self.composites.push(CompositeEntry { index, values, inverts_ordinal: composite.inverts_ordinals() });
    }

    /// Ends the pushing.
    pub(super) fn settle(&mut self) {
        self.terms.sort_unstable();
        self.terms.dedup();
        self.composites.sort_unstable();
        self.composites.dedup();
    }

    /// Rows of values; the row of a document that is kept out has none.
    pub fn len(&self) -> usize {
        let kept_out = usize::from(self.has_terms(&Self::kept_out_term()));
        self.terms.len() + self.composites.len() - kept_out
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some term begins so: whether the document has a value under a path.
    pub fn has_terms(&self, prefix: &[u8]) -> bool {
        let at = self.terms.partition_point(|term| term.as_slice() < prefix);
        self.terms.get(at).is_some_and(|term| term.starts_with(prefix))
    }

    /// The keys of the rows.
    pub fn keys(&self, ordinal: DocumentOrdinal) -> impl Iterator<Item = Bytes> {
        let terms = self.terms.iter().map(move |term| Key::term(term, ordinal));
        let composite = move |entry: &CompositeEntry| {
            let tie = if entry.inverts_ordinal { !ordinal.0 } else { ordinal.0 };
            Key::composite(entry.index, &entry.values, tie)
        };
        terms.chain(self.composites.iter().map(composite))
    }

    pub(crate) fn put<S: Snapshot>(&self, txn: &mut Txn<'_, S>, ordinal: DocumentOrdinal) {
        Absentees::note(txn.scope.absentees, ordinal, self);
        self.keys(ordinal).for_each(|key| txn.put(key, Bytes::new()));
    }

    pub(crate) fn delete<S: Snapshot>(&self, txn: &mut Txn<'_, S>, ordinal: DocumentOrdinal) {
        self.keys(ordinal).for_each(|key| txn.delete(key));
    }

    /// Turns these rows into those of `after`; tells how many went and came.
    pub(crate) fn exchange<S: Snapshot>(
        &self,
        after: &Self,
        txn: &mut Txn<'_, S>,
        ordinal: DocumentOrdinal,
    ) -> (usize, usize) {
        let removed = self.minus(after);
        let added = after.minus(self);
        Absentees::note(txn.scope.absentees, ordinal, after);
        removed.delete(txn, ordinal);
        added.keys(ordinal).for_each(|key| txn.put(key, Bytes::new()));
        (removed.len(), added.len())
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        let terms = self.terms.iter().filter(|term| other.terms.binary_search(term).is_err()).cloned();
        let composites = self.composites.iter().filter(|entry| !other.composites.contains(entry)).cloned();
        Self { terms: terms.collect(), composites: composites.collect() }
    }
}
