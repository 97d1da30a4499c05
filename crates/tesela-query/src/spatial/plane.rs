//! The plane: coordinates are x and y, edges are straight.

use super::Position;
use super::surface::Surface;

pub struct Plane;

/// Twice the signed area of the triangle; positive when it turns left.
fn turn(a: Position, b: Position, c: Position) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn signed_area(ring: &[Position]) -> f64 {
    ring.windows(2).map(|edge| edge[0][0] * edge[1][1] - edge[1][0] * edge[0][1]).sum::<f64>() / 2.0
}

impl Surface for Plane {
    type Point = Position;

    fn point(&self, position: Position) -> Position {
        position
    }

    fn distance(&self, a: Position, b: Position) -> f64 {
        (a[0] - b[0]).hypot(a[1] - b[1])
    }

    fn nearest(&self, p: Position, a: Position, b: Position) -> Position {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = dx * dx + dy * dy;
        if length == 0.0 {
            return a;
        }
        let along = (((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length).clamp(0.0, 1.0);
        [a[0] + along * dx, a[1] + along * dy]
    }

    fn on_edge(&self, p: Position, a: Position, b: Position) -> bool {
        let within = |i: usize| (a[i].min(b[i])..=a[i].max(b[i])).contains(&p[i]);
        turn(a, b, p) == 0.0 && within(0) && within(1)
    }

    fn crosses(&self, a: Position, b: Position, c: Position, d: Position) -> bool {
        turn(a, b, c) * turn(a, b, d) < 0.0 && turn(c, d, a) * turn(c, d, b) < 0.0
    }

    /// A ray to the right crosses the ring an odd number of times.
    fn inside(&self, p: Position, ring: &[Position]) -> bool {
        let crossed = ring.windows(2).filter(|edge| {
            let (a, b) = (edge[0], edge[1]);
            (a[1] > p[1]) != (b[1] > p[1]) && p[0] < (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1]) + a[0]
        });
        crossed.count() % 2 == 1
    }

    fn inside_hole(&self, p: Position, ring: &[Position]) -> bool {
        self.inside(p, ring)
    }

    fn area(&self, ring: &[Position]) -> f64 {
        signed_area(ring).abs()
    }

    fn hole_area(&self, ring: &[Position]) -> f64 {
        self.area(ring)
    }

    fn refuse(&self, _: Position) -> Option<&'static str> {
        None
    }
}
