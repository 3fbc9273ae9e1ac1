//! Packs the texts of `templates/languages/`, and the languages' ways to write numbers, into one
//! JavaScript module. The tests in `tests/languages` check both.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

/// Writes the module: an object with the JSON of each language as a text, by its tag.
///
/// An isolate parses a text only when a visitor reads that language. Nothing is left for `Intl`,
/// whose first use takes a process longer than all the rest of a page.
pub(crate) fn pack(templates: &Path, module: &Path) -> Result<(), Box<dyn Error>> {
    let formats = fs::read_to_string(templates.join("number-formats.json"))?;
    let formats: BTreeMap<String, Map<String, Value>> = serde_json::from_str(&formats)?;
    let mut paths = Vec::new();
    for entry in fs::read_dir(templates.join("languages"))? {
        paths.push(entry?.path());
    }
    paths.sort();
    let mut packed = String::from("export default {\n");
    for path in paths {
        let tag = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut words: Map<String, Value> = serde_json::from_str(&fs::read_to_string(&path)?)?;
        words.extend(formats.get(&*tag).cloned().unwrap_or_default());
        let json = Value::Object(words).to_string();
        // The escapes that Rust writes are escapes of JavaScript as well.
        writeln!(packed, "{tag:?}: {json:?},")?;
    }
    packed.push_str("};\n");
    if fs::read_to_string(module).is_ok_and(|last| last == packed) {
        return Ok(());
    }
    Ok(fs::write(module, packed)?)
}
