//! IIF: a choice between two values.

use super::{Function, Scope, exactly, seeing};
use crate::value::Val;

pub(super) const FUNCTIONS: &[Function] = &[seeing("IIF", exactly(3), iif)];

/// The second argument only when the first is exactly `true`.
fn iif<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    if args[0].is_true() { args[1].clone() } else { args[2].clone() }
}
