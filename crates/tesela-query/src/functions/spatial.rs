//! Spatial functions over GeoJSON. See [`crate::spatial`].

use super::{Function, Scope, exactly, seeing, strict};
use crate::spatial::{Shape, geojson, plane::Plane, relate, sphere::Earth, surface::Surface, valid};
use crate::value::Val;
use std::borrow::Cow;

/// What coordinates mean, by the container's `geospatialConfig`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Geospatial {
    /// Longitude and latitude on the WGS-84 ellipsoid.
    #[default]
    Geography,
    /// x and y of a plane.
    Geometry,
}

/// Runs an expression with the surface of the container; the two are types of their own.
macro_rules! on_surface {
    ($scope:expr, |$surface:ident| $body:expr) => {
        match $scope.geospatial {
            Geospatial::Geography => {
                let $surface = &Earth::new();
                $body
            }
            Geospatial::Geometry => {
                let $surface = &Plane;
                $body
            }
        }
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    strict("ST_AREA", exactly(1), |args, scope| on_surface!(scope, |surface| measure_one(surface, args, relate::area))),
    strict("ST_DISTANCE", exactly(2), |args, scope| {
        on_surface!(scope, |surface| two_shapes(surface, args).map(|(a, b)| relate::distance(surface, &a, &b)).into())
    }),
    strict("ST_INTERSECTS", exactly(2), |args, scope| {
        on_surface!(scope, |surface| two_shapes(surface, args).map(|(a, b)| relate::intersects(surface, &a, &b)).into())
    }),
    seeing("ST_ISVALID", exactly(1), is_valid),
    strict("ST_ISVALIDDETAILED", exactly(1), is_valid_detailed),
    strict("ST_WITHIN", exactly(2), |args, scope| {
        on_surface!(scope, |surface| two_shapes(surface, args).map(|(a, b)| relate::within(surface, &a, &b)).into())
    }),
];

/// A valid shape, or nothing.
fn shape<S: Surface>(surface: &S, value: &Val<'_>) -> Option<Shape> {
    geojson::read(value).ok().filter(|shape| valid::refuse(surface, shape).is_none())
}

fn two_shapes<S: Surface>(surface: &S, args: &[Val<'_>]) -> Option<(Shape, Shape)> {
    shape(surface, &args[0]).zip(shape(surface, &args[1]))
}

fn measure_one<'r, S: Surface>(surface: &S, args: &[Val<'r>], measure: impl Fn(&S, &Shape) -> f64) -> Val<'r> {
    shape(surface, &args[0]).map(|shape| measure(surface, &shape)).into()
}

fn fault(value: &Val<'_>, scope: &Scope) -> Option<&'static str> {
    match geojson::read(value) {
        Ok(shape) => on_surface!(scope, |surface| valid::refuse(surface, &shape)),
        Err(reason) => Some(reason),
    }
}

fn is_valid<'r>(args: &[Val<'r>], scope: &Scope) -> Val<'r> {
    Val::Bool(args[0].is_defined() && fault(&args[0], scope).is_none())
}

fn is_valid_detailed<'r>(args: &[Val<'r>], scope: &Scope) -> Val<'r> {
    let fault = fault(&args[0], scope);
    Val::object([
        (Cow::Borrowed("valid"), Val::Bool(fault.is_none())),
        (Cow::Borrowed("reason"), fault.map_or(Val::Undefined, Val::text)),
    ])
}
