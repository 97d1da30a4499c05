//! Scripts of a container: found in the catalog, run beside the writer, committed or run again.
//!
//! ```text
//! execute_procedure ─┐                         runs: a thread for each script, a bounded number
//! write_triggered ───┴─> transact ─> lanes ─> begin_script ─> Engine ─> commit_script ─┬─> done
//!                          ^                                                            │
//!                          └──────────────────── Contended: once more ──────────────────┘
//! ```
//!
//! A script that lost against another write of its key is run again, up to [`ATTEMPTS_MAX`] times within the time of
//! one request, and from then on in the *lane* of its key: those who lost take turns, and newcomers queue behind them,
//! so that each round has a winner among scripts. After that the client is told 449 (retry).
//!
//! What a script may do is the matter of [`tesela_script`], how it is isolated of [`tesela_partition::script`].

mod functions;
mod lanes;
mod loaded;
mod runs;
mod spatial;
mod triggers;

pub use functions::ContainerFunctions;
pub use triggers::{TriggerNames, TriggeredWrite};

use crate::catalog::{Container, Entry};
use crate::error::RouterError;
use crate::items::{Refused, served};
use crate::query::bind;
use crate::router::{Router, Served};
use lanes::Lanes;
use loaded::Loaded;
use runs::Runs;
use std::sync::Arc;
use std::time::Duration;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::json::Value;
use tesela_partition::charge;
use tesela_partition::error::{ReadError, WriteError};
use tesela_partition::item::LogicalKey;
use tesela_partition::script::{BindQuery, BoundQuery, ScriptTransaction};
use tesela_query::QueryError;
use tesela_script::limits::SCRIPT_TIME_MS;
use tesela_script::{Clock, Engine, Limits, Outcome, RunOptions, Script, ScriptError};
use tesela_store::Store;

/// Times a script is run when others keep writing to its key. Ours.
const ATTEMPTS_MAX: u32 = 16;

/// What all scripts of a server share.
pub(crate) struct Scripts {
    engine: Engine,
    loaded: Loaded,
    runs: Runs,
    lanes: Lanes,
}

/// Time and date for scripts.
struct EnvClock(Env);

impl Clock for EnvClock {
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn unix_ms(&self) -> i64 {
        (self.0.now().unix_micros() / 1000) as i64
    }
}

impl Scripts {
    pub(crate) fn new(env: &Env) -> Self {
        let clock = Arc::new(EnvClock(env.clone()));
        Self {
            engine: Engine::with_spatial(Limits::default(), clock, Arc::new(spatial::QuerySpatial)),
            loaded: Loaded::default(),
            runs: Runs::default(),
            lanes: Lanes::default(),
        }
    }
}

/// A stored procedure that ran.
#[derive(Debug)]
pub struct Executed {
    pub served: Served,
    /// JSON text.
    pub body: String,
    /// What it logged, when that was asked for.
    pub log: Option<String>,
    pub charge_ru: f64,
}

/// How a transaction of scripts fails: by a script, or by the write it is about.
enum Failed {
    Script(ScriptError),
    Write(WriteError),
    Read(ReadError),
}

impl From<WriteError> for Failed {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

impl From<Failed> for RouterError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Script(error) => Self::Script(error),
            Failed::Write(error) => Self::Write(error),
            Failed::Read(error) => Self::Read(error),
        }
    }
}

/// The scripts of one transaction: their steps, and how they are to run.
struct Session {
    engine: Engine,
    options: RunOptions,
    steps: u64,
}

impl Session {
    /// Counts what a script used, however it ended.
    fn account(&mut self, outcome: Result<Outcome, ScriptError>) -> Result<Outcome, Failed> {
        self.steps += match &outcome {
            Ok(outcome) => outcome.spent.steps,
            Err(error) => error.spent.steps,
        };
        outcome.map_err(Failed::Script)
    }
}

/// A committed transaction of scripts.
struct Done<T> {
    value: T,
    served: Served,
    charge_ru: f64,
}

impl<S: Store> Router<S> {
    /// Whether a text is a function, for the moment it is stored.
    pub async fn check_script(&self, container: &Container, id: &str, source: &str) -> Result<(), RouterError> {
        let script = Script::new(&container.resource.rid, id, source).map_err(RouterError::Script)?;
        let engine = self.scripts().engine.clone();
        let checked = self.scripts().runs.run(move || engine.compile_check(&script)).await;
        checked.ok_or(RouterError::ScriptsBusy)?.map_err(RouterError::Script)
    }

    /// Runs a stored procedure over one logical partition (R16). `arguments` is a JSON array or empty.
    pub async fn execute_procedure(
        &self,
        container: &Container,
        key: LogicalKey,
        procedure: &Entry,
        arguments: String,
        logging: bool,
    ) -> Result<Executed, Refused> {
        let script = self.scripts().loaded.get(&container.resource.rid, procedure).map_err(RouterError::Script)?;
        let done = self
            .transact(container, key, logging, move |transaction, session| {
                let outcome = session.engine.run_procedure(&script, &arguments, transaction, &session.options);
                session.account(outcome)
            })
            .await?;
        let body = done.value.procedure_body().to_owned();
        Ok(Executed { served: done.served, body, log: done.value.log, charge_ru: done.charge_ru })
    }

    /// Frees what idle scripts hold. To be called every second or so.
    pub async fn sweep_scripts(&self) {
        let engine = self.scripts().engine.clone();
        // A sweep that could not start, or panicked, is made good by the next.
        let _ = tokio::task::spawn_blocking(move || engine.sweep()).await;
    }

    /// Runs `work` as one transaction, again and again while others write to the same key.
    async fn transact<T: Send + 'static>(
        &self,
        container: &Container,
        key: LogicalKey,
        logging: bool,
        work: impl Fn(&mut ScriptTransaction<S>, &mut Session) -> Result<T, Failed> + Send + Sync + 'static,
    ) -> Result<Done<T>, Refused> {
        let work = Arc::new(work);
        let scripts = self.scripts();
        let began = self.env().elapsed();
        let mut lane = None;
        for attempt in 0..ATTEMPTS_MAX {
            let partition = self.owner(container, &key).await?;
            if lane.is_none() && (attempt > 0 || scripts.lanes.is_taken(partition.space(), &key.epk)) {
                lane = Some(scripts.lanes.enter(partition.space(), &key.epk).await);
            }
            let left = Duration::from_millis(SCRIPT_TIME_MS).saturating_sub(self.env().elapsed() - began);
            let options = RunOptions { logging, time: Some(left), seed: self.env().random(), ..RunOptions::default() };
            let mut session = Session { engine: scripts.engine.clone(), options, steps: 0 };
            let (work, key, path, home) = (work.clone(), key.clone(), container.path.clone(), partition.clone());
            let queries = Arc::new(Queries::new(self, container));
            let ran = scripts.runs.run(move || {
                let mut transaction = home.begin_script(key, &path, queries).map_err(Failed::Read)?;
                let outcome = work(&mut transaction, &mut session);
                Ok::<_, Failed>((outcome, transaction.finish(), session.steps))
            });
            let (outcome, work, steps) = ran.await.ok_or(RouterError::ScriptsBusy)?.map_err(RouterError::from)?;
            let charge_ru = charge::script(work.charge_ru, steps);
            let refused = |error: RouterError| Refused { error, served: Some(served(&partition)), charge_ru };
            let value = outcome.map_err(|failed| refused(failed.into()))?;
            match partition.commit_script(work).await {
                Ok(lsn) => return Ok(Done { value, served: Served { partition: partition.id(), lsn }, charge_ru }),
                Err(WriteError::Contended { .. }) => {}
                // A split or merge came in between: the script runs again where its key lives now.
                Err(WriteError::Gone) if partition.is_closed() => {}
                Err(error) => return Err(refused(error.into())),
            }
        }
        let key = tesela_partition::write::key_text(&key);
        Err(RouterError::from(WriteError::Contended { key }).into())
    }
}

/// Binds the queries of scripts to their container.
struct Queries {
    definition: Arc<ContainerDefinition>,
    functions: ContainerFunctions,
    env: Env,
}

impl Queries {
    fn new<S: Store>(router: &Router<S>, container: &Container) -> Self {
        let functions = ContainerFunctions::new(router, container);
        Self { definition: container.definition.clone(), functions, env: router.env().clone() }
    }
}

impl BindQuery for Queries {
    fn bind(&self, text: &str, parameters: &[(String, Value)]) -> Result<BoundQuery, QueryError> {
        let functions = self.functions.fresh();
        let now_ticks = self.env.now().unix_micros() as i64 * 10;
        let (_, query) = bind(&self.definition, text, parameters, now_ticks, &functions)?;
        Ok(BoundQuery { query, functions: Box::new(functions) })
    }
}
