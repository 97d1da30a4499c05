//! Which rows a document has, and which of them a query may rely on.
//!
//! [`Rules`] are one indexing policy, ready for use. While a replaced policy is being followed up the index is
//! *incomplete*: documents are written by it, but no query relies on its rows. See [`crate::reindex`].

use super::{Composite, IndexEntries, PathCode, value_code};
use tesela_model::container::{IndexingPolicy, PathMatcher, Place};
use tesela_model::document::{Kind, Node};
use tesela_query::access::PathStep;

/// System properties that no filter needs an index for: they name the item itself.
const NEVER_INDEXED: [&str; 4] = ["_rid", "_self", "_etag", "_attachments"];

/// What one policy puts into the index.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rules {
    matcher: PathMatcher,
    composites: Vec<Composite>,
}

impl Rules {
    pub(super) fn new(policy: &IndexingPolicy) -> Self {
        let composites = policy.composite_indexes.iter().cloned().map(Composite::new).collect();
        Self { matcher: policy.matcher(), composites }
    }

    /// Adds the rows of a document.
    pub(super) fn entries(&self, root: Node<'_>, into: &mut IndexEntries) {
        let mut path = PathCode::root();
        for (name, child) in root.members().filter(|(name, _)| !NEVER_INDEXED.contains(&&**name)) {
            path.push_property(&name);
            self.walk(child, self.matcher.property(self.matcher.root(), &name), &mut path, into);
            path.truncate(0);
        }
        for composite in &self.composites {
            into.push_composite(composite, root);
        }
    }

    fn walk(&self, node: Node<'_>, place: Place, path: &mut PathCode, into: &mut IndexEntries) {
        if self.matcher.indexes(place) {
            let mut term = path.terms_prefix();
            value_code::write(node, &mut term);
            into.push_term(term);
        }
        if !self.matcher.reaches(place) {
            return;
        }
        let length = path.len();
        match node.kind() {
            Kind::Object => {
                for (name, child) in node.members() {
                    path.push_property(&name);
                    self.walk(child, self.matcher.property(place, &name), path, into);
                    path.truncate(length);
                }
            }
            Kind::Array => {
                let element = self.matcher.elements(place);
                for child in node.elements() {
                    path.push_element();
                    self.walk(child, element, path, into);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn indexes(&self, path: &[PathStep]) -> bool {
        let step = |place: Place, step: &PathStep| match step {
            PathStep::Name(name) => self.matcher.property(place, name),
            PathStep::Index(_) | PathStep::Each => self.matcher.elements(place),
        };
        self.matcher.indexes(path.iter().fold(self.matcher.root(), step))
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct IndexSchema {
    target: Rules,
    /// The names of computed properties: no row holds them.
    computed: Vec<String>,
    /// Whether every document has its rows.
    complete: bool,
}

impl IndexSchema {
    pub fn new(policy: &IndexingPolicy, computed: impl IntoIterator<Item = String>) -> Self {
        Self { target: Rules::new(policy), computed: computed.into_iter().collect(), complete: true }
    }

    /// The same rules, with rows that cannot be relied on.
    pub fn incomplete(self) -> Self {
        Self { complete: false, ..self }
    }

    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The rows of a document as it is written now.
    pub fn entries(&self, root: Node<'_>) -> IndexEntries {
        let mut entries = IndexEntries::default();
        self.target.entries(root, &mut entries);
        entries.settle();
        entries
    }

    /// Whether the policy wants this path indexed.
    pub fn includes(&self, path: &[PathStep]) -> bool {
        self.target.indexes(path)
    }

    /// Whether every document with a value under this path has a row for it.
    pub fn serves(&self, path: &[PathStep]) -> bool {
        let stored = match path.first() {
            Some(PathStep::Name(name)) => !NEVER_INDEXED.contains(&name.as_str()) && !self.computed.contains(name),
            _ => false,
        };
        self.complete && stored && self.target.indexes(path)
    }

    /// Whether the path leads to a computed property.
    pub fn computes(&self, path: &[PathStep]) -> bool {
        matches!(path.first(), Some(PathStep::Name(name)) if self.computed.contains(name))
    }

    /// The composite indexes the policy wants.
    pub fn wanted_composites(&self) -> impl Iterator<Item = &Composite> {
        self.target.composites.iter()
    }

    /// The composite indexes that have a row for every document.
    pub fn composites(&self) -> impl Iterator<Item = &Composite> {
        self.target.composites.iter().filter(|_| self.complete)
    }
}
