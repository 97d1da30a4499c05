//! User-defined functions: pure functions of JSON values, called from queries.
//!
//! A [`Udfs`] holds a realm for the length of one query, so that a call costs little and no state
//! outlives the query. Functions see no context. A value of `undefined` is `None` in both directions.
//! Called over JSON text: what a function gets and answers is what `JSON.parse` and `JSON.stringify`
//! make of it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::{Engine, RunOptions, Shared};
use crate::error::{ErrorKind, ScriptError};
use crate::realm::Realm;
use crate::source::{Isolation, Script};

/// The functions of one container, ready for one query.
pub struct Udfs {
    shared: Arc<Shared>,
    container: String,
    /// `None` only while being dropped.
    realm: Option<Realm>,
    functions: HashMap<String, (Script, u32)>,
}

impl Engine {
    /// Loads the functions a query names; all of one container. The time limit covers the life of the
    /// answer, so ask for it when the query starts to run.
    pub fn udfs(&self, container: &str, scripts: &[Script], options: &RunOptions) -> Result<Udfs, ScriptError> {
        assert!(
            scripts.iter().all(|script| script.container() == container),
            "realms are not shared between containers"
        );
        let own = scripts.iter().any(|script| script.isolation() == Isolation::Own);
        let realm = self.shared().realm(container, if own { Isolation::Own } else { Isolation::Warm })?;
        realm.budget().arm(self.shared().limits(), options.time);
        let mut udfs = Udfs {
            shared: Arc::clone(self.shared()),
            container: container.to_owned(),
            realm: Some(realm),
            functions: HashMap::new(),
        };
        for script in scripts {
            udfs.load(script, options)?;
        }
        Ok(udfs)
    }
}

impl Udfs {
    fn realm(&mut self) -> &mut Realm {
        self.realm.as_mut().expect("a realm is held until drop")
    }

    fn load(&mut self, script: &Script, options: &RunOptions) -> Result<(), ScriptError> {
        let shared = Arc::clone(&self.shared);
        let realm = self.realm();
        let slot = realm.compile(script).map_err(|fault| shared.compile_error(script, fault))?;
        let loaded = realm.begin_functions(options.seed).and_then(|()| realm.load(slot));
        let index = loaded.map_err(|fault| shared.run_error(script, fault))?;
        self.functions.insert(script.id().to_owned(), (script.clone(), index));
        Ok(())
    }

    /// Calls `udf.{name}` with JSON texts.
    pub fn call(&mut self, name: &str, arguments: &[Option<&str>]) -> Result<Option<String>, ScriptError> {
        let Some((script, index)) = self.functions.get(name).cloned() else {
            return Err(ScriptError::new(
                ErrorKind::Thrown { number: None },
                format!("there is no user-defined function {name}"),
            ));
        };
        let result = self.realm().call(index, arguments);
        result.map_err(|fault| {
            let spent = self.realm().budget().spent(0);
            ScriptError { spent, ..self.shared.run_error(&script, fault) }
        })
    }

    /// What the calls so far used.
    pub fn spent(&mut self) -> crate::Spent {
        self.realm().budget().spent(0)
    }
}

impl Drop for Udfs {
    fn drop(&mut self) {
        if let Some(mut realm) = self.realm.take() {
            realm.end();
            if realm.budget().spent(0).steps > 0 {
                realm.tidy();
            }
            self.shared.give_back(&self.container, realm);
        }
    }
}
