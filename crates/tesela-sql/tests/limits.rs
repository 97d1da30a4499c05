//! Size and depth: long queries are linear work, deep ones are refused, and neither needs
//! more stack than a worker thread has.

use tesela_model::limits::QUERY_TEXT_BYTES_MAX;
use tesela_sql::ast::{Expr, ExprKind, Query, SelectSpec};
use tesela_sql::{EXPRESSION_HEIGHT_MAX, NESTING_MAX, SUBQUERY_DEPTH_MAX, parse, print, rules};

/// Three quarters of what a spawned thread has by default, for unoptimised code, whose frames
/// are several times larger than those of a release build.
const STACK_BYTES: usize = 1536 * 1024;

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("a thread can be spawned");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn value(query: &Query) -> &Expr {
    match &query.select.spec {
        SelectSpec::Value(expr) => expr,
        other => panic!("no SELECT VALUE: {other:?}"),
    }
}

/// Everything that recurses over a tree.
fn exercise(text: &str) {
    let query = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rules::check(&query), []);
    let printed = print(&query);
    assert_eq!(parse(&printed).as_ref(), Ok(&query));
    assert!(!format!("{query:?}").is_empty());
    drop(query.clone());
}

/// Ways to nest: what opens a level and what closes it.
const NESTINGS: &[(&str, &str)] = &[
    ("1 + (", ")"),
    ("a OR b AND NOT c = d & e < f << g + h * (", ")"),
    ("(NOT ", ")"),
    ("ABS(", ")"),
    ("udf.f((", "))"),
    ("[", "]"),
    ("{a: ", "}"),
    ("a[", "]"),
    ("a ? b : ", ""),
    ("a ? ", " : b"),
    ("a IN (", ")"),
    ("a BETWEEN 1 AND (", ")"),
    ("a LIKE (", ")"),
    ("a ?? (", ")"),
    ("1 - (2 + (", "))"),
];

fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("SELECT VALUE {}1{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn nesting_is_accepted_up_to_the_limit_and_refused_beyond_it() {
    on_small_stack(|| {
        for (open, close) in NESTINGS {
            let accepted = |levels: usize| parse(&nested(open, close, levels)).is_ok();
            let deepest = (1..=NESTING_MAX as usize).take_while(|levels| accepted(*levels)).count();
            assert!(deepest >= 20, "{open}: only {deepest} levels");
            exercise(&nested(open, close, deepest));
            for beyond in [deepest + 1, 1_000, 10_000] {
                let error = parse(&nested(open, close, beyond)).expect_err(open);
                assert!(error.message.contains("nested"), "{open} {beyond}: {error}");
            }
        }
    });
}

#[test]
fn subqueries_are_counted_apart() {
    on_small_stack(|| {
        let levels = SUBQUERY_DEPTH_MAX as usize;
        for (open, close) in [
            ("(SELECT VALUE ", ")"),
            ("EXISTS(SELECT VALUE c FROM c WHERE a + b * ", ")"),
            ("ARRAY(SELECT VALUE x FROM x IN (SELECT VALUE ", "))"),
        ] {
            let levels = levels / open.matches("SELECT").count();
            exercise(&nested(open, close, levels));
            let error = parse(&nested(open, close, levels + 1)).expect_err(open);
            assert!(error.message.contains("subqueries"), "{error}");
        }
    });
}

#[test]
fn chains_grow_in_height_only_where_each_link_is_a_node() {
    on_small_stack(|| {
        let height = EXPRESSION_HEIGHT_MAX as usize;
        for link in [" + 1", ".x", "[0]", " || a", " ?? 1"] {
            exercise(&format!("SELECT VALUE a{}", link.repeat(height - 1)));
            for beyond in [height, 30_000] {
                let error = parse(&format!("SELECT VALUE a{}", link.repeat(beyond))).expect_err(link);
                assert!(error.message.contains("nested"), "{error}");
            }
        }
        exercise(&format!("SELECT VALUE {}a", "NOT ".repeat(height - 1)));
        assert!(parse(&format!("SELECT VALUE {}a", "NOT ".repeat(height))).is_err());
    });
}

#[test]
fn a_read_many_filter_is_one_node_in_any_grouping() {
    on_small_stack(|| {
        const TERMS: usize = 5_000;
        let term = |n: usize| format!("(c.id = \"{n}\" AND c.pk = \"{n}\")");
        let flat = (0..TERMS).map(term).collect::<Vec<_>>().join(" OR ");
        let grouped = (1..TERMS).fold(format!("{}{}", "(".repeat(TERMS - 1), term(0)), |mut text, n| {
            text.push_str(" OR ");
            text.push_str(&term(n));
            text.push(')');
            text
        });
        let [flat, grouped] = [flat, grouped].map(|text| format!("SELECT VALUE ({text})"));
        let query = parse(&flat).expect("a long filter is accepted");
        assert!(matches!(&value(&query).kind, ExprKind::Or(terms) if terms.len() == TERMS));
        assert_eq!(parse(&grouped).as_ref(), Ok(&query));
        exercise(&flat);
    });
}

#[test]
fn groups_that_open_together_cost_no_stack() {
    on_small_stack(|| {
        let levels = 100_000;
        let query = parse(&nested("(", ")", levels)).expect("parentheses alone are no depth");
        assert_eq!(print(&query), "SELECT VALUE 1");
        assert_eq!(value(&query).span.range().len(), 2 * levels + 1);
        assert!(parse(&nested("(", "", levels)).is_err());
    });
}

#[test]
fn lists_are_as_long_as_the_text() {
    on_small_stack(|| {
        let items = vec!["1"; 50_000].join(", ");
        exercise(&format!("SELECT VALUE a IN ({items}) AND ARRAY_CONTAINS([{items}], a)"));
    });
}

#[test]
fn text_is_refused_above_the_limit() {
    let padded = |length: usize| format!("SELECT 1{}", " ".repeat(length - "SELECT 1".len()));
    assert!(parse(&padded(QUERY_TEXT_BYTES_MAX)).is_ok());
    let error = parse(&padded(QUERY_TEXT_BYTES_MAX + 1)).expect_err("one byte too many");
    assert!(error.message.contains(&QUERY_TEXT_BYTES_MAX.to_string()), "{error}");
}
