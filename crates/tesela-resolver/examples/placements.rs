//! How even, how fast and how restless each placement is: a table in Markdown, the published theory beside it.
//!
//! ```text
//! cargo run --release -p tesela-resolver --example placements            # 10, 100 and 1,000 collections, 1 M keys
//! cargo run --release -p tesela-resolver --example placements -- 100000  # fewer keys
//! cargo run --release -p tesela-resolver --example placements -- --seeds # max/mean over 20 sets of keys, N = 100
//! ```
//!
//! Columns
//! * *lookups/s*: `HashResolver::collection_of` over the keys, hash included, one thread, best of three passes;
//! * *max/mean*: keys of the fullest collection over the mean;
//! * *theory*: the band, from the 1st to the 99th percentile, in which max/mean should be. Keys that fall
//!   evenly fill a collection with µ = m/N ± √µ of them; on a ring with V virtual nodes the share itself has
//!   a relative deviation of 1/√V (Karger et al., 1997); the band is that of the largest of N such variates.
//!   A bounded load (Mirrokni et al., 2016) stops at its limit;
//! * *moved ×(N+1)*: share of the keys that move when one collection is added, times N+1: 1.000 is the ideal;
//! * *needless*: of these, keys that went between two collections that were there before.

use std::time::Instant;

use tesela_resolver::hash::Hasher;
use tesela_resolver::{HashResolver, KeyExtractor, Scheme};

const KEYS_DEFAULT: usize = 1_000_000;
const COLLECTIONS: [usize; 3] = [10, 100, 1_000];
const PASSES: usize = 3;
const SEEDS: usize = 20;

type Case = (&'static str, fn() -> Hasher, Scheme);

const CASES: [Case; 8] = [
    ("bucket map (default)", Hasher::murmur3_128, Scheme::BUCKETS),
    ("jump", Hasher::murmur3_128, Scheme::Jump),
    ("rendezvous", Hasher::murmur3_128, Scheme::Rendezvous),
    ("bounded load 125 %", Hasher::murmur3_128, Scheme::BOUNDED),
    ("ring, 16 nodes, md5 (documented)", Hasher::md5, Scheme::RING),
    ("ring, 128 nodes, md5", Hasher::md5, Scheme::Ring { virtual_nodes: 128 }),
    ("ring, 128 nodes, murmur3-32 (Python)", Hasher::murmur3_32, Scheme::Ring { virtual_nodes: 128 }),
    ("ring, 128 nodes, murmur3-128", Hasher::murmur3_128, Scheme::Ring { virtual_nodes: 128 }),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("--seeds") => seeds(),
        Some(keys) => table(keys.parse()?),
        None => table(KEYS_DEFAULT),
    }
}

fn keys(count: usize, set: usize) -> Vec<String> {
    (0..count).map(|n| format!("user-{set}-{n:07}")).collect()
}

fn resolver((_, hasher, scheme): Case, collections: usize) -> Result<HashResolver, Box<dyn std::error::Error>> {
    let links = (0..collections).map(|n| format!("dbs/bench/colls/c{n}"));
    Ok(HashResolver::new(KeyExtractor::path("/id")?, hasher(), scheme, links)?)
}

fn table(count: usize) -> Result<(), Box<dyn std::error::Error>> {
    let keys = keys(count, 0);
    println!("| placement | N | lookups/s | max/mean | theory | moved ×(N+1) | needless |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for collections in COLLECTIONS {
        for case in CASES {
            let before = resolver(case, collections)?;
            let after = before.with_added("dbs/bench/colls/new")?;
            let rate = lookups_per_second(&before, &keys);
            let (moved, needless) = movement(&before, &after, &keys);
            println!(
                "| {} | {collections} | {:.1} M | {:.3} | {} | {:.3} | {needless} |",
                case.0,
                rate / 1e6,
                max_over_mean(&before, &keys),
                theory(case.2, collections, keys.len()),
                moved as f64 / keys.len() as f64 * (collections + 1) as f64,
            );
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time and nothing else depends on it")]
fn lookups_per_second(resolver: &HashResolver, keys: &[String]) -> f64 {
    let pass = |_| {
        let start = Instant::now();
        // Adding up lengths keeps the compiler from leaving the lookups out.
        let sum: usize = keys.iter().map(|key| resolver.collection_of(key.as_bytes()).as_str().len()).sum();
        std::hint::black_box(sum);
        keys.len() as f64 / start.elapsed().as_secs_f64()
    };
    (0..PASSES).map(pass).fold(0.0, f64::max)
}

fn owner(resolver: &HashResolver, key: &str) -> usize {
    resolver.placement().owner(resolver.hasher(), resolver.hasher().point(key.as_bytes()))
}

fn max_over_mean(resolver: &HashResolver, keys: &[String]) -> f64 {
    let mut counts = vec![0usize; resolver.members().len()];
    for key in keys {
        counts[owner(resolver, key)] += 1;
    }
    let max = counts.iter().copied().max().unwrap_or_default();
    max as f64 * counts.len() as f64 / keys.len() as f64
}

/// Additions keep the order of members, so indices of both maps can be compared; the newcomer is last.
fn movement(before: &HashResolver, after: &HashResolver, keys: &[String]) -> (usize, usize) {
    let newcomer = after.members().len() - 1;
    let mut moved = (0, 0);
    for key in keys {
        let (old, new) = (owner(before, key), owner(after, key));
        moved.0 += usize::from(old != new);
        moved.1 += usize::from(old != new && new != newcomer);
    }
    moved
}

/// Where the fullest of `collections` should be, from its 1st to its 99th percentile.
fn theory(scheme: Scheme, collections: usize, keys: usize) -> String {
    let mean = keys as f64 / collections as f64;
    let band = |shape: f64, uneven: f64| {
        let at = |probability: f64| gamma_quantile(shape, probability.powf(1.0 / collections as f64));
        format!("{:.3}–{:.3}", at(0.01), uneven * at(0.99))
    };
    match scheme {
        // Arcs of a ring are nearly exponential, so a share is a gamma variate of shape V; counts of keys
        // scatter on top.
        Scheme::Ring { virtual_nodes } => band(1.0 / (1.0 / f64::from(virtual_nodes) + 1.0 / mean), 1.0),
        // Some collections own one bucket more than others when they do not divide evenly.
        Scheme::Buckets { buckets } => {
            let fair = f64::from(buckets) / collections as f64;
            band(mean, fair.ceil() / fair)
        }
        Scheme::Jump | Scheme::Rendezvous => band(mean, 1.0),
        // Several collections are at their limit, and there the counts of keys scatter.
        Scheme::Bounded { limit_percent, .. } => {
            let limit = f64::from(limit_percent) / 100.0;
            let most = gamma_quantile(mean * limit, 0.99f64.powf(1.0 / collections as f64));
            format!("≤ {:.3}", limit * most)
        }
    }
}

/// Quantile of a gamma variate with mean 1 (Wilson and Hilferty, 1931). A count of keys, nearly Poisson, is
/// close to one too.
fn gamma_quantile(shape: f64, probability: f64) -> f64 {
    let ninth = 1.0 / (9.0 * shape);
    (1.0 - ninth + normal_quantile(probability) * ninth.sqrt()).powi(3)
}

/// Quantile of a standard normal variate above its median, by bisection of the tail (Abramowitz and Stegun, 26.2.17).
fn normal_quantile(probability: f64) -> f64 {
    let tail = |x: f64| {
        let t = 1.0 / (1.0 + 0.231_641_9 * x);
        let polynomial =
            t * (0.319_381_530 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
        (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial
    };
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if tail(middle) > 1.0 - probability { low = middle } else { high = middle }
    }
    low
}

/// max/mean at 100 collections and 1 M keys over many sets of keys: how often a goal is met by luck.
fn seeds() -> Result<(), Box<dyn std::error::Error>> {
    println!("| placement, N = 100, 1 M keys | least | median | most | ≤ 1.03 |");
    println!("|---|---:|---:|---:|---:|");
    for case in CASES {
        let resolver = resolver(case, 100)?;
        let mut found: Vec<f64> = (0..SEEDS).map(|set| max_over_mean(&resolver, &keys(KEYS_DEFAULT, set))).collect();
        found.sort_by(f64::total_cmp);
        let met = found.iter().filter(|ratio| **ratio <= 1.03).count();
        println!(
            "| {} | {:.3} | {:.3} | {:.3} | {met} of {SEEDS} |",
            case.0,
            found[0],
            found[SEEDS / 2],
            found[SEEDS - 1]
        );
    }
    Ok(())
}
