//! The inputs that the fuzzer begins with: each reader of foreign text holds its laws for them.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/lib.rs"]
#[expect(clippy::unwrap_used, reason = "it is a package of its own, whose targets may panic")]
mod fuzz;

/// The name of a target of the fuzzer, and what it calls.
type Reader = (&'static str, fn(&str));

const READERS: [Reader; 8] = [
    ("api", fuzz::api),
    ("config", fuzz::config),
    ("cookie", fuzz::cookie),
    ("paths", fuzz::paths),
    ("rules", fuzz::rules),
    ("template", fuzz::template),
    ("ticket", fuzz::ticket),
    ("wire", fuzz::wire),
];

/// Lists a folder of the fuzzer.
fn entries(folder: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz").join(folder);
    let entries = fs::read_dir(path).expect("a folder of the fuzzer");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn every_input_of_the_corpora_holds_the_laws_of_its_reader() {
    for (name, read) in READERS {
        let inputs = entries(&format!("corpus/{name}"));
        assert!(!inputs.is_empty(), "{name} has no corpus");
        for input in inputs {
            println!("{}", input.display());
            if let Ok(text) = fs::read_to_string(&input) {
                read(&text);
            }
        }
    }
}

#[test]
fn every_target_of_the_fuzzer_is_a_reader_here() {
    let targets = entries("src/bin");
    assert_eq!(targets.len(), READERS.len());
    for target in targets {
        let name = target.file_stem().and_then(|name| name.to_str());
        assert!(READERS.iter().any(|(reader, _)| name == Some(reader)), "{}", target.display());
    }
}
