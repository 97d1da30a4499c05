//! What cargo knows about this workspace: its root, its target folder, its packages and what each
//! depends on, as `cargo metadata` tells them.

use crate::failure::{Doing, Failure, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace this command runs in.
#[derive(Debug)]
pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
    pub packages: Vec<Package>,
}

/// One member crate.
#[derive(Debug)]
pub struct Package {
    pub name: String,
    /// `[package.metadata.tesela] layer`, when the manifest gives one.
    pub layer: Option<u64>,
    pub dependencies: Vec<Dependency>,
}

/// One line of a `[dependencies]`, `[build-dependencies]` or `[dev-dependencies]` table.
#[derive(Debug)]
pub struct Dependency {
    pub name: String,
    pub kind: DependencyKind,
    pub features: Vec<String>,
    /// Whether it is a crate of this repository.
    pub local: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyKind {
    Normal,
    Build,
    Dev,
}

impl Workspace {
    pub fn load() -> Result<Self> {
        let output = cargo()
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .output()
            .doing(|| "starting cargo metadata".into())?;
        if !output.status.success() {
            return Err(Failure::new(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr))));
        }
        let metadata: Value =
            serde_json::from_slice(&output.stdout).doing(|| "reading the output of cargo metadata".into())?;
        let packages = metadata["packages"]
            .as_array()
            .ok_or_else(|| Failure::new("cargo metadata lists no packages"))?
            .iter()
            .map(Package::from_metadata)
            .collect();
        Ok(Self {
            root: path_of(&metadata, "workspace_root")?,
            target: path_of(&metadata, "target_directory")?,
            packages,
        })
    }

    /// A folder below `target/` that belongs to these commands: environments, logs, data folders.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.target.join("xtask").join(name)
    }

    /// Where a profile puts the server binary.
    pub fn server_binary(&self, profile: &str) -> PathBuf {
        self.target.join(profile).join("tesela")
    }

    pub fn sdk_tests(&self) -> PathBuf {
        self.root.join("tests/sdk")
    }
}

/// The cargo that started us, so that a toolchain override stays in force.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// `cargo` in the workspace root.
pub fn cargo_in(root: &Path) -> Command {
    let mut command = cargo();
    command.current_dir(root);
    command
}

/// Whether `cargo nextest` can be used; without it plain `cargo test` runs the same tests.
pub fn nextest_present(root: &Path) -> bool {
    cargo_in(root).args(["nextest", "--version"]).output().is_ok_and(|output| output.status.success())
}

fn path_of(metadata: &Value, field: &str) -> Result<PathBuf> {
    metadata[field].as_str().map(PathBuf::from).ok_or_else(|| Failure::new(format!("cargo metadata has no {field}")))
}

impl Package {
    fn from_metadata(package: &Value) -> Self {
        let dependencies = package["dependencies"]
            .as_array()
            .map(|list| list.iter().map(Dependency::from_metadata).collect())
            .unwrap_or_default();
        Self { name: text(&package["name"]), layer: package["metadata"]["tesela"]["layer"].as_u64(), dependencies }
    }
}

impl Dependency {
    fn from_metadata(dependency: &Value) -> Self {
        Self {
            name: text(&dependency["name"]),
            kind: match dependency["kind"].as_str() {
                Some("dev") => DependencyKind::Dev,
                Some("build") => DependencyKind::Build,
                _ => DependencyKind::Normal,
            },
            features: dependency["features"]
                .as_array()
                .map(|features| features.iter().map(text).collect())
                .unwrap_or_default(),
            local: dependency["path"].is_string(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
