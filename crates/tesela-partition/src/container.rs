//! What a partition must know of its container to write and index.

use crate::index::IndexSchema;
use tesela_model::container::{ContainerDefinition, DefaultTtl};
use tesela_model::json::to_string;
use tesela_model::limits::LOGICAL_PARTITION_BYTES_MAX;
use tesela_model::partition_key::{PartitionKeyDefinition, PropertyPath};
use tesela_model::rid::ResourceId;

/// A container's definition, prepared for use. Immutable: a changed container is another value.
#[derive(Clone, Debug)]
pub struct Container {
    pub rid: ResourceId,
    /// `dbs/{rid}/colls/{rid}/`.
    pub self_link: String,
    pub partition_key: PartitionKeyDefinition,
    pub index: IndexSchema,
    /// Whether items enter the index when nothing is said.
    pub indexes_by_default: bool,
    /// The indexing policy as text: what the rows of the index were made by.
    pub index_policy: String,
    pub unique_keys: Vec<Vec<PropertyPath>>,
    pub default_ttl: Option<DefaultTtl>,
    /// Whether every change is kept for the all-versions feed.
    pub keeps_history: bool,
    /// For how long; what is older may go.
    pub history_seconds: u64,
    /// R11.
    pub logical_partition_bytes_max: u64,
}

impl Container {
    pub fn new(rid: ResourceId, self_link: String, definition: &ContainerDefinition) -> Self {
        let retention = definition.change_feed_policy.as_ref().map_or(0, |policy| policy.retention_minutes);
        let history_seconds = u64::from(retention) * 60;
        Self {
            rid,
            self_link,
            partition_key: definition.partition_key.clone(),
            indexes_by_default: definition.indexing_policy.automatic(),
            index: IndexSchema::new(
                &definition.indexing_policy,
                definition.computed_properties.iter().map(|computed| computed.name.clone()),
            ),
            index_policy: definition.to_json().get("indexingPolicy").map(to_string).unwrap_or_default(),
            unique_keys: definition.unique_key_policy.keys.iter().map(|key| key.paths.clone()).collect(),
            default_ttl: definition.default_ttl,
            history_seconds,
            keeps_history: history_seconds > 0,
            logical_partition_bytes_max: LOGICAL_PARTITION_BYTES_MAX,
        }
    }
}
