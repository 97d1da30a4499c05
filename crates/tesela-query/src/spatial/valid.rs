//! Whether a shape is one: positions on the surface, rings that do not cut themselves.

use super::Shape;
use super::surface::Surface;

/// The reason a shape is not valid, if it is not.
pub fn refuse<S: Surface>(surface: &S, shape: &Shape) -> Option<&'static str> {
    if let Some(reason) = shape.positions().into_iter().find_map(|position| surface.refuse(position)) {
        return Some(reason);
    }
    let Shape::Area(polygons) = shape else { return None };
    for polygon in polygons {
        let mut edges = Vec::new();
        for ring in &polygon.rings {
            let points: Vec<S::Point> = ring.iter().map(|position| surface.point(*position)).collect();
            if points.windows(2).any(|edge| edge[0] == edge[1]) {
                return Some("a ring repeats a position");
            }
            edges.extend(points.windows(2).map(|edge| (edge[0], edge[1])));
        }
        let cut = |index: usize| {
            let (a, b) = edges[index];
            edges[index + 1..].iter().any(|(c, d)| surface.crosses(a, b, *c, *d))
        };
        if (0..edges.len()).any(cut) {
            return Some("the edges of a polygon cross");
        }
    }
    None
}
