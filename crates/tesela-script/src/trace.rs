//! Stack traces as the client sees them: the script's own frames, at its own lines and columns.
//!
//! The engine writes `    at name (file:line:column)`. Frames of the prelude and of built-ins are left
//! out, anonymous functions are called so, and columns of line 1 lose the factory's prefix.

use crate::source::PREFIX;

/// File names of prelude sources begin so; no script's does, because a script's file ends in `.js` and
/// an id holds no slash.
pub(crate) const PRELUDE: &str = "tesela:/";

pub(crate) fn script_frames(stack: &str) -> String {
    stack.lines().filter_map(frame).collect()
}

fn frame(line: &str) -> Option<String> {
    let line = line.trim().strip_prefix("at ")?;
    let (name, place) = match line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")) {
        Some((name, place)) => (name, place),
        None => ("", line),
    };
    if place.starts_with(PRELUDE) || name == "<eval>" {
        return None;
    }
    let mut parts = place.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    let (column, line): (usize, usize) = (column.parse().ok()?, line.parse().ok()?);
    let column = if line == 1 { column.saturating_sub(PREFIX.len()).max(1) } else { column };
    let name = if name.is_empty() || name == "<anonymous>" { "Anonymous function" } else { name };
    Some(format!("\n   at {name} ({file}:{line}:{column})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_scripts_own_frames_are_kept() {
        let stack = "    at Error (tesela:/lockdown.js:3:1)\n    at f (my (old).js:3:7)\n    at <anonymous> (x.js:1:60)\n    at map (native)\n    at <eval> (x.js:1:1)\n";
        let column = 60 - PREFIX.len();
        assert_eq!(
            script_frames(stack),
            format!("\n   at f (my (old).js:3:7)\n   at Anonymous function (x.js:1:{column})")
        );
        assert_eq!(script_frames("nonsense\nat\nat (::)\n"), "");
    }
}
