//! GeoJSON to shapes. What is wrong is said in words, for ST_ISVALIDDETAILED.

use super::{Polygon, Position, SHAPE_POINTS_MAX, Shape};
use crate::value::Val;

/// Positions a closed ring has at least: a triangle and its first corner again.
const RING_POSITIONS_MIN: usize = 4;

/// Reads a shape; the error is the reason it is none.
pub fn read(value: &Val<'_>) -> Result<Shape, &'static str> {
    let kind = value.get("type");
    let Some(kind) = kind.as_str() else { return Err("the value is no GeoJSON object with a type") };
    let coordinates = value.get("coordinates");
    let shape = match &*kind {
        "Point" => Shape::Point(position(&coordinates)?),
        "LineString" => Shape::Line(line(&coordinates)?),
        "Polygon" => Shape::Area(vec![polygon(&coordinates)?]),
        "MultiPolygon" => Shape::Area(list(&coordinates, polygon)?),
        _ => return Err("the type is none of Point, LineString, Polygon and MultiPolygon"),
    };
    if shape.positions().len() > SHAPE_POINTS_MAX {
        return Err("the shape has too many positions");
    }
    Ok(shape)
}

fn list<T>(value: &Val<'_>, read: impl Fn(&Val<'_>) -> Result<T, &'static str>) -> Result<Vec<T>, &'static str> {
    let elements = value.elements().ok_or("the coordinates are no array of the depth the type needs")?;
    let all = elements.take(SHAPE_POINTS_MAX + 1).map(|element| read(&element)).collect::<Result<Vec<T>, _>>()?;
    if all.is_empty() { Err("the coordinates are empty") } else { Ok(all) }
}

/// Two numbers; an altitude behind them is allowed and ignored.
fn position(value: &Val<'_>) -> Result<Position, &'static str> {
    let numbers =
        list(value, |number| number.as_f64().filter(|n| n.is_finite()).ok_or("a position holds a non-number"))?;
    match numbers[..] {
        [x, y] | [x, y, _] => Ok([x, y]),
        _ => Err("a position does not have two numbers"),
    }
}

fn line(value: &Val<'_>) -> Result<Vec<Position>, &'static str> {
    let positions = list(value, position)?;
    if positions.len() < 2 { Err("a line needs two positions") } else { Ok(positions) }
}

fn polygon(value: &Val<'_>) -> Result<Polygon, &'static str> {
    let ring = |value: &Val<'_>| {
        let positions = list(value, position)?;
        if positions.len() < RING_POSITIONS_MIN {
            return Err("a ring needs four positions");
        }
        if positions.first() != positions.last() {
            return Err("the first and the last position of a ring differ");
        }
        Ok(positions)
    };
    Ok(Polygon { rings: list(value, ring)? })
}
