//! Databases (R1).

use futures::TryStreamExt;
use tesela_border_tests::{border, refusal};

#[test]
fn create_read_query_delete() {
    border(|world| async move {
        let read = world.database.read(None).await?.into_model()?;
        assert_eq!(read.id.as_deref(), Some(world.name.as_str()));
        let twice = world.client.create_database(&world.name, None).await;
        assert_eq!(refusal(twice).0, 409);
        let query = format!("SELECT * FROM root r WHERE r.id LIKE '{}%'", world.name);
        let mut found = world.client.query_databases(query, None).await?;
        let only = found.try_next().await?.expect("our database is found");
        assert_eq!(only.id.as_deref(), Some(world.name.as_str()));
        assert!(found.try_next().await?.is_none());
        let absent = world.client.database_client("absent").read(None).await;
        assert_eq!(refusal(absent).0, 404);
        Ok(())
    });
}
