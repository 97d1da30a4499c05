//! Transactional batches (R16, R17).

use azure_data_cosmos::TransactionalBatch;
use serde_json::json;
use tesela_border_tests::{border, refusal};

#[test]
fn all_or_nothing() {
    border(|world| async move {
        let container = world.container().await?;
        let good = TransactionalBatch::new("a")
            .create_item(json!({"id": "1", "pk": "a"}))?
            .upsert_item(json!({"id": "2", "pk": "a"}), None)?
            .read_item("1", None)
            .delete_item("2", None);
        let results = container.execute_transactional_batch(good, None).await?.into_model()?;
        let statuses: Vec<u16> = results.results().iter().map(|r| r.status_code()).collect();
        assert_eq!(statuses, [201, 201, 200, 204]);

        let bad = TransactionalBatch::new("a")
            .create_item(json!({"id": "3", "pk": "a"}))?
            .create_item(json!({"id": "1", "pk": "a"}))?;
        let results = container.execute_transactional_batch(bad, None).await?.into_model()?;
        let statuses: Vec<u16> = results.results().iter().map(|r| r.status_code()).collect();
        assert_eq!(statuses, [424, 409]);
        assert_eq!(refusal(container.read_item("a", "3", None).await).0, 404);
        Ok(())
    });
}
