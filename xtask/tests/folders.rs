//! Checks the structure of the packages: each folder imports only from those before it, and few
//! files import each other in a circle. In `room-core` the methods of a type stand together, and in
//! the Worker one folder knows the platform.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders in their order: each may import from those before it alone.
const FOLDERS: [&str; 14] = [
    "base",
    "ticket",
    "order",
    "keys",
    "rules",
    "room",
    "capacity",
    "queue",
    "admission",
    "page",
    "machines",
    "drive",
    "visit",
    "management",
];
/// The same for the Worker. A file without a folder stands for itself.
const WORKER_FOLDERS: [&str; 23] = [
    "panic_hooks",
    "platform",
    "operators",
    "languages",
    "incoming",
    "memory",
    "names",
    "calls",
    "copies",
    "request",
    "configuration",
    "objects",
    "questions",
    "reports",
    "place",
    "session",
    "turnstile",
    "stream",
    "visit",
    "doctor",
    "management",
    "visits_module",
    "central_module",
];
/// The same for the simulator: the library, and then its command line.
const SIMULATOR_FOLDERS: [&str; 17] = [
    "chance",
    "baseline",
    "visitor",
    "truth",
    "scenario",
    "algorithm",
    "measure",
    "heatmap",
    "world",
    "targets",
    "rehearsal",
    "swarm",
    "arguments",
    "run",
    "compare",
    "report",
    "stories",
];
/// The same for the checks of a sale's transparency log.
const TRANSPARENCY_FOLDERS: [&str; 6] = ["leaf", "proof", "tree", "rules", "sale", "merge"];
/// The packages, their folders in their order, and imports that are found at least.
const FLOORS: [(&str, &[&str], usize); 4] = [
    (CORE, &FOLDERS, 300),
    (WORKER, &WORKER_FOLDERS, 60),
    ("room-sim/src", &SIMULATOR_FOLDERS, 60),
    ("transparency/src", &TRANSPARENCY_FOLDERS, 4),
];
/// The files that only name the others for whoever uses the package.
const ENTRIES: [&str; 2] = ["lib.rs", "main.rs"];
/// Where the tests of a file begin: they may import from everywhere.
const TESTS: &str = "#[cfg(test)]\nmod tests {";
const CORE: &str = "room-core/src";
const WORKER: &str = "src";
/// Where a package's files are, most of them in a circle, and imports that are found at least. The
/// files of a circle all import each other, directly or through others. No circle may grow.
const CIRCLES: [(&str, usize, usize); 4] =
    [(CORE, 4, 300), (WORKER, 2, 80), ("room-sim/src", 4, 200), ("transparency/src", 1, 5)];
/// Besides those of this folder, the files of the Worker that name `worker` or `wasm_bindgen`: they
/// have what the entry calls. No file may join them.
const PLATFORM: &str = "platform";
const ENTRANCES: [&str; 4] = ["central_module.rs", "lib.rs", "panic_hooks.rs", "visits_module.rs"];
/// Most files with methods of one type, the one that defines it included.
const FILES_OF_ONE_TYPE_MAX: usize = 2;

#[test]
fn folders_import_only_from_those_above() {
    for (package, floors, imports_min) in FLOORS {
        let sources = sources(package);
        let floor = |name: &str| floors.iter().position(|one| *one == word(name));
        let (mut upward, mut imports) = (Vec::new(), 0);
        for (name, code) in &sources {
            if ENTRIES.contains(&&**name) {
                continue;
            }
            let own = floor(name).unwrap_or_else(|| panic!("{package}/{name} is on no floor"));
            for other in imported(name, code, &sources) {
                imports += usize::from(word(name) != word(other));
                if floor(other).is_none_or(|other| other > own) {
                    upward.push(format!("{name} imports {other}"));
                }
            }
        }
        assert!(imports >= imports_min, "only {imports} imports between folders of {package}");
        assert!(upward.is_empty(), "{package}: {upward:#?}");
    }
}

#[test]
fn the_drawn_house_is_the_one_that_stands() {
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("ARCHITECTURE.md");
    let map = fs::read_to_string(map).unwrap_or_default();
    let drawn = drawn(&map);
    let imports = folder_imports();
    for folder in FOLDERS {
        let known = reachable(folder, &drawn);
        let of_it = |(from, _): &&(&str, &str)| *from == folder;
        for (_, other) in imports.iter().filter(of_it) {
            assert!(known.contains(other), "no way is drawn from {folder} to {other}");
        }
        for other in &drawn[folder] {
            let is_there = imports.contains(&(folder, *other));
            assert!(is_there, "the drawn arrow from {folder} to {other} is no import");
        }
    }
}

/// Reads the diagram of the folders: from each, where its arrows lead.
fn drawn(map: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let behind = map.split("Who imports whom").nth(1).unwrap_or_default();
    let diagram = behind.split("```").nth(1).unwrap_or_default();
    let mut arrows: BTreeMap<&str, BTreeSet<&str>> =
        BTreeMap::from(FOLDERS.map(|folder| (folder, BTreeSet::new())));
    for line in diagram.lines() {
        let names = |step| str::split(step, '&').map(|name| word(name.trim())).collect();
        let steps: Vec<Vec<&str>> = line.split("-->").map(names).collect();
        for (all, next) in steps.iter().zip(steps.iter().skip(1)) {
            for from in all {
                arrows.entry(from).or_default().extend(next);
            }
        }
    }
    arrows
}

/// Returns every pair of folders of which one imports from the other.
fn folder_imports() -> BTreeSet<(&'static str, &'static str)> {
    let folder = |name: &str| FOLDERS.into_iter().find(|folder| *folder == word(name));
    let mut imports = BTreeSet::new();
    for (name, code) in sources(CORE) {
        let Some(own) = folder(&name) else { continue };
        imports.extend(code.split("crate::").skip(1).filter_map(folder).map(|other| (own, other)));
    }
    imports.retain(|(own, other)| own != other);
    imports
}

#[test]
fn circles_of_files_are_small() {
    for (package, most, imports_min) in CIRCLES {
        let sources = sources(package);
        let imports: BTreeMap<&str, BTreeSet<&str>> =
            sources.iter().map(|(name, code)| (&**name, imported(name, code, &sources))).collect();
        let count: usize = imports.values().map(BTreeSet::len).sum();
        assert!(count >= imports_min, "only {count} imports found in {package}");
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            imports.keys().map(|name| (*name, reachable(name, &imports))).collect();
        let circle = |name: &&str| -> BTreeSet<&str> {
            reached[*name]
                .iter()
                .filter(|other| reached[**other].contains(*name))
                .copied()
                .collect()
        };
        let circles: BTreeSet<BTreeSet<&str>> = imports.keys().map(circle).collect();
        let largest = circles.iter().max_by_key(|circle| circle.len()).map_or(0, BTreeSet::len);
        let large: Vec<_> = circles.iter().filter(|circle| circle.len() > most).collect();
        assert!(large.is_empty(), "files of {package} that import each other: {large:#?}");
        assert_eq!(largest.max(1), most, "{package} is better: lower its number");
    }
}

#[test]
fn one_folder_of_the_worker_knows_the_platform() {
    let knows = |code: &str| {
        ["worker", "wasm_bindgen", "wasm_bindgen_futures", "js_sys", "web_sys"].iter().any(|name| {
            code.match_indices(name).any(|(at, _)| {
                let before = code[..at].chars().next_back();
                let after = code[at + name.len()..].chars().next();
                !before.is_some_and(is_name) && !after.is_some_and(is_name)
            })
        })
    };
    let sources = sources(WORKER);
    let (inside, outside): (Vec<_>, Vec<_>) =
        sources.iter().partition(|(name, _)| word(name) == PLATFORM);
    assert!(inside.iter().filter(|(_, code)| knows(code)).count() > 3, "{PLATFORM} is found");
    let others: Vec<&str> =
        outside.iter().filter(|(_, code)| knows(code)).map(|(name, _)| name.as_str()).collect();
    assert_eq!(others, ENTRANCES, "the other files that name the platform's libraries");
}

#[test]
fn methods_of_a_type_stand_together() {
    let mut elsewhere = BTreeMap::<String, Vec<String>>::new();
    let mut together = 0;
    for (name, code) in sources(CORE) {
        if !name.starts_with("machines/") && !name.starts_with("management/") {
            continue;
        }
        let of_impl = |line: &str| {
            let named = line.strip_prefix("impl ").or_else(|| {
                line.strip_prefix("impl<").and_then(|rest| rest.split_once("> ")).map(|(_, of)| of)
            })?;
            (!named.contains(" for ")).then(|| word(named).to_owned())
        };
        for of in code.lines().filter_map(of_impl).collect::<BTreeSet<_>>() {
            let defines = |kind| code.contains(&format!("{kind} {of}"));
            if defines("struct") || defines("enum") {
                together += 1;
            } else {
                elsewhere.entry(of).or_default().push(name.clone());
            }
        }
    }
    assert!(together > 30, "only {together} types with methods found");
    elsewhere.retain(|_, files| files.len() >= FILES_OF_ONE_TYPE_MAX);
    assert!(elsewhere.is_empty(), "types with methods in many other files: {elsewhere:#?}");
}

/// Finds the files that a file names in paths: from the top, relative to itself, or below itself.
fn imported<'a>(
    name: &str,
    code: &str,
    sources: &'a BTreeMap<String, String>,
) -> BTreeSet<&'a str> {
    let own: Vec<&str> = name.trim_end_matches(".rs").split('/').collect();
    let is_child = |module: &str| sources.contains_key(&file_of(&[&own[..], &[module]].concat()));
    let mut files = BTreeSet::new();
    for (at, _) in code.match_indices("::") {
        let before = &code[..at];
        let first = before.rsplit(|letter| !is_name(letter)).next().unwrap_or_default();
        if before[..before.len() - first.len()].ends_with("::") {
            continue; // the middle of a path
        }
        let start = match first {
            "crate" => Vec::new(),
            "self" => own.clone(),
            "super" => own.split_last().map_or_else(Vec::new, |(_, above)| above.to_vec()),
            module if is_child(module) => [&own[..], &[module]].concat(),
            _ => continue,
        };
        for path in paths(start, &code[at + 2..]) {
            let mut prefixes = std::iter::successors(Some(&path[..]), |longer| {
                longer.split_last().map(|(_, shorter)| shorter)
            });
            let known = prefixes.find_map(|prefix| sources.get_key_value(&file_of(prefix)));
            files.extend(known.map(|(file, _)| file.as_str()).filter(|file| *file != name));
        }
    }
    files
}

/// Lists the paths that begin with `start` and go on with `rest`, one for each name in braces.
fn paths<'a>(start: Vec<&'a str>, rest: &'a str) -> Vec<Vec<&'a str>> {
    let rest = rest.trim_start();
    if let Some(inner) = rest.strip_prefix('{') {
        let mut depth = 0;
        let names = inner.split_inclusive(|letter: char| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth < 0 || depth == 0 && letter == ','
        });
        let mut all = Vec::new();
        for name in names {
            all.extend(paths(start.clone(), name));
            if name.ends_with('}') && name.matches('}').count() > name.matches('{').count() {
                break;
            }
        }
        return all;
    }
    let next = word(rest);
    let mut path = start;
    match next {
        "super" => drop(path.pop()),
        _ => path.push(next),
    }
    match rest[next.len()..].strip_prefix("::") {
        Some(rest) => paths(path, rest),
        None => vec![path],
    }
}

/// Collects all files that `name` imports, directly or through others.
fn reachable<'a>(
    name: &'a str,
    imports: &BTreeMap<&'a str, BTreeSet<&'a str>>,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut left = vec![name];
    while let Some(file) = left.pop() {
        left.extend(imports[file].iter().filter(|next| reached.insert(**next)));
    }
    reached
}

fn file_of(path: &[&str]) -> String {
    format!("{}.rs", path.join("/"))
}

/// Returns the name that `text` begins with.
fn word(text: &str) -> &str {
    text.split(|letter| !is_name(letter)).next().unwrap_or_default()
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Reads the code of each file of a package, by its path, without comments and tests.
fn sources(package: &str) -> BTreeMap<String, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package);
    let mut sources = BTreeMap::new();
    for file in rust_files(&source) {
        let name = file.strip_prefix(&source).unwrap_or(&file);
        let name = name.to_string_lossy().replace('\\', "/");
        if name.contains("tests") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        let code = text.split(TESTS).next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        sources.insert(name, lines.collect::<Vec<_>>().join("\n"));
    }
    sources
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files
}
