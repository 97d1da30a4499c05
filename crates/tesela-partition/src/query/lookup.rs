//! What of a filter the index answers: the filter with everything taken out that the index cannot say.
//!
//! A [`Lookup`] names a superset of the documents the filter admits, and exactly those when it is
//! [exact](Lookup::exact). Tests on one path are joined to one set of [`Values`], so that `c.n >= 3 AND c.n < 9` is one
//! range. A path through an array is an exception: "some element above 3 and some below 9" may be two elements.
//!
//! ```text
//! c.a = 1 AND (c.b > 2 OR c.b = null) AND c.x * 2 = 4          /a/? = 1 and /b/? (> 2 or = null)
//! c.a = 1 OR c.x * 2 = 4                                       everything
//! ```

use super::values::{Span, Values};
use crate::index::IndexSchema;
use std::fmt;
use std::ops::Bound;
use tesela_model::json::{self, Value};
use tesela_query::access::{DocumentPath, Filter, Kinds, PathStep, PathTest, Test};
use tesela_query::value::Kind;

/// Bytes of a description after which alternatives are no longer spelled out.
const TEXT_SHOWN: usize = 200;

/// Values of a path that is indexed.
#[derive(Clone, Debug, PartialEq)]
pub struct PathValues {
    pub path: DocumentPath,
    pub values: Values,
    /// The tests in words.
    text: String,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    pub node: LookupNode,
    /// Whether it names the documents of the filter and no others.
    pub exact: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LookupNode {
    Everything,
    Nothing,
    Values(PathValues),
    Both(Vec<LookupNode>),
    Either(Vec<LookupNode>),
}

impl Lookup {
    pub const EVERYTHING: Self = Self { node: LookupNode::Everything, exact: true };

    pub fn of(filter: &Filter, schema: &IndexSchema) -> Self {
        match filter {
            Filter::All => Self::EVERYTHING,
            Filter::None => Self { node: LookupNode::Nothing, exact: true },
            Filter::Test(test) => Self::of_test(test, schema),
            Filter::And(parts) => Self::both(parts.iter().map(|part| Self::of(part, schema))),
            Filter::Or(parts) => Self::either(parts.iter().map(|part| Self::of(part, schema))),
        }
    }

    fn of_test(PathTest { path, test, computed }: &PathTest, schema: &IndexSchema) -> Self {
        let unserved = Self { node: LookupNode::Everything, exact: false };
        if *computed || !schema.serves(path) {
            return unserved;
        }
        match Values::admitted_by(test) {
            Some(values) if !values.undefined => {
                let exact = values.exact && !path.iter().any(|step| matches!(step, PathStep::Index(_)));
                let text = test_text(test);
                Self { node: LookupNode::Values(PathValues { path: path.clone(), values, text }), exact }
            }
            _ => unserved,
        }
    }

    fn both(parts: impl Iterator<Item = Self>) -> Self {
        let mut exact = true;
        let mut kept: Vec<LookupNode> = Vec::new();
        for part in parts {
            exact &= part.exact;
            match part.node {
                LookupNode::Everything => {}
                LookupNode::Nothing => return Self { node: LookupNode::Nothing, exact: true },
                LookupNode::Both(inner) => inner.into_iter().for_each(|node| join_and(&mut kept, node)),
                node => join_and(&mut kept, node),
            }
        }
        let node = if kept.len() > 1 { LookupNode::Both(kept) } else { kept.pop().unwrap_or(LookupNode::Everything) };
        Self { node, exact }
    }

    fn either(parts: impl Iterator<Item = Self>) -> Self {
        let mut exact = true;
        let mut everything = false;
        let mut kept = Alternatives::default();
        for part in parts {
            exact &= part.exact;
            match part.node {
                LookupNode::Everything => everything = true,
                LookupNode::Nothing => {}
                LookupNode::Either(inner) => inner.into_iter().for_each(|node| kept.add(node)),
                node => kept.add(node),
            }
        }
        let node = if everything { LookupNode::Everything } else { kept.join() };
        Self { node, exact }
    }

    /// Takes out what is said of one path, as far as every document must fulfil it.
    pub fn take_values(&mut self, path: &[PathStep]) -> Option<PathValues> {
        let of_path = |node: &LookupNode| matches!(node, LookupNode::Values(values) if values.path == path);
        let taken = match &mut self.node {
            node if of_path(node) => std::mem::replace(node, LookupNode::Everything),
            LookupNode::Both(parts) => {
                let taken = parts.remove(parts.iter().position(of_path)?);
                if parts.len() == 1 {
                    self.node = parts.swap_remove(0);
                }
                taken
            }
            _ => return None,
        };
        match taken {
            LookupNode::Values(values) => Some(values),
            _ => unreachable!("only values were looked for"),
        }
    }

    /// What every document must fulfil, one by one.
    pub fn conjuncts(&self) -> &[LookupNode] {
        match &self.node {
            LookupNode::Everything => &[],
            LookupNode::Both(parts) => parts,
            node => std::slice::from_ref(node),
        }
    }
}

/// Whether tests on this path are about one value.
fn is_single(path: &[PathStep]) -> bool {
    !path.contains(&PathStep::Each)
}

fn join_and(kept: &mut Vec<LookupNode>, node: LookupNode) {
    if let LookupNode::Values(new) = &node
        && is_single(&new.path)
        && let Some(known) = same_path(kept, &new.path)
    {
        known.values = known.values.and(&new.values);
        known.text = format!("{} and {}", known.text, new.text);
        return;
    }
    kept.push(node);
}

/// The branches of an OR, those on one path together: a client that reads many items at once sends thousands.
#[derive(Default)]
struct Alternatives {
    by_path: Vec<(PathValues, Vec<Span>)>,
    others: Vec<LookupNode>,
}

impl Alternatives {
    fn add(&mut self, node: LookupNode) {
        let LookupNode::Values(new) = node else { return self.others.push(node) };
        let Some((known, spans)) = self.by_path.iter_mut().find(|(known, _)| known.path == new.path) else {
            return self.by_path.push((new, Vec::new()));
        };
        known.values.exact &= new.values.exact;
        spans.extend(new.values.spans);
        if known.text.len() < TEXT_SHOWN {
            known.text = format!("{} or {}", known.text, new.text);
        } else if !known.text.ends_with("...") {
            known.text.push_str(" or ...");
        }
    }

    fn join(self) -> LookupNode {
        let united = self.by_path.into_iter().map(|(mut known, spans)| {
            known.values = known.values.with_spans(spans);
            LookupNode::Values(known)
        });
        let mut nodes: Vec<LookupNode> = united.chain(self.others).collect();
        match nodes.len() {
            0 => LookupNode::Nothing,
            1 => nodes.swap_remove(0),
            _ => LookupNode::Either(nodes),
        }
    }
}

fn same_path<'k>(kept: &'k mut [LookupNode], path: &[PathStep]) -> Option<&'k mut PathValues> {
    kept.iter_mut().find_map(|node| match node {
        LookupNode::Values(known) if known.path == path => Some(known),
        _ => None,
    })
}

/// A path as indexing policies write it, without its end: `/a/"b c"/[]`.
pub fn path_text(path: &[PathStep]) -> String {
    let mut text = String::new();
    for step in path {
        text.push('/');
        match step {
            PathStep::Name(name) if is_plain(name) => text.push_str(name),
            PathStep::Name(name) => {
                text.push('"');
                text.push_str(&name.replace('\\', "\\\\").replace('"', "\\\""));
                text.push('"');
            }
            PathStep::Index(_) | PathStep::Each => text.push_str("[]"),
        }
    }
    text
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// A test in words, with long constants cut.
fn test_text(test: &Test) -> String {
    const ITEMS_SHOWN: usize = 8;
    match test {
        Test::Equals(value) => format!("= {}", value_text(value)),
        Test::Differs(value) => format!("!= {}", value_text(value)),
        Test::OneOf(values) => {
            let mut items: Vec<String> = values.iter().take(ITEMS_SHOWN).map(value_text).collect();
            if values.len() > ITEMS_SHOWN {
                items.push(format!("and {} more", values.len() - ITEMS_SHOWN));
            }
            format!("in ({})", items.join(", "))
        }
        Test::Range { low, high } => {
            let side = |bound: &Bound<Value>, open: &str, closed: &str| match bound {
                Bound::Included(value) => Some(format!("{closed} {}", value_text(value))),
                Bound::Excluded(value) => Some(format!("{open} {}", value_text(value))),
                Bound::Unbounded => None,
            };
            let sides: Vec<String> = [side(low, ">", ">="), side(high, "<", "<=")].into_iter().flatten().collect();
            sides.join(" and ")
        }
        Test::Prefix(prefix) => format!("starts with {}", value_text(&Value::from(prefix.as_str()))),
        Test::Kinds(kinds) => kinds_text(*kinds),
    }
}

fn kinds_text(kinds: Kinds) -> String {
    const NAMES: [(Kind, &str); 7] = [
        (Kind::Undefined, "undefined"),
        (Kind::Null, "null"),
        (Kind::Bool, "boolean"),
        (Kind::Number, "number"),
        (Kind::String, "string"),
        (Kind::Array, "array"),
        (Kind::Object, "object"),
    ];
    if kinds == Kinds::DEFINED {
        return "is defined".to_owned();
    }
    let names: Vec<&str> = NAMES.into_iter().filter(|(kind, _)| kinds.contains(*kind)).map(|(_, name)| name).collect();
    format!("is {}", names.join(" or "))
}

fn value_text(value: &Value) -> String {
    const CHARS_SHOWN: usize = 40;
    let text = json::to_string(value);
    match text.char_indices().nth(CHARS_SHOWN) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}

impl fmt::Display for PathValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/? {}", path_text(&self.path), self.text)
    }
}

impl fmt::Display for LookupNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: &[Self], word: &str| {
            for (index, part) in parts.iter().enumerate() {
                let nested = matches!(part, Self::Both(_) | Self::Either(_));
                let (open, close) = if nested { ("(", ")") } else { ("", "") };
                write!(f, "{}{open}{part}{close}", if index == 0 { "" } else { word })?;
            }
            Ok(())
        };
        match self {
            Self::Everything => f.write_str("everything"),
            Self::Nothing => f.write_str("nothing"),
            Self::Values(values) => write!(f, "{values}"),
            Self::Both(parts) => join(f, parts, " & "),
            Self::Either(parts) => join(f, parts, " | "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tesela_model::container::ContainerDefinition;
    use tesela_query::{CompileContext, CompiledQuery};

    fn schema(policy: &str) -> IndexSchema {
        let text = format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{policy}}}"#);
        let definition = ContainerDefinition::from_json(&json::parse(text.as_bytes()).unwrap()).unwrap();
        IndexSchema::new(&definition.indexing_policy, ["computed".to_owned()])
    }

    fn lookup(condition: &str) -> (String, bool) {
        let schema = schema(r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/no/*"}]}"#);
        let query = tesela_sql::parse(&format!("SELECT * FROM c WHERE {condition}")).unwrap();
        let access = CompiledQuery::compile(&query, &[], &CompileContext::default()).unwrap().access();
        let lookup = Lookup::of(&access.filter, &schema);
        (lookup.node.to_string(), lookup.exact && access.exact)
    }

    #[test]
    fn the_index_answers_what_it_can() {
        for (condition, text, exact) in [
            ("c.a = 1", "/a/? = 1", true),
            ("c.a >= 3 AND c.a < 9", "/a/? >= 3 and < 9", true),
            ("c.a = 1 AND (c.b > 2 OR c.b = null)", "/a/? = 1 & /b/? > 2 or = null", true),
            ("c.a = 1 AND c.x * 2 = 4", "/a/? = 1", false),
            ("c.a = 1 OR c.x * 2 = 4", "everything", false),
            ("c.no.a = 1", "everything", false),
            ("c.no = 1 AND c.yes = 1", "/yes/? = 1", false),
            ("c._etag = 'x' OR c.yes = 1", "everything", false),
            ("NOT IS_DEFINED(c.a)", "everything", false),
            ("c.a[0] = 1", "/a/[]/? = 1", false),
            ("ARRAY_CONTAINS(c.tags, 'x')", "/tags/[]/? = \"x\"", true),
            (
                "ARRAY_CONTAINS(c.tags, 'x') AND ARRAY_CONTAINS(c.tags, 'y')",
                "/tags/[]/? = \"x\" & /tags/[]/? = \"y\"",
                true,
            ),
            ("ARRAY_CONTAINS(c.tags, 'x') OR ARRAY_CONTAINS(c.tags, 'y')", "/tags/[]/? = \"x\" or = \"y\"", true),
            ("c.a = {}", "/a/? = {}", false),
            ("c['a b'].c LIKE 'x%'", "/\"a b\"/c/? starts with \"x\"", true),
            ("(c.a = 1 AND c.b = 2) OR (c.a = 3 AND c.b = 4)", "(/a/? = 1 & /b/? = 2) | (/a/? = 3 & /b/? = 4)", true),
            ("c.a = 1 AND 1 = 2", "nothing", true),
        ] {
            assert_eq!(lookup(condition), (text.to_owned(), exact), "{condition}");
        }
    }

    #[test]
    fn contradictions_leave_no_span() {
        let filter = |text: &str| {
            let query = tesela_sql::parse(text).unwrap();
            CompiledQuery::compile(&query, &[], &CompileContext::default()).unwrap().access().filter
        };
        let mut lookup = Lookup::of(&filter("SELECT * FROM c WHERE c.a = 1 AND c.a = 2 AND c.b = 1"), &schema("{}"));
        let values = lookup.take_values(&[PathStep::Name("a".into())]).unwrap();
        assert!(values.values.spans.is_empty());
        assert_eq!(lookup.node.to_string(), "/b/? = 1");
    }
}
