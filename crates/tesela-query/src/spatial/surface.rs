//! What the plane and the sphere have in common.

use super::Position;

/// A surface shapes lie on. Points are prepared once, so that questions about them are cheap.
pub trait Surface {
    type Point: Copy + PartialEq;

    fn point(&self, position: Position) -> Self::Point;

    /// Distance in metres, or in units of the plane.
    fn distance(&self, a: Self::Point, b: Self::Point) -> f64;

    /// The point of the edge from `a` to `b` nearest to `p`.
    fn nearest(&self, p: Self::Point, a: Self::Point, b: Self::Point) -> Self::Point;

    /// Whether `p` lies on the edge from `a` to `b`, its ends included.
    fn on_edge(&self, p: Self::Point, a: Self::Point, b: Self::Point) -> bool;

    /// Whether two edges cross at a point that is an end of neither.
    fn crosses(&self, a: Self::Point, b: Self::Point, c: Self::Point, d: Self::Point) -> bool;

    /// Whether a point that lies on no edge of the outer ring is inside it.
    fn inside(&self, p: Self::Point, ring: &[Self::Point]) -> bool;

    /// The same for the ring of a hole, whose direction does not matter.
    fn inside_hole(&self, p: Self::Point, ring: &[Self::Point]) -> bool;

    /// Area inside the outer ring.
    fn area(&self, ring: &[Position]) -> f64;

    /// Area inside the ring of a hole.
    fn hole_area(&self, ring: &[Position]) -> f64;

    /// Why a position is none of this surface.
    fn refuse(&self, position: Position) -> Option<&'static str>;
}
