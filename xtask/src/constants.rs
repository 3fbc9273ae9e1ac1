//! Writes the constants of the core that the Worker's JavaScript needs into a module.

use std::error::Error;
use std::fs;
use std::path::Path;

use room_core::machines::wire;
use room_core::visit::place;
use room_core::visit::request::USUAL_HEADERS;

/// Writes the module.
pub(crate) fn write(module: &Path) -> Result<(), Box<dyn Error>> {
    // The quotes that Rust writes are those of JavaScript as well.
    let text = format!(
        "// Made of the core by xtask/src/constants.rs.\n\n\
         /** The version of messages between isolates and objects. */\n\
         export const WIRE_VERSION = {};\n\
         /** The headers that most answers to waiting visitors depend on. */\n\
         export const USUAL_HEADERS = {USUAL_HEADERS:?};\n\
         /** What stands behind the address of a form about the visitor's place. */\n\
         export const PLACE_QUERY = {:?};\n",
        wire::VERSION,
        place::QUERY,
    );
    Ok(fs::write(module, text)?)
}
