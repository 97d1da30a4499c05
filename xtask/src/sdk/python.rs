//! The Python suite: pytest over `azure-cosmos`, in a virtual environment below `target/`.

use crate::failure::{Doing, Failure, Result};
use crate::step;
use crate::workspace::Workspace;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn environment(workspace: &Workspace) -> PathBuf {
    workspace.scratch("python")
}

/// The interpreter of the environment; other commands use it for their own scripts.
pub fn interpreter(workspace: &Workspace) -> PathBuf {
    environment(workspace).join("bin/python")
}

pub fn prepare(workspace: &Workspace) -> Result<()> {
    let requirements = workspace.sdk_tests().join("python/requirements.txt");
    let wanted = fs::read(&requirements).doing(|| format!("reading {}", requirements.display()))?;
    let environment = environment(workspace);
    let stamp = environment.join("requirements.installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let log = workspace.scratch("logs").join("python-setup.log");
    let limit = std::time::Duration::from_secs(step::STEP_SECONDS_MAX);
    step::logged(
        "python environment",
        Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment),
        &log,
        limit,
    )
    .map_err(|failure| {
        Failure::new(format!(
            "{failure}\nthe Python suite needs python3 with its venv module \
             (Debian: apt-get install python3 python3-venv)"
        ))
    })?;
    step::logged(
        "python packages",
        Command::new(interpreter(workspace))
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .arg("--requirement")
            .arg(&requirements),
        &log,
        limit,
    )?;
    fs::write(&stamp, wanted).doing(|| format!("writing {}", stamp.display()))
}

pub fn command(workspace: &Workspace, areas: &[String]) -> Command {
    let folder = workspace.sdk_tests().join("python");
    let mut command = Command::new(interpreter(workspace));
    command
        .current_dir(&folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-m", "pytest", "--numprocesses", "2", "--dist", "loadfile"])
        .args(areas.iter().map(|area| format!("test_{area}.py")));
    command
}
