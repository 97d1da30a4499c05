//! Spatial indexes: which geometries at a path are indexed.

use super::fields::{Fields, find_word, invalid, with_extra};
use super::{DefinitionError, GeospatialType, IndexPath};
use crate::json::{Object, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct SpatialIndex {
    /// Like the paths of the policy, but its end may be left out.
    pub path: IndexPath,
    /// At least one.
    pub types: Vec<SpatialType>,
    /// The plane a container of type Geometry indexes.
    pub bounding_box: Option<BoundingBox>,
    pub extra: Object,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpatialType {
    Point,
    LineString,
    Polygon,
    MultiPolygon,
}

const TYPES: [(&str, SpatialType); 4] = [
    ("Point", SpatialType::Point),
    ("LineString", SpatialType::LineString),
    ("Polygon", SpatialType::Polygon),
    ("MultiPolygon", SpatialType::MultiPolygon),
];

impl SpatialType {
    pub fn name(self) -> &'static str {
        TYPES[self as usize].0
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox {
    pub xmin: f64,
    pub ymin: f64,
    pub xmax: f64,
    pub ymax: f64,
}

impl SpatialIndex {
    pub(super) fn read(mut fields: Fields<'_>, geospatial: GeospatialType) -> Result<Self, DefinitionError> {
        let path = read_path(fields.required_string("path")?)?;
        let types = read_types(&mut fields)?;
        let bounding_box = match fields.take("boundingBox") {
            Some(value) => Some(BoundingBox::read(Fields::of(fields.place("boundingBox"), value)?)?),
            None if geospatial == GeospatialType::Geometry => {
                return Err(DefinitionError::NoBoundingBox { path: path.text().to_owned() });
            }
            None => None,
        };
        Ok(Self { path, types, bounding_box, extra: fields.rest() })
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("path", self.path.text());
        object.insert("types", self.types.iter().map(|kind| Value::from(kind.name())).collect::<Vec<Value>>());
        if let Some(bounds) = self.bounding_box {
            object.insert("boundingBox", bounds.to_json());
        }
        with_extra(object, &self.extra)
    }
}

fn read_path(text: &str) -> Result<IndexPath, DefinitionError> {
    IndexPath::parse(text).or_else(|refused| IndexPath::parse_open(text).ok_or(refused))
}

/// All types when none is named.
fn read_types(fields: &mut Fields<'_>) -> Result<Vec<SpatialType>, DefinitionError> {
    let Some(value) = fields.take("types") else { return Ok(TYPES.map(|(_, kind)| kind).to_vec()) };
    let expected = "a list of Point, LineString, Polygon, MultiPolygon";
    let refused = || invalid(fields.place("types"), expected, value);
    let elements = value.as_array().filter(|elements| !elements.is_empty()).ok_or_else(refused)?;
    let mut types = Vec::with_capacity(elements.len());
    for element in elements {
        let kind = element.as_str().and_then(|word| find_word(word, &TYPES)).ok_or_else(refused)?;
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    Ok(types)
}

impl BoundingBox {
    fn read(mut fields: Fields<'_>) -> Result<Self, DefinitionError> {
        let mut side = |name| match fields.take(name) {
            None => Err(DefinitionError::Missing { at: fields.place(name) }),
            Some(value) => value.as_f64().ok_or_else(|| invalid(fields.place(name), "a number", value)),
        };
        let found = Self { xmin: side("xmin")?, ymin: side("ymin")?, xmax: side("xmax")?, ymax: side("ymax")? };
        if found.xmin >= found.xmax || found.ymin >= found.ymax {
            let at = fields.place("xmax");
            return Err(invalid(at, "a box whose minima are below its maxima", &found.to_json()));
        }
        Ok(found)
    }

    fn to_json(self) -> Value {
        [("xmin", self.xmin), ("ymin", self.ymin), ("xmax", self.xmax), ("ymax", self.ymax)]
            .into_iter()
            .collect::<Object>()
            .into()
    }
}
