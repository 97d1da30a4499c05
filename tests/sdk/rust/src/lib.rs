//! Where the server is, and databases of one's own on it, for the border tests of the Rust SDK.
//!
//! A test body runs inside [`border`]: it gets a [`World`] with a database nobody else has, and the
//! database is deleted afterwards, whether the body succeeded or not. A body that hangs fails after
//! [`TEST_SECONDS_MAX`], since a client that spins for ever is one of the faults looked for.

use azure_core::credentials::Secret;
use azure_data_cosmos::models::{
    ContainerProperties, PartitionKeyDefinition, PartitionKeyVersion, ThroughputProperties,
};
use azure_data_cosmos::options::{
    ContentResponseOnWrite, CreateContainerOptions, ItemWriteOptions, OperationOptionsBuilder,
};
use azure_data_cosmos::{
    AccountEndpoint, AccountReference, ContainerClient, CosmosClient, CosmosError, DatabaseClient, RoutingStrategy,
};
use std::error::Error;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub type TestResult = Result<(), Box<dyn Error>>;

const TEST_SECONDS_MAX: u64 = 60;

/// One test's place on the server.
pub struct World {
    pub client: CosmosClient,
    pub database: DatabaseClient,
    pub name: String,
}

pub fn required(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run these tests with `cargo xtask sdk`"))
}

/// A client for an endpoint and a key, as a program would make one.
pub async fn connect(endpoint: &str, key: &str) -> azure_data_cosmos::Result<CosmosClient> {
    let endpoint: AccountEndpoint = endpoint.parse()?;
    let account = AccountReference::with_authentication_key(endpoint, Secret::from(key.to_owned()));
    CosmosClient::builder().build(account, RoutingStrategy::ProximityTo("Local".into())).await
}

/// A name nobody else uses: process, moment and a counter.
pub fn unique(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() % 1_000_000_000_000);
    format!("{prefix}-{}-{moment:x}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Runs a test body in a world of its own.
pub fn border<F>(body: impl FnOnce(std::sync::Arc<World>) -> F)
where
    F: Future<Output = TestResult>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let client =
            connect(&required("TESELA_ENDPOINT"), &required("TESELA_KEY")).await.expect("the server can be reached");
        let name = unique("rs");
        client.create_database(&name, None).await.expect("a database can be made");
        let world = std::sync::Arc::new(World { database: client.database_client(&name), client, name });
        let limit = Duration::from_secs(TEST_SECONDS_MAX);
        let outcome = tokio::time::timeout(limit, body(world.clone())).await;
        let cleaned = world.database.delete(None).await;
        outcome.expect("the test ends in time").expect("the test succeeds");
        cleaned.expect("the database can be deleted");
    });
}

impl World {
    /// An empty container keyed by `/pk`.
    pub async fn container(&self) -> azure_data_cosmos::Result<ContainerClient> {
        self.container_keyed("/pk".into(), None).await
    }

    pub async fn container_keyed(
        &self,
        key: PartitionKeyDefinition,
        throughput: Option<u64>,
    ) -> azure_data_cosmos::Result<ContainerClient> {
        let name = unique("c");
        let options = throughput
            .map(|manual| CreateContainerOptions::default().with_throughput(ThroughputProperties::manual(manual)));
        self.database.create_container(ContainerProperties::new(name.clone(), key), options).await?;
        self.database.container_client(&name, None).await
    }
}

/// A definition of the older hash, which this SDK must be asked for by name.
pub fn first_version(path: &str) -> PartitionKeyDefinition {
    PartitionKeyDefinition::from(path.to_owned()).with_version(PartitionKeyVersion::V1)
}

/// Asks for the written item back; the SDK leaves bodies out by default.
pub fn with_content() -> Option<ItemWriteOptions> {
    let operation =
        OperationOptionsBuilder::new().with_content_response_on_write(ContentResponseOnWrite::Enabled).build();
    Some(ItemWriteOptions::default().with_operation_options(operation))
}

/// The status and sub-status a call was refused with.
pub fn refusal<T>(outcome: azure_data_cosmos::Result<T>) -> (u16, u16) {
    let error: CosmosError = match outcome {
        Ok(_) => panic!("expected a refusal"),
        Err(error) => error,
    };
    let status = error.status();
    (u16::from(status.status_code()), status.sub_status().map_or(0, |sub| sub.value()))
}
