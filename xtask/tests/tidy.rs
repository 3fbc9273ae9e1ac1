//! Checks the code itself in the ordinary test run: sizes of files, first lines, the purity of the
//! core, the code map. Lints limit functions and JavaScript files (`clippy.toml`,
//! `.oxlintrc.json`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the code.
const FOLDERS: [&str; 12] = [
    "analytics",
    "src",
    "room-core",
    "room-sim",
    "xtask",
    "tests",
    "scripts",
    "bench",
    "client",
    "cockpit",
    "templates",
    "webhooks",
];
/// Most lines of code in a Rust file; blank lines and comments do not count.
const CODE_LINES_MAX: usize = 400;
/// Most lines of any kind in a Rust file; for a file of tests alone this is the only limit.
const LINES_MAX: usize = 500;
/// Most characters in a line.
const LINE_CHARACTERS_MAX: usize = 100;
/// Words that the code of the pure core may not contain, and what to do instead.
const IMPURE: &[(&str, &str)] = &[
    ("Instant::now", "the time is an argument"),
    ("SystemTime", "the time is an argument"),
    ("async fn", "a machine returns what must happen outside"),
    (".await", "a machine returns what must happen outside"),
    ("getrandom::", "random draws are arguments"),
    ("thread_local!", "a machine is a plain struct"),
    ("println!", "facts are returned"),
    ("HashMap", "use SortedMap: iteration order must be the same everywhere"),
    ("HashSet", "use SortedSet: iteration order must be the same everywhere"),
];
/// Texts that mark unfinished work.
const UNFINISHED: &[&str] = &[
    concat!("to", "do!("),
    concat!("unimplemen", "ted!("),
    concat!("FIX", "ME"),
    concat!("#[ign", "ore"),
    concat!(".on", "ly("),
];

#[test]
fn rust_files_are_short() {
    check(&["rs"], |file, problems| {
        let lines = file.text.lines().count();
        let code = file.text.lines().filter(|line| is_code(line)).count();
        let tests_alone = file.name.contains("tests/") || file.name.ends_with("tests.rs");
        if code > CODE_LINES_MAX && !tests_alone || lines > LINES_MAX {
            problems.push(format!("{}: {code} lines of code, {lines} in all", file.name));
        }
    });
}

#[test]
fn lines_are_short() {
    check(&["rs", "js", "jsx", "mjs", "ts"], |file, problems| {
        for (number, line) in file.text.lines().enumerate() {
            if line.chars().count() > LINE_CHARACTERS_MAX {
                problems.push(format!("{}:{}: longer than 100", file.name, number + 1));
            }
        }
    });
}

#[test]
fn the_first_line_of_a_file_says_what_it_is_for() {
    check(&["rs", "js", "jsx", "mjs", "ts", "c"], |file, problems| {
        let first = file.text.lines().next().unwrap_or_default();
        let says = match file.name.rsplit('.').next() {
            Some("rs") => first.starts_with("//! ") && first.len() > 20,
            _ => first.starts_with("//") || first.starts_with("/*") || first.starts_with("#!"),
        };
        if !says {
            problems.push(format!("{}: begins with {first:?}", file.name));
        }
    });
}

#[test]
fn the_core_is_pure() {
    check(&["rs"], |file, problems| {
        if !file.name.starts_with("room-core/src/") {
            return;
        }
        for (word, instead) in IMPURE {
            let found = |line: &str| is_code(line) && line.contains(word);
            if file.text.lines().any(found) {
                problems.push(format!("{}: {word}: {instead}", file.name));
            }
        }
    });
}

#[test]
fn nothing_is_left_unfinished() {
    check(&["rs", "js", "jsx", "mjs", "ts", "toml", "html"], |file, problems| {
        for mark in UNFINISHED {
            if file.text.contains(mark) {
                problems.push(format!("{}: {mark}", file.name));
            }
        }
    });
}

#[test]
fn the_architecture_names_every_file_and_no_other() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default();
    assert!(map.lines().count() < 260, "ARCHITECTURE.md has 260 lines or more");
    for source in ["room-core/src", "src"] {
        let mapped = mapped(&map, source);
        assert!(mapped.len() > 20, "{source}: only {} files in the map", mapped.len());
        let mut there = Vec::new();
        collect(&root().join(source), &mut there);
        let name = |path: &PathBuf| {
            let name = path.strip_prefix(root().join(source)).unwrap_or(path);
            name.to_string_lossy().replace('\\', "/")
        };
        let is_mapped = |name: &String| {
            !name.contains("tests") && [".rs", ".js"].iter().any(|ending| name.ends_with(ending))
        };
        let there: BTreeSet<String> = there.iter().map(name).filter(is_mapped).collect();
        let difference: Vec<_> = there.symmetric_difference(&mapped).collect();
        assert!(difference.is_empty(), "{source}: in the map or there, not both: {difference:?}");
    }
}

/// Reads the files of one code map: in each row those in backticks, behind their folder.
fn mapped(map: &str, source: &str) -> BTreeSet<String> {
    let heading = format!("## Code map: {source}\n");
    let section = map.split(&heading).nth(1).unwrap_or_default().split("\n## ").next();
    let mut files = BTreeSet::new();
    for row in section.unwrap_or_default().lines().filter(|line| line.starts_with("| `")) {
        let mut folder = "";
        for word in row.split(" | ").next().unwrap_or_default().split('`').skip(1).step_by(2) {
            if word.ends_with('/') {
                folder = word;
            } else {
                let ending = if word.contains('.') { "" } else { ".rs" };
                files.insert(format!("{folder}{word}{ending}"));
            }
        }
    }
    files
}

struct File {
    /// The path from the root, with `/`.
    name: String,
    text: String,
}

fn check(endings: &[&str], rule: impl Fn(&File, &mut Vec<String>)) {
    let mut paths = Vec::new();
    for folder in FOLDERS {
        collect(&root().join(folder), &mut paths);
    }
    let mut problems = Vec::new();
    let mut checked = 0;
    for path in paths {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !endings.contains(&ending) {
            continue;
        }
        let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&path).unwrap_or_default();
        rule(&File { name, text }, &mut problems);
        checked += 1;
    }
    assert!(checked > 10, "only {checked} files found");
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            let hidden = name.to_string_lossy().starts_with('.');
            if !hidden
                && !["target", "node_modules", "dist", "artifacts", "gen", "proptest-regressions"]
                    .iter()
                    .any(|skipped| name == *skipped)
            {
                collect(&path, paths);
            }
        } else {
            paths.push(path);
        }
    }
}

fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !["//", "/*", "* ", "*/"].iter().any(|mark| line.starts_with(mark))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
