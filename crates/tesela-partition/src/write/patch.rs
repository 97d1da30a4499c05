//! The version of an item a patch makes of the one before.

use crate::container::Container;
use crate::error::WriteError;
use crate::etag::SYSTEM_PROPERTIES;
use crate::item::Item;
use crate::layout::DocumentRecord;
use crate::patch::Patch;
use tesela_model::document::Document;
use tesela_model::json;

pub(super) fn patched(container: &Container, patch: &Patch, existing: &DocumentRecord) -> Result<Item, WriteError> {
    patch.check_targets(&container.partition_key)?;
    let mut root = existing.document.root().to_value();
    if let Some(object) = root.as_object_mut() {
        SYSTEM_PROPERTIES.iter().for_each(|name| drop(object.remove(name)));
    }
    patch.apply(&mut root)?;
    let text = json::to_string(&root);
    let document = Document::encode(text.as_bytes()).map_err(crate::item::ItemError::from)?;
    Ok(Item::from_document(document)?)
}
