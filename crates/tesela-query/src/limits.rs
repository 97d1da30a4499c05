//! What one query may use. Limits shared with other crates live in `tesela_model::limits`.

/// Largest string a function may build, in bytes. Ours: an item at its limit holds no longer one, and a page no more.
pub const TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Largest array a function may build, in elements. Ours, for the same reason: `1,` is two bytes of an item.
pub const ARRAY_ELEMENTS_MAX: usize = 1024 * 1024;
/// Steps one document may cost: rows a JOIN considers and elements a function visits. Ours: a cross product of three
/// arrays of two hundred elements fits, one of three arrays of a thousand does not.
pub const DOCUMENT_STEPS_MAX: u64 = 10_000_000;
/// Bytes of rows, keys and groups one execution may hold until it can answer. Ours: what a small server can spare
/// for one query.
pub const BUFFERED_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Compiled size of a regular expression, in bytes. Ours: some thousand characters of pattern.
pub const REGEX_BYTES_MAX: usize = 1024 * 1024;
/// Patterns kept compiled when a query takes them from its documents. Ours.
pub const REGEX_CACHE_ENTRIES_MAX: usize = 64;
/// References to user-defined functions in one query (service limit, SC3005).
pub const UDF_CALLS_MAX: usize = 10;
/// JOINs of one FROM clause (service limit). Also bounds the recursion of walking sources.
pub const JOINS_MAX: usize = 10;
/// Properties of one object constructor or SELECT list. Ours: names are compared pairwise.
pub const MEMBERS_MAX: usize = 4096;
/// Keys of one GROUP BY. Ours: every SELECT expression is compared with each.
pub const GROUP_KEYS_MAX: usize = 64;
