//! Partition key values (R4) and hierarchical keys (R2).

use azure_data_cosmos::PartitionKey;
use azure_data_cosmos::models::PartitionKeyDefinition;
use serde_json::{Value, json};
use tesela_border_tests::{border, first_version, refusal};

fn values() -> Vec<(Value, PartitionKey)> {
    vec![
        (json!("text"), PartitionKey::from("text")),
        (json!(""), PartitionKey::from("")),
        (json!("数据 😀"), PartitionKey::from("数据 😀")),
        (json!(42), PartitionKey::from(42)),
        (json!(-1.5), PartitionKey::try_from(-1.5).expect("finite")),
        (json!(true), PartitionKey::from(true)),
        (json!(false), PartitionKey::from(false)),
        (Value::Null, PartitionKey::from(PartitionKey::NULL)),
    ]
}

#[test]
fn every_kind_of_value_by_both_hashes() {
    border(|world| async move {
        for definition in [PartitionKeyDefinition::from("/pk"), first_version("/pk")] {
            let container = world.container_keyed(definition, None).await?;
            for (value, key) in values() {
                let item = json!({"id": "1", "pk": value});
                container.create_item(key.clone(), "1", &item, None).await?;
                let read: Value = container.read_item(key, "1", None).await?.into_model()?;
                assert_eq!(read["pk"], value);
            }
        }
        Ok(())
    });
}

#[test]
fn missing_and_null_are_two_partitions() {
    border(|world| async move {
        let container = world.container().await?;
        let missing = json!({"id": "1"});
        container.create_item(PartitionKey::UNDEFINED, "1", &missing, None).await?;
        container.read_item(PartitionKey::UNDEFINED, "1", None).await?;
        let null = container.read_item(PartitionKey::NULL, "1", None).await;
        assert_eq!(refusal(null).0, 404);
        Ok(())
    });
}

#[test]
fn hierarchical_points_need_every_level() {
    border(|world| async move {
        let definition = PartitionKeyDefinition::from(("/tenant", "/user", "/session"));
        let container = world.container_keyed(definition, None).await?;
        let item = json!({"id": "1", "tenant": "t", "user": 2, "session": true});
        container.create_item(("t", 2, true), "1", &item, None).await?;
        container.read_item(("t", 2, true), "1", None).await?;
        assert_eq!(refusal(container.read_item("t", "1", None).await).0, 400);
        let other = container.read_item(("t", 2, false), "1", None).await;
        assert_eq!(refusal(other).0, 404);
        Ok(())
    });
}
