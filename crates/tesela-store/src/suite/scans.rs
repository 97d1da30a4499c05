//! Ranges, directions and limits, against a sorted map.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{A, B, Subject, subject_with_spaces};
use crate::{Batch, Direction, KeyRange, Page, ScanLimit, Snapshot, Store};

/// Keys that share prefixes and use the extreme bytes.
const KEYS: [&[u8]; 12] =
    [b"\0", b"\0\0", b"a", b"a\0", b"a\0b", b"aa", b"ab", b"a\xff", b"a\xff\xff", b"b", b"\xff", b"\xff\xff"];

type Rows = BTreeMap<Bytes, Bytes>;

/// A store with `KEYS` in `A`, one of them deleted and one replaced, and noise in `B`.
async fn filled<S: Subject>() -> (S, S::Store, Rows) {
    let (subject, store) = subject_with_spaces::<S>().await;
    let mut expected = Rows::new();
    let mut batch = Batch::new();
    for (number, key) in KEYS.into_iter().enumerate() {
        let value = Bytes::from("x".repeat(number));
        batch.put(A, key, value.clone());
        batch.put(B, key, "noise");
        expected.insert(Bytes::from_static(key), value);
    }
    store.commit(batch).await.expect("a small batch is accepted");

    let mut batch = Batch::new();
    batch.delete(A, &b"ab"[..]);
    batch.put(A, &b"b"[..], "replaced");
    store.commit(batch).await.expect("a small batch is accepted");
    expected.remove(&b"ab"[..]);
    expected.insert("b".into(), "replaced".into());
    (subject, store, expected)
}

fn ranges() -> Vec<KeyRange> {
    let mut ranges = vec![KeyRange::all()];
    for from in KEYS {
        ranges.push(KeyRange::prefix(from));
        ranges.push(KeyRange::starting_at(from));
        ranges.extend(KEYS.into_iter().map(|to| KeyRange::between(from, to)));
    }
    ranges
}

fn expected_page(rows: &Rows, range: &KeyRange, direction: Direction, limit: ScanLimit) -> Page {
    let inside = rows.iter().filter(|(key, _)| range.contains(key)).map(|(key, value)| (key.clone(), value.clone()));
    let mut inside: Vec<_> = inside.collect();
    if direction == Direction::Backward {
        inside.reverse();
    }
    let mut taken = 0;
    let mut bytes = 0;
    while taken < inside.len() && taken < limit.rows && (taken == 0 || bytes < limit.bytes) {
        bytes += inside[taken].0.len() + inside[taken].1.len();
        taken += 1;
    }
    let more = taken < inside.len();
    inside.truncate(taken);
    Page { rows: inside, more }
}

pub async fn scans_match_a_sorted_map<S: Subject>() {
    let (_subject, store, expected) = filled::<S>().await;
    let snapshot = store.snapshot();
    let limits = [
        ScanLimit::NONE,
        ScanLimit::rows(0),
        ScanLimit::rows(1),
        ScanLimit::rows(3),
        ScanLimit::bytes(0),
        ScanLimit::bytes(11),
        ScanLimit { rows: 4, bytes: 20 },
    ];
    for range in ranges() {
        for direction in [Direction::Forward, Direction::Backward] {
            for limit in limits {
                let page = snapshot.scan(A, range.clone(), direction, limit).await.expect("scannable");
                let wanted = expected_page(&expected, &range, direction, limit);
                assert_eq!(page, wanted, "range {range:?}, {direction:?}, {limit:?}");
            }
        }
    }
}

pub async fn pages_join_to_the_range<S: Subject>() {
    let (_subject, store, expected) = filled::<S>().await;
    let snapshot = store.snapshot();
    for direction in [Direction::Forward, Direction::Backward] {
        for page_rows in 1..=KEYS.len() {
            let mut joined = Vec::new();
            let mut range = KeyRange::all();
            loop {
                let page = snapshot.scan(A, range.clone(), direction, ScanLimit::rows(page_rows)).await;
                let page = page.expect("scannable");
                joined.extend(page.rows);
                if !page.more {
                    break;
                }
                let (last, _) = joined.last().expect("a page with more behind it is not empty");
                range = range.after(last, direction);
            }
            let whole = expected_page(&expected, &KeyRange::all(), direction, ScanLimit::NONE);
            assert_eq!(joined, whole.rows, "{direction:?}, {page_rows} rows a page");
        }
    }
}
