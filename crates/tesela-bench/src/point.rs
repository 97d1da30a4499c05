//! `point`: reads and creates of 1 KB items, and what a server costs before it does anything.
//!
//! The runs of all servers are interleaved, round by round, so that a slow moment of the machine
//! falls on each of them. Three things are compared:
//!
//! - the *ceiling*, a bare server of the same HTTP stack returning the bytes Tesela returned;
//! - Tesela, durable, as `tesela serve` starts it;
//! - the npm peer `@vercel/cosmosdb-server` (in memory), over keep-alive HTTP and as its command line
//!   serves it: TLS and a connection per request.
//!
//! Durable creates are held against the storage engine alone, with batches of the shape that the
//! creates were seen to have (see `engine`).

use crate::arguments::Arguments;
use crate::ceiling::Canned;
use crate::engine::{self, Shape};
use crate::failure::{Doing, Failure, Result};
use crate::load::{Kind, Outcome, Request};
use crate::report::{Series, goal_table, load_table, median};
use crate::server::{self, Server, free_port};
use crate::signer::Signer;
use crate::transport::Address;
use bytes::Bytes;
use http::Method;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const CONNECTIONS: u64 = 64;
/// Creates of round n and kind k begin here, far from the seeded items and from each other.
const CREATE_STRIDE: u64 = 100_000_000;
const IDLE_SETTLE: Duration = Duration::from_secs(3);
const IDLE_WATCHED: Duration = Duration::from_secs(10);
const START_SECONDS_MAX: u64 = 30;
const START_POLL: Duration = Duration::from_micros(200);

struct Plan {
    server: PathBuf,
    peer: Option<PathBuf>,
    folder: PathBuf,
    seconds: f64,
    repeats: usize,
    items: u64,
}

/// One column of the comparison: where it listens and how it is asked.
struct Subject {
    series: Series,
    port: u16,
    tls: bool,
    kind: Kind,
    reconnect: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let plan = Plan {
        server: arguments.path("server")?,
        peer: arguments.text("peer").map(PathBuf::from).filter(|script| script.is_file()),
        folder: arguments.path("folder")?,
        seconds: arguments.number("seconds", 5.0)?,
        repeats: arguments.number("repeats", 3)?,
        items: arguments.number("items", 10_000)?,
    };
    if plan.folder.exists() {
        std::fs::remove_dir_all(&plan.folder).doing("emptying the bench folder")?;
    }
    std::fs::create_dir_all(&plan.folder).doing("making the bench folder")?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().doing("runtime")?;
    if plan.peer.is_none() {
        eprintln!("the npm peer is not installed: its rows are left out");
    }
    println!("# Point operations\n");
    println!("{CONNECTIONS} clients, 1 KB items, {} s a run, median of {} rounds.\n", plan.seconds, plan.repeats);
    rates(&plan, &runtime)?;
    costs(&plan, &runtime)?;
    std::fs::remove_dir_all(&plan.folder).doing("removing the bench folder")
}

fn rates(plan: &Plan, runtime: &Runtime) -> Result<()> {
    let data = plan.folder.join("rates");
    let port = free_port()?;
    let tesela = Server::start(server::tesela(&plan.server, &data, port), port)?;
    let address = Address::new(port, false)?;
    eprintln!("seeding {} items", plan.items);
    runtime.block_on(server::seed(&address, plan.items))?;
    let answer_file = plan.folder.join("answer.json");
    runtime.block_on(canned_answer(&address))?.save(&answer_file)?;
    let ceilings = [start_ceiling(&answer_file, false)?, start_ceiling(&answer_file, true)?];
    let peers = start_peers(plan, runtime)?;

    let mut subjects = subjects(&tesela, &ceilings, peers.as_ref());
    for round in 0..plan.repeats {
        for (index, subject) in subjects.iter_mut().enumerate() {
            let first = CREATE_STRIDE * (1 + round as u64 * 100 + index as u64);
            let outcome = measure(plan, subject, first)?;
            eprintln!("round {}: {}: {:.0}/s", round + 1, subject.series.name, outcome.per_second);
            subject.series.runs.push(outcome);
        }
    }
    tesela.stop()?;
    let shape = runtime.block_on(Shape::of_folder(&data))?;
    let engine = engine_rate(plan, runtime, shape)?;
    let series: Vec<Series> = subjects.into_iter().map(|subject| subject.series).collect();
    println!("{}", load_table(&series));
    println!(
        "Storage engine alone, {} rows a commit (one of {} bytes, keys of {} bytes), {CONNECTIONS} committers, fsync: \
         {engine:.0} commits/s.\n",
        shape.rows, shape.document_bytes, shape.key_bytes
    );
    println!("{}", ratios(&series, engine));
    Ok(())
}

const CEILING_HTTP: &str = "bare server, HTTP, read";
const CEILING_TLS: &str = "bare server, TLS, read";
const TESELA_READ: &str = "Tesela, HTTP, read";
const TESELA_READ_TLS: &str = "Tesela, TLS, read";
const TESELA_READ_TLS_ONCE: &str = "Tesela, TLS, connection per request, read";
const TESELA_CREATE: &str = "Tesela, HTTP, create (durable)";
const TESELA_CREATE_TLS: &str = "Tesela, TLS, create (durable)";
const PEER_READ: &str = "npm peer, HTTP, read";
const PEER_READ_CLI: &str = "npm peer as its CLI serves it (TLS, connection per request), read";
const PEER_CREATE: &str = "npm peer, HTTP, create (memory)";
const PEER_CREATE_CLI: &str = "npm peer as its CLI serves it, create (memory)";

fn subjects(tesela: &Server, ceilings: &[Server; 2], peers: Option<&[Server; 2]>) -> Vec<Subject> {
    let subject = |name: &str, server: &Server, tls, kind, reconnect| Subject {
        series: Series::new(name),
        port: server.port,
        tls,
        kind,
        reconnect,
    };
    let mut all = vec![
        subject(CEILING_HTTP, &ceilings[0], false, Kind::Read, false),
        subject(TESELA_READ, tesela, false, Kind::Read, false),
        subject(CEILING_TLS, &ceilings[1], true, Kind::Read, false),
        subject(TESELA_READ_TLS, tesela, true, Kind::Read, false),
        subject(TESELA_READ_TLS_ONCE, tesela, true, Kind::Read, true),
        subject(TESELA_CREATE, tesela, false, Kind::Create, false),
        subject(TESELA_CREATE_TLS, tesela, true, Kind::Create, false),
    ];
    if let Some([http, tls]) = peers {
        all.extend([
            subject(PEER_READ, http, false, Kind::Read, false),
            subject(PEER_READ_CLI, tls, true, Kind::Read, true),
            subject(PEER_CREATE, http, false, Kind::Create, false),
            subject(PEER_CREATE_CLI, tls, true, Kind::Create, true),
        ]);
    }
    all
}

fn ratios(series: &[Series], engine: f64) -> String {
    let rate = |name: &str| series.iter().find(|each| each.name == name).map_or(0.0, Series::rate);
    let percent =
        |part: f64, whole: f64| if whole > 0.0 { format!("{:.0} %", 100.0 * part / whole) } else { "–".into() };
    let times =
        |part: f64, whole: f64| if whole > 0.0 { format!("{:.1} ×", part / whole) } else { "not measured".into() };
    goal_table(&[
        ("reads over HTTP, of the bare server".into(), percent(rate(TESELA_READ), rate(CEILING_HTTP)), "≥ 60 %"),
        ("reads over TLS, of the bare server".into(), percent(rate(TESELA_READ_TLS), rate(CEILING_TLS)), ""),
        ("reads over keep-alive HTTP, to the npm peer".into(), times(rate(TESELA_READ), rate(PEER_READ)), "≥ 4 ×"),
        (
            "reads over keep-alive HTTP, to the npm peer as its CLI serves it".into(),
            times(rate(TESELA_READ), rate(PEER_READ_CLI)),
            "≥ 50 ×",
        ),
        ("durable creates, of the engine alone".into(), percent(rate(TESELA_CREATE), engine), "≥ 50 %"),
        ("durable creates, to the npm peer in memory".into(), times(rate(TESELA_CREATE), rate(PEER_CREATE)), ""),
    ])
}

/// Runs the load generator as a process of its own.
fn measure(plan: &Plan, subject: &Subject, first_create: u64) -> Result<Outcome> {
    let items = match subject.kind {
        Kind::Read => plan.items,
        Kind::Create => first_create,
    };
    let request = Request {
        port: subject.port,
        tls: subject.tls,
        kind: subject.kind,
        connections: CONNECTIONS,
        seconds: plan.seconds,
        items,
        reconnect: subject.reconnect,
    };
    let output = Command::new(own_binary()?)
        .arg("load")
        .args(request.to_flags())
        .output()
        .doing("starting the load generator")?;
    let text = String::from_utf8_lossy(&output.stdout);
    Outcome::from_json(&text).ok_or_else(|| {
        Failure::new(format!(
            "{}: the load generator failed: {}",
            subject.series.name,
            String::from_utf8_lossy(&output.stderr)
        ))
    })
}

fn own_binary() -> Result<PathBuf> {
    std::env::current_exe().doing("finding this program")
}

/// The answer to a point read, to be repeated by the bare server.
async fn canned_answer(address: &Address) -> Result<Canned> {
    let signer = Signer::new(&address.host())?;
    let answer = address.connect().await?.send(&signer.read_item(0)?).await?;
    if !answer.status.is_success() {
        return Err(Failure::new(format!("reading the seeded item: {}", answer.status)));
    }
    // hyper writes these two by itself.
    let written_by_hyper = ["content-length", "date"];
    let headers = answer
        .headers
        .iter()
        .filter(|(name, _)| !written_by_hyper.contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    Ok(Canned { headers, body: String::from_utf8_lossy(&answer.body).into_owned() })
}

fn start_ceiling(answer: &Path, tls: bool) -> Result<Server> {
    let port = free_port()?;
    let mut command = Command::new(own_binary()?);
    command.arg("ceiling").args(["--port", &port.to_string(), "--tls", &tls.to_string()]).arg("--answer").arg(answer);
    Server::start(command, port)
}

fn start_peers(plan: &Plan, runtime: &Runtime) -> Result<Option<[Server; 2]>> {
    let Some(script) = &plan.peer else { return Ok(None) };
    let start = |tls: bool| -> Result<Server> {
        let port = free_port()?;
        let server = Server::start(server::peer(script, port, tls), port)?;
        runtime.block_on(server::seed(&Address::new(port, tls)?, plan.items))?;
        Ok(server)
    };
    Ok(Some([start(false)?, start(true)?]))
}

fn engine_rate(plan: &Plan, runtime: &Runtime, shape: Shape) -> Result<f64> {
    let mut rates = Vec::new();
    for round in 0..plan.repeats {
        let folder = plan.folder.join(format!("engine-{round}"));
        let time = Duration::from_secs_f64(plan.seconds);
        rates.push(runtime.block_on(engine::commit_rate(&folder, shape, CONNECTIONS, time))?);
        std::fs::remove_dir_all(&folder).doing("removing the engine's folder")?;
    }
    Ok(median(rates))
}

/// Start, memory, processor and size: what a user pays before the first request.
fn costs(plan: &Plan, runtime: &Runtime) -> Result<()> {
    let seeded = plan.folder.join("seeded");
    seed_folder(plan, runtime, &seeded)?;
    let mut empty_ms = Vec::new();
    let mut seeded_ms = Vec::new();
    let mut peer_ms = Vec::new();
    for round in 0..plan.repeats.max(3) {
        let fresh = plan.folder.join(format!("fresh-{round}"));
        let port = free_port()?;
        empty_ms.push(time_to_answer(runtime, server::tesela(&plan.server, &fresh, port), port, None)?);
        let port = free_port()?;
        seeded_ms.push(time_to_answer(runtime, server::tesela(&plan.server, &seeded, port), port, Some(0))?);
        if let Some(script) = &plan.peer {
            let port = free_port()?;
            peer_ms.push(time_to_answer(runtime, server::peer(script, port, false), port, None)?);
        }
    }
    let idle_port = free_port()?;
    let idle = idle_cost(server::tesela(&plan.server, &plan.folder.join("idle"), idle_port), idle_port)?;
    let binary_mb = std::fs::metadata(&plan.server).doing("reading the binary")?.len() as f64 / 1e6;
    let mut rows = vec![
        ("exec to first answer, empty folder".to_owned(), format!("{:.1} ms", median(empty_ms)), "< 50 ms"),
        (format!("exec to first item read, {} items", plan.items), format!("{:.1} ms", median(seeded_ms)), ""),
        ("idle, resident memory".to_owned(), format!("{:.1} MB", idle.resident_mb), "≤ 25 MB"),
        (
            format!("idle, processor time in {} s", IDLE_WATCHED.as_secs()),
            format!("{:.2} s", idle.cpu_seconds),
            "not measurable",
        ),
        ("binary".to_owned(), format!("{binary_mb:.1} MB"), "≤ 30 MB"),
    ];
    if let Some(script) = &plan.peer {
        let port = free_port()?;
        let peer = idle_cost(server::peer(script, port, false), port)?;
        rows.push(("npm peer: exec to first answer".to_owned(), format!("{:.0} ms", median(peer_ms)), ""));
        rows.push(("npm peer: idle, resident memory".to_owned(), format!("{:.1} MB", peer.resident_mb), ""));
    }
    println!("{}", goal_table(&rows));
    Ok(())
}

fn seed_folder(plan: &Plan, runtime: &Runtime, folder: &Path) -> Result<()> {
    let port = free_port()?;
    let server = Server::start(server::tesela(&plan.server, folder, port), port)?;
    runtime.block_on(server::seed(&Address::new(port, false)?, plan.items))?;
    server.stop()
}

/// Milliseconds from exec to the first successful answer: the account, or an item.
fn time_to_answer(runtime: &Runtime, command: Command, port: u16, item: Option<u64>) -> Result<f64> {
    let address = Address::new(port, false)?;
    let signer = Signer::new(&address.host())?;
    let request = match item {
        Some(number) => signer.read_item(number)?,
        None => signer.prepare(Method::GET, "/", Bytes::new())?,
    };
    let begun = Instant::now();
    let (server, _ready) = Server::spawn(command, port)?;
    let found = runtime.block_on(async {
        while begun.elapsed() < Duration::from_secs(START_SECONDS_MAX) {
            if let Ok(mut connection) = address.connect().await
                && let Ok(answer) = connection.send(&request).await
                && answer.status.is_success()
            {
                return Some(begun.elapsed());
            }
            tokio::time::sleep(START_POLL).await;
        }
        None
    });
    let took = found.ok_or_else(|| Failure::new("a server never answered"))?;
    server.stop()?;
    Ok(took.as_secs_f64() * 1e3)
}

struct Idle {
    resident_mb: f64,
    cpu_seconds: f64,
}

fn idle_cost(command: Command, port: u16) -> Result<Idle> {
    let server = Server::start(command, port)?;
    std::thread::sleep(IDLE_SETTLE);
    let before = server.cpu_seconds()?;
    std::thread::sleep(IDLE_WATCHED);
    let idle = Idle { resident_mb: server.resident_mb()?, cpu_seconds: server.cpu_seconds()? - before };
    server.stop()?;
    Ok(idle)
}
