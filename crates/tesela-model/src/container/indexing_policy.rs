//! The indexing policy: what is indexed, and how.
//!
//! Normalised as the service does it: the mode in lower case, `automatic` following from the mode, `/` as `/*`, the
//! old `indexes` of included paths dropped, everything included when nothing is said, `/"_etag"/?` excluded unless it
//! is spoken of, and no paths at all when the mode is none.

use super::fields::{Fields, insert_list, with_extra};
use super::{
    CompositeIndex, DefinitionError, FullTextIndex, GeospatialType, IndexPath, PathMatcher, SpatialIndex, VectorIndex,
};
use crate::json::{Object, Value};
use crate::limits::{COMPOSITE_INDEXES_MAX, INDEX_PATHS_MAX};

#[derive(Clone, Debug, PartialEq)]
pub struct IndexingPolicy {
    pub mode: IndexingMode,
    /// Empty only when the mode is none, or when `/*` is excluded.
    pub included_paths: Vec<IndexPath>,
    pub excluded_paths: Vec<IndexPath>,
    pub composite_indexes: Vec<CompositeIndex>,
    pub spatial_indexes: Vec<SpatialIndex>,
    pub vector_indexes: Vec<VectorIndex>,
    pub full_text_indexes: Vec<FullTextIndex>,
    pub extra: Object,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexingMode {
    Consistent,
    /// Retired; served as consistent.
    Lazy,
    None,
}

impl IndexingMode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Consistent => "consistent",
            Self::Lazy => "lazy",
            Self::None => "none",
        }
    }
}

impl Default for IndexingPolicy {
    /// Everything but the etag.
    fn default() -> Self {
        Self {
            mode: IndexingMode::Consistent,
            included_paths: vec![IndexPath::root()],
            excluded_paths: vec![IndexPath::etag()],
            composite_indexes: Vec::new(),
            spatial_indexes: Vec::new(),
            vector_indexes: Vec::new(),
            full_text_indexes: Vec::new(),
            extra: Object::new(),
        }
    }
}

impl IndexingPolicy {
    /// Whether items are indexed without being asked to; follows from the mode.
    pub fn automatic(&self) -> bool {
        self.mode != IndexingMode::None
    }

    /// The policy's paths, ready to walk documents with.
    pub fn matcher(&self) -> PathMatcher {
        match self.mode {
            IndexingMode::None => PathMatcher::nothing(),
            IndexingMode::Consistent | IndexingMode::Lazy => {
                PathMatcher::compile(&self.included_paths, &self.excluded_paths)
            }
        }
    }

    pub(super) fn from_json(value: &Value, geospatial: GeospatialType) -> Result<Self, DefinitionError> {
        const MODES: [(&str, IndexingMode); 3] =
            [("consistent", IndexingMode::Consistent), ("lazy", IndexingMode::Lazy), ("none", IndexingMode::None)];
        let mut fields = Fields::of("indexingPolicy", value)?;
        let mode = fields.word("indexingMode", "consistent, lazy or none", &MODES)?;
        let mode = mode.unwrap_or(IndexingMode::Consistent);
        let automatic = fields.boolean("automatic")?;
        if mode == IndexingMode::None && automatic == Some(true) {
            return Err(DefinitionError::AutomaticWithoutIndex);
        }
        let included = read_paths(&mut fields, "includedPaths")?;
        let excluded = read_paths(&mut fields, "excludedPaths")?;
        let (included_paths, excluded_paths) = match mode {
            IndexingMode::None => (Vec::new(), Vec::new()),
            IndexingMode::Consistent | IndexingMode::Lazy => normalise(included, excluded)?,
        };
        Ok(Self {
            mode,
            included_paths,
            excluded_paths,
            composite_indexes: read_composites(&mut fields)?,
            spatial_indexes: fields
                .objects("spatialIndexes")?
                .into_iter()
                .map(|fields| SpatialIndex::read(fields, geospatial))
                .collect::<Result<_, _>>()?,
            vector_indexes: VectorIndex::read_list(&mut fields)?,
            full_text_indexes: FullTextIndex::read_list(&mut fields)?,
            extra: fields.rest(),
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let paths = |paths: &[IndexPath]| -> Vec<Value> {
            let one = |path: &IndexPath| [("path", path.text())].into_iter().collect::<Object>().into();
            paths.iter().map(one).collect()
        };
        let mut object = Object::new();
        object.insert("indexingMode", self.mode.name());
        object.insert("automatic", self.automatic());
        object.insert("includedPaths", paths(&self.included_paths));
        object.insert("excludedPaths", paths(&self.excluded_paths));
        insert_list(&mut object, "compositeIndexes", &self.composite_indexes, CompositeIndex::to_json);
        insert_list(&mut object, "spatialIndexes", &self.spatial_indexes, SpatialIndex::to_json);
        insert_list(&mut object, "vectorIndexes", &self.vector_indexes, VectorIndex::to_json);
        insert_list(&mut object, "fullTextIndexes", &self.full_text_indexes, FullTextIndex::to_json);
        with_extra(object, &self.extra)
    }
}

/// A path repeated in its list counts once.
fn read_paths(fields: &mut Fields<'_>, list: &'static str) -> Result<Vec<IndexPath>, DefinitionError> {
    let elements = fields.objects(list)?;
    // Also an empty list has its own property in the answer.
    let _ = fields.take(list);
    if elements.len() > INDEX_PATHS_MAX {
        return Err(DefinitionError::TooManyIndexPaths { list, found: elements.len() });
    }
    let mut paths: Vec<IndexPath> = Vec::with_capacity(elements.len());
    for mut element in elements {
        let path = IndexPath::parse(element.required_string("path")?)?;
        if !paths.iter().any(|earlier| earlier.same_place(&path)) {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn normalise(
    mut included: Vec<IndexPath>,
    mut excluded: Vec<IndexPath>,
) -> Result<(Vec<IndexPath>, Vec<IndexPath>), DefinitionError> {
    if let Some(both) = included.iter().find(|path| excluded.iter().any(|other| other.same_place(path))) {
        return Err(DefinitionError::IncludedAndExcluded(both.text().to_owned()));
    }
    if !included.iter().chain(&excluded).any(IndexPath::is_root) {
        if !included.is_empty() {
            return Err(DefinitionError::NoRootPath);
        }
        included.push(IndexPath::root());
    }
    if !included.iter().chain(&excluded).any(|path| path.begins_with("_etag")) {
        excluded.push(IndexPath::etag());
    }
    Ok((included, excluded))
}

fn read_composites(fields: &mut Fields<'_>) -> Result<Vec<CompositeIndex>, DefinitionError> {
    let place = fields.place("compositeIndexes");
    let elements = fields.list("compositeIndexes")?;
    if elements.len() > COMPOSITE_INDEXES_MAX {
        return Err(DefinitionError::TooManyCompositeIndexes { found: elements.len() });
    }
    let elements = elements.iter().enumerate();
    elements.map(|(index, element)| CompositeIndex::from_json(&format!("{place}[{index}]"), element)).collect()
}
