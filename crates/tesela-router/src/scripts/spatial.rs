//! `__.spatial`: the geometry of the query language, called from scripts.

use tesela_model::json;
use tesela_query::{CompileContext, CompiledQuery, Execution, ExecutionOptions};
use tesela_script::{Spatial, SpatialFunction};

/// Asks the query engine.
pub(super) struct QuerySpatial;

impl Spatial for QuerySpatial {
    fn compute(&self, function: SpatialFunction, first: &str, second: &str) -> Option<String> {
        let text = match function {
            SpatialFunction::Distance => "SELECT VALUE ST_DISTANCE(@a, @b)",
            SpatialFunction::Intersects => "SELECT VALUE ST_INTERSECTS(@a, @b)",
            SpatialFunction::Within => "SELECT VALUE ST_WITHIN(@a, @b)",
            SpatialFunction::IsValid => "SELECT VALUE ST_ISVALID(@a)",
            SpatialFunction::IsValidDetailed => "SELECT VALUE ST_ISVALIDDETAILED(@a)",
        };
        let parameter = |name: &str, text: &str| Some((name.to_owned(), json::parse(text.as_bytes()).ok()?));
        let parameters = [parameter("@a", first)?, parameter("@b", second)?];
        let syntax = tesela_sql::parse(text).ok()?;
        let query = CompiledQuery::compile(&syntax, &parameters, &CompileContext::default()).ok()?;
        let mut rows = Execution::new(&query, ExecutionOptions::default()).finish().ok()?;
        String::from_utf8(rows.pop()?.json).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometry_in_geometry_out() {
        let compute = |function, first, second| QuerySpatial.compute(function, first, second);
        let (zurich, bern) =
            (r#"{"type":"Point","coordinates":[8.54,47.37]}"#, r#"{"type":"Point","coordinates":[7.44,46.95]}"#);
        let metres: f64 = compute(SpatialFunction::Distance, zurich, bern).unwrap().parse().unwrap();
        assert!((90_000.0..100_000.0).contains(&metres), "{metres}");
        assert_eq!(compute(SpatialFunction::IsValid, zurich, "null").as_deref(), Some("true"));
        assert!(compute(SpatialFunction::IsValidDetailed, "{}", "null").unwrap().contains("false"));
        assert_eq!(compute(SpatialFunction::Within, "1", "not json"), None);
        let square = r#"{"type":"Polygon","coordinates":[[[7,46],[9,46],[9,48],[7,48],[7,46]]]}"#;
        assert_eq!(compute(SpatialFunction::Within, bern, square).as_deref(), Some("true"));
        assert_eq!(compute(SpatialFunction::Intersects, square, bern).as_deref(), Some("true"));
    }
}
