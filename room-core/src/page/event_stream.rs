//! What an event stream (`text/event-stream`) says to a waiting visitor. It is only a hint: a
//! stream is no check-in, sets no cookie and admits nobody, so a visitor without one loses nothing.
//!
//! A visitor whose turn has come is told to visit once more, in the ordinary way. The stream stays
//! open only while the turn is near. Every other visitor gets the estimate once, and is told to ask
//! again with the next check-in.

use std::fmt::Write;

use crate::admission::{self, Standing};
use crate::base::time::Timestamp;
use crate::page::waiting::PageContext;
use crate::page::{Page, Variables};
use crate::room::settings::Settings;
use crate::ticket::Ticket;

/// One step of the stream, which takes a step each second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Whole events. Without news the text is that of the step before, and is not sent again.
    pub text: String,
    /// Whether the stream stays open after this text.
    pub goes_on: bool,
}

/// Whether the holder of this ticket may be answered by a stream: the room has streams, and the
/// ticket holds a place in the line. Other requests for a stream are ordinary visits, since they
/// may be meant for the site.
pub fn is_for(now: Timestamp, settings: &Settings, ticket: &Ticket) -> bool {
    settings.event_stream && admission::is_waiting(ticket, now) && !ticket.moving
}

/// Returns what the stream says now to the holder of a waiting ticket.
pub fn told(known: &PageContext<'_>, ticket: &Ticket) -> Told {
    match known.standing(ticket) {
        Standing::Called => turn(),
        Standing::Near { estimate_s } => {
            Told { text: estimate(known, ticket, estimate_s), goes_on: true }
        }
        Standing::Far { estimate_s } => {
            Told { text: estimate(known, ticket, estimate_s), goes_on: false }
        }
    }
}

/// Returns the last step of a stream, whose visitor is called: `event: turn`, visit again now.
pub fn turn() -> Told {
    // An event without data is not dispatched (HTML Standard, section 9.2.6).
    Told { text: "event: turn\ndata: {}\n\n".to_owned(), goes_on: false }
}

fn estimate(known: &PageContext<'_>, ticket: &Ticket, estimate_s: Option<u32>) -> String {
    let waiting = known.listening(ticket, estimate_s);
    let json = Page::json(&Variables::of(&waiting));
    let retry_ms = u64::from(known.in_force.settings.refresh_interval_s) * 1_000;
    let mut text = String::with_capacity(json.len() + 48);
    // Writing to a string cannot fail.
    let _ = write!(text, "retry: {retry_ms}\nevent: estimate\ndata: {json}\n\n");
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_for, told};
    use crate::admission::tests::queued;
    use crate::base::time::Timestamp;
    use crate::capacity::cadence::STALE_MS;
    use crate::management::config::parse_rooms;
    use crate::order::order_key::OrderKey;
    use crate::page::waiting::PageContext;
    use crate::queue::view::View;
    use crate::room::event::in_force;
    use crate::ticket::bucket::Bucket;
    use crate::ticket::{NO_ESTIMATE, Ticket, TicketState};

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn ticket() -> Ticket {
        Ticket { interval_s: 5, unconfirmed: false, ..queued(NOW.0 - 60_000, NOW.0 - 3_000) }
    }

    /// A line in which one visitor enters per second, with this many before the ticket.
    fn view(ahead: u64) -> View {
        View {
            made_at: NOW,
            threshold: OrderKey(NOW.0 - 70_000),
            line: [(OrderKey(NOW.0 - 65_000), ahead), (OrderKey(NOW.0 - 60_000), ahead + 1)].into(),
            next_place_s: Some(1),
            admissions_per_1000_minutes: 60_000,
            ..View::default()
        }
    }

    fn step(fields: &Value, view: &View, ticket: &Ticket) -> (String, bool) {
        let mut room = json!({
            "id": "0123456789abcdef0123456789abcdef",
            "zone_id": "0123456789abcdef0123456789abcdef",
            "name": "shop", "host": "shop.example", "event_stream_enabled": true,
            "total_active_users": 900, "new_users_per_minute": 300, "show_position": true,
        });
        for (name, value) in fields.as_object().expect("an object") {
            room[name] = value.clone();
        }
        let room = parse_rooms(&json!([room]).to_string()).expect("valid rooms").remove(0);
        let in_force = in_force(&room, NOW);
        let view = Some(view);
        let known =
            PageContext { now: NOW, room: &room, in_force: &in_force, view, submits: false };
        let told = told(&known, ticket);
        (told.text, told.goes_on)
    }

    /// Returns the kind of the event, whether the stream goes on, and the minutes told.
    fn check(fields: &Value, view: &View, ticket: &Ticket, want: (&str, bool, u64)) {
        let (text, goes_on) = step(fields, view, ticket);
        assert!(text.ends_with("\n\n"), "{text}");
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let data: Value = serde_json::from_str(field("data: ").expect("data")).expect("JSON");
        let minutes = data["cfWaitingRoom"]["waitTime"].as_u64().unwrap_or(0);
        assert_eq!((field("event: ").expect("a kind"), goes_on, minutes), want, "{fields}");
    }

    #[test]
    fn only_who_is_near_is_held_and_only_who_is_called_is_told_to_come() {
        let none = json!({});
        check(&none, &view(19), &ticket(), ("estimate", true, 1));
        check(&none, &view(20), &ticket(), ("estimate", false, 1));
        check(&none, &view(600), &ticket(), ("estimate", false, 10));
        // However long the interval, no stream is held open for longer than a minute.
        let seldom = json!({ "refresh_interval_seconds": 300 });
        check(&seldom, &view(59), &ticket(), ("estimate", true, 1));
        check(&seldom, &view(60), &ticket(), ("estimate", false, 1));
        let free = || View { next_place_s: Some(0), ..view(600) };
        let called = View { threshold: OrderKey(NOW.0 - 60_000), ..free() };
        check(&none, &called, &ticket(), ("turn", false, 0));
        check(&none, &View { open: true, ..free() }, &ticket(), ("turn", false, 0));
        // An old view may call a visitor who is not called any more: the next view decides.
        let old = |age_ms| View { made_at: NOW - age_ms, ..called.clone() };
        check(&none, &old(STALE_MS), &ticket(), ("turn", false, 0));
        check(&none, &old(STALE_MS + 1), &ticket(), ("estimate", true, 10));
    }

    #[test]
    fn who_is_called_comes_when_a_slot_is_free_and_rests_after_finding_none() {
        let called =
            |next_place_s| View { threshold: OrderKey(NOW.0 - 60_000), next_place_s, ..view(0) };
        let none = json!({});
        check(&none, &called(Some(0)), &ticket(), ("turn", false, 0));
        let seen_before =
            |next_place_s, age_ms| View { made_at: NOW - age_ms, ..called(Some(next_place_s)) };
        check(&none, &seen_before(2, 1_999), &ticket(), ("estimate", true, 1));
        check(&none, &seen_before(2, 2_000), &ticket(), ("turn", false, 0));
        check(&none, &called(Some(90)), &ticket(), ("estimate", true, 2));
        check(&none, &called(None), &ticket(), ("estimate", true, 0));
        let rested = Ticket { last_check_in: NOW - 2_999, ..ticket() };
        check(&none, &called(Some(0)), &rested, ("estimate", true, 1));
    }

    #[test]
    fn nobody_is_held_where_nobody_is_near() {
        let far = |fields: Value| check(&fields, &view(3), &ticket(), ("estimate", false, 0));
        far(json!({ "queue_all": true }));
        far(json!({ "queueing_method": "random" }));
        far(json!({ "queueing_method": "reject" }));
        let all = json!({ "queueing_method": "passthrough" });
        check(&all, &view(900), &ticket(), ("turn", false, 0));
    }

    #[test]
    fn the_infinite_queue_sounds_like_the_other_and_calls_nobody() {
        let open = View { open: true, next_place_s: Some(0), ..view(0) };
        let check = |shown_estimate_s: u32, want: (&str, bool, u64)| {
            // The visitor has just joined: what it was told first is what it is told now.
            let (joined_at, infinite) = (ticket().last_check_in, true);
            let ticket = Ticket { joined_at, shown_estimate_s, infinite, ..ticket() };
            check(&json!({}), &open, &ticket, want);
        };
        check(60, ("estimate", true, 1));
        check(61, ("estimate", false, 1));
        check(90, ("estimate", false, 2));
        check(600, ("estimate", false, 10));
        check(NO_ESTIMATE, ("estimate", false, 0));
    }

    #[test]
    fn an_estimate_tells_the_place_and_when_to_ask_again_and_nothing_that_only_time_changes() {
        let (text, _) = step(&json!({}), &view(600), &ticket());
        assert!(text.starts_with("retry: 20000\nevent: estimate\ndata: {\"cfWaitingRoom\":{"));
        assert!(text.contains("\"peopleAhead\":600") && text.contains("Seconds\":5,"), "{text}");
        let before = Ticket { shown_estimate_s: 100, ..ticket() };
        let (smooth, _) = step(&json!({}), &view(600), &before);
        assert!(smooth.contains("\"waitTime\":2,"), "{smooth}");
    }

    #[test]
    fn streams_are_for_those_who_wait_in_rooms_that_have_them() {
        let settings = crate::room::settings::Settings::for_tests;
        let with = crate::room::settings::Settings { event_stream: true, ..settings() };
        assert!(is_for(NOW, &with, &ticket()) && !is_for(NOW, &settings(), &ticket()));
        assert!(!is_for(NOW + 600_000, &with, &ticket()), "the place is lost");
        let inside = Ticket {
            state: TicketState::Accepted,
            accepted_at: NOW,
            counted_bucket: Bucket(1),
            ..ticket()
        };
        assert!(!is_for(NOW, &with, &inside));
    }
}
