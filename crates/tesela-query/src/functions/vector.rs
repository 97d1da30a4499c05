//! VectorDistance: how far apart two vectors are, or how alike.
//!
//! Cosine and dot product grow with likeness, the Euclidean distance shrinks; [`Measure::best_first`] says which.
//! The measure comes from the call's options, else from the container's policy for the path, else it is cosine.

use super::{Arity, Function, Scope, strict};
use crate::value::Val;
use tesela_sql::ast::Direction;

pub(super) const FUNCTIONS: &[Function] = &[strict("VectorDistance", Arity::Between(2, 4), vector_distance)];

/// How two vectors are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Measure {
    #[default]
    Cosine,
    DotProduct,
    Euclidean,
}

impl Measure {
    /// By the name the policy and the options use.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "cosine" => Self::Cosine,
            "dotproduct" => Self::DotProduct,
            "euclidean" => Self::Euclidean,
            _ => return None,
        })
    }

    /// The direction that puts the most similar vector first.
    pub fn best_first(self) -> Direction {
        match self {
            Self::Cosine | Self::DotProduct => Direction::Descending,
            Self::Euclidean => Direction::Ascending,
        }
    }

    /// `None` for vectors of different length.
    pub fn apply(self, a: &[f64], b: &[f64]) -> Option<f64> {
        if a.len() != b.len() {
            return None;
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        Some(match self {
            Self::Cosine => dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(),
            Self::DotProduct => dot(a, b),
            Self::Euclidean => a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
        })
    }
}

/// The numbers of an array; `None` when it is none or holds anything else.
pub fn vector(value: &Val<'_>) -> Option<Vec<f64>> {
    value.elements()?.map(|element| element.as_f64()).collect()
}

/// The measure the options name, if they do.
pub fn measure(options: &Val<'_>) -> Option<Measure> {
    Measure::from_name(&options.get("distanceFunction").as_str()?)
}

fn vector_distance<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let measure = args.get(3).and_then(measure).unwrap_or_default();
    match (vector(&args[0]), vector(&args[1])) {
        (Some(a), Some(b)) => measure.apply(&a, &b).into(),
        _ => Val::Undefined,
    }
}
