//! The dispatch by kind, and the resolvers that hold others.

use tesela_model::json::{Object, Value};

use super::fields::{Fields, elements, number, text, unexpected};
use super::{Registry, StateError, check_depth, config, hashes, maps, templates};
use crate::resolver::Resolver;
use crate::resolvers::{
    FallbackResolver, ManagedResolver, NestedResolver, SpillPolicy, SpilloverResolver, TransitionMode,
    TransitionResolver,
};

pub(super) fn encode(resolver: &Resolver) -> Value {
    let mut object = Object::new();
    object.insert("kind", resolver.kind());
    match resolver {
        Resolver::Hash(it) => hashes::encode(it, &mut object),
        Resolver::Range(it) => maps::encode_ranges(it, &mut object),
        Resolver::Lookup(it) => maps::encode_lookup(it, &mut object),
        Resolver::Managed(it) => {
            object.insert("template", templates::encode(it.template()));
            object.insert("resolver", encode(&Resolver::Hash(it.inner().clone())));
        }
        Resolver::Spillover(it) => encode_spillover(it, &mut object),
        Resolver::Transition(it) => {
            object.insert("mode", mode_name(it.mode()));
            object.insert("current", encode(it.current()));
            object.insert("next", encode(it.next()));
        }
        Resolver::Nested(it) => {
            object.insert("outer", encode(it.outer()));
            let mut groups: Vec<Value> = Vec::with_capacity(it.groups().len());
            for (name, resolver) in it.groups() {
                let mut group = Object::with_capacity(2);
                group.insert("name", name.as_str());
                group.insert("resolver", encode(resolver));
                groups.push(group.into());
            }
            object.insert("groups", groups);
        }
        Resolver::Fallback(it) => {
            object.insert("chain", it.chain().iter().map(encode).collect::<Vec<_>>());
        }
        Resolver::Custom(it) => {
            object.insert("name", it.name());
        }
    }
    object.into()
}

fn encode_spillover(resolver: &SpilloverResolver, into: &mut Object) {
    into.insert("template", templates::encode(resolver.template()));
    into.insert("capacityBytes", resolver.policy().capacity_bytes());
    into.insert("fillPercent", resolver.policy().fill_percent());
    into.insert("collections", resolver.numbers().iter().map(|&n| Value::from(n)).collect::<Vec<_>>());
}

fn mode_name(mode: TransitionMode) -> &'static str {
    match mode {
        TransitionMode::ReadCurrent => "ReadCurrent",
        TransitionMode::ReadNext => "ReadNext",
        TransitionMode::ReadBoth => "ReadBoth",
        TransitionMode::None => "None",
    }
}

pub(super) fn decode(registry: &Registry, value: &Value, at: String, depth: usize) -> Result<Resolver, StateError> {
    check_depth(depth, &at)?;
    let mut fields = Fields::of(value, at)?;
    let (kind, kind_at) = fields.value("kind")?;
    Ok(match text(kind, &kind_at)? {
        "hash" => hashes::decode(registry, fields)?.into(),
        "range" => maps::decode_ranges(registry, fields)?.into(),
        "lookup" => maps::decode_lookup(registry, fields)?.into(),
        "managed" => decode_managed(registry, fields)?.into(),
        "spillover" => decode_spillover(fields)?.into(),
        "transition" => decode_transition(registry, fields, depth)?.into(),
        "nested" => decode_nested(registry, fields, depth)?.into(),
        "fallback" => decode_fallback(registry, fields, depth)?.into(),
        "custom" => decode_custom(registry, fields)?,
        _ => return Err(unexpected(&kind_at, "a kind of resolver", kind)),
    })
}

fn decode_managed(registry: &Registry, mut fields: Fields<'_>) -> Result<ManagedResolver, StateError> {
    let at = fields.at().to_owned();
    let (template, template_at) = fields.value("template")?;
    let template = templates::decode(template, template_at)?;
    let (inner, inner_at) = fields.value("resolver")?;
    let mut inner_fields = Fields::of(inner, inner_at)?;
    let (kind, kind_at) = inner_fields.value("kind")?;
    if kind.as_str() != Some("hash") {
        return Err(unexpected(&kind_at, "hash", kind));
    }
    let inner = hashes::decode(registry, inner_fields)?;
    fields.finish()?;
    ManagedResolver::from_parts(template, inner).map_err(config(&at))
}

fn decode_spillover(mut fields: Fields<'_>) -> Result<SpilloverResolver, StateError> {
    let at = fields.at().to_owned();
    let (template, template_at) = fields.value("template")?;
    let template = templates::decode(template, template_at)?;
    let capacity = fields.number("capacityBytes", i64::MAX as u64)?;
    let policy = SpillPolicy::new(capacity, fields.number_32("fillPercent")?).map_err(config(&at))?;
    let numbers: Vec<u64> = fields
        .elements("collections")?
        .map(|(value, at)| number(value, &at, i64::MAX as u64))
        .collect::<Result<_, _>>()?;
    fields.finish()?;
    SpilloverResolver::resumed(template, policy, numbers).map_err(config(&at))
}

fn decode_transition(
    registry: &Registry,
    mut fields: Fields<'_>,
    depth: usize,
) -> Result<TransitionResolver, StateError> {
    let (mode, mode_at) = fields.value("mode")?;
    let mode = match mode.as_str() {
        Some("ReadCurrent") => TransitionMode::ReadCurrent,
        Some("ReadNext") => TransitionMode::ReadNext,
        Some("ReadBoth") => TransitionMode::ReadBoth,
        Some("None") => TransitionMode::None,
        _ => return Err(unexpected(&mode_at, "ReadCurrent, ReadNext, ReadBoth or None", mode)),
    };
    let (current, current_at) = fields.value("current")?;
    let current = decode(registry, current, current_at, depth + 1)?;
    let (next, next_at) = fields.value("next")?;
    let next = decode(registry, next, next_at, depth + 1)?;
    fields.finish()?;
    Ok(TransitionResolver::new(current, next, mode))
}

fn decode_nested(registry: &Registry, mut fields: Fields<'_>, depth: usize) -> Result<NestedResolver, StateError> {
    let at = fields.at().to_owned();
    let (outer, outer_at) = fields.value("outer")?;
    let outer = decode(registry, outer, outer_at, depth + 1)?;
    let mut groups = Vec::new();
    for (group, at) in fields.elements("groups")? {
        let mut fields = Fields::of(group, at)?;
        let name = fields.text("name")?;
        let (resolver, at) = fields.value("resolver")?;
        groups.push((name, decode(registry, resolver, at, depth + 1)?));
        fields.finish()?;
    }
    fields.finish()?;
    NestedResolver::new(outer, groups).map_err(config(&at))
}

fn decode_fallback(registry: &Registry, mut fields: Fields<'_>, depth: usize) -> Result<FallbackResolver, StateError> {
    let at = fields.at().to_owned();
    let (chain, chain_at) = fields.value("chain")?;
    let chain: Result<Vec<Resolver>, _> =
        elements(chain, chain_at)?.map(|(value, at)| decode(registry, value, at, depth + 1)).collect();
    fields.finish()?;
    FallbackResolver::new(chain?).map_err(config(&at))
}

fn decode_custom(registry: &Registry, mut fields: Fields<'_>) -> Result<Resolver, StateError> {
    let name = fields.text("name")?;
    let at = format!("{}.name", fields.at());
    fields.finish()?;
    let found = registry.resolvers.get(name).cloned();
    found.map(Resolver::Custom).ok_or_else(|| StateError::Unregistered { at, what: "resolver", name: name.to_owned() })
}
