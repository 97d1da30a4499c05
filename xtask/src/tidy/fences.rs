//! Fences: third-party names that only one crate may speak.
//!
//! The storage engine, the JavaScript engine, the HTTP server, the HTTP client and the PostgreSQL
//! client each have one home, so that each can be replaced by editing one crate. The proof crates
//! are excepted where the architecture says so, and tests may open a fence that a feature draws
//! (`hyper` with `server`), never one that a name draws.

use crate::workspace::{Dependency, DependencyKind, Package};

struct Fence {
    what: &'static str,
    third_party: &'static [&'static str],
    /// When not empty, only a dependency that asks for one of these features is fenced.
    features: &'static [&'static str],
    home: &'static [&'static str],
}

const FENCES: &[Fence] = &[
    Fence { what: "the LSM engine", third_party: &["fjall"], features: &[], home: &["tesela-store-embedded"] },
    Fence {
        what: "the JavaScript engine",
        third_party: &["rquickjs", "rquickjs-core", "rquickjs-sys"],
        features: &[],
        home: &["tesela-script"],
    },
    Fence {
        what: "the PostgreSQL client",
        third_party: &["tokio-postgres", "postgres", "sqlx", "deadpool-postgres"],
        features: &[],
        home: &["tesela-store-postgres"],
    },
    Fence {
        what: "an HTTP server",
        third_party: &["hyper", "hyper-util"],
        features: &["server", "server-auto", "server-graceful"],
        home: &["tesela-gateway", "tesela-bench"],
    },
    Fence {
        what: "an HTTP client",
        third_party: &["hyper", "hyper-util"],
        features: &["client", "client-legacy"],
        home: &["tesela-client", "tesela-bench"],
    },
    Fence {
        what: "an HTTP client",
        third_party: &["reqwest", "ureq", "isahc", "hyper-rustls"],
        features: &[],
        home: &["tesela-client", "tesela-bench"],
    },
];

pub fn check(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .flat_map(|package| {
            package.dependencies.iter().filter(|dependency| !dependency.local).flat_map(move |dependency| {
                FENCES.iter().filter(move |fence| crosses(fence, package, dependency)).map(move |fence| {
                    format!(
                        "{} depends on {}: {} belongs in {}",
                        package.name,
                        dependency.name,
                        fence.what,
                        fence.home.join(" or ")
                    )
                })
            })
        })
        .collect()
}

fn crosses(fence: &Fence, package: &Package, dependency: &Dependency) -> bool {
    if !fence.third_party.contains(&dependency.name.as_str()) || fence.home.contains(&package.name.as_str()) {
        return false;
    }
    if fence.features.is_empty() {
        return true;
    }
    dependency.kind != DependencyKind::Dev
        && dependency.features.iter().any(|feature| fence.features.contains(&feature.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(package: &str, dependency: &str, kind: DependencyKind, features: &[&str]) -> Package {
        Package {
            name: package.into(),
            layer: Some(2),
            dependencies: vec![Dependency {
                name: dependency.into(),
                kind,
                features: features.iter().map(|&feature| feature.into()).collect(),
                local: false,
            }],
        }
    }

    #[test]
    fn each_name_has_its_home() {
        use DependencyKind::{Dev, Normal};
        let cases = [
            (one("tesela-store-embedded", "fjall", Normal, &[]), true),
            (one("tesela-store", "fjall", Normal, &[]), false),
            (one("tesela-store", "fjall", Dev, &[]), false),
            (one("tesela-script", "rquickjs", Normal, &[]), true),
            (one("tesela-partition", "rquickjs", Normal, &[]), false),
            (one("tesela-gateway", "hyper", Normal, &["server"]), true),
            (one("tesela-router", "hyper", Normal, &["server"]), false),
            (one("tesela-router", "hyper", Dev, &["server"]), true),
            (one("tesela-gateway", "hyper", Normal, &["client"]), false),
            (one("tesela-client", "hyper", Normal, &["client"]), true),
            (one("tesela-router", "tokio-postgres", Normal, &[]), false),
        ];
        for (package, allowed) in cases {
            assert_eq!(check(&[package]).is_empty(), allowed);
        }
    }
}
