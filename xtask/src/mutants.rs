//! Breaks each law of admission once, in a copy of the checkout, and demands that a test fails.
//!
//! `cargo run -p xtask -- mutants` runs all, `mutants I5` those of one law.

mod list;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use list::MUTANTS;

/// One deliberate break of a law.
pub(crate) struct Mutant {
    /// The law that it breaks, as the tests in `room-core/tests/laws` number it.
    law: &'static str,
    /// What no longer holds.
    breaks: &'static str,
    /// The file that is changed, below `room-core/src`.
    file: &'static str,
    /// The code that is replaced. It occurs in the file exactly once.
    from: &'static str,
    /// The code that takes its place.
    to: &'static str,
}

/// Runs the mutants of `law`, or all of them. Errors: the mutants that no test noticed.
pub(crate) fn run(root: &Path, law: Option<&str>) -> Result<(), Box<dyn Error>> {
    let chosen = MUTANTS.iter().filter(|mutant| law.is_none_or(|law| law == mutant.law));
    let chosen: Vec<&Mutant> = chosen.collect();
    if chosen.is_empty() {
        return Err(format!("there is no mutant of {}", law.unwrap_or("anything")).into());
    }
    eprintln!("first without a mutant, then with each of {}: this takes minutes", chosen.len());
    let copy = Copy::of(root)?;
    if let Outcome::Noticed(test) = copy.test()? {
        return Err(format!("the tests fail without any mutant: {test}").into());
    }
    let mut unnoticed = Vec::new();
    for mutant in chosen {
        let original = copy.apply(mutant)?;
        let outcome = copy.test()?;
        fs::write(copy.path_of(mutant), original)?;
        let Mutant { law, breaks, .. } = mutant;
        match outcome {
            Outcome::Noticed(test) => println!("{law:<4} {breaks}: noticed by {test}"),
            Outcome::Passed => {
                println!("{law:<4} {breaks}: NOT NOTICED");
                unnoticed.push(format!("{law}: {breaks}"));
            }
        }
    }
    if unnoticed.is_empty() {
        return Ok(());
    }
    Err(format!("no test noticed {}", unnoticed.join("; ")).into())
}

/// The files and folders that are copied: what the workspace needs to build and to run its tests.
const PARTS: [&str; 13] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "src",
    "templates",
    "central",
    "rehearsal",
    "room-checker",
    "room-core",
    "room-sim",
    "transparency",
    "xtask",
    "tests/golden",
];

enum Outcome {
    Passed,
    /// The first test that failed.
    Noticed(String),
}

/// A copy of the workspace, with a target folder that the next run reuses.
struct Copy {
    folder: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn of(root: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = root.join("target/mutants/workspace");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        for part in PARTS {
            copy(&root.join(part), &folder.join(part))?;
        }
        Ok(Self { folder, target: root.join("target/mutants/target") })
    }

    fn path_of(&self, mutant: &Mutant) -> PathBuf {
        self.folder.join("room-core/src").join(mutant.file)
    }

    /// Makes the break. Returns the file's earlier text.
    fn apply(&self, mutant: &Mutant) -> Result<String, Box<dyn Error>> {
        let path = self.path_of(mutant);
        let original = fs::read_to_string(&path)?;
        if original.matches(mutant.from).count() != 1 {
            let Mutant { law, file, from, .. } = mutant;
            return Err(format!("{law}: `{from}` does not stand in {file} exactly once").into());
        }
        fs::write(&path, original.replacen(mutant.from, mutant.to, 1))?;
        Ok(original)
    }

    fn test(&self) -> Result<Outcome, Box<dyn Error>> {
        let output = Command::new(env::var("CARGO")?)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            // An interrupted run must not leave half of a build to the next one.
            .env("CARGO_INCREMENTAL", "0")
            // The same cases of each law for all of them.
            .env("PROPTEST_RNG_SEED", "1")
            .args(["test", "--quiet", "--locked", "--package", "room-core"])
            .args(["--lib", "--test", "laws", "--no-fail-fast"])
            .output()?;
        if output.status.success() {
            return Ok(Outcome::Passed);
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let failed = said.lines().find_map(|line| line.strip_suffix(" --- FAILED"));
        match failed.and_then(|line| line.split_whitespace().last()) {
            Some(test) => Ok(Outcome::Noticed(test.to_owned())),
            // It does not compile, and so proves nothing.
            None => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }
}

/// Copies a file, or a folder with all its contents.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutant_still_finds_what_it_breaks() -> std::io::Result<()> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../room-core/src");
        for Mutant { law, file, from, .. } in MUTANTS {
            let found = fs::read_to_string(source.join(file))?.matches(from).count();
            assert_eq!(found, 1, "{law}: `{from}` in {file}");
        }
        Ok(())
    }
}
