//! Containers (R1, R2, R6).

use azure_data_cosmos::models::{ContainerProperties, IndexingPolicy, TimeToLive};
use futures::TryStreamExt;
use tesela_border_tests::{border, first_version, refusal};

#[test]
fn create_read_replace_query_delete() {
    border(|world| async move {
        let container = world.container().await?;
        let mut read = container.read(None).await?.into_model()?;
        assert_eq!(read.partition_key.paths().len(), 1);
        assert!(read.indexing_policy.is_some());
        read.default_ttl = TimeToLive::Seconds(60.try_into()?);
        let replaced = container.replace(read.clone(), None).await?.into_model()?;
        assert_eq!(replaced.default_ttl, read.default_ttl);
        let mut found = world.database.query_containers("SELECT * FROM c", None).await?;
        assert_eq!(found.try_next().await?.map(|only| only.id), Some(read.id));
        container.delete(None).await?;
        assert_eq!(refusal(container.read(None).await).0, 404);
        Ok(())
    });
}

#[test]
fn the_default_indexing_policy_round_trips() {
    border(|world| async move {
        let properties =
            ContainerProperties::new("indexed", "/pk".into()).with_indexing_policy(IndexingPolicy::default());
        let created = world.database.create_container(properties, None).await?.into_model()?;
        let policy = created.indexing_policy.expect("a policy comes back");
        assert!(policy.automatic);
        Ok(())
    });
}

#[test]
fn a_container_of_the_older_hash_stays_one() {
    border(|world| async move {
        let container = world.container_keyed(first_version("/pk"), None).await?;
        let item = serde_json::json!({"id": "1", "pk": "a"});
        container.create_item("a", "1", &item, None).await?;
        container.read_item("a", "1", None).await?;
        Ok(())
    });
}

#[test]
fn a_missing_container_cannot_be_opened() {
    border(|world| async move {
        let opened = world.database.container_client("absent", None).await;
        assert_eq!(refusal(opened).0, 404);
        Ok(())
    });
}

#[test]
fn a_recreated_container_is_found_again() {
    border(|world| async move {
        let container = world.container().await?;
        let properties = container.read(None).await?.into_model()?;
        let item = serde_json::json!({"id": "1", "pk": "a"});
        container.create_item("a", "1", &item, None).await?;
        container.delete(None).await?;
        let again = ContainerProperties::new(properties.id.clone(), "/pk".into());
        world.database.create_container(again, None).await?;
        assert_eq!(refusal(container.read_item("a", "1", None).await).0, 404);
        container.create_item("a", "1", &item, None).await?;
        Ok(())
    });
}
