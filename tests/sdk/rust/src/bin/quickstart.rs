//! The quick start of `azure_data_cosmos`, written as a newcomer would: only the endpoint and the
//! key are set.
//!
//! ```text
//! quickstart ENDPOINT KEY
//! ```

use azure_core::credentials::Secret;
use azure_data_cosmos::models::ContainerProperties;
use azure_data_cosmos::{AccountEndpoint, AccountReference, CosmosClient, FeedScope, Query, RoutingStrategy};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use std::error::Error;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Product {
    id: String,
    category: String,
    name: String,
    quantity: u32,
    price: f64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(endpoint), Some(key)) = (args.next(), args.next()) else {
        return Err("usage: quickstart ENDPOINT KEY".into());
    };

    let endpoint: AccountEndpoint = endpoint.parse()?;
    let account = AccountReference::with_authentication_key(endpoint, Secret::from(key));
    let client = CosmosClient::builder().build(account, RoutingStrategy::ProximityTo("Local".into())).await?;

    let name = format!("cosmicworks-rs-{}", std::process::id());
    client.create_database(&name, None).await?;
    let database = client.database_client(&name);
    database.create_container(ContainerProperties::new("products", "/category".into()), None).await?;
    let products = database.container_client("products", None).await?;

    let surfboard = Product {
        id: "aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb".into(),
        category: "gear-surf-surfboards".into(),
        name: "Yamba Surfboard".into(),
        quantity: 12,
        price: 850.0,
    };
    let category = "gear-surf-surfboards";
    products.create_item(category, &surfboard.id, &surfboard, None).await?;
    println!("created {}", surfboard.id);

    let mut read: Product = products.read_item(category, &surfboard.id, None).await?.into_model()?;
    println!("read {} {}", read.name, read.price);

    let query = Query::from("SELECT * FROM c WHERE c.quantity > @some").with_parameter("@some", 1)?;
    let mut found = products.query_items::<Product>(query, FeedScope::partition(category), None).await?;
    while let Some(product) = found.try_next().await? {
        println!("found {}", product.name);
    }

    read.quantity = 9;
    products.replace_item(category, &surfboard.id, &read, None).await?;
    products.delete_item(category, &surfboard.id, None).await?;
    database.delete(None).await?;
    println!("done");
    Ok(())
}
