//! How a query reads documents: the choice, as data that can be printed.
//!
//! ```text
//! SELECT VALUE COUNT(1) FROM c WHERE c.a = 1         count of index /a/? = 1
//! SELECT * FROM c WHERE c.a = 1 AND c.x * 2 = 4      index /a/? = 1
//! SELECT * FROM c WHERE c.a > 1 ORDER BY c.b DESC    order of index /b/? backward; filter index /a/? > 1
//! SELECT * FROM c WHERE c.x * 2 = 4 ORDER BY c.v     scan; sort            (v is not indexed completely yet)
//! ```
//!
//! The choice follows from the query and the policy alone. What remains open — which of several conditions to start from,
//! whether a range is small enough to be worth its index — is found out while reading, see [`super::documents`].

use super::lookup::{Lookup, LookupNode};
use super::order_index::OrderIndex;
use crate::container::Container;
use crate::read::FeedScope;
use std::fmt;
use tesela_model::epk::effective_partition_key;
use tesela_model::json::Value;
use tesela_model::partition_key::{Component, PartitionKeyDefinition, PartitionKeyValue};
use tesela_query::CompiledQuery;
use tesela_query::access::{Access, Filter, PathStep, PathTest, Test};

/// An order the policy does not provide for, though the service insists on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    #[error("The order by query does not have a corresponding composite index that it can be served from.")]
    NoCompositeIndex,
    #[error("The order-by item requires a range index to be defined on the corresponding index path.")]
    NoRangeIndex,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub enum AccessPath {
    /// No document can have a row.
    Nothing,
    /// Rows of the index, or what is counted anyhow, instead of documents.
    Count(Lookup),
    /// Documents in `_rid` order.
    Documents { lookup: Lookup, sorts: bool },
    /// Documents in the order of the query.
    Ordered { order: Box<OrderIndex>, lookup: Lookup },
}

impl AccessPath {
    pub fn choose(
        query: &CompiledQuery,
        access: &Access,
        container: &Container,
        scope: &FeedScope,
    ) -> Result<Self, OrderError> {
        let schema = &container.index;
        let filter = without_key(&access.filter, scope, &container.partition_key);
        let mut lookup = Lookup::of(&filter, schema);
        check_order(access, &lookup, container)?;
        if lookup.node == LookupNode::Nothing {
            return Ok(Self::Nothing);
        }
        if access.counts_only && access.exact && lookup.exact {
            return Ok(Self::Count(lookup));
        }
        let sorts = !access.order_by.is_empty() || access.by_score;
        if sorts
            && query.is_streaming_in_order()
            && let Some(order) = OrderIndex::choose(&access.order_by, &mut lookup, schema)
        {
            return Ok(Self::Ordered { order: Box::new(order), lookup });
        }
        Ok(Self::Documents { lookup, sorts })
    }
}

/// The service orders by indexes alone.
fn check_order(access: &Access, lookup: &Lookup, container: &Container) -> Result<(), OrderError> {
    let schema = &container.index;
    match access.order_by.as_slice() {
        [] => Ok(()),
        [(path, _)] if path.is_empty() || schema.computes(path) || schema.includes(path) => Ok(()),
        [_] => Err(OrderError::NoRangeIndex),
        several if OrderIndex::is_wanted(several, lookup, schema) => Ok(()),
        _ => Err(OrderError::NoCompositeIndex),
    }
}

/// The filter without what the scope says already: in one logical partition every document has its key.
fn without_key(filter: &Filter, scope: &FeedScope, definition: &PartitionKeyDefinition) -> Filter {
    let FeedScope::Logical(epk) = scope else { return filter.clone() };
    let parts = match filter {
        Filter::And(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let is_key_test = |part: &Filter, path: &[String]| key_component(part, path).is_some();
    let component = |path: &[String]| parts.iter().find_map(|part| key_component(part, path));
    let value: Option<Vec<Component>> = definition.paths.iter().map(|path| component(path.steps())).collect();
    let fits = value.is_some_and(|value| effective_partition_key(&PartitionKeyValue::new(value), definition) == *epk);
    if !fits {
        return filter.clone();
    }
    // A second test on a path of the key stays: it may contradict the first.
    let mut rest: Vec<Filter> = parts.to_vec();
    for path in &definition.paths {
        if let Some(at) = rest.iter().position(|part| is_key_test(part, path.steps())) {
            rest.remove(at);
        }
    }
    match rest.len() {
        0 => Filter::All,
        1 => rest.swap_remove(0),
        _ => Filter::And(rest),
    }
}

/// The value a filter demands of a property.
fn key_component(filter: &Filter, path: &[String]) -> Option<Component> {
    let Filter::Test(PathTest { path: found, test: Test::Equals(value), computed: false }) = filter else {
        return None;
    };
    let same = found.len() == path.len()
        && found.iter().zip(path).all(|(step, name)| matches!(step, PathStep::Name(found) if found == name));
    let primitive = !matches!(value, Value::Array(_) | Value::Object(_));
    (same && primitive).then(|| Component::from_json(value))
}

impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = |lookup: &Lookup| match &lookup.node {
            LookupNode::Everything => "scan".to_owned(),
            node => format!("index {node}"),
        };
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Count(lookup) if lookup.node == LookupNode::Everything => f.write_str("count of all documents"),
            Self::Count(lookup) => write!(f, "count of {}", index(lookup)),
            Self::Documents { lookup, sorts } => {
                write!(f, "{}{}", index(lookup), if *sorts { "; sort" } else { "" })
            }
            Self::Ordered { order, lookup } => {
                write!(f, "order of {order}")?;
                match &lookup.node {
                    LookupNode::Everything => Ok(()),
                    _ => write!(f, "; filter {}", index(lookup)),
                }
            }
        }
    }
}
