//! Partition keys, ranges of them, and what a reader may know.
//!
//! A [`Key`] is what an extractor makes of a document. Its order is total: null, booleans, numbers, strings,
//! times, compounds; inside a type the usual order, compounds component by component. Numbers are doubles, as
//! they are to the service, so `1` and `1.0` are one key.
//!
//! A [`KeyRange`] is kept as two *cuts* between keys rather than as two keys with flags: a closed low end
//! cuts just before its key, an open one just after. Every range is then half-open between cuts, and
//! containment, overlap and gaps are plain comparisons, whatever the ends.
//!
//! Example: `[a, m)` and `[m, z]` are the cuts `(before a, before m)` and `(before m, after z)`: they touch,
//! without gap.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

use tesela_model::json::{self, Value};

use crate::timestamp::Timestamp;

/// A partition key in the resolver's sense.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// JSON null; also the key of a resolver without a scheme.
    Null,
    /// A boolean.
    Bool(bool),
    /// A finite number.
    Number(Finite),
    /// Text.
    String(String),
    /// A moment.
    Time(Timestamp),
    /// Several keys, compared one after the other.
    Compound(Vec<Key>),
}

/// A double that is neither NaN nor infinite, with one zero, so that it has an order and a hash.
#[derive(Clone, Copy, Debug)]
pub struct Finite(f64);

impl Finite {
    /// `None` for NaN and the infinities.
    pub fn new(value: f64) -> Option<Self> {
        // Adding zero turns −0 into 0 and leaves the rest.
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Finite {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Finite {}

impl PartialOrd for Finite {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Finite {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl std::hash::Hash for Finite {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Key {
    /// The key a JSON value is; `None` for arrays and objects.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Number(value) => Finite::new(value.as_f64()).map(Self::Number),
            Value::String(value) => Some(Self::String(value.clone())),
            Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The bytes a hash placement hashes: text as it is (so that a ring agrees with the DocumentDB
    /// libraries, whose keys are strings), everything else in its canonical JSON spelling.
    pub fn hash_bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::String(text) => Cow::Borrowed(text.as_bytes()),
            other => Cow::Owned(other.to_string().into_bytes()),
        }
    }
}

impl fmt::Display for Key {
    /// As JSON would spell it; a time is its ISO text in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => f.write_str(&json::Number::from(value.get()).text()),
            Self::String(value) => f.write_str(&json::to_string(&Value::from(value.as_str()))),
            Self::Time(value) => write!(f, "\"{value}\""),
            Self::Compound(keys) => {
                f.write_str("[")?;
                for (index, key) in keys.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    key.fmt(f)?;
                }
                f.write_str("]")
            }
        }
    }
}

impl From<&str> for Key {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<String> for Key {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<bool> for Key {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i32> for Key {
    fn from(value: i32) -> Self {
        Self::Number(Finite(f64::from(value)))
    }
}

impl From<Timestamp> for Key {
    fn from(value: Timestamp) -> Self {
        Self::Time(value)
    }
}

impl<A: Into<Key>, B: Into<Key>> From<(A, B)> for Key {
    fn from((a, b): (A, B)) -> Self {
        Self::Compound(vec![a.into(), b.into()])
    }
}

impl From<Vec<Key>> for Key {
    fn from(keys: Vec<Key>) -> Self {
        Self::Compound(keys)
    }
}

/// A place between keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    Start,
    At(Key, Side),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Before,
    After,
}

/// A range of keys that is never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    low: Cut,
    high: Cut,
}

impl KeyRange {
    /// From two ends, each closed, open or unbounded; `None` when nothing can lie between.
    pub fn new(low: Bound<Key>, high: Bound<Key>) -> Option<Self> {
        let low = match low {
            Bound::Unbounded => Cut::Start,
            Bound::Included(key) => Cut::At(key, Side::Before),
            Bound::Excluded(key) => Cut::At(key, Side::After),
        };
        let high = match high {
            Bound::Unbounded => Cut::End,
            Bound::Included(key) => Cut::At(key, Side::After),
            Bound::Excluded(key) => Cut::At(key, Side::Before),
        };
        Self::between(low, high)
    }

    /// `[low, high]`, as the ranges of the DocumentDB libraries were.
    pub fn closed(low: impl Into<Key>, high: impl Into<Key>) -> Option<Self> {
        Self::new(Bound::Included(low.into()), Bound::Included(high.into()))
    }

    /// `[low, high)`: the form that leaves no gap to the next.
    pub fn half_open(low: impl Into<Key>, high: impl Into<Key>) -> Option<Self> {
        Self::new(Bound::Included(low.into()), Bound::Excluded(high.into()))
    }

    /// `[low, …)`.
    pub fn at_least(low: impl Into<Key>) -> Self {
        Self { low: Cut::At(low.into(), Side::Before), high: Cut::End }
    }

    /// `(…, high)`.
    pub fn below(high: impl Into<Key>) -> Self {
        Self { low: Cut::Start, high: Cut::At(high.into(), Side::Before) }
    }

    /// One key.
    pub fn point(key: Key) -> Self {
        Self { low: Cut::At(key.clone(), Side::Before), high: Cut::At(key, Side::After) }
    }

    pub(crate) fn between(low: Cut, high: Cut) -> Option<Self> {
        (low < high).then_some(Self { low, high })
    }

    pub(crate) fn low_cut(&self) -> &Cut {
        &self.low
    }

    pub(crate) fn high_cut(&self) -> &Cut {
        &self.high
    }

    /// The low end.
    pub fn low(&self) -> Bound<&Key> {
        match &self.low {
            Cut::At(key, Side::Before) => Bound::Included(key),
            Cut::At(key, Side::After) => Bound::Excluded(key),
            Cut::Start | Cut::End => Bound::Unbounded,
        }
    }

    /// The high end.
    pub fn high(&self) -> Bound<&Key> {
        match &self.high {
            Cut::At(key, Side::Before) => Bound::Excluded(key),
            Cut::At(key, Side::After) => Bound::Included(key),
            Cut::Start | Cut::End => Bound::Unbounded,
        }
    }

    /// Whether `key` lies inside.
    pub fn contains(&self, key: &Key) -> bool {
        let above_low = match &self.low {
            Cut::Start => true,
            Cut::At(low, Side::Before) => key >= low,
            Cut::At(low, Side::After) => key > low,
            Cut::End => false,
        };
        above_low
            && match &self.high {
                Cut::End => true,
                Cut::At(high, Side::Before) => key < high,
                Cut::At(high, Side::After) => key <= high,
                Cut::Start => false,
            }
    }

    /// What both ranges hold.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let low = self.low.clone().max(other.low.clone());
        let high = self.high.clone().min(other.high.clone());
        Self::between(low, high)
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.low() {
            Bound::Included(key) => write!(f, "[{key}, ")?,
            Bound::Excluded(key) => write!(f, "({key}, ")?,
            Bound::Unbounded => f.write_str("(…, ")?,
        }
        match self.high() {
            Bound::Included(key) => write!(f, "{key}]"),
            Bound::Excluded(key) => write!(f, "{key})"),
            Bound::Unbounded => f.write_str("…)"),
        }
    }
}

/// What a reader knows of the keys he is after (R29, R37).
#[derive(Clone, Debug, PartialEq)]
pub enum ReadScope {
    /// Nothing: every collection must be visited.
    All,
    /// One key.
    Key(Key),
    /// Some keys.
    Keys(Vec<Key>),
    /// Every key of a range.
    Range(KeyRange),
    /// For a resolver of resolvers: the outer key, and what is known of the inner one.
    Within {
        /// Key of the outer resolver.
        outer: Key,
        /// What is known inside its group.
        inner: Box<ReadScope>,
    },
}

impl<K: Into<Key>> From<K> for ReadScope {
    fn from(key: K) -> Self {
        Self::Key(key.into())
    }
}

impl From<KeyRange> for ReadScope {
    fn from(range: KeyRange) -> Self {
        Self::Range(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_one_order_and_one_spelling() {
        let keys: Vec<Key> = vec![
            Key::Null,
            false.into(),
            true.into(),
            (-1).into(),
            0.into(),
            2.into(),
            "".into(),
            "10".into(),
            "9".into(),
            Timestamp::from_unix_seconds(0).into(),
            ("a", 1).into(),
            ("a", 2).into(),
        ];
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
        let spelled: Vec<String> = keys.iter().map(Key::to_string).collect();
        assert_eq!(spelled.join(" "), r#"null false true -1 0 2 "" "10" "9" "1970-01-01T00:00:00Z" ["a",1] ["a",2]"#);
    }

    #[test]
    fn one_number_is_one_key_however_it_was_spelled() {
        let key = |text: &str| Key::from_json(&json::parse(text.as_bytes()).unwrap()).unwrap();
        assert_eq!(key("1"), key("1.0"));
        assert_eq!(key("-0.0"), key("0"));
        assert_eq!(key("100"), key("1e2"));
        assert_eq!(key("1e2").hash_bytes(), &b"100"[..]);
        assert_eq!(Key::from("1e2").hash_bytes(), &b"1e2"[..]);
        assert_eq!(Key::from_json(&Value::Array(vec![])), None);
        assert_eq!(Finite::new(f64::INFINITY), None);
    }

    #[test]
    fn r29_ends_are_open_closed_or_absent() {
        let range = |low, high| KeyRange::new(low, high);
        let (a, m) = (Key::from("a"), Key::from("m"));
        let open = range(Bound::Excluded(a.clone()), Bound::Excluded(m.clone())).unwrap();
        assert!(!open.contains(&a) && !open.contains(&m) && open.contains(&"b".into()));
        let closed = KeyRange::closed("a", "m").unwrap();
        assert!(closed.contains(&a) && closed.contains(&m));
        assert!(KeyRange::below("a").contains(&Key::Null));
        assert!(KeyRange::at_least("m").contains(&("x", 1).into()));
        assert_eq!(KeyRange::closed("m", "a"), None);
        assert_eq!(KeyRange::half_open("a", "a"), None);
        assert_eq!(KeyRange::closed("a", "a"), Some(KeyRange::point(a)));
        assert_eq!([open.to_string(), closed.to_string()].join(" "), r#"("a", "m") ["a", "m"]"#);
    }

    #[test]
    fn r29_intersections_respect_the_ends() {
        let left = KeyRange::half_open("a", "m").unwrap();
        assert_eq!(left.intersection(&KeyRange::at_least("m")), None);
        let touching = KeyRange::closed("a", "m").unwrap();
        assert_eq!(touching.intersection(&KeyRange::at_least("m")), Some(KeyRange::point("m".into())));
        assert_eq!(left.intersection(&KeyRange::below("c")).unwrap().to_string(), r#"["a", "c")"#);
    }
}
