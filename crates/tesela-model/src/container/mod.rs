//! The definition of a container: what a user may say about it, checked and normalised.
//!
//! A definition arrives as JSON in a create or replace request, is read into [`ContainerDefinition`] once, and goes
//! back to clients through [`ContainerDefinition::to_json`]. Behind this border nobody looks at JSON or checks again.
//!
//! ```text
//! {"id":"c","partitionKey":{…},"indexingPolicy":{…},"defaultTtl":60,"mine":1}
//!        |                                              from_json: refuse or normalise
//!        v
//! ContainerDefinition { id, partition_key, indexing_policy, default_ttl, …, extra: {"mine":1} }
//!        |                                              to_json: defaults are spelled out
//!        v
//! {"id":"c","indexingPolicy":{…},"partitionKey":{…},"conflictResolutionPolicy":{…},…,"mine":1}
//! ```
//!
//! Invariants
//! * `from_json(to_json(d)) == d`: what is stored is what was understood.
//! * What has no meaning here is kept and echoed (`extra`): properties we do not know, and empty lists.
//! * System properties (`_rid`, `_ts`, …) are never part of a definition.
//! * A property that is `null` is absent.
//!
//! One file per policy. The index paths a policy names are matched by [`PathMatcher`], which walks along with a
//! document. What changing a live container may touch is in [`replace`](ContainerDefinition::replaced_by).
//!
//! Left out: the SQL of computed properties is not read here (the query layer does), and policies without meaning for
//! this product (`schemaPolicy`, `dataMaskingPolicy`, materialized views) are only echoed.

mod change_feed;
mod client_encryption;
mod composite_index;
mod computed_property;
mod conflict_resolution;
mod definition;
mod error;
mod fields;
mod full_text;
mod geospatial;
mod id;
mod index_path;
mod indexing_policy;
mod path_matcher;
mod replace;
mod spatial_index;
mod ttl;
mod unique_key;
mod vector;

pub use change_feed::ChangeFeedPolicy;
pub use client_encryption::{ClientEncryptionPath, ClientEncryptionPolicy};
pub use composite_index::{CompositeIndex, CompositePath, SortOrder};
pub use computed_property::ComputedProperty;
pub use conflict_resolution::ConflictResolutionPolicy;
pub use definition::ContainerDefinition;
pub use error::DefinitionError;
pub use full_text::{FullTextIndex, FullTextLanguage, FullTextPath, FullTextPolicy};
pub use geospatial::GeospatialType;
pub use id::{IdError, validate_item_id, validate_resource_id};
pub use index_path::{IndexPath, IndexStep, PathEnd};
pub use indexing_policy::{IndexingMode, IndexingPolicy};
pub use path_matcher::{PathMatcher, Place};
pub use spatial_index::{BoundingBox, SpatialIndex, SpatialType};
pub use ttl::{DefaultTtl, ttl_seconds};
pub use unique_key::{UniqueKey, UniqueKeyPolicy};
pub use vector::{
    DistanceFunction, QuantizerType, VectorDataType, VectorEmbedding, VectorEmbeddingPolicy, VectorIndex,
    VectorIndexKind,
};

#[cfg(test)]
mod tests;
