//! Throughput a user asks for: manual or autoscale, its bounds, and how it is spelled in headers and offers.
//!
//! Manual throughput is a fixed number of RU/s in steps of 100, autoscale a maximum in steps of 1,000 from which the
//! service goes down to a tenth. Neither may fall below what was ever provisioned, what is stored, and (shared by a
//! database) the number of containers ask for:
//!
//! ```text
//! manual     max(400,  1 RU/s per GB,  highest / 100,  400 + 100 per container beyond 25)   rounded up to 100
//! autoscale  max(1000, 10 RU/s per GB, highest / 10,   10 times the same)                   rounded up to 1,000
//! ```

use tesela_model::json::{self, Object, Value};
use tesela_model::limits::{
    AUTOSCALE_MIN_RU, AUTOSCALE_STEP_RU, SHARED_CONTAINER_RU, SHARED_CONTAINERS_FREE, THROUGHPUT_MAX_RU,
    THROUGHPUT_MIN_RU, THROUGHPUT_STEP_RU,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Throughput {
    Manual {
        ru: u32,
    },
    Autoscale {
        max_ru: u32,
        /// By how much the service may raise the maximum by itself; kept and echoed.
        increment_percent: Option<u32>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThroughputError {
    #[error("Requested throughput {requested} is less than required minimum throughput {minimum}")]
    BelowMinimum { requested: i64, minimum: u32 },
    #[error("requested throughput {requested} is more than the maximum {maximum}")]
    AboveMaximum { requested: i64, maximum: u32 },
    #[error("requested throughput {requested} is not a multiple of {step}")]
    NotAStep { requested: i64, step: u32 },
    #[error("throughput is given both as a fixed value and with autoscale settings")]
    Both,
    #[error("the throughput settings '{0}' cannot be read")]
    Unreadable(String),
    /// A change of kind needs its own header.
    #[error("the offer is {current}; changing it to {requested} is a migration and has to be asked for as one")]
    KindChanged { current: &'static str, requested: &'static str },
}

impl Throughput {
    pub fn manual(ru: i64) -> Result<Self, ThroughputError> {
        check(ru, THROUGHPUT_MIN_RU, THROUGHPUT_STEP_RU).map(|ru| Self::Manual { ru })
    }

    pub fn autoscale(max_ru: i64, increment_percent: Option<u32>) -> Result<Self, ThroughputError> {
        let max_ru = check(max_ru, AUTOSCALE_MIN_RU, AUTOSCALE_STEP_RU)?;
        Ok(Self::Autoscale { max_ru, increment_percent })
    }

    /// From the two headers of a create request: `x-ms-offer-throughput` and `x-ms-cosmos-offer-autopilot-settings`.
    pub fn from_headers(manual: Option<&str>, autoscale: Option<&str>) -> Result<Option<Self>, ThroughputError> {
        let unreadable = |text: &str| ThroughputError::Unreadable(text.to_owned());
        match (manual, autoscale) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(ThroughputError::Both),
            (Some(text), None) => Self::manual(text.trim().parse().map_err(|_| unreadable(text))?).map(Some),
            (None, Some(text)) => {
                let settings = json::parse(text.as_bytes()).map_err(|_| unreadable(text))?;
                Self::from_settings(&settings).map(Some)
            }
        }
    }

    /// From `{"maxThroughput":…,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":…}}}`.
    pub(super) fn from_settings(settings: &Value) -> Result<Self, ThroughputError> {
        let unreadable = || ThroughputError::Unreadable(json::to_string(settings));
        let max_ru = settings.get("maxThroughput").and_then(Value::as_i64).ok_or_else(unreadable)?;
        let policy = settings.get("autoUpgradePolicy").and_then(|policy| policy.get("throughputPolicy"));
        let increment = match policy.and_then(|policy| policy.get("incrementPercent")) {
            None | Some(Value::Null) => None,
            Some(value) => Some(value.as_i64().and_then(|percent| u32::try_from(percent).ok()).ok_or_else(unreadable)?),
        };
        Self::autoscale(max_ru, increment)
    }

    pub(super) fn settings(max_ru: u32, increment_percent: Option<u32>) -> Object {
        let mut settings = Object::new();
        settings.insert("maxThroughput", max_ru);
        if let Some(percent) = increment_percent {
            let policy: Object = [("incrementPercent", percent)].into_iter().collect();
            let policy: Object = [("throughputPolicy", policy)].into_iter().collect();
            settings.insert("autoUpgradePolicy", policy);
        }
        settings
    }

    /// The most it can be.
    pub fn max_ru(self) -> u32 {
        match self {
            Self::Manual { ru } => ru,
            Self::Autoscale { max_ru, .. } => max_ru,
        }
    }

    /// What it is when nobody uses it.
    pub fn idle_ru(self) -> u32 {
        match self {
            Self::Manual { ru } => ru,
            Self::Autoscale { max_ru, .. } => max_ru / 10,
        }
    }

    pub fn kind(self) -> &'static str {
        match self {
            Self::Manual { .. } => "manual",
            Self::Autoscale { .. } => "autoscale",
        }
    }

    /// The lowest this kind of throughput may be lowered to.
    pub fn minimum(self, facts: &MinimumFacts) -> u32 {
        let gigabytes = facts.stored_bytes.div_ceil(1 << 30).min(u64::from(THROUGHPUT_MAX_RU)) as u32;
        let beyond = facts.shared_by.saturating_sub(SHARED_CONTAINERS_FREE);
        let shared = THROUGHPUT_MIN_RU.saturating_add(beyond.saturating_mul(SHARED_CONTAINER_RU));
        let (least, stored, ever, shared, step) = match self {
            Self::Manual { .. } => {
                (THROUGHPUT_MIN_RU, gigabytes, facts.highest_ru.div_ceil(100), shared, THROUGHPUT_STEP_RU)
            }
            Self::Autoscale { .. } => (
                AUTOSCALE_MIN_RU,
                gigabytes.saturating_mul(10),
                facts.highest_ru.div_ceil(10),
                if beyond > 0 { shared.saturating_mul(10) } else { AUTOSCALE_MIN_RU },
                AUTOSCALE_STEP_RU,
            ),
        };
        least.max(stored).max(ever).max(shared).min(THROUGHPUT_MAX_RU).next_multiple_of(step)
    }

    /// Refuses what is below the minimum.
    pub(super) fn check_minimum(self, facts: &MinimumFacts) -> Result<(), ThroughputError> {
        let minimum = self.minimum(facts);
        match self.max_ru() {
            ru if ru >= minimum => Ok(()),
            ru => Err(ThroughputError::BelowMinimum { requested: i64::from(ru), minimum }),
        }
    }

    /// The other kind: autoscale with the next step as its maximum, or the maximum as a fixed value.
    pub(super) fn migrated(self) -> Self {
        match self {
            Self::Manual { ru } => {
                let max_ru = ru.max(AUTOSCALE_MIN_RU).next_multiple_of(AUTOSCALE_STEP_RU);
                Self::Autoscale { max_ru, increment_percent: None }
            }
            Self::Autoscale { max_ru, .. } => Self::Manual { ru: max_ru },
        }
    }
}

/// What a minimum depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinimumFacts {
    /// The most that was ever provisioned.
    pub highest_ru: u32,
    pub stored_bytes: u64,
    /// Containers that share it; 0 for a container's own.
    pub shared_by: u32,
}

/// How many partitions `ru` needs, if each can give `partition_ru` at most and there are `current` of them.
pub fn partitions_needed(ru: u32, partition_ru: u32, current: u32) -> u32 {
    ru.div_ceil(partition_ru).max(current)
}

fn check(requested: i64, minimum: u32, step: u32) -> Result<u32, ThroughputError> {
    if requested < i64::from(minimum) {
        return Err(ThroughputError::BelowMinimum { requested, minimum });
    }
    let above = ThroughputError::AboveMaximum { requested, maximum: THROUGHPUT_MAX_RU };
    let ru = u32::try_from(requested).ok().filter(|ru| *ru <= THROUGHPUT_MAX_RU).ok_or(above)?;
    if ru.is_multiple_of(step) { Ok(ru) } else { Err(ThroughputError::NotAStep { requested, step }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let manual = |ru| Ok(Some(Throughput::Manual { ru }));
        let auto = |max_ru, increment_percent| Ok(Some(Throughput::Autoscale { max_ru, increment_percent }));
        for (fixed, settings, wanted) in [
            (None, None, Ok(None)),
            (Some("400"), None, manual(400)),
            (Some(" 1000000 "), None, manual(1_000_000)),
            (None, Some(r#"{"maxThroughput":7000}"#), auto(7000, None)),
            (
                None,
                Some(r#"{"maxThroughput":5000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":0}}}"#),
                auto(5000, Some(0)),
            ),
            (Some("400"), Some("{}"), Err(ThroughputError::Both)),
            (Some("399"), None, Err(ThroughputError::BelowMinimum { requested: 399, minimum: 400 })),
            (Some("450"), None, Err(ThroughputError::NotAStep { requested: 450, step: 100 })),
            (Some("1000100"), None, Err(ThroughputError::AboveMaximum { requested: 1_000_100, maximum: 1_000_000 })),
            (Some("many"), None, Err(ThroughputError::Unreadable("many".to_owned()))),
            (None, Some(r#"{"maxThroughput":1500}"#), Err(ThroughputError::NotAStep { requested: 1500, step: 1000 })),
            (None, Some("{"), Err(ThroughputError::Unreadable("{".to_owned()))),
        ] {
            assert_eq!(Throughput::from_headers(fixed, settings), wanted, "{fixed:?} {settings:?}");
        }
        let refused = Throughput::from_headers(None, Some(r#"{"maxThroughput":-200}"#)).unwrap_err();
        assert_eq!(refused.to_string(), "Requested throughput -200 is less than required minimum throughput 1000");
    }

    #[test]
    fn minimums_follow_history_storage_and_sharing() {
        const GB: u64 = 1 << 30;
        let manual = Throughput::Manual { ru: 0 };
        let auto = Throughput::Autoscale { max_ru: 0, increment_percent: None };
        for (highest_ru, stored_bytes, shared_by, manual_ru, auto_ru) in [
            (400, 0, 0, 400, 1000),
            (100_000, 0, 0, 1000, 10_000),
            (100_100, 0, 0, 1100, 11_000),
            (400, 500 * GB, 0, 500, 5000),
            (400, 500 * GB + 1, 0, 600, 6000),
            (400, 0, 25, 400, 1000),
            (400, 0, 30, 900, 9000),
        ] {
            let facts = MinimumFacts { highest_ru, stored_bytes, shared_by };
            assert_eq!((manual.minimum(&facts), auto.minimum(&facts)), (manual_ru, auto_ru), "{facts:?}");
        }
    }

    /// The steps official SDKs' own tests take.
    #[test]
    fn growth_needs_partitions() {
        for (ru, current, needed) in [
            (11_000, 1, 2),
            (25_000, 2, 3),
            (60_000, 5, 6),
            (13_000, 1, 2),
            (400, 5, 5),
            (10_000, 1, 1),
            (10_001, 1, 2),
        ] {
            assert_eq!(partitions_needed(ru, 10_000, current), needed, "{ru} RU/s on {current}");
        }
    }

    #[test]
    fn migrations() {
        let auto = |max_ru| Throughput::Autoscale { max_ru, increment_percent: None };
        assert_eq!(Throughput::Manual { ru: 400 }.migrated(), auto(1000));
        assert_eq!(Throughput::Manual { ru: 4100 }.migrated(), auto(5000));
        assert_eq!(auto(4000).migrated(), Throughput::Manual { ru: 4000 });
        assert_eq!((auto(4000).max_ru(), auto(4000).idle_ru()), (4000, 400));
    }
}
