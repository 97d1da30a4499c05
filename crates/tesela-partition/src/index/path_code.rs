//! Paths in index form: `02 name 00` for a property, `03` for an element of an array, `01` at the end.
//!
//! The end marker sorts below every step, so the values of a path come before everything beneath it.

use super::value_code;
use tesela_query::access::PathStep;
use tesela_store::keycode::KeyWriter;

const END: u8 = 0x01;
const PROPERTY: u8 = 0x02;
const ELEMENT: u8 = 0x03;

/// A path under construction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCode(Vec<u8>);

impl PathCode {
    /// The document itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path of property names.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut path = Self::root();
        names.into_iter().for_each(|name| path.push_property(name));
        path
    }

    /// A path of the query language, with "some element" for any element.
    pub fn of_steps(steps: &[PathStep]) -> Self {
        let mut path = Self::root();
        for step in steps {
            match step {
                PathStep::Name(name) => path.push_property(name),
                PathStep::Index(_) | PathStep::Each => path.push_element(),
            }
        }
        path
    }

    pub fn push_property(&mut self, name: &str) {
        self.0.push(PROPERTY);
        self.0.extend_from_slice(KeyWriter::new().str(name).as_slice());
    }

    pub fn push_element(&mut self) {
        self.0.push(ELEMENT);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Back to an earlier length.
    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// All terms of this path begin so.
    pub fn terms_prefix(&self) -> Vec<u8> {
        [self.0.as_slice(), &[END]].concat()
    }

    /// Behind all terms of this path.
    pub fn terms_end(&self) -> Vec<u8> {
        [self.0.as_slice(), &[END, value_code::END]].concat()
    }
}
