//! Load, peers and crashes: what the server does under pressure, measured from outside its process.
//!
//! ```text
//! point    reads and creates of 1 KB items: a bare HTTP server, Tesela, the npm peer; start, memory, size
//! crash    rounds of kill -9 under load; every acknowledged write must be there, none torn
//! load     one measured run of the load generator (a child of `point`)
//! ceiling  a bare server of the same HTTP stack that returns canned bytes (a child of `point`)
//! ```
//!
//! The generator, the servers and the orchestrator are separate processes, so that what one allocates
//! or waits for is never charged to another. All of them share the machine's cores: read ratios
//! inside one run, not absolutes across machines.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the real clock")]

mod arguments;
mod ceiling;
mod crash;
mod engine;
mod failure;
mod histogram;
mod item;
mod load;
mod point;
mod report;
mod server;
mod signer;
mod transport;

use arguments::Arguments;
use failure::{Failure, Result};
use std::process::ExitCode;

const USAGE: &str = "\
usage: tesela-bench point  --server BINARY --folder DIR [--peer CLI.js] [--seconds N] [--repeats N]
       tesela-bench crash  --server BINARY --folder DIR [--rounds N] [--seed N]
       tesela-bench load | ceiling   (started by the others)";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let outcome = Arguments::parse(words).and_then(|arguments| run(&command, &arguments));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("tesela-bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &str, arguments: &Arguments) -> Result<()> {
    match command {
        "point" => point::run(arguments),
        "crash" => crash::run(arguments),
        "load" => load::run(arguments),
        "ceiling" => ceiling::run(arguments),
        _ => Err(Failure::new(USAGE)),
    }
}
