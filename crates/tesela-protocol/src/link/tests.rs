use super::*;

fn path(target: &str) -> Result<ResourcePath<'_>, PathError> {
    Link::parse(target, None).map(|link| link.path)
}

fn signed(target: &str) -> (String, String) {
    let link = Link::parse(target, None).unwrap();
    let (kind, link) = link.signed.candidates().next().unwrap();
    (kind.to_owned(), link.to_owned())
}

#[test]
fn every_route_is_recognised() {
    use ResourcePath as P;
    let database = || Cow::from("d");
    let container = || Cow::from("c");
    let script = |kind, script: &'static str| P::Script {
        database: "d".into(),
        container: "c".into(),
        kind,
        script: script.into(),
    };
    let scripts = |kind| P::Scripts { database: "d".into(), container: "c".into(), kind };
    for (target, expected) in [
        ("/", P::Account),
        ("", P::Account),
        ("/dbs", P::Databases),
        ("/dbs/", P::Databases),
        ("/dbs/d", P::Database { database: database() }),
        ("/dbs/d/colls", P::Containers { database: database() }),
        ("/dbs/d/colls/c/", P::Container { database: database(), container: container() }),
        ("/dbs/d/colls/c/docs/", P::Items { database: database(), container: container() }),
        ("/dbs/d/colls/c/docs/i", P::Item { database: database(), container: container(), item: "i".into() }),
        (
            "/dbs/d/colls/c/docs/i/attachments",
            P::Attachments { database: database(), container: container(), item: "i".into() },
        ),
        (
            "/dbs/d/colls/c/docs/i/attachments/a",
            P::Attachment { database: database(), container: container(), item: "i".into(), attachment: "a".into() },
        ),
        ("/dbs/d/colls/c/sprocs", scripts(ScriptKind::StoredProcedure)),
        ("/dbs/d/colls/c/triggers", scripts(ScriptKind::Trigger)),
        ("/dbs/d/colls/c/udfs", scripts(ScriptKind::UserDefinedFunction)),
        ("/dbs/d/colls/c/sprocs/s", script(ScriptKind::StoredProcedure, "s")),
        ("/dbs/d/colls/c/triggers/t", script(ScriptKind::Trigger, "t")),
        ("/dbs/d/colls/c/udfs/u", script(ScriptKind::UserDefinedFunction, "u")),
        ("/dbs/d/colls/c/conflicts", P::Conflicts { database: database(), container: container() }),
        (
            "/dbs/d/colls/c/conflicts/x",
            P::Conflict { database: database(), container: container(), conflict: "x".into() },
        ),
        ("/dbs/d/colls/c/pkranges", P::PartitionKeyRanges { database: database(), container: container() }),
        (
            "/dbs/d/colls/c/pkranges/0",
            P::PartitionKeyRange { database: database(), container: container(), range: "0".into() },
        ),
        (
            "/dbs/d/colls/c/operations/partitionkeydelete",
            P::PartitionKeyDelete { database: database(), container: container() },
        ),
        ("/dbs/d/users", P::Users { database: database() }),
        ("/dbs/d/users/u", P::User { database: database(), user: "u".into() }),
        ("/dbs/d/users/u/permissions", P::Permissions { database: database(), user: "u".into() }),
        (
            "/dbs/d/users/u/permissions/p",
            P::Permission { database: database(), user: "u".into(), permission: "p".into() },
        ),
        ("/dbs/d/clientencryptionkeys", P::EncryptionKeys { database: database() }),
        ("/dbs/d/clientencryptionkeys/k", P::EncryptionKey { database: database(), key: "k".into() }),
        ("/offers", P::Offers),
        ("/offers/AbCd", P::Offer { offer: "AbCd".into() }),
        ("/_tesela/health/", P::Admin { rest: "health".into() }),
        ("/_explorer/index.html", P::Explorer { rest: "index.html".into() }),
        ("/_explorer/emulator.pem", P::EmulatorCertificate),
    ] {
        assert_eq!(path(target), Ok(expected), "{target}");
    }
}

#[test]
fn type_segments_ignore_case_and_ids_do_not_collide_with_them() {
    assert_eq!(
        path("/DBS/colls/Colls/docs/DOCS/dbs"),
        Ok(ResourcePath::Item { database: "colls".into(), container: "docs".into(), item: "dbs".into() })
    );
}

#[test]
fn ids_are_decoded_one_by_one() {
    assert_eq!(
        path("/dbs/a%2Fb/colls/c%20%C3%A9/docs/%25"),
        Ok(ResourcePath::Item { database: "a/b".into(), container: "c é".into(), item: "%".into() })
    );
}

#[test]
fn what_names_nothing_is_refused() {
    for (target, expected) in [
        ("/nonsense", PathError::Unknown),
        ("/dbs/d/nonsense", PathError::Unknown),
        ("/dbs/d/docs/i", PathError::Unknown),
        ("/dbs/d/colls/c/permissions", PathError::Unknown),
        ("/dbs/d/colls/c/operations", PathError::Unknown),
        ("/dbs/d/colls/c/operations/other", PathError::Unknown),
        ("/operations", PathError::Unknown),
        ("/operations/dtc", PathError::Unknown),
        ("/dbs/d/operations", PathError::Unknown),
        ("/offers/a/offers", PathError::Unknown),
        ("/colls/c", PathError::Unknown),
        ("/dbs/d/colls/c/docs/i/attachments/a/docs", PathError::Unknown),
        ("/dbs/d/colls/c/sprocs/s/attachments", PathError::Unknown),
        ("/_other/x", PathError::Unknown),
        ("/dbs//colls/c", PathError::EmptySegment),
        ("/dbs/%FF", PathError::NotUtf8),
        ("/_tesela/%FF", PathError::NotUtf8),
        ("/addresses/", PathError::NothingToResolve),
        ("/addresses/x", PathError::Unknown),
    ] {
        assert_eq!(path(target), Err(expected), "{target}");
    }
    assert_eq!(Link::parse("/addresses", Some("$resolveFor=nonsense")), Err(PathError::NothingToResolve));
}

#[test]
fn signatures_cover_the_resource_or_the_parent_of_a_feed() {
    for (target, kind, link) in [
        ("/", "", ""),
        ("/dbs", "dbs", ""),
        ("/dbs/d", "dbs", "dbs/d"),
        ("/dbs/d/colls/", "colls", "dbs/d"),
        ("/dbs/MixedCase%20Db/colls/C", "colls", "dbs/MixedCase Db/colls/C"),
        ("/dbs/d/colls/c/docs/a%20b-%C3%A9", "docs", "dbs/d/colls/c/docs/a b-é"),
        ("/dbs/d/colls/c/pkranges", "pkranges", "dbs/d/colls/c"),
        ("/dbs/d/colls/c/operations/partitionkeydelete", "colls", "dbs/d/colls/c"),
        ("/offers", "offers", ""),
        ("/offers/AbCd", "offers", "abcd"),
        ("/dbs/qHVdAA==", "dbs", "qhvdaa=="),
        ("/dbs/qHVdAA%3D%3D/colls", "colls", "qhvdaa=="),
        ("/dbs/qHVdAA==/colls/qHVdAImeKAQ=/pkranges", "pkranges", "qhvdaimekaq="),
        ("/dbs/qHVdAA==/colls/qHVdAImeKAQ=/docs/qHVdAImeKAQBAAAAAAAAAA==", "docs", "qhvdaimekaqbaaaaaaaaaa=="),
        ("/dbs/d/users/u/permissions/p", "permissions", "dbs/d/users/u/permissions/p"),
    ] {
        assert_eq!(signed(target), (kind.to_owned(), link.to_owned()), "{target}");
    }
}

#[test]
fn unusual_spellings_are_further_candidates() {
    let candidates = |target| {
        let link = Link::parse(target, None).unwrap();
        link.signed.candidates().map(|(kind, link)| format!("{kind} {link}")).collect::<Vec<_>>()
    };
    assert_eq!(candidates("/dbs/a%20b"), ["dbs dbs/a b", "dbs dbs/a%20b"]);
    assert_eq!(candidates("/dbs/abcdef=="), ["dbs abcdef==", "dbs dbs/abcdef=="]);
    assert_eq!(
        candidates("/dbs/d/colls/c/operations/partitionkeydelete/"),
        ["colls dbs/d/colls/c", "partitionkey dbs/d/colls/c"]
    );
}

#[test]
fn addresses_are_signed_as_the_resource_they_ask_about() {
    let query = "%24resolveFor=dbs%2fd%2fcolls%2fc%2fdocs&$filter=protocol%20eq%20rntbd";
    let link = Link::parse("/addresses/", Some(query)).unwrap();
    assert_eq!(link.path, ResourcePath::Addresses { resolve_for: "dbs/d/colls/c/docs".into() });
    assert_eq!(link.signed.candidates().next(), Some(("docs", "dbs/d/colls/c")));
    assert_eq!(query_parameter(query, "$filter").as_deref(), Some("protocol eq rntbd"));
    assert_eq!(query_parameter(query, "filter"), None);
}

#[test]
fn rids_are_known_by_the_shape_of_the_first_one() {
    for (target, addressing) in [
        ("/dbs/qHVdAA==/colls", Addressing::Rid),
        ("/dbs/a-+dAA==/colls", Addressing::Rid),
        ("/offers/x", Addressing::Rid),
        ("/dbs/qHVdAAA=/colls", Addressing::Name),
        ("/dbs/products", Addressing::Name),
        ("/dbs/é-dAA==", Addressing::Name),
        ("/", Addressing::Name),
    ] {
        assert_eq!(Link::parse(target, None).unwrap().addressing, addressing, "{target}");
    }
}
