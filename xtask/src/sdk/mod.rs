//! The official SDKs, unmodified, against a real server: the tests at the border.
//!
//! Three suites (Python, JavaScript, Rust) share one server and one list of *areas*. An area is a
//! feature (`items`, `patch`, `query`); each suite may have one file for it. `tests/sdk/areas.txt`
//! lists the areas that must pass; what exists and is not listed is not run, and that is said aloud.
//! Tests make databases of their own with names of their own, so the suites run side by side.
//!
//! Suites learn where the server is, and which keys it has, from environment variables; see
//! [`Border::describe_to`].

mod areas;
mod javascript;
mod python;
mod rust;
mod tally;

pub use python::interpreter;

use crate::failure::{Failure, Result};
use crate::server::{self, Server};
use crate::step;
use crate::workspace::Workspace;
use areas::{Areas, Selection};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use tally::Tally;

/// A suite that needs longer hangs: the slowest takes a small part of this.
const SUITE_SECONDS_MAX: u64 = 15 * 60;

/// Where the tests find the server.
#[derive(Debug, Clone)]
pub struct Border {
    pub http: String,
    pub https: String,
    pub binary: PathBuf,
}

impl Border {
    pub fn of(server: &Server, binary: PathBuf) -> Self {
        Self { http: server.http(), https: server.https(), binary }
    }

    /// The contract with the suites: these variables, these names.
    fn describe_to(&self, command: &mut Command) {
        command
            .env("TESELA_ENDPOINT", &self.http)
            .env("TESELA_HTTPS_ENDPOINT", &self.https)
            .env("TESELA_BINARY", &self.binary)
            .env("TESELA_KEY", server::EMULATOR_KEY)
            .env("TESELA_SECONDARY_KEY", server::SECONDARY_KEY)
            .env("TESELA_READ_ONLY_KEY", server::READ_ONLY_KEY)
            .env("TESELA_SECONDARY_READ_ONLY_KEY", server::SECONDARY_READ_ONLY_KEY);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    Python,
    JavaScript,
    Rust,
}

impl Suite {
    pub const ALL: [Self; 3] = [Self::Python, Self::JavaScript, Self::Rust];

    fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Rust => "rust",
        }
    }

    /// Fetches and builds what the suite needs; quick when nothing changed.
    fn prepare(self, workspace: &Workspace) -> Result<()> {
        match self {
            Self::Python => python::prepare(workspace),
            Self::JavaScript => javascript::prepare(workspace),
            Self::Rust => rust::prepare(workspace),
        }
    }

    fn command(self, workspace: &Workspace, areas: &[String]) -> Command {
        match self {
            Self::Python => python::command(workspace, areas),
            Self::JavaScript => javascript::command(workspace, areas),
            Self::Rust => rust::command(workspace, areas),
        }
    }
}

/// `cargo xtask sdk`
pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let mut suites = Suite::ALL.to_vec();
    let mut wanted = None;
    let mut endpoint = None;
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        let value = rest.next().ok_or_else(|| Failure::new(format!("{flag} needs a value")))?;
        match flag.as_str() {
            "--areas" => wanted = Some(value.split(',').map(str::to_owned).collect::<Vec<_>>()),
            "--suites" => suites = parse_suites(value)?,
            "--endpoint" => endpoint = Some(value.clone()),
            _ => return Err(Failure::new(format!("unknown argument {flag}"))),
        }
    }
    let areas = Areas::read(workspace)?;
    let selection = match wanted {
        Some(wanted) => areas.only(&wanted)?,
        None => areas.listed()?,
    };
    for suite in &suites {
        suite.prepare(workspace)?;
    }
    let (border, _server) = match endpoint {
        Some(endpoint) => {
            let border = Border {
                https: endpoint.replace("http://127.0.0.1", "https://localhost"),
                http: endpoint,
                binary: workspace.server_binary("debug"),
            };
            (border, None)
        }
        None => {
            let binary = server::build(workspace)?;
            let server = Server::start(&binary, &workspace.scratch("data"))?;
            (Border::of(&server, binary), Some(server))
        }
    };
    run_suites(workspace, &border, &suites, &selection)
}

fn parse_suites(list: &str) -> Result<Vec<Suite>> {
    list.split(',')
        .map(|name| {
            Suite::ALL
                .into_iter()
                .find(|suite| suite.name() == name)
                .ok_or_else(|| Failure::new(format!("no suite `{name}`")))
        })
        .collect()
}

/// The downloads of the interpreted suites: they wait for the network, so they can run beside
/// compilation.
pub fn prepare_interpreted(workspace: &Workspace) -> Result<()> {
    Suite::Python.prepare(workspace)?;
    Suite::JavaScript.prepare(workspace)
}

/// The compiled suite; wants the cores for itself.
pub fn prepare_compiled(workspace: &Workspace) -> Result<()> {
    Suite::Rust.prepare(workspace)
}

/// All listed areas, as `cargo xtask test` runs them.
pub fn run_listed(workspace: &Workspace, border: &Border) -> Result<()> {
    let selection = Areas::read(workspace)?.listed()?;
    run_suites(workspace, border, &Suite::ALL, &selection)
}

/// Whether `areas.txt` lists the conformance corpora.
pub fn conformance_listed(workspace: &Workspace) -> Result<bool> {
    Ok(Areas::read(workspace)?.conformance_listed())
}

fn run_suites(workspace: &Workspace, border: &Border, suites: &[Suite], selection: &Selection) -> Result<()> {
    println!("── SDK suites against {}", border.http);
    selection.announce();
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let running: Vec<_> =
            suites.iter().map(|suite| scope.spawn(|| run_suite(workspace, border, *suite, selection))).collect();
        running.into_iter().map(|suite| suite.join().unwrap_or_else(|_| Tally::broken())).collect()
    });
    let total = tallies.into_iter().fold(Tally::default(), Tally::plus);
    println!("{total}");
    if total.failed > 0 {
        return Err(Failure::new(format!("{} SDK test(s) failed", total.failed)));
    }
    Ok(())
}

fn run_suite(workspace: &Workspace, border: &Border, suite: Suite, selection: &Selection) -> Tally {
    let name = suite.name();
    let areas = selection.of(suite);
    if areas.is_empty() {
        println!("   {name}: no area to run");
        return Tally::default();
    }
    let log = workspace.scratch("logs").join(format!("sdk-{name}.log"));
    let mut command = suite.command(workspace, areas);
    border.describe_to(&mut command);
    let begun = Instant::now();
    let limit = Duration::from_secs(SUITE_SECONDS_MAX);
    let ended = step::logged_status(name, &mut command, &log, limit);
    let seconds = begun.elapsed().as_secs_f64();
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let mut tally = Tally::read(&text);
    let good = matches!(&ended, Ok(status) if status.success()) && tally.failed == 0;
    if !good && tally.failed == 0 {
        // It broke outside any test (a crash, a time-out, an import error): that is a failure too.
        tally.failed = 1;
    }
    if !good {
        step::show(&log);
        if let Err(failure) = ended {
            println!("   {failure}");
        }
    }
    println!("   {name}: {tally}, {seconds:.1} s");
    tally
}
