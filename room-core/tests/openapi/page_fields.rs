//! The fields of a room and of an event that say what the built-in page shows of its site.

use serde_json::{Map, Value, json};

use crate::schemas::{flag, inherited, ours, text};

/// Adds the fields to the schema of a room.
pub fn added_to(mut room: Value) -> Value {
    let added = fields();
    room["properties"].as_object_mut().expect("properties").extend(added);
    room
}

/// Adds them to the schema of an event, which may leave each to its room.
pub fn added_to_event(mut event: Value) -> Value {
    let mut added = fields();
    for schema in added.values_mut() {
        *schema = inherited(schema.take());
    }
    let name = "The event's name on the built-in page; null: its name with spaces.";
    added.insert("page_event_name".to_owned(), inherited(ours(text(100, name))));
    let holds = flag(false, "Everybody new waits until the event ends.");
    added.insert("queue_all".to_owned(), ours(holds));
    event["properties"].as_object_mut().expect("properties").extend(added);
    event
}

fn fields() -> Map<String, Value> {
    let form = |description: &str| {
        ours(json!({ "type": "string", "default": "", "description": description }))
    };
    let fields = json!({
        "page_name": ours(text(100, "The name on the built-in page; empty: the host.")),
        "page_logo": form("Its picture, up to 4 KiB: data:image/...;base64,..."),
        "page_color": form("Its colour, like #0f766e."),
        "page_text": ours(text(4_000, "A text for everybody who waits; in others: [de] ...")),
        "page_message": ours(text(4_000, "News for everybody who waits; likewise.")),
        "page_help_url": form("Where visitors find help: https://..."),
    });
    fields.as_object().cloned().unwrap_or_default()
}
