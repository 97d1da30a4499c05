//! A server of our own for one command: a free port, an empty data folder, gone when dropped.
//!
//! The server says when it is ready: one line on standard output that contains `ready`. Waiting for
//! that line, and not for the port, means that a server which binds early and fails late is seen.

use crate::failure::{Doing, Failure, Result};
use crate::step;
use crate::workspace::{Workspace, cargo_in};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The key every Cosmos DB emulator is known by; the server accepts it on loopback.
pub const EMULATOR_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// Keys for the border tests only: 64 bytes each, made up, and no secret.
pub const SECONDARY_KEY: &str =
    "c2Vjb25kYXJ5LWtleS1vZi10aGUtYm9yZGVyLXRlc3RzLTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMg==";
pub const READ_ONLY_KEY: &str =
    "cmVhZC1vbmx5LWtleS1vZi10aGUtYm9yZGVyLXRlc3RzLTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMg==";
pub const SECONDARY_READ_ONLY_KEY: &str =
    "c2Vjb25kYXJ5LXJlYWQtb25seS1rZXktb2YtdGhlLWJvcmRlci10ZXN0cy0wMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMg==";

const READY_SECONDS_MAX: u64 = 30;
const STOP_SECONDS_MAX: u64 = 10;

/// Builds the server in the profile all other steps use, so that nothing is compiled twice.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    step::run("build the server", cargo_in(&workspace.root).args(["build", "--package", "tesela"]))?;
    Ok(workspace.server_binary("debug"))
}

/// A running server; stopped with SIGTERM when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub port: u16,
    folder: PathBuf,
}

impl Server {
    /// Starts `binary` on an unused loopback port over an empty folder below `scratch`.
    pub fn start(binary: &Path, scratch: &Path) -> Result<Self> {
        let folder = scratch.join(format!("server-{}", std::process::id()));
        if folder.exists() {
            fs::remove_dir_all(&folder).doing(|| format!("emptying {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).doing(|| format!("creating {}", folder.display()))?;
        let port = free_port()?;
        let mut child = Command::new(binary)
            .arg("serve")
            .args(["--port", &port.to_string()])
            .arg("--data")
            .arg(folder.join("data"))
            .args(["--secondary-key", SECONDARY_KEY])
            .args(["--read-only-key", READ_ONLY_KEY])
            .args(["--secondary-read-only-key", SECONDARY_READ_ONLY_KEY])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.join("stderr.log")).doing(|| "server log".into())?)
            .spawn()
            .doing(|| format!("starting {}", binary.display()))?;
        let ready = watch_output(&mut child, &folder.join("stdout.log"))?;
        let mut server = Self { child, port, folder };
        match ready.recv_timeout(Duration::from_secs(READY_SECONDS_MAX)) {
            Ok(()) => Ok(server),
            Err(_) => {
                step::show(&server.folder.join("stdout.log"));
                step::show(&server.folder.join("stderr.log"));
                let ended = server.child.try_wait().ok().flatten();
                Err(Failure::new(match ended {
                    Some(status) => format!("the server ended before it was ready ({status})"),
                    None => format!("the server was not ready after {READY_SECONDS_MAX} s"),
                }))
            }
        }
    }

    pub fn http(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn https(&self) -> String {
        format!("https://localhost:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        terminate(&mut self.child);
        // Kept when it cannot be removed: a leftover folder below target/ harms nobody.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// SIGTERM first, as an operator would; SIGKILL for a server that does not stop.
fn terminate(child: &mut Child) {
    let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(STOP_SECONDS_MAX) {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Drains the server's standard output into a log for as long as it runs (a full pipe would stop
/// it) and reports the line that says `ready`.
fn watch_output(child: &mut Child, log: &Path) -> Result<mpsc::Receiver<()>> {
    let stdout = child.stdout.take().ok_or_else(|| Failure::new("the server has no standard output"))?;
    let mut log = fs::File::create(log).doing(|| "server log".into())?;
    let (ready, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
            let _ = writeln!(log, "{line}");
            // As a word: "address already in use" must not count.
            if line.split_whitespace().any(|word| word == "ready") {
                let _ = ready.send(());
            }
        }
    });
    Ok(receiver)
}

/// A port nobody listens on now. Another process could take it before the server does; then the
/// server fails to start and says so.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).doing(|| "looking for a free port".into())?;
    let address = listener.local_addr().doing(|| "looking for a free port".into())?;
    Ok(address.port())
}
