//! Checks the code itself, in the ordinary test run: sizes, first lines, purity, the code map.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines of code a file may have; blank lines and comments do not count.
const CODE_LINES_MAX: usize = 400;
/// Lines a file may have at all; for a file of tests alone this is the only limit.
const LINES_MAX: usize = 500;
/// Lines a JavaScript function may have; clippy counts those of Rust.
const FUNCTION_LINES_MAX: usize = 70;
/// Characters a line may have.
const LINE_CHARACTERS_MAX: usize = 100;
/// What the pure core may not contain, and what to do instead.
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
/// Marks of unfinished work.
const UNFINISHED: &[&str] = &[
    concat!("to", "do!("),
    concat!("unimplemen", "ted!("),
    concat!("FIX", "ME"),
    concat!("#[ign", "ore"),
    concat!(".on", "ly("),
];

#[test]
fn files_and_lines_are_short() {
    check(&["rs", "js", "mjs"], |file, problems| {
        let lines: Vec<&str> = file.text.lines().collect();
        let code = lines.iter().filter(|line| is_code(line)).count();
        let tests_alone = file.name.contains("tests/") || file.name.ends_with("tests.rs");
        if code > CODE_LINES_MAX && !tests_alone || lines.len() > LINES_MAX {
            problems.push(format!("{}: {code} lines of code, {} in all", file.name, lines.len()));
        }
        for (number, line) in lines.iter().enumerate() {
            if line.chars().count() > LINE_CHARACTERS_MAX {
                problems.push(format!("{}:{}: longer than 100", file.name, number + 1));
            }
        }
    });
}

#[test]
fn javascript_functions_are_short() {
    check(&["js", "mjs"], |file, problems| {
        let lines: Vec<&str> = file.text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            if !line.contains("function ") || !line.ends_with('{') {
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            let ends = |line: &&str| line.trim_end() == format!("{}}}", " ".repeat(indent));
            let length = lines[start..].iter().position(ends).unwrap_or(0);
            if length > FUNCTION_LINES_MAX {
                problems.push(format!("{}:{}: {length} lines", file.name, start + 1));
            }
        }
    });
}

#[test]
fn the_first_line_of_a_file_says_what_it_is_for() {
    check(&["rs", "js", "mjs", "c"], |file, problems| {
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
    check(&["rs", "js", "mjs", "toml", "html"], |file, problems| {
        for mark in UNFINISHED {
            if file.text.contains(mark) {
                problems.push(format!("{}: {mark}", file.name));
            }
        }
    });
}

#[test]
fn the_architecture_names_every_file() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default();
    assert!(map.lines().count() < 250, "ARCHITECTURE.md has 250 lines or more");
    check(&["rs", "js"], |file, problems| {
        let mapped = file.name.starts_with("src/") || file.name.starts_with("room-core/src/");
        let name = file.name.rsplit('/').next().unwrap_or_default();
        if !mapped || name == "tests.rs" {
            return;
        }
        let stem = name.split('.').next().unwrap_or_default();
        if !map.contains(&format!("`{stem}`")) && !map.contains(&format!("`{name}`")) {
            problems.push(format!("{}: not in ARCHITECTURE.md", file.name));
        }
    });
}

struct File {
    /// Path from the root, with `/`.
    name: String,
    text: String,
}

fn check(endings: &[&str], rule: impl Fn(&File, &mut Vec<String>)) {
    let mut paths = Vec::new();
    for folder in
        ["src", "room-core", "room-sim", "xtask", "tests", "scripts", "bench", "templates"]
    {
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
                && !["target", "node_modules", "artifacts", "gen", "proptest-regressions"]
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
