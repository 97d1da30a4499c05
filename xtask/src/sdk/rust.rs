//! The Rust suite: `azure_data_cosmos` in a workspace of its own, so that its dependencies (another
//! TLS stack, another HTTP client) never reach the product's lock file.

use crate::failure::Result;
use crate::step;
use crate::workspace::{Workspace, cargo_in};
use std::path::PathBuf;
use std::process::Command;

fn target(workspace: &Workspace) -> PathBuf {
    workspace.target.join("sdk-rust")
}

fn cargo_test(workspace: &Workspace) -> Command {
    let mut command = cargo_in(&workspace.sdk_tests().join("rust"));
    command.args(["test", "--quiet", "--locked", "--target-dir"]).arg(target(workspace));
    command
}

pub fn prepare(workspace: &Workspace) -> Result<()> {
    step::run("build the Rust SDK suite", cargo_test(workspace).arg("--no-run")).map(|_| ())
}

pub fn command(workspace: &Workspace, areas: &[String]) -> Command {
    let mut command = cargo_test(workspace);
    command.arg("--").args(areas.iter().map(|area| format!("{area}::")));
    command
}
