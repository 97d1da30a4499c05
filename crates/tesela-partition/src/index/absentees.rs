//! Documents that have no value under a path, for ORDER BY.
//!
//! A path's terms are in value order, but ORDER BY also wants the documents without a value: first when it ascends,
//! last when it descends. No row says that a value is missing, and finding out takes a look at every document. So the
//! partition remembers, for each path that was ordered by, which documents lacked it.
//!
//! The list is a *superset*: it keeps documents that have since got a value or have gone, and a query looks at each
//! before it believes it. That is what makes it simple: writers add to it before they commit, in no particular order
//! with readers, and never take away.
//!
//! ```text
//! begin(path)     from now on every write that lacks the path is noted
//! (barrier)       writes that began before are through
//! complete(path)  with the documents that lack it in a snapshot taken after the barrier
//! ```
//!
//! Invariant: a view at or behind the LSN of that snapshot, taken before `known` is asked, shows no document without the
//! path that the answer lacks. It was written either before the snapshot, which then shows it, or after, and was noted.
//!
//! A path that many documents lack is not worth a list: they are then found soon enough by looking at documents in
//! turn. Nothing of this outlives the process.

use super::IndexEntries;
use parking_lot::Mutex;
use std::sync::Arc;
use tesela_model::rid::DocumentOrdinal;

/// Documents remembered for one path. Ours: half a megabyte; beyond it, one document in so many lacks the path that
/// looking at them in turn finds them.
pub const LISTED_MAX: usize = 64 * 1024;
/// Paths remembered. Ours: every write is checked against each.
const PATHS_MAX: usize = 16;

/// What is known of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Absent {
    /// Only these can lack it, ascending.
    Among(Arc<Vec<u64>>),
    /// Any document can.
    Many,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Absentees {
    paths: Mutex<Vec<Watched>>,
}

#[derive(Debug)]
struct Watched {
    /// The beginning of the path's terms.
    prefix: Vec<u8>,
    /// The LSN of the snapshot that was looked at.
    since: Option<u64>,
    absent: Absent,
}

impl Watched {
    fn add(&mut self, ordinal: u64) {
        let Absent::Among(list) = &mut self.absent else { return };
        let list = Arc::make_mut(list);
        match list.binary_search(&ordinal) {
            Ok(_) => {}
            // New documents come last.
            Err(at) => list.insert(at, ordinal),
        }
        if list.len() > LISTED_MAX {
            self.absent = Absent::Many;
        }
    }
}

impl Absentees {
    /// The index is another one now: what was seen of the old one says nothing.
    pub fn forget_all(&self) {
        self.paths.lock().clear();
    }

    /// A version of a document is about to be written.
    pub fn note(&self, ordinal: DocumentOrdinal, entries: &IndexEntries) {
        let mut paths = self.paths.lock();
        for watched in paths.iter_mut().filter(|watched| !entries.has_terms(&watched.prefix)) {
            watched.add(ordinal.0);
        }
    }

    /// Whether somebody has looked, or is looking.
    pub fn is_known(&self, prefix: &[u8]) -> bool {
        self.paths.lock().iter().any(|watched| watched.prefix == prefix)
    }

    /// Who may lack a path in a view of this LSN: any document, unless somebody has looked before it.
    pub fn known(&self, prefix: &[u8], lsn: u64) -> Absent {
        let paths = self.paths.lock();
        let watched = paths.iter().find(|watched| watched.prefix == prefix);
        let looked = watched.filter(|watched| watched.since.is_some_and(|since| since <= lsn));
        looked.map_or(Absent::Many, |watched| watched.absent.clone())
    }

    /// Starts to note writes without the path. `None` when somebody else does, or when there is no room.
    pub fn begin(&self, prefix: Vec<u8>) -> Option<Look<'_>> {
        let mut paths = self.paths.lock();
        if paths.len() >= PATHS_MAX || paths.iter().any(|watched| watched.prefix == prefix) {
            return None;
        }
        let absent = Absent::Among(Arc::default());
        paths.push(Watched { prefix: prefix.clone(), since: None, absent });
        Some(Look { absentees: self, prefix, done: false })
    }

    /// Forgets a path: too many of those listed had a value after all.
    pub fn forget(&self, prefix: &[u8]) {
        self.paths.lock().retain(|watched| watched.prefix != prefix);
    }
}

/// A look at all documents that somebody is taking. Given up, everything is as before it.
pub struct Look<'a> {
    absentees: &'a Absentees,
    prefix: Vec<u8>,
    done: bool,
}

impl Look<'_> {
    /// Ends the look with what it found in a snapshot of this LSN: ordinals, or that there are many.
    pub fn complete(mut self, lsn: u64, found: Option<Vec<u64>>) {
        let mut paths = self.absentees.paths.lock();
        if let Some(watched) = paths.iter_mut().find(|watched| watched.prefix == self.prefix) {
            watched.since = Some(lsn);
            match found {
                Some(found) => found.into_iter().for_each(|ordinal| watched.add(ordinal)),
                None => watched.absent = Absent::Many,
            }
        }
        self.done = true;
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.absentees.forget(&self.prefix);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(ordinals: &[u64]) -> Absent {
        Absent::Among(Arc::new(ordinals.to_vec()))
    }

    fn without_terms() -> IndexEntries {
        IndexEntries::default()
    }

    #[test]
    fn what_is_written_during_the_look_is_not_lost() {
        let absentees = Absentees::default();
        let path = b"p".to_vec();
        assert!(!absentees.is_known(&path));
        let look = absentees.begin(path.clone()).unwrap();
        assert!(absentees.begin(path.clone()).is_none(), "one look is enough");
        absentees.note(DocumentOrdinal(9), &without_terms());
        assert_eq!(absentees.known(&path, 100), Absent::Many, "not known yet");
        look.complete(50, Some(vec![3, 7]));
        assert_eq!(absentees.known(&path, 100), among(&[3, 7, 9]));
        assert_eq!(absentees.known(&path, 49), Absent::Many, "an older view may show documents that went since");
        absentees.note(DocumentOrdinal(5), &without_terms());
        assert_eq!(absentees.known(&path, 50), among(&[3, 5, 7, 9]));
    }

    #[test]
    fn a_look_given_up_leaves_nothing() {
        let absentees = Absentees::default();
        drop(absentees.begin(b"p".to_vec()).unwrap());
        assert!(!absentees.is_known(b"p"));
        absentees.begin(b"p".to_vec()).unwrap().complete(0, None);
        assert_eq!(absentees.known(b"p", 0), Absent::Many);
    }

    #[test]
    fn a_long_list_is_given_up() {
        let absentees = Absentees::default();
        let all: Vec<u64> = (0..=LISTED_MAX as u64).collect();
        absentees.begin(b"p".to_vec()).unwrap().complete(0, Some(all));
        assert_eq!(absentees.known(b"p", 0), Absent::Many);
    }
}
