//! ETags through preconditions.

use azure_core::http::Etag;
use azure_data_cosmos::options::{ItemReadOptions, ItemWriteOptions, Precondition};
use serde_json::json;
use tesela_border_tests::{border, refusal};

fn if_match(etag: &Etag) -> Option<ItemWriteOptions> {
    Some(ItemWriteOptions::default().with_precondition(Precondition::IfMatch(etag.clone())))
}

#[test]
fn stale_etags_are_refused() {
    border(|world| async move {
        let container = world.container().await?;
        let item = json!({"id": "1", "pk": "a"});
        let created = container.create_item("a", "1", &item, None).await?;
        let current = created.headers().etag().expect("an etag").clone();
        let stale = Etag::from("\"stale\"".to_owned());
        let replaced = container.replace_item("a", "1", &item, if_match(&stale)).await;
        assert_eq!(refusal(replaced).0, 412);
        let upserted = container.upsert_item("a", "1", &item, if_match(&stale)).await;
        assert_eq!(refusal(upserted).0, 412);
        let deleted = container.delete_item("a", "1", if_match(&stale)).await;
        assert_eq!(refusal(deleted).0, 412);
        container.delete_item("a", "1", if_match(&current)).await?;
        Ok(())
    });
}

#[test]
fn a_known_version_is_not_sent_again() {
    border(|world| async move {
        let container = world.container().await?;
        let item = json!({"id": "1", "pk": "a"});
        let created = container.create_item("a", "1", &item, None).await?;
        let etag = created.headers().etag().expect("an etag").clone();
        let options = ItemReadOptions::default().with_precondition(Precondition::IfNoneMatch(etag));
        let status = match container.read_item("a", "1", Some(options)).await {
            Ok(response) => u16::from(response.status().status_code()),
            Err(error) => u16::from(error.status().status_code()),
        };
        assert_eq!(status, 304);
        Ok(())
    });
}
