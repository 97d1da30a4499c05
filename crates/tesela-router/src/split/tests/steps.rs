//! A reshape that stops after each of its steps, for good or until the server is restarted.

use super::world::*;
use crate::split::ReshapeError;
use crate::split::SplitPoint;
use crate::split::reshape::{Plan, Progress, Reshape};
use std::sync::Arc;
use tesela_store::Store;

/// How a reshape ends that is not allowed to go on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Abandoned,
    Dropped,
    Restarted,
}

/// Takes `steps` steps with writes in between. True when the reshape was done by then.
async fn some_steps<S: Store>(
    router: &Arc<crate::Router<S>>,
    clients: &mut [Client],
    plan: &Plan,
    steps: usize,
    end: End,
) -> bool {
    let mut reshape = Reshape::begin(router, container(router), plan).await.unwrap();
    for _ in 0..steps {
        for client in clients.iter_mut() {
            assert!(client.write(router).await);
        }
        if let Progress::Done(_) = reshape.step().await.unwrap() {
            return true;
        }
    }
    match end {
        End::Abandoned => reshape.abandon().await,
        End::Dropped | End::Restarted => drop(reshape),
    }
    false
}

/// Whatever step was the last, the old partitions serve on, and the next attempt succeeds.
#[tokio::test]
async fn a_reshape_may_stop_anywhere() {
    for end in [End::Abandoned, End::Dropped, End::Restarted] {
        for (first, plan) in
            [(None, Plan::Split { id: 0, at: SplitPoint::Best }), (Some(SplitPoint::Best), Plan::Merge { a: 1, b: 2 })]
        {
            let mut steps = 0;
            loop {
                let store = prepared(400).await;
                let mut router = Arc::new(open(store.clone(), small_steps()).await);
                let model = Model::default();
                let mut clients: Vec<Client> = (0..3).map(|number| Client::new(&model, number, steps as u64)).collect();
                for client in &mut clients {
                    for _ in 0..8 {
                        assert!(client.write(&router).await);
                    }
                }
                let rid = container(&router).rid.clone();
                if let Some(at) = &first {
                    router.split(&rid, 0, at.clone()).await.unwrap();
                    router.drop_retired().await;
                }
                let before = ids(&container(&router));
                let done = some_steps(&router, &mut clients, &plan, steps, end).await;
                if end == End::Restarted {
                    router = Arc::new(open(store.clone(), small_steps()).await);
                    check_spaces(&router).await;
                }
                model.check(&router).await;
                if done {
                    assert_ne!(ids(&container(&router)), before);
                    break;
                }
                assert_eq!(ids(&container(&router)), before);
                if end == End::Abandoned {
                    check_spaces(&router).await;
                }
                assert!(clients[0].write(&router).await);
                assert!(some_steps(&router, &mut clients, &plan, usize::MAX, end).await);
                model.check(&router).await;
                steps += 1;
            }
            assert!(steps > 10, "a reshape of {plan:?} has many steps");
        }
    }
}

/// Rows in the new partitions follow one definition: a change of it begins the copy anew.
#[tokio::test]
async fn a_changed_definition_is_noticed() {
    let router = open(prepared(400).await, small_steps()).await;
    let old = container(&router);
    let plan = Plan::Split { id: 0, at: SplitPoint::Best };
    let mut reshape = Reshape::begin(&router, old.clone(), &plan).await.unwrap();
    let mut body = tesela_model::json::parse(&old.resource.json).unwrap();
    body.as_object_mut().unwrap().insert("defaultTtl", 100);
    let replaced = router.catalog().replace_container("d", "c", &body, crate::catalog::Precondition::NONE).await;
    replaced.unwrap();
    let error = loop {
        match reshape.step().await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ReshapeError::DefinitionChanged), "{error}");
    reshape.abandon().await;
    router.split(&old.rid, 0, SplitPoint::Best).await.unwrap();
    check_spaces_after_drop(&router).await;
}

async fn check_spaces_after_drop<S: Store>(router: &crate::Router<S>) {
    router.drop_retired().await;
    check_spaces(router).await;
}
