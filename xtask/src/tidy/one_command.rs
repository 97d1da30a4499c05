//! One command: what CI runs is what the README tells a newcomer to run, word for word.

use crate::failure::{Doing, Result};
use std::fs;
use std::path::Path;

pub fn check(root: &Path) -> Result<Vec<String>> {
    let script = fs::read_to_string(root.join(".ci/run")).doing(|| "reading .ci/run".into())?;
    let readme = match fs::read_to_string(root.join("README.md")) {
        Ok(readme) => readme,
        Err(error) => return Ok(vec![format!("README.md cannot be read: {error}")]),
    };
    Ok(compare(&script, &readme).into_iter().collect())
}

fn compare(script: &str, readme: &str) -> Option<String> {
    let Some(command) = last_command(script) else {
        return Some(".ci/run runs nothing".into());
    };
    let told = fenced_lines(readme).any(|line| line == command);
    (!told).then(|| format!("README.md shows no `{command}` in a code block, yet .ci/run runs it"))
}

/// The last command of the script, which is the one whose exit status counts.
fn last_command(script: &str) -> Option<&str> {
    script
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.strip_prefix("exec ").unwrap_or(line))
}

/// Lines of fenced code, without a trailing comment.
fn fenced_lines(markdown: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    markdown.lines().filter_map(move |line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        let code = line.split(" #").next().unwrap_or(line);
        fenced.then_some(code.trim().trim_start_matches("$ "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_must_stand_in_a_code_block() {
        let script = "#!/bin/bash\nset -e\nexec cargo xtask test\n";
        let good = "text\n```sh\ncargo xtask test   # everything\n```\n";
        assert_eq!(compare(script, good), None);
        assert!(compare(script, "run cargo xtask test").is_some());
        assert!(compare(script, "```\ncargo test\n```").is_some());
        assert!(compare("#!/bin/bash\n", good).is_some());
    }
}
