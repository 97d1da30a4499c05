//! Which way is taken, in words.

use super::{Ask, Bench, compile};
use crate::read::FeedScope;

const POLICY: &str = r#","indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/no/*"}],
    "compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}],[{"path":"/a"},{"path":"/z"}]]}"#;

#[tokio::test]
async fn the_way_follows_from_query_and_policy() {
    let bench = Bench::new(POLICY).await;
    for (text, expected) in [
        ("SELECT * FROM c", "scan"),
        ("SELECT * FROM c WHERE c.a = 1", "index /a/? = 1"),
        ("SELECT * FROM c WHERE c.no = 1", "scan"),
        ("SELECT * FROM c WHERE 1 = 2", "nothing"),
        ("SELECT VALUE COUNT(1) FROM c", "count of all documents"),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.a > 1 AND c.a < 5", "count of index /a/? > 1 and < 5"),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.a = {}", "index /a/? = {}"),
        ("SELECT c.x, COUNT(1) AS n FROM c WHERE c.a = 1 GROUP BY c.x", "index /a/? = 1"),
        ("SELECT * FROM c ORDER BY c.x", "order of index /x/? forward"),
        ("SELECT * FROM c WHERE c.x > 3 ORDER BY c.x DESC", "order of index /x/? backward within /x/? > 3"),
        ("SELECT * FROM c WHERE c.y = 1 ORDER BY c.x", "order of index /x/? forward; filter index /y/? = 1"),
        ("SELECT * FROM c ORDER BY c.a, c.b DESC", "order of composite index (/a ASC, /b DESC) forward"),
        ("SELECT * FROM c ORDER BY c.a DESC, c.b", "order of composite index (/a ASC, /b DESC) backward"),
        ("SELECT * FROM c WHERE c.a = 1 ORDER BY c.z DESC", "order of composite index (/a ASC, /z ASC) backward"),
        (
            "SELECT * FROM c WHERE c.a = 1 AND c.z > 5 ORDER BY c.z",
            "order of composite index (/a ASC, /z ASC) forward within /z/? > 5",
        ),
        // Its rows of one value of a are in the order of b, but its ties are not in the direction of b.
        ("SELECT * FROM c WHERE c.a = 1 ORDER BY c.b DESC", "order of index /b/? backward; filter index /a/? = 1"),
        ("SELECT * FROM c WHERE c.a > 1 ORDER BY c.z", "order of index /z/? forward; filter index /a/? > 1"),
        ("SELECT DISTINCT VALUE c.x FROM c ORDER BY c.x", "scan; sort"),
        ("SELECT * FROM c ORDER BY c.twice", "scan; sort"),
        ("SELECT * FROM c ORDER BY c.x[0]", "scan; sort"),
        (
            "SELECT * FROM c ORDER BY c.a, c.b",
            "The order by query does not have a corresponding composite index that it can be served from.",
        ),
        (
            "SELECT * FROM c ORDER BY c.no.x",
            "The order-by item requires a range index to be defined on the corresponding index path.",
        ),
        (
            "SELECT * FROM c ORDER BY c._etag",
            "The order-by item requires a range index to be defined on the corresponding index path.",
        ),
    ] {
        let query = compile(text);
        assert_eq!(bench.path(&Ask::all(&query, 1)), expected, "{text}");
    }
}

/// In one logical partition the test on its key says nothing new.
#[tokio::test]
async fn the_key_of_the_scope_is_no_condition() {
    let bench = Bench::new("").await;
    for (text, expected) in [
        ("SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'k'", "count of all documents"),
        ("SELECT * FROM c WHERE c.pk = 'k' AND c.a = 1", "index /a/? = 1"),
        ("SELECT * FROM c WHERE c.pk = 'other'", "index /pk/? = \"other\""),
        ("SELECT * FROM c WHERE c.pk = 'k' AND c.pk = 'l'", "index /pk/? = \"l\""),
    ] {
        let query = compile(text);
        let ask = Ask { query: &query, scope: FeedScope::Logical(bench.key("\"k\"").epk), items: 1 };
        assert_eq!(bench.path(&ask), expected, "{text}");
    }
}

#[tokio::test]
async fn a_count_by_the_index_reads_no_document() {
    let bench = Bench::new("").await;
    for n in 0..20 {
        bench.put(&format!(r#"{{"id":"{n}","pk":{},"n":{n}}}"#, n % 2), true).await;
    }
    for (text, scope, expected) in [
        ("SELECT VALUE COUNT(1) FROM c", FeedScope::All, "20"),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.pk = 1", FeedScope::Logical(bench.key("1").epk), "10"),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 5 AND c.pk = 1", FeedScope::Logical(bench.key("1").epk), "8"),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.n IN (1, 2, 30)", FeedScope::All, "2"),
    ] {
        let query = compile(text);
        let page = bench.page(&Ask { query: &query, scope, items: 10 }, Default::default()).await.unwrap();
        assert_eq!(page.rows, [expected.as_bytes()], "{text}");
        assert_eq!((page.cost.loaded_documents, page.cost.facts.loaded_bytes), (0, 0), "{text}");
    }
}

/// A page of an ordered answer goes on in its place, whatever was written in between.
#[tokio::test]
async fn pages_go_on_in_place() {
    let bench = Bench::new("").await;
    for n in 0..40 {
        bench.put(&format!(r#"{{"id":"{n}","pk":0,"n":{n}}}"#), true).await;
    }
    let query = compile("SELECT VALUE c.n FROM c ORDER BY c.n");
    let ask = Ask::all(&query, 4);
    let first = bench.page(&ask, Default::default()).await.unwrap();
    assert_eq!(first.rows, [b"0", b"1", b"2", b"3"]);
    bench.put(r#"{"id":"new","pk":0,"n":3.5}"#, true).await;
    bench.put(r#"{"id":"early","pk":0,"n":-1}"#, true).await;
    bench.delete("0", "3").await;
    let second = bench.page(&ask, first.next.unwrap()).await.unwrap();
    assert_eq!(second.rows, [&b"3.5"[..], b"4", b"5", b"6"]);
    assert!(second.cost.loaded_documents < 12, "{:?}", second.cost);
}
