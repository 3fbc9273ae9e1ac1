//! Packs the texts of `templates/languages/` into one JavaScript module. The tests in
//! `tests/languages` check the texts.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Writes the module: an object with the JSON of each language as a text, by its tag. An isolate
/// parses a text only when a visitor reads that language.
pub(crate) fn pack(folder: &Path, module: &Path) -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    let mut packed = String::from("export default {\n");
    for path in paths {
        let tag = path.file_stem().unwrap_or_default().to_string_lossy();
        // A string in JSON cannot hold the end of a line, so joining the lines changes no text.
        let json: String = fs::read_to_string(&path)?.lines().map(str::trim).collect();
        // The escapes that Rust writes are escapes of JavaScript as well.
        writeln!(packed, "{tag:?}: {json:?},")?;
    }
    packed.push_str("};\n");
    if fs::read_to_string(module).is_ok_and(|last| last == packed) {
        return Ok(());
    }
    Ok(fs::write(module, packed)?)
}
