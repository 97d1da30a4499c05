//! Tables: medians of repeated runs as Markdown, ready for docs/benchmarks.md.

use crate::load::Outcome;

/// The repeats of one measured thing.
#[derive(Debug, Clone)]
pub struct Series {
    pub name: String,
    pub runs: Vec<Outcome>,
}

impl Series {
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), runs: Vec::new() }
    }

    /// The run with the median rate: its latencies belong together, unlike medians taken one by one.
    pub fn median(&self) -> Option<Outcome> {
        let mut runs = self.runs.clone();
        runs.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
        runs.get(runs.len().checked_sub(1)? / 2).copied()
    }

    pub fn rate(&self) -> f64 {
        self.median().map_or(0.0, |run| run.per_second)
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// One row per series: rate with its spread, and latencies in milliseconds.
pub fn load_table(series: &[Series]) -> String {
    let mut table = String::from(
        "| what | requests/s (min–max) | p50 ms | p99 ms | p99.9 ms | failed |\n|---|---|---|---|---|---|\n",
    );
    for each in series {
        let Some(run) = each.median() else { continue };
        let rates = each.runs.iter().map(|run| run.per_second);
        let least = rates.clone().fold(f64::INFINITY, f64::min);
        let most = rates.fold(0.0, f64::max);
        let failures: u64 = each.runs.iter().map(|run| run.failures).sum();
        table.push_str(&format!(
            "| {} | {:.0} ({least:.0}–{most:.0}) | {} | {} | {} | {failures} |\n",
            each.name,
            run.per_second,
            milliseconds(run.p50_us),
            milliseconds(run.p99_us),
            milliseconds(run.p999_us),
        ));
    }
    table
}

/// Rows of a name, a figure and the goal it is held to.
pub fn goal_table(rows: &[(String, String, &str)]) -> String {
    let mut table = String::from("| what | measured | goal |\n|---|---|---|\n");
    for (name, measured, goal) in rows {
        table.push_str(&format!("| {name} | {measured} | {goal} |\n"));
    }
    table
}

fn milliseconds(microseconds: u64) -> String {
    format!("{:.2}", microseconds as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(per_second: f64) -> Outcome {
        Outcome { per_second, p50_us: 1_500, p99_us: 9_000, p999_us: 20_000, requests: 1, failures: 1 }
    }

    #[test]
    fn tables_show_the_median_run_and_the_spread() {
        let series = Series { name: "reads".into(), runs: vec![run(10.0), run(30.0), run(20.0)] };
        assert_eq!(series.rate(), 20.0);
        assert!(load_table(&[series]).contains("| reads | 20 (10–30) | 1.50 | 9.00 | 20.00 | 3 |"));
        assert!(Series::new("none").median().is_none());
    }

    #[test]
    fn the_median_of_an_even_number_is_the_lower() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.0);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
