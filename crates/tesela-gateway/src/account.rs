//! The account: what `GET /` tells every client first.

use crate::handlers::session::Consistency;
use tesela_model::json::{Object, Value, to_string};

/// How far bounded staleness may lag, in writes and in seconds. The least the service lets an account of one region
/// promise; here nothing lags at all.
const STALENESS_WRITES_MAX: i64 = 10;
const STALENESS_SECONDS_MAX: i64 = 5;

/// Properties of the one account a server is.
#[derive(Clone, Debug)]
pub struct Account {
    pub id: String,
    pub region: String,
    /// What reads get when they do not ask for less.
    pub consistency: Consistency,
}

impl Default for Account {
    fn default() -> Self {
        Self { id: "tesela".to_owned(), region: "Local".to_owned(), consistency: Consistency::Session }
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().collect::<Object>())
}

/// Limits of the query engine, by the names clients' own engines read. A string that holds JSON.
fn query_engine_configuration() -> String {
    const UNLIMITED: i64 = 2_147_483_647;
    let numbers = [
        ("maxSqlQueryInputLength", 524_288),
        ("maxJoinsPerSqlQuery", 10),
        ("maxLogicalAndPerSqlQuery", UNLIMITED),
        ("maxLogicalOrPerSqlQuery", UNLIMITED),
        ("maxUdfRefPerSqlQuery", 10),
        ("maxInExpressionItemsCount", UNLIMITED),
        ("queryMaxInMemorySortDocumentCount", -1000),
        ("maxSpatialQueryCells", UNLIMITED),
        ("spatialMaxGeometryPointCount", 256),
        ("sqlDisableOptimizationFlags", 0),
    ];
    let flags = [
        ("sqlAllowNonFiniteNumbers", false),
        ("sqlAllowAggregateFunctions", true),
        ("sqlAllowSubQuery", true),
        ("sqlAllowScalarSubQuery", true),
        ("sqlAllowTop", true),
        ("sqlAllowLike", true),
        ("sqlAllowGroupByClause", true),
        ("allowNewKeywords", true),
        ("enableSpatialIndexing", true),
        ("clientDisableOptimisticDirectExecution", false),
    ];
    let mut settings: Object = numbers.into_iter().collect();
    flags.into_iter().for_each(|(name, flag)| drop(settings.insert(name, flag)));
    settings.insert("maxQueryRequestTimeoutFraction", 0.9);
    to_string(&Value::Object(settings))
}

impl Account {
    /// The account document for a client that reached us at `endpoint`: it will send all data requests there.
    pub fn to_json(&self, endpoint: &str) -> String {
        let location = || {
            let here = object([("name", self.region.as_str().into()), ("databaseAccountEndpoint", endpoint.into())]);
            Value::Array(vec![here])
        };
        let level = self.consistency.name().into();
        let consistency = match self.consistency {
            Consistency::BoundedStaleness => object([
                ("defaultConsistencyLevel", level),
                ("maxStalenessPrefix", STALENESS_WRITES_MAX.into()),
                ("maxIntervalInSeconds", STALENESS_SECONDS_MAX.into()),
            ]),
            _ => object([("defaultConsistencyLevel", level)]),
        };
        to_string(&object([
            ("_self", "".into()),
            ("id", self.id.as_str().into()),
            ("_rid", format!("{}.sql.cosmos.azure.com", self.id).into()),
            ("media", "//media/".into()),
            ("addresses", "//addresses/".into()),
            ("_dbs", "//dbs/".into()),
            ("writableLocations", location()),
            ("readableLocations", location()),
            ("enableMultipleWriteLocations", false.into()),
            ("continuousBackupEnabled", false.into()),
            ("enableNRegionSynchronousCommit", false.into()),
            ("enablePerPartitionFailoverBehavior", false.into()),
            ("disableCrossRegionalHedging", false.into()),
            (
                "userReplicationPolicy",
                object([
                    ("asyncReplication", false.into()),
                    ("minReplicaSetSize", 1.into()),
                    ("maxReplicasetSize", 4.into()),
                ]),
            ),
            ("userConsistencyPolicy", consistency),
            ("systemReplicationPolicy", object([("minReplicaSetSize", 1.into()), ("maxReplicasetSize", 4.into())])),
            ("readPolicy", object([("primaryReadCoefficient", 1.into()), ("secondaryReadCoefficient", 1.into())])),
            ("queryEngineConfiguration", query_engine_configuration().into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tesela_model::json::parse;

    #[test]
    fn the_document_advertises_the_endpoint_it_was_asked_at() {
        let document = parse(Account::default().to_json("http://db:8081/").as_bytes()).unwrap();
        let location = &document.get("writableLocations").unwrap().as_array().unwrap()[0];
        assert_eq!(location.get("databaseAccountEndpoint").unwrap().as_str(), Some("http://db:8081/"));
        let engine = document.get("queryEngineConfiguration").unwrap().as_str().unwrap();
        assert_eq!(parse(engine.as_bytes()).unwrap().get("maxSqlQueryInputLength").unwrap().as_i64(), Some(524_288));
        assert!(document.get("_etag").is_none());
    }

    #[test]
    fn the_document_tells_the_default_level() {
        let policy = |consistency| {
            let account = Account { consistency, ..Account::default() };
            parse(account.to_json("http://db/").as_bytes()).unwrap().get("userConsistencyPolicy").unwrap().clone()
        };
        assert_eq!(policy(Consistency::Strong), parse(br#"{"defaultConsistencyLevel":"Strong"}"#).unwrap());
        let bounded = policy(Consistency::BoundedStaleness);
        assert_eq!(bounded.get("maxIntervalInSeconds").and_then(Value::as_i64), Some(STALENESS_SECONDS_MAX));
    }
}
