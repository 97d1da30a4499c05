//! The files of the project: what git tracks or would track, so that build output, environments and
//! data folders are never read.

use crate::failure::{Doing, Failure, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Paths relative to `root`, of files that exist.
pub fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .doing(|| "starting git ls-files".into())?;
    if !output.status.success() {
        return Err(Failure::new(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr))));
    }
    Ok(output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned()))
        .filter(|path| root.join(path).is_file())
        .collect())
}
