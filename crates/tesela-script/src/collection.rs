//! The seam below a script: what it may do to the one logical partition it runs in.
//!
//! The partition implements [`Collection`] over a transaction; the tests implement it over a map. The
//! contract:
//!
//! - every method runs in the order of the script's calls, on the thread that runs the script, and may
//!   block;
//! - bodies cross as JSON text, so number spelling and property order survive where JavaScript does not
//!   itself change them (integer-like property names come first, numbers are doubles);
//! - a refusal ([`OpError::Refused`]) is the script's to handle and changes nothing; an abort
//!   ([`OpError::Abort`]) ends the run at once, and the caller rolls back;
//! - nothing is committed here: the caller commits when the run answered `Ok`.

/// A document as a link named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentRef {
    /// By its id (`dbs/{name}/colls/{name}/docs/{id}`).
    Id(String),
    /// By its resource id (`dbs/{rid}/colls/{rid}/docs/{rid}/`, the `_self` of a document).
    Rid(String),
}

/// Whether a write asks for indexing other than the container's policy says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IndexAction {
    #[default]
    Default,
    Include,
    Exclude,
}

/// Options of create, upsert and replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    pub index_action: IndexAction,
    /// The write is refused with 412 unless this is the document's current ETag.
    pub etag: Option<String>,
    /// Refuse a body without an id instead of making one (create, upsert).
    pub disable_automatic_id: bool,
}

/// Which page of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Rows at most; `None` leaves it to the implementer.
    pub size: Option<u32>,
    /// What an earlier page answered.
    pub continuation: Option<String>,
}

/// A query over the logical partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub text: String,
    /// JSON array of `{"name", "value"}`.
    pub parameters: Option<String>,
}

/// A page of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// JSON array of the rows.
    pub rows: String,
    /// Where the next page begins, if there is one.
    pub continuation: Option<String>,
}

/// Answer to a point read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// The document's JSON text, system properties included.
    Found(String),
    /// Its ETag is the one given in `if_none_match`.
    NotModified,
}

/// Answer to a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The document's JSON text as written, system properties included.
    pub document: String,
    /// False if an upsert replaced an existing document.
    pub created: bool,
}

/// Size of the container, as scripts are told it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeMb {
    pub current: u64,
    pub max: u64,
}

/// Why an operation did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// Handed to the script's callback as `{number, body}`, or thrown if it gave none.
    #[error("operation refused with {number}: {message}")]
    Refused { number: u16, message: String },
    /// Ends the run with this answer, whatever the script would do about it.
    #[error("run ended with {status}/{substatus}: {message}")]
    Abort { status: u16, substatus: u32, message: String },
}

impl OpError {
    pub fn refused(number: u16, message: impl Into<String>) -> Self {
        Self::Refused { number, message: message.into() }
    }
}

/// What a script may do to the one logical partition it runs in; see the module for the contract.
pub trait Collection {
    /// `dbs/{rid}/colls/{rid}/`
    fn self_link(&self) -> &str;
    /// `dbs/{id}/colls/{id}`
    fn alt_link(&self) -> &str;

    fn read(&mut self, document: &DocumentRef, if_none_match: Option<&str>) -> Result<Read, OpError>;
    fn list(&mut self, page: &PageRequest) -> Result<Page, OpError>;
    fn query(&mut self, query: &Query, page: &PageRequest) -> Result<Page, OpError>;
    fn create(&mut self, body: &str, options: &WriteOptions) -> Result<Written, OpError>;
    fn upsert(&mut self, body: &str, options: &WriteOptions) -> Result<Written, OpError>;
    fn replace(&mut self, document: &DocumentRef, body: &str, options: &WriteOptions) -> Result<Written, OpError>;
    fn delete(&mut self, document: &DocumentRef, etag: Option<&str>) -> Result<(), OpError>;

    /// False once the budget of the request is used up: the script's next calls answer
    /// `isAccepted = false`. Asked after every operation.
    fn accepts_more(&self) -> bool;

    fn size_mb(&self) -> SizeMb {
        SizeMb::default()
    }
}
