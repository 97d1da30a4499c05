use super::*;
use crate::json;
use proptest::prelude::*;

fn doc(text: &str) -> Document {
    Document::encode(text.as_bytes()).unwrap()
}

#[test]
fn text_is_kept_but_for_blanks() {
    let document = doc(" { \"b\" : 1.00 , \"a\" : [ 1 , 2.50, \"x y\" ] , \"c\" : { } } ");
    assert_eq!(document.text(), r#"{"b":1.00,"a":[1,2.50,"x y"],"c":{}}"#);
}

#[test]
fn paths_are_walked_without_parsing() {
    let document = doc(r#"{"a":{"b":5,"bb":6},"list":[{"x":1},[2,3],"s"],"flat":["p","q\"r",true,null],"e":"","":7}"#);
    let root = document.root();
    assert_eq!(root.get("a").unwrap().get("b").unwrap().as_f64(), Some(5.0));
    assert_eq!(root.get("a").unwrap().get("bb").unwrap().text(), "6");
    assert!(root.get("a").unwrap().get("c").is_none());
    assert!(root.get("b").is_none(), "a nested name is not a property of the root");
    assert_eq!(root.get("list").unwrap().at(1).unwrap().at(1).unwrap().as_f64(), Some(3.0));
    assert_eq!(root.get("list").unwrap().at(0).unwrap().get("x").unwrap().as_f64(), Some(1.0));
    assert_eq!(root.get("flat").unwrap().at(1).unwrap().as_str().unwrap(), "q\"r");
    assert_eq!(root.get("flat").unwrap().len(), 4);
    assert!(root.get("flat").unwrap().at(4).is_none());
    assert_eq!(root.get("").unwrap().as_f64(), Some(7.0));
    assert_eq!(root.get("e").unwrap().as_str().unwrap(), "");
    assert_eq!(root.members().map(|(name, _)| name.into_owned()).collect::<Vec<_>>(), ["a", "list", "flat", "e", ""]);
}

#[test]
fn escaped_names_are_found_by_their_meaning() {
    let document = doc(r#"{"a\u0062":1,"c\"d":2}"#);
    assert_eq!(document.root().get("ab").unwrap().text(), "1");
    assert_eq!(document.root().get("c\"d").unwrap().text(), "2");
}

#[test]
fn a_repeated_name_keeps_the_last_value() {
    assert_eq!(doc(r#"{"a":1,"b":2,"a":3}"#).text(), r#"{"a":3,"b":2}"#);
    assert_eq!(doc(r#"{"x":{"a":1,"\u0061":2}}"#).text(), r#"{"x":{"a":2}}"#);
}

#[test]
fn stamping_appends_and_drops() {
    let document = doc(r#"{"id":"1","n":[1]}"#);
    let stamped = document.stamp(&["_rid"], &[("_rid", "\"abc\""), ("_ts", "17")]);
    assert_eq!(stamped.text(), r#"{"id":"1","n":[1],"_rid":"abc","_ts":17}"#);
    assert_eq!(stamped.root().get("_ts").unwrap().as_f64(), Some(17.0));
    assert_eq!(stamped.root().get("n").unwrap().at(0).unwrap().text(), "1");
    let again = stamped.stamp(&["_rid", "_ts"], &[("_ts", "18")]);
    assert_eq!(again.text(), r#"{"id":"1","n":[1],"_ts":18}"#);
    assert_eq!(doc("{}").stamp(&[], &[("a", "1")]).text(), r#"{"a":1}"#);
}

#[test]
fn large_documents_use_the_wide_table() {
    let text = format!(r#"{{"big":"{}","tail":{{"x":1}}}}"#, "a".repeat(40_000));
    let document = doc(&text);
    assert_eq!(document.stored()[0], WIDE);
    assert_eq!(document.text(), text);
    assert_eq!(document.root().get("tail").unwrap().get("x").unwrap().text(), "1");
}

#[test]
fn damaged_frames_are_refused() {
    assert!(Document::from_stored(Bytes::from_static(b"")).is_none());
    assert!(Document::from_stored(Bytes::from_static(b"\x07\0\0\0\0{}")).is_none());
    assert!(Document::from_stored(Bytes::from_static(b"\x01\xff\xff\xff\xff{}")).is_none());
    let document = doc(r#"{"a":1}"#);
    assert_eq!(Document::from_stored(document.stored().clone()), Some(document));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-c\"\\\\é]{0,3}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_document_is_its_tree(value in any_json()) {
        let text = json::to_string(&value);
        let document = doc(&text);
        prop_assert_eq!(document.text(), &text);
        prop_assert_eq!(document.root().to_value(), value);
    }

    #[test]
    fn encode_and_parse_agree_on_any_bytes(bytes in prop::collection::vec(prop::sample::select(b"{}[]\",:0123.eE-+tfnrualse \\u".to_vec()), 0..40)) {
        prop_assert_eq!(Document::encode(&bytes).map(|d| d.root().to_value()), json::parse(&bytes));
    }
}
