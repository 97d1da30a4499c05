//! `crash`: kill -9 under load, again and again, over one data folder.
//!
//! Writers create, replace, upsert and delete items of their own, one request at a time, and note
//! every answer. After a random moment the server is killed. It is started again over the same
//! folder, and every item of the round is read:
//!
//! - a write that was acknowledged is there, or a later one of the same item;
//! - a write that was under way is there whole or not at all, never in part;
//! - the feed of each logical partition lists exactly the items that point reads find;
//! - the LSN never goes back behind one that a client has seen.
//!
//! Each item carries its version and a text made from it, so a mixture of two versions would show.
//! Example: version 3 of `w2-7` is acknowledged, a replace with version 4 is under way: after the
//! restart 3 and 4 are both right, 2 is a lost write, and the text of 3 with the number 4 a torn one.

use crate::arguments::Arguments;
use crate::failure::{Doing, Failure, Result};
use crate::item::{self, mixed};
use crate::server::{self, Server, create_container, free_port};
use crate::signer::{Prepared, Signer};
use crate::transport::{Address, Answer, Connection, Line};
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const WRITERS: u64 = 16;
/// A round writes for a random time between these, then the power is cut.
const LOAD_MS_MIN: u64 = 20;
const LOAD_MS_MAX: u64 = 400;
/// Items a writer keeps changing; few, so that most are changed many times.
const ITEMS_PER_WRITER: u64 = 40;
const TEXT_BYTES_MAX: u64 = 4_000;

/// What a client knows about an item: the last version it was told is stored (`None`: none is), and a
/// version that may or may not be (the request that the crash cut off).
#[derive(Debug, Clone, Default)]
struct Known {
    stored: Option<u64>,
    uncertain: Option<Option<u64>>,
}

/// One writer's items and the highest LSN it was told.
#[derive(Debug, Clone, Default)]
struct Ledger {
    items: BTreeMap<String, Known>,
    next_version: u64,
    lsn: u64,
    acknowledged: u64,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let binary = arguments.path("server")?;
    let folder = arguments.path("folder")?;
    let rounds: u64 = arguments.number("rounds", 200)?;
    let seed: u64 = arguments.number("seed", u64::from(std::process::id()))?;
    if folder.exists() {
        std::fs::remove_dir_all(&folder).doing("emptying the crash folder")?;
    }
    std::fs::create_dir_all(&folder).doing("making the crash folder")?;
    println!("crash: {rounds} rounds, seed {seed}, folder {}", folder.display());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().doing("runtime")?;
    let acknowledged = runtime.block_on(rounds_of(binary, folder.join("data"), rounds, seed))?;
    std::fs::remove_dir_all(&folder).doing("removing the crash folder")?;
    println!("crash: {rounds} rounds, {acknowledged} acknowledged writes, none lost, none torn");
    Ok(())
}

async fn rounds_of(binary: PathBuf, data: PathBuf, rounds: u64, seed: u64) -> Result<u64> {
    let mut ledgers = vec![Ledger::default(); WRITERS as usize];
    let mut chance = seed;
    let begun = Instant::now();
    for round in 0..rounds {
        chance = mixed(chance);
        let port = free_port()?;
        let server = Server::start(server::tesela(&binary, &data, port), port)?;
        let address = Address::new(port, false)?;
        if round == 0 {
            let signer = Signer::new(&address.host())?;
            create_container(&mut Line::to(&address), &signer).await?;
        }
        ledgers = verified(&address, ledgers).await.map_err(|failure| in_round(round, &failure))?;
        let load = Duration::from_millis(LOAD_MS_MIN + chance % (LOAD_MS_MAX - LOAD_MS_MIN));
        ledgers = loaded_and_killed(server, &address, ledgers, chance, load).await?;
        if (round + 1).is_multiple_of(20) {
            let total: u64 = ledgers.iter().map(|ledger| ledger.acknowledged).sum();
            println!("crash: {} rounds, {total} writes, {:.0} s", round + 1, begun.elapsed().as_secs_f64());
        }
    }
    let port = free_port()?;
    let server = Server::start(server::tesela(&binary, &data, port), port)?;
    let ledgers = verified(&Address::new(port, false)?, ledgers).await.map_err(|failure| in_round(rounds, &failure))?;
    server.stop()?;
    Ok(ledgers.iter().map(|ledger| ledger.acknowledged).sum())
}

fn in_round(round: u64, failure: &Failure) -> Failure {
    Failure::new(format!("after crash {round}: {failure}"))
}

/// Lets every writer work for `load`, then kills the server under them.
async fn loaded_and_killed(
    server: Server,
    address: &Address,
    ledgers: Vec<Ledger>,
    chance: u64,
    load: Duration,
) -> Result<Vec<Ledger>> {
    let killed = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = ledgers
        .into_iter()
        .enumerate()
        .map(|(writer, ledger)| {
            let (address, killed) = (address.clone(), killed.clone());
            tokio::spawn(async move {
                let writer = writer as u64;
                write_until_killed(&address, writer, ledger, mixed(chance ^ writer), &killed).await
            })
        })
        .collect();
    tokio::time::sleep(load).await;
    killed.store(true, Ordering::SeqCst);
    server.kill()?;
    let mut after = Vec::new();
    for writer in writers {
        after.push(writer.await.doing("a writer")??);
    }
    Ok(after)
}

async fn write_until_killed(
    address: &Address,
    writer: u64,
    mut ledger: Ledger,
    mut chance: u64,
    killed: &AtomicBool,
) -> Result<Ledger> {
    let signer = Signer::new(&address.host())?;
    let mut connection = address.connect().await?;
    loop {
        chance = mixed(chance);
        let id = format!("w{writer}-{}", chance % ITEMS_PER_WRITER);
        let stored = ledger.items.get(&id).and_then(|known| known.stored);
        ledger.next_version += 1;
        let version = ledger.next_version;
        let (request, after) = match (stored, (chance >> 32) % 4) {
            (None, _) => (write_request(&signer, writer, Write::Create, &id, version)?, Some(version)),
            (Some(_), 0) => (write_request(&signer, writer, Write::Delete, &id, version)?, None),
            (Some(_), 1) => (write_request(&signer, writer, Write::Upsert, &id, version)?, Some(version)),
            (Some(_), _) => (write_request(&signer, writer, Write::Replace, &id, version)?, Some(version)),
        };
        match connection.send(&request).await {
            Ok(answer) if answer.status.is_success() => {
                ledger.items.insert(id, Known { stored: after, uncertain: None });
                ledger.lsn = ledger.lsn.max(lsn_of(&answer)?);
                ledger.acknowledged += 1;
            }
            Ok(answer) => {
                return Err(Failure::new(format!("{id}: {} {:?}", answer.status, answer.body)));
            }
            Err(_) if killed.load(Ordering::SeqCst) => {
                ledger.items.insert(id, Known { stored, uncertain: Some(after) });
                return Ok(ledger);
            }
            Err(failure) => return Err(Failure::new(format!("{id}: {failure}, and nobody killed the server"))),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Write {
    Create,
    Replace,
    Upsert,
    Delete,
}

fn docs() -> String {
    format!("/dbs/{}/colls/{}/docs", item::DATABASE, item::CONTAINER)
}

fn write_request(signer: &Signer, writer: u64, write: Write, id: &str, version: u64) -> Result<Prepared> {
    let body = Bytes::from(content(writer, id, version).to_string());
    let one = format!("{}/{id}", docs());
    let mut request = match write {
        Write::Create | Write::Upsert => signer.prepare(Method::POST, &docs(), body)?,
        Write::Replace => signer.prepare(Method::PUT, &one, body)?,
        Write::Delete => signer.prepare(Method::DELETE, &one, Bytes::new())?,
    };
    if matches!(write, Write::Upsert) {
        request.headers.insert("x-ms-documentdb-is-upsert", HeaderValue::from_static("true"));
    }
    request.headers.insert("x-ms-documentdb-partitionkey", partition_of(writer)?);
    Ok(request)
}

fn partition_of(writer: u64) -> Result<HeaderValue> {
    HeaderValue::from_str(&format!("[\"w{writer}\"]")).doing("partition key header")
}

/// The item in this version: its text depends on every part, so a mixture of versions shows.
fn content(writer: u64, id: &str, version: u64) -> Value {
    let seed = mixed(version ^ (writer << 40));
    let text: String = (0..seed % TEXT_BYTES_MAX)
        .map(|place| char::from(b'a' + u8::try_from(mixed(seed ^ place) % 26).unwrap_or(0)))
        .collect();
    json!({ "id": id, "pk": format!("w{writer}"), "version": version, "text": text, "length": text.len() })
}

/// Checks every ledger against the server and settles what was uncertain.
async fn verified(address: &Address, ledgers: Vec<Ledger>) -> Result<Vec<Ledger>> {
    let checks: Vec<_> = ledgers
        .into_iter()
        .enumerate()
        .map(|(writer, ledger)| {
            let address = address.clone();
            tokio::spawn(async move { verify(&address, writer as u64, ledger).await })
        })
        .collect();
    let mut settled = Vec::new();
    for check in checks {
        settled.push(check.await.doing("a check")??);
    }
    Ok(settled)
}

async fn verify(address: &Address, writer: u64, mut ledger: Ledger) -> Result<Ledger> {
    let signer = Signer::new(&address.host())?;
    let mut connection = address.connect().await?;
    let mut present = Vec::new();
    for (id, known) in &mut ledger.items {
        let mut request = signer.prepare(Method::GET, &format!("{}/{id}", docs()), Bytes::new())?;
        request.headers.insert("x-ms-documentdb-partitionkey", partition_of(writer)?);
        let answer = connection.send(&request).await?;
        let found = version_found(writer, id, &answer)?;
        let possible = found == known.stored || known.uncertain == Some(found);
        if !possible {
            return Err(Failure::new(format!("{id}: found version {found:?}, known was {known:?}")));
        }
        if let Some(version) = found {
            present.push((id.clone(), version));
        }
        *known = Known { stored: found, uncertain: None };
        let lsn = lsn_of(&answer)?;
        if lsn < ledger.lsn {
            return Err(Failure::new(format!("the LSN went back from {} to {lsn}", ledger.lsn)));
        }
    }
    let mut listed = feed_of(&mut connection, &signer, writer).await?;
    listed.sort();
    present.sort();
    if listed != present {
        return Err(Failure::new(format!("the feed of w{writer} lists {listed:?}, point reads find {present:?}")));
    }
    Ok(ledger)
}

/// The version an answer shows, after checking that the item is whole.
fn version_found(writer: u64, id: &str, answer: &Answer) -> Result<Option<u64>> {
    if answer.status == StatusCode::NOT_FOUND {
        return Ok(None);
    }
    let torn = |why: &str| Failure::new(format!("{id}: {why}: {} {:?}", answer.status, answer.body));
    let value: Value = serde_json::from_slice(&answer.body).map_err(|_| torn("not JSON"))?;
    whole_version(writer, &value).map(Some).ok_or_else(|| torn("torn"))
}

fn whole_version(writer: u64, value: &Value) -> Option<u64> {
    let version = value["version"].as_u64()?;
    let wanted = content(writer, value["id"].as_str()?, version);
    let same = wanted.as_object()?.iter().all(|(name, part)| &value[name] == part);
    same.then_some(version)
}

async fn feed_of(connection: &mut Connection, signer: &Signer, writer: u64) -> Result<Vec<(String, u64)>> {
    let mut listed = Vec::new();
    let mut continuation: Option<HeaderValue> = None;
    loop {
        let mut request = signer.prepare(Method::GET, &docs(), Bytes::new())?;
        request.headers.insert("x-ms-documentdb-partitionkey", partition_of(writer)?);
        if let Some(token) = continuation.take() {
            request.headers.insert("x-ms-continuation", token);
        }
        let answer = connection.send(&request).await?;
        let value: Value = serde_json::from_slice(&answer.body).doing("reading a feed")?;
        let documents =
            value["Documents"].as_array().ok_or_else(|| Failure::new(format!("a feed without documents: {value}")))?;
        for document in documents {
            let version = whole_version(writer, document)
                .ok_or_else(|| Failure::new(format!("the feed of w{writer} holds a torn item: {document}")))?;
            listed.push((document["id"].as_str().unwrap_or_default().to_owned(), version));
        }
        continuation = answer.headers.get("x-ms-continuation").cloned();
        if continuation.is_none() {
            return Ok(listed);
        }
    }
}

fn lsn_of(answer: &Answer) -> Result<u64> {
    answer
        .headers
        .get("lsn")
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Failure::new(format!("an answer without an LSN: {}", answer.status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_of_two_versions_shows() {
        let three = content(2, "w2-7", 3);
        assert_eq!(whole_version(2, &three), Some(3));
        let mut torn = three;
        torn["version"] = json!(4);
        assert_eq!(whole_version(2, &torn), None);
        assert_eq!(whole_version(2, &json!({"id": "w2-7"})), None);
    }
}
