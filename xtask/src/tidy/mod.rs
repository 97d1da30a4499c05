//! Tidy: what the compiler cannot hold.
//!
//! Each check is a pure function from what is on disk to a list of complaints; `run` prints all of
//! them, not only the first, since one edit often answers several. Nothing here compiles code, so
//! it runs first and in well under a second.

mod fences;
mod layers;
mod lengths;
mod links;
mod one_command;
mod tree;

use crate::failure::{Failure, Result};
use crate::workspace::Workspace;

pub fn run(workspace: &Workspace) -> Result<()> {
    let files = tree::tracked_files(&workspace.root)?;
    let mut complaints = layers::check(&workspace.packages);
    complaints.extend(fences::check(&workspace.packages));
    complaints.extend(lengths::check(&workspace.root, &files)?);
    complaints.extend(links::check(&workspace.root, &files)?);
    complaints.extend(one_command::check(&workspace.root)?);
    if complaints.is_empty() {
        println!("   tidy: {} packages, {} files, nothing to say", workspace.packages.len(), files.len());
        return Ok(());
    }
    for complaint in &complaints {
        println!("   tidy: {complaint}");
    }
    Err(Failure::new(format!("tidy has {} complaint(s)", complaints.len())))
}
