//! Layers: a crate may use only crates below it.
//!
//! Each manifest states its floor, `[package.metadata.tesela] layer = n`. A dependency must be of a
//! strictly lower layer, which rules out cycles, sideways knowledge and upward knowledge in one
//! comparison. Tests may also look sideways (`tesela-query` tested over an engine of its own
//! layer), never up. The proof crates stand on top (7), so nothing can come to depend on them.

use crate::workspace::{Dependency, DependencyKind, Package};

pub fn check(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .flat_map(|package| match package.layer {
            None => vec![format!("{} states no layer: add [package.metadata.tesela] layer = n", package.name)],
            Some(layer) => package
                .dependencies
                .iter()
                .filter(|dependency| dependency.local)
                .filter_map(|dependency| complaint(package, layer, dependency, packages))
                .collect(),
        })
        .collect()
}

fn complaint(package: &Package, layer: u64, dependency: &Dependency, packages: &[Package]) -> Option<String> {
    // A dependency without a layer is complained about as a package of its own.
    let below = packages.iter().find(|candidate| candidate.name == dependency.name)?.layer?;
    let (allowed, rule) = match dependency.kind {
        DependencyKind::Normal | DependencyKind::Build => (below < layer, "only lower layers"),
        DependencyKind::Dev => (below <= layer, "only its own and lower layers, in tests"),
    };
    (!allowed)
        .then(|| format!("{} (layer {layer}) depends on {} (layer {below}): {rule}", package.name, dependency.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, layer: Option<u64>, dependencies: &[(&str, DependencyKind)]) -> Package {
        Package {
            name: name.into(),
            layer,
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| Dependency { name: (*name).into(), kind: *kind, features: Vec::new(), local: true })
                .collect(),
        }
    }

    #[test]
    fn a_crate_sees_only_what_is_below_it() {
        use DependencyKind::{Build, Dev, Normal};
        let cases = [
            (3, 1, Normal, true),
            (3, 3, Normal, false),
            (1, 3, Normal, false),
            (2, 2, Build, false),
            (2, 2, Dev, true),
            (2, 3, Dev, false),
        ];
        for (upper, lower, kind, allowed) in cases {
            let packages = [package("upper", Some(upper), &[("lower", kind)]), package("lower", Some(lower), &[])];
            assert_eq!(check(&packages).is_empty(), allowed, "{upper} on {lower} as {kind:?}");
        }
    }

    #[test]
    fn a_crate_without_a_layer_is_named() {
        let complaints = check(&[package("loose", None, &[])]);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("loose states no layer"));
    }
}
