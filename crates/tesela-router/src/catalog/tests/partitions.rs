//! R10: as many partitions as throughput asks for, and maps that replace each other.

use super::*;
use tesela_model::epk::Epk;
use tesela_model::rid::ResourceId;
use tesela_store::{Batch, Snapshot};

fn ru(ru: u32) -> ContainerOptions {
    ContainerOptions { throughput: Some(Throughput::Manual { ru }), partitions: None }
}

fn count(container: &Container) -> usize {
    container.partitions.partitions().len()
}

#[test]
fn a_new_container_has_the_partitions_it_needs() {
    let account = account();
    account.database("d");
    for (options, wanted) in [
        (ContainerOptions::default(), 1),
        (ru(6_000), 1),
        (ru(11_000), 2),
        (ru(30_000), 5),
        (ContainerOptions { throughput: None, partitions: Some(7) }, 7),
        (ContainerOptions { partitions: Some(3), ..ru(30_000) }, 3),
        (
            ContainerOptions {
                throughput: Some(Throughput::Autoscale { max_ru: 20_000, increment_percent: None }),
                partitions: None,
            },
            4,
        ),
    ] {
        let name = format!("c{options:?}").replace([' ', '#', '?', '/'], "");
        let name = &name[..name.len().min(200)];
        account.container_with("d", name, options);
        assert_eq!(count(&account.catalog.container("d", name).unwrap()), wanted, "{options:?}");
    }
    for requested in [0, 16_385] {
        let options = ContainerOptions { throughput: None, partitions: Some(requested) };
        let refused = block_on(account.catalog.create_container("d", &container_body("x"), options));
        assert!(matches!(refused, Err(CatalogError::PartitionCount { .. })));
    }
    account.check();
}

#[test]
fn raising_throughput_is_pending_until_partitions_are_there() {
    let account = account();
    account.database("d");
    let resource = account.container("d", "c");
    let rid = ResourceId::parse(&resource.rid).unwrap();
    let catalog = &account.catalog;
    let offer = catalog.state().offer_of(&rid).unwrap().clone();
    let raise = |ru: u32| {
        let body = parse(&format!(r#"{{"content":{{"offerThroughput":{ru}}}}}"#));
        block_on(catalog.replace_offer(&offer.resource.rid, &body, Migration::None, 0, Precondition::NONE)).unwrap()
    };
    let pending = |offer: &Offer| body(&offer.resource).get("content").unwrap().get("isOfferReplacePending").cloned();
    assert_eq!(pending(&raise(10_000)), None, "one partition can give 10,000");
    let raised = raise(11_000);
    assert!(raised.terms.pending);
    assert_eq!(pending(&raised), Some(Value::Bool(true)));
    let container = catalog.container("d", "c").unwrap();
    assert_eq!(catalog.partitions_needed(&catalog.state(), &container), 2);
    account.check();

    let spaces = block_on(catalog.reserve_spaces(2)).unwrap();
    let half = Epk::from_hex("1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF").unwrap();
    let map = container.partitions.split(0, &half, [spaces[0], spaces[1]]).unwrap();
    let old_space = container.partitions.partitions()[0].space;
    let mut rows = Batch::new();
    rows.put(spaces[0], "inherited", "row");
    let installed = block_on(catalog.install_map(&rid, map, rows)).unwrap();
    assert_eq!(installed.partitions.partitions()[1].parents, [0]);
    assert_ne!(installed.ranges_etag, container.ranges_etag);
    assert!(String::from_utf8(installed.ranges_feed.to_vec()).unwrap().contains(r#""parents":["0"]"#));
    let settled = catalog.state().offer(&offer.resource.rid).unwrap().clone();
    assert_eq!((pending(&settled), settled.resource.etag.clone()), (None, raised.resource.etag.clone()));
    assert_eq!(catalog.partitions_needed(&catalog.state(), &installed), 2);
    let row = block_on(account.store.snapshot().get(spaces[0], b"inherited")).unwrap();
    assert_eq!(row.unwrap(), "row", "the rows came with the map");
    // The old space is the caller's to drop; who dies first leaves it to the next open.
    assert!(block_on(account.store.spaces()).unwrap().contains(&old_space));
    account.check();
}

#[test]
fn a_map_is_installed_once() {
    let account = account();
    account.database("d");
    account.container("d", "c");
    let catalog = &account.catalog;
    let container = catalog.container("d", "c").unwrap();
    let split = |at: &str| {
        let spaces = block_on(catalog.reserve_spaces(2)).unwrap();
        container.partitions.split(0, &Epk::from_hex(at).unwrap(), [spaces[0], spaces[1]]).unwrap()
    };
    let (first, second) = (split("10"), split("20"));
    block_on(catalog.install_map(&container.rid, first.clone(), Batch::new())).unwrap();
    let late = block_on(catalog.install_map(&container.rid, second, Batch::new()));
    assert!(matches!(late, Err(CatalogError::MapMoved { expected: 1, found: 2, .. })));
    assert_eq!(*catalog.container("d", "c").unwrap().partitions, first);
    let nowhere = block_on(catalog.install_map(&ResourceId::container(1, 1), first, Batch::new()));
    assert!(matches!(nowhere, Err(CatalogError::NotFound { .. })));
    account.check();
}

/// Who holds a container holds its map, whatever happens to it meanwhile.
#[test]
fn a_request_sees_one_map() {
    let account = account();
    account.database("d");
    account.container("d", "c");
    let before = account.catalog.container("d", "c").unwrap();
    let state = account.catalog.state();
    block_on(account.catalog.delete_database("d", Precondition::NONE)).unwrap();
    assert_eq!((count(&before), state.containers().count()), (1, 1));
    assert_eq!(account.catalog.state().containers().count(), 0);
}
