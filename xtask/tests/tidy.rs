//! Checks the code itself in the ordinary test run: sizes of files, first lines, the purity of the
//! core, the code map. Lints limit functions and JavaScript files (`clippy.toml`,
//! `.oxlintrc.json`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the code.
const FOLDERS: [&str; 18] = [
    "analytics",
    "central",
    "src",
    "room-checker",
    "room-core",
    "room-sim",
    "xtask",
    "tests",
    "scripts",
    "bench",
    "client",
    "cockpit",
    "examples",
    "fuzz",
    "rehearsal",
    "templates",
    "transparency",
    "webhooks",
];
/// Most lines of code in a Rust file; blank lines and comments do not count.
const CODE_LINES_MAX: usize = 400;
/// Most lines of any kind in a Rust file; for a file of tests alone this is the only limit.
const LINES_MAX: usize = 500;
/// Most characters in a line.
const LINE_CHARACTERS_MAX: usize = 100;
/// Most lines in ARCHITECTURE.md.
const ARCHITECTURE_LINES_MAX: usize = 150;
/// Most characters in a cell about a folder there; the folder's own head says the rest.
const CELL_CHARACTERS_MAX: usize = 140;
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
fn the_architecture_names_every_folder_once() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default();
    let lines = map.lines().count();
    assert!(lines <= ARCHITECTURE_LINES_MAX, "ARCHITECTURE.md has {lines} lines");
    let rows: Vec<&str> = map.lines().filter(|line| line.starts_with("| `")).collect();
    let named: Vec<&str> = rows.iter().filter_map(|row| row.split('`').nth(1)).collect();
    let named: Vec<&str> = named.into_iter().filter(|name| name.ends_with('/')).collect();
    assert!(named.len() > 30, "only {} folders in the map", named.len());
    let mut problems = Vec::new();
    for (at, name) in named.iter().enumerate() {
        if named.iter().take(at).any(|before| before == name) {
            problems.push(format!("{name} stands twice in the map"));
        }
        if !root().join(name).is_dir() {
            problems.push(format!("{name} is not there"));
        }
    }
    for row in rows {
        let long = row.split('|').find(|cell| cell.chars().count() > CELL_CHARACTERS_MAX);
        if long.is_some_and(|_| row.split('`').nth(1).is_some_and(|name| name.ends_with('/'))) {
            problems.push(format!("too long for one line of the map: {row}"));
        }
    }
    for folder in folders_of_code() {
        if !named.contains(&folder.as_str()) && !has_head(&folder, &named) {
            problems.push(format!("{folder} is not in the map, and no file says what it is for"));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Returns each folder that holds code, from the root and with a `/` at its end.
fn folders_of_code() -> BTreeSet<String> {
    let is_code = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        ["rs", "js", "jsx", "mjs", "ts"].contains(&ending)
    };
    let folder = |path: &PathBuf| {
        let folder = path.parent()?.strip_prefix(root()).ok()?;
        Some(format!("{}/", folder.to_string_lossy().replace('\\', "/")))
    };
    files().iter().filter(|path| is_code(path)).filter_map(folder).collect()
}

/// Whether a file in or beside a folder, or a row of the README above it, says what it is for. The
/// row of the folder above is enough for a folder named `src`, `bin`, `test` or `tests`. The
/// folders of `room-core/src` have such files and must stand in the map all the same.
fn has_head(folder: &str, named: &[&str]) -> bool {
    let path = folder.trim_end_matches('/');
    let (above, name) = path.rsplit_once('/').unwrap_or_default();
    if above == "room-core/src" {
        return false;
    }
    let readme = fs::read_to_string(root().join(above).join("README.md")).unwrap_or_default();
    let says_all = ["src", "bin", "test", "tests"].contains(&name);
    ["main.rs", "lib.rs", "README.md"].iter().any(|head| root().join(path).join(head).exists())
        || [".rs", ".mjs"].iter().any(|end| root().join(format!("{path}{end}")).exists())
        || readme.contains(&format!("| `{name}` |"))
        || says_all && (named.contains(&format!("{above}/").as_str()) || has_head(above, named))
}

struct File {
    /// The path from the root, with `/`.
    name: String,
    text: String,
}

fn check(endings: &[&str], rule: impl Fn(&File, &mut Vec<String>)) {
    let mut problems = Vec::new();
    let mut checked = 0;
    for path in files() {
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

/// Returns all files of the folders.
fn files() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for folder in FOLDERS {
        collect(&root().join(folder), &mut paths);
    }
    paths
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
