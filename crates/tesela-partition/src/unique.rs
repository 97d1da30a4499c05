//! Unique keys: inside a logical partition no two items share the values of a constraint's paths.
//!
//! A missing value counts as null, so two items without the property collide too. Each constraint has one row for each
//! item, claimed and released with the item's version; two claims of one row are the violation.

use crate::error::WriteError;
use crate::index::value_code;
use crate::layout::{DocumentRecord, Key};
use crate::txn::Txn;
use crate::write::key_text;
use bytes::Bytes;
use tesela_model::document::Node;
use tesela_model::partition_key::PropertyPath;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::Snapshot;

/// The values of one constraint, in key form.
fn values(paths: &[PropertyPath], root: Node<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for path in paths {
        value_code::write_exact(path.find(root), &mut out);
    }
    out
}

/// Takes the rows of a new version, and frees those of the old one that it does not need.
pub(crate) async fn claim<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    ordinal: DocumentOrdinal,
    old: Option<&DocumentRecord>,
    new: &DocumentRecord,
) -> Result<(), WriteError> {
    for (constraint, paths) in txn.scope.container.unique_keys.iter().enumerate() {
        let constraint = constraint as u32;
        let row = Key::unique(&txn.key.epk, constraint, &values(paths, new.document.root()));
        match txn.get(&row).await? {
            Some(owner) if Key::trailing_ordinal(&owner)? == ordinal => continue,
            Some(_) => {
                let names: Vec<&str> = paths.iter().map(PropertyPath::text).collect();
                return Err(WriteError::UniqueKey { paths: names.join(", "), key: key_text(&txn.key) });
            }
            None => {}
        }
        if let Some(old) = old {
            let freed = Key::unique(&txn.key.epk, constraint, &values(paths, old.document.root()));
            txn.delete(freed);
        }
        txn.put(row, Bytes::copy_from_slice(&ordinal.0.to_be_bytes()));
    }
    Ok(())
}

/// Frees the rows of a version that goes.
pub(crate) fn release<S: Snapshot>(txn: &mut Txn<'_, S>, old: &DocumentRecord) {
    for (constraint, paths) in txn.scope.container.unique_keys.iter().enumerate() {
        let row = Key::unique(&txn.key.epk, constraint as u32, &values(paths, old.document.root()));
        txn.delete(row);
    }
}
