//! Which values of an item are indexed: the policy's paths as a tree, walked along with the document.
//!
//! # Rules
//!
//! 1. The path that shares most steps with a value decides; at the same place `/?` outranks `/*`.
//! 2. `/a/*` speaks of the value at `a` and of all below it, `/a/?` of the value at `a` alone.
//! 3. `id` and `_ts` are always indexed, unless the mode is none; then nothing is.
//!
//! # Walking
//!
//! A [`Place`] is a copyable cursor: the node of the tree reached so far and what the last `/*` on the way said. Each
//! step down is one search among the children of one node, and allocates nothing.
//!
//! ```text
//! included /*, excluded /a/*, included /a/b/?          {"a":{"b":1,"c":2},"d":3}
//!
//! root(* yes) -- a(* no) -- b(? yes)                   a.b indexed, a.c not, d indexed
//! ```
//!
//! [`PathMatcher::reaches`] tells whether anything at or below a place can be indexed, so that a walk skips whole
//! subtrees that cannot.

use super::{IndexPath, IndexStep, PathEnd};

/// Compiled once per policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMatcher {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    /// Sorted by name.
    properties: Vec<(Box<str>, u32)>,
    elements: Option<u32>,
    /// What `/?` says here.
    scalar: Option<bool>,
    /// What `/*` says here.
    subtree: Option<bool>,
    /// Some path at or below here includes.
    includes: bool,
}

/// Where a walk is. Only meaningful to the matcher it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// `None` below the last node of the tree.
    node: Option<u32>,
    /// What the nearest `/*` above or at this place says.
    subtree: bool,
}

const ROOT: usize = 0;
/// Always indexed, by the service's promise that items can be found by id and by age.
const ALWAYS_INDEXED: [&str; 2] = ["id", "_ts"];

impl PathMatcher {
    /// Nothing is indexed.
    pub fn nothing() -> Self {
        Self { nodes: vec![Node { subtree: Some(false), ..Node::default() }] }
    }

    pub(super) fn compile<'a>(
        included: impl IntoIterator<Item = &'a IndexPath>,
        excluded: impl IntoIterator<Item = &'a IndexPath>,
    ) -> Self {
        let mut matcher = Self::nothing();
        for path in excluded {
            matcher.decide(path.steps(), path.end(), false);
        }
        for path in included {
            matcher.decide(path.steps(), path.end(), true);
        }
        for name in ALWAYS_INDEXED {
            matcher.decide(&[IndexStep::Property(name.to_owned())], PathEnd::Scalar, true);
        }
        matcher
    }

    fn decide(&mut self, steps: &[IndexStep], end: PathEnd, included: bool) {
        let mut at = ROOT;
        self.nodes[at].includes |= included;
        for step in steps {
            at = self.child_or_new(at, step);
            self.nodes[at].includes |= included;
        }
        let node = &mut self.nodes[at];
        match end {
            PathEnd::Scalar => node.scalar = Some(included),
            PathEnd::Subtree => node.subtree = Some(included),
        }
    }

    fn child_or_new(&mut self, at: usize, step: &IndexStep) -> usize {
        let new = u32::try_from(self.nodes.len()).expect("a policy has a bounded number of paths of bounded length");
        let node = &mut self.nodes[at];
        let child = match step {
            IndexStep::Elements => *node.elements.get_or_insert(new),
            IndexStep::Property(name) => match node.find(name) {
                Ok(index) => node.properties[index].1,
                Err(index) => {
                    node.properties.insert(index, (name.as_str().into(), new));
                    new
                }
            },
        };
        if child == new {
            self.nodes.push(Node::default());
        }
        child as usize
    }

    /// The item itself.
    pub fn root(&self) -> Place {
        self.enter(Some(ROOT as u32), false)
    }

    /// Down to the property `name` of an object at `place`.
    pub fn property(&self, place: Place, name: &str) -> Place {
        let child = self.node(place).and_then(|node| node.find(name).ok().map(|index| node.properties[index].1));
        self.enter(child, place.subtree)
    }

    /// Down to any element of an array at `place`.
    pub fn elements(&self, place: Place) -> Place {
        self.enter(self.node(place).and_then(|node| node.elements), place.subtree)
    }

    /// Whether a scalar at `place` is indexed.
    pub fn indexes(&self, place: Place) -> bool {
        self.node(place).and_then(|node| node.scalar).unwrap_or(place.subtree)
    }

    /// Whether anything at `place` or below it can be indexed.
    pub fn reaches(&self, place: Place) -> bool {
        place.subtree || self.node(place).is_some_and(|node| node.includes)
    }

    /// Whether a scalar at these property names is indexed: the walk in one call.
    pub fn indexes_path<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> bool {
        self.indexes(names.into_iter().fold(self.root(), |place, name| self.property(place, name)))
    }

    fn node(&self, place: Place) -> Option<&Node> {
        place.node.map(|index| &self.nodes[index as usize])
    }

    fn enter(&self, node: Option<u32>, inherited: bool) -> Place {
        let own = node.and_then(|index| self.nodes[index as usize].subtree);
        Place { node, subtree: own.unwrap_or(inherited) }
    }
}

impl Node {
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.properties.binary_search_by(|(other, _)| other.as_ref().cmp(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matcher(included: &[&str], excluded: &[&str]) -> PathMatcher {
        let parse = |texts: &[&str]| texts.iter().map(|text| IndexPath::parse(text).unwrap()).collect::<Vec<_>>();
        PathMatcher::compile(&parse(included), &parse(excluded))
    }

    /// `[]` stands for an element.
    fn walk(matcher: &PathMatcher, steps: &[&str]) -> Place {
        steps.iter().fold(matcher.root(), |place, step| match *step {
            "[]" => matcher.elements(place),
            name => matcher.property(place, name),
        })
    }

    #[test]
    fn the_most_precise_path_decides() {
        let matcher =
            matcher(&["/*", "/a/b/?", "/list/[]/keep/*", "/c/?"], &["/a/*", "/list/*", "/c/*", "/d/?", "/\"_etag\"/?"]);
        for (steps, indexed) in [
            (&["x"][..], true),
            (&["x", "y", "[]"], true),
            (&["a"], false),
            (&["a", "b"], true),
            (&["a", "b", "below"], false),
            (&["a", "z"], false),
            (&["list", "[]"], false),
            (&["list", "[]", "keep"], true),
            (&["list", "[]", "keep", "all", "[]"], true),
            (&["list", "[]", "drop"], false),
            (&["list", "keep"], false),
            (&["c"], true),
            (&["c", "x"], false),
            (&["d"], false),
            (&["d", "x"], true),
            (&["_etag"], false),
            (&["id"], true),
        ] {
            assert_eq!(matcher.indexes(walk(&matcher, steps)), indexed, "{steps:?}");
        }
    }

    #[test]
    fn id_and_ts_are_always_found() {
        let matcher = matcher(&["/a/?"], &["/*"]);
        assert!(matcher.indexes_path(["id"]) && matcher.indexes_path(["_ts"]) && matcher.indexes_path(["a"]));
        assert!(
            !matcher.indexes_path(["b"]) && !matcher.indexes_path(["a", "id"]) && !matcher.indexes_path(["b", "id"])
        );
        let nothing = PathMatcher::nothing();
        assert!(!nothing.indexes_path(["id"]) && !nothing.reaches(nothing.root()));
    }

    #[test]
    fn whole_subtrees_are_skipped() {
        let matcher = matcher(&["/*", "/big/[]/x/?"], &["/big/*", "/gone/*"]);
        assert!(matcher.reaches(walk(&matcher, &["big"])));
        assert!(matcher.reaches(walk(&matcher, &["big", "[]"])));
        assert!(!matcher.reaches(walk(&matcher, &["big", "y"])));
        assert!(!matcher.reaches(walk(&matcher, &["gone"])));
        assert!(matcher.reaches(walk(&matcher, &["other", "deep"])));
    }

    /// The rule read literally: of all paths that speak of the value, the longest wins, `?` before `*`.
    fn oracle(paths: &[(IndexPath, bool)], steps: &[IndexStep]) -> bool {
        paths
            .iter()
            .filter(|(path, _)| match path.end() {
                PathEnd::Scalar => path.steps() == steps,
                PathEnd::Subtree => steps.starts_with(path.steps()),
            })
            .max_by_key(|(path, _)| (path.steps().len(), path.end() == PathEnd::Scalar))
            .is_some_and(|(_, included)| *included)
    }

    fn any_step() -> impl Strategy<Value = IndexStep> {
        prop_oneof![
            Just(IndexStep::Elements),
            prop::sample::select(vec!["a", "b"]).prop_map(|name| IndexStep::Property(name.to_owned())),
        ]
    }

    fn any_path() -> impl Strategy<Value = String> {
        (prop::collection::vec(any_step(), 0..4), any::<bool>()).prop_map(|(steps, scalar)| {
            let mut text = String::new();
            for step in &steps {
                text.push('/');
                text.push_str(match step {
                    IndexStep::Property(name) => name,
                    IndexStep::Elements => "[]",
                });
            }
            text + if scalar { "/?" } else { "/*" }
        })
    }

    proptest! {
        #[test]
        fn agrees_with_the_rule_read_literally(
            decisions in prop::collection::hash_map(any_path(), any::<bool>(), 0..8),
            steps in prop::collection::vec(any_step(), 0..6),
        ) {
            let paths: Vec<(IndexPath, bool)> =
                decisions.iter().map(|(text, included)| (IndexPath::parse(text).unwrap(), *included)).collect();
            let side = |wanted: bool| paths.iter().filter(move |(_, included)| *included == wanted).map(|(path, _)| path);
            let matcher = PathMatcher::compile(side(true), side(false));
            let place = steps.iter().fold(matcher.root(), |place, step| match step {
                IndexStep::Property(name) => matcher.property(place, name),
                IndexStep::Elements => matcher.elements(place),
            });
            let indexed = matcher.indexes(place);
            prop_assert_eq!(indexed, oracle(&paths, &steps));
            prop_assert!(!indexed || matcher.reaches(place));
        }
    }
}
