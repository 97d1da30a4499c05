//! Patch, on the server and by read and replace; both must agree.

use azure_data_cosmos::models::{CosmosNumber, PatchInstructions, PatchOperation};
use azure_data_cosmos::options::{PatchItemOptions, PatchStrategy};
use serde_json::{Value, json};
use tesela_border_tests::{border, refusal};

fn by(strategy: PatchStrategy) -> Option<PatchItemOptions> {
    Some(PatchItemOptions::default().with_strategy(strategy))
}

#[test]
fn both_strategies_give_one_result() {
    border(|world| async move {
        let container = world.container().await?;
        let seed = |id: &str| json!({"id": id, "pk": "a", "n": 1, "list": [1, 2], "old": true});
        let patch = || {
            PatchInstructions::from(vec![
                PatchOperation::set("/new", json!({"x": 1})),
                PatchOperation::replace("/n", json!(5)),
                PatchOperation::remove("/old"),
            ])
        };
        let mut results = Vec::new();
        for (id, strategy) in [("1", PatchStrategy::ServerSide), ("2", PatchStrategy::ClientSide)] {
            container.create_item("a", id, &seed(id), None).await?;
            container.patch_item("a", id, patch(), by(strategy)).await?;
            let read: Value = container.read_item("a", id, None).await?.into_model()?;
            results.push((read["new"].clone(), read["n"].clone(), read.get("old").cloned()));
        }
        assert_eq!(results[0], results[1]);
        assert_eq!(results[0], (json!({"x": 1}), json!(5), None));
        Ok(())
    });
}

#[test]
fn increments_add_up() {
    border(|world| async move {
        let container = world.container().await?;
        let item = json!({"id": "1", "pk": "a", "n": 1});
        container.create_item("a", "1", &item, None).await?;
        for _ in 0..3 {
            let patch = PatchInstructions::from(vec![PatchOperation::increment("/n", CosmosNumber::from(2_i64))]);
            container.patch_item("a", "1", patch, None).await?;
        }
        let read: Value = container.read_item("a", "1", None).await?.into_model()?;
        assert_eq!(read["n"], 7);
        Ok(())
    });
}

#[test]
fn refused_on_the_server() {
    border(|world| async move {
        let container = world.container().await?;
        let item = json!({"id": "1", "pk": "a", "text": "t"});
        container.create_item("a", "1", &item, None).await?;
        for operation in [
            PatchOperation::replace("/absent", json!(1)),
            PatchOperation::set("/pk", json!("b")),
            PatchOperation::increment("/text", CosmosNumber::from(1_i64)),
        ] {
            let patch = PatchInstructions::from(vec![operation]);
            let refused = container.patch_item("a", "1", patch, by(PatchStrategy::ServerSide)).await;
            assert_eq!(refusal(refused).0, 400);
        }
        Ok(())
    });
}
