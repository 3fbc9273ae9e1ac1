//! Tests of the warnings about what events make of their room's settings.

use serde_json::{Value, json};

use super::turnstile::check;
use super::{World, event, patched, path_of};
use crate::base::time::Timestamp;

/// Makes a room with an event, and returns the paths of both.
fn with_event(world: &mut World, patch: &Value) -> (String, String) {
    let room = path_of(&world.create(&json!({})));
    let events = format!("{room}/events");
    let made = world.get("POST", &events, &event(patch));
    (room, format!("{events}/{}", made["id"].as_str().expect("an id")))
}

/// Sets the clock to a time on the day of the event.
fn at(world: &mut World, time: &str) {
    let now: Timestamp = format!("2026-12-01T{time}Z").parse().expect("a time");
    world.seconds = now.0 / 1_000;
}

#[test]
fn a_change_of_the_room_that_its_event_overrides_is_told() {
    let mut world = World::new();
    let own = json!({
        "prequeue_start_time": "2026-12-01T17:30:00Z",
        "queueing_method": "random",
        "total_active_users": 90,
        "new_users_per_minute": 30,
        "disable_session_renewal": false,
        "page_message": "",
    });
    let (room, sale) = with_event(&mut world, &own);
    let method = |method: &str| json!({ "queueing_method": method });
    let told = |names: &str| {
        format!(
            "The event sale has its own {names} until 2026-12-01T20:00:00.000Z: that counts, not \
             the room's."
        )
    };
    at(&mut world, "17:29:00");
    check(&mut world, "PATCH", &room, &method("reject"), &[]);
    at(&mut world, "17:30:00");
    check(&mut world, "PATCH", &room, &method("fifo"), &[&told("queueing_method")]);
    check(&mut world, "PATCH", &room, &method("fifo"), &[]);
    at(&mut world, "18:00:00");
    // What the event has not, and what stays as it is, needs no warning.
    let mixed = json!({
        "queueing_method": "fifo", "session_duration": 9, "total_active_users": 800,
        "new_users_per_minute": 200, "page_message": "News", "page_text": "Hello",
    });
    let limits = told("total_active_users, new_users_per_minute, page_message");
    check(&mut world, "PATCH", &room, &mixed, &[&limits]);
    let renewal = json!({ "disable_session_renewal": true });
    check(&mut world, "PATCH", &room, &renewal, &[&told("disable_session_renewal")]);
    world.get("PATCH", &sale, &json!({ "suspended": true }));
    check(&mut world, "PATCH", &room, &method("reject"), &[]);
    world.get("PATCH", &sale, &json!({ "suspended": false }));
    let suspended = json!({ "suspended": true, "queueing_method": "random" });
    check(&mut world, "PATCH", &room, &suspended, &[]);
    check(&mut world, "PATCH", &room, &json!({ "suspended": false }), &[]);
    at(&mut world, "20:00:00");
    check(&mut world, "PATCH", &room, &method("fifo"), &[]);
}

#[test]
fn a_change_that_makes_a_draw_anew_is_told() {
    const BEFORE: &str = "Lots are drawn anew: publish the new draw_commitment.";
    const AFTER: &str = "All who still wait and joined before event_start_time are drawn anew, \
                         from prequeue_start_time on: publish the new draw_commitment.";
    const LATER: &str = "All who join from the old event_start_time until the new one take part in \
                         another draw: publish the new draw_commitment.";
    let moved = |now: &str, patch: &Value, want: &[&str]| {
        let mut world = World::new();
        let draws = json!({
            "prequeue_start_time": "2026-12-01T17:30:00Z", "shuffle_at_event_start": true,
        });
        let (_, sale) = with_event(&mut world, &draws);
        at(&mut world, now);
        check(&mut world, "PATCH", &sale, patch, want);
        // Nothing more is changed, and a whole event is judged alike.
        check(&mut world, "PATCH", &sale, patch, &[]);
        world.get("PUT", &sale, &event(&json!({ "name": "other" })));
        world.get("PUT", &sale, &event(&draws));
        check(&mut world, "PUT", &sale, &patched(event(&draws), patch), want);
    };
    let time = |time: &str| json!(format!("2026-12-01T{time}Z"));
    let start = |at: &str| json!({ "event_start_time": time(at) });
    let prequeue = |at: &str| json!({ "prequeue_start_time": time(at) });
    let both = json!({
        "prequeue_start_time": time("18:30:00"), "event_start_time": time("18:40:00"),
    });
    let late = json!({ "suspended": true, "event_start_time": time("18:10:00") });
    let end = json!({ "event_end_time": time("20:30:00"), "page_message": "News" });
    let none = json!({ "shuffle_at_event_start": false, "event_start_time": time("18:10:00") });

    moved("17:20:00", &start("18:10:00"), &[]);
    moved("17:40:00", &start("18:10:00"), &[BEFORE]);
    moved("17:40:00", &prequeue("17:20:00"), &[BEFORE]);
    moved("17:40:00", &prequeue("17:50:00"), &[BEFORE]);
    moved("17:40:00", &both, &[BEFORE]);
    for unmoved in [&late, &end, &none] {
        moved("17:40:00", unmoved, &[]);
        moved("18:05:00", unmoved, &[]);
    }
    moved("18:05:00", &both, &[AFTER]);
    moved("18:05:00", &prequeue("17:50:00"), &[AFTER]);
    moved("18:05:00", &start("17:50:00"), &[AFTER]);
    // Whoever was drawn keeps the place.
    moved("18:05:00", &start("18:10:00"), &[LATER]);
    moved("18:05:00", &start("18:03:00"), &[LATER]);
    moved("18:05:00", &prequeue("17:20:00"), &[]);
    moved("20:00:00", &both, &[]);
}
