//! Hash resolvers and their placements.
//!
//! What follows from the members is not stored: a ring is built again from its links. A bucket map is the
//! exception, for its owners are history: they are stored as runs `[collection, count]`, which a map that was
//! never grown needs one of per collection.

use tesela_model::json::{Object, Value};

use super::fields::{Fields, elements, number, text, unexpected};
use super::keys::{decode_extractor, encode_extractor};
use super::{Registry, StateError, config};
use crate::hash::Hasher;
use crate::limits::BUCKETS_MAX;
use crate::placement::{BucketMap, Member, Members, Placement};
use crate::resolvers::{HashResolver, Scheme};

pub(super) fn encode(resolver: &HashResolver, into: &mut Object) {
    into.insert("key", encode_extractor(resolver.extractor()));
    into.insert("hash", resolver.hasher().name());
    into.insert("placement", encode_placement(resolver.placement()));
    let members: Vec<Value> = resolver.members().iter().map(encode_member).collect();
    into.insert("collections", members);
}

fn encode_member(member: &Member) -> Value {
    if member.weight == 1 {
        return member.link.as_str().into();
    }
    let mut object = Object::with_capacity(2);
    object.insert("link", member.link.as_str());
    object.insert("weight", member.weight);
    object.into()
}

fn encode_placement(placement: &Placement) -> Object {
    let mut object = Object::new();
    match placement {
        Placement::Ring(ring) => {
            object.insert("kind", "ring");
            object.insert("virtualNodes", ring.virtual_nodes());
        }
        Placement::Buckets(map) => {
            object.insert("kind", "buckets");
            object.insert("owners", encode_runs(map.owners()));
        }
        Placement::Bounded(bounded) => {
            object.insert("kind", "bounded");
            object.insert("buckets", bounded.buckets());
            object.insert("limitPercent", bounded.limit_percent());
        }
        Placement::Jump(_) => {
            object.insert("kind", "jump");
        }
        Placement::Rendezvous(_) => {
            object.insert("kind", "rendezvous");
        }
    }
    object
}

fn encode_runs(owners: &[u32]) -> Vec<Value> {
    let runs = owners.chunk_by(|a, b| a == b);
    runs.map(|run| vec![Value::from(run[0]), Value::from(run.len() as u64)].into()).collect()
}

pub(super) fn decode(registry: &Registry, mut fields: Fields<'_>) -> Result<HashResolver, StateError> {
    let (key, at) = fields.value("key")?;
    let extractor = decode_extractor(registry, key, at, 0)?;
    let hasher = decode_hasher(registry, &mut fields)?;
    let members: Vec<Member> =
        fields.elements("collections")?.map(|(member, at)| decode_member(member, at)).collect::<Result<_, _>>()?;
    let (placement, at) = fields.value("placement")?;
    let resolver = decode_placement(extractor, hasher, members, placement, at)?;
    fields.finish()?;
    Ok(resolver)
}

fn decode_hasher(registry: &Registry, fields: &mut Fields<'_>) -> Result<Hasher, StateError> {
    let name = fields.text("hash")?;
    registry.hashes.get(name).ok_or_else(|| StateError::Unregistered {
        at: format!("{}.hash", fields.at()),
        what: "hash generator",
        name: name.to_owned(),
    })
}

fn decode_member(value: &Value, at: String) -> Result<Member, StateError> {
    if let Some(link) = value.as_str() {
        return Ok(Member::new(link));
    }
    let mut fields = Fields::of(value, at)?;
    let member = Member::weighted(fields.text("link")?, fields.number_32("weight")?);
    fields.finish()?;
    Ok(member)
}

fn decode_placement(
    extractor: crate::extract::KeyExtractor,
    hasher: Hasher,
    members: Vec<Member>,
    value: &Value,
    at: String,
) -> Result<HashResolver, StateError> {
    let mut fields = Fields::of(value, at.clone())?;
    let (kind, kind_at) = fields.value("kind")?;
    let scheme = match text(kind, &kind_at)? {
        "ring" => Some(Scheme::Ring { virtual_nodes: fields.number_32("virtualNodes")? }),
        "bounded" => Some(Scheme::Bounded {
            buckets: fields.number_32("buckets")?,
            limit_percent: fields.number_32("limitPercent")?,
        }),
        "jump" => Some(Scheme::Jump),
        "rendezvous" => Some(Scheme::Rendezvous),
        "buckets" => None,
        _ => return Err(unexpected(&kind_at, "a placement", kind)),
    };
    let resolver = match scheme {
        Some(scheme) => HashResolver::new(extractor, hasher, scheme, members).map_err(config(&at))?,
        None => {
            let (owners, owners_at) = fields.value("owners")?;
            let members = Members::new(members).map_err(config(&at))?;
            let map = BucketMap::explicit(members, decode_runs(owners, owners_at)?).map_err(config(&at))?;
            HashResolver::with_bucket_map(extractor, hasher, map)
        }
    };
    fields.finish()?;
    Ok(resolver)
}

fn decode_runs(value: &Value, at: String) -> Result<Vec<u32>, StateError> {
    let mut owners = Vec::new();
    for (run, at) in elements(value, at)? {
        let [owner, count] = run.as_array().unwrap_or_default() else {
            return Err(unexpected(&at, "a run [collection, count]", run));
        };
        let owner = number(owner, &at, u64::from(u32::MAX))? as u32;
        // What is left of the limit bounds the memory a hostile state can ask for.
        let count = number(count, &at, u64::from(BUCKETS_MAX) - owners.len() as u64)? as usize;
        owners.extend(std::iter::repeat_n(owner, count));
    }
    Ok(owners)
}
