//! Steps: a titled command with its time, and a log to read when it fails.
//!
//! Two ways to run one. [`run`] shows the output as it comes: for steps that run alone. [`logged`]
//! sends it to a file: for steps that run beside others, whose lines would mix. Both have a time
//! limit, because a client that loops for ever is one of the faults these steps look for.

use crate::failure::{Doing, Failure, Result};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// No step of a healthy run comes near this, also from a cold start on two cores.
pub const STEP_SECONDS_MAX: u64 = 30 * 60;

const POLL: Duration = Duration::from_millis(50);

/// Runs `command` with its output on the terminal and fails unless it exits with 0.
pub fn run(title: &str, command: &mut Command) -> Result<Duration> {
    println!("── {title}");
    let begun = Instant::now();
    let child = command.spawn().doing(|| format!("{title}: cannot start"))?;
    let status = wait(child, title, Duration::from_secs(STEP_SECONDS_MAX))?;
    finish(title, begun, status, None)
}

/// Runs `command` with its output in `log`. The caller reads the log; a failure names it.
pub fn logged(title: &str, command: &mut Command, log: &Path, limit: Duration) -> Result<Duration> {
    let begun = Instant::now();
    let status = logged_status(title, command, log, limit)?;
    finish(title, begun, status, Some(log))
}

/// As [`logged`], for commands whose exit status is itself a result.
pub fn logged_status(title: &str, command: &mut Command, log: &Path, limit: Duration) -> Result<ExitStatus> {
    if let Some(parent) = log.parent() {
        fs::create_dir_all(parent).doing(|| format!("creating {}", parent.display()))?;
    }
    let file = File::create(log).doing(|| format!("creating {}", log.display()))?;
    let both = file.try_clone().doing(|| format!("opening {} twice", log.display()))?;
    let child =
        command.stdin(Stdio::null()).stdout(file).stderr(both).spawn().doing(|| format!("{title}: cannot start"))?;
    wait(child, title, limit)
}

fn wait(mut child: Child, title: &str, limit: Duration) -> Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        match child.try_wait().doing(|| format!("{title}: waiting failed"))? {
            Some(status) => return Ok(status),
            None if begun.elapsed() > limit => {
                // Killed and reaped, so that nothing outlives the command that started it.
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failure::new(format!("{title}: still running after {} s, ended", limit.as_secs())));
            }
            None => std::thread::sleep(POLL),
        }
    }
}

fn finish(title: &str, begun: Instant, status: ExitStatus, log: Option<&Path>) -> Result<Duration> {
    let took = begun.elapsed();
    if status.success() {
        println!("   {title}: ok, {:.1} s", took.as_secs_f64());
        return Ok(took);
    }
    if let Some(log) = log {
        show(log);
    }
    Err(Failure::new(format!("{title} failed ({status}) after {:.1} s", took.as_secs_f64())))
}

/// Copies a log to the terminal.
pub fn show(log: &Path) {
    match fs::read_to_string(log) {
        Ok(text) => println!("{text}"),
        Err(error) => println!("   (no log at {}: {error})", log.display()),
    }
}
