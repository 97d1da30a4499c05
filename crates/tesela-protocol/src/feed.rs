//! The envelope of every list: `{"_rid":"<owner>","Documents":[…],"_count":n}`.
//!
//! Query results wear the envelope of what was queried, also when the rows are bare numbers.

use tesela_model::json;

/// What a list holds, spelled as the property that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedName {
    Databases,
    Containers,
    Documents,
    Attachments,
    StoredProcedures,
    Triggers,
    UserDefinedFunctions,
    Users,
    Permissions,
    Conflicts,
    Offers,
    PartitionKeyRanges,
    ClientEncryptionKeys,
    Addresses,
}

impl FeedName {
    pub const fn property(self) -> &'static str {
        match self {
            Self::Databases => "Databases",
            Self::Containers => "DocumentCollections",
            Self::Documents => "Documents",
            Self::Attachments => "Attachments",
            Self::StoredProcedures => "StoredProcedures",
            Self::Triggers => "Triggers",
            Self::UserDefinedFunctions => "UserDefinedFunctions",
            Self::Users => "Users",
            Self::Permissions => "Permissions",
            Self::Conflicts => "Conflicts",
            Self::Offers => "Offers",
            Self::PartitionKeyRanges => "PartitionKeyRanges",
            Self::ClientEncryptionKeys => "ClientEncryptionKeys",
            // The service's own spelling, which clients look for.
            Self::Addresses => "Addresss",
        }
    }
}

/// Writes an envelope row by row, without holding the rows apart from the text.
#[derive(Debug)]
pub struct FeedWriter {
    body: Vec<u8>,
    count: usize,
}

impl FeedWriter {
    pub fn new(owner_rid: &str, name: FeedName) -> Self {
        let mut body = Vec::with_capacity(1024);
        body.extend_from_slice(b"{\"_rid\":");
        json::write_string(owner_rid, &mut body);
        body.extend_from_slice(b",\"");
        body.extend_from_slice(name.property().as_bytes());
        body.extend_from_slice(b"\":[");
        Self { body, count: 0 }
    }

    /// Adds a row that is already JSON text.
    pub fn push(&mut self, json_text: &str) {
        if self.count > 0 {
            self.body.push(b',');
        }
        self.body.extend_from_slice(json_text.as_bytes());
        self.count += 1;
    }

    /// Rows so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes so far, for the limit of a page.
    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.body.extend_from_slice(format!("],\"_count\":{}}}", self.count).as_bytes());
        self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_wrapped_and_counted() {
        let mut feed = FeedWriter::new("qHVdAA==", FeedName::Containers);
        feed.push(r#"{"id":"a"}"#);
        feed.push("3");
        assert_eq!(feed.count(), 2);
        assert_eq!(
            String::from_utf8(feed.finish()).unwrap(),
            r#"{"_rid":"qHVdAA==","DocumentCollections":[{"id":"a"},3],"_count":2}"#
        );
    }

    #[test]
    fn an_empty_feed_is_an_empty_list() {
        let feed = FeedWriter::new("", FeedName::Offers).finish();
        assert_eq!(String::from_utf8(feed).unwrap(), r#"{"_rid":"","Offers":[],"_count":0}"#);
    }
}
