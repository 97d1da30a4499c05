//! A realm: one JavaScript heap with its own global objects, our prelude, and the scripts compiled in it.
//!
//! Invariants:
//!
//! - One realm, one runtime: heap limit, job queue and interrupt handler belong to one run at a time,
//!   and dropping the realm frees everything a script ever made.
//! - A *warm* realm is frozen before the first script ([`harden` in the prelude](../prelude/lockdown.js)):
//!   scripts can change nothing that outlives their run, so the realm may serve the next one. A script
//!   is kept as a factory, and each run calls it anew, so even its own function objects are fresh.
//! - A realm in which a run was stopped, ran out of memory or failed in any way we do not understand is
//!   `broken` and must be dropped: jobs of that run may be left in its queue.
//!
//! The host calls JavaScript only through [`Realm::enter`], which turns exceptions into [`Fault`]s while
//! the run's budget still applies: describing an exception may run the script's own getters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{Array, CatchResultExt, Context, Ctx, Error, Function, Object, Runtime, Value};

use crate::budget::{Budget, Stop};
use crate::collection::OpError;
use crate::limits::{
    Limits, PENDING_OPERATIONS_MAX, RUNS_PER_REALM_MAX, SCRIPT_ERROR_CHARS_MAX, SCRIPT_PAGE_ITEMS_DEFAULT,
    SCRIPTS_PER_REALM_MAX, WARM_HEAP_BYTES_MAX,
};
use crate::link::Links;
use crate::operation::{Operation, Reply};
use crate::source::{Isolation, Script};
use crate::spatial::{Spatial, SpatialFunction};
use crate::trace::PRELUDE;

/// Heap of a realm before any script, rounded up: the limit of a script comes on top of it.
const PRELUDE_HEAP_BYTES: usize = 2 * 1024 * 1024;

/// Text or stack of an exception, in bytes: what the prelude lets through, as UTF-8.
const ERROR_BYTES_MAX: usize = 3 * SCRIPT_ERROR_CHARS_MAX;

/// What the language offers. Left out: shared clocks (`performance`), weak references (they show when
/// the collector runs) and DOM exceptions.
type Intrinsics = (
    intrinsic::Eval,
    intrinsic::Date,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// Why a call into JavaScript did not return.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The script threw.
    Thrown(Thrown),
    /// The budget stopped it.
    Stopped(Stop),
    /// The engine itself failed.
    Engine(String),
}

#[derive(Debug)]
pub(crate) struct Thrown {
    pub text: String,
    pub stack: String,
    pub number: Option<u32>,
}

pub(crate) struct Realm {
    // Before `runtime`: a context must be gone when its runtime goes.
    context: Context,
    runtime: Runtime,
    budget: Arc<Budget>,
    links: Arc<Mutex<Links>>,
    compiled: HashMap<Arc<str>, Compiled>,
    isolation: Isolation,
    runs: u32,
    broken: bool,
}

struct Compiled {
    source: Arc<str>,
    slot: u32,
}

/// What a run starts from.
pub(crate) struct Start<'a> {
    /// `procedure`, `pre` or `post`, as the prelude calls them.
    pub mode: &'static str,
    pub logging: bool,
    pub self_link: &'a str,
    pub alt_link: &'a str,
    pub operation_type: &'static str,
    pub request: Option<&'a str>,
    pub response: Option<&'a str>,
    pub max_resource_quota: &'a str,
    pub resource_quota_current_usage: &'a str,
    pub seed: u64,
}

impl Realm {
    pub(crate) fn build(
        limits: &Limits,
        isolation: Isolation,
        budget: Arc<Budget>,
        spatial: Arc<dyn Spatial>,
    ) -> Result<Self, String> {
        let failed = |error: Error| error.to_string();
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(limits.heap_bytes + PRELUDE_HEAP_BYTES);
        runtime.set_max_stack_size(limits.stack_bytes);
        let polled = Arc::clone(&budget);
        runtime.set_interrupt_handler(Some(Box::new(move || polled.poll())));
        runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, handled| {
            note_rejection(&ctx, promise, reason, handled);
        })));
        let context = Context::custom::<Intrinsics>(&runtime).map_err(failed)?;
        let links = Arc::new(Mutex::new(Links::default()));
        context.with(|ctx| {
            install(&ctx, limits, isolation, &budget, &links, spatial).catch(&ctx).map_err(|error| error.to_string())
        })?;
        Ok(Self { context, runtime, budget, links, compiled: HashMap::new(), isolation, runs: 0, broken: false })
    }

    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    pub(crate) fn runs(&self) -> u32 {
        self.runs
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether another run may take place here.
    pub(crate) fn is_reusable(&self) -> bool {
        let worn = self.runs >= RUNS_PER_REALM_MAX || self.compiled.len() > SCRIPTS_PER_REALM_MAX;
        self.isolation == Isolation::Warm && !self.broken && !worn
    }

    /// Heap in use, in bytes. Walks the whole heap: for reports, not for every run.
    pub(crate) fn heap_bytes(&self) -> u64 {
        u64::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(0)
    }

    /// Frees what only cycles keep alive, and gives up a realm that stays large. Takes longer than a
    /// small run, so it is for runs that did much, and for idle moments.
    pub(crate) fn tidy(&mut self) {
        self.runtime.run_gc();
        self.broken |= self.heap_bytes() > WARM_HEAP_BYTES_MAX;
    }

    /// Runs `body` in the realm; a failure other than the script's own exception breaks the realm.
    fn enter<T>(
        &mut self,
        body: impl for<'js> FnOnce(&Ctx<'js>, &Object<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, Fault> {
        if let Some(stop) = self.budget.stopped() {
            self.broken = true;
            return Err(Fault::Stopped(stop));
        }
        let budget = &self.budget;
        let result = self.context.with(|ctx| {
            let api = ctx.userdata::<Object<'_>>().expect("a realm is built with its api").clone();
            body(&ctx, &api).map_err(|error| fault(&ctx, &api, budget, &error))
        });
        if let Err(fault) = &result {
            // An exhausted heap leaves room for surprises, even after the exception was caught.
            self.broken |= match fault {
                Fault::Thrown(thrown) => thrown.text.contains("out of memory"),
                Fault::Stopped(_) | Fault::Engine(_) => true,
            };
        }
        result
    }

    /// The slot of the script's factory, compiled now if it is new here or its text changed.
    pub(crate) fn compile(&mut self, script: &Script) -> Result<u32, Fault> {
        let known = self.compiled.get(script.id());
        if let Some(compiled) = known.filter(|compiled| compiled.source.as_ref() == script.source()) {
            return Ok(compiled.slot);
        }
        let next = u32::try_from(self.compiled.len()).unwrap_or(u32::MAX);
        let slot = known.map_or(next, |compiled| compiled.slot);
        let mut first_fault = None;
        for factory in script.factories() {
            let file = script.file_name();
            match self.enter(|ctx, api| function(api, "keep")?.call::<_, ()>((slot, evaluate(ctx, factory, file)?))) {
                Ok(()) => {
                    self.compiled.insert(script.shared_id(), Compiled { source: script.shared_source(), slot });
                    return Ok(slot);
                }
                // The first reading is the one to complain about.
                Err(Fault::Thrown(thrown)) => first_fault = first_fault.or(Some(thrown)),
                Err(other) => return Err(other),
            }
        }
        Err(Fault::Thrown(first_fault.expect("a script has at least one factory text")))
    }

    pub(crate) fn begin(&mut self, start: &Start<'_>, links: Links) -> Result<(), Fault> {
        *self.links.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = links;
        let now = self.budget.unix_ms();
        self.enter(|ctx, api| {
            let fields = Object::new(ctx.clone())?;
            fields.set("selfLink", start.self_link)?;
            fields.set("altLink", start.alt_link)?;
            fields.set("operationType", start.operation_type)?;
            fields.set("request", start.request)?;
            fields.set("response", start.response)?;
            fields.set("maxResourceQuota", start.max_resource_quota)?;
            fields.set("resourceQuotaCurrentUsage", start.resource_quota_current_usage)?;
            let (high, low) = halves(start.seed);
            fields.set("seedHigh", high)?;
            fields.set("seedLow", low)?;
            function(api, "setNow")?.call::<_, ()>((now as f64,))?;
            function(api, "begin")?.call((start.mode, start.logging, fields))
        })
    }

    /// Calls the script with a JSON array of arguments; anything else is one argument. False if the
    /// text is not JSON.
    pub(crate) fn start(&mut self, slot: u32, arguments: &str) -> Result<bool, Fault> {
        self.enter(|ctx, api| {
            let parsed = match ctx.json_parse(arguments) {
                Ok(parsed) => parsed,
                Err(_) => {
                    ctx.catch();
                    return Ok(false);
                }
            };
            let arguments = match parsed.as_array() {
                Some(array) => array.clone(),
                None => {
                    let array = Array::new(ctx.clone())?;
                    array.set(0, parsed)?;
                    array
                }
            };
            function(api, "start")?.call::<_, ()>((slot, arguments))?;
            Ok(true)
        })
    }

    /// Runs promise jobs until none is left, and looks whether the script called `abort()`.
    pub(crate) fn settle(&mut self) -> Result<(), Fault> {
        let budget = Arc::clone(&self.budget);
        self.enter(|ctx, api| {
            let aborted = function(api, "aborted")?;
            loop {
                if let Some(abort) = aborted.call::<_, Option<Object<'_>>>(())? {
                    let reason: Value<'_> = abort.get("error")?;
                    return Err(ctx.throw(reason));
                }
                if budget.stopped().is_some() || !ctx.execute_pending_job() {
                    return Ok(());
                }
            }
        })?;
        match self.budget.stopped() {
            None => Ok(()),
            Some(stop) => {
                self.broken = true;
                Err(Fault::Stopped(stop))
            }
        }
    }

    /// The next operation the script asked for.
    pub(crate) fn next(&mut self) -> Result<Option<Result<Operation, OpError>>, Fault> {
        let links = Arc::clone(&self.links);
        self.enter(|_, api| {
            let queued: Option<Object<'_>> = function(api, "next")?.call(())?;
            let links = links.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Ok(queued.map(|queued| Operation::read(&queued, &links)))
        })
    }

    /// Hands the result of the last operation to its callback.
    pub(crate) fn deliver(&mut self, reply: &Reply) -> Result<(), Fault> {
        let now = self.budget.unix_ms();
        self.enter(|ctx, api| {
            function(api, "setNow")?.call::<_, ()>((now as f64,))?;
            let resource = reply.resource(ctx)?;
            let mut args = rquickjs::function::Args::new(ctx.clone(), 8);
            args.push_arg(reply.failure)?;
            args.push_arg(reply.text.as_str())?;
            args.push_arg(resource)?;
            args.push_arg(reply.continuation.as_deref())?;
            args.push_arg(reply.not_modified)?;
            args.push_arg(reply.status)?;
            args.push_arg(reply.size.current as f64)?;
            args.push_arg(reply.size.max as f64)?;
            function(api, "deliver")?.call_arg(args)
        })
    }

    /// The reason of a promise rejection nobody handled.
    pub(crate) fn unhandled(&mut self) -> Result<(), Fault> {
        self.enter(|ctx, api| match function(api, "unhandled")?.call::<_, Option<Object<'_>>>(())? {
            None => Ok(()),
            Some(lost) => {
                let reason: Value<'_> = lost.get("reason")?;
                Err(ctx.throw(reason))
            }
        })
    }

    /// The body the script set, as JSON text, and its log.
    pub(crate) fn outcome(&mut self) -> Result<(Option<String>, String), Fault> {
        self.enter(|_, api| {
            let pair: Array<'_> = function(api, "outcome")?.call(())?;
            Ok((pair.get(0)?, pair.get(1)?))
        })
    }

    /// Forgets the run. Called after every one, whatever its end.
    pub(crate) fn end(&mut self) {
        if self.enter(|_, api| function(api, "end")?.call::<_, ()>(())).is_err() {
            self.broken = true;
        }
        // A run that failed may have left promise jobs, which would go on in the next one.
        self.broken |= self.runtime.is_job_pending();
        self.runs += 1;
    }

    /// Makes user-defined functions callable until [`Realm::end`]; answers their indexes.
    pub(crate) fn load(&mut self, slot: u32) -> Result<u32, Fault> {
        self.enter(|_, api| function(api, "load")?.call((slot,)))
    }

    pub(crate) fn begin_functions(&mut self, seed: u64) -> Result<(), Fault> {
        let now = self.budget.unix_ms();
        self.enter(|_, api| {
            function(api, "setNow")?.call::<_, ()>((now as f64,))?;
            function(api, "seed")?.call(halves(seed))
        })
    }

    /// Calls a loaded function. An argument or result of `None` is `undefined`.
    pub(crate) fn call(&mut self, index: u32, arguments: &[Option<&str>]) -> Result<Option<String>, Fault> {
        self.enter(|ctx, api| {
            let values = Array::new(ctx.clone())?;
            for (at, argument) in arguments.iter().enumerate() {
                let value = match argument {
                    Some(text) => ctx.json_parse(*text)?,
                    None => Value::new_undefined(ctx.clone()),
                };
                values.set(at, value)?;
            }
            function(api, "call")?.call((index, values))
        })
    }
}

/// The text up to `bytes`, at a character's end.
pub(crate) fn cut(mut text: String, bytes: usize) -> String {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    text.truncate(end.unwrap_or(0));
    text
}

fn halves(seed: u64) -> (i32, i32) {
    // Any 32 bits serve; the generator works on signed words.
    ((seed >> 32) as u32 as i32, seed as u32 as i32)
}

fn function<'js>(api: &Object<'js>, name: &str) -> rquickjs::Result<Function<'js>> {
    api.get(name)
}

fn evaluate<'js>(ctx: &Ctx<'js>, text: String, file: String) -> rquickjs::Result<Function<'js>> {
    let mut options = EvalOptions::default();
    options.strict = true;
    options.backtrace_barrier = true;
    options.filename = Some(file);
    ctx.eval_with_options(text, options)
}

fn install(
    ctx: &Ctx<'_>,
    limits: &Limits,
    isolation: Isolation,
    budget: &Arc<Budget>,
    links: &Arc<Mutex<Links>>,
    spatial: Arc<dyn Spatial>,
) -> rquickjs::Result<()> {
    let prelude = |name: &str, text: &str| evaluate(ctx, text.to_owned(), format!("{PRELUDE}{name}"));
    let tools: Object<'_> = prelude("lockdown.js", include_str!("prelude/lockdown.js"))?.call(())?;
    prelude("meter.js", include_str!("prelude/meter.js"))?.call::<_, ()>((tools.clone(),))?;
    let host = host_functions(ctx, budget, links, spatial)?;
    let api: Object<'_> =
        prelude("context.js", include_str!("prelude/context.js"))?.call((host, tools, prelude_limits(ctx, limits)?))?;
    let for_queries: Object<'_> = api.get("forQueries")?;
    prelude("query.js", include_str!("prelude/query.js"))?.call::<_, ()>((for_queries,))?;
    if isolation == Isolation::Warm {
        function(&api, "harden")?.call::<_, u32>(())?;
    }
    ctx.store_userdata(api).map(drop).map_err(|_| Error::Unknown)
}

fn prelude_limits<'js>(ctx: &Ctx<'js>, limits: &Limits) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("bodyLength", limits.body_bytes as f64)?;
    object.set("logLength", limits.log_bytes as f64)?;
    object.set("errorLength", SCRIPT_ERROR_CHARS_MAX as f64)?;
    object.set("pendingOperations", PENDING_OPERATIONS_MAX as f64)?;
    object.set("pageSize", SCRIPT_PAGE_ITEMS_DEFAULT)?;
    Ok(object)
}

/// The functions the prelude may call; no script ever holds one.
fn host_functions<'js>(
    ctx: &Ctx<'js>,
    budget: &Arc<Budget>,
    links: &Arc<Mutex<Links>>,
    spatial: Arc<dyn Spatial>,
) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    let asked = Arc::clone(budget);
    host.set("accepts", Function::new(ctx.clone(), move || asked.accepts())?)?;
    let with_links = |test: fn(&Links, &str) -> bool| {
        let links = Arc::clone(links);
        Function::new(ctx.clone(), move |link: String| {
            test(&links.lock().unwrap_or_else(std::sync::PoisonError::into_inner), &link)
        })
    };
    host.set("isCollectionLink", with_links(Links::is_collection)?)?;
    host.set("isDocumentLink", with_links(|links, link| links.document(link).is_some())?)?;
    let compute = move |name: String, first: String, second: String| {
        SpatialFunction::named(&name).and_then(|function| spatial.compute(function, &first, &second))
    };
    host.set("spatial", Function::new(ctx.clone(), compute)?)?;
    Ok(host)
}

fn note_rejection<'js>(ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, handled: bool) {
    let Some(api) = ctx.userdata::<Object<'_>>().map(|api| api.clone()) else { return };
    let noted = function(&api, "rejected").and_then(|rejected| rejected.call::<_, ()>((promise, reason, handled)));
    if noted.is_err() {
        // Only memory can have run out; the run will notice. The exception must not reach other code.
        ctx.catch();
    }
}

fn fault<'js>(ctx: &Ctx<'js>, api: &Object<'js>, budget: &Budget, error: &Error) -> Fault {
    if !error.is_exception() {
        return Fault::Engine(error.to_string());
    }
    let thrown = ctx.catch();
    if let Some(stop) = budget.stopped() {
        return Fault::Stopped(stop);
    }
    let described = function(api, "describe").and_then(|describe| describe.call::<_, Array<'_>>((thrown,)));
    let described = described.and_then(|parts| {
        let number: Option<f64> = parts.get(2)?;
        // Checked in the prelude, but that may have been tampered with.
        let number = number.filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number));
        let text = |at: usize| parts.get::<String>(at).map(|text| cut(text, ERROR_BYTES_MAX));
        Ok(Thrown { text: text(0)?, stack: text(1)?, number: number.map(|number| number as u32) })
    });
    described.map_or_else(
        |_| {
            ctx.catch();
            match budget.stopped() {
                Some(stop) => Fault::Stopped(stop),
                None => Fault::Thrown(Thrown {
                    text: "out of memory, or an exception that cannot be described".into(),
                    stack: String::new(),
                    number: None,
                }),
            }
        },
        Fault::Thrown,
    )
}
