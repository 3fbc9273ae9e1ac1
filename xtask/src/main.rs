//! Builds the Worker: its two modules of wasm by cargo, their JavaScript glue by wasm-bindgen, the
//! modules of the page's texts and of the core's constants.
//!
//! `cargo run -p xtask -- build` writes the product to `build/worker/`; `build --debug` writes a
//! build with the panic hooks of the tests to `build/worker-debug/`, and `build --names` the
//! product with the names of its functions, for profiles, to `build/worker-named/`. These
//! refuse a wrong `rooms.json`. `rehearsal` writes the module that rehearses events to
//! `build/rehearsal/`, `transparency` that of the logs of admissions to `build/transparency/`. All
//! keep the glue of the last run if the wasm is the same. `mutants` breaks each law of admission on
//! purpose and demands that a test fails.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;
use std::{env, fs};

use wasm_bindgen_cli_support::Bindgen;

mod constants;
mod languages;
mod mutants;
mod rooms;

const USAGE: &str = "build [--debug | --names] | rehearsal | transparency | mutants [<law>]";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["build"] => build(Flavour::Release),
        ["build", "--debug"] => build(Flavour::Debug),
        ["build", "--names"] => build(Flavour::Named),
        ["rehearsal"] => root().and_then(|root| rehearsal(&root)),
        ["transparency"] => root().and_then(|root| transparency(&root)),
        ["mutants"] => root().and_then(|root| mutants::run(&root, None)),
        ["mutants", law] => root().and_then(|root| mutants::run(&root, Some(law))),
        _ => {
            eprintln!("usage: cargo run -p xtask -- {USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The three builds. The panic hooks exist in `Debug` alone, so no deployment can carry them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavour {
    Release,
    Named,
    Debug,
}

impl Flavour {
    fn cargo_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Release | Self::Named => &["--release"],
            Self::Debug => &["--features", "panic-hook-tests"],
        }
    }

    /// The folder of this build, below cargo's target folder.
    fn profile_folder(self) -> &'static str {
        match self {
            Self::Release | Self::Named => "release",
            Self::Debug => "debug",
        }
    }

    fn output_folder(self) -> &'static str {
        match self {
            Self::Release => "build/worker",
            Self::Named => "build/worker-named",
            Self::Debug => "build/worker-debug",
        }
    }
}

/// A module of the Worker. `src/lib.rs` says what is in it.
#[derive(Clone, Copy)]
struct Module {
    package: &'static str,
    cargo_arguments: &'static [&'static str],
    /// The folder of its glue, below that of the build.
    folder: &'static str,
    /// The name of its files.
    name: &'static str,
    /// Whether its caller gives the wasm to it, once it is needed.
    is_late: bool,
}

const VISITS: Module = Module {
    package: "waiting-room",
    cargo_arguments: &["--no-default-features", "--features", "visits"],
    folder: "gen",
    name: "waiting_room",
    is_late: false,
};
const CENTRAL: Module = Module {
    package: "central",
    cargo_arguments: &[],
    folder: "central",
    name: "central",
    is_late: true,
};

/// Returns the folder of the checkout.
fn root() -> Result<PathBuf, Box<dyn Error>> {
    // `cargo run` sets it. It is read now and not at compile time, so that a moved checkout builds.
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    Ok(package.parent().ok_or("xtask has no parent folder")?.to_owned())
}

fn build(flavour: Flavour) -> Result<(), Box<dyn Error>> {
    let root = root()?;
    rooms::check(&root.join("rooms.json"))?;
    let output = root.join(flavour.output_folder());
    for module in [VISITS, CENTRAL] {
        let arguments = [module.cargo_arguments, flavour.cargo_arguments()].concat();
        let built = compiled(&root, module.package, &arguments)?;
        let wasm = built.join(flavour.profile_folder()).join(format!("{}.wasm", module.name));
        let folder = output.join(module.folder);
        if renew(&wasm, &folder, || generate(&wasm, &folder, module, flavour))? {
            let name = format!("{}/{}", flavour.output_folder(), module.folder);
            say_ready(&name, &folder.join(format!("{}_bg.wasm", module.name)))?;
        }
    }
    let made = output.join(VISITS.folder);
    constants::write(&made.join("constants.js"))?;
    languages::pack(&root.join("templates"), &made.join("languages.js"))
}

/// Builds the module that rehearses events, for Node and browsers, optimized for speed.
fn rehearsal(root: &Path) -> Result<(), Box<dyn Error>> {
    module(root, REHEARSAL, "simulator", &["--profile", "simulator"])
}

/// Builds the module of the logs of admissions, for the Worker, Node and browsers.
fn transparency(root: &Path) -> Result<(), Box<dyn Error>> {
    module(root, TRANSPARENCY, "release", &["--release"])
}

/// Builds a package as a module that its caller gives the wasm to.
fn module(
    root: &Path,
    name: &str,
    profile_folder: &str,
    arguments: &[&str],
) -> Result<(), Box<dyn Error>> {
    let built = compiled(root, name, arguments)?;
    let wasm = built.join(profile_folder).join(format!("{name}.wasm"));
    let output = root.join("build").join(name);
    let is_new = renew(&wasm, &output, || {
        let mut glue = Bindgen::new();
        glue.input_path(&wasm).out_name(name).typescript(false).remove_name_section(true);
        Ok(glue.web(true)?.generate(&output)?)
    })?;
    if is_new {
        say_ready(&format!("build/{name}"), &output.join(format!("{name}_bg.wasm")))?;
    }
    Ok(())
}

/// Compiles the library of a package to wasm. Returns the folder below which each profile has its
/// own.
///
/// It is compiled as a `cdylib` alone: with an `rlib` beside it, Cargo leaves `lto` out without a
/// word.
fn compiled(root: &Path, package: &str, arguments: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
    // The wasm is always built in the default folder, wherever native builds go.
    let target = root.join("target");
    let status = Command::new(env::var("CARGO")?)
        .current_dir(root)
        .args(["rustc", "--package", package, "--lib", "--locked"])
        .args(["--crate-type", "cdylib", "--target", WASM_TARGET])
        .arg("--target-dir")
        .arg(&target)
        .args(arguments)
        .status()?;
    if !status.success() {
        return Err(format!("cargo build for {WASM_TARGET} failed ({status})").into());
    }
    Ok(target.join(WASM_TARGET))
}

/// Makes the glue of a wasm again, unless this program has made it from the same one. Returns
/// whether it did.
fn renew(
    wasm: &Path,
    output: &Path,
    generate: impl FnOnce() -> Result<(), Box<dyn Error>>,
) -> Result<bool, Box<dyn Error>> {
    let stamp_file = output.join("stamp");
    let stamp = stamp(wasm)?;
    if fs::read_to_string(&stamp_file).is_ok_and(|last| last == stamp) {
        return Ok(false);
    }
    if output.exists() {
        fs::remove_dir_all(output)?;
    }
    generate()?;
    fs::write(stamp_file, stamp)?;
    Ok(true)
}

fn say_ready(name: &str, wasm: &Path) -> Result<(), Box<dyn Error>> {
    println!("xtask: {name} ready, wasm {} KB", fs::metadata(wasm)?.len().div_ceil(1024));
    Ok(())
}

/// Writes size and time of the wasm and of this program. When either changes, the glue is made
/// again.
fn stamp(wasm: &Path) -> Result<String, Box<dyn Error>> {
    let mut lines = String::new();
    for file in [wasm.to_path_buf(), env::current_exe()?] {
        let metadata = fs::metadata(&file)?;
        let modified = metadata.modified()?.duration_since(SystemTime::UNIX_EPOCH)?;
        writeln!(lines, "{} {}", metadata.len(), modified.as_nanos())?;
    }
    Ok(lines)
}

/// Writes the glue. `src/part.js` needs two of its options: to reset the instance after a trap, and
/// to notice an abort in every exported function.
fn generate(
    wasm: &Path,
    output: &Path,
    module: Module,
    flavour: Flavour,
) -> Result<(), Box<dyn Error>> {
    let mut glue = Bindgen::new();
    glue.input_path(wasm)
        .out_name(module.name)
        .typescript(false)
        .remove_name_section(flavour == Flavour::Release)
        .reset_state_function(true)
        .force_enable_abort_handler(true);
    if module.is_late {
        return Ok(glue.web(true)?.generate(output)?);
    }
    glue.module(true)?.generate(output)?;
    plain_import(&output.join(format!("{}.js", module.name)))
}

/// Replaces the source-phase import of the wasm by the plain one that workerd and wrangler know.
fn plain_import(glue: &PathBuf) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(glue)?;
    if text.matches(SOURCE_IMPORT).count() != 1 {
        return Err(format!("{} has no single `{SOURCE_IMPORT}`", glue.display()).into());
    }
    Ok(fs::write(glue, text.replace(SOURCE_IMPORT, "import "))?)
}

const REHEARSAL: &str = "rehearsal";
const TRANSPARENCY: &str = "transparency";
const SOURCE_IMPORT: &str = "import source ";
const WASM_TARGET: &str = "wasm32-unknown-unknown";
