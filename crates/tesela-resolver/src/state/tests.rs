//! Refusals of the decoder, the file store and the shared map. Round trips of every resolver are in `tests/laws`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::extract::KeyExtractor;
use crate::key::ReadScope;
use crate::resolver::PartitionResolver as _;
use crate::resolvers::{CollectionTemplate, HashResolver, SpillPolicy, SpilloverResolver};
use crate::testing::block_on;

fn users(links: &[&str]) -> HashResolver {
    HashResolver::buckets(KeyExtractor::path("/id").unwrap(), links.iter().copied()).unwrap()
}

fn decode(resolver: &str) -> Result<ResolverState, String> {
    let text = format!(r#"{{"schema":"tesela.resolver/1","revision":1,"resolver":{resolver}}}"#);
    Registry::standard().decode_text(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn r35_what_is_not_understood_is_refused_by_place() {
    let cases = [
        ("7", "state has 7 at state.resolver, which should be an object"),
        ("{}", "state has no state.resolver.kind"),
        (r#"{"kind":"magic"}"#, r#"state has "magic" at state.resolver.kind, which should be a kind of resolver"#),
        (
            r#"{"kind":"custom","name":"mine"}"#,
            r#"state names the resolver "mine" at state.resolver.name, which is not registered here"#,
        ),
        (
            r#"{"kind":"hash","key":{"path":"/id"},"hash":"crc","placement":{"kind":"jump"},"collections":["a"]}"#,
            r#"state names the hash generator "crc" at state.resolver.hash, which is not registered here"#,
        ),
        (
            r#"{"kind":"hash","key":{"function":"f"},"hash":"md5","placement":{"kind":"jump"},"collections":["a"]}"#,
            r#"state names the key function "f" at state.resolver.key.function, which is not registered here"#,
        ),
        (
            r#"{"kind":"hash","key":{"path":"/id"},"hash":"md5","placement":{"kind":"jump","x":1},"collections":["a"]}"#,
            "state has state.resolver.placement.x, which this release does not know",
        ),
        (
            r#"{"kind":"hash","key":{"path":"/id"},"hash":"md5","placement":{"kind":"jump"},"collections":["a","a"]}"#,
            "state cannot be a map at state.resolver.placement: collection a is named twice",
        ),
        (
            r#"{"kind":"hash","key":{"path":"/id"},"hash":"md5","placement":{"kind":"buckets","owners":[[0,9999999]]},"collections":["a"]}"#,
            "state has 9999999 at state.resolver.placement.owners[0], which should be a whole number in range",
        ),
        (
            r#"{"kind":"range","key":{"path":"/id"},"order":"natural","ranges":[{"low":2,"high":1,"link":"a"}]}"#,
            "state has low above high at state.resolver.ranges[0], which should be a range with something in it",
        ),
        (
            r#"{"kind":"lookup","key":{"path":"/id"},"entries":[{"key":{"a":1},"link":"x"}]}"#,
            "state has no state.resolver.entries[0].key.time",
        ),
    ];
    for (resolver, message) in cases {
        assert_eq!(decode(resolver).unwrap_err(), message, "{resolver}");
    }
}

#[test]
fn r35_other_schemas_and_broken_text_are_refused() {
    let read = |text: &str| Registry::standard().decode_text(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        read(r#"{"schema":"tesela.resolver/2","revision":1}"#),
        "state has schema tesela.resolver/2, this release reads tesela.resolver/1"
    );
    assert!(read(r#"{"schema":"#).starts_with("state is no JSON: "));
    let huge = vec![b' '; STATE_BYTES_MAX + 1];
    let found = STATE_BYTES_MAX + 1;
    assert_eq!(Registry::standard().decode_text(&huge).unwrap_err(), StateError::TooLarge { found });
}

#[test]
fn r35_depth_is_bounded() {
    let nest = |depth: usize| {
        let leaf = r#"{"kind":"lookup","key":{"path":"/k"},"entries":[],"default":"a"}"#;
        format!("{}{leaf}{}", r#"{"kind":"fallback","chain":["#.repeat(depth), "]}".repeat(depth))
    };
    assert!(decode(&nest(RESOLVER_DEPTH_MAX)).is_ok());
    assert!(decode(&nest(RESOLVER_DEPTH_MAX + 1)).unwrap_err().starts_with("state nests resolvers or keys deeper"));
}

#[test]
fn r35_a_file_keeps_the_map_and_refuses_a_stale_writer() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path().join("users.map.json"));
    assert_eq!(block_on(store.load()).unwrap(), None);
    let first = block_on(store.save(b"one", None)).unwrap();
    assert!(matches!(block_on(store.save(b"two", None)), Err(StoreError::Conflict)), "there is one already");
    let second = block_on(store.save(b"two", Some(&first))).unwrap();
    assert!(matches!(block_on(store.save(b"three", Some(&first))), Err(StoreError::Conflict)));
    let found = block_on(store.load()).unwrap().unwrap();
    assert_eq!(found, StoredState { text: b"two".to_vec(), etag: second.clone() });
    assert_eq!(block_on(store.load_if_changed(&second)).unwrap(), None);
    assert_eq!(block_on(store.load_if_changed(&first)).unwrap(), Some(found));
}

#[test]
fn r35_what_a_crash_left_beside_the_map_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.json");
    let store = FileStore::new(&path);
    let first = block_on(store.save(b"one", None)).unwrap();
    std::fs::write(folder.path().join("map.json.new"), b"half a m").unwrap();
    assert_eq!(block_on(store.load()).unwrap().unwrap().text, b"one");
    block_on(store.save(b"two", Some(&first))).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    assert!(!folder.path().join("map.json.new").exists());
}

#[test]
fn r35_processes_follow_the_same_map() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let store = FileStore::new(folder.path().join("map.json"));
        block_on(SharedResolver::open_or_create(store, Registry::standard(), users(&["a", "b"]).into())).unwrap()
    };
    let (one, two) = (open(), open());
    let seen = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&seen);
    two.subscribe(move |map| told.store(map.revision, Ordering::SeqCst));
    let grown = block_on(one.update(|map| grow(map, "c"))).unwrap();
    assert_eq!(grown.revision, 2);
    assert_eq!(two.resolve_for_read(&ReadScope::All).unwrap().len(), 2, "not yet asked");
    assert!(block_on(two.refresh()).unwrap());
    assert!(!block_on(two.refresh()).unwrap());
    assert_eq!(seen.load(Ordering::SeqCst), 2);
    for n in 0..500 {
        let key = n.into();
        assert_eq!(one.resolve_for_create(&key).unwrap(), two.resolve_for_create(&key).unwrap());
    }
}

fn grow(map: &Resolver, link: &str) -> Result<Resolver, SharedError> {
    Ok(map.as_hash().expect("a hash map").with_added(link).expect("a new link").into())
}

#[test]
fn r35_no_change_is_lost_between_many_writers() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let store = FileStore::new(folder.path().join("map.json"));
        block_on(SharedResolver::open_or_create(store, Registry::standard(), users(&["a"]).into())).unwrap()
    };
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let map = open();
            scope.spawn(move || {
                for n in 0..5 {
                    block_on(map.update(|map| grow(map, &format!("w{writer}-{n}")))).unwrap();
                }
            });
        }
    });
    let last = open();
    assert_eq!(last.current().revision, 21);
    assert_eq!(last.resolve_for_read(&ReadScope::All).unwrap().len(), 21);
}

#[test]
fn r32_a_refresh_never_forgets_a_collection_already_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let template = CollectionTemplate::new("log-{n}").unwrap();
    let log = SpilloverResolver::new(template, SpillPolicy::new(1_000, 90).unwrap());
    let open = |first: &SpilloverResolver| {
        let store = FileStore::new(folder.path().join("map.json"));
        block_on(SharedResolver::open_or_create(store, Registry::standard(), first.clone().into())).unwrap()
    };
    let (one, two) = (open(&log), open(&log));
    // This process has moved on to log-1 and not yet said so, when a change of the other arrives.
    log.absorb(&[1]);
    block_on(two.update(|map| Ok::<_, SharedError>(map.clone()))).unwrap();
    assert!(block_on(one.refresh()).unwrap());
    assert_eq!(one.resolve_for_create(&crate::Key::Null).unwrap().as_str(), "log-1");
    assert_eq!(one.resolve_for_read(&ReadScope::All).unwrap().len(), 2);
}
