//! The measured processes: started, watched through `/proc`, ended.

use crate::failure::{Doing, Failure, Result};
use crate::item;
use crate::signer::{Signer, with_item};
use crate::transport::{Address, Line};
use bytes::Bytes;
use http::Method;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const READY_SECONDS_MAX: u64 = 60;
const STOP_SECONDS_MAX: u64 = 20;

/// Ticks per second in `/proc/PID/stat`: fixed by Linux's ABI.
const CLOCK_TICKS_PER_SECOND: f64 = 100.0;

/// A server under measurement; killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub port: u16,
}

/// A port nobody listens on now.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).doing("looking for a free port")?;
    Ok(listener.local_addr().doing("looking for a free port")?.port())
}

/// `tesela serve` over `folder`, with the rest as its defaults are.
pub fn tesela(binary: &Path, folder: &Path, port: u16) -> Command {
    let mut command = Command::new(binary);
    command.arg("serve").args(["--port", &port.to_string()]).arg("--data").arg(folder);
    command
}

/// The npm peer, as its command line starts it (`tls`) or with TLS off.
pub fn peer(script: &Path, port: u16, tls: bool) -> Command {
    let mut command = Command::new("node");
    command.arg(script).args(["--port", &port.to_string(), "--host", "127.0.0.1"]);
    if !tls {
        command.arg("--no-ssl");
    }
    command
}

impl Server {
    /// Starts `command` and waits for the line that says it is ready.
    pub fn start(command: Command, port: u16) -> Result<Self> {
        let (server, ready) = Self::spawn(command, port)?;
        ready
            .recv_timeout(Duration::from_secs(READY_SECONDS_MAX))
            .map_err(|_| Failure::new(format!("the server on port {port} did not become ready")))?;
        Ok(server)
    }

    /// Starts `command` and does not wait.
    pub fn spawn(mut command: Command, port: u16) -> Result<(Self, mpsc::Receiver<()>)> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .doing("starting a server")?;
        let stdout = child.stdout.take().ok_or_else(|| Failure::new("a server without output"))?;
        let (ready, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
                // As a word: "address already in use" must not count.
                if line.split_whitespace().any(|word| word.eq_ignore_ascii_case("ready")) {
                    let _ = ready.send(());
                }
            }
        });
        Ok((Self { child, port }, receiver))
    }

    /// Resident memory, in MB of 2^20 bytes.
    pub fn resident_mb(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).doing("reading /proc")?;
        status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok())
            .map(|kilobytes| kilobytes / 1024.0)
            .ok_or_else(|| Failure::new("no VmRSS in /proc"))
    }

    /// Processor time used so far, user and system.
    pub fn cpu_seconds(&self) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).doing("reading /proc")?;
        // The command name may hold blanks; fields are counted after its closing bracket.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
        match (ticks(11), ticks(12)) {
            (Some(user), Some(system)) => Ok((user + system) / CLOCK_TICKS_PER_SECOND),
            _ => Err(Failure::new("no processor times in /proc")),
        }
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill().doing("killing a server")?;
        self.child.wait().doing("waiting for a killed server")?;
        Ok(())
    }

    /// Ends it as an operator would and waits for it.
    pub fn stop(mut self) -> Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().doing("sending SIGTERM")?;
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(STOP_SECONDS_MAX) {
            if self.child.try_wait().doing("waiting for a server")?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(Failure::new("a server did not stop when asked to"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates the database and the container that the runs use.
pub async fn create_container(line: &mut Line, signer: &Signer) -> Result<()> {
    let database = Bytes::from(format!(r#"{{"id":"{}"}}"#, item::DATABASE));
    let container = Bytes::from(format!(
        r#"{{"id":"{}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}}}"#,
        item::CONTAINER
    ));
    for (path, body) in [("/dbs".to_owned(), database), (format!("/dbs/{}/colls", item::DATABASE), container)] {
        let answer = line.send(&signer.prepare(Method::POST, &path, body)?).await?;
        if !answer.status.is_success() {
            return Err(Failure::new(format!("POST {path}: {} {:?}", answer.status, answer.body)));
        }
    }
    Ok(())
}

/// Fills a fresh server with items `0..count`, over a few connections.
pub async fn seed(address: &Address, count: u64) -> Result<()> {
    const WRITERS: u64 = 16;
    let signer = Signer::new(&address.host())?;
    create_container(&mut Line::to(address), &signer).await?;
    let template = signer.create_item()?;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (address, template) = (address.clone(), template.clone());
            tokio::spawn(async move {
                let mut line = Line::to(&address);
                for number in (writer..count).step_by(WRITERS as usize) {
                    let answer = line.send(&with_item(&template, number)?).await?;
                    if !answer.status.is_success() {
                        return Err(Failure::new(format!("seeding: {} {:?}", answer.status, answer.body)));
                    }
                }
                Ok(())
            })
        })
        .collect();
    for writer in writers {
        writer.await.doing("seeding")??;
    }
    Ok(())
}
