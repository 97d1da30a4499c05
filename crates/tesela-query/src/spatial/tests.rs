//! Laws of the questions, and the sphere against the plane where they must agree.

use super::plane::Plane;
use super::relate::{area, distance, intersects, within};
use super::sphere::Earth;
use super::surface::Surface;
use super::{Polygon, Position, Shape, valid};
use proptest::prelude::*;

/// Positions within a few kilometres, where great circles are straight for practical purposes.
fn nearby() -> impl Strategy<Value = Position> {
    (0..400_i32, 0..400_i32).prop_map(|(x, y)| [f64::from(x) / 10_000.0, f64::from(y) / 10_000.0])
}

fn anywhere() -> impl Strategy<Value = Position> {
    (-1790..1790_i32, -890..890_i32).prop_map(|(x, y)| [f64::from(x) / 10.0, f64::from(y) / 10.0])
}

/// A triangle that turns left and is not too thin.
fn triangle(a: Position, b: Position, c: Position) -> Option<Shape> {
    let turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if turn.abs() < 1e-5 {
        return None;
    }
    let ring = if turn > 0.0 { vec![a, b, c, a] } else { vec![a, c, b, a] };
    Some(Shape::Area(vec![Polygon { rings: vec![ring] }]))
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        anywhere().prop_map(Shape::Point),
        (anywhere(), anywhere()).prop_map(|(a, b)| Shape::Line(vec![a, b])),
        (anywhere(), anywhere(), anywhere()).prop_filter_map("a thin triangle", |(a, b, c)| triangle(a, b, c)),
    ]
}

proptest! {
    #[test]
    fn nearby_the_sphere_is_a_plane(a in nearby(), b in nearby(), c in nearby(), p in nearby()) {
        let Some(polygon) = triangle(a, b, c) else { return Ok(()) };
        let far_from_edge = distance(&Plane, &Shape::Point(p), &Shape::Line(vec![a, b, c, a])) > 1e-6;
        prop_assume!(far_from_edge);
        let point = Shape::Point(p);
        prop_assert_eq!(within(&Earth::new(), &point, &polygon), within(&Plane, &point, &polygon));
        let (degrees, metres) = (distance(&Plane, &point, &polygon), distance(&Earth::new(), &point, &polygon));
        prop_assert!((metres - degrees * 110_900.0).abs() <= 0.01 * metres, "{degrees} degrees, {metres} m");
    }

    #[test]
    fn questions_agree_with_each_other(a in shape(), b in shape()) {
        let earth = Earth::new();
        prop_assume!(valid::refuse(&earth, &a).is_none() && valid::refuse(&earth, &b).is_none());
        let apart = distance(&earth, &a, &b);
        prop_assert!((apart - distance(&earth, &b, &a)).abs() < 1e-6);
        prop_assert_eq!(apart == 0.0, intersects(&earth, &a, &b));
        prop_assert!(!within(&earth, &a, &b) || intersects(&earth, &a, &b));
        prop_assert!(within(&earth, &a, &a) && intersects(&earth, &a, &a));
        prop_assert!(apart <= 20_004_000.0, "no two points are further apart than half a meridian");
    }

    #[test]
    fn a_point_is_on_one_side_of_a_ring(a in anywhere(), b in anywhere(), c in anywhere(), p in anywhere()) {
        let earth = Earth::new();
        let corners = [a, b, c].map(|corner| earth.point(corner));
        let point = earth.point(p);
        let ring = [corners[0], corners[1], corners[2], corners[0]];
        let reversed = [corners[0], corners[2], corners[1], corners[0]];
        prop_assume!(ring.windows(2).all(|edge| !earth.on_edge(point, edge[0], edge[1])));
        prop_assume!(valid::refuse(&earth, &Shape::Area(vec![Polygon { rings: vec![vec![a, b, c, a]] }])).is_none());
        prop_assume!(area(&earth, &Shape::Area(vec![Polygon { rings: vec![vec![a, b, c, a]] }])) > 1e6);
        prop_assert_ne!(earth.inside(point, &ring), earth.inside(point, &reversed));
    }
}

#[test]
fn both_halves_of_the_earth_make_a_whole() {
    let earth = Earth::new();
    let ring = vec![[0.0, 0.0], [50.0, 10.0], [20.0, 60.0], [0.0, 0.0]];
    let reversed = ring.iter().rev().copied().collect();
    let of = |ring| area(&earth, &Shape::Area(vec![Polygon { rings: vec![ring] }]));
    let surface = 510_065_621_724_088.5;
    assert!((of(ring) + of(reversed) - surface).abs() < 1.0);
}
