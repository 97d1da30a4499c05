//! Which features the SDK suites must prove: `tests/sdk/areas.txt`, one area per line, `#` for
//! comments. The list grows as features land, and only the list decides what runs.
//!
//! The files of an area, by suite: `python/test_<area>.py`, `javascript/<area>.test.mjs`,
//! `rust/tests/border/<area>.rs`. `conformance` is an area without such files: the open corpora.

use super::Suite;
use crate::failure::{Doing, Failure, Result};
use crate::workspace::Workspace;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The area that stands for the corpora of `cargo xtask conformance`.
const CONFORMANCE: &str = "conformance";

/// What exists and what is listed.
#[derive(Debug)]
pub struct Areas {
    listed: BTreeSet<String>,
    python: BTreeSet<String>,
    javascript: BTreeSet<String>,
    rust: BTreeSet<String>,
}

/// The areas of one run, by suite, and those that stay out of it.
#[derive(Debug)]
pub struct Selection {
    python: Vec<String>,
    javascript: Vec<String>,
    rust: Vec<String>,
    left_out: Vec<String>,
}

impl Areas {
    pub fn read(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.sdk_tests();
        let list = folder.join("areas.txt");
        let text = fs::read_to_string(&list).doing(|| format!("reading {}", list.display()))?;
        Ok(Self {
            listed: parse(&text),
            python: found(&folder.join("python"), "test_", ".py")?,
            javascript: found(&folder.join("javascript"), "", ".test.mjs")?,
            rust: found(&folder.join("rust/tests/border"), "", ".rs")?
                .into_iter()
                .filter(|name| name != "main")
                .collect(),
        })
    }

    pub fn conformance_listed(&self) -> bool {
        self.listed.contains(CONFORMANCE)
    }

    /// The areas of the list.
    pub fn listed(&self) -> Result<Selection> {
        let wanted: Vec<String> = self.listed.iter().filter(|area| *area != CONFORMANCE).cloned().collect();
        self.only(&wanted)
    }

    /// The areas asked for by name, listed or not.
    pub fn only(&self, wanted: &[String]) -> Result<Selection> {
        let all = self.all();
        for area in wanted {
            if !all.contains(area) {
                return Err(Failure::new(format!("area `{area}` has no test file in any suite")));
            }
        }
        let pick = |present: &BTreeSet<String>| present.iter().filter(|area| wanted.contains(area)).cloned().collect();
        Ok(Selection {
            python: pick(&self.python),
            javascript: pick(&self.javascript),
            rust: pick(&self.rust),
            left_out: all.into_iter().filter(|area| !wanted.contains(area)).collect(),
        })
    }

    fn all(&self) -> BTreeSet<String> {
        let mut all = self.python.clone();
        all.extend(self.javascript.iter().cloned());
        all.extend(self.rust.iter().cloned());
        all
    }
}

impl Selection {
    pub fn of(&self, suite: Suite) -> &[String] {
        match suite {
            Suite::Python => &self.python,
            Suite::JavaScript => &self.javascript,
            Suite::Rust => &self.rust,
        }
    }

    /// Says what will not run: a silent gap would look like a pass.
    pub fn announce(&self) {
        if !self.left_out.is_empty() {
            println!("   not run (not in this run's list of areas): {}", self.left_out.join(", "));
        }
    }
}

fn parse(text: &str) -> BTreeSet<String> {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or("").trim())
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

fn found(folder: &Path, prefix: &str, suffix: &str) -> Result<BTreeSet<String>> {
    let entries = fs::read_dir(folder).doing(|| format!("reading {}", folder.display()))?;
    Ok(entries
        .filter_map(std::result::Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let area = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
            Some(area.to_owned())
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn areas(listed: &str) -> Areas {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Areas {
            listed: parse(listed),
            python: set(&["items", "query"]),
            javascript: set(&["items"]),
            rust: set(&["batch"]),
        }
    }

    #[test]
    fn the_list_decides_and_the_rest_is_named() {
        let selection = areas("items  # R5\n\nconformance\n").listed().unwrap();
        assert_eq!(selection.of(Suite::Python), ["items"]);
        assert_eq!(selection.of(Suite::JavaScript), ["items"]);
        assert!(selection.of(Suite::Rust).is_empty());
        assert_eq!(selection.left_out, ["batch", "query"]);
        assert!(areas("conformance").conformance_listed());
    }

    #[test]
    fn an_area_without_files_is_refused() {
        assert!(areas("itmes").listed().is_err());
    }
}
