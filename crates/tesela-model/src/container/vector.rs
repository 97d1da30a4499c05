//! Vectors: where they are in an item (`vectorEmbeddingPolicy`) and how they are indexed
//! (`indexingPolicy.vectorIndexes`). An index needs an embedding at its path.

use super::fields::{Fields, find_word, insert_list, invalid, property_path, with_extra};
use super::{DefinitionError, IndexingPolicy};
use crate::json::{Object, Value};
use crate::limits::{
    VECTOR_DIMENSIONS_DEFAULT, VECTOR_DIMENSIONS_FLAT_MAX, VECTOR_DIMENSIONS_MAX, VECTOR_QUANTIZATION_BYTES_MAX,
    VECTOR_SEARCH_LIST_SIZE_MAX, VECTOR_SEARCH_LIST_SIZE_MIN, VECTOR_SHARD_PATHS_MAX,
};
use crate::partition_key::PropertyPath;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct VectorEmbeddingPolicy {
    pub embeddings: Vec<VectorEmbedding>,
    pub extra: Object,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VectorEmbedding {
    pub path: PropertyPath,
    pub data_type: VectorDataType,
    pub dimensions: u32,
    pub distance_function: DistanceFunction,
    pub extra: Object,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorDataType {
    Float32,
    Float16,
    Int8,
    Uint8,
}

const DATA_TYPES: [(&str, VectorDataType); 4] = [
    ("float32", VectorDataType::Float32),
    ("float16", VectorDataType::Float16),
    ("int8", VectorDataType::Int8),
    ("uint8", VectorDataType::Uint8),
];

impl VectorDataType {
    pub fn name(self) -> &'static str {
        DATA_TYPES[self as usize].0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DistanceFunction {
    Cosine,
    Euclidean,
    DotProduct,
}

const DISTANCE_FUNCTIONS: [(&str, DistanceFunction); 3] = [
    ("cosine", DistanceFunction::Cosine),
    ("euclidean", DistanceFunction::Euclidean),
    ("dotproduct", DistanceFunction::DotProduct),
];

impl DistanceFunction {
    pub fn name(self) -> &'static str {
        DISTANCE_FUNCTIONS[self as usize].0
    }
}

impl VectorEmbeddingPolicy {
    pub(super) fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        let mut fields = Fields::of("vectorEmbeddingPolicy", value)?;
        let mut embeddings: Vec<VectorEmbedding> = Vec::new();
        for element in fields.objects("vectorEmbeddings")? {
            let place = element.place("path");
            let one = VectorEmbedding::read(element)?;
            if embeddings.iter().any(|earlier| earlier.path.steps() == one.path.steps()) {
                return Err(DefinitionError::Repeated { at: place });
            }
            embeddings.push(one);
        }
        Ok(Self { embeddings, extra: fields.rest() })
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object = Object::new();
        insert_list(&mut object, "vectorEmbeddings", &self.embeddings, VectorEmbedding::to_json);
        with_extra(object, &self.extra)
    }

    pub fn find(&self, path: &PropertyPath) -> Option<&VectorEmbedding> {
        self.embeddings.iter().find(|embedding| embedding.path.steps() == path.steps())
    }
}

impl VectorEmbedding {
    fn read(mut fields: Fields<'_>) -> Result<Self, DefinitionError> {
        let text = fields.required_string("path")?;
        let path = property_path("an embedding", text).map_err(|_| DefinitionError::VectorPath(text.to_owned()))?;
        let data_type = match fields.string("dataType")? {
            None => VectorDataType::Float32,
            Some(word) => {
                find_word(word, &DATA_TYPES).ok_or_else(|| DefinitionError::VectorDataType(word.to_owned()))?
            }
        };
        let dimensions = match fields.integer("dimensions")? {
            None => VECTOR_DIMENSIONS_DEFAULT,
            Some(found @ ..=0) => return Err(DefinitionError::VectorDimensionsBelow(found)),
            Some(found) => u32::try_from(found)
                .ok()
                .filter(|dimensions| u64::from(*dimensions) <= VECTOR_DIMENSIONS_MAX)
                .ok_or(DefinitionError::VectorDimensionsAbove(found))?,
        };
        let distance_function = match fields.string("distanceFunction")? {
            None => DistanceFunction::Cosine,
            Some(word) => find_word(word, &DISTANCE_FUNCTIONS)
                .ok_or_else(|| DefinitionError::VectorDistanceFunction(word.to_owned()))?,
        };
        Ok(Self { path, data_type, dimensions, distance_function, extra: fields.rest() })
    }

    fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("path", self.path.text());
        object.insert("dataType", self.data_type.name());
        object.insert("dimensions", self.dimensions);
        object.insert("distanceFunction", self.distance_function.name());
        with_extra(object, &self.extra)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct VectorIndex {
    pub path: PropertyPath,
    pub kind: VectorIndexKind,
    pub quantizer: Option<QuantizerType>,
    /// Between 1 and the dimensions of its embedding.
    pub quantization_bytes: Option<i64>,
    pub search_list_size: Option<i64>,
    pub shard_key: Vec<PropertyPath>,
    pub extra: Object,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorIndexKind {
    Flat,
    QuantizedFlat,
    DiskAnn,
}

const INDEX_KINDS: [(&str, VectorIndexKind); 3] = [
    ("flat", VectorIndexKind::Flat),
    ("quantizedFlat", VectorIndexKind::QuantizedFlat),
    ("diskANN", VectorIndexKind::DiskAnn),
];

impl VectorIndexKind {
    pub fn name(self) -> &'static str {
        INDEX_KINDS[self as usize].0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantizerType {
    Product,
    Spherical,
    MeanPool,
}

const QUANTIZERS: [(&str, QuantizerType); 3] = [
    ("product", QuantizerType::Product),
    ("spherical", QuantizerType::Spherical),
    ("meanpool", QuantizerType::MeanPool),
];

impl QuantizerType {
    pub fn name(self) -> &'static str {
        QUANTIZERS[self as usize].0
    }
}

impl VectorIndex {
    pub(super) fn read_list(fields: &mut Fields<'_>) -> Result<Vec<Self>, DefinitionError> {
        let mut indexes: Vec<Self> = Vec::new();
        for element in fields.objects("vectorIndexes")? {
            let place = element.place("path");
            let one = Self::read(element)?;
            if indexes.iter().any(|earlier| earlier.path.steps() == one.path.steps()) {
                return Err(DefinitionError::Repeated { at: place });
            }
            indexes.push(one);
        }
        Ok(indexes)
    }

    fn read(mut fields: Fields<'_>) -> Result<Self, DefinitionError> {
        let path = property_path("a vector index", fields.required_string("path")?)?;
        let word = fields.required_string("type")?;
        let kind = find_word(word, &INDEX_KINDS).ok_or_else(|| DefinitionError::VectorIndexKind(word.to_owned()))?;
        let quantizer = fields.word("quantizerType", "product, spherical or meanpool", &QUANTIZERS)?;
        let quantization_bytes = fields.integer("quantizationByteSize")?;
        let search_list_size = match fields.integer("indexingSearchListSize")? {
            None => None,
            Some(size @ VECTOR_SEARCH_LIST_SIZE_MIN..=VECTOR_SEARCH_LIST_SIZE_MAX) => Some(size),
            Some(size) => return Err(DefinitionError::IndexingSearchListSize(size)),
        };
        let shard_key = read_shard_key(&mut fields)?;
        Ok(Self { path, kind, quantizer, quantization_bytes, search_list_size, shard_key, extra: fields.rest() })
    }

    /// What only the embedding at the same path can tell.
    fn check_embedding(&self, embedding: &VectorEmbedding) -> Result<(), DefinitionError> {
        let dimensions = u64::from(embedding.dimensions);
        if self.kind == VectorIndexKind::Flat && dimensions > VECTOR_DIMENSIONS_FLAT_MAX {
            return Err(DefinitionError::FlatVectorDimensions { path: self.path.text().to_owned(), dimensions });
        }
        let max = i64::from(embedding.dimensions).min(VECTOR_QUANTIZATION_BYTES_MAX);
        match self.quantization_bytes {
            Some(found) if !(1..=max).contains(&found) => Err(DefinitionError::QuantizationByteSize { found, max }),
            _ => Ok(()),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("path", self.path.text());
        object.insert("type", self.kind.name());
        if let Some(quantizer) = self.quantizer {
            object.insert("quantizerType", quantizer.name());
        }
        if let Some(bytes) = self.quantization_bytes {
            object.insert("quantizationByteSize", bytes);
        }
        if let Some(size) = self.search_list_size {
            object.insert("indexingSearchListSize", size);
        }
        insert_list(&mut object, "vectorIndexShardKey", &self.shard_key, |path| Value::from(path.text()));
        with_extra(object, &self.extra)
    }
}

/// Every index has an embedding at its path that it fits.
pub(super) fn check_indexes(
    indexing: &IndexingPolicy,
    embeddings: Option<&VectorEmbeddingPolicy>,
) -> Result<(), DefinitionError> {
    for index in &indexing.vector_indexes {
        match embeddings.and_then(|policy| policy.find(&index.path)) {
            Some(embedding) => index.check_embedding(embedding)?,
            None => return Err(DefinitionError::VectorIndexWithoutEmbedding(index.path.text().to_owned())),
        }
    }
    Ok(())
}

fn read_shard_key(fields: &mut Fields<'_>) -> Result<Vec<PropertyPath>, DefinitionError> {
    let place = fields.place("vectorIndexShardKey");
    let elements = fields.list("vectorIndexShardKey")?;
    if elements.len() > VECTOR_SHARD_PATHS_MAX {
        return Err(DefinitionError::TooManyVectorShardPaths { found: elements.len() });
    }
    let read = |element: &Value| {
        let text = element.as_str().ok_or_else(|| invalid(place.clone(), "a list of paths", element))?;
        property_path("a shard key", text).map_err(|_| DefinitionError::VectorShardPath(text.to_owned()))
    };
    elements.iter().map(read).collect()
}
