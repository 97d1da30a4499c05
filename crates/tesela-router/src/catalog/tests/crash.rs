//! Invariants 1 to 3 of the catalog while the store refuses, loses requests, loses answers, or dies.

use super::*;
use tesela_store::faulty::{Call, Fault, Faults, FaultyStore};
use tesela_store::{Batch, Error};

type Faulty = FaultyStore<MemoryStore>;

/// Something to change, on an account that has database `d` with container `c` of two partitions and user `u`.
type Operation = fn(&Catalog<Faulty>) -> Result<()>;

const OPERATIONS: [(&str, Operation); 8] = [
    ("create database", |catalog| block_on(catalog.create_database(&parse(r#"{"id":"new"}"#), throughput())).map(drop)),
    ("create container", |catalog| {
        let options = ContainerOptions { throughput: throughput(), partitions: Some(3) };
        block_on(catalog.create_container("d", &container_body("new"), options)).map(drop)
    }),
    ("replace container", |catalog| {
        block_on(catalog.replace_container("d", "c", &container_body("c"), Precondition::NONE)).map(drop)
    }),
    ("delete container", |catalog| block_on(catalog.delete_container("d", "c", Precondition::NONE))),
    ("delete database", |catalog| block_on(catalog.delete_database("d", Precondition::NONE))),
    ("create user", |catalog| {
        let folder = Folder::Users { database: "d" };
        block_on(catalog.create_entry(folder, &parse(r#"{"id":"new"}"#), false, Precondition::NONE)).map(drop)
    }),
    ("replace offer", |catalog| {
        let rid = catalog.container("d", "c")?.rid.clone();
        let offer = catalog.state().offer_of(&rid).expect("c has an offer").resource.rid.clone();
        let body = parse(r#"{"content":{"offerThroughput":25000}}"#);
        block_on(catalog.replace_offer(&offer, &body, Migration::None, 0, Precondition::NONE)).map(drop)
    }),
    ("split", |catalog| {
        let container = catalog.container("d", "c")?;
        let spaces = block_on(catalog.reserve_spaces(2))?;
        let at = tesela_model::epk::Epk::from_hex("08").expect("digits");
        let map = container.partitions.split(0, &at, [spaces[0], spaces[1]])?;
        block_on(catalog.install_map(&container.rid, map, Batch::new())).map(drop)
    }),
];

fn throughput() -> Option<Throughput> {
    Some(Throughput::Manual { ru: 500 })
}

/// A healthy store with something in it.
fn prepared() -> MemoryStore {
    let account = account();
    account.database("d");
    account.container_with("d", "c", ContainerOptions { throughput: throughput(), partitions: Some(2) });
    account.entry(Folder::Users { database: "d" }, r#"{"id":"u"}"#);
    account.store
}

/// A store around one that holds something, with calls counted from its opening on.
fn open_faulty(fault: Option<(Call, u64, Fault)>, seed: u64) -> (Faulty, Catalog<Faulty>) {
    let mut faults = Faults::from_seed(seed);
    if let Some((call, n, fault)) = fault {
        faults = faults.nth(call, n, fault);
    }
    let store = block_on(FaultyStore::over(prepared(), faults)).unwrap();
    let catalog = block_on(Catalog::open(store.clone(), Env::simulated(9), CatalogOptions::default())).unwrap();
    (store, catalog)
}

/// A fault that has not come up yet may come up here; it does so once.
fn reopened<S: Store>(store: S) -> Catalog<S> {
    let open = || block_on(Catalog::open(store.clone(), Env::simulated(10), CatalogOptions::default()));
    open().or_else(|_| open()).unwrap()
}

/// What the state is without the things that differ from run to run.
fn shape(state: &State) -> Vec<String> {
    let mut shape: Vec<String> = state
        .containers()
        .map(|container| {
            let ids: Vec<u32> = container.partitions.partitions().iter().map(|partition| partition.id).collect();
            let ru = state.throughput_of(container);
            format!("{} {} {ids:?} {ru:?}", container.path, container.resource.etag)
        })
        .collect();
    for database in state.databases() {
        let users: Vec<Arc<str>> = database.users.iter().map(|(_, user)| user.resource.id.clone()).collect();
        shape.push(format!("{} {users:?}", database.resource.id));
    }
    shape
}

/// `open` makes one space; every operation then makes at most these calls.
const FAULTS: [(Call, u64); 9] = [
    (Call::Commit, 1),
    (Call::CreateSpace, 2),
    (Call::CreateSpace, 3),
    (Call::CreateSpace, 4),
    (Call::DropSpace, 1),
    (Call::DropSpace, 2),
    (Call::DropSpace, 3),
    (Call::Flush, 1),
    (Call::Scan, 2),
];

/// After any fault: an error leaves things as they were or (outcome unknown) done; later writers and a new process
/// agree on which; and the account goes on working.
#[test]
fn a_fault_never_leaves_half_a_change() {
    for (name, operation) in OPERATIONS {
        let (_, untouched) = open_faulty(None, 1);
        let before = shape(&untouched.state());
        operation(&untouched).unwrap();
        let after = shape(&untouched.state());
        assert_ne!(before, after, "{name} changes something");
        for (call, n) in FAULTS {
            for fault in [Fault::Refuse, Fault::LoseRequest, Fault::LoseAnswer] {
                let what = format!("{name}, {fault:?} {call:?} {n}");
                let (store, catalog) = open_faulty(Some((call, n, fault)), 1);
                let result = operation(&catalog);
                // A write that is not affected makes the catalog look at the store if it has to.
                let probe = block_on(catalog.create_database(&parse(r#"{"id":"probe"}"#), None));
                let probe = probe.or_else(|_| block_on(catalog.create_database(&parse(r#"{"id":"probe"}"#), None)));
                probe.unwrap_or_else(|error| panic!("{what}: {error}"));
                block_on(catalog.delete_database("probe", Precondition::NONE)).unwrap();
                let found = shape(&catalog.state());
                match &result {
                    Ok(()) => assert_eq!(same_but_etags(&found), same_but_etags(&after), "{what}"),
                    Err(CatalogError::Store(error)) if error.may_have_applied() => {
                        let found = same_but_etags(&found);
                        assert!(found == same_but_etags(&before) || found == same_but_etags(&after), "{what}");
                    }
                    Err(_) => assert_eq!(found, before, "{what}"),
                }
                let again = reopened(store.clone());
                assert_eq!(dump(&again.state()), dump(&catalog.state()), "{what}");
                assert_eq!(block_on(store.spaces()).unwrap(), named_spaces(&again.state()), "{what}: key spaces");
            }
        }
    }
}

/// Etags are drawn at random, so two runs of a replace differ in them.
fn same_but_etags(shape: &[String]) -> Vec<String> {
    shape.iter().map(|line| line.split('"').step_by(2).collect()).collect()
}

/// Power is cut while an operation is under way, at every call it makes; what comes back is before or after.
#[test]
fn a_crash_leaves_before_or_after_and_no_orphans() {
    for (name, operation) in OPERATIONS {
        let (_, untouched) = open_faulty(None, 1);
        let before = same_but_etags(&shape(&untouched.state()));
        operation(&untouched).unwrap();
        let after = same_but_etags(&shape(&untouched.state()));
        for (call, n) in FAULTS {
            for (fault, seed) in [(Fault::LoseRequest, 1), (Fault::LoseAnswer, 2), (Fault::LoseAnswer, 3)] {
                let what = format!("{name}, crash at {fault:?} {call:?} {n}");
                let (store, catalog) = open_faulty(Some((call, n, fault)), seed);
                let result = operation(&catalog);
                let kept = block_on(store.crash()).unwrap();
                let again = reopened(kept.clone());
                let found = same_but_etags(&shape(&again.state()));
                if result.is_ok() {
                    assert_eq!(found, after, "{what}: acknowledged");
                } else {
                    assert!(found == before || found == after, "{what}: {found:?}");
                }
                assert_eq!(block_on(kept.spaces()).unwrap(), named_spaces(&again.state()), "{what}: orphans");
                // New spaces do not collide with old ones.
                block_on(again.create_database(&parse(r#"{"id":"fresh"}"#), None)).unwrap();
                block_on(again.create_container("fresh", &container_body("c"), ContainerOptions::default())).unwrap();
            }
        }
    }
}

/// A caller that goes away in the middle of a commit: the next writer finds out how it ended.
#[test]
fn an_abandoned_write_is_found_out() {
    for polls in 0..12 {
        let faults = Faults::from_seed(polls).delay_polls_max(4);
        let store = block_on(FaultyStore::over(prepared(), faults)).unwrap();
        let catalog = reopened(store.clone());
        {
            let value = container_body("new");
            let options = ContainerOptions { throughput: throughput(), partitions: Some(2) };
            let mut write = std::pin::pin!(catalog.create_container("d", &value, options));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            for _ in 0..polls {
                if write.as_mut().poll(&mut context).is_ready() {
                    break;
                }
            }
        }
        block_on(catalog.create_database(&parse(r#"{"id":"next"}"#), None)).unwrap();
        let again = reopened(store.clone());
        assert_eq!(dump(&again.state()), dump(&catalog.state()), "after {polls} polls");
        assert_eq!(block_on(store.spaces()).unwrap(), named_spaces(&again.state()));
    }
}

#[test]
fn damage_and_newer_formats_are_told() {
    let open = |key: &[u8], value: &str| {
        let store = prepared();
        let mut batch = Batch::new();
        batch.put(SpaceId::CATALOG, key.to_vec(), value.to_owned());
        block_on(store.commit(batch)).unwrap();
        let spaces = block_on(store.spaces()).unwrap();
        let error = block_on(Catalog::open(store.clone(), Env::simulated(1), CatalogOptions::default())).err();
        assert_eq!(block_on(store.spaces()).unwrap(), spaces, "a catalog that cannot be read loses no data");
        error.expect("the store is damaged")
    };
    assert!(matches!(open(&[0x01], r#"{"format":2}"#), CatalogError::NewerFormat { found: 2, supported: 1 }));
    let reason = |key: &[u8], value: &str| match open(key, value) {
        CatalogError::Damaged { reason, .. } => reason,
        other => panic!("{other}"),
    };
    assert_eq!(reason(&[0x77], "{}"), Damage::UnknownTag);
    assert!(matches!(reason(&[0x10], "{}"), Damage::Key(_)));
    assert!(matches!(reason(&[0x02], "{"), Damage::Json(_)));
    assert_eq!(reason(&[0x02], "{}"), Damage::Property("database"));
    assert_eq!(reason(&[0x10, 0, 0, 0, 9], r#"{"id":"x"}"#), Damage::Property("_rid"));
    let resource = r#"{"id":"x","_rid":"a","_self":"b","_etag":"c","_ts":1,"partitionKey":{"paths":["/a"]}}"#;
    assert_eq!(reason(&[0x11, 0, 0, 0, 9, 0, 0, 0, 1], resource), Damage::NoOwner);
    assert_eq!(
        reason(&[0x12, 0, 0, 0, 9, 0, 0, 0, 1], r#"{"epoch":1,"nextId":1,"ts":1,"partitions":[]}"#),
        Damage::Map(MapError::NotTiled { at: tesela_model::epk::Epk::min() })
    );
    assert_eq!(reason(&[0x30, 0, 0, 0, 9], "{}"), Damage::Property("content"));
}

/// A change the store refused is gone without a trace, key spaces included, and can be made again.
#[test]
fn a_refused_change_gives_back_its_spaces() {
    for fault in [(Call::Commit, 1, Fault::Refuse), (Call::CreateSpace, 3, Fault::Refuse)] {
        let (store, catalog) = open_faulty(Some(fault), 1);
        let options = ContainerOptions { throughput: None, partitions: Some(3) };
        let create = || block_on(catalog.create_container("d", &container_body("new"), options));
        assert!(matches!(create(), Err(CatalogError::Store(Error::Unavailable { .. }))));
        assert!(catalog.container("d", "new").is_err());
        assert_eq!(block_on(store.spaces()).unwrap(), named_spaces(&catalog.state()));
        create().unwrap();
        assert_eq!(catalog.container("d", "new").unwrap().partitions.partitions().len(), 3);
    }
}
