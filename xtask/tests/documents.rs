//! Checks that code and documents agree: every cited document is there, and every law stands in
//! `docs/algorithm.md` with tests that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of code and documents; files at the top are read as well.
const FOLDERS: [&str; 10] = [
    "src",
    "room-checker",
    "room-core",
    "room-sim",
    "xtask",
    "tests",
    "scripts",
    "bench",
    "client",
    "docs",
];
/// The number of the last law; the first is I1.
const LAWS: usize = 17;

#[test]
fn every_cited_document_is_there() {
    let mut missing = BTreeSet::new();
    let mut cited = 0;
    for (name, text) in texts() {
        for line in text.lines().filter(|line| !line.contains("://")) {
            for word in
                line.split(|letter: char| letter.is_whitespace() || "`()[]\",".contains(letter))
            {
                let path =
                    word.split('#').next().unwrap_or_default().trim_end_matches([':', '.', ';']);
                if !is_document(path) || path.contains(['*', '{', '$']) {
                    continue;
                }
                cited += 1;
                let beside = root().join(&name).parent().map(|folder| folder.join(path));
                let found = root().join(path).exists() || beside.is_some_and(|path| path.exists());
                if !found {
                    missing.insert(format!("{name}: {path}"));
                }
            }
        }
    }
    assert!(cited > 30, "only {cited} documents are cited");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_law_names_its_tests() {
    let algorithm = fs::read_to_string(root().join("docs/algorithm.md")).unwrap();
    let all: String = texts().into_iter().filter(is_code).map(|(_, text)| text).collect();
    for law in 1..=LAWS {
        let row = algorithm.lines().find(|line| line.starts_with(&format!("| I{law} |")));
        let row = row.unwrap_or_else(|| panic!("I{law} is not in docs/algorithm.md"));
        let held_by = row.split('|').nth(3).unwrap_or_default();
        let words: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
        let is_name = |word: &&&str| !word.contains(['/', '.', ' ']);
        let quoted = held_by.split('"').skip(1).step_by(2);
        let tests: Vec<&str> = words.iter().filter(is_name).copied().chain(quoted).collect();
        assert!(!tests.is_empty(), "I{law} names no test");
        for test in tests {
            let is_there = [format!("fn {test}("), format!("\"{test}\"")];
            assert!(is_there.iter().any(|text| all.contains(text)), "I{law}: no test {test}");
        }
    }
}

fn is_code((name, _): &(String, String)) -> bool {
    !is_document(name)
}

fn is_document(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "md")
}

/// Reads all code and documents, with their paths from the root.
fn texts() -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(root()).into_iter().flatten().flatten() {
        if entry.path().is_file() {
            paths.push(entry.path());
        }
    }
    for folder in FOLDERS {
        collect(&root().join(folder), &mut paths);
    }
    let is_text = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        ["rs", "js", "mjs", "ts", "md", "toml"].contains(&ending)
    };
    let text = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(&path).unwrap_or_default())
    };
    let own = "xtask/tests/documents.rs";
    paths.into_iter().filter(is_text).map(text).filter(|(name, _)| name != own).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_file() {
            paths.push(path);
        } else if !["target", "node_modules", "dist", "artifacts"].iter().any(|one| name == *one) {
            collect(&path, paths);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
