//! The fields of a room that say what the built-in page shows of its site.

use serde_json::{Value, json};

use crate::schemas::{ours, text};

/// Adds the fields to the schema of a room.
pub fn added_to(mut room: Value) -> Value {
    let form = |description: &str| {
        ours(json!({ "type": "string", "default": "", "description": description }))
    };
    let fields = json!({
        "page_name": ours(text(100, "The name on the built-in page; empty: the host.")),
        "page_logo": form("Its picture, up to 4 KiB: data:image/...;base64,..."),
        "page_color": form("Its colour, like #0f766e."),
        "page_text": ours(text(500, "A text for everybody who waits.")),
        "page_message": ours(text(500, "News for everybody who waits.")),
        "page_help_url": form("Where visitors find help: https://..."),
    });
    let added = fields.as_object().cloned().unwrap_or_default();
    room["properties"].as_object_mut().expect("properties").extend(added);
    room
}
