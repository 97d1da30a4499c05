//! Resources of one kind and owner: found by name or RID, listed in creation order.
//!
//! Persistent maps: a copy costs a few reference counts, so a writer changes a copy while readers keep the old one.

use super::Resource;
use imbl::{HashMap, OrdMap};
use std::ops::Bound;
use std::sync::Arc;

/// What has a version clients read.
pub(super) trait HasResource {
    fn resource(&self) -> &Resource;
}

/// How a request names things: a path whose database is a RID is made of RIDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    Name,
    Rid,
}

#[derive(Debug)]
pub(super) struct Named<T> {
    /// By the number a resource was created with, which only grows.
    by_number: OrdMap<u64, Arc<T>>,
    by_name: HashMap<Arc<str>, Arc<T>>,
    by_rid: HashMap<Arc<str>, Arc<T>>,
}

impl<T> Clone for Named<T> {
    fn clone(&self) -> Self {
        Self { by_number: self.by_number.clone(), by_name: self.by_name.clone(), by_rid: self.by_rid.clone() }
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { by_number: OrdMap::new(), by_name: HashMap::new(), by_rid: HashMap::new() }
    }
}

impl<T: HasResource> Named<T> {
    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    pub(super) fn get(&self, id: &str, addressing: Addressing) -> Option<&Arc<T>> {
        match addressing {
            Addressing::Name => self.by_name.get(id),
            Addressing::Rid => self.by_rid.get(id),
        }
    }

    pub(super) fn at(&self, number: u64) -> Option<&Arc<T>> {
        self.by_number.get(&number)
    }

    /// Adds, or replaces what has this number.
    pub(super) fn put(&mut self, number: u64, value: T) -> Arc<T> {
        self.remove(number);
        let value = Arc::new(value);
        self.by_name.insert(value.resource().id.clone(), value.clone());
        self.by_rid.insert(value.resource().rid.clone(), value.clone());
        self.by_number.insert(number, value.clone());
        value
    }

    pub(super) fn remove(&mut self, number: u64) {
        if let Some(old) = self.by_number.remove(&number) {
            self.by_name.remove(&old.resource().id);
            self.by_rid.remove(&old.resource().rid);
        }
    }

    /// In creation order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Arc<T>)> {
        self.by_number.iter().map(|(number, value)| (*number, value))
    }

    /// Up to `max` resources created after `after`, and whether there are more.
    pub(super) fn page(&self, after: Option<u64>, max: usize) -> (Vec<(u64, Resource)>, bool) {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.by_number.range((start, Bound::Unbounded));
        let page = rest.by_ref().take(max).map(|(number, value)| (*number, value.resource().clone())).collect();
        (page, rest.next().is_some())
    }
}
