//! The values a filter admits under one path, as ranges of index bytes.
//!
//! ```text
//! c.n > 3 AND c.n <= 10          [13 <3.0>+, 13 <10.0>+)                     one span; + is "just behind"
//! c.s IN ("a", "b")              [14 'a' 00, +) [14 'b' 00, +)               two spans of one term each
//! IS_STRING(c.x) OR c.x = null   [10, 11) [14, 15)
//! ```
//!
//! A set is *exact* when it holds the index forms of precisely the admitted values. The forms of very long strings,
//! arrays and objects are shared by several values, so tests on those are not; see [`value_code`].

use crate::index::value_code::{self, ARRAY, END, FALSE, NULL, NUMBER, OBJECT, STRING, TRUE};
use std::ops::Bound;
use tesela_model::json::Value;
use tesela_query::access::{Kinds, Test};
use tesela_query::value::Kind;

/// Index forms from `low` to before `high`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub low: Vec<u8>,
    pub high: Vec<u8>,
    /// All of it is one form, whose rows are therefore in `_rid` order.
    pub one: bool,
}

impl Span {
    fn new(low: Vec<u8>, high: Vec<u8>) -> Self {
        Self { low, high, one: false }
    }

    fn of_form(form: Vec<u8>) -> Self {
        let high = behind(&form);
        Self { low: form, high, one: true }
    }
}

/// The first bytes above everything that begins so. Forms begin with a small tag, so there always are some.
fn behind(form: &[u8]) -> Vec<u8> {
    let last = form.iter().rposition(|byte| *byte != u8::MAX).expect("a form begins with its tag, which is no FF");
    let mut bytes = form[..=last].to_vec();
    bytes[last] += 1;
    bytes
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// In order, without overlaps.
    pub spans: Vec<Span>,
    /// A document without a value is admitted.
    pub undefined: bool,
    pub exact: bool,
}

impl Values {
    /// Everything, also no value at all.
    pub fn any() -> Self {
        Self { spans: vec![Span::new(vec![NULL], vec![END])], undefined: true, exact: true }
    }

    fn of(spans: Vec<Span>, exact: bool) -> Self {
        let mut values = Self { spans, undefined: false, exact };
        values.normalise();
        values
    }

    /// What a test admits. `None` when it cannot be said in ranges.
    pub fn admitted_by(test: &Test) -> Option<Self> {
        Some(match test {
            Test::Equals(value) => Self::one_of(std::slice::from_ref(value)),
            Test::OneOf(values) => Self::one_of(values),
            Test::Differs(value) => Self::other_than(value),
            Test::Range { low, high } => Self::between(low, high)?,
            Test::Prefix(prefix) => {
                let mut low = Vec::new();
                value_code::write_string_prefix(prefix, &mut low);
                let high = behind(&low);
                Self::of(vec![Span::new(low, high)], prefix.len() <= value_code::STRING_OWN_BYTES_MAX)
            }
            Test::Kinds(kinds) => Self::of_kinds(*kinds),
        })
    }

    fn one_of(values: &[Value]) -> Self {
        let mut exact = true;
        let form = |value: &Value| {
            let mut form = Vec::new();
            exact &= value_code::write_value(value, &mut form);
            Span::of_form(form)
        };
        let spans = values.iter().map(form).collect();
        Self::of(spans, exact)
    }

    fn other_than(value: &Value) -> Self {
        let mut form = Vec::new();
        if !value_code::write_value(value, &mut form) {
            return Self { exact: false, undefined: false, ..Self::any() };
        }
        let high = behind(&form);
        Self::of(vec![Span::new(vec![NULL], form), Span::new(high, vec![END])], true)
    }

    fn between(low: &Bound<Value>, high: &Bound<Value>) -> Option<Self> {
        let sides = [low, high].into_iter().filter_map(|bound| match bound {
            Bound::Included(value) | Bound::Excluded(value) => Some(value),
            Bound::Unbounded => None,
        });
        let mut types = Vec::new();
        for value in sides {
            // Nothing is said of an order with NaN.
            if value.as_f64().is_some_and(f64::is_nan) {
                return None;
            }
            types.push(type_range(value)?);
        }
        let (first, end) = *types.first()?;
        if types.iter().any(|range| *range != (first, end)) {
            return Some(Self::of(Vec::new(), true));
        }
        let mut exact = true;
        let mut edge = |value: &Value, inside: bool, is_low: bool| {
            let mut form = Vec::new();
            let own = value_code::write_value(value, &mut form);
            exact &= own;
            // A form that others share belongs to the range whatever the bound says.
            if (inside || !own) == is_low { form } else { behind(&form) }
        };
        let from = match low {
            Bound::Included(value) => edge(value, true, true),
            Bound::Excluded(value) => edge(value, false, true),
            Bound::Unbounded => vec![first],
        };
        let to = match high {
            Bound::Included(value) => edge(value, true, false),
            Bound::Excluded(value) => edge(value, false, false),
            Bound::Unbounded => vec![end],
        };
        Some(Self::of(vec![Span::new(from, to)], exact))
    }

    fn of_kinds(kinds: Kinds) -> Self {
        const TAGS: [(Kind, u8, u8); 6] = [
            (Kind::Null, NULL, FALSE),
            (Kind::Bool, FALSE, NUMBER),
            (Kind::Number, NUMBER, STRING),
            (Kind::String, STRING, ARRAY),
            (Kind::Array, ARRAY, OBJECT),
            (Kind::Object, OBJECT, END),
        ];
        let mut spans: Vec<Span> = Vec::new();
        for (kind, low, high) in TAGS.into_iter().filter(|(kind, ..)| kinds.contains(*kind)) {
            match spans.last_mut() {
                Some(last) if last.high == [low] => {
                    last.high = vec![high];
                    last.one = false;
                }
                _ => {
                    let one = matches!(kind, Kind::Null | Kind::Array | Kind::Object);
                    spans.push(Span { low: vec![low], high: vec![high], one });
                }
            }
        }
        let undefined = kinds.contains(Kind::Undefined);
        Self { undefined, ..Self::of(spans, true) }
    }

    /// What both admit, of one value.
    pub fn and(&self, other: &Self) -> Self {
        let mut spans = Vec::new();
        let (mut ours, mut theirs) = (self.spans.iter().peekable(), other.spans.iter().peekable());
        while let (Some(a), Some(b)) = (ours.peek(), theirs.peek()) {
            let low = a.low.clone().max(b.low.clone());
            let high = a.high.clone().min(b.high.clone());
            spans.push(Span { low, high, one: a.one || b.one });
            if a.high <= b.high {
                ours.next();
            } else {
                theirs.next();
            }
        }
        Self { undefined: self.undefined && other.undefined, ..Self::of(spans, self.exact && other.exact) }
    }

    /// These and more.
    pub fn with_spans(mut self, spans: Vec<Span>) -> Self {
        self.spans.extend(spans);
        self.normalise();
        self
    }

    /// Drops empty spans, sorts the rest and unites those that overlap. Neighbours stay apart: a span of one form
    /// must not be lost in a wider one.
    fn normalise(&mut self) {
        self.spans.retain(|span| span.low < span.high);
        self.spans.sort_unstable_by(|a, b| a.low.cmp(&b.low));
        let mut spans: Vec<Span> = Vec::with_capacity(self.spans.len());
        for span in self.spans.drain(..) {
            match spans.last_mut() {
                Some(last) if span.low < last.high => {
                    last.one = last.one && span.one;
                    last.high = span.high.max(std::mem::take(&mut last.high));
                }
                _ => spans.push(span),
            }
        }
        self.spans = spans;
    }
}

/// The tags all values of this type lie between.
fn type_range(value: &Value) -> Option<(u8, u8)> {
    Some(match value {
        Value::Null => (NULL, FALSE),
        Value::Bool(_) => (FALSE, TRUE + 1),
        Value::Number(_) => (NUMBER, STRING),
        Value::String(_) => (STRING, ARRAY),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tesela_model::document::Document;
    use tesela_query::access::{Filter, PathStep, PathTest};

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3..3_i64).prop_map(Value::from),
            prop::sample::select(vec![0.5, -0.0, 1e300, -2.5]).prop_map(Value::from),
            "[ab]{0,3}".prop_map(Value::from),
            (250..260_usize, "[ab\u{1F600}]{0,2}").prop_map(|(count, tail)| Value::from("x".repeat(count) + &tail)),
            Just(Value::Array(vec![Value::from(1)])),
            Just(Value::Object(Default::default())),
        ]
    }

    fn any_test() -> impl Strategy<Value = Test> {
        let bound = || {
            prop_oneof![
                any_value().prop_map(Bound::Included),
                any_value().prop_map(Bound::Excluded),
                Just(Bound::Unbounded)
            ]
        };
        let kind = prop::sample::select(vec![
            Kinds::DEFINED,
            Kinds::of(Kind::Null),
            Kinds::of(Kind::Bool),
            Kinds::of(Kind::Number),
            Kinds::of(Kind::String),
            Kinds::of(Kind::Array),
            Kinds::of(Kind::Object),
            Kinds::UNDEFINED,
        ]);
        prop_oneof![
            any_value().prop_map(Test::Equals),
            prop::collection::vec(any_value(), 1..4).prop_map(Test::OneOf),
            any_value().prop_map(Test::Differs),
            (bound(), bound()).prop_map(|(low, high)| Test::Range { low, high }),
            "[abx]{0,2}".prop_map(Test::Prefix),
            (250..260_usize).prop_map(|count| Test::Prefix("x".repeat(count))),
            (kind.clone(), kind).prop_map(|(a, b)| Test::Kinds(a.and(b))),
        ]
    }

    fn passes(test: &Test, value: Option<&Value>) -> bool {
        let member = value.map(|value| ("v".to_owned(), value.clone()));
        let document = Document::from_value(&Value::Object(member.into_iter().collect()));
        let test = PathTest { path: vec![PathStep::Name("v".into())], test: test.clone(), computed: false };
        Filter::Test(test).admits(document.root())
    }

    fn holds(values: &Values, value: Option<&Value>) -> bool {
        let Some(value) = value else { return values.undefined };
        let mut form = Vec::new();
        value_code::write_value(value, &mut form);
        values.spans.iter().any(|span| span.low <= form && form < span.high)
    }

    fn well_formed(values: &Values) -> bool {
        values.spans.iter().all(|span| span.low < span.high)
            && values.spans.windows(2).all(|pair| pair[0].high <= pair[1].low)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// No admitted value is missing; exact sets hold no other.
        #[test]
        fn spans_say_what_tests_say(test in any_test(), value in prop::option::of(any_value())) {
            if let Some(values) = Values::admitted_by(&test) {
                prop_assert!(well_formed(&values));
                let (wanted, found) = (passes(&test, value.as_ref()), holds(&values, value.as_ref()));
                prop_assert!(!wanted || found, "{test:?} loses {value:?}");
                prop_assert!(!values.exact || wanted == found, "{test:?} adds {value:?}");
            }
        }

        #[test]
        fn sets_combine(a in any_test(), b in any_test(), value in prop::option::of(any_value())) {
            if let (Some(left), Some(right)) = (Values::admitted_by(&a), Values::admitted_by(&b)) {
                let (both, either) = (left.and(&right), left.clone().with_spans(right.spans.clone()));
                prop_assert!(well_formed(&both) && well_formed(&either));
                let (in_left, in_right) = (holds(&left, value.as_ref()), holds(&right, value.as_ref()));
                prop_assert_eq!(holds(&both, value.as_ref()), in_left && in_right);
                if value.is_some() {
                    prop_assert_eq!(holds(&either, value.as_ref()), in_left || in_right);
                }
            }
        }

        /// A span of one form holds no second.
        #[test]
        fn one_is_one(test in any_test(), a in any_value(), b in any_value()) {
            for span in Values::admitted_by(&test).iter().flat_map(|values| &values.spans).filter(|span| span.one) {
                let form = |value: &Value| {
                    let mut form = Vec::new();
                    value_code::write_value(value, &mut form);
                    form
                };
                let inside = |form: &Vec<u8>| span.low <= *form && *form < span.high;
                prop_assert!(!inside(&form(&a)) || !inside(&form(&b)) || form(&a) == form(&b));
            }
        }
    }
}
