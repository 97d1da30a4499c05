//! `cargo xtask conformance`: the open corpora against a server of our own.
//!
//! The corpora and their runner stand beside the repository, in `../shared/conformance`; a clone
//! without them cannot run this, and says so. The runner prints passes per kind; this command holds
//! each kind to a share, since a total would let a large kind hide a small one.

use crate::failure::{Failure, Result};
use crate::sdk;
use crate::server::{self, EMULATOR_KEY, Server};
use crate::step;
use crate::workspace::Workspace;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Of the cases that are not marked doubtful, per kind.
const MIN_PERCENT: f64 = 99.0;

const CORPUS_SECONDS_MAX: u64 = 20 * 60;

struct Request {
    kinds: Option<String>,
    min_percent: f64,
    runner_args: Vec<String>,
}

fn runner(workspace: &Workspace) -> PathBuf {
    workspace.root.join("../shared/conformance/run_corpus.py")
}

pub fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    let request = parse(args)?;
    if !runner(workspace).is_file() {
        return Err(absent(workspace));
    }
    sdk::prepare_interpreted(workspace)?;
    let binary = server::build(workspace)?;
    let server = Server::start(&binary, &workspace.scratch("conformance"))?;
    corpora(workspace, &server, &request)
}

/// As a step of `cargo xtask test`: a clone without the corpora is told, not failed.
pub fn run_if_present(workspace: &Workspace, server: &Server) -> Result<()> {
    println!("── conformance");
    if !runner(workspace).is_file() {
        println!("   skipped: {}", absent(workspace));
        return Ok(());
    }
    corpora(workspace, server, &parse(&[])?)
}

fn absent(workspace: &Workspace) -> Failure {
    Failure::new(format!("the corpora are not here: {} does not exist", runner(workspace).display()))
}

fn parse(args: &[String]) -> Result<Request> {
    let mut request = Request { kinds: None, min_percent: MIN_PERCENT, runner_args: Vec::new() };
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        if flag == "--" {
            request.runner_args = rest.cloned().collect();
            break;
        }
        let value = rest.next().ok_or_else(|| Failure::new(format!("{flag} needs a value")))?;
        match flag.as_str() {
            "--kinds" => request.kinds = Some(value.clone()),
            "--min-percent" => {
                request.min_percent =
                    value.parse().map_err(|_| Failure::new(format!("{value} is not a percentage")))?;
            }
            _ => return Err(Failure::new(format!("unknown argument {flag}"))),
        }
    }
    Ok(request)
}

fn corpora(workspace: &Workspace, server: &Server, request: &Request) -> Result<()> {
    let logs = workspace.scratch("logs");
    let log = logs.join("conformance.log");
    let mut command = Command::new(sdk::interpreter(workspace));
    command
        .arg(runner(workspace))
        .args(["--endpoint", &server.http(), "--key", EMULATOR_KEY])
        .arg("--failures")
        .arg(logs.join("conformance-failures.jsonl"));
    if let Some(kinds) = &request.kinds {
        command.args(["--kinds", kinds]);
    }
    command.args(&request.runner_args);
    let limit = Duration::from_secs(CORPUS_SECONDS_MAX);
    step::logged("conformance", &mut command, &log, limit)?;
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    print!("{text}");
    judge(&text, request.min_percent)
}

/// Reads the runner's `by kind: expr 10/12, plan 3/3` line and holds each kind to the share.
fn judge(text: &str, min_percent: f64) -> Result<()> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("by kind: "))
        .ok_or_else(|| Failure::new("the corpus runner reported no kinds"))?;
    let mut below = Vec::new();
    for part in line.split(", ") {
        let (kind, passed, total) =
            share(part).ok_or_else(|| Failure::new(format!("cannot read the share in `{part}`")))?;
        let percent = 100.0 * passed / total;
        if percent < min_percent {
            below.push(format!("{kind} {percent:.1} %"));
        }
    }
    if below.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("below {min_percent} %: {}", below.join(", "))))
}

fn share(part: &str) -> Option<(&str, f64, f64)> {
    let (kind, fraction) = part.trim().rsplit_once(' ')?;
    let (passed, total) = fraction.split_once('/')?;
    Some((kind, passed.parse().ok()?, total.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_held_to_the_share() {
        let text = "expr x 1/1\nby kind: expr 99/100, plan 49/50\n148 passed, 2 failed\n";
        assert!(judge(text, 98.0).is_ok());
        let refused = judge(text, 99.0).unwrap_err().to_string();
        assert_eq!(refused, "below 99 %: plan 98.0 %");
        assert!(judge("no such line", 1.0).is_err());
    }
}
