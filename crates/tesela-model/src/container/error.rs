//! Why a definition is refused.
//!
//! The texts of vector and full-text policies keep the words (and the capitals) that test suites of official SDKs look
//! for; all others are ours.

use super::IdError;
use crate::limits::{
    COMPOSITE_INDEXES_MAX, COMPOSITE_PATHS_MAX, COMPUTED_PROPERTIES_MAX, INDEX_PATHS_MAX, TTL_SECONDS_MAX,
    UNIQUE_KEY_PATHS_MAX, UNIQUE_KEYS_MAX, VECTOR_DIMENSIONS_FLAT_MAX, VECTOR_DIMENSIONS_MAX,
    VECTOR_SEARCH_LIST_SIZE_MAX, VECTOR_SEARCH_LIST_SIZE_MIN, VECTOR_SHARD_PATHS_MAX,
};
use crate::partition_key;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DefinitionError {
    /// A value of a wrong type or outside its list of words. `at` is the path of the property, `found` its JSON.
    #[error("One of the specified inputs is invalid: {at} must be {expected}, found {found}")]
    Invalid { at: String, expected: &'static str, found: String },
    #[error("One of the specified inputs is invalid: {at} is missing")]
    Missing { at: String },
    #[error("One of the specified inputs is invalid: {at} occurs twice")]
    Repeated { at: String },
    #[error(transparent)]
    Id(#[from] IdError),

    /// Its own variant: clients are told so by a sub-status.
    #[error("the container has no partition key definition; every container needs one")]
    NoPartitionKey,
    #[error(transparent)]
    PartitionKey(#[from] partition_key::DefinitionError),

    #[error(
        "the indexing path '{path}' could not be accepted, failed near position '{position}': it must begin with '/', \
         end with '/?' or '/*', and hold labels, quoted if unusual, or '[]' between"
    )]
    IndexPath { path: String, position: usize },
    #[error("the special mandatory indexing path \"/*\" is in neither of the lists of included and excluded paths")]
    NoRootPath,
    #[error("the indexing path '{0}' is both included and excluded")]
    IncludedAndExcluded(String),
    #[error("{found} {list} are more than the {INDEX_PATHS_MAX} allowed")]
    TooManyIndexPaths { list: &'static str, found: usize },
    #[error("automatic indexing must be off when the indexing mode is none")]
    AutomaticWithoutIndex,
    #[error("{found} composite indexes are more than the {COMPOSITE_INDEXES_MAX} allowed")]
    TooManyCompositeIndexes { found: usize },
    #[error("a composite index has 2 to {COMPOSITE_PATHS_MAX} paths, found {found}")]
    CompositePaths { found: usize },
    #[error("the path '{path}' of {of} could not be accepted, failed near position '0'")]
    PropertyPath { of: &'static str, path: String },
    #[error("the spatial index on '{path}' needs a bounding box, because the container's geospatial type is Geometry")]
    NoBoundingBox { path: String },

    #[error("time to live must be -1 or between 1 and {TTL_SECONDS_MAX} seconds, {at} is {found}")]
    Ttl { at: &'static str, found: String },
    #[error("{found} unique keys are more than the {UNIQUE_KEYS_MAX} allowed")]
    TooManyUniqueKeys { found: usize },
    #[error("a unique key has 1 to {UNIQUE_KEY_PATHS_MAX} paths, found {found}")]
    UniqueKeyPaths { found: usize },
    #[error("{found} computed properties are more than the {COMPUTED_PROPERTIES_MAX} allowed")]
    TooManyComputedProperties { found: usize },
    #[error("a computed property may not be named '{0}'")]
    ComputedPropertyName(String),
    #[error("the client encryption policy may not include '{path}': {reason}")]
    EncryptedPath { path: String, reason: &'static str },

    #[error("The Vector Embedding Policy has an invalid Path: {0}")]
    VectorPath(String),
    #[error("The Vector Embedding Policy has an invalid DataType:{0}")]
    VectorDataType(String),
    #[error("The Vector Embedding Policy has an invalid DistanceFunction:{0}")]
    VectorDistanceFunction(String),
    #[error(
        "The Vector Embedding Policy has Dimensions:{0} which is more than the maximum supported value \
         {VECTOR_DIMENSIONS_MAX}"
    )]
    VectorDimensionsAbove(i64),
    #[error("The Vector Embedding Policy has Dimensions:{0} which is less than the minimum supported value 1")]
    VectorDimensionsBelow(i64),
    #[error("The Vector Indexing Policy's path::{0} not matching in Embedding's path.")]
    VectorIndexWithoutEmbedding(String),
    #[error("The Vector Indexing Policy's Index Type::{0} is invalid.")]
    VectorIndexKind(String),
    #[error(
        "The Vector Indexing Policy has a flat index on path::{path} with Dimensions:{dimensions} which is more than \
         the maximum supported value {VECTOR_DIMENSIONS_FLAT_MAX}"
    )]
    FlatVectorDimensions { path: String, dimensions: u64 },
    #[error(
        "The Vector Indexing Policy parameter QuantizationByteSize value :: {found} is out of range. The allowed range \
         is between 1 and {max}."
    )]
    QuantizationByteSize { found: i64, max: i64 },
    #[error(
        "The Vector Indexing Policy parameter IndexingSearchListSize value :: {0} is out of range. The allowed range \
         is between {VECTOR_SEARCH_LIST_SIZE_MIN} and {VECTOR_SEARCH_LIST_SIZE_MAX}."
    )]
    IndexingSearchListSize(i64),
    #[error("The Vector Indexing Policy has an invalid Shard Path: {0}.")]
    VectorShardPath(String),
    #[error(
        "The number of shard paths defined in the Vector Indexing Policy: {found} exceeds the maximum: \
         {VECTOR_SHARD_PATHS_MAX}."
    )]
    TooManyVectorShardPaths { found: usize },

    #[error("The Full Text Policy contains an invalid Path: {0}")]
    FullTextPath(String),
    #[error("The Full Text Policy contains an unsupported language {found}. Supported languages are: {supported}")]
    FullTextLanguage { found: String, supported: String },
    #[error("Missing path in full-text index specification at index ({0})")]
    FullTextIndexWithoutPath(usize),
    #[error("Full-text index specification at index ({index}) contains invalid path '{path}'")]
    FullTextIndexPath { index: usize, path: String },
    #[error("The path of the Full Text Index {0} does not match the path specified in the Full Text Policy")]
    FullTextIndexWithoutPolicy(String),

    #[error("the id in the body is '{found}', the container is '{wanted}'")]
    ReplacedId { found: String, wanted: String },
    /// R6.
    #[error("the partition key of a container cannot be changed: it is {current}, the request has {requested}")]
    ReplacedPartitionKey { current: String, requested: String },
    #[error("the {0} of a container cannot be changed after its creation")]
    ReplacedPolicy(&'static str),
    #[error("Paths in existing embedding policy cannot be modified in Collection Replace: {0}")]
    ReplacedVectorEmbedding(String),
    #[error("Paths in existing vector indexing policy cannot be modified in Collection Replace: {0}")]
    ReplacedVectorIndex(String),
}
