//! Laws of all placements: one owner, minimal movement, stretches that agree with lookups.

use super::*;

const KEYS: u32 = 20_000;

fn members(count: usize) -> Members {
    Members::new((0..count).map(|n| format!("dbs/db/colls/c{n}"))).unwrap()
}

fn all(hasher: &Hasher, count: usize) -> Vec<(&'static str, Placement)> {
    vec![
        ("ring", Placement::Ring(Ring::new(hasher, members(count), 64).unwrap())),
        ("buckets", Placement::Buckets(BucketMap::even(members(count), 4096).unwrap())),
        ("bounded", Placement::Bounded(BoundedLoad::new(hasher, members(count), 4096, 125).unwrap())),
        ("jump", Placement::Jump(Jump::new(members(count)).unwrap())),
        ("rendezvous", Placement::Rendezvous(Rendezvous::new(hasher, members(count)))),
    ]
}

fn owners(placement: &Placement, hasher: &Hasher) -> Vec<CollectionLink> {
    let owner = |n: u32| placement.owner(hasher, hasher.point(format!("key-{n}").as_bytes()));
    (0..KEYS).map(|n| placement.members().link(owner(n)).clone()).collect()
}

#[test]
fn r28_an_addition_takes_about_its_share_and_nothing_else_moves() {
    let hasher = Hasher::murmur3_128();
    for (name, before) in all(&hasher, 10) {
        let newcomer = CollectionLink::new("dbs/db/colls/new");
        let after = before.with_added(&hasher, Member::new(newcomer.clone())).unwrap();
        let (old, new) = (owners(&before, &hasher), owners(&after, &hasher));
        let moved = old.iter().zip(&new).filter(|(a, b)| a != b).count();
        let needless = old.iter().zip(&new).filter(|(a, b)| a != b && **b != newcomer).count();
        // 1/11 of 20,000 is 1,818, five deviations of a count are 203. A ring of 64 virtual nodes has shares within
        // ±40 %, and bounded load anything up to 125 %.
        let (low, high) = if matches!(name, "ring" | "bounded") { (1_000, 2_700) } else { (1_610, 2_030) };
        assert!((low..=high).contains(&(moved - needless)), "{name}: {moved} moved");
        if name == "bounded" {
            assert!(needless < moved, "{name}: {needless} of {moved} needless");
        } else {
            assert_eq!(needless, 0, "{name}");
        }
    }
}

#[test]
fn r28_a_removal_moves_what_it_held_and_nothing_else() {
    let hasher = Hasher::murmur3_128();
    for (name, before) in all(&hasher, 10) {
        // Jump can lose only its last.
        let leaver = CollectionLink::new("dbs/db/colls/c9");
        let after = before.with_removed(&hasher, &leaver).unwrap();
        let (old, new) = (owners(&before, &hasher), owners(&after, &hasher));
        assert!(new.iter().all(|link| *link != leaver), "{name}");
        let needless = old.iter().zip(&new).filter(|(a, b)| a != b && **a != leaver).count();
        if name != "bounded" {
            assert_eq!(needless, 0, "{name}");
        }
    }
}

#[test]
fn r28_adding_and_removing_the_same_collection_is_a_return() {
    let hasher = Hasher::md5();
    for (name, before) in all(&hasher, 7) {
        let there = before.with_added(&hasher, Member::new("x")).unwrap();
        let back = there.with_removed(&hasher, &"x".into()).unwrap();
        if name == "buckets" {
            // A bucket map does not remember whose a bucket was; it must only be as even as before.
            let mut counts = vec![0usize; 7];
            let Placement::Buckets(map) = &back else { unreachable!() };
            map.owners().iter().for_each(|&owner| counts[owner as usize] += 1);
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        } else {
            assert_eq!(back, before, "{name}");
        }
    }
}

#[test]
fn stretches_say_what_lookups_say() {
    for hasher in [Hasher::md5(), Hasher::murmur3_32(), Hasher::murmur3_128()] {
        for (name, placement) in all(&hasher, 5) {
            let Some(stretches) = placement.stretches(&hasher) else {
                assert!(matches!(name, "jump" | "rendezvous"));
                continue;
            };
            assert_eq!(stretches[0].start, 0);
            assert!(stretches.windows(2).all(|w| w[0].start < w[1].start && w[0].owner != w[1].owner), "{name}");
            for n in 0..2_000u32 {
                let point = hasher.point(&n.to_be_bytes());
                let at = stretches.partition_point(|stretch| stretch.start <= point) - 1;
                assert_eq!(stretches[at].owner, placement.owner(&hasher, point), "{name}");
            }
            for (index, stretch) in stretches.iter().enumerate() {
                let end = stretches.get(index + 1).map_or(hasher.point_max(), |next| next.start - 1);
                assert_eq!(placement.owner(&hasher, stretch.start), stretch.owner, "{name}");
                assert_eq!(placement.owner(&hasher, end), stretch.owner, "{name}");
            }
        }
    }
}
