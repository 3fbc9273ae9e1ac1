//! Tests of the warnings where Turnstile does not act as a room or an event says.

use serde_json::{Value, json};

use super::{World, event, path_of, room, rooms};

const MODE: &str = "turnstile_mode acts as";
const PAGE: &str = "custom_page_html lacks";

/// Makes a change, and checks that its warnings begin like these.
pub(super) fn check(world: &mut World, method: &str, path: &str, body: &Value, want: &[&str]) {
    let (status, answer) = world.ask(method, path, body);
    assert_eq!(status, 200, "{body}: {answer}");
    let seen = answer["messages"].as_array().expect("messages");
    assert_eq!(seen.len(), want.len(), "{body}: {seen:?}");
    for (seen, want) in seen.iter().zip(want) {
        assert!(seen.to_string().contains(want), "{body}: {seen}");
    }
}

#[test]
fn without_keys_every_mode_is_off() {
    let mut world = World::new();
    let path = path_of(&world.create(&json!({})));
    check(&mut world, "PATCH", &path, &json!({ "turnstile_mode": "visible_managed" }), &[MODE]);
    check(&mut world, "PATCH", &path, &json!({ "description": "a" }), &[MODE]);
    check(&mut world, "PATCH", &path, &json!({ "turnstile_mode": "off" }), &[]);
    check(&mut world, "PATCH", &path, &json!({ "turnstile_mode": "invisible" }), &[MODE]);
    // It is the default now, which nobody has chosen.
    check(&mut world, "PATCH", &path, &json!({ "description": "b" }), &[]);
    let other = room(&json!({ "name": "other", "host": "other.example" }));
    check(&mut world, "POST", &rooms(), &other, &[]);
    for chosen in [
        json!({ "turnstile_action": "infinite_queue" }),
        json!({ "turnstile_action": "log", "ticket_sharing": "challenge" }),
    ] {
        check(&mut world, "PATCH", &path, &chosen, &[MODE]);
    }
    let none = json!({ "ticket_sharing": "allow", "turnstile_mode": "off" });
    check(&mut world, "PATCH", &path, &none, &[]);
    world.registry.deployment.can_challenge = true;
    check(&mut world, "PATCH", &path, &json!({ "turnstile_mode": "invisible" }), &[]);
}

#[test]
fn without_keys_what_an_event_chooses_is_off_too() {
    let mut world = World::new();
    let room = path_of(&world.create(&json!({})));
    let events = format!("{room}/events");
    check(&mut world, "POST", &events, &event(&json!({})), &[]);
    let made = world.get("GET", &events, &json!(null))[0]["id"].clone();
    let path = format!("{events}/{}", made.as_str().expect("an id"));
    let gate = json!({ "turnstile_action": "infinite_queue" });
    check(&mut world, "PATCH", &path, &gate, &[MODE]);
    check(&mut world, "PUT", &path, &event(&json!({})), &[]);
    check(&mut world, "PATCH", &path, &json!({ "turnstile_mode": "invisible" }), &[MODE]);
    check(&mut world, "PATCH", &path, &json!({ "turnstile_mode": "off" }), &[]);
    // The gate of an event acts with the room's mode, which is chosen to be off.
    world.get("PATCH", &room, &json!({ "turnstile_mode": "off" }));
    let with_mode_of_room = json!({ "turnstile_mode": null, "turnstile_action": "infinite_queue" });
    check(&mut world, "PATCH", &path, &with_mode_of_room, &[]);
    world.get("DELETE", &path, &json!(null));
    let own = json!({ "turnstile_mode": "visible_managed" });
    check(&mut world, "POST", &events, &event(&own), &[MODE]);
    world.registry.deployment.can_challenge = true;
    let later = json!({
        "name": "later",
        "event_start_time": "2026-12-02T18:00:00Z",
        "event_end_time": "2026-12-02T20:00:00Z",
        "turnstile_mode": "visible_managed",
    });
    check(&mut world, "POST", &events, &event(&later), &[]);
}

#[test]
fn a_page_without_the_challenge_of_a_gate_lets_nobody_join() {
    let mut world = World::new();
    world.registry.deployment.can_challenge = true;
    let path = path_of(&world.create(&json!({})));
    let gate = json!({ "turnstile_action": "infinite_queue" });
    check(&mut world, "PATCH", &path, &gate, &[]);
    let page = |html: &str| json!({ "custom_page_html": html });
    check(&mut world, "PATCH", &path, &page("<p>Wait."), &[PAGE]);
    check(&mut world, "PATCH", &path, &page("{{turnstile}}"), &[PAGE]);
    check(&mut world, "PATCH", &path, &page("{{{turnstile}}}"), &[]);
    check(&mut world, "PATCH", &path, &page(""), &[]);

    let events = format!("{path}/events");
    check(&mut world, "POST", &events, &event(&page("<p>Wait.")), &[PAGE]);
    let event = format!("{events}/{}", world.get("GET", &events, &json!(null))[0]["id"]);
    let event = event.replace('"', "");
    check(&mut world, "PATCH", &event, &page("{{{turnstile}}}"), &[]);
    check(&mut world, "PATCH", &event, &page("<p>"), &[PAGE]);
    check(&mut world, "PATCH", &event, &json!({ "turnstile_action": "log" }), &[]);
    check(&mut world, "PATCH", &event, &json!({ "turnstile_action": null }), &[PAGE]);
    check(&mut world, "PATCH", &path, &json!({ "turnstile_action": "log" }), &[]);
    let details = world.get("GET", &format!("{event}/details"), &json!(null));
    assert_eq!(details["turnstile_action"], "log");
}

/// The room changes after its event, and the event's page is not written again.
#[test]
fn what_the_page_of_an_event_lacks_is_told_when_the_room_begins_to_need_it() {
    const EVENT: &str = "The event sale: custom_page_html";
    let mut world = World::new();
    world.registry.deployment.can_challenge = true;
    let path = path_of(&world.create(&json!({})));
    let page = |html: &str| json!({ "custom_page_html": html });
    let events = format!("{path}/events");
    check(&mut world, "POST", &events, &event(&page("<p>Sale.")), &[]);
    let event = world.get("GET", &events, &json!(null))[0]["id"].clone();
    let event = format!("{events}/{}", event.as_str().expect("an id"));

    let gate = |action: &str| json!({ "turnstile_action": action });
    check(&mut world, "PATCH", &path, &gate("infinite_queue"), &[EVENT]);
    check(&mut world, "PATCH", &path, &page("<p>Wait."), &[PAGE, EVENT]);
    check(&mut world, "PATCH", &path, &page("{{{turnstile}}}"), &[EVENT]);
    let turns = |minutes: u32| json!({ "confirm_turn_minutes": minutes });
    check(&mut world, "PATCH", &path, &turns(2), &["custom_page_html has", EVENT, EVENT]);
    check(&mut world, "PATCH", &path, &turns(0), &[EVENT]);
    let form = "{{#invitationAsked}}<form method=post action=?waiting-room-place>\
                <button name=act value=join></button></form>{{/invitationAsked}}";
    let invited = json!({ "custom_page_html": form, "turnstile_action": "log",
                          "invitation_groups": [{ "name": "members" }], "invitation_only": true });
    check(&mut world, "PATCH", &path, &invited, &[EVENT]);
    check(&mut world, "PATCH", &event, &page("<p>Sold."), &["custom_page_html has no form"]);
    let all = json!({ "invitation_only": false, "turnstile_action": "infinite_queue" });
    check(&mut world, "PATCH", &path, &all, &[PAGE, EVENT]);

    // Without a page of its own the event has the room's, which is named once.
    check(&mut world, "PATCH", &event, &json!({ "custom_page_html": null }), &[PAGE]);
    check(&mut world, "PATCH", &path, &json!({ "description": "a" }), &[PAGE]);
    check(&mut world, "PATCH", &path, &gate("log"), &[]);
    check(&mut world, "PATCH", &event, &gate("infinite_queue"), &[PAGE]);
    check(&mut world, "PATCH", &path, &page("<p>Wait."), &[EVENT]);
    check(&mut world, "PATCH", &event, &json!({ "suspended": true }), &[PAGE]);
    check(&mut world, "PATCH", &path, &page("<p>Still."), &[]);
    check(&mut world, "PATCH", &event, &json!({ "suspended": false }), &[PAGE]);
    world.seconds = 1_800_000_000;
    check(&mut world, "PATCH", &path, &page("<p>After."), &[]);
}

#[test]
fn a_name_that_is_no_variable_is_told_with_the_one_that_was_meant() {
    let mut world = World::new();
    world.registry.deployment.can_challenge = true;
    let path = path_of(&world.create(&json!({})));
    let page = |html: &str| json!({ "custom_page_html": html });
    let meant = "custom_page_html, line 1, column 4: there is no variable `waittime`: it prints \
                 nothing and is false; did you mean `waitTime`?";
    check(&mut world, "PATCH", &path, &page("<p>{{waittime}}"), &[meant]);
    check(&mut world, "PATCH", &path, &page("<p>{{waitTime}}"), &[]);
    let preview = format!("{}/preview", rooms());
    let body = json!({ "custom_html": "<p>{{waittime}}" });
    check(&mut world, "POST", &preview, &body, &["\"custom_html, line 1"]);
}
