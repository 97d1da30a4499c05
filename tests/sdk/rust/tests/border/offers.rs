//! Throughput (R14).

use azure_data_cosmos::models::{ContainerProperties, ThroughputProperties};
use azure_data_cosmos::options::CreateContainerOptions;
use tesela_border_tests::border;

#[test]
fn manual_throughput() {
    border(|world| async move {
        let container = world.container_keyed("/pk".into(), Some(500)).await?;
        let read = container.read_throughput(None).await?.expect("an offer");
        assert_eq!(read.throughput(), Some(500));
        let replaced =
            container.begin_replace_throughput(ThroughputProperties::manual(700), None).await?.await?.into_model()?;
        assert_eq!(replaced.throughput(), Some(700));
        Ok(())
    });
}

#[test]
fn autoscale_starts_at_a_tenth() {
    border(|world| async move {
        let autoscale = ThroughputProperties::autoscale(5000, Some(42));
        world
            .database
            .create_container(
                ContainerProperties::new("auto", "/pk".into()),
                Some(CreateContainerOptions::default().with_throughput(autoscale)),
            )
            .await?;
        let container = world.database.container_client("auto", None).await?;
        let read = container.read_throughput(None).await?.expect("an offer");
        assert_eq!(read.autoscale_maximum(), Some(5000));
        assert_eq!(read.autoscale_increment(), Some(42));
        assert_eq!(read.throughput(), Some(500));
        Ok(())
    });
}

#[test]
fn a_database_without_throughput_has_no_offer() {
    border(|world| async move {
        assert!(world.database.read_throughput(None).await?.is_none());
        Ok(())
    });
}
