//! R14: manual and autoscale throughput, a container's own or shared by its database.

use super::*;
use tesela_model::rid::ResourceId;

fn manual(ru: u32) -> Option<Throughput> {
    Some(Throughput::Manual { ru })
}

fn autoscale(max_ru: u32) -> Option<Throughput> {
    Some(Throughput::Autoscale { max_ru, increment_percent: None })
}

fn with(throughput: Option<Throughput>) -> ContainerOptions {
    ContainerOptions { throughput, partitions: None }
}

impl Account {
    fn offer_of(&self, resource: &Resource) -> Arc<Offer> {
        self.catalog.state().offer_of(&ResourceId::parse(&resource.rid).unwrap()).expect("an offer").clone()
    }

    fn replace(&self, offer: &Offer, content: &str, migration: Migration) -> Result<Arc<Offer>> {
        let body = parse(&format!(r#"{{"content":{content}}}"#));
        block_on(self.catalog.replace_offer(&offer.resource.rid, &body, migration, 0, Precondition::NONE))
    }
}

#[test]
fn an_offer_looks_as_clients_expect() {
    let account = account();
    account.database("d");
    let container = account.container_with("d", "c", with(manual(1000)));
    let offer = account.offer_of(&container);
    let rid = &offer.resource.rid;
    assert_eq!(rid.len(), 4);
    let wanted = format!(
        concat!(
            r#"{{"id":"{0}","resource":"{1}","offerResourceId":"{2}","offerType":"Invalid","offerVersion":"V2","#,
            r#""content":{{"offerThroughput":1000,"offerIsRUPerMinuteThroughputEnabled":false,"#,
            r#""offerMinimumThroughputParameters":{{"maxThroughputEverProvisioned":1000,"maxConsumedStorageEverInKB":0}}}},"#,
            r#""_rid":"{0}","_self":"offers/{0}/","_etag":{3},"_ts":{4}}}"#
        ),
        rid,
        container.self_link,
        container.rid,
        json::to_string(&Value::from(&*offer.resource.etag)),
        offer.resource.ts
    );
    assert_eq!(offer.resource.json, wanted);
    assert_eq!(account.catalog.state().resource(Feed::Offers, rid).unwrap(), &offer.resource);

    let settings = r#"{"maxThroughput":5000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":42}}}"#;
    let throughput = Throughput::from_headers(None, Some(settings)).unwrap();
    let auto = account.offer_of(&account.container_with("d", "auto", with(throughput)));
    let content = body(&auto.resource).get("content").unwrap().clone();
    assert_eq!(content.get("offerThroughput").unwrap().as_i64(), Some(500));
    assert_eq!(json::to_string(content.get("offerAutopilotSettings").unwrap()), settings);
    account.check();
}

#[test]
fn throughput_is_own_shared_or_default() {
    let account = account();
    account.database("plain");
    let shared = block_on(account.catalog.create_database(&parse(r#"{"id":"shared"}"#), manual(1000))).unwrap();
    let default = account.container("plain", "c");
    let own = account.container_with("shared", "own", with(manual(800)));
    let sharing = account.container("shared", "sharing");
    let state = account.catalog.state();
    let of = |resource: &Resource| {
        let container = state.container_by_rid(&ResourceId::parse(&resource.rid).unwrap()).unwrap();
        state.throughput_of(&container)
    };
    assert_eq!(of(&default), Some(ContainerThroughput::Own(Throughput::Manual { ru: 400 })));
    assert_eq!(of(&own), Some(ContainerThroughput::Own(Throughput::Manual { ru: 800 })));
    let database = ResourceId::parse(&shared.rid).unwrap();
    let throughput = Throughput::Manual { ru: 1000 };
    assert_eq!(of(&sharing), Some(ContainerThroughput::Shared { throughput, database, shared_by: 1 }));
    assert_eq!(account.offer_of(&shared).terms.target_link, &*shared.self_link);
    assert_eq!(state.page(Feed::Offers, None, 10).unwrap().resources.len(), 3);
    account.check();

    let serverless = account_with(CatalogOptions { default_throughput: None, ..CatalogOptions::default() });
    serverless.database("d");
    serverless.container("d", "c");
    let container = serverless.catalog.container("d", "c").unwrap();
    assert_eq!(serverless.catalog.state().throughput_of(&container), None);
    assert_eq!(container.partitions.partitions().len(), 1);
    serverless.check();
}

#[test]
fn throughput_is_replaced_within_its_bounds() {
    let account = account();
    account.database("d");
    let container = account.container("d", "c");
    let offer = account.offer_of(&container);
    let refused = |content: &str, migration| account.replace(&offer, content, migration).unwrap_err().to_string();
    let none = Migration::None;
    assert!(refused(r#"{"offerThroughput":300}"#, none).contains("less than required minimum throughput 400"));
    assert!(refused(r#"{"offerThroughput":450}"#, none).contains("not a multiple of 100"));
    assert!(refused(r#"{"offerThroughput":2000000}"#, none).contains("more than the maximum"));
    assert!(refused(r#"{"offerThroughput":"much"}"#, none).contains("content"));
    assert!(refused("3", none).contains("content"));
    assert!(refused(r#"{"offerAutopilotSettings":{"maxThroughput":4000}}"#, none).contains("migration"));
    assert!(matches!(
        account.replace(&offer, r#"{"offerAutopilotSettings":{"maxThroughput":4000}}"#, none),
        Err(CatalogError::Throughput(ThroughputError::KindChanged { current: "manual", .. }))
    ));

    let raised = account.replace(&offer, r#"{"offerThroughput":100000}"#, none).unwrap();
    assert_eq!((raised.terms.throughput, raised.terms.highest_ru), (Throughput::Manual { ru: 100_000 }, 100_000));
    assert!(raised.resource.rid == offer.resource.rid && raised.resource.etag != offer.resource.etag);
    assert_eq!(account.catalog.state().minimum_ru(&raised, 0), 1000);
    assert_eq!(account.catalog.state().minimum_ru(&raised, 5000 << 30), 5000);
    let too_low = account.replace(&raised, r#"{"offerThroughput":900}"#, none).unwrap_err();
    assert!(too_low.to_string().contains("minimum throughput 1000"));
    let lowered = account.replace(&raised, r#"{"offerThroughput":1000}"#, none).unwrap();
    assert_eq!(lowered.terms.highest_ru, 100_000);
    account.check();
}

#[test]
fn throughput_migrates_between_kinds() {
    let account = account();
    account.database("d");
    let offer = account.offer_of(&account.container_with("d", "c", with(manual(4100))));
    let auto = account.replace(&offer, r#"{"offerThroughput":4100}"#, Migration::ToAutoscale).unwrap();
    assert_eq!(Some(auto.terms.throughput), autoscale(5000));
    // The current throughput an autoscale offer shows asks for nothing; its settings do.
    let content = r#"{"offerThroughput":500,"offerAutopilotSettings":{"maxThroughput":7000}}"#;
    let raised = account.replace(&auto, content, Migration::None).unwrap();
    assert_eq!(Some(raised.terms.throughput), autoscale(7000));
    let plain = account.replace(&raised, r#"{"offerThroughput":700}"#, Migration::None).unwrap_err();
    assert!(matches!(plain, CatalogError::Throughput(ThroughputError::KindChanged { current: "autoscale", .. })));
    let back = account.replace(&raised, content, Migration::ToManual).unwrap();
    assert_eq!(Some(back.terms.throughput), manual(7000));
    let chosen = r#"{"offerAutopilotSettings":{"maxThroughput":9000}}"#;
    let auto = account.replace(&back, chosen, Migration::ToAutoscale).unwrap();
    assert_eq!(Some(auto.terms.throughput), autoscale(9000));
    account.check();
}

/// 25 containers share for free; each further one raises the minimum.
#[test]
fn sharing_has_a_price() {
    let account = account();
    let shared = block_on(account.catalog.create_database(&parse(r#"{"id":"d"}"#), manual(500))).unwrap();
    for number in 0..26 {
        account.container("d", &format!("c{number}"));
    }
    let one_more = |options| block_on(account.catalog.create_container("d", &container_body("last"), options));
    let refused = one_more(ContainerOptions::default());
    assert!(matches!(refused, Err(CatalogError::SharedThroughputTooLow { ru: 500, needed: 600, .. })));
    let offer = account.offer_of(&shared);
    assert_eq!(account.catalog.state().minimum_ru(&offer, 0), 500);
    account.replace(&offer, r#"{"offerThroughput":600}"#, Migration::None).unwrap();
    one_more(ContainerOptions::default()).unwrap();
    account.check();
    block_on(account.catalog.delete_database("d", Precondition::NONE)).unwrap();
    assert!(account.catalog.state().page(Feed::Offers, None, 9).unwrap().resources.is_empty());
    account.check();
}
