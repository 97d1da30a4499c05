//! Questions about shapes, asked of any surface.

use super::surface::Surface;
use super::{Polygon, Shape};

/// A shape with its points prepared.
struct Prepared<P> {
    points: Vec<P>,
    edges: Vec<(P, P)>,
    /// The rings of each polygon.
    areas: Vec<Vec<Vec<P>>>,
}

impl<P: Copy + PartialEq> Prepared<P> {
    fn new<S: Surface<Point = P>>(surface: &S, shape: &Shape) -> Self {
        let points = shape.positions().into_iter().map(|position| surface.point(position)).collect();
        let mut edges = Vec::new();
        for path in shape.paths() {
            let points: Vec<P> = path.iter().map(|position| surface.point(*position)).collect();
            edges.extend(points.windows(2).map(|edge| (edge[0], edge[1])));
        }
        let ring = |ring: &Vec<_>| ring.iter().map(|position| surface.point(*position)).collect();
        let areas = match shape {
            Shape::Area(polygons) => polygons.iter().map(|polygon| polygon.rings.iter().map(ring).collect()).collect(),
            Shape::Point(_) | Shape::Line(_) => Vec::new(),
        };
        Self { points, edges, areas }
    }

    fn on_edge<S: Surface<Point = P>>(&self, surface: &S, p: P) -> bool {
        self.edges.iter().any(|(a, b)| surface.on_edge(p, *a, *b))
            || (self.edges.is_empty() && self.points.contains(&p))
    }

    fn in_area<S: Surface<Point = P>>(&self, surface: &S, p: P) -> bool {
        self.areas.iter().any(|rings| match rings.split_first() {
            Some((outer, holes)) => surface.inside(p, outer) && !holes.iter().any(|hole| surface.inside_hole(p, hole)),
            None => false,
        })
    }

    /// Inside, or on the border.
    fn covers<S: Surface<Point = P>>(&self, surface: &S, p: P) -> bool {
        self.on_edge(surface, p) || self.in_area(surface, p)
    }

    fn crosses<S: Surface<Point = P>>(&self, surface: &S, other: &Self) -> bool {
        self.edges.iter().any(|(a, b)| other.edges.iter().any(|(c, d)| surface.crosses(*a, *b, *c, *d)))
    }
}

/// Whether two shapes have a point in common.
pub fn intersects<S: Surface>(surface: &S, a: &Shape, b: &Shape) -> bool {
    meet(surface, &Prepared::new(surface, a), &Prepared::new(surface, b))
}

fn meet<S: Surface>(surface: &S, a: &Prepared<S::Point>, b: &Prepared<S::Point>) -> bool {
    a.points.iter().any(|p| b.covers(surface, *p))
        || b.points.iter().any(|p| a.covers(surface, *p))
        || a.crosses(surface, b)
}

/// Whether all of `a` lies in `b`, borders included.
pub fn within<S: Surface>(surface: &S, a: &Shape, b: &Shape) -> bool {
    let (a, b) = (Prepared::new(surface, a), Prepared::new(surface, b));
    let corners = a.points.iter().all(|p| b.covers(surface, *p));
    // With all corners inside, an edge leaves through the border, or a hole or gap of `b` opens inside `a`.
    corners && !a.crosses(surface, &b) && !b.points.iter().any(|p| a.in_area(surface, *p) && !a.on_edge(surface, *p))
}

/// The shortest way between two shapes; zero when they meet.
pub fn distance<S: Surface>(surface: &S, a: &Shape, b: &Shape) -> f64 {
    let (a, b) = (Prepared::new(surface, a), Prepared::new(surface, b));
    if meet(surface, &a, &b) {
        return 0.0;
    }
    one_way(surface, &a, &b).min(one_way(surface, &b, &a))
}

/// From the points of one to the other. Between edges that do not cross the shortest way starts at an end.
fn one_way<S: Surface>(surface: &S, from: &Prepared<S::Point>, to: &Prepared<S::Point>) -> f64 {
    let mut shortest = f64::INFINITY;
    for p in &from.points {
        for (a, b) in &to.edges {
            shortest = shortest.min(surface.distance(*p, surface.nearest(*p, *a, *b)));
        }
        if to.edges.is_empty() {
            shortest = to.points.iter().map(|q| surface.distance(*p, *q)).fold(shortest, f64::min);
        }
    }
    shortest
}

/// Area of polygons; points and lines have none.
pub fn area<S: Surface>(surface: &S, shape: &Shape) -> f64 {
    let polygon = |polygon: &Polygon| match polygon.rings.split_first() {
        Some((outer, holes)) => surface.area(outer) - holes.iter().map(|hole| surface.hole_area(hole)).sum::<f64>(),
        None => 0.0,
    };
    match shape {
        Shape::Area(polygons) => polygons.iter().map(polygon).sum(),
        Shape::Point(_) | Shape::Line(_) => 0.0,
    }
}
