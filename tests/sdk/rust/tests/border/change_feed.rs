//! The change feed, pulled.

use azure_data_cosmos::FeedScope;
use azure_data_cosmos::options::ChangeFeedStartFrom;
use futures::StreamExt;
use serde_json::{Value, json};
use tesela_border_tests::border;

#[test]
fn from_the_beginning() {
    border(|world| async move {
        let container = world.container().await?;
        for n in 0..5 {
            let id = n.to_string();
            let item = json!({"id": id, "pk": "a"});
            container.create_item("a", &id, &item, None).await?;
        }
        let mut feed = container
            .query_change_feed::<Value>(FeedScope::full_container(), ChangeFeedStartFrom::Beginning, None)
            .await?;
        let page = feed.next().await.expect("a page")?;
        assert_eq!(page.items().len(), 5);
        Ok(())
    });
}
