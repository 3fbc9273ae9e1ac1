//! Tables of what an answer sets and forwards, for each outcome of a visit.

use serde_json::json;

use super::{AnswerSource, ResponseContext};
use crate::admission::tests::queued;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::keys::key_ring::{KeyRing, NONCE_BYTES};
use crate::machines::isolate::Outcome;
use crate::management::config::parse_rooms;
use crate::page::{Page, Words};
use crate::room::Room;
use crate::room::coverage::Coverage;
use crate::room::event::InForce;
use crate::room::language::Language;
use crate::room::settings::Settings;
use crate::room::zone_settings::ZoneSettings;
use crate::ticket::client::ClientMark;
use crate::ticket::{Ticket, TicketState};
use crate::visit::request::RequestHead;
use crate::visit::verdict::{Forward, Verdict};

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const URL: &str = "https://shop.example/tickets?seat=7&cf_wr_turnstile=t";

struct Source;

impl AnswerSource for Source {
    fn header(&self, _name: &str) -> String {
        String::new()
    }

    fn nonce(&self) -> [u8; NONCE_BYTES] {
        [7; NONCE_BYTES]
    }

    fn texts(&mut self, _language: Language) -> Option<&(Words, Page)> {
        None
    }
}

fn shop(change: &serde_json::Value) -> Room {
    let mut room = json!({
        "id": "0123456789abcdef0123456789abcdef",
        "zone_id": "0123456789abcdef0123456789abcdef",
        "name": "shop",
        "host": "shop.example",
        "total_active_users": 9,
        "new_users_per_minute": 8,
        "session_duration": 5,
    });
    for (name, value) in change.as_object().unwrap() {
        room[name] = value.clone();
    }
    parse_rooms(&json!([room]).to_string()).unwrap().remove(0)
}

fn inside() -> Ticket {
    let counted_bucket = Settings::for_tests().bucket_at(NOW);
    let waited = Ticket { unconfirmed: false, shown_estimate_s: 0, ..queued(NOW.0, NOW.0) };
    Ticket { state: TicketState::Accepted, accepted_at: NOW, counted_bucket, ..waited }
}

/// The verdict on a visit of `room` that ended so; `passed` is what became of its token.
fn verdict(room: Room, cookies: &str, passed: Option<bool>, outcome: Outcome) -> Verdict {
    let coverage = Coverage::new(vec![room]);
    let room = coverage.lookup(URL).unwrap().unwrap();
    let in_force = InForce::of_settings(&room.settings);
    let context = ResponseContext {
        now: NOW,
        url: URL,
        cookies,
        head: RequestHead { method: "GET", ..RequestHead::default() },
        passed,
        room,
        in_force: &in_force,
        view: None,
        zone: ZoneSettings::default(),
        page: None,
        coverage: &coverage,
        client: ClientMark(5),
        site_key: "site",
    };
    context.verdict(&mut KeyRing::parse(&"1".repeat(64)).unwrap(), &mut Source, outcome)
}

/// The visitor's new cookie, without its sealed value: `Max-Age=...; ...`.
fn attributes(set_cookie: &str) -> &str {
    let (name, rest) = set_cookie.split_once('=').unwrap();
    assert_eq!(name, "__cfwaitingroom");
    rest.split_once("; ").unwrap().1
}

#[test]
fn a_cookie_lasts_as_long_as_its_ticket_can_be_of_use() {
    let set = |ticket: Ticket| {
        let outcome = Outcome::PassWith(ticket);
        match verdict(shop(&json!({})), "", None, outcome) {
            Verdict::Forward(Forward { set_cookie: Some(cookie), .. }) => {
                attributes(&cookie).to_owned()
            }
            other => panic!("{other:?}"),
        }
    };
    let settings = shop(&json!({})).settings;
    let session_s = 5 * MINUTE_MS / 1_000 + settings.bucket_width_s();
    let rest = "HttpOnly; SameSite=None; Secure; Partitioned";
    assert_eq!(set(inside()), format!("Path=/; Max-Age={session_s}; {rest}"));
    // Five minutes beyond the check-in that is due in 20 s.
    assert_eq!(set(queued(NOW.0, NOW.0)), format!("Path=/; Max-Age=320; {rest}"));
}

#[test]
fn whoever_brought_a_token_comes_again_with_the_ticket_where_it_is_new() {
    let check = |outcome: Outcome, sets: bool| {
        let what = format!("{outcome:?}");
        match verdict(shop(&json!({})), "", Some(true), outcome) {
            Verdict::Respond(answer) => {
                let header = |name| answer.headers.iter().find(|(one, _)| *one == name);
                assert_eq!(answer.status, 303, "{what}");
                let (_, to) = header("location").unwrap();
                assert_eq!(to, URL, "{what}");
                assert_eq!(header("set-cookie").is_some(), sets, "{what}");
            }
            other => panic!("{what}: {other:?}"),
        }
    };
    let ticket = queued(NOW.0, NOW.0);
    check(Outcome::PassWith(inside()), true);
    check(Outcome::Wait { ticket: ticket.clone(), counted: true }, true);
    check(Outcome::Wait { ticket: ticket.clone(), counted: false }, false);
    check(Outcome::InfiniteQueue { ticket: ticket.clone(), counted: true }, true);
    check(Outcome::InfiniteQueue { ticket, counted: false }, false);
    check(Outcome::Pass, false);
    check(Outcome::Reject, false);
}

#[test]
fn the_origin_gets_no_token_and_no_ticket_where_the_room_says_so() {
    let forwarded = |change: serde_json::Value| {
        let cookies = "a=1; __cfwaitingroom=secret; b=2";
        match verdict(shop(&change), cookies, None, Outcome::Pass) {
            Verdict::Forward(forward) => forward,
            other => panic!("{other:?}"),
        }
    };
    let plain = forwarded(json!({}));
    assert_eq!(plain.url.as_deref(), Some("https://shop.example/tickets?seat=7"));
    assert_eq!((plain.cookies, plain.set_cookie, plain.heeds_commands), (None, None, false));
    assert_eq!(forwarded(json!({"strip_cookie": true})).cookies.as_deref(), Some("a=1; b=2"));
    assert!(forwarded(json!({"enabled_origin_commands": ["revoke"]})).heeds_commands);
}
