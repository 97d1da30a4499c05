//! The JavaScript suite: `node --test` over `@azure/cosmos`, from a locked `node_modules`.

use crate::failure::{Doing, Failure, Result};
use crate::step;
use crate::workspace::Workspace;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// The oldest Node.js the pinned SDK runs on.
const NODE_MAJOR_MIN: u32 = 20;

const TEST_MILLISECONDS_MAX: u32 = 60_000;

pub fn prepare(workspace: &Workspace) -> Result<()> {
    require_node()?;
    let folder = workspace.sdk_tests().join("javascript");
    let lock = folder.join("package-lock.json");
    let wanted = fs::read(&lock).doing(|| format!("reading {}", lock.display()))?;
    let stamp = folder.join("node_modules/.installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    step::logged(
        "node packages",
        Command::new("npm").current_dir(&folder).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]),
        &workspace.scratch("logs").join("javascript-setup.log"),
        Duration::from_secs(step::STEP_SECONDS_MAX),
    )?;
    fs::write(&stamp, wanted).doing(|| format!("writing {}", stamp.display()))
}

fn require_node() -> Result<()> {
    let version = Command::new("node")
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major >= NODE_MAJOR_MIN) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the JavaScript suite needs Node.js {NODE_MAJOR_MIN} or newer with npm, found `{version}`"
    )))
}

pub fn command(workspace: &Workspace, areas: &[String]) -> Command {
    let mut command = Command::new("node");
    command
        .current_dir(workspace.sdk_tests().join("javascript"))
        .arg("--test")
        .arg(format!("--test-timeout={TEST_MILLISECONDS_MAX}"))
        .arg("--test-reporter=spec")
        .args(areas.iter().map(|area| format!("{area}.test.mjs")));
    command
}
