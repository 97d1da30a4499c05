//! Where a value of the query comes from: a path of the document, if it is one.
//!
//! ORDER BY works only on paths of the document, indexes serve only those, and computed properties belong only to the
//! document itself. Aliases hide that: in `FROM (SELECT VALUE {"n": c.name} FROM c) AS r`, `r.n` is `/name`. So every
//! slot remembers its origin and every expression can be asked for its own.

use crate::tree::{Expr, Slot, Step};

/// One step of a document path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathStep {
    Name(String),
    /// An element at a given place.
    Index(usize),
    /// Any element of an array.
    Each,
}

/// A path of the document; empty is the document itself.
pub type DocumentPath = Vec<PathStep>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Path(DocumentPath),
    /// An object built from values of known origin.
    Object(Vec<(Box<str>, Origin)>),
    Computed,
}

impl Origin {
    pub(crate) fn document() -> Self {
        Self::Path(Vec::new())
    }

    /// The document path, when it is one.
    pub(crate) fn path(&self) -> Option<&DocumentPath> {
        match self {
            Self::Path(path) => Some(path),
            Self::Object(_) | Self::Computed => None,
        }
    }

    fn step(&self, step: &Step) -> Self {
        match (self, step) {
            (Self::Path(path), step) => {
                let mut path = path.clone();
                path.push(match step {
                    Step::Name(name) => PathStep::Name(name.to_string()),
                    Step::Index(index) => PathStep::Index(*index),
                });
                Self::Path(path)
            }
            (Self::Object(members), Step::Name(name)) => {
                let member = members.iter().rev().find(|(known, _)| known == name);
                member.map_or(Self::Computed, |(_, origin)| origin.clone())
            }
            (Self::Object(_) | Self::Computed, _) => Self::Computed,
        }
    }

    pub(crate) fn each(&self) -> Self {
        match self {
            Self::Path(path) => Self::Path(path.iter().cloned().chain([PathStep::Each]).collect()),
            Self::Object(_) | Self::Computed => Self::Computed,
        }
    }

    /// The origin of an expression, given those of the slots.
    pub(crate) fn of(expr: &Expr, slots: &[Origin]) -> Self {
        let below = |origin: Self, steps: &[Step]| steps.iter().fold(origin, |origin, step| origin.step(step));
        let slot = |slot: Slot| slots.get(slot).cloned().unwrap_or(Self::Computed);
        match expr {
            Expr::Slot(at) => slot(*at),
            Expr::Path(at, steps) => below(slot(*at), steps),
            Expr::Step(base, step) => Self::of(base, slots).step(step),
            Expr::Computed(name, _, steps) => below(Self::Path(vec![PathStep::Name(name.to_string())]), steps),
            Expr::Object(members) => {
                Self::Object(members.iter().map(|(name, member)| (name.clone(), Self::of(member, slots))).collect())
            }
            _ => Self::Computed,
        }
    }
}
