//! Laws of equality, order and keys, whatever a value is made of.

use super::*;
use proptest::prelude::*;
use std::cmp::Ordering;
use tesela_model::document::Document;
use tesela_model::json;

/// JSON text of a value: few distinct ones, so that equal pairs are common.
fn text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop_oneof!["null", "true", "false"],
        prop_oneof![
            "0",
            "-0",
            "1",
            "1\\.0",
            "1e0",
            "-2\\.5",
            "9007199254740993",
            "9007199254740992",
            "1e300",
            "-1e300"
        ],
        prop_oneof![
            Just("\"\"".to_owned()),
            Just(r#""a""#.to_owned()),
            Just(r#""a\u0000""#.to_owned()),
            Just(r#""B""#.to_owned()),
            Just("\"\u{FFFD}\"".to_owned()),
            Just("\"😀\"".to_owned()),
            Just(r#""\ud83d\ude00""#.to_owned()),
            "\"[a-c]{0,2}\"",
        ],
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let members = prop::collection::btree_map("[x-z]", inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(|all| format!("[{}]", all.join(","))),
            (members, any::<bool>()).prop_map(|(members, reversed)| {
                let mut all: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                if reversed {
                    all.reverse();
                }
                format!("{{{}}}", all.join(","))
            }),
        ]
    })
}

fn key_of(value: &Val<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    key::append(value, &mut bytes);
    bytes
}

fn descending_key_of(value: &Val<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    key::append_descending(value, &mut bytes);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_a_value_is_made_of_does_not_matter(a in text(), b in text()) {
        let (a_doc, b_doc) = (Document::encode(a.as_bytes()).unwrap(), Document::encode(b.as_bytes()).unwrap());
        let (a_tree, b_tree) = (json::parse(a.as_bytes()).unwrap(), json::parse(b.as_bytes()).unwrap());
        let forms_of_a = [Val::Stored(a_doc.root()), Val::Constant(&a_tree), Val::from_value(a_tree.clone())];
        let forms_of_b = [Val::Stored(b_doc.root()), Val::Constant(&b_tree), Val::from_value(b_tree.clone())];
        let order = compare(&forms_of_a[0], &forms_of_b[0]);
        for a in &forms_of_a {
            for b in &forms_of_b {
                prop_assert_eq!(compare(a, b), order);
                prop_assert_eq!(equal(a, b), order.is_eq());
                prop_assert_eq!(key_of(a).cmp(&key_of(b)), order);
                prop_assert_eq!(descending_key_of(a).cmp(&descending_key_of(b)), order.reverse());
            }
        }
    }

    #[test]
    fn the_order_is_total(a in text(), b in text(), c in text()) {
        let trees = [a, b, c].map(|text| json::parse(text.as_bytes()).unwrap());
        let [a, b, c] = trees.each_ref().map(Val::Constant);
        prop_assert_eq!(compare(&a, &a), Ordering::Equal);
        prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
        if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
            prop_assert!(compare(&a, &c).is_le());
        }
        prop_assert!(compare(&Val::Undefined, &a).is_lt());
    }

    #[test]
    fn keys_of_lists_sort_by_their_items(a in prop::collection::vec(text(), 2), b in prop::collection::vec(text(), 2)) {
        let tree = |text: &String| json::parse(text.as_bytes()).unwrap();
        let (a, b): (Vec<_>, Vec<_>) = (a.iter().map(tree).collect(), b.iter().map(tree).collect());
        let key = |items: &[Value]| {
            let mut bytes = key_of(&Val::Constant(&items[0]));
            key::append_descending(&Val::Constant(&items[1]), &mut bytes);
            bytes
        };
        let expected = compare(&Val::Constant(&a[0]), &Val::Constant(&b[0]))
            .then(compare(&Val::Constant(&a[1]), &Val::Constant(&b[1])).reverse());
        prop_assert_eq!(key(&a).cmp(&key(&b)), expected);
    }

    #[test]
    fn text_sorts_by_utf16_unit(a in ".{0,3}", b in ".{0,3}") {
        prop_assert_eq!(compare_text(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
    }

    #[test]
    fn stored_values_are_written_as_they_were(text in text()) {
        let document = Document::encode(text.as_bytes()).unwrap();
        prop_assert_eq!(Val::Stored(document.root()).to_json(), document.text());
    }
}

#[test]
fn what_json_cannot_spell_becomes_its_name() {
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e21].map(Val::double);
    assert_eq!(Val::array(values.clone()).to_json(), r#"["NaN","Infinity","-Infinity",0,1e+21]"#);
    let tree = Val::array(values).to_value().unwrap();
    assert_eq!(Val::Constant(&tree).to_json(), r#"["NaN","Infinity","-Infinity",0,1e+21]"#);
}

#[test]
fn nan_sorts_before_numbers_and_groups_with_itself() {
    let (nan, low) = (Val::double(f64::NAN), Val::double(f64::NEG_INFINITY));
    assert!(equal(&nan, &nan));
    assert_eq!(compare(&nan, &low), Ordering::Less);
    assert!(key_of(&nan) < key_of(&low));
}

#[test]
fn building_drops_undefined_and_keeps_the_last_of_a_name() {
    let member = |name: &'static str, value: Val<'static>| (std::borrow::Cow::Borrowed(name), value);
    let object = Val::object([
        member("a", Val::int(1)),
        member("b", Val::Undefined),
        member("c", Val::int(2)),
        member("a", Val::int(3)),
    ]);
    assert_eq!(object.to_json(), r#"{"a":3,"c":2}"#);
    assert_eq!(Val::array([Val::Undefined, Val::Null]).to_json(), "[null]");
}
