//! `cargo xtask bench`: release builds of the server and of the load generator, the npm peer, then
//! `tesela-bench` with the arguments given.

use crate::failure::Result;
use crate::step;
use crate::workspace::{Workspace, cargo_in};
use std::process::Command;
use std::time::Duration;

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    // One at a time: built together, cargo would unite their features, and the measured server
    // would carry the load generator's HTTP client.
    for package in ["tesela", "tesela-bench"] {
        step::run(
            &format!("build {package}, release"),
            cargo_in(&workspace.root).args(["build", "--release", "--package", package]),
        )?;
    }
    let peer = workspace.sdk_tests().join("peer");
    step::logged(
        "install the npm peer",
        Command::new("npm").current_dir(&peer).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]),
        &workspace.scratch("logs").join("peer-setup.log"),
        Duration::from_secs(step::STEP_SECONDS_MAX),
    )?;
    let mut command = Command::new(workspace.target.join("release/tesela-bench"));
    command
        .arg(args.first().map_or("point", String::as_str))
        .arg("--server")
        .arg(workspace.server_binary("release"))
        .arg("--peer")
        .arg(peer.join("node_modules/@vercel/cosmosdb-server/lib/cli.js"))
        .arg("--folder")
        .arg(workspace.scratch("bench"))
        .args(args.iter().skip(1));
    step::run("bench", &mut command).map(|_| ())
}
