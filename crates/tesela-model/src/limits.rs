//! Every limit of the product, in one place, each with its unit last and its origin.
//!
//! "Service limit" means the published limit of Azure Cosmos DB for NoSQL, which clients are written
//! against; the others are ours and say why.

/// JSON nesting an item may have (service limit). Also bounds the recursion of our own parsers.
pub const DOCUMENT_DEPTH_MAX: usize = 128;
/// Item size as UTF-8 JSON with its system properties (service limit); larger is 413.
pub const DOCUMENT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Item id (service limit).
pub const ITEM_ID_BYTES_MAX: usize = 1023;
/// Names of databases, containers, users, permissions and scripts (service limit).
pub const RESOURCE_NAME_CHARS_MAX: usize = 255;
/// Partition key value (service limit). Version 1 containers take it too, but their hash sees the first 101 bytes only.
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
/// Levels of a hierarchical partition key (service limit).
pub const PARTITION_KEY_LEVELS_MAX: usize = 3;
/// Operations in one patch (service limit).
pub const PATCH_OPERATIONS_MAX: usize = 10;
/// Operations in one batch (service limit).
pub const BATCH_OPERATIONS_MAX: usize = 100;
/// Body of a batch (service limit).
pub const BATCH_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Body of any request. Ours: an item at its limit with every character escaped as `\uXXXX`.
pub const REQUEST_BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Query text (service limit, `maxSqlQueryInputLength`).
pub const QUERY_TEXT_BYTES_MAX: usize = 512 * 1024;
/// A page of a feed or query result (service limit).
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Items in a page of a feed when the client leaves the size to the server (service default).
pub const FEED_PAGE_ITEMS_DEFAULT: usize = 100;
/// Items in a page of a query when the client leaves the size to the server. Ours: the byte limit
/// ends most pages first.
pub const QUERY_PAGE_ITEMS_DEFAULT: usize = 1000;
/// Paths a policy may include, and may exclude (service limit).
pub const INDEX_PATHS_MAX: usize = 1500;
/// Properties of one composite index, and composite indexes of a container (service limits).
pub const COMPOSITE_PATHS_MAX: usize = 8;
pub const COMPOSITE_INDEXES_MAX: usize = 100;
/// Unique key constraints of a container and paths in each (service limits).
pub const UNIQUE_KEYS_MAX: usize = 10;
pub const UNIQUE_KEY_PATHS_MAX: usize = 16;
/// Computed properties of a container (service limit).
pub const COMPUTED_PROPERTIES_MAX: usize = 20;
/// Vector dimensions: in a flat index, and in the quantized kinds (service limits).
pub const VECTOR_DIMENSIONS_FLAT_MAX: u64 = 505;
pub const VECTOR_DIMENSIONS_MAX: u64 = 4096;
/// Vector dimensions when an embedding does not say (service default).
pub const VECTOR_DIMENSIONS_DEFAULT: u32 = 1536;
/// Bytes a quantized vector takes; also at most one per dimension (service limit).
pub const VECTOR_QUANTIZATION_BYTES_MAX: i64 = 512;
/// Candidates looked at while a vector index is built (service limits).
pub const VECTOR_SEARCH_LIST_SIZE_MIN: i64 = 25;
pub const VECTOR_SEARCH_LIST_SIZE_MAX: i64 = 500;
/// Paths a vector index is sharded by (service limit).
pub const VECTOR_SHARD_PATHS_MAX: usize = 1;
/// Stored procedures and user-defined functions of a container (service limits). Triggers have no published limit;
/// ours is that of procedures.
pub const CONTAINER_PROCEDURES_MAX: usize = 100;
pub const CONTAINER_FUNCTIONS_MAX: usize = 50;
pub const CONTAINER_TRIGGERS_MAX: usize = 100;
/// Writes of one run of a script, and bytes of the items it wrote; beyond either it is told to go on in another run.
/// Ours: the commit of so much holds up the other writes of its physical partition for a moment only.
pub const SCRIPT_WRITES_MAX: usize = 5_000;
pub const SCRIPT_WRITTEN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Largest time to live, in seconds (service limit).
pub const TTL_SECONDS_MAX: i64 = 2_147_483_647;
/// Manual throughput of a container or database (service limits).
pub const THROUGHPUT_MIN_RU: u32 = 400;
pub const THROUGHPUT_STEP_RU: u32 = 100;
pub const THROUGHPUT_MAX_RU: u32 = 1_000_000;
/// Autoscale maximum (service limits); it scales down to a tenth of it.
pub const AUTOSCALE_MIN_RU: u32 = 1000;
pub const AUTOSCALE_STEP_RU: u32 = 1000;
/// Containers that share a database's throughput before each further one raises its minimum (service limits).
pub const SHARED_CONTAINERS_FREE: u32 = 25;
pub const SHARED_CONTAINER_RU: u32 = 100;
/// Throughput a new container puts on one physical partition at most. The service creates
/// ceil(RU / 6,000) partitions; the official SDKs' own tests count them.
pub const PARTITION_INITIAL_RU: u32 = 6_000;
/// Throughput a physical partition can be given (service limit); more forces a split.
pub const PARTITION_RU_MAX: u32 = 10_000;
/// Highest id of a physical partition. Ours: item RIDs leave 20 bits for the partition an item was born in.
pub const PARTITION_ID_MAX: u32 = (1 << 20) - 1;
/// Physical partitions a container can be created with. Ours: each has a key space that is made one by one.
pub const CONTAINER_PARTITIONS_MAX: u32 = 16_384;
/// Bytes of a physical partition (service limit); more forces a split.
pub const PARTITION_BYTES_MAX: u64 = 50 * 1024 * 1024 * 1024;
/// Bytes of a logical partition (service limit); more is 403/1014.
pub const LOGICAL_PARTITION_BYTES_MAX: u64 = 20 * 1024 * 1024 * 1024;
/// Continuation token, in bytes: the JavaScript SDK asks for at most 1 KB on every request.
pub const CONTINUATION_BYTES_MAX: usize = 1024;
/// Life of a resource token, when the request does not say and when it does (service limits).
pub const RESOURCE_TOKEN_SECONDS_DEFAULT: u64 = 60 * 60;
pub const RESOURCE_TOKEN_SECONDS_MIN: u64 = 10 * 60;
pub const RESOURCE_TOKEN_SECONDS_MAX: u64 = 24 * 60 * 60;
/// Difference between the date of a signed request and our clock (service limit).
pub const CLOCK_SKEW_SECONDS_MAX: i64 = 15 * 60;
/// A session's wait inside a page of a query before it is cut, in milliseconds (service limit: 5 s
/// an operation; ours leaves room for the answer).
pub const QUERY_SLICE_MS_MAX: u64 = 4_000;

const _: () = assert!(REQUEST_BODY_BYTES_MAX > 6 * DOCUMENT_BYTES_MAX, "an escaped item must fit a request");
const _: () = assert!(BATCH_BYTES_MAX >= DOCUMENT_BYTES_MAX, "a batch of one must fit");
const _: () = assert!(PAGE_BYTES_MAX >= 2 * DOCUMENT_BYTES_MAX, "a page must hold an item");
const _: () = assert!(PARTITION_INITIAL_RU < PARTITION_RU_MAX, "a new partition must have room to grow");
