//! Queries inside one logical partition (R18).

use azure_data_cosmos::options::{MaxItemCountHint, QueryOptions};
use azure_data_cosmos::{ContainerClient, FeedScope, Query};
use futures::TryStreamExt;
use serde_json::{Value, json};
use std::num::NonZeroU32;
use tesela_border_tests::{World, border, refusal};

async fn filled(world: &World) -> azure_data_cosmos::Result<ContainerClient> {
    let container = world.container().await?;
    for n in 0..12 {
        let id = format!("{n:02}");
        let item = json!({"id": id, "pk": "a", "n": n, "even": n % 2 == 0});
        container.create_item("a", &id, &item, None).await?;
    }
    Ok(container)
}

async fn rows(container: &ContainerClient, query: Query) -> azure_data_cosmos::Result<Vec<Value>> {
    container.query_items::<Value>(query, FeedScope::partition("a"), None).await?.try_collect().await
}

#[test]
fn filters_orders_and_counts() {
    border(|world| async move {
        let container = filled(&world).await?;
        let query = Query::from("SELECT VALUE c.n FROM c WHERE c.n > @low AND c.even ORDER BY c.n DESC")
            .with_parameter("@low", 5)?;
        assert_eq!(rows(&container, query).await?, [json!(10), json!(8), json!(6)]);
        let count = rows(&container, Query::from("SELECT VALUE COUNT(1) FROM c")).await?;
        assert_eq!(count, [json!(12)]);
        Ok(())
    });
}

#[test]
fn pages_and_tokens() {
    border(|world| async move {
        let container = filled(&world).await?;
        let options = || {
            let size = NonZeroU32::new(5).expect("not zero");
            QueryOptions::default().with_max_item_count(MaxItemCountHint::Limit(size))
        };
        let query = || Query::from("SELECT VALUE c.n FROM c");
        let mut pages =
            container.query_items::<i64>(query(), FeedScope::partition("a"), Some(options())).await?.into_pages();
        let first = pages.try_next().await?.expect("a page").into_items();
        assert_eq!(first, [0, 1, 2, 3, 4]);
        let token = pages.to_continuation_token()?;
        let rest: Vec<i64> = container
            .query_items::<i64>(query(), FeedScope::partition("a"), Some(options().with_continuation_token(token)))
            .await?
            .try_collect()
            .await?;
        assert_eq!(rest, [5, 6, 7, 8, 9, 10, 11]);
        Ok(())
    });
}

#[test]
fn errors_reach_the_caller() {
    border(|world| async move {
        let container = filled(&world).await?;
        let outcome = rows(&container, Query::from("SELECT * FROM c WHERE")).await;
        assert_eq!(refusal(outcome).0, 400);
        Ok(())
    });
}
