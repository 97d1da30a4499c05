//! Aggregates: what is kept of the values of a group, and what comes out.
//!
//! All ignore undefined. An accumulator can take one value more, or another accumulator of the same kind: that is how
//! partitions are put together.
//!
//! | aggregate | of nothing | spoilt by |
//! |---|---|---|
//! | COUNT, COUNTIF | 0 | – |
//! | SUM | 0 | any non-number: undefined |
//! | AVG | undefined | any non-number: undefined |
//! | MIN, MAX | undefined | any array or object: undefined |
//! | MAKELIST, MAKESET | `[]` | – |

use crate::value::{Kind, Val, compare, key};
use std::cmp::Ordering;
use std::collections::HashSet;
use tesela_model::json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateKind {
    Average,
    Count,
    CountIf,
    MakeList,
    MakeSet,
    Max,
    Min,
    Sum,
}

impl AggregateKind {
    /// The aggregate of that name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "AVG" => Self::Average,
            "COUNT" => Self::Count,
            "COUNTIF" => Self::CountIf,
            "MAKELIST" => Self::MakeList,
            "MAKESET" => Self::MakeSet,
            "MAX" => Self::Max,
            "MIN" => Self::Min,
            "SUM" => Self::Sum,
            _ => return None,
        })
    }
}

/// What is kept of the values seen so far.
#[derive(Clone, Debug)]
pub enum Accumulator {
    Count(u64),
    CountIf(u64),
    Sum(Total),
    Average(Total),
    /// The extreme value so far, and which side is looked for.
    Extreme {
        wanted: Ordering,
        best: Option<Value>,
        spoilt: bool,
    },
    List(Vec<Value>),
    Set {
        values: Vec<Value>,
        keys: HashSet<Vec<u8>>,
    },
}

/// A running sum. Spoilt once a value was no number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total {
    sum: f64,
    count: u64,
    spoilt: bool,
}

impl Total {
    fn add(&mut self, value: &Val<'_>) {
        match value.as_f64() {
            Some(number) => self.sum += number,
            None => self.spoilt = true,
        }
        self.count += 1;
    }

    fn merge(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
        self.spoilt |= other.spoilt;
    }
}

impl Accumulator {
    pub fn new(kind: AggregateKind) -> Self {
        match kind {
            AggregateKind::Count => Self::Count(0),
            AggregateKind::CountIf => Self::CountIf(0),
            AggregateKind::Sum => Self::Sum(Total::default()),
            AggregateKind::Average => Self::Average(Total::default()),
            AggregateKind::Min => Self::Extreme { wanted: Ordering::Less, best: None, spoilt: false },
            AggregateKind::Max => Self::Extreme { wanted: Ordering::Greater, best: None, spoilt: false },
            AggregateKind::MakeList => Self::List(Vec::new()),
            AggregateKind::MakeSet => Self::Set { values: Vec::new(), keys: HashSet::new() },
        }
    }

    /// Takes one value in; returns the bytes it now holds more.
    pub fn add(&mut self, value: &Val<'_>) -> usize {
        if !value.is_defined() {
            return 0;
        }
        match self {
            Self::Count(count) => *count += 1,
            Self::CountIf(count) => *count += u64::from(value.is_true()),
            Self::Sum(total) | Self::Average(total) => total.add(value),
            Self::Extreme { wanted, best, spoilt } => {
                *spoilt |= value.kind() >= Kind::Array;
                let better = best.as_ref().is_none_or(|best| compare(value, &Val::Constant(best)) == *wanted);
                if better && !*spoilt {
                    *best = value.to_value();
                }
            }
            Self::List(values) => {
                values.extend(value.to_value());
                return held(value);
            }
            Self::Set { values, keys } => {
                let mut bytes = Vec::new();
                key::append(value, &mut bytes);
                if keys.insert(bytes) {
                    values.extend(value.to_value());
                    return 2 * held(value);
                }
            }
        }
        0
    }

    /// Takes in what another part of the container accumulated.
    ///
    /// # Panics
    /// When the other is of another kind: partitions run the same query.
    pub fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Count(a), Self::Count(b)) | (Self::CountIf(a), Self::CountIf(b)) => *a += b,
            (Self::Sum(a), Self::Sum(b)) | (Self::Average(a), Self::Average(b)) => a.merge(b),
            (extreme @ Self::Extreme { .. }, Self::Extreme { best: other, spoilt: other_spoilt, .. }) => {
                if let Some(other) = &other {
                    extreme.add(&Val::Constant(other));
                }
                if let Self::Extreme { spoilt, .. } = extreme {
                    *spoilt |= other_spoilt;
                }
            }
            (Self::List(a), Self::List(b)) => a.extend(b),
            (set @ Self::Set { .. }, Self::Set { values, .. }) => {
                for value in &values {
                    set.add(&Val::Constant(value));
                }
            }
            _ => unreachable!("partitions run the same query, so accumulators meet their own kind"),
        }
    }

    /// The result; `None` is undefined.
    pub fn finish(self) -> Option<Value> {
        match self {
            Self::Count(count) | Self::CountIf(count) => Some(Value::from(count)),
            Self::Sum(total) if total.spoilt => None,
            Self::Sum(total) => Val::double(total.sum).to_value(),
            Self::Average(total) if total.spoilt || total.count == 0 => None,
            Self::Average(total) => Val::double(total.sum / total.count as f64).to_value(),
            Self::Extreme { best, spoilt, .. } => best.filter(|_| !spoilt),
            Self::List(values) | Self::Set { values, .. } => Some(Value::Array(values)),
        }
    }
}

/// Bytes a kept value is charged with.
fn held(value: &Val<'_>) -> usize {
    match value {
        Val::Stored(node) => std::mem::size_of::<Value>() + node.text().len(),
        _ => std::mem::size_of::<Value>() + value.to_json().len(),
    }
}
