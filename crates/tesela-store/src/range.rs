//! Which rows a scan visits, in which direction, and how many at a time.
//!
//! A range is half-open: it holds `start` and ends before `end`. Three shapes cover every use:
//! all keys, the keys between two, and the keys that begin with a prefix. A page that ended at its
//! limit is resumed by cutting the range at the last key seen:
//!
//! ```
//! use tesela_store::{Direction, KeyRange};
//! let users = KeyRange::prefix(b"user/");
//! assert!(users.contains(b"user/7") && !users.contains(b"users"));
//! let rest = users.after(b"user/7", Direction::Forward);
//! assert!(!rest.contains(b"user/7") && rest.contains(b"user/70"));
//! ```

use bytes::Bytes;

/// Keys from `start` (included) to `end` (excluded; `None` is past the last key).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    pub start: Bytes,
    pub end: Option<Bytes>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> Self {
        Self { start: Bytes::new(), end: None }
    }

    /// The keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { start: Bytes::copy_from_slice(prefix), end: successor(prefix) }
    }

    /// From `from` (included) to `to` (excluded). Empty if `from >= to`.
    pub fn between(from: impl Into<Bytes>, to: impl Into<Bytes>) -> Self {
        Self { start: from.into(), end: Some(to.into()) }
    }

    /// From `from` (included) on.
    pub fn starting_at(from: impl Into<Bytes>) -> Self {
        Self { start: from.into(), end: None }
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        self.start <= key && self.end.as_ref().is_none_or(|end| key < end)
    }

    /// True if no key can be in the range.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// What is left of the range for a scan that has seen `key`.
    pub fn after(&self, key: &[u8], direction: Direction) -> Self {
        match direction {
            Direction::Forward => {
                // key + 0x00 is the smallest key above key.
                let mut next = Vec::with_capacity(key.len() + 1);
                next.extend_from_slice(key);
                next.push(0);
                let next = Bytes::from(next);
                Self { start: next.max(self.start.clone()), end: self.end.clone() }
            }
            Direction::Backward => {
                let key = Bytes::copy_from_slice(key);
                let end = match &self.end {
                    Some(end) => key.min(end.clone()),
                    None => key,
                };
                Self { start: self.start.clone(), end: Some(end) }
            }
        }
    }
}

/// The smallest key above all keys that begin with `prefix`; none if the prefix is empty or all 0xFF.
fn successor(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|&byte| byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end.into())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Smallest key first.
    Forward,
    /// Largest key first.
    Backward,
}

/// A page ends after `rows` rows, or with the row that brings it to `bytes` bytes of keys and
/// values, whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimit {
    pub rows: usize,
    pub bytes: usize,
}

impl ScanLimit {
    /// The whole range in one page. For ranges known to be small.
    pub const NONE: Self = Self { rows: usize::MAX, bytes: usize::MAX };

    pub const fn rows(rows: usize) -> Self {
        Self { rows, bytes: usize::MAX }
    }

    pub const fn bytes(bytes: usize) -> Self {
        Self { rows: usize::MAX, bytes }
    }
}

/// Rows in the order of the scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub rows: Vec<(Bytes, Bytes)>,
    /// True exactly if the range holds rows behind the last one of this page.
    pub more: bool,
}

impl Page {
    /// Fills a page from an engine's cursor, which must already move in the scan's direction.
    /// Here, so that every engine ends a page at the same row.
    pub fn fill<E>(cursor: impl Iterator<Item = Result<(Bytes, Bytes), E>>, limit: ScanLimit) -> Result<Self, E> {
        let mut rows = Vec::new();
        let mut bytes = 0_usize;
        for row in cursor {
            let (key, value) = row?;
            if rows.len() == limit.rows || (bytes >= limit.bytes && !rows.is_empty()) {
                return Ok(Self { rows, more: true });
            }
            bytes = bytes.saturating_add(key.len() + value.len());
            rows.push((key, value));
        }
        Ok(Self { rows, more: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_range_ends_before_the_next_sibling() {
        for (prefix, end) in [
            (&b"a"[..], Some(&b"b"[..])),
            (b"a\xff", Some(b"b")),
            (b"a\xff\xff\x01", Some(b"a\xff\xff\x02")),
            (b"\xff\xff", None),
            (b"", None),
        ] {
            assert_eq!(KeyRange::prefix(prefix).end.as_deref(), end, "prefix {prefix:?}");
        }
    }

    #[test]
    fn resuming_never_widens_the_range() {
        let range = KeyRange::between(&b"c"[..], &b"f"[..]);
        assert_eq!(range.after(b"a", Direction::Forward).start, "c");
        assert_eq!(range.after(b"z", Direction::Backward).end.unwrap(), "f");
        assert!(range.after(b"c", Direction::Backward).is_empty());
    }

    #[test]
    fn a_page_holds_one_row_even_if_it_is_too_large() {
        let rows = [b"a", b"b"]
            .map(|key| Ok::<_, std::convert::Infallible>((Bytes::from_static(key), Bytes::from_static(b"123"))));
        let page = Page::fill(rows.clone().into_iter(), ScanLimit::bytes(0)).unwrap();
        assert_eq!((page.rows.len(), page.more), (1, true));
        let page = Page::fill(rows.clone().into_iter(), ScanLimit::bytes(5)).unwrap();
        assert_eq!((page.rows.len(), page.more), (2, false));
        let page = Page::fill(rows.into_iter(), ScanLimit::rows(0)).unwrap();
        assert_eq!((page.rows.len(), page.more), (0, true));
    }
}
