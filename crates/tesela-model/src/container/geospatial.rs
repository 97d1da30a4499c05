//! `geospatialConfig`: whether coordinates are on the globe or in a plane.

use super::DefinitionError;
use super::fields::Fields;
use crate::json::{Object, Value};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GeospatialType {
    #[default]
    Geography,
    Geometry,
}

impl GeospatialType {
    pub fn name(self) -> &'static str {
        match self {
            Self::Geography => "Geography",
            Self::Geometry => "Geometry",
        }
    }

    pub(super) fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        const TYPES: [(&str, GeospatialType); 2] =
            [("Geography", GeospatialType::Geography), ("Geometry", GeospatialType::Geometry)];
        let mut fields = Fields::of("geospatialConfig", value)?;
        Ok(fields.word("type", "Geography or Geometry", &TYPES)?.unwrap_or_default())
    }

    pub(super) fn to_json(self) -> Value {
        [("type", self.name())].into_iter().collect::<Object>().into()
    }
}
