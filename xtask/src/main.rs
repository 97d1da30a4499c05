//! The project's own commands, run as `cargo xtask <command>`.
//!
//! | command       | what it proves                                                            |
//! |---------------|---------------------------------------------------------------------------|
//! | `test`        | everything CI asks: format, lints, tidy, Rust tests, official SDKs         |
//! | `tidy`        | layers, fences, links, file lengths; no compiler needed                    |
//! | `sdk`         | the official SDKs against a server, alone and by area                      |
//! | `conformance` | the open corpora against a server                                          |
//! | `crash`       | `kill -9` under load loses nothing that was acknowledged                   |
//! | `bench`       | figures for docs/benchmarks.md                                             |
//!
//! Every command is a plain blocking function that returns the first failure; `main` prints it and
//! exits with 1. What a command needs on the machine it fetches itself through the ordinary package
//! clients (cargo, pip, npm), below `target/`, so that a fresh clone and a warm one behave alike.
//!
//! Left out on purpose: argument parsing crates, async, colours. This crate is compiled before
//! anything else can start, so it stays small.
#![allow(
    clippy::disallowed_methods,
    reason = "a project command times real processes; nothing here is replayed from a seed"
)]

mod bench;
mod conformance;
mod crash;
mod failure;
mod sdk;
mod server;
mod step;
mod test;
mod tidy;
mod workspace;

use failure::{Failure, Result};
use std::process::ExitCode;
use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask <command>

  test                          everything CI runs: format, lints, tidy, Rust tests, SDK suites
  tidy                          layers, fences, documentation links, file lengths
  sdk [--areas a,b] [--suites python,javascript,rust] [--endpoint URL]
                                the official SDKs against a server (own one unless --endpoint)
  conformance [--kinds k,l] [--min-percent P] [-- runner arguments]
                                the open corpora of ../shared/conformance
  crash [--rounds N]            kill -9 under load, 200 rounds by default
  bench [point|…] [arguments]   release build, then tesela-bench";

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let command = if args.is_empty() { String::new() } else { args.remove(0) };
    match dispatch(&command, args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: &str, args: Vec<String>) -> Result<()> {
    if matches!(command, "" | "help" | "--help" | "-h") {
        println!("{USAGE}");
        return Ok(());
    }
    let workspace = Workspace::load()?;
    match command {
        "test" => test::run(&workspace, &args),
        "tidy" => tidy::run(&workspace),
        "sdk" => sdk::run(&workspace, &args),
        "conformance" => conformance::run(&workspace, &args),
        "crash" => crash::run(&workspace, &args),
        "bench" => bench::run(&workspace, &args),
        other => Err(Failure::new(format!("unknown command `{other}`\n\n{USAGE}"))),
    }
}
