//! The seam for `__.spatial`: geometry belongs to the query engine, which this crate does not know.

/// The functions of `__.spatial`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpatialFunction {
    Distance,
    Intersects,
    Within,
    IsValid,
    IsValidDetailed,
}

impl SpatialFunction {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "distance" => Self::Distance,
            "intersects" => Self::Intersects,
            "within" => Self::Within,
            "isValid" => Self::IsValid,
            "isValidDetailed" => Self::IsValidDetailed,
            _ => return None,
        })
    }
}

/// Computes on GeoJSON texts. Functions of one argument get `null` as the second. The answer is JSON
/// text; `None` is `undefined`, as for arguments that are no geometry.
pub trait Spatial: Send + Sync {
    fn compute(&self, function: SpatialFunction, first: &str, second: &str) -> Option<String>;
}

/// For engines without geometry: everything is undefined.
pub(crate) struct NoSpatial;

impl Spatial for NoSpatial {
    fn compute(&self, _: SpatialFunction, _: &str, _: &str) -> Option<String> {
        None
    }
}
