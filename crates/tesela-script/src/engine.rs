//! Runs scripts: finds a realm, drives the script against a collection, and says how it ended.
//!
//! A run goes in turns. Each turn is one entry into JavaScript: the script's function first, then one
//! callback for every finished operation, each followed by the promise jobs it left. Between turns the
//! next queued operation is executed. When nothing is queued the run is over; a throw, an abort or an
//! exhausted budget ends it earlier. `Date` shows the time the current turn began.

use std::sync::Arc;
use std::time::Duration;

use crate::budget::{Budget, Clock, Spent, Stop};
use crate::collection::{Collection, OpError};
use crate::error::{ErrorKind, ScriptError};
use crate::limits::{Limits, OVERRUN_MS, TIDY_BYTES, TIDY_RUNS};
use crate::link::Links;
use crate::offenders::Offenders;
use crate::operation::Reply;
use crate::pool::Pool;
use crate::realm::{Fault, Realm, Start, Thrown, cut};
use crate::source::{Isolation, Script};
use crate::spatial::{NoSpatial, Spatial};
use crate::trace::script_frames;

/// Runs the scripts of all containers. Shared between threads; every call runs on the caller's thread,
/// which needs [`SCRIPT_STACK_BYTES_MAX`](crate::limits::SCRIPT_STACK_BYTES_MAX) of stack and may be held
/// until the time limit.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    limits: Limits,
    clock: Arc<dyn Clock>,
    spatial: Arc<dyn Spatial>,
    pool: Pool,
    offenders: Offenders,
}

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Keep what the script logs.
    pub logging: bool,
    /// Time left for the request, if less than the engine's limit.
    pub time: Option<Duration>,
    /// Randomness for `Math.random`.
    pub seed: u64,
    /// Fail the run for a promise rejection nobody handled. The service swallows it.
    pub fail_unhandled_rejection: bool,
}

/// What a trigger is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerOperation {
    Create,
    Replace,
    Upsert,
    Delete,
}

impl TriggerOperation {
    fn name(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Replace => "Replace",
            Self::Upsert => "Upsert",
            Self::Delete => "Delete",
        }
    }
}

/// A run that came to its end. The caller commits what it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// JSON text of the body the script set: a procedure's answer, the document a pre-trigger wants
    /// written, the response a post-trigger wants sent. `None` if it set none.
    pub body: Option<String>,
    /// The log, if logging was on.
    pub log: Option<String>,
    pub spent: Spent,
}

impl Outcome {
    /// The answer of a procedure: an empty text if it set no body, as the service answers.
    pub fn procedure_body(&self) -> &str {
        self.body.as_deref().unwrap_or("\"\"")
    }
}

/// What differs between the kinds of scripts with a context.
struct Entry<'a> {
    mode: &'static str,
    operation_type: &'static str,
    arguments: &'a str,
    request: Option<&'a str>,
    response: Option<&'a str>,
}

/// What a run did outside of JavaScript.
#[derive(Default)]
struct Work {
    operations: u32,
    /// Of results handed to the script.
    bytes: usize,
}

/// Why a run ended early.
enum Ended {
    Fault(Fault),
    Operation { status: u16, substatus: u32, message: String },
    NoArguments,
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Engine {
    pub fn new(limits: Limits, clock: Arc<dyn Clock>) -> Self {
        Self::with_spatial(limits, clock, Arc::new(NoSpatial))
    }

    /// An engine whose `__.spatial` works.
    pub fn with_spatial(limits: Limits, clock: Arc<dyn Clock>, spatial: Arc<dyn Spatial>) -> Self {
        let (pool, offenders) = (Pool::new(limits.warm_realms), Offenders::new(&limits));
        Self { shared: Arc::new(Shared { limits, clock, spatial, pool, offenders }) }
    }

    /// Whether the script is a function at all, for the moment it is stored.
    pub fn compile_check(&self, script: &Script) -> Result<(), ScriptError> {
        let mut realm = self.shared.realm(script.container(), script.isolation())?;
        realm.budget().arm(&self.shared.limits, None);
        let compiled = realm.compile(script);
        self.shared.give_back(script.container(), realm);
        compiled.map(drop).map_err(|fault| self.shared.compile_error(script, fault))
    }

    /// Runs a stored procedure. `arguments` is the JSON array of the request, or an empty text.
    pub fn run_procedure(
        &self,
        script: &Script,
        arguments: &str,
        collection: &mut dyn Collection,
        options: &RunOptions,
    ) -> Result<Outcome, ScriptError> {
        let arguments = if arguments.trim_ascii().is_empty() { "[]" } else { arguments };
        let entry =
            Entry { mode: "procedure", operation_type: "Execute", arguments, request: Some(arguments), response: None };
        self.shared.run(script, &entry, collection, options)
    }

    /// Runs a trigger before the write of `document` (none for a delete).
    pub fn run_pre_trigger(
        &self,
        script: &Script,
        operation: TriggerOperation,
        document: Option<&str>,
        collection: &mut dyn Collection,
        options: &RunOptions,
    ) -> Result<Outcome, ScriptError> {
        let entry =
            Entry { mode: "pre", operation_type: operation.name(), arguments: "[]", request: document, response: None };
        self.shared.run(script, &entry, collection, options)
    }

    /// Runs a trigger after a write: `request` is the document the client sent, as pre-triggers left
    /// it, `response` the one stored (none for a delete).
    pub fn run_post_trigger(
        &self,
        script: &Script,
        operation: TriggerOperation,
        request: Option<&str>,
        response: Option<&str>,
        collection: &mut dyn Collection,
        options: &RunOptions,
    ) -> Result<Outcome, ScriptError> {
        let entry = Entry { mode: "post", operation_type: operation.name(), arguments: "[]", request, response };
        self.shared.run(script, &entry, collection, options)
    }

    /// Drops what is kept for a container: it was deleted.
    pub fn forget_container(&self, container: &str) {
        self.shared.pool.forget(container);
    }

    /// Frees memory that idle realms hold without need. To be called now and then, every second or so,
    /// from a thread that may be held for some milliseconds.
    pub fn sweep(&self) {
        self.shared.pool.sweep(self.shared.clock.monotonic());
    }

    /// Realms waiting for work and the heap they hold, in bytes. Walks those heaps.
    pub fn warm_realms(&self) -> (usize, u64) {
        (self.shared.pool.len(), self.shared.pool.heap_bytes())
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Shared {
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn give_back(&self, container: &str, realm: Realm) {
        self.pool.put(container, realm, self.clock.monotonic());
    }

    pub(crate) fn realm(&self, container: &str, isolation: Isolation) -> Result<Realm, ScriptError> {
        let warm = (isolation == Isolation::Warm).then(|| self.pool.take(container)).flatten();
        match warm {
            Some(realm) => Ok(realm),
            None => {
                let budget = Arc::new(Budget::new(Arc::clone(&self.clock)));
                Realm::build(&self.limits, isolation, budget, Arc::clone(&self.spatial)).map_err(|cause| {
                    ScriptError::new(ErrorKind::Engine, format!("no realm for scripts could be made: {cause}"))
                })
            }
        }
    }

    fn run(
        &self,
        script: &Script,
        entry: &Entry<'_>,
        collection: &mut dyn Collection,
        options: &RunOptions,
    ) -> Result<Outcome, ScriptError> {
        self.refuse_offender(script)?;
        let mut realm = self.realm(script.container(), script.isolation())?;
        realm.budget().arm(&self.limits, options.time);
        let slot = match realm.compile(script) {
            Ok(slot) => slot,
            Err(fault) => {
                self.give_back(script.container(), realm);
                return Err(self.compile_error(script, fault));
            }
        };
        let mut work = Work::default();
        let ended = self.drive(&mut realm, slot, entry, collection, options, &mut work);
        let outcome = self.conclude(&mut realm, script, options, ended);
        let spent = realm.budget().spent(work.operations);
        let moved = work.bytes + entry.arguments.len() + entry.request.map_or(0, str::len);
        realm.end();
        self.remember(script, &outcome, &spent, options);
        if spent.steps > 0 || moved > TIDY_BYTES || realm.runs() % TIDY_RUNS == 0 {
            realm.tidy();
        }
        self.give_back(script.container(), realm);
        match outcome {
            Ok((body, log)) => Ok(Outcome { body, log, spent }),
            Err(error) => Err(ScriptError { spent, ..error }),
        }
    }

    /// The turns of a run.
    fn drive(
        &self,
        realm: &mut Realm,
        slot: u32,
        entry: &Entry<'_>,
        collection: &mut dyn Collection,
        options: &RunOptions,
        work: &mut Work,
    ) -> Result<(), Ended> {
        let links = Links::of(collection);
        let size = collection.size_mb();
        let start = Start {
            mode: entry.mode,
            logging: options.logging,
            self_link: collection.self_link(),
            alt_link: collection.alt_link(),
            operation_type: entry.operation_type,
            request: entry.request,
            response: entry.response,
            max_resource_quota: &format!("collectionSize={};", size.max * 1024),
            resource_quota_current_usage: &format!("collectionSize={};", size.current * 1024),
            seed: options.seed,
        };
        realm.begin(&start, links)?;
        realm.budget().set_collection_accepts(collection.accepts_more());
        if !realm.start(slot, entry.arguments)? {
            return Err(Ended::NoArguments);
        }
        loop {
            realm.settle()?;
            let Some(operation) = realm.next()? else { break };
            work.operations += 1;
            let reply = match operation.and_then(|operation| operation.perform(collection)) {
                Ok(reply) => reply,
                Err(OpError::Refused { number, message }) => Reply::refusal(number, message),
                Err(OpError::Abort { status, substatus, message }) => {
                    return Err(Ended::Operation { status, substatus, message });
                }
            };
            work.bytes += reply.resource.as_ref().map_or(0, String::len);
            realm.budget().set_collection_accepts(collection.accepts_more());
            realm.deliver(&Reply { size: collection.size_mb(), ..reply })?;
        }
        if options.fail_unhandled_rejection {
            realm.unhandled()?;
        }
        Ok(())
    }

    /// The body and log of a finished run, or the error of one that ended early.
    fn conclude(
        &self,
        realm: &mut Realm,
        script: &Script,
        options: &RunOptions,
        ended: Result<(), Ended>,
    ) -> Result<(Option<String>, Option<String>), ScriptError> {
        let early = match ended {
            Ok(()) => match realm.outcome() {
                Ok((body, _)) if body.as_ref().is_some_and(|body| body.len() > self.limits.body_bytes) => {
                    let message =
                        format!("the body of script {} is larger than {} bytes", script.id(), self.limits.body_bytes);
                    return Err(ScriptError::new(ErrorKind::TooLarge, message));
                }
                Ok((body, log)) => return Ok((body, options.logging.then(|| cut(log, self.limits.log_bytes)))),
                Err(fault) => Ended::Fault(fault),
            },
            Err(early) => early,
        };
        let error = match early {
            Ended::NoArguments => ScriptError::new(
                ErrorKind::Arguments,
                format!("the arguments for script {} are not valid JSON", script.id()),
            ),
            Ended::Operation { status, substatus, message } => {
                ScriptError::new(ErrorKind::Aborted { status, substatus }, message)
            }
            Ended::Fault(fault) => self.run_error(script, fault),
        };
        // A stopped script may not be entered again, not even for its log.
        let log = (options.logging && !realm.is_broken()).then(|| realm.outcome().ok()).flatten();
        Err(ScriptError { log: log.map(|(_, log)| cut(log, self.limits.log_bytes)), ..error })
    }

    fn refuse_offender(&self, script: &Script) -> Result<(), ScriptError> {
        match self.offenders.blocked_for(script, self.clock.monotonic()) {
            None => Ok(()),
            Some(left) => {
                let message = format!(
                    "The script {} is blocked for {} more seconds because it exceeded its time limit several times in a row.",
                    script.id(),
                    left.as_secs() + 1
                );
                Err(ScriptError::new(ErrorKind::Blocked, message))
            }
        }
    }

    fn remember<T>(&self, script: &Script, outcome: &Result<T, ScriptError>, spent: &Spent, options: &RunOptions) {
        match outcome {
            Err(error) if error.kind == ErrorKind::TimedOut => {
                let limit = options.time.map_or(self.limits.time, |time| time.min(self.limits.time));
                let overran = spent.time > limit + Duration::from_millis(OVERRUN_MS);
                self.offenders.timed_out(script, overran, self.clock.monotonic());
            }
            _ => self.offenders.behaved(script),
        }
    }

    pub(crate) fn compile_error(&self, script: &Script, fault: Fault) -> ScriptError {
        match fault {
            Fault::Thrown(thrown) => ScriptError::new(ErrorKind::Compile, report("compiling", &thrown)),
            other => self.run_error(script, other),
        }
    }

    pub(crate) fn run_error(&self, script: &Script, fault: Fault) -> ScriptError {
        match fault {
            Fault::Thrown(thrown) => {
                ScriptError::new(ErrorKind::Thrown { number: thrown.number }, report("executing", &thrown))
            }
            Fault::Stopped(Stop::Time) => {
                let message = format!(
                    "The script {} exceeded its time limit of {} ms; nothing of it was kept.",
                    script.id(),
                    self.limits.time.as_millis()
                );
                ScriptError::new(ErrorKind::TimedOut, message)
            }
            Fault::Stopped(Stop::Steps) => {
                let message = format!(
                    "The script {} exceeded its limit of {} steps; nothing of it was kept.",
                    script.id(),
                    self.limits.steps
                );
                ScriptError::new(ErrorKind::TimedOut, message)
            }
            Fault::Engine(cause) => {
                ScriptError::new(ErrorKind::Engine, format!("the script engine failed on {}: {cause}", script.id()))
            }
        }
    }
}

/// An exception in the service's wording, which users' code and tests look into.
fn report(doing: &str, thrown: &Thrown) -> String {
    format!(
        "Encountered exception while {doing} function. Exception = {text}\r\nStack trace: {text}{frames}",
        text = thrown.text,
        frames = script_frames(&thrown.stack)
    )
}
