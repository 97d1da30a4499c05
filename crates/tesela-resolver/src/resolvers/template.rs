//! What a new collection looks like (R31), and the door through which it is made.
//!
//! A template is data: a naming scheme, the body of the create request, the throughput and the scripts to register. A
//! [`CollectionPlan`] is the template for one number. Making it is someone else's business, through
//! [`CollectionFactory`]: this library has no HTTP.
//!
//! Example: `dbs/shop/colls/users-{n:03}` with number 7 is `dbs/shop/colls/users-007`.

use std::error::Error;
use std::pin::Pin;

use tesela_model::json::{Object, Value};

use crate::error::ConfigError;
use crate::link::CollectionLink;

/// A future without a name, so that factories and stores can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Whatever went wrong behind a door: a status, a broken connection.
pub type ProviderError = Box<dyn Error + Send + Sync>;

/// Widest padding of a number. Ours: 64-bit numbers have at most 20 digits.
const PADDING_MAX: usize = 20;

/// A link with a number in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamingScheme {
    before: String,
    padding: usize,
    after: String,
}

impl NamingScheme {
    /// Text with `{n}` in it once, or `{n:0W}` for a number padded to `W` digits.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let refuse = || ConfigError::NamingScheme { text: text.to_owned() };
        let (before, rest) = text.split_once("{n").ok_or_else(refuse)?;
        let (format, after) = rest.split_once('}').ok_or_else(refuse)?;
        let padding = match format.strip_prefix(":0") {
            Some(width) => width.parse().ok().filter(|width| (1..=PADDING_MAX).contains(width)).ok_or_else(refuse)?,
            None if format.is_empty() => 0,
            None => return Err(refuse()),
        };
        if after.contains(['{', '}']) || before.contains(['{', '}']) {
            return Err(refuse());
        }
        Ok(Self { before: before.to_owned(), padding, after: after.to_owned() })
    }

    /// The link of a number.
    pub fn link(&self, number: u64) -> CollectionLink {
        let Self { before, padding, after } = self;
        CollectionLink::new(format!("{before}{number:0padding$}{after}"))
    }

    /// The number of a link of this scheme.
    pub fn number(&self, link: &CollectionLink) -> Option<u64> {
        let digits = link.as_str().strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())?;
        let number = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())??;
        // `007` and `7` are two links; only the one this scheme writes is its own.
        (self.link(number) == *link).then_some(number)
    }
}

impl std::fmt::Display for NamingScheme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.padding {
            0 => write!(f, "{}{{n}}{}", self.before, self.after),
            width => write!(f, "{}{{n:0{width}}}{}", self.before, self.after),
        }
    }
}

/// Provisioned throughput of a new collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// Fixed, in RU/s.
    Manual(u32),
    /// Scaling up to a maximum, in RU/s.
    Autoscale(u32),
}

/// What kind of script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// A stored procedure.
    Procedure,
    /// A trigger; its options are in the body of the request.
    Trigger,
    /// A user-defined function.
    Function,
}

/// A script to register in every new collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Which kind.
    pub kind: ScriptKind,
    /// The body of the request that registers it: `id`, `body`, and for a trigger its type and operation.
    pub definition: Object,
}

/// What new collections look like.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectionTemplate {
    /// Their links.
    pub naming: NamingScheme,
    /// The first number.
    pub first: u64,
    /// Properties of the create request beside `id` and `indexingPolicy`: `partitionKey`, `defaultTtl`…
    pub properties: Object,
    /// The indexing policy, if not the service's default.
    pub indexing_policy: Option<Value>,
    /// Throughput, if not the service's default.
    pub throughput: Option<Throughput>,
    /// Scripts to register.
    pub scripts: Vec<Script>,
}

impl CollectionTemplate {
    /// A naming scheme, numbers from 0, everything else left to the service.
    pub fn new(naming: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            naming: NamingScheme::parse(naming)?,
            first: 0,
            properties: Object::new(),
            indexing_policy: None,
            throughput: None,
            scripts: Vec::new(),
        })
    }

    /// What the collection of this number must look like.
    pub fn plan(&self, number: u64) -> CollectionPlan {
        CollectionPlan {
            link: self.naming.link(number),
            properties: self.properties.clone(),
            indexing_policy: self.indexing_policy.clone(),
            throughput: self.throughput,
            scripts: self.scripts.clone(),
        }
    }
}

/// One collection to make.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectionPlan {
    /// Where.
    pub link: CollectionLink,
    /// Further properties of the create request.
    pub properties: Object,
    /// The indexing policy, if not the service's default.
    pub indexing_policy: Option<Value>,
    /// Throughput, if not the service's default.
    pub throughput: Option<Throughput>,
    /// Scripts to register.
    pub scripts: Vec<Script>,
}

/// How a collection came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// It was made now.
    Created,
    /// It was there already, made by someone else or before a crash.
    Existed,
}

/// Makes collections.
///
/// `ensure` is idempotent: when it returns without error the collection exists and has every script of the plan,
/// whoever made it, and however often it was asked. An existing collection's policy and throughput are left alone.
pub trait CollectionFactory: Send + Sync {
    /// Makes the collection unless it is there.
    fn ensure<'a>(&'a self, plan: &'a CollectionPlan) -> BoxFuture<'a, Result<Ensured, ProviderError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r31_names_come_from_the_scheme_and_lead_back() {
        for (text, number, link) in [
            ("dbs/shop/colls/users-{n}", 7, "dbs/shop/colls/users-7"),
            ("dbs/shop/colls/users-{n:03}", 7, "dbs/shop/colls/users-007"),
            ("log{n:02}-eu", 123, "log123-eu"),
        ] {
            let scheme = NamingScheme::parse(text).unwrap();
            assert_eq!(scheme.link(number).as_str(), link);
            assert_eq!(scheme.number(&link.into()), Some(number));
            assert_eq!(scheme.to_string(), text);
        }
        let scheme = NamingScheme::parse("users-{n:03}").unwrap();
        for stranger in ["users-7", "users-0007", "users-+07", "users-", "carts-007"] {
            assert_eq!(scheme.number(&stranger.into()), None, "{stranger}");
        }
    }

    #[test]
    fn r31_a_scheme_needs_its_number_once() {
        for text in ["users", "users-{n", "users-{m}", "{n}{n}", "{n:3}", "{n:00}", "{n:021}", "a}b{n}"] {
            assert_eq!(NamingScheme::parse(text), Err(ConfigError::NamingScheme { text: text.into() }));
        }
    }
}
