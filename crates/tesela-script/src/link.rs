//! Links in scripts: only the collection the script runs in and the documents below it.
//!
//! A collection has two links, by resource ids (`dbs/AAA=/colls/BBB=/`, the self link) and by names
//! (`dbs/db/colls/c`, the alt link). A document link is one of the two, then `docs`, then the document's
//! resource id or name in the same manner. Leading and trailing slashes do not matter.

use crate::collection::{Collection, DocumentRef};

/// The two links of the collection a script runs in, without outer slashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    by_rid: String,
    by_name: String,
}

impl Links {
    pub(crate) fn of(collection: &dyn Collection) -> Self {
        Self { by_rid: bare(collection.self_link()).to_owned(), by_name: bare(collection.alt_link()).to_owned() }
    }

    pub(crate) fn is_collection(&self, link: &str) -> bool {
        let link = bare(link);
        link == self.by_rid || link == self.by_name
    }

    pub(crate) fn document(&self, link: &str) -> Option<DocumentRef> {
        let link = bare(link);
        let below = |collection: &str| {
            let name = link.strip_prefix(collection)?.strip_prefix("/docs/")?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        below(&self.by_name).map(DocumentRef::Id).or_else(|| below(&self.by_rid).map(DocumentRef::Rid))
    }
}

fn bare(link: &str) -> &str {
    link.trim_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_collection_and_its_documents_have_links() {
        let links = Links { by_rid: "dbs/AAA=/colls/BBB=".into(), by_name: "dbs/db/colls/c".into() };
        for own in ["dbs/AAA=/colls/BBB=/", "/dbs/db/colls/c/", "dbs/db/colls/c"] {
            assert!(links.is_collection(own), "{own}");
        }
        for foreign in ["", "dbs/db", "dbs/db/colls/c2", "dbs/db/colls/c/docs", "DBS/db/colls/c"] {
            assert!(!links.is_collection(foreign), "{foreign}");
        }
        let cases = [
            ("dbs/db/colls/c/docs/1", Some(DocumentRef::Id("1".into()))),
            ("/dbs/AAA=/colls/BBB=/docs/CCC=/", Some(DocumentRef::Rid("CCC=".into()))),
            ("dbs/db/colls/c/docs/", None),
            ("dbs/db/colls/c/docs/1/attachments/2", None),
            ("dbs/db/colls/c/sprocs/1", None),
            ("dbs/db/colls/c2/docs/1", None),
            ("dbs/AAA=/colls/c/docs/1", None),
            ("1", None),
        ];
        for (link, wanted) in cases {
            assert_eq!(links.document(link), wanted, "{link}");
        }
    }
}
