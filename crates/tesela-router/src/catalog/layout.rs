//! How the catalog is kept: rows of space 0, each one resource, its value the text clients read.
//!
//! | tag | further key fields | value |
//! |---|---|---|
//! | 01 | | `{"format":1}` |
//! | 02 | | counters: the next number of every kind |
//! | 10 | database u32 | database |
//! | 11 | database u32, container u32 | container |
//! | 12 | database u32, container u32 | partition map: epoch, next id, partitions with their key spaces |
//! | 13 | database u32, container u32, kind u8, number u64 | stored procedure (0), trigger (1), function (2) |
//! | 20 | database u32, user u32 | user |
//! | 21 | database u32, user u32, number u64 | permission |
//! | 22 | database u32, key u32 | client encryption key |
//! | 30 | offer u32 | offer |
//!
//! Numbers are those inside RIDs and grow with every creation, so that key order is creation order, and owners come
//! before what they own. A row says nothing that can be computed: feeds, minimums and pending offers are not here.
//!
//! Reading is strict. A row of an unknown tag or shape is damage, not something to skip: it may be what a newer
//! release wrote, and dropping its key spaces would lose data.

use super::error::Damage;
use super::folder::ScriptKind;
use super::{PartitionMap, PartitionStatus, PhysicalPartition};
use bytes::Bytes;
use tesela_model::epk::{Epk, EpkRange};
use tesela_model::json::{self, Object, Value};
use tesela_store::SpaceId;
use tesela_store::keycode::{KeyReader, KeyWriter};

/// What this release writes.
pub(super) const FORMAT: i64 = 1;

/// The key of a row, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Format,
    Counters,
    Database(u32),
    Container(u32, u32),
    Partitions(u32, u32),
    Script(u32, u32, ScriptKind, u64),
    User(u32, u32),
    Permission(u32, u32, u64),
    EncryptionKey(u32, u32),
    Offer(u32),
}

mod tag {
    pub(super) const FORMAT: u8 = 0x01;
    pub(super) const COUNTERS: u8 = 0x02;
    pub(super) const DATABASE: u8 = 0x10;
    pub(super) const CONTAINER: u8 = 0x11;
    pub(super) const PARTITIONS: u8 = 0x12;
    pub(super) const SCRIPT: u8 = 0x13;
    pub(super) const USER: u8 = 0x20;
    pub(super) const PERMISSION: u8 = 0x21;
    pub(super) const ENCRYPTION_KEY: u8 = 0x22;
    pub(super) const OFFER: u8 = 0x30;
}

impl Row {
    pub(super) fn key(self) -> Bytes {
        let key = KeyWriter::new();
        match self {
            Self::Format => key.tag(tag::FORMAT),
            Self::Counters => key.tag(tag::COUNTERS),
            Self::Database(database) => key.tag(tag::DATABASE).u32(database),
            Self::Container(database, container) => key.tag(tag::CONTAINER).u32(database).u32(container),
            Self::Partitions(database, container) => key.tag(tag::PARTITIONS).u32(database).u32(container),
            Self::Script(database, container, kind, number) => {
                key.tag(tag::SCRIPT).u32(database).u32(container).tag(kind as u8).u64(number)
            }
            Self::User(database, user) => key.tag(tag::USER).u32(database).u32(user),
            Self::Permission(database, user, number) => key.tag(tag::PERMISSION).u32(database).u32(user).u64(number),
            Self::EncryptionKey(database, number) => key.tag(tag::ENCRYPTION_KEY).u32(database).u32(number),
            Self::Offer(number) => key.tag(tag::OFFER).u32(number),
        }
        .finish()
    }

    pub(super) fn parse(key: &[u8]) -> Result<Self, Damage> {
        let mut fields = KeyReader::new(key);
        let row = match fields.tag()? {
            tag::FORMAT => Self::Format,
            tag::COUNTERS => Self::Counters,
            tag::DATABASE => Self::Database(fields.u32()?),
            tag::CONTAINER => Self::Container(fields.u32()?, fields.u32()?),
            tag::PARTITIONS => Self::Partitions(fields.u32()?, fields.u32()?),
            tag::SCRIPT => {
                let (database, container) = (fields.u32()?, fields.u32()?);
                let kind = ScriptKind::ALL.get(usize::from(fields.tag()?)).ok_or(Damage::UnknownTag)?;
                Self::Script(database, container, *kind, fields.u64()?)
            }
            tag::USER => Self::User(fields.u32()?, fields.u32()?),
            tag::PERMISSION => Self::Permission(fields.u32()?, fields.u32()?, fields.u64()?),
            tag::ENCRYPTION_KEY => Self::EncryptionKey(fields.u32()?, fields.u32()?),
            tag::OFFER => Self::Offer(fields.u32()?),
            _ => return Err(Damage::UnknownTag),
        };
        fields.end()?;
        Ok(row)
    }
}

/// The next number of every kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counters {
    pub database: u32,
    pub container: u32,
    /// Users and encryption keys.
    pub user: u32,
    /// Permissions and scripts.
    pub child: u64,
    /// Used again when it has gone around; skips offers that exist.
    pub offer: u32,
    pub space: u64,
}

impl Counters {
    /// `base` sets the RIDs of one data folder apart from those of another.
    pub(super) fn new(base: u32) -> Self {
        Self { database: base, container: 1, user: 1, child: 1, offer: 1, space: 1 }
    }

    pub(super) fn to_json(self) -> String {
        let counters: Object = [
            ("database", u64::from(self.database)),
            ("container", u64::from(self.container)),
            ("user", u64::from(self.user)),
            ("child", self.child),
            ("offer", u64::from(self.offer)),
            ("space", self.space),
        ]
        .into_iter()
        .collect();
        json::to_string(&Value::Object(counters))
    }

    pub(super) fn from_json(value: &Value) -> Result<Self, Damage> {
        Ok(Self {
            database: number(value, "database")?,
            container: number(value, "container")?,
            user: number(value, "user")?,
            child: number(value, "child")?,
            offer: number(value, "offer")?,
            space: number(value, "space")?,
        })
    }
}

fn number<T: TryFrom<i64>>(value: &Value, name: &'static str) -> Result<T, Damage> {
    let number = value.get(name).and_then(Value::as_i64).and_then(|number| T::try_from(number).ok());
    number.ok_or(Damage::Property(name))
}

pub(super) fn text<'a>(value: &'a Value, name: &'static str) -> Result<&'a str, Damage> {
    value.get(name).and_then(Value::as_str).ok_or(Damage::Property(name))
}

/// The map of a container and the second it was installed.
pub(super) fn map_to_json(map: &PartitionMap, ts: u64) -> String {
    let partitions: Vec<Value> = map.partitions().iter().map(partition_to_json).collect();
    let mut object = Object::new();
    object.insert("epoch", map.epoch());
    object.insert("nextId", map.next_id());
    object.insert("ts", ts);
    object.insert("partitions", partitions);
    json::to_string(&Value::Object(object))
}

pub(super) fn map_from_json(value: &Value) -> Result<(PartitionMap, u64), Damage> {
    let partitions = value.get("partitions").and_then(Value::as_array).ok_or(Damage::Property("partitions"))?;
    let partitions = partitions.iter().map(partition_from_json).collect::<Result<Vec<_>, Damage>>()?;
    let map = PartitionMap::from_parts(number(value, "epoch")?, number(value, "nextId")?, partitions)?;
    Ok((map, number(value, "ts")?))
}

fn partition_to_json(partition: &PhysicalPartition) -> Value {
    let parents: Vec<Value> = partition.parents.iter().map(|id| Value::from(*id)).collect();
    let mut object = Object::new();
    object.insert("id", partition.id);
    object.insert("space", partition.space.0);
    object.insert("min", partition.range.min().to_hex());
    object.insert("max", partition.range.max().to_hex());
    object.insert("parents", parents);
    object.insert("status", partition.status.name());
    object.insert("throughputFraction", partition.throughput_fraction);
    Value::Object(object)
}

fn partition_from_json(value: &Value) -> Result<PhysicalPartition, Damage> {
    let bound = |name| Epk::from_hex(text(value, name)?).ok_or(Damage::Property(name));
    let parents = value.get("parents").and_then(Value::as_array).ok_or(Damage::Property("parents"))?;
    let parent = |id: &Value| id.as_i64().and_then(|id| u32::try_from(id).ok()).ok_or(Damage::Property("parents"));
    let fraction = value.get("throughputFraction").and_then(Value::as_f64);
    Ok(PhysicalPartition {
        id: number(value, "id")?,
        space: SpaceId(number(value, "space")?),
        range: EpkRange::new(bound("min")?, bound("max")?).ok_or(Damage::Property("max"))?,
        parents: parents.iter().map(parent).collect::<Result<_, _>>()?,
        status: PartitionStatus::from_name(text(value, "status")?).ok_or(Damage::Property("status"))?,
        throughput_fraction: fraction.ok_or(Damage::Property("throughputFraction"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tesela_model::partition_key::PartitionKeyDefinition;

    #[test]
    fn keys_read_back_and_owners_come_first() {
        let rows = [
            Row::Format,
            Row::Counters,
            Row::Database(1),
            Row::Database(256),
            Row::Container(1, 2),
            Row::Container(1, 300),
            Row::Partitions(1, 2),
            Row::Script(1, 2, ScriptKind::StoredProcedure, 9),
            Row::Script(1, 2, ScriptKind::Function, 3),
            Row::User(1, 2),
            Row::Permission(1, 2, 3),
            Row::EncryptionKey(1, 2),
            Row::Offer(7),
        ];
        let keys: Vec<Bytes> = rows.iter().map(|row| row.key()).collect();
        assert!(keys.is_sorted());
        for (row, key) in rows.iter().zip(&keys) {
            assert_eq!(Row::parse(key), Ok(*row));
            let longer = [key.as_ref(), &[0]].concat();
            assert!(Row::parse(&longer).is_err(), "{row:?}");
        }
        assert_eq!(Row::parse(&[0x7F]), Err(Damage::UnknownTag));
        assert_eq!(
            Row::parse(&Row::Script(1, 2, ScriptKind::Trigger, 1).key()[..9]),
            Err(Damage::Key(tesela_store::keycode::KeyError::Truncated))
        );
    }

    #[test]
    fn maps_and_counters_read_back() {
        let spaces: Vec<SpaceId> = (10..13).map(SpaceId).collect();
        let map = PartitionMap::divide(&PartitionKeyDefinition::hash("/pk", Some(2)), &spaces);
        let map = map.split(1, &Epk::from_hex("18").unwrap(), [SpaceId(20), SpaceId(21)]).unwrap();
        let stored = json::parse(map_to_json(&map, 5).as_bytes()).unwrap();
        assert_eq!(map_from_json(&stored), Ok((map, 5)));
        let counters = Counters { child: u64::from(u32::MAX) + 5, ..Counters::new(77) };
        let stored = json::parse(counters.to_json().as_bytes()).unwrap();
        assert_eq!(Counters::from_json(&stored), Ok(counters));
        for damaged in ["{}", r#"{"epoch":1}"#, r#"{"epoch":1,"nextId":1,"ts":0,"partitions":[]}"#, "[]", "3"] {
            assert!(map_from_json(&json::parse(damaged.as_bytes()).unwrap()).is_err(), "{damaged}");
        }
    }
}
