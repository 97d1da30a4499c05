//! The path of a request: which resource it names, how it names it, and what a signature of it covers.
//!
//! A path alternates type segments and ids: `/dbs/{id}/colls/{id}/docs/{id}`. It is read *by
//! position*, so a database may be called `colls`; type segments ignore case, ids are percent-decoded
//! one by one after splitting, and slashes at either end do not count. An even number of segments names
//! one resource, an odd number the feed below it.
//!
//! ```text
//! /dbs/d1/colls/c1/docs/a%20b   Item { d1, c1, "a b" }     signs type docs, link dbs/d1/colls/c1/docs/a b
//! /dbs/d1/colls/c1/docs/        Items { d1, c1 }           signs type docs, link dbs/d1/colls/c1
//! /dbs/qHVdAA==/colls           Containers { qHVdAA== }    signs type colls, link qhvdaa==   (RID addressed)
//! /offers/AbCd                  Offer { AbCd }             signs type offers, link abcd
//! ```
//!
//! A path is addressed by RIDs when the id after `dbs` looks like a database RID: eight base64
//! characters that end in `==`. That is the clients' own rule, so it decides the signature; a database
//! whose *name* has that shape is still found, because [`Addressing::Rid`] only says what to try first.
//!
//! Left out: which methods a path takes, and whether the resource exists.

use std::borrow::Cow;

use crate::percent;

#[cfg(test)]
mod tests;

/// Types and ids of the longest path, an attachment's.
const DEPTH_MAX: usize = 4;

/// A request target, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    pub path: ResourcePath<'a>,
    pub addressing: Addressing,
    pub signed: SignedResource<'a>,
}

/// What the ids of a path are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    Name,
    /// RIDs by their shape. When no such resource exists, the ids may still be names.
    Rid,
}

/// Why a path names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path names no resource of this server")]
    Unknown,
    #[error("the path has an empty segment")]
    EmptySegment,
    #[error("the path is not percent-encoded UTF-8")]
    NotUtf8,
    #[error("the address request names no resource in $resolveFor")]
    NothingToResolve,
}

/// The three kinds of server-side script of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScriptKind {
    StoredProcedure,
    Trigger,
    UserDefinedFunction,
}

/// Every route of the server. Ids are percent-decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourcePath<'a> {
    Account,
    Databases,
    Database {
        database: Cow<'a, str>,
    },
    Containers {
        database: Cow<'a, str>,
    },
    Container {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Items {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Item {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        item: Cow<'a, str>,
    },
    Attachments {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        item: Cow<'a, str>,
    },
    Attachment {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        item: Cow<'a, str>,
        attachment: Cow<'a, str>,
    },
    Scripts {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        kind: ScriptKind,
    },
    Script {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        kind: ScriptKind,
        script: Cow<'a, str>,
    },
    Conflicts {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Conflict {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        conflict: Cow<'a, str>,
    },
    PartitionKeyRanges {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    PartitionKeyRange {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        range: Cow<'a, str>,
    },
    /// `…/operations/partitionkeydelete`
    PartitionKeyDelete {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Users {
        database: Cow<'a, str>,
    },
    User {
        database: Cow<'a, str>,
        user: Cow<'a, str>,
    },
    Permissions {
        database: Cow<'a, str>,
        user: Cow<'a, str>,
    },
    Permission {
        database: Cow<'a, str>,
        user: Cow<'a, str>,
        permission: Cow<'a, str>,
    },
    EncryptionKeys {
        database: Cow<'a, str>,
    },
    EncryptionKey {
        database: Cow<'a, str>,
        key: Cow<'a, str>,
    },
    Offers,
    /// Offers have no names: `offer` is a RID.
    Offer {
        offer: Cow<'a, str>,
    },
    /// `/addresses/?$resolveFor=…`: where the replicas of a resource are.
    Addresses {
        resolve_for: String,
    },
    /// `/_tesela/…`: what this server adds to the protocol. `rest` has no slash at either end.
    Admin {
        rest: Cow<'a, str>,
    },
    /// `/_explorer/…`: files for people with a browser.
    Explorer {
        rest: Cow<'a, str>,
    },
    /// `/_explorer/emulator.pem`: the server's certificate, where the emulator has it.
    EmulatorCertificate,
}

impl ResourcePath<'_> {
    /// The database the path is in, by name or RID.
    pub fn database(&self) -> Option<&str> {
        use ResourcePath as P;
        match self {
            P::Database { database }
            | P::Containers { database }
            | P::Container { database, .. }
            | P::Items { database, .. }
            | P::Item { database, .. }
            | P::Attachments { database, .. }
            | P::Attachment { database, .. }
            | P::Scripts { database, .. }
            | P::Script { database, .. }
            | P::Conflicts { database, .. }
            | P::Conflict { database, .. }
            | P::PartitionKeyRanges { database, .. }
            | P::PartitionKeyRange { database, .. }
            | P::PartitionKeyDelete { database, .. }
            | P::Users { database }
            | P::User { database, .. }
            | P::Permissions { database, .. }
            | P::Permission { database, .. }
            | P::EncryptionKeys { database }
            | P::EncryptionKey { database, .. } => Some(database),
            P::Account
            | P::Databases
            | P::Offers
            | P::Offer { .. }
            | P::Addresses { .. }
            | P::Admin { .. }
            | P::Explorer { .. }
            | P::EmulatorCertificate => None,
        }
    }

    /// The container the path is or is in, by name or RID.
    pub fn container(&self) -> Option<&str> {
        use ResourcePath as P;
        match self {
            P::Container { container, .. }
            | P::Items { container, .. }
            | P::Item { container, .. }
            | P::Attachments { container, .. }
            | P::Attachment { container, .. }
            | P::Scripts { container, .. }
            | P::Script { container, .. }
            | P::Conflicts { container, .. }
            | P::Conflict { container, .. }
            | P::PartitionKeyRanges { container, .. }
            | P::PartitionKeyRange { container, .. }
            | P::PartitionKeyDelete { container, .. } => Some(container),
            _ => None,
        }
    }
}

/// What a signature of a request covers: the type of the resource and its link.
///
/// Clients differ on ids with unusual characters and on a few types, so a signature may be made over
/// any of [`SignedResource::candidates`]; the first is what current SDKs sign.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SignedResource<'a> {
    resource_type: &'static str,
    alternative_type: Option<&'static str>,
    /// The last RID, lower-cased, when the path is RID addressed.
    rid: Option<String>,
    decoded: Cow<'a, str>,
    raw: Cow<'a, str>,
}

impl SignedResource<'_> {
    /// The pairs (resource type, resource link) a client may have signed, most likely first, at most six.
    pub fn candidates(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let raw = (self.raw != self.decoded).then_some(&*self.raw);
        let links = [self.rid.as_deref(), Some(&*self.decoded), raw];
        std::iter::once(self.resource_type)
            .chain(self.alternative_type)
            .flat_map(move |kind| links.into_iter().flatten().map(move |link| (kind, link)))
    }

    fn into_owned(self) -> SignedResource<'static> {
        SignedResource {
            resource_type: self.resource_type,
            alternative_type: self.alternative_type,
            rid: self.rid,
            decoded: Cow::Owned(self.decoded.into_owned()),
            raw: Cow::Owned(self.raw.into_owned()),
        }
    }
}

impl<'a> Link<'a> {
    /// Reads the path and, for address requests, the query string of a request target.
    pub fn parse(path: &'a str, query: Option<&str>) -> Result<Self, PathError> {
        let trimmed = path.trim_matches('/');
        let (first, rest) = trimmed.split_once('/').unwrap_or((trimmed, ""));
        if first.eq_ignore_ascii_case("addresses") {
            return Self::parse_addresses(rest, query);
        }
        if first.starts_with('_') {
            return Self::parse_own(first, rest);
        }
        Self::parse_resource(trimmed)
    }

    fn parse_resource(trimmed: &'a str) -> Result<Self, PathError> {
        let segments = Segments::split(trimmed)?;
        let by_rid = match segments.kinds() {
            [Kind::Offers] => true,
            _ => segments.ids().first().is_some_and(|id| is_database_rid(id)),
        };
        let signed = segments.signed(trimmed, by_rid)?;
        let path = segments.into_path()?;
        let addressing = if by_rid { Addressing::Rid } else { Addressing::Name };
        Ok(Self { path, addressing, signed })
    }

    fn parse_own(first: &str, rest: &'a str) -> Result<Self, PathError> {
        let rest = percent::decode(rest).ok_or(PathError::NotUtf8)?;
        let path = match first {
            "_tesela" => ResourcePath::Admin { rest },
            "_explorer" if rest == "emulator.pem" => ResourcePath::EmulatorCertificate,
            "_explorer" => ResourcePath::Explorer { rest },
            _ => return Err(PathError::Unknown),
        };
        Ok(Self { path, addressing: Addressing::Name, signed: SignedResource::default() })
    }

    fn parse_addresses(rest: &str, query: Option<&str>) -> Result<Self, PathError> {
        if !rest.is_empty() {
            return Err(PathError::Unknown);
        }
        let resolve_for =
            query_parameter(query.unwrap_or(""), "$resolveFor").ok_or(PathError::NothingToResolve)?.into_owned();
        // The signature is over the resource asked about, as if its path had been requested.
        let inner = Link::parse_resource(resolve_for.trim_matches('/')).map_err(|_| PathError::NothingToResolve)?;
        let (addressing, signed) = (inner.addressing, inner.signed.into_owned());
        Ok(Self { path: ResourcePath::Addresses { resolve_for }, addressing, signed })
    }
}

/// The decoded value of the first parameter called `name` in a query string.
pub fn query_parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (percent::decode(key)? == name).then(|| percent::decode(value)).flatten()
    })
}

/// Whether an id has the shape of a database RID: base64 of four bytes, with `-` for `/`.
pub fn is_database_rid(id: &str) -> bool {
    let Some(digits) = id.strip_suffix("==") else { return false };
    digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_alphanumeric() || digit == b'+' || digit == b'-')
}

/// A type segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Databases,
    Containers,
    Items,
    Attachments,
    StoredProcedures,
    Triggers,
    Functions,
    Conflicts,
    Ranges,
    Operations,
    Users,
    Permissions,
    EncryptionKeys,
    Offers,
}

impl Kind {
    const fn segment(self) -> &'static str {
        match self {
            Kind::Databases => "dbs",
            Kind::Containers => "colls",
            Kind::Items => "docs",
            Kind::Attachments => "attachments",
            Kind::StoredProcedures => "sprocs",
            Kind::Triggers => "triggers",
            Kind::Functions => "udfs",
            Kind::Conflicts => "conflicts",
            Kind::Ranges => "pkranges",
            Kind::Operations => "operations",
            Kind::Users => "users",
            Kind::Permissions => "permissions",
            Kind::EncryptionKeys => "clientencryptionkeys",
            Kind::Offers => "offers",
        }
    }

    fn parse(segment: &str) -> Option<Self> {
        Self::parse_lowercase(segment).or_else(|| Self::parse_lowercase(&segment.to_ascii_lowercase()))
    }

    fn parse_lowercase(segment: &str) -> Option<Self> {
        Some(match segment {
            "dbs" => Kind::Databases,
            "colls" => Kind::Containers,
            "docs" => Kind::Items,
            "attachments" => Kind::Attachments,
            "sprocs" => Kind::StoredProcedures,
            "triggers" => Kind::Triggers,
            "udfs" => Kind::Functions,
            "conflicts" => Kind::Conflicts,
            "pkranges" => Kind::Ranges,
            "operations" => Kind::Operations,
            "users" => Kind::Users,
            "permissions" => Kind::Permissions,
            "clientencryptionkeys" => Kind::EncryptionKeys,
            "offers" => Kind::Offers,
            _ => return None,
        })
    }

    fn script(self) -> Option<ScriptKind> {
        match self {
            Kind::StoredProcedures => Some(ScriptKind::StoredProcedure),
            Kind::Triggers => Some(ScriptKind::Trigger),
            Kind::Functions => Some(ScriptKind::UserDefinedFunction),
            _ => None,
        }
    }
}

/// A path taken apart: types at even positions, ids at odd ones.
struct Segments<'a> {
    kinds: [Kind; DEPTH_MAX],
    kind_count: usize,
    ids: [Cow<'a, str>; DEPTH_MAX],
    id_count: usize,
}

impl<'a> Segments<'a> {
    fn split(trimmed: &'a str) -> Result<Self, PathError> {
        let mut segments =
            Self { kinds: [Kind::Databases; DEPTH_MAX], kind_count: 0, ids: Default::default(), id_count: 0 };
        if trimmed.is_empty() {
            return Ok(segments);
        }
        for (position, segment) in trimmed.split('/').enumerate() {
            let slot = position / 2;
            if slot >= DEPTH_MAX {
                return Err(PathError::Unknown);
            }
            if segment.is_empty() {
                return Err(PathError::EmptySegment);
            }
            if position % 2 == 0 {
                segments.kinds[slot] = Kind::parse(segment).ok_or(PathError::Unknown)?;
                segments.kind_count = slot + 1;
            } else {
                segments.ids[slot] = percent::decode(segment).ok_or(PathError::NotUtf8)?;
                segments.id_count = slot + 1;
            }
        }
        Ok(segments)
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds[..self.kind_count]
    }

    fn ids(&self) -> &[Cow<'a, str>] {
        &self.ids[..self.id_count]
    }

    /// What a signature covers, from the path without its outer slashes.
    fn signed(&self, trimmed: &'a str, by_rid: bool) -> Result<SignedResource<'a>, PathError> {
        let Some(last) = self.kinds().last() else { return Ok(SignedResource::default()) };
        // An operation is signed as its container, or by its own name in some SDKs.
        let (resource_type, alternative_type, depth) = match last {
            Kind::Operations => (Kind::Containers.segment(), Some("partitionkey"), self.id_count.saturating_sub(1)),
            kind => (kind.segment(), None, self.id_count),
        };
        let raw = first_segments(trimmed, 2 * depth);
        let rid = match self.ids[..depth].last() {
            Some(id) if by_rid => Some(id.to_ascii_lowercase()),
            _ => None,
        };
        let decoded = percent::decode(raw).ok_or(PathError::NotUtf8)?;
        Ok(SignedResource { resource_type, alternative_type, rid, decoded, raw: Cow::Borrowed(raw) })
    }

    fn into_path(self) -> Result<ResourcePath<'a>, PathError> {
        use ResourcePath as P;
        let Self { kinds, kind_count, ids: [first, second, third, fourth], id_count } = self;
        let [_, below_database, below_container, below_item] = kinds;
        let path = match (&kinds[..kind_count], id_count) {
            ([], 0) => P::Account,
            ([Kind::Offers], 0) => P::Offers,
            ([Kind::Offers], _) => P::Offer { offer: first },
            ([Kind::Databases], 0) => P::Databases,
            ([Kind::Databases], _) => P::Database { database: first },
            ([Kind::Databases, _], count) => in_database(below_database, first, (count == 2).then_some(second))?,
            ([Kind::Databases, Kind::Users, Kind::Permissions], 2) => P::Permissions { database: first, user: second },
            ([Kind::Databases, Kind::Users, Kind::Permissions], _) => {
                P::Permission { database: first, user: second, permission: third }
            }
            ([Kind::Databases, Kind::Containers, _], count) => {
                in_container(below_container, first, second, (count == 3).then_some(third))?
            }
            ([Kind::Databases, Kind::Containers, Kind::Items, _], count) if below_item == Kind::Attachments => {
                match count {
                    3 => P::Attachments { database: first, container: second, item: third },
                    _ => P::Attachment { database: first, container: second, item: third, attachment: fourth },
                }
            }
            _ => return Err(PathError::Unknown),
        };
        Ok(path)
    }
}

/// The first `count` segments of a path; for a feed, with its type left out, the link of its parent.
fn first_segments(path: &str, count: usize) -> &str {
    match path.match_indices('/').nth(count.saturating_sub(1)) {
        _ if count == 0 => "",
        Some((end, _)) => &path[..end],
        None => path,
    }
}

fn in_database<'a>(
    kind: Kind,
    database: Cow<'a, str>,
    id: Option<Cow<'a, str>>,
) -> Result<ResourcePath<'a>, PathError> {
    use ResourcePath as P;
    Ok(match (kind, id) {
        (Kind::Containers, None) => P::Containers { database },
        (Kind::Containers, Some(container)) => P::Container { database, container },
        (Kind::Users, None) => P::Users { database },
        (Kind::Users, Some(user)) => P::User { database, user },
        (Kind::EncryptionKeys, None) => P::EncryptionKeys { database },
        (Kind::EncryptionKeys, Some(key)) => P::EncryptionKey { database, key },
        _ => return Err(PathError::Unknown),
    })
}

fn in_container<'a>(
    kind: Kind,
    database: Cow<'a, str>,
    container: Cow<'a, str>,
    id: Option<Cow<'a, str>>,
) -> Result<ResourcePath<'a>, PathError> {
    use ResourcePath as P;
    Ok(match (kind, kind.script(), id) {
        (Kind::Items, _, None) => P::Items { database, container },
        (Kind::Items, _, Some(item)) => P::Item { database, container, item },
        (_, Some(kind), None) => P::Scripts { database, container, kind },
        (_, Some(kind), Some(script)) => P::Script { database, container, kind, script },
        (Kind::Conflicts, _, None) => P::Conflicts { database, container },
        (Kind::Conflicts, _, Some(conflict)) => P::Conflict { database, container, conflict },
        (Kind::Ranges, _, None) => P::PartitionKeyRanges { database, container },
        (Kind::Ranges, _, Some(range)) => P::PartitionKeyRange { database, container, range },
        (Kind::Operations, _, Some(name)) if name.eq_ignore_ascii_case("partitionkeydelete") => {
            P::PartitionKeyDelete { database, container }
        }
        _ => return Err(PathError::Unknown),
    })
}
