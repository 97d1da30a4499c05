//! The resolvers: one file, one scheme.

mod fallback;
mod hash;
mod lookup;
mod managed;
mod nested;
mod range;
mod spillover;
mod template;
mod transition;

pub use fallback::FallbackResolver;
pub use hash::{HashResolver, Scheme};
pub use lookup::LookupResolver;
pub use managed::ManagedResolver;
pub use nested::NestedResolver;
pub use range::{Finding, KeyOrder, RangeEntry, RangeResolver, diagnose};
pub use spillover::{CollectionSizes, Spill, SpillPolicy, SpilloverResolver};
pub use template::{
    BoxFuture, CollectionFactory, CollectionPlan, CollectionTemplate, Ensured, NamingScheme, ProviderError, Script,
    ScriptKind, Throughput,
};
pub use transition::{DuplicateFilter, TransitionMode, TransitionResolver};
