//! Shapes on the earth and in the plane.
//!
//! A shape is a GeoJSON Point, LineString, Polygon or MultiPolygon. What its coordinates mean is the container's
//! decision: *Geography* reads them as longitude and latitude on the WGS-84 ellipsoid, edges follow great circles, and
//! the inside of an outer ring is the region to its left; *Geometry* reads them as x and y of a plane and the inside
//! is what a ring encloses. Both are a [`surface::Surface`]; the questions ([`relate`]) are asked in terms of that.
//!
//! ```text
//! Point [30, 10] and Polygon [[35,10],[45,45],[15,40],[10,20],[35,10]]
//!   Geometry:   not inside, distance 2.77 (to the edge from [10,20] to [35,10])
//!   Geography:  not inside, distance in metres along the ellipsoid
//! ```
//!
//! Distances between points are geodesics of the ellipsoid, exact to nanometres; the point of an edge nearest to
//! another point is found on the sphere, which misplaces it along the edge a little and so changes the distance in the
//! second order only. Left out: the other GeoJSON types, coordinate systems, altitude.

pub mod area;
pub mod geojson;
pub mod plane;
pub mod relate;
pub mod sphere;
pub mod surface;
pub mod valid;

/// Points a shape may have. Ours: the questions compare edges pairwise, and this bounds one answer to some
/// ten million steps.
pub const SHAPE_POINTS_MAX: usize = 4096;

/// Longitude and latitude in degrees, or x and y.
pub type Position = [f64; 2];

/// A shape as its coordinates say it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Point(Position),
    Line(Vec<Position>),
    /// One polygon, or the several of a MultiPolygon.
    Area(Vec<Polygon>),
}

/// The first ring is the outer one, the others are holes. Rings repeat their first position at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    pub rings: Vec<Vec<Position>>,
}

impl Shape {
    pub fn positions(&self) -> Vec<Position> {
        match self {
            Self::Point(position) => vec![*position],
            Self::Line(positions) => positions.clone(),
            Self::Area(polygons) => {
                polygons.iter().flat_map(|polygon| polygon.rings.iter().flatten().copied()).collect()
            }
        }
    }

    /// The runs of positions joined by edges.
    pub fn paths(&self) -> Vec<&[Position]> {
        match self {
            Self::Point(_) => Vec::new(),
            Self::Line(positions) => vec![positions],
            Self::Area(polygons) => {
                polygons.iter().flat_map(|polygon| polygon.rings.iter().map(Vec::as_slice)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
