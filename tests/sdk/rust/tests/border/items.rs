//! Items, sent as binary JSON over HTTP/2 (R1, R3, R5).

use serde_json::{Value, json};
use tesela_border_tests::{border, refusal, with_content};

#[test]
fn life_of_an_item() {
    border(|world| async move {
        let container = world.container().await?;
        let created = container.create_item("a", "1", &json!({"id": "1", "pk": "a", "n": 1}), None).await?;
        assert_eq!(u16::from(created.status().status_code()), 201);
        assert!(created.headers().etag().is_some());
        assert!(created.into_body().is_empty(), "minimal by default");
        let read: Value = container.read_item("a", "1", None).await?.into_model()?;
        assert_eq!(read["n"], 1);
        let upserted = container.upsert_item("a", "1", &json!({"id": "1", "pk": "a", "n": 2}), None).await?;
        assert_eq!(u16::from(upserted.status().status_code()), 200);
        let replaced: Value = container
            .replace_item("a", "1", &json!({"id": "1", "pk": "a", "n": 3}), with_content())
            .await?
            .into_model()?;
        assert_eq!(replaced["n"], 3);
        container.delete_item("a", "1", None).await?;
        assert_eq!(refusal(container.read_item("a", "1", None).await).0, 404);
        Ok(())
    });
}

#[test]
fn duplicates_conflict() {
    border(|world| async move {
        let container = world.container().await?;
        let item = json!({"id": "1", "pk": "a"});
        container.create_item("a", "1", &item, None).await?;
        let twice = container.create_item("a", "1", &item, None).await;
        assert_eq!(refusal(twice).0, 409);
        Ok(())
    });
}

/// Everything the binary encoding has a form for, and what it must mean afterwards.
#[test]
fn binary_bodies_keep_their_values() {
    border(|world| async move {
        let container = world.container().await?;
        let item = json!({
            "id": "1", "pk": "a",
            "null": null, "true": true, "false": false,
            "literal": 7, "byte": 200, "short": -300, "int": 70_000, "long": 5_000_000_000_i64,
            "negative": -1, "double": 1.5, "tiny": 5e-324, "huge": 1.7976931348623157e308,
            "empty": "", "text": "naïve 数据 😀", "long text": "x".repeat(70_000),
            "guid": "3b241101-e2bb-4255-8caf-4136c566a962", "hex": "deadbeef",
            "date": "2026-11-15T04:07:00.0000000Z",
            "array": [], "one": [1], "many": (0..300).collect::<Vec<_>>(),
            "object": {}, "nested": {"a": {"b": [{"c": null}]}},
            "name with space": 1, "_etag_like": "x",
        });
        container.create_item("a", "1", &item, None).await?;
        let read: Value = container.read_item("a", "1", None).await?.into_model()?;
        for (name, value) in item.as_object().expect("an object") {
            assert_eq!(&read[name], value, "{name}");
        }
        assert!(read.get("_lsn").is_none());
        Ok(())
    });
}

#[test]
fn every_answer_says_who_served_it() {
    border(|world| async move {
        let container = world.container().await?;
        let written = container.create_item("a", "1", &json!({"id": "1", "pk": "a"}), None).await?;
        let other = json!({"id": "2", "pk": "b"});
        container.create_item("b", "2", &other, None).await?;
        let read = container.read_item("a", "1", None).await?;
        for headers in [written.headers(), read.headers()] {
            assert!(headers.request_charge().is_some());
            assert!(headers.session_token().is_some());
            assert!(headers.activity_id().is_some());
            assert!(headers.server_duration().is_some());
            assert!(headers.gateway_version().is_some());
            assert!(headers.transport_request_id().is_some());
            assert!(headers.global_committed_lsn().is_some());
        }
        assert_eq!(read.headers().item_lsn(), written.headers().lsn());
        assert!(read.headers().lsn() > written.headers().lsn());
        Ok(())
    });
}

#[test]
fn a_missing_item_still_has_its_partition() {
    border(|world| async move {
        let container = world.container().await?;
        let error = container.read_item("a", "absent", None).await.expect_err("nothing is there");
        let response = error.response().expect("the service answered");
        assert!(response.headers().session_token.is_some());
        assert!(response.headers().lsn.is_some());
        Ok(())
    });
}

#[test]
fn ids_with_reserved_characters() {
    border(|world| async move {
        let container = world.container().await?;
        for id in ["a@b.c", "with space", "100%", "é中😀", "a+b=c&d"] {
            let item = json!({"id": id, "pk": "a"});
            container.create_item("a", id, &item, None).await?;
            let read: Value = container.read_item("a", id, None).await?.into_model()?;
            assert_eq!(read["id"], id);
        }
        Ok(())
    });
}
