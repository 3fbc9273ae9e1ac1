//! Reads what Cargo says of the crates, and finds what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;

/// Crates that may be in the Worker in more than one version, and why.
const TWICE_IN_WORKER: &[(&str, &str)] = &[];

/// Dependencies that are needed although no source names them: the package, the crate, and why.
const NOT_NAMED: &[(&str, &str, &str)] =
    &[("central", "waiting-room", "it is linked for the functions that JavaScript calls")];

/// What `cargo metadata` says of the workspace and of all its dependencies.
#[derive(Deserialize)]
pub struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

/// One package: a member of the workspace or a dependency.
#[derive(Deserialize)]
pub struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// The registry; `None` for a member of the workspace.
    source: Option<String>,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
    pub manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    kind: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

impl Metadata {
    /// Returns the members of the workspace.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.source.is_none())
    }

    /// Returns name and version of every crate from a registry.
    pub fn releases(&self) -> impl Iterator<Item = (&str, &str)> {
        let foreign = self.packages.iter().filter(|package| package.source.is_some());
        foreign.map(|package| (package.name.as_str(), package.version.as_str()))
    }

    /// Returns every package by name, with its licence; `None` where it states none.
    pub fn licences(&self) -> Vec<(&str, Option<&str>)> {
        self.packages.iter().map(|one| (one.name.as_str(), one.license.as_deref())).collect()
    }

    /// Returns name and version of all crates that are compiled into a member: its normal
    /// dependencies, theirs, and so on. Procedural macros and what they need run in the compiler
    /// and are left out.
    pub fn compiled_into(&self, member: &str) -> Vec<(&str, &str)> {
        let packages: BTreeMap<&str, &Package> =
            self.packages.iter().map(|package| (package.id.as_str(), package)).collect();
        let nodes: BTreeMap<&str, &Node> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let first = self.members().filter(|package| package.name == member);
        let mut open: Vec<&str> = first.map(|package| package.id.as_str()).collect();
        let mut compiled = BTreeMap::new();
        while let Some(id) = open.pop() {
            let Some(package) = packages.get(id).filter(|package| !package.is_macro()) else {
                continue;
            };
            let release = (package.name.as_str(), package.version.as_str());
            if compiled.insert(id, release).is_some() {
                continue;
            }
            let edges = nodes.get(id).into_iter().flat_map(|node| &node.deps);
            open.extend(edges.filter(|edge| edge.is_normal()).map(|edge| edge.pkg.as_str()));
        }
        compiled.into_values().collect()
    }
}

impl Package {
    fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }
}

impl Edge {
    fn is_normal(&self) -> bool {
        self.dep_kinds.iter().any(|edge| edge.kind.is_none())
    }
}

/// Says which crates are there in more than one version.
pub fn duplicates(releases: &[(&str, &str)]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, version) in releases {
        versions.entry(name).or_default().insert(version);
    }
    let excepted = |name: &str| TWICE_IN_WORKER.iter().any(|(excepted, _)| *excepted == name);
    let twice = versions.iter().filter(|(name, all)| all.len() > 1 && !excepted(name));
    let problem = |(name, all): (&&str, &BTreeSet<&str>)| {
        let all: Vec<_> = all.iter().copied().collect();
        format!(
            "the Worker has {name} in several versions ({}), each visitor's isolate loads all: \
             choose versions that share one (`cargo tree --invert {name}` says who brings it)",
            all.join(", ")
        )
    };
    twice.map(problem).collect()
}

/// Returns the path at which the index of a registry keeps a crate.
pub fn index_path(name: &str) -> PathBuf {
    let name = name.to_lowercase();
    let folder = match name.len() {
        length @ (1 | 2) => length.to_string(),
        3 => format!("3/{}", name.get(..1).unwrap_or_default()),
        _ => {
            let part = |from: usize| name.get(from..from + 2).unwrap_or_default();
            format!("{}/{}", part(0), part(2))
        }
    };
    PathBuf::from(folder).join(name)
}

/// Tells whether a release was withdrawn, by Cargo's copy of an index entry: parts that end with a
/// zero byte, of which every other is a release as JSON. `None` if the copy lacks the release.
pub fn is_withdrawn(entry: &[u8], version: &str) -> Option<bool> {
    #[derive(Deserialize)]
    struct Release {
        vers: String,
        yanked: bool,
    }
    let releases = entry.split(|byte| *byte == 0);
    let mut releases = releases.filter_map(|part| serde_json::from_slice::<Release>(part).ok());
    releases.find(|release| release.vers == version).map(|release| release.yanked)
}

/// Says which dependencies of a package its sources do not name: those of tests in `all`, others in
/// `shipped`.
pub fn unused(package: &Package, shipped: &[String], all: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for dependency in &package.dependencies {
        let (of, name) = (&package.name, &dependency.name);
        let sources = if dependency.kind.is_none() { shipped } else { all };
        let used = sources.iter().any(|source| names(source, &name.replace('-', "_")));
        let excepted =
            NOT_NAMED.iter().any(|(package, dependency, _)| package == of && dependency == name);
        if !used && !excepted {
            problems.push(format!("{of} depends on {name} but never names it: remove it there"));
        } else if used && excepted {
            problems.push(format!("{of} names {name}: remove it from NOT_NAMED"));
        }
    }
    problems
}

/// True if code names a crate in a path or an import; comments do not count.
fn names(source: &str, name: &str) -> bool {
    let is_identifier = |letter: char| letter.is_alphanumeric() || letter == '_';
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.into_iter().any(|line| {
        line.match_indices(name).any(|(at, _)| {
            let (before, after) = (line.get(..at), line.get(at + name.len()..));
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            let ends = after.starts_with("::") || before.ends_with("use ") && after == ";";
            ends && !before.ends_with(|letter| is_identifier(letter) || letter == ':')
        })
    })
}

/// Says which dependencies in the workspace's manifest no member uses.
pub fn without_member(manifest: &str, metadata: &Metadata) -> Vec<String> {
    let section = manifest.split("[workspace.dependencies]\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let listed = lines.filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim());
    let needed: BTreeSet<&str> = metadata
        .members()
        .flat_map(|member| &member.dependencies)
        .map(|dependency| dependency.name.as_str())
        .collect();
    let nobody = listed.filter(|name| !name.starts_with('#') && !needed.contains(name));
    nobody
        .map(|name| {
            format!("no member of the workspace depends on {name}: remove it in Cargo.toml")
        })
        .collect()
}

/// Says which dependencies of members have no exact version, so that they may change although the
/// manifest does not.
pub fn inexact(metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for member in metadata.members() {
        let foreign = member.dependencies.iter().filter(|dependency| dependency.source.is_some());
        for Dependency { name, req, .. } in foreign.filter(|one| !one.req.starts_with('=')) {
            let of = &member.name;
            problems.push(format!("{of} takes {name} {req}: write the exact version, `=1.2.3`"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A Worker that needs `a` (which has a macro, a build script and a test of its own) and `b`.
    fn metadata() -> Metadata {
        let package = |name: &str, version: &str, source: Option<&str>, kind: &str| {
            json!({
                "id": format!("{name} {version}"), "name": name, "version": version,
                "license": "MIT", "source": source, "manifest_path": "Cargo.toml",
                "dependencies": [
                    { "name": "a-b", "req": "=1.0.0", "kind": null, "source": "registry" },
                    { "name": "c", "req": "^1.0.0", "kind": "dev", "source": "registry" },
                    { "name": "own", "req": "*", "kind": null, "source": null },
                ],
                "targets": [{ "kind": [kind] }],
            })
        };
        let edge = |id: &str, kind: Option<&str>| {
            let kinds = [json!({ "kind": kind })];
            json!({ "pkg": id, "dep_kinds": kinds })
        };
        let registry = Some("registry");
        serde_json::from_value(json!({
            "packages": [
                package("worker", "1.0.0", None, "lib"),
                package("a", "1.0.0", registry, "lib"),
                package("b", "1.0.0", registry, "lib"),
                package("b", "2.0.0", registry, "lib"),
                package("derive", "1.0.0", registry, "proc-macro"),
                package("syn", "1.0.0", registry, "lib"),
                package("build", "1.0.0", registry, "lib"),
            ],
            "resolve": { "nodes": [
                { "id": "worker 1.0.0", "deps": [edge("a 1.0.0", None), edge("b 1.0.0", None)] },
                { "id": "a 1.0.0", "deps": [
                    edge("b 2.0.0", None),
                    edge("derive 1.0.0", None),
                    edge("build 1.0.0", Some("build")),
                    edge("syn 1.0.0", Some("dev")),
                ] },
                { "id": "derive 1.0.0", "deps": [edge("syn 1.0.0", None)] },
            ] },
        }))
        .unwrap()
    }

    #[test]
    fn what_is_compiled_into_the_worker() {
        let metadata = metadata();
        let compiled = metadata.compiled_into("worker");
        assert_eq!(compiled, [("a", "1.0.0"), ("b", "1.0.0"), ("b", "2.0.0"), ("worker", "1.0.0")]);
        let problems = duplicates(&compiled);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("the Worker has b in several versions (1.0.0, 2.0.0)"));
        assert_eq!(duplicates(&compiled[1..2]), [""; 0]);
    }

    #[test]
    fn where_an_index_keeps_a_crate() {
        let paths = [("a", "1/a"), ("ab", "2/ab"), ("Fnv", "3/f/fnv"), ("serde", "se/rd/serde")];
        for (name, path) in paths {
            assert_eq!(index_path(name), PathBuf::from(path));
        }
    }

    #[test]
    fn withdrawn_releases_are_found() {
        let entry = b"\x03\x02\0\0\0etag\x001.0.0\0{\"vers\":\"1.0.0\",\"yanked\":false}\0\
            1.0.1\0{\"vers\":\"1.0.1\",\"yanked\":true}\0";
        assert_eq!(is_withdrawn(entry, "1.0.0"), Some(false));
        assert_eq!(is_withdrawn(entry, "1.0.1"), Some(true));
        assert_eq!(is_withdrawn(entry, "1.0.2"), None);
        assert_eq!(is_withdrawn(b"another format", "1.0.0"), None);
    }

    #[test]
    fn unused_dependencies_are_found() {
        let metadata = metadata();
        let worker = metadata.members().next().unwrap();
        let sources = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let shipped = sources(&["use a_b::One;\n", "own::start();\n"]);
        let tests = sources(&["use c;"]);
        assert_eq!(unused(worker, &shipped, &tests), [""; 0]);
        assert_eq!(unused(worker, &shipped, &[]).len(), 1, "c");
        assert_eq!(unused(worker, &tests, &tests).len(), 2, "a-b and own are not for tests alone");
        for other in ["// a_b::One", "ba_b::One", "x::a_b::One", "a_b_c::One", "let a_b = 1;"] {
            assert!(!names(other, "a_b"), "{other}");
        }
    }

    #[test]
    fn dependencies_without_a_member_are_found() {
        let manifest = "[workspace.dependencies]\na-b = \"=1.0.0\"\nc = { version = \"=1.0.0\" }\n";
        assert_eq!(without_member(manifest, &metadata()), [""; 0]);
        let more = format!("{manifest}nobody = \"=1.0.0\"\n\n[package]\nname = \"worker\"\n");
        let problems = without_member(&more, &metadata());
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("nobody"));
    }

    #[test]
    fn inexact_versions_are_found() {
        let problems = inexact(&metadata());
        assert_eq!(problems, ["worker takes c ^1.0.0: write the exact version, `=1.2.3`"]);
    }
}
