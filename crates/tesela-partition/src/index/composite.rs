//! A composite index as rows: the values of several paths one behind the other.
//!
//! Every document has a row, also one that lacks some of the paths (undefined sorts first). The bytes of descending
//! paths are inverted, so that a forward scan gives the order the index was defined with and a backward scan the
//! opposite one. Ties follow the direction of the first path, as those of ORDER BY do: when it is descending, the
//! ordinal at the end of the key is inverted too.
//!
//! ```text
//! (/a ascending, /b descending), {"a":1}, ordinal 7      13 <1.0>   F0 (undefined, inverted)   00..07
//! ```
//!
//! An index is known by a number made from its definition, not by its place in the policy: a policy that is replaced
//! may keep an index and move it.

use super::value_code;
use tesela_model::container::{CompositeIndex, SortOrder};
use tesela_model::document::Node;
use tesela_model::rid::DocumentOrdinal;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    id: u64,
    definition: CompositeIndex,
}

impl Composite {
    pub fn new(definition: CompositeIndex) -> Self {
        let mut id = Fnv::default();
        for part in &definition.paths {
            part.path.steps().iter().for_each(|step| id.write(step.as_bytes()));
            id.write(if descends(part.order) { b"/-" } else { b"/+" });
        }
        Self { id: id.0, definition }
    }

    pub fn id(&self) -> u64 {
        self.id
    }

    /// Paths by their property names, and whether each descends.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&[String], bool)> {
        self.definition.paths.iter().map(|part| (part.path.steps(), descends(part.order)))
    }

    /// Whether the ordinals of its keys are inverted.
    pub fn inverts_ordinals(&self) -> bool {
        self.definition.paths.first().is_some_and(|part| descends(part.order))
    }

    /// The number at the end of the key of a document's row.
    pub fn tie(&self, ordinal: DocumentOrdinal) -> u64 {
        if self.inverts_ordinals() { !ordinal.0 } else { ordinal.0 }
    }

    /// What stands between the number of the index and the tie.
    pub fn values(&self, root: Node<'_>) -> Vec<u8> {
        let mut values = Vec::new();
        for part in &self.definition.paths {
            let start = values.len();
            match part.path.find(root) {
                Some(node) => value_code::write(node, &mut values),
                None => values.push(value_code::UNDEFINED),
            }
            if descends(part.order) {
                // No value form is the beginning of another, so inverting every byte inverts the order.
                invert(&mut values[start..]);
            }
        }
        values
    }
}

/// Reverses the order of value forms.
pub fn invert(bytes: &mut [u8]) {
    bytes.iter_mut().for_each(|byte| *byte = !*byte);
}

fn descends(order: SortOrder) -> bool {
    order == SortOrder::Descending
}

/// FNV-1a. Part of the layout: what a container's indexes are called on disk must not change.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        // A separator no UTF-8 text holds, so that "ab" and "a", "b" differ.
        for byte in bytes.iter().chain(&[0xFF]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tesela_model::container::CompositePath;
    use tesela_model::document::Document;
    use tesela_model::partition_key::PropertyPath;

    fn composite(parts: &[(&str, SortOrder)]) -> Composite {
        let part = |(path, order): &(&str, SortOrder)| CompositePath {
            path: PropertyPath::parse(path).unwrap(),
            order: *order,
        };
        Composite::new(CompositeIndex { paths: parts.iter().map(part).collect() })
    }

    #[test]
    fn rows_lie_in_the_order_of_the_definition() {
        use SortOrder::{Ascending, Descending};
        let index = composite(&[("/a", Ascending), ("/b", Descending)]);
        let texts = [
            r#"{"b":"x"}"#,
            r#"{}"#,
            r#"{"a":null}"#,
            r#"{"a":1,"b":[]}"#,
            r#"{"a":1,"b":"ab"}"#,
            r#"{"a":1,"b":"a\u0000"}"#,
            r#"{"a":1,"b":"a"}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":1}"#,
            r#"{"a":"","b":1}"#,
        ];
        let rows: Vec<Vec<u8>> =
            texts.iter().map(|text| index.values(Document::encode(text.as_bytes()).unwrap().root())).collect();
        assert!(rows.is_sorted_by(|a, b| a < b), "{rows:02x?}");
    }

    #[test]
    fn an_index_is_known_by_its_definition() {
        use SortOrder::{Ascending, Descending};
        let all = [
            composite(&[("/a", Ascending), ("/b", Ascending)]),
            composite(&[("/a", Ascending), ("/b", Descending)]),
            composite(&[("/a/b", Ascending), ("/b", Ascending)]),
            composite(&[("/ab", Ascending), ("/b", Ascending)]),
            composite(&[("/b", Ascending), ("/a", Ascending)]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| other.id() != one.id()));
        }
        assert_eq!(all[0].id(), composite(&[("/\"a\"", Ascending), ("/b", Ascending)]).id());
        assert_eq!(all[0].id(), 0x18b3_1c53_fa12_746a, "on disk");
    }
}
