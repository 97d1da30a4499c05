//! What a partition must know of its container to write and index.

use crate::index::IndexSchema;
use tesela_model::container::{ContainerDefinition, DefaultTtl};
use tesela_model::document::Node;
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
    pub unique_keys: Vec<Vec<PropertyPath>>,
    pub default_ttl: Option<DefaultTtl>,
    /// Whether every change is kept for the all-versions feed.
    pub keeps_history: bool,
    /// R11.
    pub logical_partition_bytes_max: u64,
}

impl Container {
    pub fn new(rid: ResourceId, self_link: String, definition: &ContainerDefinition) -> Self {
        Self {
            rid,
            self_link,
            partition_key: definition.partition_key.clone(),
            indexes_by_default: definition.indexing_policy.automatic(),
            index: IndexSchema::new(&definition.indexing_policy),
            unique_keys: definition.unique_key_policy.keys.iter().map(|key| key.paths.clone()).collect(),
            default_ttl: definition.default_ttl,
            keeps_history: definition.change_feed_policy.as_ref().is_some_and(|policy| policy.retention_minutes > 0),
            logical_partition_bytes_max: LOGICAL_PARTITION_BYTES_MAX,
        }
    }

    /// When a document written at `now` (Unix seconds) expires; 0 is never.
    pub fn expiry(&self, root: Node<'_>, now: u64) -> u64 {
        let Some(default) = self.default_ttl else { return 0 };
        let own = root.get("ttl").and_then(|ttl| ttl.as_f64());
        match (own, default) {
            (Some(seconds), _) if seconds > 0.0 => now + seconds as u64,
            (Some(_), _) | (None, DefaultTtl::Never) => 0,
            (None, DefaultTtl::Seconds(seconds)) => now + u64::from(seconds),
        }
    }
}
