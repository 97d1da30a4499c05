//! Range and lookup resolvers.

use tesela_model::json::{Object, Value};

use super::fields::{Fields, unexpected};
use super::keys::{decode_extractor, decode_key, decode_range, encode_extractor, encode_key, encode_range};
use super::{Registry, StateError, config};
use crate::link::CollectionLink;
use crate::resolvers::{KeyOrder, LookupResolver, RangeResolver};

pub(super) fn encode_ranges(resolver: &RangeResolver, into: &mut Object) {
    into.insert("key", encode_extractor(resolver.extractor()));
    into.insert(
        "order",
        match resolver.order() {
            KeyOrder::Natural => "natural",
            KeyOrder::Time => "time",
        },
    );
    let mut ranges: Vec<Value> = Vec::with_capacity(resolver.entries().len());
    for entry in resolver.entries() {
        let mut object = Object::new();
        encode_range(&entry.range, &mut object);
        object.insert("link", entry.link.as_str());
        ranges.push(object.into());
    }
    into.insert("ranges", ranges);
}

pub(super) fn decode_ranges(registry: &Registry, mut fields: Fields<'_>) -> Result<RangeResolver, StateError> {
    let at = fields.at().to_owned();
    let (key, key_at) = fields.value("key")?;
    let extractor = decode_extractor(registry, key, key_at, 0)?;
    let (order, order_at) = fields.value("order")?;
    let order = match order.as_str() {
        Some("natural") => KeyOrder::Natural,
        Some("time") => KeyOrder::Time,
        _ => return Err(unexpected(&order_at, "natural or time", order)),
    };
    let mut entries = Vec::new();
    for (entry, at) in fields.elements("ranges")? {
        let mut fields = Fields::of(entry, at)?;
        let range = decode_range(&mut fields)?;
        entries.push((range, CollectionLink::new(fields.text("link")?)));
        fields.finish()?;
    }
    fields.finish()?;
    RangeResolver::new(extractor, order, entries).map_err(config(&at))
}

pub(super) fn encode_lookup(resolver: &LookupResolver, into: &mut Object) {
    into.insert("key", encode_extractor(resolver.extractor()));
    let mut entries: Vec<Value> = Vec::with_capacity(resolver.entries().len());
    for (key, link) in resolver.entries() {
        let mut object = Object::with_capacity(2);
        object.insert("key", encode_key(key));
        object.insert("link", link.as_str());
        entries.push(object.into());
    }
    into.insert("entries", entries);
    if let Some(link) = resolver.default_link() {
        into.insert("default", link.as_str());
    }
}

pub(super) fn decode_lookup(registry: &Registry, mut fields: Fields<'_>) -> Result<LookupResolver, StateError> {
    let at = fields.at().to_owned();
    let (key, key_at) = fields.value("key")?;
    let extractor = decode_extractor(registry, key, key_at, 0)?;
    let mut entries = Vec::new();
    for (entry, at) in fields.elements("entries")? {
        let mut fields = Fields::of(entry, at)?;
        let (key, key_at) = fields.value("key")?;
        entries.push((decode_key(key, key_at, 0)?, CollectionLink::new(fields.text("link")?)));
        fields.finish()?;
    }
    let default = match fields.optional("default") {
        Some((link, at)) => Some(CollectionLink::new(super::fields::text(link, &at)?)),
        None => None,
    };
    fields.finish()?;
    LookupResolver::new(extractor, entries, default).map_err(config(&at))
}
