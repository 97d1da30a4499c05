//! Keys: primary, read-only, wrong.

use serde_json::json;
use tesela_border_tests::{border, connect, refusal, required};

#[test]
fn a_wrong_key_is_refused() {
    border(|world| async move {
        let wrong = "d3Jvbmcta2V5LXdyb25nLWtleS13cm9uZy1rZXktd3Jvbmcta2V5LXdyb25nLWtleS13cm9uZy1rZXktd3I=";
        let outcome = match connect(&required("TESELA_ENDPOINT"), wrong).await {
            Ok(client) => client.database_client(&world.name).read(None).await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert_eq!(refusal(outcome).0, 401);
        Ok(())
    });
}

#[test]
fn a_read_only_key_reads_and_never_writes() {
    border(|world| async move {
        let container = world.container().await?;
        let item = json!({"id": "1", "pk": "a"});
        container.create_item("a", "1", &item, None).await?;
        let properties = container.read(None).await?.into_model()?;
        // Under another name: the SDK shares one driver, and with it one key, per endpoint.
        let endpoint = required("TESELA_ENDPOINT").replace("127.0.0.1", "localhost");
        let reader = connect(&endpoint, &required("TESELA_READ_ONLY_KEY")).await?;
        let mirror = reader.database_client(&world.name).container_client(properties.id.as_ref(), None).await?;
        mirror.read_item("a", "1", None).await?;
        let refused = mirror.upsert_item("a", "1", &item, None).await;
        assert_eq!(refusal(refused).0, 403);
        Ok(())
    });
}
