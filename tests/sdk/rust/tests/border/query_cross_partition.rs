//! Queries over several partitions, planned and merged by the SDK (R18, R19).

use azure_data_cosmos::{ContainerClient, FeedScope, Query};
use futures::TryStreamExt;
use serde_json::json;
use tesela_border_tests::{World, border};

const COUNT: i64 = 40;

async fn filled(world: &World) -> azure_data_cosmos::Result<ContainerClient> {
    let container = world.container_keyed("/pk".into(), Some(11_000)).await?;
    for n in 0..COUNT {
        let (id, key) = (format!("{n:02}"), format!("partition{n}"));
        let item = json!({"id": id, "pk": key, "n": (n * 37) % 101, "third": n % 3});
        container.create_item(key, &id, &item, None).await?;
    }
    Ok(container)
}

async fn numbers(container: &ContainerClient, text: &str) -> azure_data_cosmos::Result<Vec<i64>> {
    container.query_items::<i64>(Query::from(text), FeedScope::full_container(), None).await?.try_collect().await
}

#[test]
fn merged_results() {
    border(|world| async move {
        let container = filled(&world).await?;
        let mut sorted: Vec<i64> = (0..COUNT).map(|n| (n * 37) % 101).collect();
        let mut all = numbers(&container, "SELECT VALUE c.n FROM c").await?;
        sorted.sort_unstable();
        all.sort_unstable();
        assert_eq!(all, sorted);
        let ordered = numbers(&container, "SELECT VALUE c.n FROM c ORDER BY c.n").await?;
        assert_eq!(ordered, sorted);
        let page = numbers(&container, "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 5 LIMIT 7").await?;
        assert_eq!(page, sorted[5..12]);
        let top = numbers(&container, "SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n DESC").await?;
        assert_eq!(top, [sorted[39], sorted[38], sorted[37]]);
        let mut distinct = numbers(&container, "SELECT DISTINCT TOP 10 VALUE c.third FROM c").await?;
        distinct.sort_unstable();
        assert_eq!(distinct, [0, 1, 2]);
        Ok(())
    });
}

#[test]
fn a_feed_range_holds_its_own_half() {
    border(|world| async move {
        let container = filled(&world).await?;
        let ranges = container.read_feed_ranges(None).await?;
        assert_eq!(ranges.len(), 2);
        let mut total = 0;
        for range in ranges {
            let rows: Vec<String> = container
                .query_items(Query::from("SELECT VALUE c.id FROM c"), FeedScope::range(range), None)
                .await?
                .try_collect()
                .await?;
            assert!(!rows.is_empty());
            total += rows.len();
        }
        assert_eq!(total, COUNT as usize);
        Ok(())
    });
}
