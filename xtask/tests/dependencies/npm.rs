//! Reads what npm's lock file says of its packages, and finds what is wrong with them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The content of `package-lock.json`.
#[derive(Deserialize)]
pub struct Lock {
    /// The packages by their folders; the project itself is "".
    packages: BTreeMap<String, Package>,
}

/// One package of the lock file: the project itself or a dependency.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Package {
    license: Option<String>,
    dependencies: BTreeMap<String, String>,
    dev_dependencies: BTreeMap<String, String>,
    optional_dependencies: BTreeMap<String, String>,
}

impl Lock {
    /// Returns the project itself, which every lock file names.
    pub fn project(&self) -> Option<&Package> {
        self.packages.get("")
    }

    /// Returns every package by name, with its licence; `None` where it states none.
    pub fn licences(&self) -> Vec<(&str, Option<&str>)> {
        self.packages.iter().map(|(path, one)| (name_of(path), one.license.as_deref())).collect()
    }
}

/// Returns the name of the package in a folder, which may be inside another package's folder.
fn name_of(path: &str) -> &str {
    path.rsplit("node_modules/").next().unwrap_or_default()
}

impl Package {
    fn all_dependencies(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = [&self.dependencies, &self.dev_dependencies, &self.optional_dependencies];
        all.into_iter().flatten().map(|(name, version)| (name.as_str(), version.as_str()))
    }
}

/// Says which dependencies of the project no script names: as a module, a program or a folder.
pub fn unused(project: &Package, sources: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, _) in project.all_dependencies() {
        // The types of a package are used with it.
        let name = name.strip_prefix("@types/").unwrap_or(name);
        let forms = [format!("\"{name}\""), format!("\"{name}/"), format!("node_modules/{name}/")];
        let used = sources.iter().any(|source| forms.iter().any(|form| source.contains(form)));
        if !used {
            problems.push(format!("no script names the npm package {name}: remove it"));
        }
    }
    problems
}

/// Says which dependencies of the project have no exact version, so that they may change although
/// `package.json` does not.
pub fn inexact(project: &Package) -> Vec<String> {
    let inexact = project.all_dependencies().filter(|(_, version)| !is_exact(version));
    inexact
        .map(|(name, version)| {
            format!("package.json takes {name} {version}: write the exact version, \"1.2.3\"")
        })
        .collect()
}

fn is_exact(version: &str) -> bool {
    let numbers = version.split_once('-').map_or(version, |(numbers, _)| numbers);
    let parts: Vec<&str> = numbers.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| part.parse::<u64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> Lock {
        let text = r#"{ "packages": {
            "": {
                "license": "MIT",
                "dependencies": { "exact": "1.2.3-beta.1" },
                "devDependencies": { "@a/loose": "^1.2.3" },
                "optionalDependencies": { "latest": "*" }
            },
            "node_modules/@a/loose/node_modules/inner": { "version": "1.0.0", "license": "ISC" },
            "node_modules/exact": { "version": "1.2.3-beta.1" }
        } }"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn licences_have_the_names_of_packages() {
        let expected = [("", Some("MIT")), ("inner", Some("ISC")), ("exact", None)];
        assert_eq!(lock().licences(), expected);
    }

    #[test]
    fn inexact_versions_are_found() {
        let problems = inexact(lock().project().unwrap());
        assert_eq!(problems.len(), 2);
        assert!(problems[0].contains("@a/loose ^1.2.3") && problems[1].contains("latest *"));
        for version in ["1.2", "~1.2.3", "1.2.x", "latest", "git+https://a.example/b"] {
            assert!(!is_exact(version), "{version}");
        }
    }

    #[test]
    fn unused_packages_are_found() {
        let lock = lock();
        let named = ["import a from \"@a/loose/b\";", "\"exact\"", "node_modules/latest/bin"];
        let named = named.map(String::from);
        assert_eq!(unused(lock.project().unwrap(), &named), [""; 0]);
        for (missing, _) in named.iter().enumerate() {
            let mut others = named.to_vec();
            others.remove(missing);
            assert_eq!(unused(lock.project().unwrap(), &others).len(), 1, "without {missing}");
        }
    }
}
