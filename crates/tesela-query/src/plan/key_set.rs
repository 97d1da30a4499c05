//! Sets of partition keys, as far as conditions can tell them apart.
//!
//! A key is a tuple of components, one per path of the definition. A [`KeyBox`] gives each component the values it may
//! have, or leaves it open; a [`KeySet`] is a union of boxes:
//!
//! ```text
//! (tenant = "a" AND user IN (1, 2)) OR tenant = "b"
//!     { tenant: a,  user: 1 2 }
//!     { tenant: b,  user: any }
//! ```
//!
//! Sets here are *covers*: a set may hold more keys than the condition lets through, never fewer. That freedom keeps
//! the work linear in the query. A union gathers boxes that fix one and the same component into one box, so that
//! thousands of `OR c.pk = …` are a single box; an intersection of many boxes with many others is a product and has a
//! budget ([`WORK_MAX`]), after which one side of an AND is simply not looked at.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use tesela_model::json::Value;
use tesela_model::partition_key::Component;

/// Boxes one derivation may intersect. Ours: a few milliseconds.
const WORK_MAX: usize = 1 << 17;

/// One component's value. Numbers that are equal in queries are one value, so 0 stands for -0 too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeyPart {
    Undefined,
    Null,
    Bool(bool),
    /// The bits of the double a key hashes with.
    Number(u64),
    String(String),
}

impl KeyPart {
    /// The component a document has when its value at the path equals this one.
    pub fn of(value: &Value) -> Self {
        match Component::from_json(value) {
            Component::Undefined => Self::Undefined,
            Component::Null => Self::Null,
            Component::Bool(value) => Self::Bool(value),
            Component::Number(number) => Self::number(number),
            Component::String(text) => Self::String(text),
        }
    }

    pub fn number(number: f64) -> Self {
        Self::Number(if number == 0.0 { 0 } else { number.to_bits() })
    }

    /// The components that are this value: two for zero, whose signs hash apart.
    pub fn components(&self) -> Vec<Component> {
        vec![match self {
            Self::Undefined => Component::Undefined,
            Self::Null => Component::Null,
            Self::Bool(value) => Component::Bool(*value),
            Self::Number(0) => return vec![Component::Number(0.0), Component::Number(-0.0)],
            Self::Number(bits) => Component::Number(f64::from_bits(*bits)),
            Self::String(text) => Component::String(text.clone()),
        }]
    }
}

/// Values of one component; never empty. Shared, because an intersection repeats them in many boxes.
pub(super) type Parts = Arc<BTreeSet<KeyPart>>;

/// For each component its values, or `None` for any.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyBox(Vec<Option<Parts>>);

impl KeyBox {
    /// The values of the leading components, up to the first open one.
    pub fn prefix(&self) -> impl Iterator<Item = &BTreeSet<KeyPart>> {
        self.0.iter().map_while(|parts| parts.as_deref())
    }

    /// The one component this box fixes, when it fixes one.
    fn only_fixed(&self) -> Option<usize> {
        let mut fixed = (0..self.0.len()).filter(|component| self.0[*component].is_some());
        let only = fixed.next();
        only.filter(|_| fixed.next().is_none())
    }

    fn is_open(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    fn intersection(&self, other: &Self) -> Option<Self> {
        let both = self.0.iter().zip(&other.0).map(|(a, b)| match (a, b) {
            (Some(a), Some(b)) => common(a, b).map(Some),
            (Some(one), None) | (None, Some(one)) => Some(Some(Arc::clone(one))),
            (None, None) => Some(None),
        });
        both.collect::<Option<Vec<_>>>().map(Self)
    }
}

fn common(a: &Parts, b: &Parts) -> Option<Parts> {
    if Arc::ptr_eq(a, b) {
        return Some(Arc::clone(a));
    }
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let common: BTreeSet<KeyPart> = few.iter().filter(|part| many.contains(part)).cloned().collect();
    (!common.is_empty()).then(|| Arc::new(common))
}

/// A union of boxes; without any it holds no key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeySet(Vec<KeyBox>);

impl KeySet {
    pub fn boxes(&self) -> &[KeyBox] {
        &self.0
    }

    pub fn none() -> Self {
        Self(Vec::new())
    }
}

/// Builds sets for keys of so many components, within a budget of work.
pub(super) struct KeySpace {
    components: usize,
    work_left: Cell<usize>,
}

impl KeySpace {
    pub fn new(components: usize) -> Self {
        Self { components, work_left: Cell::new(WORK_MAX) }
    }

    /// Every key.
    pub fn all(&self) -> KeySet {
        KeySet(vec![KeyBox(vec![None; self.components])])
    }

    /// The keys with one of these values as that component.
    pub fn one_of(&self, component: usize, parts: impl IntoIterator<Item = KeyPart>) -> KeySet {
        let parts: BTreeSet<KeyPart> = parts.into_iter().collect();
        if parts.is_empty() {
            return KeySet::none();
        }
        let mut fixed = vec![None; self.components];
        fixed[component] = Some(Arc::new(parts));
        KeySet(vec![KeyBox(fixed)])
    }

    /// The keys in any of the sets.
    pub fn any(&self, sets: impl IntoIterator<Item = KeySet>) -> KeySet {
        let mut gathered: Vec<BTreeSet<KeyPart>> = vec![BTreeSet::new(); self.components];
        let mut boxes = Vec::new();
        for one in sets.into_iter().flat_map(|set| set.0) {
            if one.is_open() {
                return self.all();
            }
            match one.only_fixed() {
                Some(component) => {
                    gathered[component].extend(one.0[component].iter().flat_map(|all| all.iter().cloned()));
                }
                None => boxes.push(one),
            }
        }
        for (component, parts) in gathered.into_iter().enumerate() {
            boxes.extend(self.one_of(component, parts).0);
        }
        KeySet(boxes)
    }

    /// The keys in all of the sets, or somewhat more.
    pub fn every(&self, sets: impl IntoIterator<Item = KeySet>) -> KeySet {
        sets.into_iter().fold(self.all(), |a, b| self.both(a, b))
    }

    fn both(&self, a: KeySet, b: KeySet) -> KeySet {
        let work = a.0.len().saturating_mul(b.0.len());
        let Some(left) = self.work_left.get().checked_sub(work) else {
            // Too dear to intersect: either side is a cover, the shorter one is likely the tighter.
            return if a.0.len() <= b.0.len() { a } else { b };
        };
        self.work_left.set(left);
        let pairs = a.0.iter().flat_map(|a| b.0.iter().filter_map(move |b| a.intersection(b)));
        // Through a union again, so that what has become equal in shape is gathered.
        self.any(pairs.map(|one| KeySet(vec![one])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &[&str]) -> Vec<KeyPart> {
        values.iter().map(|value| KeyPart::String((*value).to_owned())).collect()
    }

    #[test]
    fn unions_gather_what_fixes_one_component() {
        let space = KeySpace::new(2);
        let many = (0..5_000).map(|at| space.one_of(0, text(&[&at.to_string()])));
        let set = space.any(many);
        assert_eq!(set.boxes().len(), 1);
        assert_eq!(set.boxes()[0].prefix().next().unwrap().len(), 5_000);
    }

    #[test]
    fn an_open_box_swallows_the_union() {
        let space = KeySpace::new(1);
        assert_eq!(space.any([space.one_of(0, text(&["a"])), space.all()]), space.all());
        assert_eq!(space.any([]), KeySet::none());
    }

    #[test]
    fn intersections_meet_component_by_component() {
        let space = KeySpace::new(2);
        let both = space.every([space.one_of(0, text(&["a", "b"])), space.one_of(1, text(&["x"]))]);
        assert_eq!(both.boxes()[0].prefix().map(BTreeSet::len).collect::<Vec<_>>(), [2, 1]);
        let none = space.every([space.one_of(0, text(&["a"])), space.one_of(0, text(&["b"]))]);
        assert_eq!(none, KeySet::none());
    }

    /// A product beyond the budget ends as one of its sides, which covers the other.
    #[test]
    fn dear_intersections_cover() {
        let space = KeySpace::new(2);
        let pairs = |from: usize| {
            let pair = |at: usize| {
                let both = [space.one_of(0, text(&[&at.to_string()])), space.one_of(1, text(&[&at.to_string()]))];
                space.every(both)
            };
            space.any((from..from + 1_000).map(pair))
        };
        let (a, b) = (pairs(0), pairs(500));
        assert_eq!(a.boxes().len(), 1_000);
        assert_eq!(space.every([a, b]).boxes().len(), 1_000);
    }

    #[test]
    fn zero_has_two_signs() {
        assert_eq!(KeyPart::number(-0.0), KeyPart::number(0.0));
        assert_eq!(KeyPart::number(0.0).components().len(), 2);
    }
}
