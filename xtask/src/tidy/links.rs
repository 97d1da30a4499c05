//! Links: every relative link in a Markdown file leads to a file of the project, and its `#anchor`
//! to a heading of that file. Links to other hosts are not followed: a check must not need a network.

use crate::failure::{Doing, Result};
use std::fs;
use std::path::{Component, Path, PathBuf};

pub fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for path in files.iter().filter(|path| is_markdown(path)) {
        let text = fs::read_to_string(root.join(path)).doing(|| format!("reading {}", path.display()))?;
        for target in targets(&text) {
            if let Some(problem) = broken(root, path, &target) {
                complaints.push(format!("{}: ({target}) {problem}", path.display()));
            }
        }
    }
    Ok(complaints)
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn broken(root: &Path, from: &Path, target: &str) -> Option<String> {
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    };
    let path = if file.is_empty() {
        from.to_path_buf()
    } else {
        normalized(&from.parent().unwrap_or(Path::new("")).join(file))?
    };
    let full = root.join(&path);
    if !full.exists() {
        return Some(format!("leads to {}, which is not there", path.display()));
    }
    let anchor = anchor.filter(|anchor| !anchor.is_empty() && is_markdown(&path))?;
    let text = fs::read_to_string(&full).ok()?;
    let found = anchors(&text).any(|candidate| candidate == anchor);
    (!found).then(|| format!("names a heading that {} does not have", path.display()))
}

/// Resolves `..` by text. `None` for a link that leaves the repository: those are notes for people
/// who have the neighbouring folder, and nothing here can check them.
fn normalized(path: &Path) -> Option<PathBuf> {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::CurDir => {}
            other => parts.push(other),
        }
    }
    Some(parts.into_iter().collect())
}

/// The relative targets of inline links, in order, code left out.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose_lines(text) {
        let mut rest = line.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            let target = rest[..end].split_whitespace().next().unwrap_or("");
            let outside = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !outside {
                found.push(target.to_owned());
            }
            rest = &rest[end..];
        }
    }
    found
}

/// The anchors a Markdown renderer makes of headings, and explicit `<a id="…">`.
fn anchors(text: &str) -> impl Iterator<Item = String> + '_ {
    prose_lines(text).filter_map(|line| {
        if let Some(heading) = line.strip_prefix('#') {
            return Some(slug(heading.trim_start_matches('#')));
        }
        let id = line.split("<a id=\"").nth(1)?;
        Some(id.split('"').next()?.to_owned())
    })
}

fn slug(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .collect()
}

/// The lines outside fenced code, with inline code blanked.
fn prose_lines(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut fenced = false;
    text.lines().filter_map(move |line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        if fenced {
            return None;
        }
        if line.starts_with('#') {
            return Some(line.to_owned());
        }
        Some(line.split('`').step_by(2).collect::<Vec<_>>().join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_relative_links_outside_code() {
        let text = "see [a](docs/a.md) and [b](https://example.org/b) `[c](c.md)`\n\
                    ```\n[d](d.md)\n```\n[e](#e-part)";
        assert_eq!(targets(text), ["docs/a.md", "#e-part"]);
    }

    #[test]
    fn anchors_are_made_as_renderers_make_them() {
        let text = "# First: the `Store`\n<a id=\"s2\"></a>\n## On-disk format, v1";
        let found: Vec<String> = anchors(text).collect();
        assert_eq!(found, ["first-the-store", "s2", "on-disk-format-v1"]);
    }

    #[test]
    fn parent_folders_resolve_inside_the_repository_only() {
        assert_eq!(normalized(Path::new("docs/adr/../a.md")), Some(PathBuf::from("docs/a.md")));
        assert_eq!(normalized(Path::new("docs/../../shared/x.md")), None);
    }
}
