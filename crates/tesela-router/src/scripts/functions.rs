//! User-defined functions in queries: `udf.name(…)`.
//!
//! Most queries call none, so nothing is loaded until one is called. Binding a query asks which names there are; the
//! first call loads those that were asked for, into one realm that is kept to the end of the query's page.

use super::Scripts;
use crate::catalog::{Container, Entry, Functions};
use crate::router::Router;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tesela_model::json::{self, Value};
use tesela_query::UserFunctions;
use tesela_script::{RunOptions, ScriptError, Udfs};
use tesela_store::Store;

/// The functions of a container, for one query.
pub struct ContainerFunctions {
    scripts: Arc<Scripts>,
    container: Arc<str>,
    functions: Functions,
    seed: u64,
    /// Those the query names.
    named: Mutex<BTreeMap<String, Arc<Entry>>>,
    realm: Mutex<Option<Udfs>>,
}

impl ContainerFunctions {
    pub fn new<S: Store>(router: &Router<S>, container: &Container) -> Self {
        let (scripts, functions) = (router.scripts().clone(), container.functions());
        Self::of(scripts, container.resource.rid.clone(), functions, router.env().random())
    }

    fn of(scripts: Arc<Scripts>, container: Arc<str>, functions: Functions, seed: u64) -> Self {
        Self { scripts, container, functions, seed, named: Mutex::default(), realm: Mutex::default() }
    }

    /// The same functions for another query.
    pub(super) fn fresh(&self) -> Self {
        Self::of(self.scripts.clone(), self.container.clone(), self.functions.clone(), self.seed)
    }

    /// Whether the query that was bound calls any.
    pub fn are_called(&self) -> bool {
        !self.named.lock().is_empty()
    }

    fn load(&self) -> Result<Udfs, ScriptError> {
        let named = self.named.lock();
        let scripts: Result<Vec<_>, _> =
            named.values().map(|entry| self.scripts.loaded.get(&self.container, entry)).collect();
        let options = RunOptions { seed: self.seed, ..RunOptions::default() };
        self.scripts.engine.udfs(&self.container, &scripts?, &options)
    }
}

impl UserFunctions for ContainerFunctions {
    fn knows(&self, name: &str) -> bool {
        let Some(entry) = self.functions.get(name) else { return false };
        self.named.lock().insert(name.to_owned(), entry.clone());
        true
    }

    fn call(&self, name: &str, args: &[Value]) -> Result<Option<Value>, String> {
        let texts: Vec<String> = args.iter().map(json::to_string).collect();
        let texts: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
        let mut realm = self.realm.lock();
        let udfs = match &mut *realm {
            Some(udfs) => udfs,
            none => none.insert(self.load().map_err(|error| error.message)?),
        };
        let answer = udfs.call(name, &texts).map_err(|error| error.message)?;
        let value = answer.map(|text| json::parse(text.as_bytes())).transpose();
        value.map_err(|error| format!("the answer of {name} is no JSON value: {error}"))
    }
}
