//! The index rows of a document.

use super::{PathCode, value_code};
use crate::layout::Key;
use crate::txn::Txn;
use bytes::Bytes;
use tesela_model::container::{CompositeIndex, IndexingPolicy, PathMatcher, Place, SortOrder};
use tesela_model::document::{Kind, Node};
use tesela_model::rid::DocumentOrdinal;
use tesela_store::Snapshot;

/// A missing value in a composite index: below null.
const UNDEFINED: u8 = 0x0F;

/// System properties that no filter needs an index for: they name the item itself.
const NEVER_INDEXED: [&str; 4] = ["_rid", "_self", "_etag", "_attachments"];

/// What a policy puts into the index.
#[derive(Clone, Debug)]
pub struct IndexSchema {
    matcher: PathMatcher,
    composites: Vec<CompositeIndex>,
}

impl IndexSchema {
    pub fn new(policy: &IndexingPolicy) -> Self {
        Self { matcher: policy.matcher(), composites: policy.composite_indexes.clone() }
    }

    pub fn composites(&self) -> &[CompositeIndex] {
        &self.composites
    }

    pub fn matcher(&self) -> &PathMatcher {
        &self.matcher
    }

    /// The rows of a document.
    pub fn entries(&self, root: Node<'_>) -> IndexEntries {
        let mut terms = Vec::with_capacity(24);
        let mut path = PathCode::root();
        for (name, child) in root.members().filter(|(name, _)| !NEVER_INDEXED.contains(&&**name)) {
            path.push_property(&name);
            self.walk(child, self.matcher.property(self.matcher.root(), &name), &mut path, &mut terms);
            path.truncate(0);
        }
        terms.sort_unstable();
        terms.dedup();
        let composites = self.composites.iter().enumerate();
        let composites = composites.map(|(number, index)| (number as u32, composite_values(index, root)));
        IndexEntries { terms, composites: composites.collect() }
    }

    fn walk(&self, node: Node<'_>, place: Place, path: &mut PathCode, terms: &mut Vec<Vec<u8>>) {
        if self.matcher.indexes(place) {
            let mut term = path.terms_prefix();
            value_code::write(node, &mut term);
            terms.push(term);
        }
        if !self.matcher.reaches(place) {
            return;
        }
        let length = path.len();
        match node.kind() {
            Kind::Object => {
                for (name, child) in node.members() {
                    path.push_property(&name);
                    self.walk(child, self.matcher.property(place, &name), path, terms);
                    path.truncate(length);
                }
            }
            Kind::Array => {
                let element = self.matcher.elements(place);
                for child in node.elements() {
                    path.push_element();
                    self.walk(child, element, path, terms);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

fn composite_values(index: &CompositeIndex, root: Node<'_>) -> Vec<u8> {
    let mut values = Vec::new();
    for part in &index.paths {
        let start = values.len();
        match part.path.find(root) {
            Some(node) => value_code::write(node, &mut values),
            None => values.push(UNDEFINED),
        }
        if part.order == SortOrder::Descending {
            // No value form is the beginning of another, so inverting every byte inverts the order.
            values[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
    values
}

/// The rows of one document, without its ordinal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexEntries {
    /// Sorted, each once.
    terms: Vec<Vec<u8>>,
    composites: Vec<(u32, Vec<u8>)>,
}

impl IndexEntries {
    pub fn len(&self) -> usize {
        self.terms.len() + self.composites.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys of the rows.
    pub fn keys(&self, ordinal: DocumentOrdinal) -> impl Iterator<Item = Bytes> {
        let terms = self.terms.iter().map(move |term| Key::term(term, ordinal));
        terms.chain(self.composites.iter().map(move |(index, values)| Key::composite(*index, values, ordinal)))
    }

    pub(crate) fn put<S: Snapshot>(&self, txn: &mut Txn<'_, S>, ordinal: DocumentOrdinal) {
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
        removed.delete(txn, ordinal);
        added.put(txn, ordinal);
        (removed.len(), added.len())
    }

    fn minus(&self, other: &Self) -> Self {
        let terms = self.terms.iter().filter(|term| other.terms.binary_search(term).is_err()).cloned();
        let composites = self.composites.iter().filter(|entry| !other.composites.contains(entry)).cloned();
        Self { terms: terms.collect(), composites: composites.collect() }
    }
}
