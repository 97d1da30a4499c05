//! No text or bytes from outside make a reader panic, and what one side writes the other reads.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use tesela_model::json;
use tesela_model::partition_key::{Component, PartitionKeyValue};
use tesela_protocol::authorization::{self, Authorization};
use tesela_protocol::continuation::{self, Continuation};
use tesela_protocol::link::{Link, ResourcePath};
use tesela_protocol::{batch, binary_json, http_date, partition_key_header, percent, session_token};

/// Texts that look like what the readers expect, more often than chance would have it.
fn plausible() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("dbs".to_owned()),
        Just("colls".to_owned()),
        Just("docs".to_owned()),
        Just("operations".to_owned()),
        Just("addresses".to_owned()),
        Just("/".to_owned()),
        Just("type=master&ver=1.0&sig=".to_owned()),
        Just("Thu, 27 Apr 2017 00:51:12 GMT".to_owned()),
        Just("0:-1#12".to_owned()),
        Just("T1.".to_owned()),
        Just("-RID:~".to_owned()),
        Just("[{\"operationType\":\"Create\",".to_owned()),
        Just("%".to_owned()),
        Just(",".to_owned()),
        "[A-Za-z0-9+=%/&#:\\[\\]{}\" ]{0,6}",
        ".{0,4}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn component() -> impl Strategy<Value = Component> {
    prop_oneof![
        Just(Component::Undefined),
        Just(Component::Null),
        any::<bool>().prop_map(Component::Bool),
        (-1e15..1e15).prop_map(Component::Number),
        ".{0,20}".prop_map(Component::String),
    ]
}

proptest! {
    #[test]
    fn readers_of_text_do_not_panic(text in plausible(), query in plausible()) {
        let link = Link::parse(&text, Some(&query));
        if let Ok(link) = &link {
            prop_assert!(link.signed.candidates().count() >= 1);
        }
        if let Ok(decoded) = authorization::decode(&text) {
            let _ = Authorization::parse(&decoded);
        }
        let _ = Authorization::parse(&text);
        let _ = http_date::parse(&text);
        let _ = session_token::parse(&text);
        let _ = continuation::decode(b"scope", &text);
        let _ = partition_key_header::parse(&text);
        let _ = batch::parse(text.as_bytes());
    }

    #[test]
    fn readers_of_bytes_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 1..400)) {
        let _ = batch::parse(&bytes);
        bytes[0] = binary_json::PREAMBLE;
        if let Ok(text) = binary_json::to_text(&bytes, 1 << 20) {
            prop_assert!(json::parse(&text).is_ok());
        }
    }

    #[test]
    fn any_ids_survive_a_path(database in ".{1,20}", container in ".{1,20}", item in ".{1,20}") {
        let path = ["dbs", &database, "colls", &container, "docs", &item].map(|part| percent::encode(part, b"")).join("/");
        let link = Link::parse(&path, None).unwrap();
        let expected = ResourcePath::Item { database: database.into(), container: container.into(), item: item.into() };
        prop_assert_eq!(link.path, expected);
    }

    #[test]
    fn any_key_survives_its_header(components in prop::collection::vec(component(), 0..4)) {
        let key = PartitionKeyValue::new(components);
        let header = partition_key_header::format(&key);
        prop_assert!(header.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{}", header);
        prop_assert_eq!(partition_key_header::parse(&header), Ok(key));
    }

    #[test]
    fn any_payload_survives_its_token(scope in prop::collection::vec(any::<u8>(), 0..20), payload in prop::collection::vec(any::<u8>(), 0..700)) {
        let token = continuation::encode(&scope, &payload).unwrap();
        prop_assert_eq!(continuation::decode(&scope, &token), Ok(Continuation::Ours(payload)));
    }

    #[test]
    fn any_moment_survives_its_text(seconds in 0..253_402_300_800_i64) {
        prop_assert_eq!(http_date::parse(&http_date::format(seconds)), Some(seconds));
    }
}
