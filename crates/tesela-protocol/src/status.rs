//! Status and sub-status: the numbers clients act on.
//!
//! Clients retry, refresh caches or give up by the pair (HTTP status, `x-ms-substatus`), never by the
//! text. The same sub-status means different things under different statuses (1002 is "session not yet
//! here" under 404 and "range gone" under 410), so each meaning has a name of its own here.
//!
//! Absent on purpose: the sub-statuses 10001–10006 and 20000–21015, which clients make up for
//! themselves and a server must never send.

/// An HTTP status this server answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Ok,
    Created,
    Accepted,
    NoContent,
    MultiStatus,
    NotModified,
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    Conflict,
    Gone,
    PreconditionFailed,
    RequestEntityTooLarge,
    UriTooLong,
    Locked,
    FailedDependency,
    TooManyRequests,
    RequestHeadersTooLarge,
    RetryWith,
    InternalServerError,
    NotImplemented,
    ServiceUnavailable,
}

impl Status {
    pub const ALL: [Status; 25] = [
        Status::Ok,
        Status::Created,
        Status::Accepted,
        Status::NoContent,
        Status::MultiStatus,
        Status::NotModified,
        Status::BadRequest,
        Status::Unauthorized,
        Status::Forbidden,
        Status::NotFound,
        Status::MethodNotAllowed,
        Status::RequestTimeout,
        Status::Conflict,
        Status::Gone,
        Status::PreconditionFailed,
        Status::RequestEntityTooLarge,
        Status::UriTooLong,
        Status::Locked,
        Status::FailedDependency,
        Status::TooManyRequests,
        Status::RequestHeadersTooLarge,
        Status::RetryWith,
        Status::InternalServerError,
        Status::NotImplemented,
        Status::ServiceUnavailable,
    ];

    pub const fn number(self) -> u16 {
        self.entry().0
    }

    /// The `code` of an error body.
    pub const fn code_word(self) -> &'static str {
        self.entry().1
    }

    pub const fn is_error(self) -> bool {
        self.number() >= 400
    }

    /// The status of a number, when it is one of ours.
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.number() == number)
    }

    const fn entry(self) -> (u16, &'static str) {
        match self {
            Status::Ok => (200, "Ok"),
            Status::Created => (201, "Created"),
            Status::Accepted => (202, "Accepted"),
            Status::NoContent => (204, "NoContent"),
            Status::MultiStatus => (207, "MultiStatus"),
            Status::NotModified => (304, "NotModified"),
            Status::BadRequest => (400, "BadRequest"),
            Status::Unauthorized => (401, "Unauthorized"),
            Status::Forbidden => (403, "Forbidden"),
            Status::NotFound => (404, "NotFound"),
            Status::MethodNotAllowed => (405, "MethodNotAllowed"),
            Status::RequestTimeout => (408, "RequestTimeout"),
            Status::Conflict => (409, "Conflict"),
            Status::Gone => (410, "Gone"),
            Status::PreconditionFailed => (412, "PreconditionFailed"),
            Status::RequestEntityTooLarge => (413, "RequestEntityTooLarge"),
            Status::UriTooLong => (414, "RequestUriTooLong"),
            Status::Locked => (423, "Locked"),
            Status::FailedDependency => (424, "FailedDependency"),
            // The service names this one by its number.
            Status::TooManyRequests => (429, "429"),
            Status::RequestHeadersTooLarge => (431, "RequestHeaderFieldsTooLarge"),
            Status::RetryWith => (449, "RetryWith"),
            Status::InternalServerError => (500, "InternalServerError"),
            Status::NotImplemented => (501, "NotImplemented"),
            Status::ServiceUnavailable => (503, "ServiceUnavailable"),
        }
    }
}

/// The value of `x-ms-substatus`. [`SubStatus::NONE`] is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct SubStatus(pub u32);

impl SubStatus {
    pub const NONE: SubStatus = SubStatus(0);

    // 400
    /// The partition key of the header does not match the definition or the item.
    pub const PARTITION_KEY_MISMATCH: SubStatus = SubStatus(1001);
    /// A cross-partition query the gateway leaves to the client to run range by range.
    pub const CROSS_PARTITION_QUERY_NOT_SERVABLE: SubStatus = SubStatus(1004);
    /// A container without a partition key definition.
    pub const PARTITION_KEY_DEFINITION_MISSING: SubStatus = SubStatus(1013);
    /// The container was created anew since the client looked at it.
    pub const COLLECTION_RID_MISMATCH: SubStatus = SubStatus(1024);
    /// Another change of the same throughput is still running.
    pub const OFFER_REPLACE_RUNNING: SubStatus = SubStatus(3205);
    pub const SCRIPT_COMPILE_ERROR: SubStatus = SubStatus(65_535);

    // 401
    pub const AUTHORIZATION_MISSING: SubStatus = SubStatus(5000);
    pub const AUTHORIZATION_MALFORMED: SubStatus = SubStatus(5001);
    pub const AAD_TOKEN_EXPIRED: SubStatus = SubStatus(5006);
    pub const AAD_WRONG_ISSUER: SubStatus = SubStatus(5007);
    pub const KEY_AUTHORIZATION_DISABLED: SubStatus = SubStatus(5202);

    // 403
    /// A write reached a region that takes none.
    pub const WRITE_FORBIDDEN: SubStatus = SubStatus(3);
    pub const STORAGE_LIMIT_REACHED: SubStatus = SubStatus(1005);
    /// The account or region is gone.
    pub const ACCOUNT_NOT_FOUND: SubStatus = SubStatus(1008);
    pub const SHARED_THROUGHPUT_QUOTA: SubStatus = SubStatus(1010);
    /// A logical partition at its size limit (R11).
    pub const LOGICAL_PARTITION_FULL: SubStatus = SubStatus(1014);
    pub const SHARED_THROUGHPUT_CONTAINERS: SubStatus = SubStatus(1019);
    pub const SHARED_THROUGHPUT_DATABASES: SubStatus = SubStatus(1020);
    pub const ACCOUNT_THROUGHPUT_CAP: SubStatus = SubStatus(1028);
    pub const PARTITION_KEY_DELETES_TOO_MANY: SubStatus = SubStatus(1032);
    pub const RBAC_DENIED: SubStatus = SubStatus(5300);

    // 404
    /// The replica has not yet reached the session token of the request.
    pub const READ_SESSION_NOT_AVAILABLE: SubStatus = SubStatus(1002);
    /// The container or database the request goes through does not exist.
    pub const OWNER_NOT_FOUND: SubStatus = SubStatus(1003);
    pub const COLLECTION_CREATE_RUNNING: SubStatus = SubStatus(1013);

    // 409
    pub const CONTROL_PLANE_CONFLICT: SubStatus = SubStatus(1006);
    pub const DATABASE_NAME_EXISTS: SubStatus = SubStatus(3206);
    pub const UNIQUE_KEY_VIOLATION: SubStatus = SubStatus(3301);
    /// Two partition keys with the same hash.
    pub const EPK_COLLISION: SubStatus = SubStatus(3302);

    // 410
    /// The client's name cache is stale.
    pub const NAME_CACHE_STALE: SubStatus = SubStatus(1000);
    /// The partition key range was split or merged away.
    pub const PARTITION_KEY_RANGE_GONE: SubStatus = SubStatus(1002);
    pub const COMPLETING_SPLIT: SubStatus = SubStatus(1007);
    pub const COMPLETING_MIGRATION: SubStatus = SubStatus(1008);
    pub const LEASE_NOT_FOUND: SubStatus = SubStatus(1022);

    // 412
    /// The condition of a patch is false.
    pub const PATCH_CONDITION_FALSE: SubStatus = SubStatus(1110);

    // 413
    /// The answer to a batch would be too large.
    pub const BATCH_RESPONSE_TOO_LARGE: SubStatus = SubStatus(3402);

    // 429
    pub const SCRIPT_CONCURRENCY: SubStatus = SubStatus(3084);
    pub const SPLIT_THROTTLED: SubStatus = SubStatus(3088);
    pub const SYSTEM_RESOURCE_UNAVAILABLE: SubStatus = SubStatus(3092);
    /// The partition has used up its request units (R15).
    pub const RU_BUDGET_EXCEEDED: SubStatus = SubStatus(3200);
    pub const MASTER_PARTITION_THROTTLED: SubStatus = SubStatus(3210);
    pub const THROUGHPUT_BUCKET_EXCEEDED: SubStatus = SubStatus(3212);
    pub const HOT_PARTITION_KEY: SubStatus = SubStatus(3214);

    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete_ordered_and_reversible() {
        let numbers: Vec<u16> = Status::ALL.iter().map(|status| status.number()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        for status in Status::ALL {
            assert_eq!(Status::from_number(status.number()), Some(status));
            assert_eq!(status.is_error(), status.number() >= 400);
            assert!(status.code_word().bytes().all(|b| b.is_ascii_alphanumeric()));
        }
        assert_eq!(Status::from_number(418), None);
    }
}
