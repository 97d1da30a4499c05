//! Lengths: a source file longer than [`LINES_MAX`] must be named, with its reason, in
//! `xtask/long-files.txt` (`path: reason`, one per line). A name there that is no longer needed is a
//! complaint too, so the list only ever says what is true.

use crate::failure::{Doing, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Most files stay under 600 lines; past this a reader cannot keep one in mind.
const LINES_MAX: usize = 900;

const LIST: &str = "xtask/long-files.txt";
const SOURCES: &[&str] = &["rs", "py", "mjs", "js"];

pub fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let list = fs::read_to_string(root.join(LIST)).doing(|| format!("reading {LIST}"))?;
    let mut lengths = BTreeMap::new();
    for path in files.iter().filter(|path| is_source(path)) {
        let bytes = fs::read(root.join(path)).doing(|| format!("reading {}", path.display()))?;
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        lengths.insert(path.to_string_lossy().into_owned(), lines);
    }
    Ok(compare(&lengths, &list))
}

fn is_source(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|extension| SOURCES.contains(&extension))
}

fn compare(lengths: &BTreeMap<String, usize>, list: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut excused = BTreeMap::new();
    for line in list.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once(':') {
            Some((path, reason)) if !reason.trim().is_empty() => {
                excused.insert(path.trim(), ());
            }
            _ => complaints.push(format!("{LIST}: `{line}` gives no reason")),
        }
    }
    for (path, lines) in lengths {
        if *lines > LINES_MAX && excused.remove(path.as_str()).is_none() {
            complaints.push(format!("{path} has {lines} lines, over {LINES_MAX}: cut it or give a reason in {LIST}"));
        }
    }
    complaints
        .extend(excused.keys().map(|path| format!("{LIST}: {path} is not over {LINES_MAX} lines, remove the line")));
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_listed_with_a_reason_and_short_ones_are_not() {
        let lengths = BTreeMap::from([("short.rs".to_owned(), 10), ("long.rs".to_owned(), LINES_MAX + 1)]);
        let cases = [
            ("long.rs: one table", 0),
            ("", 1),
            ("long.rs:", 2),
            ("long.rs: one table\nshort.rs: habit", 1),
            ("# long.rs: a comment excuses nothing", 1),
        ];
        for (list, complaints) in cases {
            assert_eq!(compare(&lengths, list).len(), complaints, "{list:?}");
        }
    }
}
