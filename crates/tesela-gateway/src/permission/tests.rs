//! Every operation, by every kind of permission: allowed (`+`) or not (`.`).

use super::*;
use http::{HeaderMap, HeaderValue, Method};
use std::collections::HashSet;
use tesela_protocol::header;
use tesela_protocol::link::{Link, ResourcePath};

/// The columns of the table: permissions on container `c`, the same for the key `a`, on item `i`, the same for the key
/// `a` and by a RID whose item has the key `a`, on procedure `s`, the same for the key `a`, on function `f`, and on
/// another container.
const KINDS: [&str; 14] = [
    "container Read",
    "container All",
    "key Read",
    "key All",
    "item Read",
    "item All",
    "keyed item All",
    "rid item All",
    "procedure Read",
    "procedure All",
    "keyed procedure All",
    "function Read",
    "function All",
    "other All",
];

const TABLE: &str = "
# method path                          marker  key    c  c/a  i  ia ir s  sa f   other
#                                                     RA RA   RA A  A  RA A  RA  A
GET    /                               -       -      ++ ++   ++ +  +  ++ +  ++  +

# What every client needs to address things inside.
GET    /dbs/d/colls/c                  -       -      ++ ++   ++ +  +  ++ +  ++  .
GET    /dbs/d/colls/c/pkranges         -       -      ++ ++   ++ +  +  ++ +  ++  .
GET    /dbs/d/colls/c/pkranges/0       -       -      ++ ++   ++ +  +  ++ +  ++  .

# Items one by one.
GET    /dbs/d/colls/c/docs/i           -       a      ++ ++   ++ +  +  .. .  ..  .
GET    /dbs/d/colls/c/docs/i           -       b      ++ ..   ++ .  .  .. .  ..  .
GET    /dbs/d/colls/c/docs/i           -       -      ++ ..   ++ .  .  .. .  ..  .
GET    /dbs/d/colls/c/docs/j           -       a      ++ ++   .. .  .  .. .  ..  .
GET    /dbs/d/colls/x/docs/i           -       a      .. ..   .. .  .  .. .  ..  +
PUT    /dbs/d/colls/c/docs/i           -       a      .+ .+   .+ +  +  .. .  ..  .
PUT    /dbs/d/colls/c/docs/i           -       b      .+ ..   .+ .  .  .. .  ..  .
PATCH  /dbs/d/colls/c/docs/i           -       a      .+ .+   .+ +  +  .. .  ..  .
PATCH  /dbs/d/colls/c/docs/j           -       a      .+ .+   .. .  .  .. .  ..  .
DELETE /dbs/d/colls/c/docs/i           -       a      .+ .+   .+ +  +  .. .  ..  .
DELETE /dbs/d/colls/c/docs/i           -       b      .+ ..   .+ .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs/i           -       a      .. ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             -       a      .+ .+   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             -       b      .+ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             -       -      .+ ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/docs/i/attachments   -   a      ++ ++   ++ +  +  .. .  ..  .
POST   /dbs/d/colls/c/docs/i/attachments   -   a      .+ .+   .+ +  +  .. .  ..  .
DELETE /dbs/d/colls/c/docs/j/attachments/k -   a      .+ .+   .. .  .  .. .  ..  .

# Many items.
GET    /dbs/d/colls/c/docs             -       -      ++ ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/docs             -       a      ++ ++   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/docs             -       b      ++ ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/docs             -       none   ++ ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/docs             changes -      ++ ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/docs             changes a      ++ ++   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             query   -      ++ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             query   a      ++ ++   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             query   b      ++ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             query   a,b    ++ ++   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             query   b,a    ++ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/x/docs             query   a      .. ..   .. .  .  .. .  ..  +
POST   /dbs/d/colls/c/docs             plan    -      ++ ++   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             batch   a      .+ .+   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             batch   b      .+ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             bulk    -      .+ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/docs             bulk    a      .+ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/operations/partitionkeydelete - a  .+ .+ .. . .  .. .  ..  .
POST   /dbs/d/colls/c/operations/partitionkeydelete - b  .+ .. .. . .  .. .  ..  .
POST   /dbs/d/colls/c/operations/partitionkeydelete query a .+ .+ .. . . .. . .. .
GET    /dbs/d/colls/c/conflicts        -       -      ++ ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/conflicts        -       a      ++ ++   .. .  .  .. .  ..  .
DELETE /dbs/d/colls/c/conflicts/k      -       a      .+ .+   .. .  .  .. .  ..  .

# Scripts.
GET    /dbs/d/colls/c/sprocs           -       -      ++ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/sprocs           query   a      ++ ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls/c/udfs             -       a      .+ ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/sprocs/s         -       -      ++ ..   .. .  .  ++ +  ..  .
GET    /dbs/d/colls/c/sprocs/t         -       -      ++ ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/triggers/s       -       -      ++ ..   .. .  .  .. .  ..  .
PUT    /dbs/d/colls/c/sprocs/s         -       -      .+ ..   .. .  .  .+ +  ..  .
DELETE /dbs/d/colls/c/sprocs/s         -       -      .+ ..   .. .  .  .+ +  ..  .
POST   /dbs/d/colls/c/sprocs/s         -       a      .+ .+   .. .  .  .+ +  ..  .
POST   /dbs/d/colls/c/sprocs/s         query   a      .+ .+   .. .  .  .+ +  ..  .
POST   /dbs/d/colls/c/sprocs/s         -       b      .+ ..   .. .  .  .+ .  ..  .
POST   /dbs/d/colls/c/sprocs/t         -       a      .+ .+   .. .  .  .. .  ..  .
GET    /dbs/d/colls/c/udfs/f           -       -      ++ ..   .. .  .  .. .  ++  .
PUT    /dbs/d/colls/c/udfs/f           -       -      .+ ..   .. .  .  .. .  .+  .
DELETE /dbs/d/colls/c/udfs/f           -       -      .+ ..   .. .  .  .. .  .+  .
POST   /dbs/d/colls/c/udfs/f           -       a      .. ..   .. .  .  .. .  ..  .

# Everything else is for those who hold a key.
PUT    /dbs/d/colls/c                  -       a      .. ..   .. .  .  .. .  ..  .
DELETE /dbs/d/colls/c                  -       a      .. ..   .. .  .  .. .  ..  .
GET    /dbs/d/colls                    -       -      .. ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls                    query   -      .. ..   .. .  .  .. .  ..  .
POST   /dbs/d/colls                    -       -      .. ..   .. .  .  .. .  ..  .
GET    /dbs                            -       -      .. ..   .. .  .  .. .  ..  .
POST   /dbs                            -       -      .. ..   .. .  .  .. .  ..  .
GET    /dbs/d                          -       -      .. ..   .. .  .  .. .  ..  .
DELETE /dbs/d                          -       -      .. ..   .. .  .  .. .  ..  .
GET    /dbs/d/users                    -       -      .. ..   .. .  .  .. .  ..  .
PUT    /dbs/d/users/u                  -       -      .. ..   .. .  .  .. .  ..  .
GET    /dbs/d/users/u/permissions/p    -       -      .. ..   .. .  .  .. .  ..  .
POST   /dbs/d/users/u/permissions      -       -      .. ..   .. .  .  .. .  ..  .
GET    /dbs/d/clientencryptionkeys     -       -      .. ..   .. .  .  .. .  ..  .
POST   /dbs/d/clientencryptionkeys     -       -      .. ..   .. .  .  .. .  ..  .
POST   /offers                         query   -      .. ..   .. .  .  .. .  ..  .
PUT    /offers/AbCd                    -       -      .. ..   .. .  .  .. .  ..  .
GET    /addresses                      -       -      .. ..   .. .  .  .. .  ..  .
GET    /_tesela/partitions             -       -      .. ..   .. .  .  .. .  ..  .
POST   /_tesela/partitions             -       -      .. ..   .. .  .  .. .  ..  .
GET    /_explorer/index.html           -       -      .. ..   .. .  .  .. .  ..  .
POST   /                               -       -      .. ..   .. .  .  .. .  ..  .
";

/// The operations, in the order they are declared in.
const OPERATIONS: usize = Operation::Unknown as usize + 1;

fn key(text: &str) -> Option<PartitionKeyValue> {
    match text {
        "-" => None,
        "none" => Some(PartitionKeyValue::new(Vec::new())),
        names => Some(PartitionKeyValue::new(names.split(',').map(|name| Component::String(name.into())).collect())),
    }
}

fn container(name: &str) -> ResourceId {
    ResourceId::container(1, u32::from(name.as_bytes()[0]))
}

fn script(kind: tesela_protocol::link::ScriptKind, name: &str) -> String {
    format!("{kind:?} {name}")
}

fn grants() -> [Grant; 14] {
    use PermissionMode::{All, Read};
    use tesela_protocol::link::ScriptKind::{StoredProcedure, UserDefinedFunction};
    let item = |key| Target::Item { id: "i".to_owned(), key };
    let procedure = || Target::Script(script(StoredProcedure, "s"));
    let function = || Target::Script(script(UserDefinedFunction, "f"));
    let on = |mode, target, key: &str| Grant { mode, container: container("c"), target, key: self::key(key) };
    [
        on(Read, Target::Container, "-"),
        on(All, Target::Container, "-"),
        on(Read, Target::Container, "a"),
        on(All, Target::Container, "a"),
        on(Read, item(None), "-"),
        on(All, item(None), "-"),
        on(All, item(None), "a"),
        on(All, item(key("a")), "-"),
        on(Read, procedure(), "-"),
        on(All, procedure(), "-"),
        on(All, procedure(), "a"),
        on(Read, function(), "-"),
        on(All, function(), "-"),
        Grant { container: container("x"), ..on(All, Target::Container, "-") },
    ]
}

fn headers(marker: &str) -> HeaderMap {
    let on = HeaderValue::from_static("True");
    let list = match marker {
        "-" => vec![],
        "query" => vec![(&header::IS_QUERY, on)],
        "plan" => vec![(&header::IS_QUERY_PLAN, on.clone()), (&header::IS_QUERY, on)],
        "batch" => vec![(&header::IS_BATCH, on.clone()), (&header::BATCH_ATOMIC, on)],
        "bulk" => vec![(&header::IS_BATCH, on)],
        "changes" => vec![(&header::A_IM, HeaderValue::from_static("Incremental Feed"))],
        other => panic!("{other} marks nothing"),
    };
    list.into_iter().map(|(name, value)| (name.clone(), value)).collect()
}

fn facts(method: &str, path: &str, marker: &str, key: &str) -> Facts {
    let query = path.starts_with("/addresses").then_some("$resolveFor=dbs/d/colls/c/docs");
    let link = Link::parse(path, query).unwrap();
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let (item, script) = match &link.path {
        ResourcePath::Item { item, .. }
        | ResourcePath::Attachments { item, .. }
        | ResourcePath::Attachment { item, .. } => (Some(item.to_string()), None),
        ResourcePath::Script { kind, script, .. } => (None, Some(self::script(*kind, script))),
        _ => (None, None),
    };
    Facts {
        operation: Operation::of(&method, &link.path, &headers(marker)).unwrap(),
        container: link.path.container().map(container),
        item,
        script,
        key: self::key(key),
    }
}

#[test]
fn every_operation_by_every_kind_of_permission() {
    let grants = grants();
    let mut seen = HashSet::new();
    let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for row in rows {
        let mut words = row.split_whitespace();
        let mut word = || words.next().unwrap_or_else(|| panic!("the row is too short: {row}"));
        let facts = facts(word(), word(), word(), word());
        let wanted: String = words.collect();
        seen.insert(facts.operation);
        let found: String = grants.iter().map(|grant| if allows(grant, &facts) { '+' } else { '.' }).collect();
        let differing = KINDS.iter().zip(found.chars().zip(wanted.chars())).filter(|(_, (a, b))| a != b);
        let differing: Vec<_> = differing.map(|(kind, _)| kind).collect();
        assert_eq!(found, wanted, "{row}\n{:?}, for: {differing:?}", facts.operation);
    }
    assert_eq!(seen.len(), OPERATIONS, "an operation is missing in the table; it has {seen:?}");
}

#[test]
fn a_permission_to_read_never_allows_a_write() {
    for grant in grants().iter().filter(|grant| grant.mode == PermissionMode::Read) {
        for row in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let words: Vec<&str> = row.split_whitespace().collect();
            let facts = facts(words[0], words[1], words[2], words[3]);
            assert!(!allows(grant, &facts) || facts.operation.access() == Access::Read, "{grant:?} {row}");
        }
    }
}

#[test]
fn keys_are_compared_as_the_hash_sees_them() {
    let number = |number: f64| PartitionKeyValue::new(vec![Component::Number(number)]);
    assert!(begins_with(&number(0.0), &number(0.0)) && !begins_with(&number(-0.0), &number(0.0)));
    assert!(!begins_with(&key("a").unwrap(), &PartitionKeyValue::default()), "no key is no permission");
    assert!(!begins_with(&key("a").unwrap(), &key("a,b").unwrap()), "a request for more than the permission");
}
