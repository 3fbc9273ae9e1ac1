//! Laws of the configuration: our rooms are valid, error texts are pinned, nothing panics.

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use room_core::management::config::{branding, parse_rooms, room_table};
use serde_json::{Map, Value};

#[test]
fn the_checked_in_rooms_are_valid() {
    let rooms = parse_rooms(include_str!("../../rooms.json")).expect("valid rooms");
    let hosts = rooms[0].routes.iter().map(|route| route.host.as_str()).collect::<Vec<_>>();
    assert_eq!(rooms.len(), 1);
    assert_eq!(hosts[0], "localhost");
    assert_eq!(hosts.len(), 6, "one address for each of the demo's visitors: {hosts:?}");
}

/// The texts are what owners read and the management API answers: a change of a message is a
/// change of the product, a change of a code or pointer breaks its clients.
#[test]
fn the_errors_of_very_bad_rooms_are_pinned() {
    let errors = parse_rooms(include_str!("../../tests/golden/room_errors_input.json"));
    let errors = serde_json::to_value(errors.expect_err("bad rooms")).expect("errors are JSON");
    let golden = include_str!("../../tests/golden/room_errors.json");
    let golden = serde_json::from_str::<Value>(golden).expect("a JSON file");
    assert_eq!(errors, golden, "the errors are now:\n{errors:#}");
}

/// The names of all fields of a room, and of what is within `cookie_attributes`.
fn names() -> Vec<&'static str> {
    let fields = [room_table::MARKS, branding::MARKS].concat();
    let names = fields.iter().map(|mark| mark.name);
    names.chain(["next_event_start_time", "samesite", "secure"]).collect()
}

/// Any JSON value; objects often have the names of fields, texts often nearly fit one.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-2..400_i32).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[-a-z0-9_./%{#}*:;äÄ]{0,40}".prop_map(Value::from),
        "[0-9a-f]{32}".prop_map(Value::from),
        select(vec!["/", "localhost", "keep_flowing", "none", "never", "FIFO"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        let name = prop_oneof![8 => select(names()).prop_map(str::to_owned), 1 => any::<String>()];
        let object = btree_map(name, inner.clone(), 0..20)
            .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()));
        prop_oneof![object, vec(inner, 0..4).prop_map(Value::Array)]
    })
}

proptest! {
    #[test]
    fn no_json_panics_and_each_error_says_where(rooms in vec(json(), 0..4)) {
        let rooms = Value::Array(rooms);
        for error in parse_rooms(&rooms.to_string()).err().unwrap_or_default() {
            let (parent, _name) = error.pointer.rsplit_once('/').expect("an error inside a room");
            assert!(rooms.pointer(parent).is_some(), "{error}: no such place");
            assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = parse_rooms(&text);
    }
}
