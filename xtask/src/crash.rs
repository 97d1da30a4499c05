//! `cargo xtask crash`: the real binary, killed under load, again and again.
//!
//! The rounds themselves live in `tesela-bench crash`, which has the client; this command builds
//! both and hands the arguments on.

use crate::failure::Result;
use crate::server;
use crate::step;
use crate::workspace::{Workspace, cargo_in};
use std::path::Path;
use std::process::Command;

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let binary = server::build(workspace)?;
    rounds(workspace, &binary, args)
}

/// The rounds over a server that is already built.
pub fn rounds(workspace: &Workspace, binary: &Path, args: &[String]) -> Result<()> {
    step::run("build the load generator", cargo_in(&workspace.root).args(["build", "--package", "tesela-bench"]))?;
    step::run(
        "crash rounds",
        Command::new(workspace.target.join("debug/tesela-bench"))
            .arg("crash")
            .arg("--server")
            .arg(binary)
            .arg("--folder")
            .arg(workspace.scratch("crash"))
            .args(args),
    )
    .map(|_| ())
}
