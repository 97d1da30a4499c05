//! Offers: the throughput of a container or database as a resource of its own.
//!
//! An offer points at what it pays for by RID (`offerResourceId`) and by self link (`resource`), which clients search
//! by and compare to the character. It is *pending* while the container has fewer partitions than its throughput
//! needs. That follows from the partition map, so it is computed and never stored: after a crash it is still true.

use super::resource::Stamp;
use super::{CatalogError, Resource, ResourceKind, Result, Throughput, ThroughputError};
use tesela_model::json::{Object, Value};
use tesela_model::rid::ResourceId;

#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub(super) number: u32,
    pub terms: Terms,
    pub resource: Resource,
}

/// What an offer says, without its identity and version.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    pub throughput: Throughput,
    /// The most that was ever provisioned.
    pub highest_ru: u32,
    /// RID of the container or database.
    pub target: ResourceId,
    /// Its self link.
    pub target_link: String,
    /// Whether partitions are still missing.
    pub pending: bool,
}

/// A change of kind, as the headers of a replace ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Migration {
    #[default]
    None,
    /// `x-ms-cosmos-migrate-offer-to-autopilot`
    ToAutoscale,
    /// `x-ms-cosmos-migrate-offer-to-manual-throughput`
    ToManual,
}

impl Offer {
    pub(super) fn new(number: u32, terms: Terms, etag: String, ts: u64) -> Self {
        let rid = ResourceId::offer(number);
        let self_link = format!("offers/{rid}/");
        let resource = Stamp { rid: &rid, owner_rid: "", self_link, etag, ts, links: &[] }.apply(terms.to_json(&rid));
        Self { number, terms, resource }
    }

    /// The same version of the offer, pending or not.
    pub(super) fn with_pending(&self, pending: bool) -> Self {
        let terms = Terms { pending, ..self.terms.clone() };
        Self::new(self.number, terms, self.resource.etag.to_string(), self.resource.ts)
    }

    /// The throughput a replace request asks for.
    pub(super) fn requested(&self, body: &Value, migration: Migration) -> Result<Throughput> {
        let expected = "an object with offerThroughput or offerAutopilotSettings";
        let invalid = || CatalogError::Invalid { kind: ResourceKind::Offer, property: "content", expected };
        let content = body.get("content").filter(|content| content.as_object().is_some()).ok_or_else(invalid)?;
        let settings = content.get("offerAutopilotSettings").filter(|settings| !settings.is_null());
        match (self.terms.throughput, migration, settings) {
            (Throughput::Manual { .. }, Migration::ToAutoscale, None) => Ok(self.terms.throughput.migrated()),
            (Throughput::Autoscale { .. }, Migration::ToManual, _) => Ok(self.terms.throughput.migrated()),
            // Content of an autoscale offer also shows the throughput of the moment, which asks for nothing.
            (Throughput::Manual { .. }, Migration::ToAutoscale, Some(settings))
            | (Throughput::Autoscale { .. }, _, Some(settings)) => Ok(Throughput::from_settings(settings)?),
            (Throughput::Manual { .. }, _, Some(_)) => Err(kind_changed("manual", "autoscale")),
            (Throughput::Autoscale { .. }, _, None) => Err(kind_changed("autoscale", "manual")),
            (Throughput::Manual { .. }, _, None) => {
                let ru = content.get("offerThroughput").and_then(Value::as_i64).ok_or_else(invalid)?;
                Ok(Throughput::manual(ru)?)
            }
        }
    }
}

fn kind_changed(current: &'static str, requested: &'static str) -> CatalogError {
    ThroughputError::KindChanged { current, requested }.into()
}

impl Terms {
    fn to_json(&self, rid: &ResourceId) -> Object {
        let minimum: Object =
            [("maxThroughputEverProvisioned", u64::from(self.highest_ru)), ("maxConsumedStorageEverInKB", 0)]
                .into_iter()
                .collect();
        let mut content = Object::new();
        content.insert("offerThroughput", self.throughput.idle_ru());
        content.insert("offerIsRUPerMinuteThroughputEnabled", false);
        content.insert("offerMinimumThroughputParameters", minimum);
        if let Throughput::Autoscale { max_ru, increment_percent } = self.throughput {
            content.insert("offerAutopilotSettings", Throughput::settings(max_ru, increment_percent));
        }
        if self.pending {
            content.insert("isOfferReplacePending", true);
        }
        let mut offer = Object::new();
        offer.insert("id", rid.to_string());
        offer.insert("resource", self.target_link.as_str());
        offer.insert("offerResourceId", self.target.to_string());
        offer.insert("offerType", "Invalid");
        offer.insert("offerVersion", "V2");
        offer.insert("content", content);
        offer
    }

    /// From a stored offer; `None` where a property is not what we write.
    pub(super) fn from_json(offer: &Value) -> Option<Result<Self, ThroughputError>> {
        let content = offer.get("content")?;
        let throughput = match content.get("offerAutopilotSettings") {
            Some(settings) => Throughput::from_settings(settings),
            None => Throughput::manual(content.get("offerThroughput")?.as_i64()?),
        };
        let highest = content.get("offerMinimumThroughputParameters")?.get("maxThroughputEverProvisioned")?;
        let highest_ru = u32::try_from(highest.as_i64()?).ok()?;
        let target = ResourceId::parse(offer.get("offerResourceId")?.as_str()?)?;
        let target_link = offer.get("resource")?.as_str()?.to_owned();
        Some(throughput.map(|throughput| Self { throughput, highest_ru, target, target_link, pending: false }))
    }
}
