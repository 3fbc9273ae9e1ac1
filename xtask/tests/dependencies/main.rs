//! Checks what the project depends on: licences, duplicates in the Worker, withdrawn releases,
//! dependencies that nothing uses, versions that are not exact. It needs no network: it reads what
//! Cargo has fetched.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo::Metadata;
use npm::Lock;

mod cargo;
mod licences;
mod npm;

/// The folders with JavaScript that uses npm packages.
const JAVASCRIPT: [&str; 5] = ["scripts", "tests", "bench", "client", "cockpit"];

#[test]
fn every_licence_is_allowed() {
    let crates = licences::refused(&metadata(&[]).unwrap().licences(), licences::CRATES);
    assert!(crates.is_empty(), "\n{}", crates.join("\n"));
    let packages = licences::refused(&lock().unwrap().licences(), licences::NPM_PACKAGES);
    assert!(packages.is_empty(), "\n{}", packages.join("\n"));
}

#[test]
fn the_worker_has_every_crate_once() {
    let metadata = metadata(&["--filter-platform", "wasm32-unknown-unknown"]).unwrap();
    let compiled = metadata.compiled_into("waiting-room");
    assert!(compiled.len() > 40, "only {} crates in the Worker", compiled.len());
    let problems = cargo::duplicates(&compiled);
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn no_release_was_withdrawn() {
    let metadata = metadata(&[]).unwrap();
    let registries = registries();
    let (mut looked_up, mut problems) = (0, Vec::new());
    for (name, version) in metadata.releases() {
        let entries = registries.iter().map(|folder| folder.join(cargo::index_path(name)));
        let found = entries.filter_map(|path| fs::read(path).ok());
        for withdrawn in found.filter_map(|entry| cargo::is_withdrawn(&entry, version)) {
            looked_up += 1;
            if withdrawn {
                problems.push(format!(
                    "{name} {version} was withdrawn from the registry (yanked): take another \
                     version with `cargo update --package {name}`"
                ));
            }
        }
    }
    println!("{looked_up} releases are in the local copy of the registry's index");
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_dependency_is_used() {
    let metadata = metadata(&[]).unwrap();
    let mut problems = Vec::new();
    for member in metadata.members() {
        let folder = member.manifest_path.parent().unwrap();
        let sources = |parts: &[&str]| -> Vec<String> {
            parts.iter().flat_map(|part| texts(&folder.join(part), &["rs"])).collect()
        };
        problems.extend(cargo::unused(member, &sources(&["src"]), &sources(&["src", "tests"])));
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    problems.extend(cargo::without_member(&manifest, &metadata));
    let javascript: Vec<String> = JAVASCRIPT
        .iter()
        .flat_map(|folder| texts(&root().join(folder), &["mjs", "js", "ts", "jsx"]))
        .collect();
    problems.extend(npm::unused(lock().unwrap().project().unwrap(), &javascript));
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_version_is_exact() {
    let mut problems = cargo::inexact(&metadata(&[]).unwrap());
    problems.extend(npm::inexact(lock().unwrap().project().unwrap()));
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Asks Cargo for all packages, or for those that a platform needs.
fn metadata(options: &[&str]) -> Result<Metadata, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--locked", "--format-version", "1"]).args(options);
    let output = command.current_dir(root()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn lock() -> Result<Lock, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(root().join("package-lock.json"))?)?)
}

/// Finds the local copies of the indices of registries; none where Cargo has never asked one.
fn registries() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let indices = home.and_then(|home| fs::read_dir(home.join("registry/index")).ok());
    indices.into_iter().flatten().flatten().map(|entry| entry.path().join(".cache")).collect()
}

/// Reads the texts of all files in a folder and below it.
fn texts(folder: &Path, endings: &[&str]) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() && entry.file_name() != "node_modules" {
            texts.extend(self::texts(&path, endings));
        } else if endings.contains(&ending) {
            texts.push(fs::read_to_string(&path).unwrap_or_default());
        }
    }
    texts
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
