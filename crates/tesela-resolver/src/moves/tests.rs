//! Plans against their maps.

use std::ops::Bound;

use super::*;
use crate::extract::KeyExtractor;
use crate::hash::Hasher;
use crate::resolvers::{KeyOrder, LookupResolver, RangeResolver, Scheme};

fn id() -> KeyExtractor {
    KeyExtractor::path("/id").unwrap()
}

fn hashed(scheme: Scheme, hasher: Hasher, count: usize) -> HashResolver {
    HashResolver::new(id(), hasher, scheme, (0..count).map(|n| format!("c{n}"))).unwrap()
}

const SCHEMES: [Scheme; 5] =
    [Scheme::Ring { virtual_nodes: 128 }, Scheme::BUCKETS, Scheme::BOUNDED, Scheme::Jump, Scheme::Rendezvous];

#[test]
fn r36_hash_ranges_select_exactly_the_keys_that_move() {
    for scheme in [Scheme::RING, Scheme::BUCKETS, Scheme::BOUNDED] {
        for hasher in [Hasher::md5(), Hasher::murmur3_32()] {
            let current = hashed(scheme, hasher, 6);
            let next = current.with_added("new").unwrap().with_removed(&"c2".into()).unwrap();
            let plan = MovePlan::new(current.clone().into(), next.into()).unwrap();
            let Selection::HashRanges(moves) = plan.selection() else { panic!("{scheme:?} has ranges") };
            assert!(moves.windows(2).all(|pair| pair[0].range.end < pair[1].range.start));
            for n in 0..20_000 {
                let key = Key::from(format!("user-{n}"));
                let point = current.point(&key);
                let selected = moves.iter().find(|it| it.range.contains(point));
                let expected = match plan.route_key(&key).unwrap() {
                    Route::Stays(_) => None,
                    Route::Moves { from, to } => Some((from, to)),
                };
                assert_eq!(selected.map(|it| (it.from.clone(), it.to.clone())), expected);
            }
        }
    }
}

#[test]
fn r36_an_addition_moves_about_one_nth_and_nothing_needlessly() {
    for scheme in SCHEMES {
        let current = hashed(scheme, Hasher::murmur3_128(), 9);
        let next = current.with_added("new").unwrap();
        let plan = MovePlan::new(current.into(), next.into()).unwrap();
        assert!((plan.ideal_share().unwrap() - 0.1).abs() < 1e-12);
        let mut dry_run = DryRun::new(&plan).unwrap();
        for n in 0..50_000 {
            dry_run.count(&plan.route_key(&Key::from(n)).unwrap(), 100);
        }
        let exact = plan.share().unwrap_or(0.1);
        // Five deviations of a share of 0.1 among 50,000.
        assert!((dry_run.share() - exact).abs() < 0.0068, "{scheme:?}: {} of {exact}", dry_run.share());
        assert_eq!(dry_run.moving().bytes, dry_run.moving().documents * 100);
        let routed: u64 = dry_run.by_route().values().map(|tally| tally.documents).sum();
        assert_eq!(routed, dry_run.moving().documents);
        match scheme {
            Scheme::Bounded { .. } => assert!(dry_run.needless().documents > 0),
            Scheme::Ring { .. } => assert!(exact < 0.13 && dry_run.needless().documents == 0, "{exact}"),
            _ => assert!(dry_run.share() < 0.11 && dry_run.needless().documents == 0, "{scheme:?}"),
        }
    }
}

#[test]
fn r36_a_removal_needs_to_look_into_the_leaver_alone() {
    for scheme in SCHEMES {
        let current = hashed(scheme, Hasher::murmur3_128(), 4);
        let next = current.with_removed(&"c3".into()).unwrap();
        let plan = MovePlan::new(current.into(), next.into()).unwrap();
        if !matches!(scheme, Scheme::Bounded { .. }) {
            assert_eq!(plan.sources(), ["c3".into()], "{scheme:?}");
        }
        assert!((plan.ideal_share().unwrap() - 0.25).abs() < 1e-12);
    }
}

#[test]
fn r36_jump_members_that_change_their_number_may_all_lose_documents() {
    let jump = |links: &[&str]| HashResolver::new(id(), Hasher::md5(), Scheme::Jump, links.iter().copied()).unwrap();
    let sources = |next: &[&str]| MovePlan::new(jump(&["a", "b", "c"]).into(), jump(next).into()).unwrap().sources();
    assert_eq!(sources(&["a", "b"]), ["c".into()]);
    assert_eq!(sources(&["b", "c"]).len(), 3);
}

#[test]
fn r36_a_map_that_does_not_change_moves_nothing() {
    for scheme in [Scheme::RING, Scheme::BUCKETS, Scheme::BOUNDED] {
        let map = Resolver::from(hashed(scheme, Hasher::md5(), 5));
        let plan = MovePlan::new(map.clone(), map).unwrap();
        assert_eq!(plan.selection(), &Selection::HashRanges(Vec::new()));
        assert_eq!((plan.share(), plan.ideal_share()), (Some(0.0), Some(0.0)));
    }
}

#[test]
fn r36_other_keys_or_hashes_are_asked_one_by_one() {
    let current = hashed(Scheme::BUCKETS, Hasher::md5(), 2);
    let other_hash = hashed(Scheme::BUCKETS, Hasher::murmur3_32(), 2);
    let other_key = HashResolver::buckets(KeyExtractor::path("/user").unwrap(), ["c0", "c1"]).unwrap();
    for next in [other_hash, other_key] {
        let plan = MovePlan::new(current.clone().into(), next.clone().into()).unwrap();
        assert_eq!(plan.selection(), &Selection::EachDocument { sources: vec!["c0".into(), "c1".into()] });
        let document = tesela_model::json::parse(br#"{"id":"17","user":"ada"}"#).unwrap();
        let from = current.resolve_for_create(&"17".into()).unwrap();
        let to = next.resolve_for_create(&next.partition_key(&document).unwrap()).unwrap();
        let expected = if from == to { Route::Stays(from) } else { Route::Moves { from, to } };
        assert_eq!(plan.route(&document).unwrap(), expected);
    }
}

fn ranges(entries: &[(&str, &str, &str)]) -> Resolver {
    let entries = entries.iter().map(|(low, high, link)| (KeyRange::half_open(*low, *high).unwrap(), *link));
    RangeResolver::new(id(), KeyOrder::Natural, entries).unwrap().into()
}

#[test]
fn r36_ranges_are_cut_where_either_map_cuts() {
    let plan = MovePlan::new(
        ranges(&[("a", "h", "one"), ("h", "p", "two")]),
        ranges(&[("a", "d", "one"), ("d", "k", "three"), ("k", "z", "two")]),
    )
    .unwrap();
    let shown: Vec<String> = match plan.selection() {
        Selection::KeyRanges(moves) => moves.iter().map(|it| format!("{} {}>{}", it.range, it.from, it.to)).collect(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown, [r#"["d", "h") one>three"#, r#"["h", "k") two>three"#]);
    assert_eq!(plan.sources(), ["one".into(), "two".into()]);
    assert_eq!((plan.share(), plan.ideal_share()), (None, None));
}

#[test]
fn r36_nobody_is_left_without_a_home() {
    let stranded = |next: &[(&str, &str, &str)]| MovePlan::new(ranges(&[("a", "m", "one")]), ranges(next)).unwrap_err();
    let range = |low: &str, high: &str| KeyRange::half_open(low, high).unwrap();
    let at = |range| PlanError::StrandedRange { range, from: "one".into() };
    assert_eq!(stranded(&[("b", "z", "one")]), at(range("a", "b")));
    assert_eq!(stranded(&[("a", "c", "x"), ("d", "z", "y")]), at(range("c", "d")));
    assert_eq!(stranded(&[("a", "c", "x")]), at(range("c", "m")));
    assert_eq!(stranded(&[("n", "z", "x")]), at(range("a", "m")));
    let closed = KeyRange::new(Bound::Included("a".into()), Bound::Included("m".into())).unwrap();
    let current = RangeResolver::new(id(), KeyOrder::Natural, [(closed, "one")]).unwrap();
    let plan = MovePlan::new(current.into(), ranges(&[("a", "m", "one")]));
    assert_eq!(plan.unwrap_err(), at(KeyRange::point("m".into())), "the closed end counts");
}

#[test]
fn r36_lookups_move_key_by_key() {
    let lookup = |entries: &[(&str, &str)], default: Option<&str>| -> Resolver {
        LookupResolver::new(id(), entries.iter().copied(), default.map(CollectionLink::new)).unwrap().into()
    };
    let current = lookup(&[("eu", "a"), ("us", "b")], Some("rest"));
    let plan = MovePlan::new(current.clone(), lookup(&[("eu", "c"), ("jp", "d")], Some("rest"))).unwrap();
    let moved = |key: &str, from: &str, to: &str| KeyMove { key: key.into(), from: from.into(), to: to.into() };
    let named = vec![moved("eu", "a", "c"), moved("jp", "rest", "d"), moved("us", "b", "rest")];
    assert_eq!(plan.selection(), &Selection::Keys { named, others: None });
    assert_eq!(plan.sources(), ["a".into(), "b".into(), "rest".into()]);
    let plan = MovePlan::new(current.clone(), lookup(&[("eu", "a"), ("us", "b")], Some("world"))).unwrap();
    let others = Some(("rest".into(), "world".into()));
    assert_eq!(plan.selection(), &Selection::Keys { named: Vec::new(), others });
    let stranded = MovePlan::new(current, lookup(&[("eu", "a")], None)).unwrap_err();
    assert_eq!(stranded, PlanError::StrandedOthers { from: "rest".into() });
    let stranded = MovePlan::new(lookup(&[("eu", "a")], None), lookup(&[("us", "a")], None)).unwrap_err();
    assert_eq!(stranded, PlanError::StrandedKey { key: "eu".into(), from: "a".into() });
}
