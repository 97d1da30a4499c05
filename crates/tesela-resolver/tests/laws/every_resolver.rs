//! One resolver of every kind, from a few drawn numbers, and documents that all of them can place.

use std::sync::Arc;

use tesela_model::json::{Object, Value};
use tesela_resolver::hash::{HashGenerator, Hasher};
use tesela_resolver::placement::Member;
use tesela_resolver::{
    CollectionLink, CollectionTemplate, CustomResolver, FallbackResolver, HashResolver, Key, KeyExtractor, KeyOrder,
    KeyRange, LookupResolver, ManagedResolver, NamedFunction, NestedResolver, PartitionResolver, RangeResolver,
    ReadScope, Registry, ResolveError, Resolver, Scheme, Script, ScriptKind, SpillPolicy, SpilloverResolver,
    Throughput, Timestamp, TransitionMode, TransitionResolver,
};

/// A hash of the user's own: FNV-1a, 64 bits.
pub struct Fnv;

impl HashGenerator for Fnv {
    fn name(&self) -> &str {
        "fnv-1a-64"
    }
    fn width_bytes(&self) -> u32 {
        8
    }
    fn point(&self, bytes: &[u8]) -> u128 {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        u128::from(bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

/// A resolver of the user's own: everything in one place.
struct OnePlace;

impl PartitionResolver for OnePlace {
    fn partition_key(&self, _: &Value) -> Result<Key, ResolveError> {
        Ok(Key::Null)
    }
    fn resolve_for_create(&self, _: &Key) -> Result<CollectionLink, ResolveError> {
        Ok("one-place".into())
    }
    fn resolve_for_read(&self, _: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        Ok(vec!["one-place".into()])
    }
}

fn first_letter() -> NamedFunction {
    NamedFunction::new("first letter", |document| {
        let id = document.get("id")?.as_str()?;
        Some(id.chars().next().map(String::from).unwrap_or_default().into())
    })
}

/// A registry that knows everything the resolvers here name.
pub fn registry() -> Registry {
    let mut registry = Registry::standard();
    registry.hashes_mut().register(Arc::new(Fnv));
    registry.register_function(first_letter());
    registry.register_resolver(CustomResolver::new("one place", Arc::new(OnePlace)));
    registry
}

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Draw {
    pub weights: Vec<u32>,
    pub hash: usize,
    pub virtual_nodes: u32,
    pub limit_percent: u32,
}

impl Draw {
    fn hasher(&self) -> Hasher {
        match self.hash % 4 {
            0 => Hasher::md5(),
            1 => Hasher::murmur3_32(),
            2 => Hasher::murmur3_128(),
            _ => Hasher::new(Arc::new(Fnv)),
        }
    }

    fn members(&self) -> Vec<Member> {
        let member = |(n, &weight): (usize, &u32)| Member::weighted(format!("dbs/db/colls/c{n}"), weight);
        self.weights.iter().enumerate().map(member).collect()
    }

    fn hash(&self, scheme: Scheme) -> HashResolver {
        let mut members = self.members();
        if scheme == Scheme::Jump {
            members.iter_mut().for_each(|member| member.weight = 1);
        }
        HashResolver::new(id(), self.hasher(), scheme, members).unwrap()
    }

    pub fn schemes(&self) -> [Scheme; 5] {
        [
            Scheme::Ring { virtual_nodes: self.virtual_nodes },
            Scheme::Buckets { buckets: 997 },
            Scheme::Bounded { buckets: 512, limit_percent: self.limit_percent },
            Scheme::Jump,
            Scheme::Rendezvous,
        ]
    }

    /// The five hash placements.
    pub fn hashed(&self) -> Vec<HashResolver> {
        self.schemes().map(|scheme| self.hash(scheme)).into()
    }

    /// At least one resolver of every kind, with the names of their kinds.
    pub fn resolvers(&self) -> Vec<Resolver> {
        let mut all: Vec<Resolver> = self.hashed().into_iter().map(Resolver::from).collect();
        let grown = self.hash(Scheme::BUCKETS).with_added(Member::weighted("dbs/db/colls/new", 3)).unwrap();
        let by_letter = HashResolver::ring(KeyExtractor::Named(first_letter()), ["x", "y", "z"]).unwrap();
        let compound = HashResolver::buckets(KeyExtractor::paths(["/region", "/id"]).unwrap(), ["x", "y"]).unwrap();
        let typed = KeyExtractor::by_type(
            "/type",
            [("user", id()), ("order", KeyExtractor::path("/region").unwrap())],
            Some(KeyExtractor::path("/at").unwrap()),
        );
        let typed = HashResolver::buckets(typed.unwrap(), ["x", "y"]).unwrap();
        all.extend([grown.clone(), by_letter, compound, typed].map(Resolver::from));
        all.extend([self.letters().into(), months().into(), regions(Some("rest")).into(), self.managed().into()]);
        all.push(self.spillover().into());
        for mode in [TransitionMode::ReadCurrent, TransitionMode::ReadNext, TransitionMode::ReadBoth] {
            let current = self.hash(Scheme::BUCKETS);
            all.push(TransitionResolver::new(current.into(), grown.clone().into(), mode).into());
            all.push(TransitionResolver::new(months().into(), grown.clone().into(), mode).into());
        }
        all.push(FallbackResolver::new(vec![regions(None).into(), grown.clone().into()]).unwrap().into());
        all.push(nested(grown.into(), self.letters().into()).into());
        all.push(CustomResolver::new("one place", Arc::new(OnePlace)).into());
        all
    }

    fn letters(&self) -> RangeResolver {
        let entries = [
            (KeyRange::below("g"), "a-f"),
            (KeyRange::closed("g", "m").unwrap(), "g-m"),
            (KeyRange::new(std::ops::Bound::Excluded("m".into()), std::ops::Bound::Unbounded).unwrap(), "n-z"),
        ];
        RangeResolver::new(id(), KeyOrder::Natural, entries).unwrap()
    }

    fn managed(&self) -> ManagedResolver {
        let mut template = CollectionTemplate::new("dbs/db/colls/m-{n:03}").unwrap();
        template.first = 1;
        template.indexing_policy = Some(Object::from_iter([("indexingMode", "consistent")]).into());
        template.properties.insert("defaultTtl", 3600);
        template.throughput = Some(Throughput::Autoscale(4_000));
        let definition = Object::from_iter([("id", "sum"), ("body", "function () {}")]);
        template.scripts = vec![Script { kind: ScriptKind::Procedure, definition }];
        ManagedResolver::new(template, self.weights.len(), id(), self.hasher(), Scheme::RING).unwrap()
    }

    fn spillover(&self) -> SpilloverResolver {
        let mut template = CollectionTemplate::new("log-{n}").unwrap();
        template.throughput = Some(Throughput::Manual(400));
        let numbers = (0..self.weights.len() as u64).collect();
        SpilloverResolver::resumed(template, SpillPolicy::new(1 << 30, 90).unwrap(), numbers).unwrap()
    }
}

fn id() -> KeyExtractor {
    KeyExtractor::path("/id").unwrap()
}

fn months() -> RangeResolver {
    let month = |text: &str| Key::Time(Timestamp::parse(text).unwrap());
    let entries = [
        (KeyRange::below(month("2018-02")), "until-feb"),
        (KeyRange::half_open(month("2018-02"), month("2018-03")).unwrap(), "feb"),
        (KeyRange::at_least(month("2018-03")), "from-march"),
    ];
    RangeResolver::new(KeyExtractor::path("/at").unwrap(), KeyOrder::Time, entries).unwrap()
}

fn regions(default: Option<&str>) -> LookupResolver {
    let entries: [(Key, &str); 3] = [("eu".into(), "europe"), (7.into(), "seven"), (("a", 1).into(), "pair")];
    LookupResolver::new(KeyExtractor::path("/region").unwrap(), entries, default.map(CollectionLink::new)).unwrap()
}

fn nested(people: Resolver, others: Resolver) -> NestedResolver {
    let types = LookupResolver::new(KeyExtractor::path("/type").unwrap(), [("user", "people")], Some("others".into()));
    NestedResolver::new(types.unwrap().into(), [("people", people), ("others", others)]).unwrap()
}

/// A document with every property the resolvers look at.
pub fn document(id: &str, region: &str, kind: &str, at: i64) -> Value {
    let mut document = Object::new();
    document.insert("id", id);
    document.insert("region", region);
    document.insert("type", kind);
    document.insert("at", Timestamp::from_unix_seconds(at).to_string());
    document.into()
}
