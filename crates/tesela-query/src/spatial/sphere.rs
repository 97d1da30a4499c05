//! The earth: coordinates are longitude and latitude, edges are great circles, distances and areas those of the
//! WGS-84 ellipsoid.
//!
//! Directions from the centre stand for points: three numbers of length one. "Left of the edge from a to b" is then the
//! sign of `(a × b) · p`, with no special case at the poles or at the date line.

use super::surface::Surface;
use super::{Position, area};
use geographiclib_rs::{Geodesic, InverseGeodesic};

/// Directions closer than this to a great circle lie on it: some micrometres on the ground, the error of the
/// computation itself.
const ON_EDGE: f64 = 1e-12;

pub struct Earth {
    ellipsoid: Geodesic,
}

type Direction = [f64; 3];

fn dot(a: Direction, b: Direction) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Direction, b: Direction) -> Direction {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: Direction) -> Direction {
    let length = dot(a, a).sqrt();
    [a[0] / length, a[1] / length, a[2] / length]
}

fn direction([longitude, latitude]: Position) -> Direction {
    let (longitude, latitude) = (longitude.to_radians(), latitude.to_radians());
    [latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()]
}

fn position(p: Direction) -> Position {
    [p[1].atan2(p[0]).to_degrees(), p[2].atan2(p[0].hypot(p[1])).to_degrees()]
}

/// Positive when `p` is left of the great circle from `a` to `b`.
fn side(a: Direction, b: Direction, p: Direction) -> f64 {
    dot(cross(a, b), p)
}

/// Whether two arcs cross inside both: each separates the ends of the other, on the same half of the sphere. Arcs that
/// only touch, neighbours of a ring above all, do not.
fn arcs_cross(a: Direction, b: Direction, c: Direction, d: Direction) -> bool {
    let (abc, abd) = (side(a, b, c), side(a, b, d));
    let (cda, cdb) = (side(c, d, a), side(c, d, b));
    // With c to the right and d to the left of ab, the crossing is real (and not of the far halves) when a is to the
    // left and b to the right of cd; or everything mirrored.
    let right = |side: f64| side < -ON_EDGE;
    let left = |side: f64| side > ON_EDGE;
    (right(abc) && left(abd) && left(cda) && right(cdb)) || (left(abc) && right(abd) && right(cda) && left(cdb))
}

impl Earth {
    pub fn new() -> Self {
        Self { ellipsoid: Geodesic::wgs84() }
    }
}

impl Default for Earth {
    fn default() -> Self {
        Self::new()
    }
}

impl Surface for Earth {
    type Point = Direction;

    fn point(&self, position: Position) -> Direction {
        direction(position)
    }

    fn distance(&self, a: Direction, b: Direction) -> f64 {
        let ([a_lon, a_lat], [b_lon, b_lat]) = (position(a), position(b));
        self.ellipsoid.inverse(a_lat, a_lon, b_lat, b_lon)
    }

    fn nearest(&self, p: Direction, a: Direction, b: Direction) -> Direction {
        let normal = cross(a, b);
        let length = dot(normal, normal);
        let closer_end = if dot(p, a) >= dot(p, b) { a } else { b };
        if length == 0.0 {
            return closer_end;
        }
        let height = dot(p, normal) / length;
        let foot = [p[0] - height * normal[0], p[1] - height * normal[1], p[2] - height * normal[2]];
        let between = side(normal, a, foot) >= 0.0 && side(b, normal, foot) >= 0.0;
        if between && dot(foot, foot) > 0.0 { unit(foot) } else { closer_end }
    }

    fn on_edge(&self, p: Direction, a: Direction, b: Direction) -> bool {
        let nearest = self.nearest(p, a, b);
        let apart = [p[0] - nearest[0], p[1] - nearest[1], p[2] - nearest[2]];
        dot(apart, apart).sqrt() <= ON_EDGE
    }

    fn crosses(&self, a: Direction, b: Direction, c: Direction, d: Direction) -> bool {
        arcs_cross(a, b, c, d)
    }

    /// Walks from the point to the middle of an edge: it starts inside when it arrives from the left after crossing
    /// an even number of the other edges, or from the right after an odd one. An edge whose walk runs through a corner
    /// tells nothing, so the next one is asked.
    fn inside(&self, p: Direction, ring: &[Direction]) -> bool {
        let edges: Vec<(Direction, Direction)> = ring.windows(2).map(|edge| (edge[0], edge[1])).collect();
        for (index, (a, b)) in edges.iter().enumerate() {
            let middle = unit([a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
            let from = side(*a, *b, p);
            let through_corner =
                ring.iter().any(|corner| side(p, middle, *corner).abs() <= ON_EDGE && dot(*corner, middle) > 0.0);
            if from.abs() <= ON_EDGE || through_corner || !middle[0].is_finite() {
                continue;
            }
            let others = edges.iter().enumerate().filter(|(other, _)| *other != index);
            let crossed = others.filter(|(_, (c, d))| arcs_cross(p, middle, *c, *d)).count();
            return (from > 0.0) == (crossed % 2 == 0);
        }
        false
    }

    fn inside_hole(&self, p: Direction, ring: &[Direction]) -> bool {
        let positions: Vec<Position> = ring.iter().map(|corner| position(*corner)).collect();
        let left_is_larger = area::left_of(&positions) > area::earth() / 2.0;
        self.inside(p, ring) != left_is_larger
    }

    fn area(&self, ring: &[Position]) -> f64 {
        area::left_of(ring)
    }

    fn hole_area(&self, ring: &[Position]) -> f64 {
        let left = area::left_of(ring);
        left.min(area::earth() - left)
    }

    fn refuse(&self, [longitude, latitude]: Position) -> Option<&'static str> {
        if !(-180.0..=180.0).contains(&longitude) {
            return Some("a longitude is not between -180 and 180 degrees");
        }
        if !(-90.0..=90.0).contains(&latitude) {
            return Some("a latitude is not between -90 and 90 degrees");
        }
        None
    }
}
