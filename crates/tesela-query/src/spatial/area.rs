//! Area to the left of a ring on the WGS-84 ellipsoid whose edges are great circles.
//!
//! Between the equator and latitude φ a strip of one radian of longitude has the area
//! `S(φ) = b²/2 · (sin φ / (1 − e² sin² φ) + artanh(e sin φ) / e)`. Walking along the ring, `∫ S(φ) dλ` adds up what lies
//! between it and the equator; what the ring leaves to its left is the negative of that, plus half the earth when it
//! goes around a pole. The integral has no closed form along a great circle: edges are halved until they are short and
//! each piece is summed by a Gauss rule, exact to well below a square metre.

use super::Position;
use std::f64::consts::{PI, TAU};

const EQUATORIAL_RADIUS_M: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;

/// Longitude a piece of an edge may span, in radians, before it is halved.
const PIECE_MAX: f64 = 0.05;
/// Halvings of one edge: enough for an edge that passes a pole by a kilometre.
const HALVINGS_MAX: u32 = 16;
/// Nearer to a pole than this, in degrees, a position is the pole.
const POLE: f64 = 1e-9;

/// Nodes and weights of the five-point Gauss rule on [-1, 1].
const GAUSS: [(f64, f64); 5] = [
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683, 0.478_628_670_499_366_5),
    (-0.538_469_310_105_683, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

/// Longitude and latitude in radians.
type Angles = (f64, f64);

/// Area of a strip from the equator to the latitude with this sine, per radian of longitude.
fn strip(sine: f64) -> f64 {
    let polar_radius = EQUATORIAL_RADIUS_M * (1.0 - FLATTENING);
    let e2 = FLATTENING * (2.0 - FLATTENING);
    let e = e2.sqrt();
    polar_radius * polar_radius / 2.0 * (sine / (1.0 - e2 * sine * sine) + (e * sine).atanh() / e)
}

/// Area of the whole earth.
pub fn earth() -> f64 {
    2.0 * TAU * strip(1.0)
}

/// Area to the left of a closed ring; between nothing and the whole earth.
pub fn left_of(ring: &[Position]) -> f64 {
    let (mut below, mut turned) = (0.0, 0.0);
    let corners = corners(ring);
    for (from, to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        let span = difference(from.0, to.0);
        turned += span;
        below += along(*from, *to, HALVINGS_MAX);
    }
    let around_pole = (turned / TAU).round().abs() * TAU * strip(1.0);
    let area = around_pole - below;
    if area < 0.0 { area + earth() } else { area }
}

/// The corners of a ring without its repeated end. A pole has no longitude of its own: it is entered on that of the
/// corner before it and left on that of the corner behind.
fn corners(ring: &[Position]) -> Vec<Angles> {
    let open: Vec<Angles> =
        ring.iter().skip(1).map(|[longitude, latitude]| (longitude.to_radians(), latitude.to_radians())).collect();
    let is_pole = |at: usize| ring[(at % open.len()) + 1][1].abs() > 90.0 - POLE;
    let mut corners = Vec::with_capacity(open.len());
    for at in 0..open.len() {
        if !is_pole(at) {
            corners.push(open[at]);
            continue;
        }
        let latitude = open[at].1;
        corners.push((open[(at + open.len() - 1) % open.len()].0, latitude));
        corners.push((open[(at + 1) % open.len()].0, latitude));
    }
    corners
}

/// The shorter way from one longitude to another.
fn difference(from: f64, to: f64) -> f64 {
    (to - from + PI).rem_euclid(TAU) - PI
}

/// `∫ S dλ` along the great circle from one corner to another.
fn along(from: Angles, to: Angles, halvings: u32) -> f64 {
    let span = difference(from.0, to.0);
    if span.abs() > PIECE_MAX && halvings > 0 {
        let middle = middle(from, to);
        return along(from, middle, halvings - 1) + along(middle, to, halvings - 1);
    }
    let sum: f64 = GAUSS.iter().map(|(node, weight)| weight * strip(sine_at(from, to, span, (node + 1.0) / 2.0))).sum();
    sum * span / 2.0
}

/// Sine of the latitude of the great circle at a part of the way in longitude.
fn sine_at(from: Angles, to: Angles, span: f64, part: f64) -> f64 {
    let tangent = if span.abs() < 1e-15 {
        from.1.tan() + (to.1.tan() - from.1.tan()) * part
    } else {
        (from.1.tan() * (span * (1.0 - part)).sin() + to.1.tan() * (span * part).sin()) / span.sin()
    };
    tangent.atan().sin()
}

fn middle(from: Angles, to: Angles) -> Angles {
    let sum = [from, to].iter().fold([0.0; 3], |[x, y, z], (longitude, latitude)| {
        let level = latitude.cos();
        [x + level * longitude.cos(), y + level * longitude.sin(), z + latitude.sin()]
    });
    let [x, y, z] = sum;
    (y.atan2(x), z.atan2(x.hypot(y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    #[test]
    fn the_parts_of_the_earth_are_known() {
        assert!(close(earth(), 510_065_621_724_088.5));
        let octant = [[0.0, 0.0], [90.0, 0.0], [90.0, 90.0], [0.0, 0.0]];
        assert!(close(left_of(&octant), earth() / 8.0));
        let northern = [[0.0, 0.0], [120.0, 0.0], [-120.0, 0.0], [0.0, 0.0]];
        assert!(close(left_of(&northern), earth() / 2.0));
        let southern = [[0.0, 0.0], [-120.0, 0.0], [120.0, 0.0], [0.0, 0.0]];
        assert!(close(left_of(&southern), earth() / 2.0));
    }

    #[test]
    fn a_thin_strip_along_a_meridian_has_its_closed_form() {
        // So narrow that a great circle is a parallel for all purposes.
        let strip_area = left_of(&[[0.0, 10.0], [0.001, 10.0], [0.001, 60.0], [0.0, 60.0], [0.0, 10.0]]);
        let expected =
            0.001_f64.to_radians() * (strip(60.0_f64.to_radians().sin()) - strip(10.0_f64.to_radians().sin()));
        assert!(close(strip_area, expected), "{strip_area} {expected}");
    }
}
