//! The definition as a whole: reading it, writing it, and what holds between its policies.

use super::fields::{Fields, property_path};
use super::{
    ChangeFeedPolicy, ClientEncryptionPolicy, ComputedProperty, ConflictResolutionPolicy, DefaultTtl, DefinitionError,
    FullTextPolicy, GeospatialType, IndexingPolicy, UniqueKeyPolicy, VectorEmbeddingPolicy, full_text, ttl_seconds,
    validate_resource_id, vector,
};
use crate::json::{Object, Value};
use crate::partition_key::{PartitionKeyDefinition, PropertyPath};

/// A container as its user defined it, with all defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerDefinition {
    pub id: String,
    pub partition_key: PartitionKeyDefinition,
    pub indexing_policy: IndexingPolicy,
    /// `None`: items never expire.
    pub default_ttl: Option<DefaultTtl>,
    /// Where items say when they expire, instead of by their last write. Kept and echoed.
    pub ttl_property_path: Option<PropertyPath>,
    pub unique_key_policy: UniqueKeyPolicy,
    pub conflict_resolution_policy: ConflictResolutionPolicy,
    pub geospatial_type: GeospatialType,
    /// Kept and echoed: there is no analytical store.
    pub analytical_storage_ttl: Option<i64>,
    pub client_encryption_policy: Option<ClientEncryptionPolicy>,
    pub change_feed_policy: Option<ChangeFeedPolicy>,
    pub vector_embedding_policy: Option<VectorEmbeddingPolicy>,
    pub full_text_policy: Option<FullTextPolicy>,
    pub computed_properties: Vec<ComputedProperty>,
    /// Properties without a meaning here.
    pub extra: Object,
}

/// Made by the server, or an answer to a question about the container; dropped from what clients send.
const SYSTEM_PROPERTIES: [&str; 10] =
    ["_rid", "_self", "_etag", "_ts", "_docs", "_sprocs", "_triggers", "_udfs", "_conflicts", "statistics"];

impl ContainerDefinition {
    /// A container with this partition key and all defaults.
    pub fn new(id: impl Into<String>, partition_key: PartitionKeyDefinition) -> Self {
        Self {
            id: id.into(),
            partition_key,
            indexing_policy: IndexingPolicy::default(),
            default_ttl: None,
            ttl_property_path: None,
            unique_key_policy: UniqueKeyPolicy::default(),
            conflict_resolution_policy: ConflictResolutionPolicy::default(),
            geospatial_type: GeospatialType::default(),
            analytical_storage_ttl: None,
            client_encryption_policy: None,
            change_feed_policy: None,
            vector_embedding_policy: None,
            full_text_policy: None,
            computed_properties: Vec::new(),
            extra: Object::new(),
        }
    }

    /// Checks and normalises what a client sent.
    pub fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        let mut fields = Fields::of("", value)?;
        let id = fields.required_string("id")?;
        validate_resource_id(id)?;
        let partition_key = fields.take("partitionKey").ok_or(DefinitionError::NoPartitionKey)?;
        let mut definition = Self::new(id, PartitionKeyDefinition::from_json(partition_key)?);
        definition.read_policies(&mut fields)?;
        definition.extra = fields.rest();
        for name in SYSTEM_PROPERTIES {
            definition.extra.remove(name);
        }
        vector::check_indexes(&definition.indexing_policy, definition.vector_embedding_policy.as_ref())?;
        full_text::check_indexes(&definition.indexing_policy, definition.full_text_policy.as_ref())?;
        Ok(definition)
    }

    fn read_policies(&mut self, fields: &mut Fields<'_>) -> Result<(), DefinitionError> {
        if let Some(value) = fields.take("geospatialConfig") {
            self.geospatial_type = GeospatialType::from_json(value)?;
        }
        if let Some(value) = fields.take("indexingPolicy") {
            self.indexing_policy = IndexingPolicy::from_json(value, self.geospatial_type)?;
        }
        if let Some(value) = fields.take("uniqueKeyPolicy") {
            self.unique_key_policy = UniqueKeyPolicy::from_json(value)?;
        }
        if let Some(value) = fields.take("conflictResolutionPolicy") {
            self.conflict_resolution_policy = ConflictResolutionPolicy::from_json(value)?;
        }
        if let Some(value) = fields.take("computedProperties") {
            self.computed_properties = ComputedProperty::read_list(value)?;
        }
        self.default_ttl = fields.take("defaultTtl").map(DefaultTtl::from_json).transpose()?;
        self.analytical_storage_ttl = read_analytical_ttl(fields)?;
        let path = fields.string("ttlPropertyPath")?;
        self.ttl_property_path = path.map(|path| property_path("ttlPropertyPath", path)).transpose()?;
        let policy = fields.take("clientEncryptionPolicy");
        self.client_encryption_policy =
            policy.map(|value| ClientEncryptionPolicy::from_json(value, &self.partition_key)).transpose()?;
        self.change_feed_policy = fields.take("changeFeedPolicy").map(ChangeFeedPolicy::from_json).transpose()?;
        let policy = fields.take("vectorEmbeddingPolicy");
        self.vector_embedding_policy = policy.map(VectorEmbeddingPolicy::from_json).transpose()?;
        self.full_text_policy = fields.take("fullTextPolicy").map(FullTextPolicy::from_json).transpose()?;
        Ok(())
    }

    /// The definition as clients read it, without system properties.
    pub fn to_json(&self) -> Object {
        let mut object = Object::new();
        object.insert("id", self.id.as_str());
        object.insert("indexingPolicy", self.indexing_policy.to_json());
        object.insert("partitionKey", self.partition_key.to_json());
        let mut optional = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                object.insert(name, value);
            }
        };
        optional("defaultTtl", self.default_ttl.map(DefaultTtl::to_json));
        optional("ttlPropertyPath", self.ttl_property_path.as_ref().map(|path| Value::from(path.text())));
        let unique = (self.unique_key_policy != UniqueKeyPolicy::default()).then(|| self.unique_key_policy.to_json());
        optional("uniqueKeyPolicy", unique);
        optional("conflictResolutionPolicy", Some(self.conflict_resolution_policy.to_json()));
        optional("geospatialConfig", Some(self.geospatial_type.to_json()));
        optional("analyticalStorageTtl", self.analytical_storage_ttl.map(Value::from));
        optional("clientEncryptionPolicy", self.client_encryption_policy.as_ref().map(ClientEncryptionPolicy::to_json));
        optional("changeFeedPolicy", self.change_feed_policy.as_ref().map(ChangeFeedPolicy::to_json));
        optional("vectorEmbeddingPolicy", self.vector_embedding_policy.as_ref().map(VectorEmbeddingPolicy::to_json));
        optional("fullTextPolicy", self.full_text_policy.as_ref().map(FullTextPolicy::to_json));
        let computed: Vec<Value> = self.computed_properties.iter().map(ComputedProperty::to_json).collect();
        optional("computedProperties", (!computed.is_empty()).then(|| computed.into()));
        for (name, value) in self.extra.iter() {
            object.insert(name, value.clone());
        }
        object
    }
}

/// `-1`, `0` (off) or seconds.
fn read_analytical_ttl(fields: &mut Fields<'_>) -> Result<Option<i64>, DefinitionError> {
    match fields.take("analyticalStorageTtl") {
        Some(value) if value.as_i64() == Some(0) => Ok(Some(0)),
        Some(value) => Ok(Some(ttl_seconds("analyticalStorageTtl", value)?.map_or(-1, i64::from))),
        None => Ok(None),
    }
}
