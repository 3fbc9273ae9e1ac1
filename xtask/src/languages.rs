//! Packs the texts of `templates/languages/` into one JavaScript module. It may not judge them:
//! tests do.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Writes the module: an object with the JSON of each language as a text, by its tag. A text costs
/// an isolate nothing until somebody reads that language.
pub(crate) fn pack(folder: &Path, module: &Path) -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    let mut packed = String::from("export default {\n");
    for path in paths {
        let tag = path.file_stem().unwrap_or_default().to_string_lossy();
        // No text of JSON holds the end of a line, so these are all that makes the file readable.
        let json: String = fs::read_to_string(&path)?.lines().map(str::trim).collect();
        // The escapes of Rust are escapes of JavaScript as well.
        writeln!(packed, "{tag:?}: {json:?},")?;
    }
    packed.push_str("};\n");
    if fs::read_to_string(module).is_ok_and(|last| last == packed) {
        return Ok(());
    }
    Ok(fs::write(module, packed)?)
}
