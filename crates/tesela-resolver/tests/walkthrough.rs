//! The classic walk-through of client-side partitioning, told with this library: two collections, a hash of
//! the user id, two users created against the *database*, one found by his key, all found without one (R27,
//! R28, R37).
//!
//! The database is a map in memory, so that the test shows how a client uses a resolver and nothing else.

use std::collections::BTreeMap;

use tesela_model::json::{self, Value};
use tesela_resolver::{CollectionLink, HashResolver, KeyExtractor, PartitionResolver, ReadScope, ResolveError};

/// A client of one database, which asks the registered resolver where to go.
struct Client {
    collections: BTreeMap<CollectionLink, Vec<Value>>,
    resolver: Box<dyn PartitionResolver>,
    /// Collections the last query went to.
    visited: usize,
}

impl Client {
    fn new(collections: &[CollectionLink], resolver: impl PartitionResolver + 'static) -> Self {
        let collections = collections.iter().map(|link| (link.clone(), Vec::new())).collect();
        Self { collections, resolver: Box::new(resolver), visited: 0 }
    }

    fn create_document(&mut self, document: &Value) -> Result<(), ResolveError> {
        let key = self.resolver.partition_key(document)?;
        let link = self.resolver.resolve_for_create(&key)?;
        self.collections.get_mut(&link).expect("the collection exists").push(document.clone());
        Ok(())
    }

    fn query(
        &mut self,
        scope: impl Into<ReadScope>,
        filter: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Value>, ResolveError> {
        let links = self.resolver.resolve_for_read(&scope.into())?;
        self.visited = links.len();
        let documents = links.iter().flat_map(|link| &self.collections[link]);
        Ok(documents.filter(|document| filter(document)).cloned().collect())
    }
}

fn text<'a>(document: &'a Value, name: &str) -> &'a str {
    document.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn r27_r28_r37_two_users_in_two_collections() -> Result<(), Box<dyn std::error::Error>> {
    // Two collections, and a resolver that spreads users over them.
    let collections = ["users-0", "users-1"].map(|name| CollectionLink::in_database("social", name));
    let by_user = HashResolver::ring(KeyExtractor::path("/userId")?, collections.clone())?;

    // Register it, then speak to the database.
    let mut client = Client::new(&collections, by_user.clone());
    let john = json::parse(br#"{"id": "1", "userId": "@john", "status": "available", "region": "US East"}"#)?;
    let ryan = json::parse(br#"{"id": "2", "userId": "@ryan", "status": "available", "region": "US West"}"#)?;
    client.create_document(&john)?;
    client.create_document(&ryan)?;

    // With the key, the query goes to the one collection that can hold him.
    let key = by_user.partition_key(&john)?;
    let found = client.query(key, |user| text(user, "userId") == "@john")?;
    assert_eq!(found, std::slice::from_ref(&john));
    assert_eq!(client.visited, 1);

    // Without one, it goes to all and comes back as one result set.
    let available = client.query(ReadScope::All, |user| text(user, "status") == "available")?;
    assert_eq!(available.len(), 2);
    assert!(available.contains(&john) && available.contains(&ryan));
    assert_eq!(client.visited, 2);
    Ok(())
}

#[test]
fn r28_many_users_fill_both_collections() -> Result<(), Box<dyn std::error::Error>> {
    let collections = ["users-0", "users-1"].map(|name| CollectionLink::in_database("social", name));
    let by_user = HashResolver::ring(KeyExtractor::path("/userId")?, collections.clone())?;
    let mut client = Client::new(&collections, by_user);
    for n in 0..1_000 {
        client.create_document(&json::parse(format!(r#"{{"userId": "user-{n}"}}"#).as_bytes())?)?;
    }
    let sizes: Vec<usize> = client.collections.values().map(Vec::len).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 1_000);
    // 32 virtual nodes in all are a rough spread, and a spread nevertheless.
    assert!(sizes.iter().all(|size| *size > 250), "{sizes:?}");
    Ok(())
}
