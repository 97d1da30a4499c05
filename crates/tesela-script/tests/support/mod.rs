//! A collection in memory and an engine around it, for tests: a run works on a copy of the documents,
//! which replaces them only if it answered `Ok` — what the partition does with a transaction.

#![allow(dead_code, reason = "every test file uses its own part of this module")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tesela_model::json::{self, Object, Value};
use tesela_script::*;

pub const SELF_LINK: &str = "dbs/AAAAAA==/colls/AAAAAAAAAAA=/";
pub const ALT_LINK: &str = "dbs/db/colls/c";
/// The logical partition scripts run in.
pub const KEY: &str = "k";

#[derive(Clone, Default)]
pub struct Memory {
    pub documents: Vec<Value>,
    pub writes: u64,
    /// Operations after which the collection accepts no more.
    pub accepts: Option<u64>,
    /// Rows of a page, if the script leaves it open.
    pub page_rows: usize,
    pub operations: u64,
    pub seen: Vec<String>,
    /// Answered to the next operation.
    pub next_error: Option<OpError>,
}

impl Memory {
    pub fn with(texts: &[&str]) -> Self {
        let mut memory = Self { page_rows: 100, ..Self::default() };
        for text in texts {
            memory.create(text, &WriteOptions::default()).expect("a valid document");
        }
        memory.operations = 0;
        memory.seen.clear();
        memory
    }

    pub fn ids(&self) -> Vec<&str> {
        self.documents.iter().filter_map(|document| document.get("id")?.as_str()).collect()
    }

    pub fn get(&self, id: &str) -> Option<&Value> {
        self.documents.iter().find(|document| document.get("id").and_then(Value::as_str) == Some(id))
    }

    fn note(&mut self, operation: String) -> Result<(), OpError> {
        self.operations += 1;
        self.seen.push(operation);
        self.next_error.take().map_or(Ok(()), Err)
    }

    fn position(&self, document: &DocumentRef) -> Result<usize, OpError> {
        let (field, wanted) = match document {
            DocumentRef::Id(id) => ("id", id),
            DocumentRef::Rid(rid) => ("_rid", rid),
        };
        let found =
            self.documents.iter().position(|document| document.get(field).and_then(Value::as_str) == Some(wanted));
        found.ok_or_else(|| OpError::refused(404, "Resource not found."))
    }

    fn check_etag(&self, at: usize, etag: Option<&str>) -> Result<(), OpError> {
        let current = self.documents[at].get("_etag").and_then(Value::as_str);
        if etag.is_some() && etag != current {
            return Err(OpError::refused(412, "The ETag does not match."));
        }
        Ok(())
    }

    /// Parses a body and stamps it with system properties.
    fn stamped(&mut self, body: &str, options: &WriteOptions) -> Result<Object, OpError> {
        let value = json::parse(body.as_bytes()).map_err(|_| OpError::refused(400, "The body is not JSON."))?;
        let mut object =
            value.as_object().cloned().ok_or_else(|| OpError::refused(400, "The body is not an object."))?;
        match object.get("pk").map(|key| key.as_str()) {
            None => {}
            Some(Some(KEY)) => {}
            Some(_) => {
                return Err(OpError::refused(400, "A script cannot touch another partition key than the client's."));
            }
        }
        self.writes += 1;
        if !object.contains_key("id") {
            if options.disable_automatic_id {
                return Err(OpError::refused(400, "The document has no id."));
            }
            object.insert("id", format!("generated-{}", self.writes));
        }
        object.insert("_rid", format!("R{}==", self.writes));
        let rid = format!("{SELF_LINK}docs/R{}==/", self.writes);
        object.insert("_self", rid);
        object.insert("_etag", format!("e{}", self.writes));
        Ok(object)
    }

    fn page(&self, rows: Vec<Value>, page: &PageRequest) -> Result<Page, OpError> {
        let from: usize = page
            .continuation
            .as_deref()
            .map_or(Ok(0), str::parse)
            .map_err(|_| OpError::refused(400, "The continuation is invalid."))?;
        let size = page.size.map_or(self.page_rows, |size| size as usize);
        let end = rows.len().min(from + size);
        let texts: Vec<String> = rows[from.min(end)..end].iter().map(json::to_string).collect();
        Ok(Page { rows: format!("[{}]", texts.join(",")), continuation: (end < rows.len()).then(|| end.to_string()) })
    }
}

impl Collection for Memory {
    fn self_link(&self) -> &str {
        SELF_LINK
    }

    fn alt_link(&self) -> &str {
        ALT_LINK
    }

    fn read(&mut self, document: &DocumentRef, if_none_match: Option<&str>) -> Result<Read, OpError> {
        self.note(format!("read {document:?} {if_none_match:?}"))?;
        let found = &self.documents[self.position(document)?];
        if if_none_match.is_some() && if_none_match == found.get("_etag").and_then(Value::as_str) {
            return Ok(Read::NotModified);
        }
        Ok(Read::Found(json::to_string(found)))
    }

    fn list(&mut self, page: &PageRequest) -> Result<Page, OpError> {
        self.note(format!("list {:?} {:?}", page.size, page.continuation))?;
        self.page(self.documents.clone(), page)
    }

    /// Understands `… WHERE c.id = "x"` and `… WHERE c.id = @id`; everything else selects all.
    fn query(&mut self, query: &Query, page: &PageRequest) -> Result<Page, OpError> {
        self.note(format!("query {} {:?} {:?} {:?}", query.text, query.parameters, page.size, page.continuation))?;
        if query.text.starts_with("SYNTAX") {
            return Err(OpError::refused(400, "The query is not valid."));
        }
        let wanted = match (query.text.split_once(".id = "), &query.parameters) {
            (None, _) => None,
            (Some(_), Some(parameters)) => {
                let parameters = json::parse(parameters.as_bytes())
                    .map_err(|_| OpError::refused(400, "The parameters are not JSON."))?;
                parameters.as_array().and_then(|all| all.first()?.get("value")?.as_str().map(str::to_owned))
            }
            (Some((_, literal)), None) => Some(literal.trim_matches('"').to_owned()),
        };
        let rows = self
            .documents
            .iter()
            .filter(|document| wanted.is_none() || document.get("id").and_then(Value::as_str) == wanted.as_deref())
            .cloned()
            .collect();
        self.page(rows, page)
    }

    fn create(&mut self, body: &str, options: &WriteOptions) -> Result<Written, OpError> {
        self.note(format!("create {body} {options:?}"))?;
        let object = self.stamped(body, options)?;
        let id = object.get("id").and_then(Value::as_str).unwrap_or_default();
        if self.get(id).is_some() {
            return Err(OpError::refused(409, "Resource with specified id or name already exists."));
        }
        let value = Value::Object(object);
        let document = json::to_string(&value);
        self.documents.push(value);
        Ok(Written { document, created: true })
    }

    fn upsert(&mut self, body: &str, options: &WriteOptions) -> Result<Written, OpError> {
        self.note(format!("upsert {body} {options:?}"))?;
        let object = self.stamped(body, options)?;
        let id = object.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let document = json::to_string(&Value::Object(object.clone()));
        match self.position(&DocumentRef::Id(id)) {
            Ok(at) => {
                self.check_etag(at, options.etag.as_deref())?;
                self.documents[at] = Value::Object(object);
                Ok(Written { document, created: false })
            }
            Err(_) => {
                self.documents.push(Value::Object(object));
                Ok(Written { document, created: true })
            }
        }
    }

    fn replace(&mut self, document: &DocumentRef, body: &str, options: &WriteOptions) -> Result<Written, OpError> {
        self.note(format!("replace {document:?} {body} {options:?}"))?;
        let at = self.position(document)?;
        self.check_etag(at, options.etag.as_deref())?;
        let object = self.stamped(body, options)?;
        self.documents[at] = Value::Object(object);
        Ok(Written { document: json::to_string(&self.documents[at]), created: false })
    }

    fn delete(&mut self, document: &DocumentRef, etag: Option<&str>) -> Result<(), OpError> {
        self.note(format!("delete {document:?} {etag:?}"))?;
        let at = self.position(document)?;
        self.check_etag(at, etag)?;
        self.documents.remove(at);
        Ok(())
    }

    fn accepts_more(&self) -> bool {
        self.accepts.is_none_or(|accepts| self.operations < accepts)
    }

    fn size_mb(&self) -> SizeMb {
        SizeMb { current: 3, max: 20_480 }
    }
}

/// The machine's clock, for tests that need real deadlines.
pub struct RealClock(std::time::Instant);

impl Default for RealClock {
    #[allow(clippy::disallowed_methods, reason = "this clock is the door to the machine's time in these tests")]
    fn default() -> Self {
        Self(std::time::Instant::now())
    }
}

impl Clock for RealClock {
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn unix_ms(&self) -> i64 {
        1_700_000_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap_or(0)
    }
}

/// A clock that moves when told.
#[derive(Default)]
pub struct ManualClock(pub AtomicU64);

impl ManualClock {
    pub fn advance_ms(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn unix_ms(&self) -> i64 {
        1_700_000_000_000 + i64::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(0)
    }
}

pub struct Bench {
    pub engine: Engine,
    pub memory: Memory,
    pub options: RunOptions,
}

impl Default for Bench {
    fn default() -> Self {
        Self::with_limits(Limits::default())
    }
}

impl Bench {
    pub fn with_limits(limits: Limits) -> Self {
        Self {
            engine: Engine::new(limits, Arc::new(RealClock::default())),
            memory: Memory::with(&[]),
            options: RunOptions { logging: true, ..RunOptions::default() },
        }
    }

    pub fn with_documents(texts: &[&str]) -> Self {
        Self { memory: Memory::with(texts), ..Self::default() }
    }

    /// Runs a procedure as one transaction.
    pub fn run(&mut self, source: &str, arguments: &str) -> Result<Outcome, ScriptError> {
        self.run_script(&Script::new("container", "proc", source)?, arguments)
    }

    pub fn run_script(&mut self, script: &Script, arguments: &str) -> Result<Outcome, ScriptError> {
        let mut transaction = self.memory.clone();
        let outcome = self.engine.run_procedure(script, arguments, &mut transaction, &self.options);
        if outcome.is_ok() {
            self.memory = transaction;
        }
        outcome
    }

    /// The JSON text a procedure answers.
    pub fn body(&mut self, source: &str) -> String {
        self.body_with(source, "[]")
    }

    pub fn body_with(&mut self, source: &str, arguments: &str) -> String {
        match self.run(source, arguments) {
            Ok(outcome) => outcome.procedure_body().to_owned(),
            Err(error) => panic!("{source}\nfailed: {error}"),
        }
    }

    pub fn error(&mut self, source: &str) -> ScriptError {
        match self.run(source, "[]") {
            Ok(outcome) => panic!("{source}\nanswered {outcome:?}"),
            Err(error) => error,
        }
    }
}

/// A procedure that answers the value of an expression.
pub fn answer(expression: &str) -> String {
    format!("function () {{ getContext().getResponse().setBody({expression}); }}")
}
