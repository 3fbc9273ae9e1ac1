//! What is in force in a room before, during and after its events.

use std::rc::Rc;

use serde_json::json;

use super::{
    InForce, PAST_DRAW_MS, Phase, active, commitment, encode_string, give_draw_keys, in_force,
    next, next_change, past_draws, settings_of_objects,
};
use crate::admission::tests::queued;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::keys::key_ring::KeyRing;
use crate::management::config::parse_rooms;
use crate::order::order_key::OrderKey;
use crate::order::shuffle::DrawKey;
use crate::room::Room;
use crate::room::settings::QueueingMethod;
use crate::room::turnstile::{Turnstile, TurnstileMode};

fn room(suspended: bool, event: &serde_json::Value) -> Room {
    let mut one = json!({
        "id": "0123456789abcdef0123456789abcdef",
        "name": "sale",
        "prequeue_start_time": "2026-12-01T17:30:00Z",
        "event_start_time": "2026-12-01T18:00:00Z",
        "event_end_time": "2026-12-01T20:00:00Z",
    });
    for (name, value) in event.as_object().expect("an object") {
        one[name] = value.clone();
    }
    let rooms = json!([{
        "id": "0123456789abcdef0123456789abcdef",
        "zone_id": "0123456789abcdef0123456789abcdef",
        "name": "shop",
        "host": "shop.example",
        "total_active_users": 9,
        "new_users_per_minute": 8,
        "suspended": suspended,
        "events": [one],
    }]);
    parse_rooms(&rooms.to_string()).expect("valid rooms").remove(0)
}

fn at(text: &str) -> Timestamp {
    format!("2026-12-01T{text}Z").parse().expect("a time")
}

#[test]
fn an_event_is_active_from_its_prequeue_to_its_end() {
    let check = |room: &Room, time: &str, want: Option<Phase>| {
        let phase = active(room, at(time)).map(|(_, phase)| phase);
        assert_eq!(phase, want, "{time}");
    };
    let with = |event: serde_json::Value| room(false, &event);
    let prequeued = with(json!({}));
    check(&prequeued, "17:29:59.999", None);
    check(&prequeued, "17:30:00", Some(Phase::Prequeueing));
    check(&prequeued, "17:59:59.999", Some(Phase::Prequeueing));
    check(&prequeued, "18:00:00", Some(Phase::Running));
    check(&prequeued, "19:59:59.999", Some(Phase::Running));
    check(&prequeued, "20:00:00", None);
    let plain = with(json!({ "prequeue_start_time": null }));
    check(&plain, "17:59:59.999", None);
    check(&plain, "18:00:00", Some(Phase::Running));
    check(&with(json!({ "suspended": true })), "18:00:00", None);
    check(&room(true, &json!({})), "18:00:00", None);
}

#[test]
fn an_event_may_begin_and_end_the_challenges() {
    let check = |event: serde_json::Value, mode: TurnstileMode, challenge_required: bool| {
        let room = room(false, &event);
        let running = in_force(&room, at("18:00:00"));
        assert_eq!(
            (running.turnstile.mode, running.settings.challenge_required),
            (mode, challenge_required),
            "{event}"
        );
        let over = in_force(&room, at("20:00:00"));
        assert_eq!(
            (over.turnstile, over.settings.challenge_required),
            (Turnstile::default(), false)
        );
        assert!(!running.ungated().settings.challenge_required);
    };
    let invisible = TurnstileMode::Invisible;
    check(json!({}), invisible, false);
    check(json!({ "turnstile_action": "infinite_queue" }), invisible, true);
    check(json!({ "turnstile_mode": "visible_managed" }), TurnstileMode::VisibleManaged, false);
    let off = json!({ "turnstile_mode": "off", "turnstile_action": "infinite_queue" });
    check(off, TurnstileMode::Off, false);
}

#[test]
fn an_event_may_hold_everybody_until_its_end() {
    let held = room(false, &json!({ "queue_all": true }));
    let check = |time: &str, want: bool| {
        assert_eq!(settings_of_objects(&held, at(time)).queue_all, want, "{time}");
    };
    check("17:29:59", false);
    check("17:30:00", true); // the prequeue
    check("18:00:00", true);
    check("19:59:59", true);
    check("20:00:00", false);
    let off = room(false, &json!({ "queue_all": true, "suspended": true }));
    assert!(!settings_of_objects(&off, at("18:00:00")).queue_all);
}

#[test]
fn what_an_event_does_not_set_is_the_rooms() {
    let check = |event: serde_json::Value, want: (u32, u32, u32, bool)| {
        let room = room(false, &event);
        let seen = room.events[0].applied_to(&room.settings);
        let seen = (
            seen.total_active_users,
            seen.new_users_per_minute,
            seen.session_duration_minutes,
            seen.disable_session_renewal,
        );
        assert_eq!(seen, want, "{event}");
    };
    check(json!({}), (9, 8, 5, false));
    check(json!({ "total_active_users": 7, "new_users_per_minute": 6 }), (7, 6, 5, false));
    check(json!({ "session_duration": 30 }), (9, 8, 30, false));
    check(json!({ "disable_session_renewal": true }), (9, 8, 5, true));
    let methods = room(false, &json!({ "queueing_method": "reject" }));
    let applied = methods.events[0].applied_to(&methods.settings);
    assert_eq!(applied.queueing_method, QueueingMethod::Reject);
}

#[test]
fn pages_show_the_event_while_it_is_active_and_of_the_room_what_it_leaves() {
    let shown = |event: serde_json::Value, time: &str| {
        let mut room = room(false, &event);
        room.branding.name = "Shop".to_owned();
        room.branding.message = "Welcome".to_owned();
        let shown = in_force(&room, at(time)).branding(&room.branding).into_owned();
        [shown.name, shown.event_name, shown.message]
    };
    let names = json!({ "name": "spring_sale-2" });
    assert_eq!(shown(names.clone(), "17:29:59"), ["Shop", "", "Welcome"]);
    for time in ["17:30:00", "18:00:00", "19:59:59"] {
        assert_eq!(shown(names.clone(), time), ["Shop", "spring sale 2", "Welcome"], "{time}");
    }
    assert_eq!(shown(names, "20:00:00"), ["Shop", "", "Welcome"]);
    let own = json!({
        "page_name": "Spring", "page_event_name": "Frühling & Co.", "page_message": "",
    });
    assert_eq!(shown(own, "18:00:00"), ["Spring", "Frühling & Co.", ""]);
    assert_eq!(shown(json!({ "page_event_name": "" }), "18:00:00"), ["Shop", "", "Welcome"]);
}

#[test]
fn a_room_changes_at_the_very_moment_of_its_event() {
    let check = |room: &Room, time: &str, want: (u32, bool)| {
        let InForce { settings, event, .. } = in_force(room, at(time));
        assert_eq!((settings.total_active_users, settings.queue_all), want, "{time}");
        assert_eq!(event, active(room, at(time)), "{time}");
    };
    let mut room = room(false, &json!({ "total_active_users": 7, "new_users_per_minute": 6 }));
    check(&room, "17:29:59.999", (9, false));
    check(&room, "17:30:00", (7, true));
    check(&room, "17:59:59.999", (7, true));
    check(&room, "18:00:00", (7, false));
    check(&room, "19:59:59.999", (7, false));
    check(&room, "20:00:00", (9, false));
    room.settings.queue_all = true;
    check(&room, "18:00:00", (7, true));
    check(&room, "20:00:00", (9, true));
    room.suspended = true;
    check(&room, "18:00:00", (9, true));
}

#[test]
fn what_an_event_leaves_to_its_room_follows_the_room() {
    let mut room = room(false, &json!({ "session_duration": 30 }));
    let seen = |room: &Room| {
        let settings = in_force(room, at("18:00:00")).settings;
        (settings.total_active_users, settings.session_duration_minutes)
    };
    assert_eq!(seen(&room), (9, 30));
    room.settings.total_active_users = 11;
    room.settings.session_duration_minutes = 1;
    assert_eq!(seen(&room), (11, 30));
}

#[test]
fn the_next_change_is_the_next_moment_of_an_event_that_counts() {
    let check = |room: &Room, time: &str, want: Option<&str>| {
        assert_eq!(next_change(room, at(time)), want.map(at), "{time}");
    };
    let mut one = room(false, &json!({}));
    check(&one, "17:29:59.999", Some("17:30:00"));
    check(&one, "17:30:00", Some("18:00:00"));
    check(&one, "18:00:00", Some("20:00:00"));
    check(&one, "20:00:00", None);
    one.suspended = true;
    check(&one, "17:00:00", None);
    check(&room(false, &json!({ "suspended": true })), "17:00:00", None);
    let plain = room(false, &json!({ "prequeue_start_time": null }));
    check(&plain, "17:00:00", Some("18:00:00"));
}

#[test]
fn the_next_event_is_one_that_has_not_started() {
    let check = |event: serde_json::Value, time: &str, want: bool| {
        assert_eq!(next(&room(false, &event), at(time)).is_some(), want, "{time}");
    };
    check(json!({}), "17:45:00", true);
    check(json!({}), "18:00:00", false);
    check(json!({ "suspended": true }), "17:00:00", false);
}

/// The commitment to a draw outlives a rotation of the keys, and no two draws share a key.
#[test]
fn a_draw_keeps_its_key_while_the_oldest_secret_stays() {
    let (one, two) = ("1".repeat(64), "2".repeat(64));
    let key = |keys: &str, event: &serde_json::Value| {
        let mut rooms = [room(false, event)].into();
        give_draw_keys(&mut rooms, &KeyRing::parse(keys).unwrap());
        rooms[0].events[0].draw_key
    };
    let shuffled = json!({ "shuffle_at_event_start": true });
    let drawn = key(&one, &shuffled);
    assert_ne!(drawn, DrawKey::default());
    assert_eq!(key(&format!("{two},{one}"), &shuffled), drawn);
    assert_ne!(key(&format!("{one},{two}"), &shuffled), drawn);
    // What was revealed at one start is worth nothing for another.
    let moved = json!({
        "shuffle_at_event_start": true, "event_start_time": "2026-12-01T18:30:00Z",
    });
    assert_ne!(key(&one, &moved), drawn);
    assert_eq!(key(&one, &json!({})), DrawKey::default(), "draws no lots");
    let commits = |event: &serde_json::Value| {
        let room = room(false, event);
        commitment(room.id, &room.events[0], &KeyRing::parse(&one).unwrap())
    };
    let published = Some(encode_string(&drawn.commitment()));
    assert_eq!((commits(&shuffled), commits(&json!({}))), (published, None));
}

#[test]
fn whoever_waits_when_a_prequeue_begins_takes_part_in_its_draw() {
    let draws = json!({ "shuffle_at_event_start": true });
    let evening = json!({
        "shuffle_at_event_start": true,
        "prequeue_start_time": "2026-12-01T20:30:00Z",
        "event_start_time": "2026-12-01T21:00:00Z",
        "event_end_time": "2026-12-01T22:00:00Z",
    });
    let (room, later) = (room(false, &draws), room(false, &evening));
    let past_draws = past_draws(&room, &later, at("20:10:00"));
    let both = Room { past_draws, ..later };
    let key = |room: &Room, joined: &str, now: &str| {
        in_force(room, at(now)).settings.order_key(&queued(at(joined).0, at(now).0))
    };
    let in_order = |room: &Room, joined: &str, now: &str| {
        assert_eq!(key(room, joined, now), OrderKey::fifo(at(joined)), "{joined} {now}");
    };
    let drawn = |room: &Room, joined: &str, now: &str, from: &str| {
        let place = Timestamp(key(room, joined, now).0);
        assert!(at(from) < place && place < at(from) + 30 * MINUTE_MS, "{joined} {now}");
    };
    in_order(&room, "17:29:40", "17:29:59.999");
    drawn(&room, "17:29:40", "17:30:00", "17:30:00");
    drawn(&room, "17:29:40", "20:30:00", "17:30:00");
    in_order(&room, "18:00:00", "18:00:01");
    // Of two draws the second counts as soon as its prequeue begins.
    for joined in ["17:29:40", "17:45:00"] {
        drawn(&both, joined, "20:29:59.999", "17:30:00");
        drawn(&both, joined, "20:30:00", "20:30:00");
    }
    in_order(&both, "20:10:00", "20:29:59.999");
    drawn(&both, "20:10:00", "20:30:00", "20:30:00");
    drawn(&both, "20:10:00", "22:10:00", "20:30:00");
}

#[test]
fn who_was_drawn_keeps_the_place_whatever_becomes_of_the_event() {
    let draws = json!({ "shuffle_at_event_start": true });
    let before = room(false, &draws);
    let check = |after: Room, now: &str, want: usize| {
        let past_draws = past_draws(&before, &after, at(now));
        assert_eq!(past_draws.len(), want, "{now}");
        let mut rooms = Rc::from([Room { past_draws, ..after }, before.clone()]);
        give_draw_keys(&mut rooms, &KeyRing::parse(&"11".repeat(32)).unwrap());
        let [after, before] = &rooms[..] else { panic!() };
        let of = |room: &Room| in_force(room, at("19:00:00")).settings.shuffles.clone();
        let (of_after, of_before) = (of(after), of(before));
        // The draw is the same to the key, however the room has come by it.
        assert_eq!(of_after.iter().any(|draw| *draw == of_before[0]), want == 1, "{now}");
    };
    let without = |before: &Room| Room { events: Vec::new(), ..before.clone() };
    check(without(&before), "18:00:00", 1);
    check(without(&before), "20:30:00", 1);
    check(without(&before), "17:59:59.999", 0);
    let suspended = json!({ "shuffle_at_event_start": true, "suspended": true });
    check(room(false, &suspended), "18:10:00", 1);
    check(room(false, &json!({})), "18:10:00", 1);
    let next_week = json!({
        "shuffle_at_event_start": true,
        "prequeue_start_time": "2026-12-08T17:30:00Z",
        "event_start_time": "2026-12-08T18:00:00Z",
        "event_end_time": "2026-12-08T20:00:00Z",
    });
    check(room(false, &next_week), "20:30:00", 1);
    // Moved by half an hour, with the same prequeue: the first draw counts for all who were in it.
    let later = json!({
        "shuffle_at_event_start": true, "event_start_time": "2026-12-01T18:30:00Z",
    });
    check(room(false, &later), "18:10:00", 1);
    let moved = Room {
        past_draws: past_draws(&before, &room(false, &later), at("18:10:00")),
        ..room(false, &later)
    };
    assert_eq!(in_force(&moved, at("18:20:00")).settings.shuffles[0].until, at("18:00:00"));
    assert_eq!(past_draws(&before, &before, at("18:10:00")), []);
    let later = Room {
        past_draws: past_draws(&before, &without(&before), at("18:10:00")),
        ..before.clone()
    };
    assert_eq!(past_draws(&later, &before, at("18:20:00")), [], "it is the event's again");
    let gone = without(&later);
    assert_eq!(past_draws(&gone, &gone, at("18:20:00")).len(), 1);
    let month = at("18:00:00") + PAST_DRAW_MS;
    assert_eq!(past_draws(&gone, &gone, month), []);
}
