//! Scripts as the engine takes them, kept while their text is unchanged.

use crate::catalog::{Detail, Entry};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tesela_script::{Script, ScriptError};

/// Scripts kept. Ours: past this all are forgotten, and loaded again as they are used.
const SCRIPTS_MAX: usize = 4_096;

/// By RID.
#[derive(Default)]
pub(super) struct Loaded(Mutex<HashMap<Arc<str>, Ready>>);

struct Ready {
    /// The catalog's text it was made from.
    text: Arc<str>,
    script: Script,
}

impl Loaded {
    /// `container` is its RID.
    pub(super) fn get(&self, container: &str, entry: &Entry) -> Result<Script, ScriptError> {
        let Detail::Script(stored) = &entry.detail else { unreachable!("the caller found it among scripts") };
        let resource = &entry.resource;
        if let Some(ready) = self.0.lock().get(&resource.rid)
            && Arc::ptr_eq(&ready.text, &stored.body)
        {
            return Ok(ready.script.clone());
        }
        let script = Script::new(container, &resource.id, &stored.body)?;
        let mut loaded = self.0.lock();
        if loaded.len() >= SCRIPTS_MAX {
            loaded.clear();
        }
        let ready = Ready { text: stored.body.clone(), script: script.clone() };
        loaded.insert(resource.rid.clone(), ready);
        Ok(script)
    }
}
