//! The routing map, read by resource id until 304 (R9, R12).

use tesela_border_tests::border;

#[test]
fn one_range_by_default() {
    border(|world| async move {
        let container = world.container().await?;
        assert_eq!(container.read_feed_ranges(None).await?.len(), 1);
        Ok(())
    });
}
