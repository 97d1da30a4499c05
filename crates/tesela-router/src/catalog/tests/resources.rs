//! R1: databases, containers and what is in them, by name and by RID.

use super::*;
use tesela_model::container::DefinitionError;
use tesela_model::rid::ResourceId;

#[test]
fn a_database_has_its_system_properties() {
    let account = account();
    let created = account.database("d1");
    let value = body(&created);
    let rid = value.get("_rid").unwrap().as_str().unwrap();
    assert_eq!((rid.len(), &rid[6..]), (8, "=="));
    let wanted = format!(
        r#"{{"id":"d1","_rid":"{rid}","_self":"dbs/{rid}/","_etag":{},"_colls":"colls/","_users":"users/","_ts":{}}}"#,
        json::to_string(value.get("_etag").unwrap()),
        account.env.now().unix_seconds()
    );
    assert_eq!(created.json, wanted);
    assert!(created.etag.starts_with('"') && created.etag.ends_with('"') && created.etag.len() == 38);
    assert_eq!(account.catalog.state().database("d1").unwrap().resource, created);
    assert_eq!(account.catalog.state().database(rid).unwrap().resource, created);
    account.check();
}

#[test]
fn a_container_has_its_system_properties() {
    let account = account();
    let database = account.database("d1");
    let created = account.container("d1", "c1");
    let value = body(&created);
    let rid = value.get("_rid").unwrap().as_str().unwrap();
    let bytes = ResourceId::parse(rid).unwrap();
    assert!(bytes.as_bytes().starts_with(ResourceId::parse(&database.rid).unwrap().as_bytes()));
    assert!(bytes.as_bytes().len() == 8 && bytes.as_bytes()[4] >= 0x80);
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap().to_owned();
    assert_eq!(text("_self"), format!("dbs/{}/colls/{rid}/", database.rid));
    for (name, link) in [
        ("_docs", "docs/"),
        ("_sprocs", "sprocs/"),
        ("_triggers", "triggers/"),
        ("_udfs", "udfs/"),
        ("_conflicts", "conflicts/"),
    ] {
        assert_eq!(text(name), link);
    }
    assert!(value.get("indexingPolicy").is_some() && value.get("conflictResolutionPolicy").is_some());
    assert_eq!(created.owner_rid, database.rid);
    let found = account.catalog.container("d1", "c1").unwrap();
    assert_eq!((&*found.path, &found.resource), ("dbs/d1/colls/c1", &created));
    assert_eq!(found.rid, bytes);
    account.check();
}

/// A path whose database is a RID is made of RIDs; a name that looks like one is still a name.
#[test]
fn names_and_rids_address_the_same() {
    let account = account();
    let database = account.database("d1");
    let container = account.container("d1", "c1");
    let procedures = |database, container| Folder::Scripts { database, container, kind: ScriptKind::StoredProcedure };
    let script = account.entry(procedures("d1", "c1"), r#"{"id":"s","body":"function(){}"}"#);
    let state = account.catalog.state();
    assert_eq!(state.addressing(&database.rid), Addressing::Rid);
    assert_eq!(state.container(&database.rid, &container.rid).unwrap().resource, container);
    let by_rid = state.entry(procedures(&database.rid, &container.rid), &script.rid).unwrap();
    assert_eq!(by_rid.resource, script);
    for (database, container) in [("d1", &*container.rid), (&*database.rid, "c1"), ("d1", "nope"), ("nope", "c1")] {
        assert!(state.container(database, container).is_err(), "{database} {container}");
    }
    assert!(state.container_by_rid(&ResourceId::parse(&container.rid).unwrap()).is_some());

    let lookalike = account.database("abcdef==");
    account.container("abcdef==", "c");
    let state = account.catalog.state();
    assert_eq!(state.addressing("abcdef=="), Addressing::Name);
    assert_eq!(state.database("abcdef==").unwrap().resource, lookalike);
    assert!(state.container("abcdef==", "c").is_ok());
    account.check();
}

#[test]
fn what_is_missing_is_told_from_a_missing_owner() {
    let account = account();
    account.database("d");
    account.container("d", "c");
    let state = account.catalog.state();
    let kind = |result: Result<()>| match result.unwrap_err() {
        CatalogError::NotFound { kind, .. } => ("self", kind),
        CatalogError::OwnerNotFound { kind, .. } => ("owner", kind),
        other => panic!("{other}"),
    };
    let read = |feed: Feed<'_>, id| kind(state.resource(feed, id).map(drop));
    let list = |feed: Feed<'_>| kind(state.page(feed, None, 10).map(drop));
    let scripts = |database, container| Feed::In(Folder::Scripts { database, container, kind: ScriptKind::Trigger });
    assert_eq!(read(Feed::Databases, "x"), ("self", ResourceKind::Database));
    assert_eq!(read(Feed::Containers { database: "d" }, "x"), ("self", ResourceKind::Container));
    assert_eq!(read(Feed::Containers { database: "x" }, "c"), ("owner", ResourceKind::Database));
    assert_eq!(kind(account.catalog.container("d", "x").map(drop)), ("owner", ResourceKind::Container));
    assert_eq!(read(Feed::In(Folder::Users { database: "d" }), "x"), ("self", ResourceKind::User));
    assert_eq!(read(Feed::In(Folder::Permissions { database: "d", user: "x" }), "p"), ("owner", ResourceKind::User));
    assert_eq!(read(scripts("d", "c"), "x"), ("self", ResourceKind::Trigger));
    assert_eq!(read(scripts("d", "x"), "x"), ("owner", ResourceKind::Container));
    assert_eq!(read(Feed::Offers, "AAAA"), ("self", ResourceKind::Offer));
    assert_eq!(read(Feed::Offers, "nonsense"), ("self", ResourceKind::Offer));
    assert_eq!(list(Feed::Containers { database: "x" }), ("owner", ResourceKind::Database));
    assert_eq!(list(scripts("d", "x")), ("owner", ResourceKind::Container));
}

#[test]
fn names_are_taken_once_and_checked() {
    let account = account();
    account.database("d");
    account.container("d", "c");
    let create_database = |text: &str| block_on(account.catalog.create_database(&parse(text), None)).unwrap_err();
    let create = |text: &str| {
        block_on(account.catalog.create_container("d", &parse(text), ContainerOptions::default())).unwrap_err()
    };
    assert!(matches!(
        create_database(r#"{"id":"d"}"#),
        CatalogError::AlreadyExists { kind: ResourceKind::Database, .. }
    ));
    assert!(matches!(create_database(r#"{"id":"a/b"}"#), CatalogError::Id(_)));
    assert!(matches!(create_database(r#"{"id":1}"#), CatalogError::Invalid { property: "id", .. }));
    assert!(matches!(create_database("[]"), CatalogError::Invalid { .. }));
    assert!(matches!(
        create(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#),
        CatalogError::AlreadyExists { kind: ResourceKind::Container, .. }
    ));
    // The definition is looked at before the name.
    assert!(matches!(create(r#"{"id":"c","partitionKey":{"paths":["pk"]}}"#), CatalogError::Definition(_)));
    assert!(matches!(create(r#"{"id":"c"}"#), CatalogError::Definition(DefinitionError::NoPartitionKey)));
    let elsewhere = block_on(account.catalog.create_container("x", &container_body("c"), ContainerOptions::default()));
    assert!(matches!(elsewhere, Err(CatalogError::OwnerNotFound { kind: ResourceKind::Database, .. })));
    account.check();
}

#[test]
fn feeds_come_in_creation_order_page_by_page() {
    let account = account();
    let names = ["zeta", "alpha", "mid", "beta", "omega"];
    names.iter().for_each(|name| drop(account.database(name)));
    names.iter().for_each(|name| drop(account.container("mid", name)));
    let state = account.catalog.state();
    for feed in [Feed::Databases, Feed::Containers { database: "mid" }] {
        let all = state.page(feed, None, 100).unwrap();
        assert_eq!((ids(&all), &all.continuation), (names.to_vec(), &None));
        let (mut seen, mut continuation, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = state.page(feed, continuation.as_deref(), 2).unwrap();
            seen.extend(ids(&page).into_iter().map(str::to_owned));
            pages += 1;
            continuation = page.continuation;
            if continuation.is_none() {
                break;
            }
        }
        assert_eq!((seen, pages), (names.map(str::to_owned).to_vec(), 3));
    }
    assert!(matches!(state.page(Feed::Databases, Some("x"), 1), Err(CatalogError::BadContinuation(_))));
    let page = state.page(Feed::Containers { database: "mid" }, None, 1).unwrap();
    let envelope = json::parse(&page.to_json()).unwrap();
    assert_eq!(envelope.get("_rid").unwrap().as_str(), Some(&*state.database("mid").unwrap().resource.rid));
    assert_eq!(envelope.get("_count").unwrap().as_i64(), Some(1));
    assert_eq!(envelope.get("DocumentCollections").unwrap().as_array().unwrap().len(), 1);
    let offers = state.page(Feed::Offers, None, 2).unwrap();
    assert_eq!(offers.resources.len(), 2);
    let rest = state.page(Feed::Offers, offers.continuation.as_deref(), 10).unwrap();
    assert_eq!((rest.resources.len(), rest.continuation), (3, None));
    assert!(state.page(Feed::In(Folder::Users { database: "mid" }), None, 5).unwrap().resources.is_empty());
    account.check();
}

/// A page survives the deletion of the resource it ended with.
#[test]
fn continuations_outlive_what_they_point_at() {
    let account = account();
    ["a", "b", "c"].iter().for_each(|name| drop(account.database(name)));
    let first = account.catalog.state().page(Feed::Databases, None, 1).unwrap();
    block_on(account.catalog.delete_database("a", Precondition::NONE)).unwrap();
    let rest = account.catalog.state().page(Feed::Databases, first.continuation.as_deref(), 9).unwrap();
    assert_eq!(ids(&rest), ["b", "c"]);
}

#[test]
fn conditions_guard_every_write() {
    let account = account();
    account.database("d");
    let created = account.container("d", "c");
    let users = Folder::Users { database: "d" };
    let user = account.entry(users, r#"{"id":"u"}"#);
    let offer = account.catalog.state().page(Feed::Offers, None, 1).unwrap().resources[0].clone();
    let stale = Precondition { if_match: Some("\"stale\""), if_none_match: None };
    let failed = |result: Result<()>| assert!(matches!(result, Err(CatalogError::PreconditionFailed { .. })));
    let catalog = &account.catalog;
    failed(block_on(catalog.replace_container("d", "c", &container_body("c"), stale)).map(drop));
    failed(block_on(catalog.delete_container("d", "c", stale)));
    failed(block_on(catalog.delete_database("d", stale)));
    failed(block_on(catalog.replace_entry(users, "u", &parse(r#"{"id":"u"}"#), stale)).map(drop));
    failed(block_on(catalog.create_entry(users, &parse(r#"{"id":"u"}"#), true, stale)).map(drop));
    failed(block_on(catalog.delete_entry(users, "u", stale)));
    let content = parse(r#"{"content":{"offerThroughput":500}}"#);
    failed(block_on(catalog.replace_offer(&offer.rid, &content, Migration::None, 0, stale)).map(drop));
    assert_eq!(catalog.container("d", "c").unwrap().resource, created);

    let fresh = Precondition { if_match: Some(&created.etag), if_none_match: None };
    let replaced = block_on(catalog.replace_container("d", "c", &container_body("c"), fresh)).unwrap();
    assert_ne!(replaced.etag, created.etag);
    failed(block_on(catalog.delete_container("d", "c", fresh)));
    let any = Precondition { if_match: Some("*"), if_none_match: None };
    block_on(catalog.delete_entry(users, "u", any)).unwrap();
    assert!(catalog.state().entry(users, &user.id).is_err());
    account.check();
}

#[test]
fn a_replaced_container_keeps_its_identity() {
    let account = account();
    account.database("d");
    let created = account.container("d", "c");
    account.env.advance(std::time::Duration::from_secs(5));
    let mut new = container_body("c");
    new.as_object_mut().unwrap().insert("defaultTtl", 60);
    let replaced = block_on(account.catalog.replace_container("d", "c", &new, Precondition::NONE)).unwrap();
    assert_eq!((&replaced.rid, &replaced.self_link, replaced.ts), (&created.rid, &created.self_link, created.ts + 5));
    assert_eq!(body(&replaced).get("defaultTtl"), Some(&Value::from(60)));
    // R6
    let other = parse(r#"{"id":"c","partitionKey":{"paths":["/other"],"kind":"Hash"}}"#);
    let refused = block_on(account.catalog.replace_container("d", "c", &other, Precondition::NONE));
    assert!(matches!(refused, Err(CatalogError::Definition(DefinitionError::ReplacedPartitionKey { .. }))));
    let missing = block_on(account.catalog.replace_container("d", "x", &container_body("x"), Precondition::NONE));
    assert!(matches!(missing, Err(CatalogError::NotFound { kind: ResourceKind::Container, .. })));
    account.check();
}

#[test]
fn a_container_created_again_is_another_one() {
    let account = account();
    account.database("d");
    let first = account.container("d", "c");
    let (first_etag, first_spaces) = {
        let container = account.catalog.container("d", "c").unwrap();
        (container.ranges_etag.clone(), container.partitions.spaces().collect::<Vec<_>>())
    };
    block_on(account.catalog.delete_container("d", "c", Precondition::NONE)).unwrap();
    assert!(account.catalog.container("d", "c").is_err());
    let second = account.container("d", "c");
    assert_ne!(first.rid, second.rid);
    let container = account.catalog.container("d", "c").unwrap();
    assert_ne!(container.ranges_etag, first_etag);
    assert!(container.partitions.spaces().all(|space| !first_spaces.contains(&space)));
    account.check();
}

#[test]
fn deleting_takes_everything_below_along() {
    let account = account();
    account.database("other");
    account.container("other", "kept");
    account.database("d");
    account.container("d", "c");
    account.container("d", "c2");
    account.entry(Folder::Users { database: "d" }, r#"{"id":"u"}"#);
    let permission = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
    account.entry(Folder::Permissions { database: "d", user: "u" }, permission);
    account.entry(Folder::EncryptionKeys { database: "d" }, r#"{"id":"k","wrappedDataEncryptionKey":"x"}"#);
    let kind = ScriptKind::Function;
    account.entry(Folder::Scripts { database: "d", container: "c", kind }, r#"{"id":"f","body":"function(){}"}"#);
    let before = dump(&account.catalog.state());
    block_on(account.catalog.delete_container("d", "c", Precondition::NONE)).unwrap();
    account.check();
    assert!(dump(&account.catalog.state()).len() < before.len());
    block_on(account.catalog.delete_database("d", Precondition::NONE)).unwrap();
    account.check();
    let state = account.catalog.state();
    assert_eq!(state.containers().count(), 1);
    assert_eq!(state.page(Feed::Offers, None, 9).unwrap().resources.len(), 1);
    // Nothing is left in the store but the format, the counters and the other database with its container.
    let snapshot = account.store.snapshot();
    let all = tesela_store::KeyRange::all();
    let (forward, limit) = (tesela_store::Direction::Forward, tesela_store::ScanLimit::NONE);
    let rows = block_on(tesela_store::Snapshot::scan(&snapshot, SpaceId::CATALOG, all, forward, limit)).unwrap().rows;
    assert_eq!(rows.iter().map(|(key, _)| key[0]).collect::<Vec<_>>(), [0x01, 0x02, 0x10, 0x11, 0x12, 0x30]);
}

#[test]
fn small_resources_are_kept_alike() {
    let account = account();
    let database = account.database("d");
    let container = account.container("d", "c");
    account.entry(Folder::Users { database: "d" }, r#"{"id":"owner"}"#);
    let script = |kind| Folder::Scripts { database: "d", container: "c", kind };
    let user_link = account.catalog.state().entry(Folder::Users { database: "d" }, "owner").unwrap().resource.clone();
    for (folder, first, second, envelope, link, links) in [
        (
            Folder::Users { database: "d" },
            r#"{"id":"x"}"#,
            r#"{"id":"y","mine":1.0}"#,
            "Users",
            format!("{}users/", database.self_link),
            r#","_permissions":"permissions/""#,
        ),
        (
            Folder::Permissions { database: "d", user: "owner" },
            r#"{"id":"x","permissionMode":"read","resource":"dbs/AQAAAA==/colls/AQAAAJ0fgTc="}"#,
            r#"{"id":"y","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["k"]}"#,
            "Permissions",
            format!("{}permissions/", user_link.self_link),
            "",
        ),
        (
            Folder::EncryptionKeys { database: "d" },
            r#"{"id":"x","encryptionAlgorithm":"a","wrappedDataEncryptionKey":"w","keyWrapMetadata":{"type":"t"}}"#,
            r#"{"id":"y","wrappedDataEncryptionKey":"w2"}"#,
            "ClientEncryptionKeys",
            format!("{}clientencryptionkeys/", database.self_link),
            "",
        ),
        (
            script(ScriptKind::StoredProcedure),
            r#"{"id":"x","body":"function(){}"}"#,
            r#"{"id":"y","body":"function(){return 1}"}"#,
            "StoredProcedures",
            format!("{}sprocs/", container.self_link),
            "",
        ),
        (
            script(ScriptKind::Trigger),
            r#"{"id":"x","body":"function(){}","triggerType":"pre","triggerOperation":"all"}"#,
            r#"{"id":"y","body":"f","triggerType":"Post","triggerOperation":"Upsert"}"#,
            "Triggers",
            format!("{}triggers/", container.self_link),
            "",
        ),
        (
            script(ScriptKind::Function),
            r#"{"id":"x","body":"function(){}"}"#,
            r#"{"id":"y","body":"g"}"#,
            "UserDefinedFunctions",
            format!("{}udfs/", container.self_link),
            "",
        ),
    ] {
        let catalog = &account.catalog;
        let created = account.entry(folder, first);
        let text = String::from_utf8(created.json.to_vec()).unwrap();
        let head = first.strip_suffix('}').unwrap();
        assert!(
            text.starts_with(&format!(r#"{head},"_rid":"{0}","_self":"{link}{0}/","_etag":"#, created.rid)),
            "{text}"
        );
        assert!(text.ends_with(&format!(r#"{links},"_ts":{}}}"#, created.ts)), "{text}");
        assert_eq!(catalog.state().resource(folder.into(), "x").unwrap(), &created);

        let twice = block_on(catalog.create_entry(folder, &parse(first), false, Precondition::NONE));
        assert!(matches!(twice, Err(CatalogError::AlreadyExists { .. })), "{twice:?}");
        let upserted = block_on(catalog.create_entry(folder, &parse(first), true, Precondition::NONE)).unwrap();
        assert!(!upserted.created && upserted.resource.rid == created.rid && upserted.resource.etag != created.etag);

        // A replace may rename; the RID stays.
        let renamed = block_on(catalog.replace_entry(folder, "x", &parse(second), Precondition::NONE)).unwrap();
        assert_eq!((&*renamed.id, &renamed.rid), ("y", &created.rid));
        assert!(catalog.state().resource(folder.into(), "x").is_err());
        let again = block_on(catalog.create_entry(folder, &parse(first), true, Precondition::NONE)).unwrap();
        assert!(again.created && again.resource.rid != created.rid);
        let clash = block_on(catalog.replace_entry(folder, "y", &parse(first), Precondition::NONE));
        assert!(matches!(clash, Err(CatalogError::AlreadyExists { .. })));

        let page = catalog.state().page(folder.into(), None, 10).unwrap();
        assert_eq!(page.name, envelope);
        assert!(ids(&page).ends_with(&["y", "x"]), "{:?}", ids(&page));
        account.check();
        block_on(catalog.delete_entry(folder, "x", Precondition::NONE)).unwrap();
        let gone = block_on(catalog.delete_entry(folder, "x", Precondition::NONE));
        assert!(matches!(gone, Err(CatalogError::NotFound { .. })));
        account.check();
    }
}

#[test]
fn bodies_of_small_resources_are_checked() {
    let account = account();
    account.database("d");
    account.container("d", "c");
    account.entry(Folder::Users { database: "d" }, r#"{"id":"u"}"#);
    let script = |kind| Folder::Scripts { database: "d", container: "c", kind };
    let permissions = Folder::Permissions { database: "d", user: "u" };
    for (folder, text, property) in [
        (Folder::Users { database: "d" }, r#"{"id":""}"#, "id"),
        (Folder::Users { database: "d" }, "3", "the body"),
        (permissions, r#"{"id":"p","permissionMode":"Write","resource":"dbs/d"}"#, "permissionMode"),
        (permissions, r#"{"id":"p","permissionMode":"All"}"#, "resource"),
        (
            permissions,
            r#"{"id":"p","permissionMode":"All","resource":"r","resourcePartitionKey":"k"}"#,
            "resourcePartitionKey",
        ),
        (Folder::EncryptionKeys { database: "d" }, r#"{"id":"k"}"#, "wrappedDataEncryptionKey"),
        (script(ScriptKind::StoredProcedure), r#"{"id":"s"}"#, "body"),
        (script(ScriptKind::Function), r#"{"id":"s","body":7}"#, "body"),
        (script(ScriptKind::Trigger), r#"{"id":"t","body":"b","triggerOperation":"All"}"#, "triggerType"),
        (
            script(ScriptKind::Trigger),
            r#"{"id":"t","body":"b","triggerType":"Pre","triggerOperation":"Read"}"#,
            "triggerOperation",
        ),
    ] {
        match block_on(account.catalog.create_entry(folder, &parse(text), false, Precondition::NONE)) {
            Err(CatalogError::Invalid { property: found, .. }) => assert_eq!(found, property, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let bad_id =
        block_on(account.catalog.create_entry(permissions, &parse(r#"{"id":"a#b"}"#), false, Precondition::NONE));
    assert!(matches!(bad_id, Err(CatalogError::Id(_))));
}

#[test]
fn a_user_has_one_permission_on_a_resource() {
    let account = account();
    account.database("d");
    account.entry(Folder::Users { database: "d" }, r#"{"id":"u"}"#);
    let folder = Folder::Permissions { database: "d", user: "u" };
    let permission = |id: &str, resource: &str, more: &str| {
        parse(&format!(r#"{{"id":"{id}","permissionMode":"All","resource":"{resource}"{more}}}"#))
    };
    let create = |value| block_on(account.catalog.create_entry(folder, &value, false, Precondition::NONE));
    create(permission("p", "dbs/d/colls/c", "")).unwrap();
    let refused = create(permission("q", "/dbs/d/colls/c/", ""));
    assert!(matches!(refused, Err(CatalogError::PermissionExists { .. })));
    create(permission("q", "dbs/d/colls/c", r#","resourcePartitionKey":["a"]"#)).unwrap();
    create(permission("r", "dbs/d/colls/other", "")).unwrap();
    let onto = permission("r", "dbs/d/colls/c", "");
    let replaced = block_on(account.catalog.replace_entry(folder, "r", &onto, Precondition::NONE));
    assert!(matches!(replaced, Err(CatalogError::PermissionExists { .. })));

    let state = account.catalog.state();
    let Detail::Permission(facts) = &state.entry(folder, "q").unwrap().detail else { panic!("a permission") };
    assert_eq!((facts.mode, facts.resource.as_str()), (PermissionMode::All, "dbs/d/colls/c"));
    assert_eq!(json::to_string(&facts.partition_key.as_ref().unwrap().to_json()), r#"["a"]"#);
    account.check();
}

#[test]
fn scripts_tell_what_they_are() {
    let account = account();
    account.database("d");
    account.container("d", "c");
    let folder = Folder::Scripts { database: "d", container: "c", kind: ScriptKind::Trigger };
    account.entry(folder, r#"{"id":"t","body":"function(){}","triggerType":"post","triggerOperation":"CREATE"}"#);
    let container = account.catalog.container("d", "c").unwrap();
    let entry = container.script(ScriptKind::Trigger, "t", Addressing::Name).unwrap();
    let trigger = Some(Trigger { moment: TriggerMoment::Post, operation: TriggerOperation::Create });
    assert_eq!(entry.detail, Detail::Script(Script { body: "function(){}".into(), trigger }));
    assert!(container.script(ScriptKind::Function, "t", Addressing::Name).is_none());
}

#[test]
fn scripts_of_a_container_are_counted() {
    let account = account();
    account.database("d");
    account.container("d", "c");
    let folder = Folder::Scripts { database: "d", container: "c", kind: ScriptKind::Function };
    for number in 0..50 {
        account.entry(folder, &format!(r#"{{"id":"f{number}","body":"b"}}"#));
    }
    let create = |upsert, id: &str| {
        let value = parse(&format!(r#"{{"id":"{id}","body":"b"}}"#));
        block_on(account.catalog.create_entry(folder, &value, upsert, Precondition::NONE))
    };
    assert!(matches!(create(false, "one more"), Err(CatalogError::TooMany { max: 50, .. })));
    assert!(!create(true, "f7").unwrap().created, "replacing is no creation");
}

/// Another data folder, other RIDs: a client that outlived a throw-away server notices.
#[test]
fn two_accounts_have_other_rids() {
    let open = |seed| block_on(Catalog::open(MemoryStore::new(), Env::simulated(seed), CatalogOptions::default()));
    let rid =
        |catalog: Catalog<MemoryStore>| block_on(catalog.create_database(&parse(r#"{"id":"d"}"#), None)).unwrap().rid;
    assert_ne!(rid(open(1).unwrap()), rid(open(2).unwrap()));
}

/// Handlers run on any thread.
#[test]
fn writes_can_move_between_threads() {
    fn movable<T: Send>(_: &T) {}
    let account = account();
    let value = container_body("c");
    movable(&account.catalog.create_database(&value, None));
    movable(&account.catalog.create_container("d", &value, ContainerOptions::default()));
    movable(&account.catalog.delete_database("d", Precondition::NONE));
    movable(&account.catalog.create_entry(Folder::Users { database: "d" }, &value, true, Precondition::NONE));
}
