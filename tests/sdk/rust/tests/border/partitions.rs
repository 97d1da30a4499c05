//! Several physical partitions (R8, R9, R10).

use azure_data_cosmos::models::ThroughputProperties;
use azure_data_cosmos::options::ReadFeedRangesOptions;
use serde_json::json;
use std::time::Duration;
use tesela_border_tests::border;

#[test]
fn more_throughput_is_more_partitions() {
    border(|world| async move {
        for (throughput, count) in [(400, 1), (11_000, 2), (30_000, 5)] {
            let container = world.container_keyed("/pk".into(), Some(throughput)).await?;
            assert_eq!(container.read_feed_ranges(None).await?.len(), count);
        }
        Ok(())
    });
}

#[test]
fn a_client_follows_a_split() {
    border(|world| async move {
        let container = world.container().await?;
        for n in 0..20 {
            let key = format!("p{n}");
            let item = json!({"id": "1", "pk": key});
            container.create_item(key, "1", &item, None).await?;
        }
        container.begin_replace_throughput(ThroughputProperties::manual(11_000), None).await?.await?;
        let fresh = || Some(ReadFeedRangesOptions::default().with_force_refresh(true));
        while container.read_feed_ranges(fresh()).await?.len() < 2 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        for n in 0..20 {
            container.read_item(format!("p{n}"), "1", None).await?;
        }
        Ok(())
    });
}
