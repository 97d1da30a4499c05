//! Synthetic keys: the four patterns, both forms, escaping.

use proptest::prelude::*;
use tesela_model::json::{Object, parse, to_string};

use super::*;
use crate::hash::HashGenerators;

fn key(text: &str) -> SyntheticKey {
    SyntheticKey::parse(text, &HashGenerators::standard()).unwrap()
}

fn document(text: &str) -> Value {
    parse(text.as_bytes()).unwrap()
}

/// Writes without chance.
fn write(key: &SyntheticKey, text: &str) -> Result<String, SyntheticError> {
    key.write(&mut document(text), &mut || panic!("only a random suffix may ask for chance"))
}

#[test]
fn r21_properties_are_joined_and_set() {
    let joined = SyntheticKey::concatenation("/partitionKey", "-", &["/deviceId", "/date"]).unwrap();
    assert_eq!(joined, key("/partitionKey = {/deviceId}-{/date}"));
    let mut device = document(r#"{"id":"1","deviceId":"abc-123","date":2018}"#);
    assert_eq!(joined.write(&mut device, &mut || 0).unwrap(), "abc-123-2018");
    assert_eq!(to_string(&device), r#"{"id":"1","deviceId":"abc-123","date":2018,"partitionKey":"abc-123-2018"}"#);
    assert_eq!(joined.read(&device).unwrap(), ["abc-123-2018"]);
    let missing = SyntheticError::Missing { path: PropertyPath::parse("/date").unwrap() };
    assert_eq!(joined.read(&document(r#"{"deviceId":"x"}"#)), Err(missing));
}

#[test]
fn r21_values_are_joined_by_value_not_by_spelling() {
    let joined = key("/pk = {/a}");
    for (value, expected) in
        [("1", "1"), ("1.0", "1"), ("1e2", "100"), ("0.50", "0.5"), ("true", "true"), ("\"é\"", "é")]
    {
        assert_eq!(write(&joined, &format!(r#"{{"a":{value}}}"#)).unwrap(), expected);
    }
    for (value, kind) in [("null", "null"), ("[1]", "array"), ("{}", "object")] {
        let path = PropertyPath::parse("/a").unwrap();
        assert_eq!(write(&joined, &format!(r#"{{"a":{value}}}"#)), Err(SyntheticError::Unusable { path, kind }));
    }
}

#[test]
fn r22_a_random_suffix_spreads_and_a_read_visits_all() {
    let spread = key("/pk = {/date}.{random 400}");
    let mut seed = 0u64;
    let mut chance = || {
        seed = crate::hash::avalanche_64(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        seed
    };
    let all = spread.read(&document(r#"{"date":"2018-08-09"}"#)).unwrap();
    assert_eq!((all.len(), all[0].as_str(), all[399].as_str()), (400, "2018-08-09.1", "2018-08-09.400"));
    let mut counts = vec![0u32; 400];
    for _ in 0..40_000 {
        let written = spread.write(&mut document(r#"{"date":"2018-08-09"}"#), &mut chance).unwrap();
        counts[all.iter().position(|key| *key == written).expect("a read visits it")] += 1;
    }
    // 100 each, deviation 10: six of them.
    assert!(counts.iter().all(|count| (40..=160).contains(count)), "{counts:?}");
    let mut last = document(r#"{"date":"d"}"#);
    assert_eq!(spread.write(&mut last, &mut || u64::MAX).unwrap(), "d.400");
    assert_eq!(spread.write(&mut last, &mut || 0).unwrap(), "d.1");
}

#[test]
fn r23_a_computed_suffix_is_found_by_its_property() {
    let by_vin = SyntheticKey::concatenation("/pk", "-", &["/date"]).unwrap().with_hash_suffix(400, &["/vin"]).unwrap();
    assert_eq!(by_vin, key("/pk = {/date}.{hash 400 /vin}"));
    let car = r#"{"date":"2018-08-09","vin":"WVWZZZ1JZXW000001"}"#;
    let written = write(&by_vin, car).unwrap();
    assert_eq!(by_vin.read(&document(car)).unwrap(), std::slice::from_ref(&written), "one partition to visit");
    let expected = 1 + tesela_model::murmur::murmur3_32(b"WVWZZZ1JZXW000001") % 400;
    assert_eq!(written, format!("2018-08-09.{expected}"));
    let without = by_vin.read(&document(r#"{"date":"2018-08-09"}"#)).unwrap();
    assert_eq!(without.len(), 400, "without the VIN a reader visits all");
    assert!(without.contains(&written));
    assert!(matches!(by_vin.read(&document(r#"{"date":"d","vin":[]}"#)), Err(SyntheticError::Unusable { .. })));
}

#[test]
fn r23_several_properties_are_kept_apart() {
    let pair = key("/pk = {hash 100000 /a /b}");
    let one = write(&pair, r#"{"a":"ab","b":"c"}"#).unwrap();
    let other = write(&pair, r#"{"a":"a","b":"bc"}"#).unwrap();
    assert_ne!(one, other);
}

#[test]
fn r24_date_parts_keep_a_partition_small() {
    let daily = key("/pk = {/customer}-{/at %m%d%Y}");
    assert_eq!(
        write(&daily, r#"{"customer":"CustomerName","at":"2018-08-07T23:10:00Z"}"#).unwrap(),
        "CustomerName-08072018"
    );
    assert_eq!(write(&daily, r#"{"customer":"C","at":"2018-08-07T23:10:00-03:00"}"#).unwrap(), "C-08082018", "UTC");
    assert_eq!(
        write(&key("/pk = {/_ts %Y-%m-%d %H:%M:%S %%}"), r#"{"_ts":1533683400}"#).unwrap(),
        "2018-08-07 23:10:00 %"
    );
    let path = PropertyPath::parse("/at").unwrap();
    assert_eq!(write(&daily, r#"{"customer":"C","at":"soon"}"#), Err(SyntheticError::NotATime { path }));
}

#[test]
fn both_forms_read_back() {
    for text in [
        "/pk = {/deviceId}-{/date}",
        "/pk = {/date}.{random 400}",
        "/pk = {/date}.{hash 400 /vin}",
        "/pk = {/date}.{hash 400 /vin /maker by md5}",
        "/a/b = x{{y}}{/\"first name\"}:{/c/d %Y-%m} {/e} | escape",
        "/pk = {/\"odd }{ \\\" name\" %H:%M}",
    ] {
        let parsed = key(text);
        assert_eq!(parsed.to_string(), text);
        let back = SyntheticKey::from_json(&parsed.to_json(), &HashGenerators::standard()).unwrap();
        assert_eq!(back, parsed, "{text}");
    }
    assert_eq!(key("/pk={/a}").to_string(), "/pk = {/a}");
}

#[test]
fn mistakes_are_told() {
    let refusal = |text: &str| SyntheticKey::parse(text, &HashGenerators::standard()).unwrap_err().to_string();
    for (text, message) in [
        ("{/a}", "no = at character 4 of the text form"),
        ("pk = {/a}", "\"pk\" is no property path"),
        ("/pk = ", "a synthetic key has 0 parts, 1 to 32 are allowed"),
        ("/pk = {/a", "no closing brace at character 6 of the text form"),
        ("/pk = {/a}}", "no opening brace at character 10 of the text form"),
        ("/pk = {a}", "expected a path, random or hash at character 7 of the text form"),
        ("/pk = {random x}", "expected a number of suffixes at character 7 of the text form"),
        ("/pk = {random 0}", "a suffix of 0 numbers, 1 to 100000 are allowed"),
        ("/pk = {random 2}{hash 2 /a}", "a synthetic key has one suffix at most"),
        ("/pk = {hash 2}", "a hash suffix needs at least one property"),
        ("/pk = {hash 2 /a by crc}", "hash generator \"crc\" is not registered here"),
        ("/pk = {/a %q}", "\"%q\" is no date format"),
        ("/pk = {/pk}", "the key property /pk is also a part of the key"),
        ("/pk = {/a} | shout", "unknown option at character 11 of the text form"),
        ("/pk = {/a}%{/b} | escape", "text that begins with % cannot be told from an escaped character"),
        ("/pk = {/a}{/b} | escape", "two values follow each other without text between, which escaping needs"),
    ] {
        assert_eq!(refusal(text), message, "{text}");
    }
    let from =
        |text: &str| SyntheticKey::from_json(&document(text), &HashGenerators::standard()).unwrap_err().to_string();
    assert_eq!(
        from(r#"{"target":"/pk","parts":[{"txt":"x"}]}"#),
        "txt should be left out: this release does not know it"
    );
    assert_eq!(
        from(r#"{"target":"/pk","parts":[{}]}"#),
        "a part should be one of text, property, date, random or hash"
    );
    assert_eq!(from(r#"{"parts":[]}"#), "target should be a property path");
}

#[test]
fn r21_an_escaped_value_is_no_other_value() {
    let escaped = key("/pk = {/a}-{/b} | escape");
    let joined = |a: &str| escaped.read(&pair(a, "x")).unwrap().remove(0);
    assert_eq!([joined("-"), joined("%2D"), joined("%")].join(" "), "%2D-x %252D-x %25-x");
}

#[test]
fn a_blocked_target_leaves_the_document_alone() {
    let nested = key("/meta/pk = {/a}");
    let mut blocked = document(r#"{"a":"x","meta":7}"#);
    let refused = nested.write(&mut blocked, &mut || 0).unwrap_err();
    assert_eq!(refused.to_string(), "the key property /meta/pk cannot be set: there is no object at /meta");
    assert_eq!(to_string(&blocked), r#"{"a":"x","meta":7}"#);
}

fn pair(a: &str, b: &str) -> Value {
    Object::from_iter([("a", a), ("b", b)]).into()
}

proptest! {
    #[test]
    fn r21_escaped_keys_are_as_distinct_as_their_parts(text in "[a%\\-]{0,3}-[a%]{0,2}-[a%\\-]{0,3}") {
        // Cut at the first and at the last separator: plain joining gives both the same key.
        let (one, other) = (text.split_once('-').unwrap(), text.rsplit_once('-').unwrap());
        for form in ["/pk = {/a}-{/b}", "/pk = <{/a}-{/b}>"] {
            let keys = |key: SyntheticKey| [one, other].map(|(a, b)| key.read(&pair(a, b)).unwrap());
            let [plain, same] = keys(key(form));
            prop_assert_eq!(plain, same);
            let [escaped, different] = keys(key(form).escaped().unwrap());
            prop_assert_ne!(escaped, different);
        }
    }

    #[test]
    fn r22_what_is_written_is_read(a in "\\PC{0,8}", b in "\\PC{0,8}", word in any::<u64>()) {
        for form in ["/pk = {/a}-{/b}.{random 7}", "/pk = {/a}.{hash 7 /b}", "/pk = {/a}-{/b} | escape"] {
            let mut document = pair(&a, &b);
            let written = key(form).write(&mut document, &mut || word).unwrap();
            prop_assert!(key(form).read(&document).unwrap().contains(&written));
            prop_assert_eq!(document.get("pk").and_then(Value::as_str), Some(written.as_str()));
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[/a-c{}=| \"\\\\%Ymhasrndo0-9é]{0,40}") {
        if let Ok(parsed) = SyntheticKey::parse(&text, &HashGenerators::standard()) {
            let json = SyntheticKey::from_json(&parsed.to_json(), &HashGenerators::standard());
            prop_assert_eq!(json, Ok(parsed));
        }
    }
}
