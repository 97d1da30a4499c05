//! Replacing a definition: what a live container may change.
//!
//! A replace states the whole definition anew, so whatever it leaves out goes back to its default. Three kinds of
//! property do not follow that rule:
//!
//! * identity: the id and the partition key (R6) must be the same;
//! * fixed at creation: unique keys, conflict resolution and client encryption must be the same or left out, since
//!   SDKs have no way to send some of them again;
//! * vectors: the embeddings stay as they are; an existing vector index must be stated again unchanged.

use super::{
    ClientEncryptionPolicy, ConflictResolutionPolicy, ContainerDefinition, DefinitionError, UniqueKeyPolicy,
    VectorEmbedding, VectorIndex,
};
use crate::json;
use crate::partition_key::PartitionKeyDefinition;

impl ContainerDefinition {
    /// The definition of this container after a replace by `new`, which is complete and valid by itself.
    pub fn replaced_by(&self, mut new: Self) -> Result<Self, DefinitionError> {
        if new.id != self.id {
            return Err(DefinitionError::ReplacedId { found: new.id, wanted: self.id.clone() });
        }
        new.partition_key = same_key(&self.partition_key, &new.partition_key)?;
        keep(&mut new.unique_key_policy, &self.unique_key_policy, &UniqueKeyPolicy::default(), "unique key policy")?;
        keep(
            &mut new.conflict_resolution_policy,
            &self.conflict_resolution_policy,
            &ConflictResolutionPolicy::default(),
            "conflict resolution policy",
        )?;
        keep::<Option<ClientEncryptionPolicy>>(
            &mut new.client_encryption_policy,
            &self.client_encryption_policy,
            &None,
            "client encryption policy",
        )?;
        self.check_vectors(&new)?;
        Ok(new)
    }

    fn check_vectors(&self, new: &Self) -> Result<(), DefinitionError> {
        let embeddings = |definition: &Self| -> Vec<VectorEmbedding> {
            definition.vector_embedding_policy.as_ref().map(|policy| policy.embeddings.clone()).unwrap_or_default()
        };
        let (old, kept) = (embeddings(self), embeddings(new));
        let changed = old.iter().find(|one| !kept.contains(one)).or_else(|| kept.iter().find(|one| !old.contains(one)));
        if let Some(changed) = changed {
            return Err(DefinitionError::ReplacedVectorEmbedding(changed.path.text().to_owned()));
        }
        let kept = &new.indexing_policy.vector_indexes;
        let lost = |index: &&VectorIndex| !kept.contains(index);
        match self.indexing_policy.vector_indexes.iter().find(lost) {
            Some(lost) => Err(DefinitionError::ReplacedVectorIndex(lost.path.text().to_owned())),
            None => Ok(()),
        }
    }
}

/// Paths and kind must be the same. The version stays the container's: items are hashed with it, and some SDKs send
/// their own default.
fn same_key(
    current: &PartitionKeyDefinition,
    requested: &PartitionKeyDefinition,
) -> Result<PartitionKeyDefinition, DefinitionError> {
    let same_paths = current.paths.len() == requested.paths.len()
        && current.paths.iter().zip(&requested.paths).all(|(a, b)| a.steps() == b.steps());
    if same_paths && current.kind == requested.kind {
        return Ok(current.clone());
    }
    Err(DefinitionError::ReplacedPartitionKey {
        current: json::to_string(&current.to_json()),
        requested: json::to_string(&requested.to_json()),
    })
}

fn keep<T: Clone + PartialEq>(
    new: &mut T,
    current: &T,
    left_out: &T,
    policy: &'static str,
) -> Result<(), DefinitionError> {
    if *new == *left_out {
        *new = current.clone();
    }
    if *new == *current { Ok(()) } else { Err(DefinitionError::ReplacedPolicy(policy)) }
}
