//! `cargo xtask test`: everything CI asks, in the order that finds mistakes soonest.
//!
//! One dev profile serves every step, so dependencies are compiled once. The interpreted suites
//! fetch their packages while the compiler works; the compiled one waits for its turn, because two
//! compilers on two cores finish no sooner than one after the other.

use crate::conformance;
use crate::crash;
use crate::failure::{Failure, Result};
use crate::sdk::{self, Border};
use crate::server::{self, Server};
use crate::step;
use crate::tidy;
use crate::workspace::{Workspace, cargo_in, nextest_present};
use std::time::Instant;

/// Enough to notice a broken promise; `cargo xtask crash` runs the two hundred.
const CRASH_ROUNDS: &str = "5";

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    if let Some(unknown) = args.first() {
        return Err(Failure::new(format!("`test` takes no arguments, found {unknown}")));
    }
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let downloads = scope.spawn(|| sdk::prepare_interpreted(workspace));
        check_sources(workspace)?;
        rust_tests(workspace)?;
        let binary = server::build(workspace)?;
        crash::rounds(workspace, &binary, &["--rounds".into(), CRASH_ROUNDS.into()])?;
        sdk::prepare_compiled(workspace)?;
        downloads.join().unwrap_or_else(|_| Err(Failure::new("preparing the SDK suites panicked")))?;
        let server = Server::start(&binary, &workspace.scratch("data"))?;
        if sdk::conformance_listed(workspace)? {
            conformance::run_if_present(workspace, &server)?;
        } else {
            println!("   not run (not in tests/sdk/areas.txt): conformance");
        }
        // Last, so that the closing line of the whole command is the suites' count.
        println!("   everything before the SDK suites: {:.0} s", begun.elapsed().as_secs_f64());
        sdk::run_listed(workspace, &Border::of(&server, binary))
    })
}

fn check_sources(workspace: &Workspace) -> Result<()> {
    let root = &workspace.root;
    step::run("format", cargo_in(root).args(["fmt", "--all", "--check"]))?;
    println!("── tidy");
    tidy::run(workspace)?;
    step::run(
        "clippy",
        cargo_in(root).args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"]),
    )
    .map(|_| ())
}

fn rust_tests(workspace: &Workspace) -> Result<()> {
    let root = &workspace.root;
    if nextest_present(root) {
        step::run(
            "Rust tests",
            cargo_in(root).args([
                "nextest",
                "run",
                "--workspace",
                "--no-fail-fast",
                "--status-level",
                "fail",
                "--final-status-level",
                "fail",
            ]),
        )?;
        // nextest leaves documentation examples out.
        step::run("documentation examples", cargo_in(root).args(["test", "--quiet", "--workspace", "--doc"]))?;
    } else {
        step::run("Rust tests", cargo_in(root).args(["test", "--quiet", "--workspace", "--no-fail-fast"]))?;
    }
    Ok(())
}
