//! Header names of the protocol, and typed reading of their values.
//!
//! Names are statics, so that looking one up or inserting it neither parses nor allocates. Values
//! differ in spelling between SDKs: booleans come as `true`, `True` and `TRUE`, numbers may carry
//! blanks. A value that cannot be read is an error that names the header, never a silent default.
//!
//! Headers this server ignores are listed too, where a client is known to send them: their presence
//! must never fail a request.

use std::str::FromStr;

use http::{HeaderMap, HeaderName};

/// A header has a value it cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value of header {name} is not {expected}")]
pub struct HeaderError {
    pub name: HeaderName,
    pub expected: &'static str,
}

impl HeaderError {
    pub fn new(name: &HeaderName, expected: &'static str) -> Self {
        Self { name: name.clone(), expected }
    }
}

/// The value of a header as text; an absent header is `None`.
pub fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, HeaderError> {
    match headers.get(name) {
        None => Ok(None),
        // Not `to_str`, which refuses everything outside ASCII: some proxies pass UTF-8 through.
        Some(value) => match std::str::from_utf8(value.as_bytes()) {
            Ok(text) => Ok(Some(text.trim_ascii())),
            Err(_) => Err(HeaderError::new(name, "UTF-8 text")),
        },
    }
}

/// A boolean header; an absent one is false.
pub fn flag(headers: &HeaderMap, name: &HeaderName) -> Result<bool, HeaderError> {
    Ok(optional_flag(headers, name)?.unwrap_or(false))
}

/// A boolean header whose absence means something of its own.
pub fn optional_flag(headers: &HeaderMap, name: &HeaderName) -> Result<Option<bool>, HeaderError> {
    match text(headers, name)? {
        None => Ok(None),
        Some(value) if value.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(value) if value.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(_) => Err(HeaderError::new(name, "true or false")),
    }
}

/// A numeric header; an absent one is `None`.
pub fn number<N: FromStr>(headers: &HeaderMap, name: &HeaderName) -> Result<Option<N>, HeaderError> {
    match text(headers, name)? {
        None => Ok(None),
        Some(value) => value.parse().map(Some).map_err(|_| HeaderError::new(name, "a number in range")),
    }
}

// Requests.

/// Who signs the request.
pub static AUTHORIZATION: HeaderName = HeaderName::from_static("authorization");
/// When it was signed.
pub static X_MS_DATE: HeaderName = HeaderName::from_static("x-ms-date");
/// When it was signed, where `x-ms-date` is absent.
pub static DATE: HeaderName = HeaderName::from_static("date");
/// Protocol version the client speaks.
pub static VERSION: HeaderName = HeaderName::from_static("x-ms-version");
/// Id of one exchange, echoed or made up; also on every response.
pub static ACTIVITY_ID: HeaderName = HeaderName::from_static("x-ms-activity-id");
pub static CLIENT_ID: HeaderName = HeaderName::from_static("x-ms-client-id");
/// Bit field: 1 merge, 2 change feed start time after merge, 4 throughput buckets, 8 unknown tokens.
pub static SDK_CAPABILITIES: HeaderName = HeaderName::from_static("x-ms-cosmos-sdk-supportedcapabilities");
pub static USER_AGENT: HeaderName = HeaderName::from_static("x-ms-useragent");
pub static CONSISTENCY_LEVEL: HeaderName = HeaderName::from_static("x-ms-consistency-level");
pub static READ_CONSISTENCY_STRATEGY: HeaderName = HeaderName::from_static("x-ms-cosmos-read-consistency-strategy");
/// Also on responses.
pub static SESSION_TOKEN: HeaderName = HeaderName::from_static("x-ms-session-token");
/// JSON array.
pub static PARTITION_KEY: HeaderName = HeaderName::from_static("x-ms-documentdb-partitionkey");
/// One physical range; also on responses.
pub static PARTITION_KEY_RANGE_ID: HeaderName = HeaderName::from_static("x-ms-documentdb-partitionkeyrangeid");
/// Inclusive.
pub static START_EPK: HeaderName = HeaderName::from_static("x-ms-start-epk");
/// Exclusive.
pub static END_EPK: HeaderName = HeaderName::from_static("x-ms-end-epk");
/// How to read the two above.
pub static READ_KEY_TYPE: HeaderName = HeaderName::from_static("x-ms-read-key-type");
/// The container the client believes in.
pub static INTENDED_COLLECTION_RID: HeaderName = HeaderName::from_static("x-ms-cosmos-intended-collection-rid");
pub static COLLECTION_RID: HeaderName = HeaderName::from_static("x-ms-documentdb-collection-rid");
pub static IF_MATCH: HeaderName = HeaderName::from_static("if-match");
pub static IF_NONE_MATCH: HeaderName = HeaderName::from_static("if-none-match");
pub static IF_MODIFIED_SINCE: HeaderName = HeaderName::from_static("if-modified-since");
/// Change feed mode.
pub static A_IM: HeaderName = HeaderName::from_static("a-im");
/// `return=minimal` asks for no body.
pub static PREFER: HeaderName = HeaderName::from_static("prefer");
pub static POPULATE_CONTENT_RESPONSE: HeaderName =
    HeaderName::from_static("x-ms-cosmos-populate-content-response-on-write");
pub static IS_UPSERT: HeaderName = HeaderName::from_static("x-ms-documentdb-is-upsert");
pub static INDEXING_DIRECTIVE: HeaderName = HeaderName::from_static("x-ms-indexing-directive");
pub static PRE_TRIGGER_INCLUDE: HeaderName = HeaderName::from_static("x-ms-documentdb-pre-trigger-include");
pub static PRE_TRIGGER_EXCLUDE: HeaderName = HeaderName::from_static("x-ms-documentdb-pre-trigger-exclude");
pub static POST_TRIGGER_INCLUDE: HeaderName = HeaderName::from_static("x-ms-documentdb-post-trigger-include");
pub static POST_TRIGGER_EXCLUDE: HeaderName = HeaderName::from_static("x-ms-documentdb-post-trigger-exclude");
/// Page size; -1 leaves it to the server.
pub static MAX_ITEM_COUNT: HeaderName = HeaderName::from_static("x-ms-max-item-count");
/// Also on responses, where more results exist.
pub static CONTINUATION: HeaderName = HeaderName::from_static("x-ms-continuation");
pub static CONTINUATION_LIMIT_KB: HeaderName =
    HeaderName::from_static("x-ms-documentdb-responsecontinuationtokenlimitinkb");
/// Marks a query, in most SDKs.
pub static IS_QUERY: HeaderName = HeaderName::from_static("x-ms-documentdb-isquery");
/// Marks a query, in the Go SDK.
pub static QUERY: HeaderName = HeaderName::from_static("x-ms-documentdb-query");
pub static ENABLE_CROSS_PARTITION: HeaderName = HeaderName::from_static("x-ms-documentdb-query-enablecrosspartition");
pub static PARALLELIZE_CROSS_PARTITION: HeaderName =
    HeaderName::from_static("x-ms-documentdb-query-parallelizecrosspartitionquery");
pub static ENABLE_SCAN: HeaderName = HeaderName::from_static("x-ms-documentdb-query-enable-scan");
pub static FORCE_SCAN: HeaderName = HeaderName::from_static("x-ms-documentdb-force-query-scan");
pub static LOW_PRECISION_ORDER_BY: HeaderName =
    HeaderName::from_static("x-ms-documentdb-query-enable-low-precision-order-by");
pub static CONTINUATION_EXPECTED: HeaderName = HeaderName::from_static("x-ms-documentdb-query-iscontinuationexpected");
pub static POPULATE_QUERY_METRICS: HeaderName = HeaderName::from_static("x-ms-documentdb-populatequerymetrics");
/// Base64 form.
pub static POPULATE_INDEX_METRICS: HeaderName = HeaderName::from_static("x-ms-cosmos-populateindexmetrics");
/// Percent-encoded form.
pub static POPULATE_INDEX_METRICS_V2: HeaderName = HeaderName::from_static("x-ms-cosmos-populateindexmetrics-v2");
pub static POPULATE_QUERY_ADVICE: HeaderName = HeaderName::from_static("x-ms-cosmos-populatequeryadvice");
pub static IS_QUERY_PLAN: HeaderName = HeaderName::from_static("x-ms-cosmos-is-query-plan-request");
pub static SUPPORTED_QUERY_FEATURES: HeaderName = HeaderName::from_static("x-ms-cosmos-supported-query-features");
pub static QUERY_VERSION: HeaderName = HeaderName::from_static("x-ms-cosmos-query-version");
pub static OPTIMISTIC_DIRECT_EXECUTE: HeaderName = HeaderName::from_static("x-ms-cosmos-query-optimisticdirectexecute");
pub static CORRELATED_ACTIVITY_ID: HeaderName = HeaderName::from_static("x-ms-cosmos-correlated-activityid");
pub static IS_BATCH: HeaderName = HeaderName::from_static("x-ms-cosmos-is-batch-request");
pub static BATCH_ATOMIC: HeaderName = HeaderName::from_static("x-ms-cosmos-batch-atomic");
pub static BATCH_ORDERED: HeaderName = HeaderName::from_static("x-ms-cosmos-batch-ordered");
pub static BATCH_CONTINUE_ON_ERROR: HeaderName = HeaderName::from_static("x-ms-cosmos-batch-continue-on-error");
pub static OFFER_THROUGHPUT: HeaderName = HeaderName::from_static("x-ms-offer-throughput");
pub static OFFER_AUTOPILOT: HeaderName = HeaderName::from_static("x-ms-cosmos-offer-autopilot-settings");
pub static OFFER_TYPE: HeaderName = HeaderName::from_static("x-ms-offer-type");
pub static MIGRATE_TO_AUTOPILOT: HeaderName = HeaderName::from_static("x-ms-cosmos-migrate-offer-to-autopilot");
pub static MIGRATE_TO_MANUAL: HeaderName = HeaderName::from_static("x-ms-cosmos-migrate-offer-to-manual-throughput");
pub static POPULATE_QUOTA_INFO: HeaderName = HeaderName::from_static("x-ms-documentdb-populatequotainfo");
pub static POPULATE_PARTITION_STATISTICS: HeaderName =
    HeaderName::from_static("x-ms-documentdb-populatepartitionstatistics");
/// Life of a resource token.
pub static TOKEN_EXPIRY_SECONDS: HeaderName = HeaderName::from_static("x-ms-documentdb-expiry-seconds");
pub static SCRIPT_ENABLE_LOGGING: HeaderName = HeaderName::from_static("x-ms-documentdb-script-enable-logging");
pub static ALLOW_TENTATIVE_WRITES: HeaderName = HeaderName::from_static("x-ms-cosmos-allow-tentative-writes");
pub static PRIORITY_LEVEL: HeaderName = HeaderName::from_static("x-ms-cosmos-priority-level");
pub static THROUGHPUT_BUCKET: HeaderName = HeaderName::from_static("x-ms-cosmos-throughput-bucket");
pub static NO_RETRY_449: HeaderName = HeaderName::from_static("x-ms-noretry-449");
pub static CACHE_MAX_AGE: HeaderName = HeaderName::from_static("x-ms-dedicatedgateway-max-age");
pub static CACHE_BYPASS: HeaderName = HeaderName::from_static("x-ms-dedicatedgateway-bypass-cache");
pub static CACHE_SHARD_KEY: HeaderName = HeaderName::from_static("x-ms-dedicatedgateway-shard-key");
pub static IS_CLIENT_ENCRYPTED: HeaderName = HeaderName::from_static("x-ms-cosmos-is-client-encrypted");
pub static ALLOW_CACHED_READS: HeaderName = HeaderName::from_static("x-ms-cosmos-allow-cachedreads");
pub static DATABASE_RID: HeaderName = HeaderName::from_static("x-ms-cosmos-database-rid");
pub static CHANGE_FEED_WIRE_FORMAT: HeaderName = HeaderName::from_static("x-ms-cosmos-changefeed-wire-format-version");
/// Bodies the client can read.
pub static SUPPORTED_SERIALIZATION: HeaderName = HeaderName::from_static("x-ms-cosmos-supported-serialization-formats");
pub static CONTENT_SERIALIZATION: HeaderName = HeaderName::from_static("x-ms-documentdb-content-serialization-format");
pub static HUB_REGION_ONLY: HeaderName = HeaderName::from_static("x-ms-cosmos-hub-region-processing-only");
pub static WORKLOAD_ID: HeaderName = HeaderName::from_static("x-ms-cosmos-workload-id");
pub static USE_THIN_CLIENT: HeaderName = HeaderName::from_static("x-ms-cosmos-use-thinclient");
pub static COLLECTION_TRUNCATE: HeaderName = HeaderName::from_static("x-ms-cosmos-collection-truncate");

// Responses.

/// Request units (R13).
pub static REQUEST_CHARGE: HeaderName = HeaderName::from_static("x-ms-request-charge");
/// Owner by names, percent-encoded.
pub static ALT_CONTENT_PATH: HeaderName = HeaderName::from_static("x-ms-alt-content-path");
/// Owner by RID.
pub static CONTENT_PATH: HeaderName = HeaderName::from_static("x-ms-content-path");
/// The address that answered.
pub static CONTENT_LOCATION: HeaderName = HeaderName::from_static("content-location");
pub static ETAG: HeaderName = HeaderName::from_static("etag");
pub static SUBSTATUS: HeaderName = HeaderName::from_static("x-ms-substatus");
pub static ITEM_COUNT: HeaderName = HeaderName::from_static("x-ms-item-count");
pub static RETRY_AFTER_MS: HeaderName = HeaderName::from_static("x-ms-retry-after-ms");
pub static LSN: HeaderName = HeaderName::from_static("lsn");
pub static SERVICE_VERSION: HeaderName = HeaderName::from_static("x-ms-serviceversion");
pub static GATEWAY_VERSION: HeaderName = HeaderName::from_static("x-ms-gatewayversion");
pub static SCHEMA_VERSION: HeaderName = HeaderName::from_static("x-ms-schemaversion");
pub static LAST_STATE_CHANGE: HeaderName = HeaderName::from_static("x-ms-last-state-change-utc");
pub static ITEM_LSN: HeaderName = HeaderName::from_static("x-ms-item-lsn");
pub static LLSN: HeaderName = HeaderName::from_static("x-ms-cosmos-llsn");
pub static ITEM_LLSN: HeaderName = HeaderName::from_static("x-ms-cosmos-item-llsn");
pub static QUORUM_ACKED_LSN: HeaderName = HeaderName::from_static("x-ms-quorum-acked-lsn");
pub static QUORUM_ACKED_LLSN: HeaderName = HeaderName::from_static("x-ms-cosmos-quorum-acked-llsn");
pub static GLOBAL_COMMITTED_LSN: HeaderName = HeaderName::from_static("x-ms-global-committed-lsn");
/// Read regions less one.
pub static READ_REGIONS: HeaderName = HeaderName::from_static("x-ms-number-of-read-regions");
pub static TRANSPORT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-transport-request-id");
pub static REQUEST_DURATION_MS: HeaderName = HeaderName::from_static("x-ms-request-duration-ms");
pub static XP_ROLE: HeaderName = HeaderName::from_static("x-ms-xp-role");
pub static WRITE_QUORUM: HeaderName = HeaderName::from_static("x-ms-current-write-quorum");
pub static REPLICA_SET_SIZE: HeaderName = HeaderName::from_static("x-ms-current-replica-set-size");
pub static COLLECTION_PARTITION_INDEX: HeaderName = HeaderName::from_static("collection-partition-index");
pub static COLLECTION_SERVICE_INDEX: HeaderName = HeaderName::from_static("collection-service-index");
pub static INTERNAL_PARTITION_ID: HeaderName = HeaderName::from_static("x-ms-cosmos-internal-partition-id");
pub static PHYSICAL_PARTITION_ID: HeaderName = HeaderName::from_static("x-ms-cosmos-physical-partition-id");
pub static PARTITION_KEY_DELETE_PENDING: HeaderName =
    HeaderName::from_static("x-ms-cosmos-is-partition-key-delete-pending");
pub static QUERY_EXECUTION_INFO: HeaderName = HeaderName::from_static("x-ms-cosmos-query-execution-info");
pub static QUERY_METRICS: HeaderName = HeaderName::from_static("x-ms-documentdb-query-metrics");
pub static INDEX_UTILIZATION: HeaderName = HeaderName::from_static("x-ms-cosmos-index-utilization");
pub static QUERY_ADVICE: HeaderName = HeaderName::from_static("x-ms-cosmos-query-advice");
pub static SCRIPT_LOG_RESULTS: HeaderName = HeaderName::from_static("x-ms-documentdb-script-log-results");
pub static RESOURCE_QUOTA: HeaderName = HeaderName::from_static("x-ms-resource-quota");
pub static RESOURCE_USAGE: HeaderName = HeaderName::from_static("x-ms-resource-usage");
pub static INDEX_PROGRESS: HeaderName =
    HeaderName::from_static("x-ms-documentdb-collection-index-transformation-progress");
pub static LAZY_INDEX_PROGRESS: HeaderName =
    HeaderName::from_static("x-ms-documentdb-collection-lazy-indexing-progress");
pub static OFFER_REPLACE_PENDING: HeaderName = HeaderName::from_static("x-ms-offer-replace-pending");
pub static MIN_THROUGHPUT: HeaderName = HeaderName::from_static("x-ms-cosmos-min-throughput");
pub static MAX_MEDIA_STORAGE_MB: HeaderName = HeaderName::from_static("x-ms-max-media-storage-usage-mb");
pub static MEDIA_STORAGE_MB: HeaderName = HeaderName::from_static("x-ms-media-storage-usage-mb");
pub static ACCOUNT_CONSUMED_MB: HeaderName = HeaderName::from_static("x-ms-databaseaccount-consumed-mb");
pub static ACCOUNT_RESERVED_MB: HeaderName = HeaderName::from_static("x-ms-databaseaccount-reserved-mb");
pub static ACCOUNT_PROVISIONED_MB: HeaderName = HeaderName::from_static("x-ms-databaseaccount-provisioned-mb");

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(value: &[u8]) -> HeaderMap {
        HeaderMap::from_iter([(IS_UPSERT.clone(), HeaderValue::from_bytes(value).unwrap())])
    }

    #[test]
    fn booleans_are_read_in_every_spelling_sdks_use() {
        for (value, expected) in [("true", true), ("True", true), ("TRUE", true), (" true ", true), ("False", false)] {
            assert_eq!(flag(&headers(value.as_bytes()), &IS_UPSERT), Ok(expected), "{value:?}");
        }
        assert_eq!(flag(&HeaderMap::new(), &IS_UPSERT), Ok(false));
        assert_eq!(optional_flag(&HeaderMap::new(), &IS_UPSERT), Ok(None));
        for value in ["", "1", "yes"] {
            let error = flag(&headers(value.as_bytes()), &IS_UPSERT).unwrap_err();
            assert_eq!(error.to_string(), "the value of header x-ms-documentdb-is-upsert is not true or false");
        }
    }

    #[test]
    fn numbers_are_read_in_their_own_range() {
        assert_eq!(number::<i32>(&headers(b"-1"), &IS_UPSERT), Ok(Some(-1)));
        assert_eq!(number::<u32>(&HeaderMap::new(), &IS_UPSERT), Ok(None));
        assert!(number::<u32>(&headers(b"-1"), &IS_UPSERT).is_err());
        assert!(number::<u8>(&headers(b"256"), &IS_UPSERT).is_err());
    }

    #[test]
    fn text_may_be_utf8_but_not_other_bytes() {
        assert_eq!(text(&headers("é".as_bytes()), &IS_UPSERT), Ok(Some("é")));
        assert!(text(&headers(b"\xff"), &IS_UPSERT).is_err());
    }
}
