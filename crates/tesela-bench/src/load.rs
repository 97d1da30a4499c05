//! The load generator: a number of clients, each sending its next request when the last is answered.
//!
//! Closed loop on purpose: the question is what the server can do with N waiting clients, and the
//! answer is a rate and the latencies at that rate. A run prints one line of JSON; see [`Outcome`].

use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::histogram::Histogram;
use crate::item::mixed;
use crate::signer::{Prepared, Signer, with_item};
use crate::transport::{Address, Line};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Not counted: connections open, caches fill, the first compactions of the peer's JIT happen.
const WARM_UP: Duration = Duration::from_millis(700);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Create,
}

/// What one run is asked to do.
#[derive(Debug, Clone)]
pub struct Request {
    pub port: u16,
    pub tls: bool,
    pub kind: Kind,
    pub connections: u64,
    pub seconds: f64,
    /// Reads choose among this many items; creates begin at this number.
    pub items: u64,
    /// A new connection for every request.
    pub reconnect: bool,
}

/// What one run found.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    pub per_second: f64,
    pub p50_us: u64,
    pub p99_us: u64,
    pub p999_us: u64,
    pub requests: u64,
    pub failures: u64,
}

impl Request {
    /// The flags of the child process that carries it out.
    pub fn to_flags(&self) -> Vec<String> {
        let kind = match self.kind {
            Kind::Read => "read",
            Kind::Create => "create",
        };
        [
            ("--port", self.port.to_string()),
            ("--tls", self.tls.to_string()),
            ("--kind", kind.to_owned()),
            ("--connections", self.connections.to_string()),
            ("--seconds", self.seconds.to_string()),
            ("--items", self.items.to_string()),
            ("--reconnect", self.reconnect.to_string()),
        ]
        .into_iter()
        .flat_map(|(name, value)| [name.to_owned(), value])
        .collect()
    }

    fn from_flags(arguments: &Arguments) -> Result<Self> {
        Ok(Self {
            port: arguments.number("port", 0)?,
            tls: arguments.text("tls") == Some("true"),
            kind: match arguments.required("kind")? {
                "read" => Kind::Read,
                "create" => Kind::Create,
                other => return Err(Failure::new(format!("no kind `{other}`"))),
            },
            connections: arguments.number("connections", 64)?,
            seconds: arguments.number("seconds", 5.0)?,
            items: arguments.number("items", 1)?,
            reconnect: arguments.text("reconnect") == Some("true"),
        })
    }
}

impl Outcome {
    fn to_json(self) -> Value {
        json!({
            "per_second": self.per_second, "p50_us": self.p50_us, "p99_us": self.p99_us,
            "p999_us": self.p999_us, "requests": self.requests, "failures": self.failures,
        })
    }

    pub fn from_json(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text.lines().last()?).ok()?;
        Some(Self {
            per_second: value["per_second"].as_f64()?,
            p50_us: value["p50_us"].as_u64()?,
            p99_us: value["p99_us"].as_u64()?,
            p999_us: value["p999_us"].as_u64()?,
            requests: value["requests"].as_u64()?,
            failures: value["failures"].as_u64()?,
        })
    }
}

/// The child process: carries out one request and prints its outcome.
pub fn run(arguments: &Arguments) -> Result<()> {
    let request = Request::from_flags(arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("runtime: {error}")))?;
    let outcome = runtime.block_on(generate(request))?;
    println!("{}", outcome.to_json());
    Ok(())
}

/// What all clients of a run share.
struct Shared {
    request: Request,
    address: Address,
    work: Work,
    counted_from: Instant,
    end: Instant,
}

enum Work {
    Reads(Vec<Prepared>),
    Creates { template: Box<Prepared>, next: AtomicU64 },
}

impl Shared {
    fn next(&self, chance: &mut u64) -> Result<Cow<'_, Prepared>> {
        *chance = mixed(*chance);
        match &self.work {
            Work::Reads(all) => Ok(Cow::Borrowed(&all[(*chance % all.len() as u64) as usize])),
            Work::Creates { template, next } => {
                with_item(template, next.fetch_add(1, Ordering::Relaxed)).map(Cow::Owned)
            }
        }
    }
}

async fn generate(request: Request) -> Result<Outcome> {
    let address = Address::new(request.port, request.tls)?;
    let signer = Signer::new(&address.host())?;
    let work = match request.kind {
        Kind::Read => Work::Reads((0..request.items).map(|number| signer.read_item(number)).collect::<Result<_>>()?),
        Kind::Create => {
            Work::Creates { template: Box::new(signer.create_item()?), next: AtomicU64::new(request.items) }
        }
    };
    let counted_from = Instant::now() + WARM_UP;
    let end = counted_from + Duration::from_secs_f64(request.seconds);
    let shared = Arc::new(Shared { request, address, work, counted_from, end });
    let clients: Vec<_> =
        (0..shared.request.connections).map(|number| tokio::spawn(client(shared.clone(), number))).collect();
    let mut latencies = Histogram::new();
    let mut failures = 0;
    for client in clients {
        let (own, failed) = client.await.map_err(|error| Failure::new(format!("client: {error}")))??;
        latencies.merge(&own);
        failures += failed;
    }
    Ok(Outcome {
        per_second: latencies.total() as f64 / shared.request.seconds,
        p50_us: latencies.quantile(0.5),
        p99_us: latencies.quantile(0.99),
        p999_us: latencies.quantile(0.999),
        requests: latencies.total(),
        failures,
    })
}

async fn client(shared: Arc<Shared>, number: u64) -> Result<(Histogram, u64)> {
    let mut latencies = Histogram::new();
    let mut failures = 0;
    let mut chance = number;
    let mut line = Line::to(&shared.address);
    loop {
        let prepared = shared.next(&mut chance)?;
        let begun = Instant::now();
        if begun >= shared.end {
            return Ok((latencies, failures));
        }
        let answer = line.send(&prepared).await;
        let ended = Instant::now();
        let counted = begun >= shared.counted_from && ended <= shared.end;
        if shared.request.reconnect {
            line.hang_up();
        }
        match answer {
            Ok(answer) if answer.status.is_success() => {
                if counted {
                    latencies.add(u64::try_from((ended - begun).as_micros()).unwrap_or(u64::MAX));
                }
            }
            Ok(_) | Err(_) => failures += 1,
        }
    }
}
