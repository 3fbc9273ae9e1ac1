//! The fields of a room and of an event that say what the built-in page shows of its site.

use room_core::management::config::branding;
use serde_json::{Map, Value, json};

use crate::fields::described;
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
    let empty = json!("");
    let fields = branding::described().into_iter();
    fields.map(|field| (field.mark.name.to_owned(), described(&field, Some(&empty)))).collect()
}
