//! What a run costs: `cargo bench -p tesela-script`. Prints microseconds per run and bytes per realm.

#![allow(clippy::disallowed_methods, reason = "a measurement reads the machine's clock")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use support::{Memory, RealClock};
use tesela_script::{Engine, Limits, RunOptions, Script};

const SMALL: &str = r#"
function reserve(id, quantity) {
    const collection = getContext().getCollection();
    const accepted = collection.readDocument(`${collection.getAltLink()}/docs/${id}`, (err, item) => {
        if (err) throw err;
        if (item.stock < quantity) throw new Error(409, "out of stock");
        item.stock -= quantity;
        const replaced = collection.replaceDocument(item._self, item, (err, written) => {
            if (err) throw err;
            getContext().getResponse().setBody({ id: written.id, stock: written.stock });
        });
        if (!replaced) throw new Error(429, "replace not accepted");
    });
    if (!accepted) throw new Error(429, "read not accepted");
}"#;

fn main() {
    let engine = || Engine::new(Limits::default(), Arc::new(RealClock::default()));
    let options = RunOptions::default();
    let memory =
        || Memory::with(&[r#"{"id":"a","pk":"k","stock":1000000000,"name":"nail","tags":["x","y","z"],"price":1.5}"#]);
    let script = |source: &str| Script::new("container", "proc", source).expect("a valid script");

    let small = script(SMALL);
    report("read, replace, respond: cold (realm built and script compiled each time)", 200, || {
        engine().run_procedure(&small, r#"["a",1]"#, &mut memory(), &options).expect("runs");
    });

    let warm = engine();
    let mut collection = memory();
    report("read, replace, respond: warm", 20_000, || {
        collection.seen.clear();
        warm.run_procedure(&small, r#"["a",1]"#, &mut collection, &options).expect("runs");
    });
    let (realms, bytes) = warm.warm_realms();
    println!("{:>12} bytes of heap in {realms} warm realm(s) after those runs", bytes);

    let many = engine();
    let before = resident_bytes();
    for container in 0..64 {
        let script = Script::new(&container.to_string(), "proc", SMALL).expect("a valid script");
        many.run_procedure(&script, r#"["a",1]"#, &mut memory(), &options).expect("runs");
    }
    println!("{:>12} bytes of process memory for each of 64 realms", resident_bytes().saturating_sub(before) / 64);

    let empty = script("function () { getContext().getResponse().setBody(1); }");
    report("only respond: warm", 20_000, || {
        warm.run_procedure(&empty, "", &mut collection, &options).expect("runs");
    });

    let own = script("function () { Array.prototype.two = 2; getContext().getResponse().setBody(1); }");
    report("only respond, changes built-ins: realm of its own", 500, || {
        warm.run_procedure(&own, "", &mut collection, &options).expect("runs");
    });

    let promise =
        script("async function () { for (let i = 0; i < 10; i++) await i; getContext().getResponse().setBody(1); }");
    report("ten awaits: warm", 20_000, || {
        warm.run_procedure(&promise, "", &mut collection, &options).expect("runs");
    });

    let trigger = script(
        "function () { const request = getContext().getRequest(); const d = request.getBody(); d.at = Date.now(); request.setBody(d); }",
    );
    report("pre-trigger that stamps a document: warm", 20_000, || {
        let operation = tesela_script::TriggerOperation::Create;
        warm.run_pre_trigger(&trigger, operation, Some(r#"{"id":"a","pk":"k"}"#), &mut collection, &options)
            .expect("runs");
    });

    let udf = script("function (x) { return x.a * 2; }");
    let mut udfs = warm.udfs("container", &[udf], &options).expect("loads");
    report("user-defined function of an object: one call", 100_000, || {
        udfs.call("proc", &[Some(r#"{"a":21}"#)]).expect("runs");
    });

    let loops = script(
        "function () { let x = 0; for (let i = 0; i < 1000000; i++) x += i; getContext().getResponse().setBody(x); }",
    );
    report("a loop of 1,000,000 turns: warm", 50, || {
        warm.run_procedure(&loops, "", &mut collection, &options).expect("runs");
    });
}

/// Resident memory of this process, 0 where the system does not tell.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    status.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4096)
}

fn report(what: &str, runs: u32, mut run: impl FnMut()) {
    run();
    let mut samples: Vec<Duration> = (0..runs)
        .map(|_| {
            let begin = Instant::now();
            run();
            begin.elapsed()
        })
        .collect();
    let total: Duration = samples.iter().sum();
    samples.sort();
    let us = |duration: Duration| duration.as_secs_f64() * 1e6;
    let p99 = samples[samples.len() * 99 / 100];
    println!(
        "{:>9.1} us mean {:>9.1} us p50 {:>9.1} us p99   {what}",
        us(total) / f64::from(runs),
        us(samples[samples.len() / 2]),
        us(p99)
    );
}
