//! Tables of what an answer sets and forwards, for each outcome of a visit.

use serde_json::json;

use super::{AnswerSource, ResponseContext, not_inside};
use crate::admission::tests::queued;
use crate::base::prefix_budget::ClientPrefix;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::keys::key_ring::{KeyRing, NONCE_BYTES};
use crate::machines::isolate::Outcome;
use crate::management::config::parse_rooms;
use crate::page::response::HttpResponse;
use crate::page::{Page, Words};
use crate::room::Room;
use crate::room::coverage::Coverage;
use crate::room::event::in_force;
use crate::room::language::Language;
use crate::room::settings::Settings;
use crate::room::zone_settings::ZoneSettings;
use crate::ticket::client::ClientMark;
use crate::ticket::contact::Contact;
use crate::ticket::{Ticket, TicketState};
use crate::visit::request::RequestHead;
use crate::visit::turn_notice::TurnMessage;
use crate::visit::verdict::{Forward, Verdict};

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const URL: &str = "https://shop.example/tickets?seat=7&cf_wr_turnstile=t";

/// Has these headers, and the built-in page in English where `texts` is given.
#[derive(Default)]
struct Source {
    headers: Vec<(&'static str, &'static str)>,
    texts: Option<(Words, Page)>,
    network: ClientPrefix,
    /// Whether the room's object takes messages.
    takes: bool,
    /// What it has heard.
    handed: Option<TurnMessage>,
}

impl AnswerSource for Source {
    fn header(&self, name: &str) -> String {
        let found = self.headers.iter().find(|(one, _)| *one == name);
        found.map(|(_, value)| (*value).to_owned()).unwrap_or_default()
    }

    fn network(&self) -> ClientPrefix {
        self.network
    }

    fn nonce(&self) -> [u8; NONCE_BYTES] {
        [7; NONCE_BYTES]
    }

    fn texts(&mut self, _language: Language) -> Option<&(Words, Page)> {
        self.texts.as_ref()
    }

    fn domain_in_ascii(&self, domain: &str) -> String {
        domain.replace('ü', "ue")
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

/// The headers of a request, and the page in English.
fn in_english(headers: &[(&'static str, &'static str)]) -> Source {
    let texts = include_str!("../../../../templates/languages/en-US.json");
    let words = Words::parse(Language::default(), texts).unwrap();
    let page = Page::built_in(&words).unwrap();
    Source { headers: headers.to_vec(), texts: Some((words, page)), ..Source::default() }
}

fn inside() -> Ticket {
    let counted_bucket = Settings::for_tests().bucket_at(NOW);
    let waited = Ticket { unconfirmed: false, shown_estimate_s: 0, ..queued(NOW.0, NOW.0) };
    Ticket { state: TicketState::Accepted, accepted_at: NOW, counted_bucket, ..waited }
}

/// The verdict on a visit of `room` that ended so; `passed` is what became of its token.
fn verdict(room: Room, cookies: &str, passed: Option<bool>, outcome: Outcome) -> Verdict {
    verdict_for("GET", &mut Source::default(), room, cookies, passed, outcome)
}

fn verdict_for(
    method: &str,
    source: &mut Source,
    room: Room,
    cookies: &str,
    passed: Option<bool>,
    outcome: Outcome,
) -> Verdict {
    let coverage = Coverage::new([room].into());
    let room = coverage.lookup(URL).unwrap().unwrap();
    let in_force = in_force(room, NOW);
    let mut context = ResponseContext {
        now: NOW,
        url: URL,
        cookies,
        head: RequestHead { method, ..RequestHead::default() },
        passed,
        room,
        in_force: &in_force,
        view: None,
        zone: ZoneSettings::default(),
        page: None,
        coverage: &coverage,
        client: ClientMark(5),
        turn_notice: room.turn_notice,
        is_handed: false,
        site_key: "site",
    };
    let mut keys = KeyRing::parse(&"1".repeat(64)).unwrap();
    source.handed = context.turn_message(&mut keys, source, &outcome);
    context.is_handed = source.handed.is_some() && source.takes;
    context.verdict(&mut keys, source, outcome)
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
    check(Outcome::InfiniteQueue { ticket: ticket.clone(), counted: false }, false);
    check(Outcome::WithoutPlace(ticket), false);
    check(Outcome::Pass, false);
    check(Outcome::Reject(None), false);
}

#[test]
fn the_icon_of_the_host_is_none_and_other_parts_come_later() {
    let check = |url: &str, want: u16| match not_inside(url) {
        Verdict::Respond(answer) => assert_eq!(answer.status, want, "{url}"),
        other => panic!("{other:?}"),
    };
    check("https://shop.example/favicon.ico", 204);
    check("https://shop.example/favicon.ico?1", 204);
    check("https://shop.example/a/favicon.ico", 503);
    check("https://shop.example/logo.png", 503);
    check("https://shop.example/", 503);
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
    let outcome = Outcome::Pass;
    let both = "__cfwaitingroom-contact=1; a=1; __cfwaitingroom=2";
    match verdict(shop(&json!({"strip_cookie": true})), both, None, outcome) {
        Verdict::Forward(forward) => assert_eq!(forward.cookies.as_deref(), Some("a=1")),
        other => panic!("{other:?}"),
    }
    assert!(forwarded(json!({"enabled_origin_commands": ["revoke"]})).heeds_commands);
}

/// What a page is answered that was asked for with these headers.
fn waits(method: &str, headers: &[(&'static str, &'static str)]) -> (Vec<String>, String) {
    let mut source = in_english(headers);
    let outcome = Outcome::Wait { ticket: queued(NOW.0, NOW.0), counted: true };
    match verdict_for(method, &mut source, shop(&json!({})), "", None, outcome) {
        Verdict::Respond(answer) => {
            let refresh = answer.headers.into_iter().filter(|(name, _)| *name == "refresh");
            (refresh.map(|(_, value)| value).collect(), answer.body)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn browsers_stay_on_the_page_and_all_others_get_the_refresh_header() {
    let check = |headers: &[(&'static str, &'static str)], refresh: &[&str], style: bool| {
        let (seen, body) = waits("GET", headers);
        assert_eq!(seen, refresh, "{headers:?}");
        assert_eq!(body.contains("data-stays"), refresh.is_empty(), "{headers:?}");
        assert_eq!(body.contains("<style>"), style, "{headers:?}");
    };
    let mode = "sec-fetch-mode";
    check(&[], &["20"], true);
    check(&[(mode, "cors")], &["20"], true);
    check(&[(mode, "navigate")], &[], true);
    check(&[(mode, "cors"), ("waiting-room-check-in", "1")], &[], false);
    check(&[("waiting-room-check-in", "1")], &["20"], true);
}

#[test]
fn a_form_comes_back_to_its_page_where_the_room_covers_it() {
    let check = |method: &str, referrer: &'static str, want: &str| {
        let (refresh, body) = waits(method, &[("referer", referrer)]);
        assert_eq!(refresh, [want], "{method} {referrer}");
        assert_eq!(body.contains("data-back"), want != "20", "{method} {referrer}");
    };
    check("POST", "https://shop.example/form", "20; url=https://shop.example/form");
    check("GET", "https://shop.example/form", "20");
    check("POST", "", "20");
    check("POST", "https://elsewhere.example/form", "20");
    check("POST", "https://shop.example/form?cf_wr_turnstile=t", "20");
}

/// A form of another site would come from this one: the site could not tell it from its own.
#[test]
fn only_a_form_of_the_site_itself_can_be_sent_from_the_page() {
    let check = |method: &str, headers: &[(&'static str, &'static str)], want: bool| {
        let (_, body) = waits(method, headers);
        assert_eq!(body.contains("id=\"offer\""), want, "{method} {headers:?}");
        assert_eq!(body.contains("data-typed=\"Your browser"), want, "{method} {headers:?}");
        let submits = method != "GET";
        assert_eq!(body.contains("Nothing was submitted."), submits, "{method} {headers:?}");
    };
    let (mode, site) = (("sec-fetch-mode", "navigate"), "sec-fetch-site");
    check("POST", &[mode, (site, "same-origin")], true);
    check("POST", &[mode, (site, "same-site")], false);
    check("POST", &[mode, (site, "cross-site")], false);
    check("POST", &[mode], false);
    check("PUT", &[mode, (site, "same-origin")], false);
    check("GET", &[mode, (site, "same-origin")], false);
    // A page that is loaded again by its header keeps nothing.
    check("POST", &[(site, "same-origin")], false);
    let check_in = ("waiting-room-check-in", "1");
    check("POST", &[("sec-fetch-mode", "cors"), (site, "same-origin"), check_in], false);
}

#[test]
fn a_check_in_that_enters_does_not_reach_the_site() {
    let status = |headers: &[(&'static str, &'static str)], ticket: Ticket| {
        let mut source = Source { headers: headers.to_vec(), ..Source::default() };
        let outcome = Outcome::PassWith(ticket);
        match verdict_for("GET", &mut source, shop(&json!({})), "", None, outcome) {
            Verdict::Respond(answer) => {
                assert!(answer.headers.iter().any(|(name, _)| *name == "set-cookie"));
                Some((answer.status, answer.body))
            }
            _ => None,
        }
    };
    let check_in = [("waiting-room-check-in", "1")];
    assert_eq!(status(&check_in, inside()), Some((204, String::new())));
    assert_eq!(status(&[], inside()), None);
    // A renewal: the page that asks is one of the site.
    let renewed = Ticket { last_check_in: NOW - 60_000, ..inside() };
    assert_eq!(status(&check_in, renewed), None);
}

/// Who was drawn can check the draw and quote the number, and nothing of it begins anew.
#[test]
fn whoever_is_turned_away_from_a_line_keeps_receipt_and_reference() {
    let sale = json!([{
        "id": "0123456789abcdef0123456789abcdef", "name": "sale",
        "prequeue_start_time": "2027-01-15T07:30:00Z",
        "event_start_time": "2027-01-15T07:50:00Z",
        "event_end_time": "2027-01-15T09:00:00Z", "shuffle_at_event_start": true,
    }]);
    let told = |method: &str, accept: &'static str, outcome: Outcome| {
        let fields =
            json!({ "events": sale, "json_response_enabled": true, "queueing_method": method });
        let mut source = in_english(&[("accept", accept)]);
        match verdict_for("GET", &mut source, shop(&fields), "", None, outcome) {
            Verdict::Respond(answer) => answer,
            other => panic!("{other:?}"),
        }
    };
    let own = || queued(NOW.0 - 15 * MINUTE_MS, NOW.0 - 1_000);
    let rejected = |accept, ticket| told("reject", accept, Outcome::Reject(ticket));
    let page = |ticket| rejected("text/html", ticket);
    let (drawn, new) = (page(Some(own())), page(None));
    for text in ["Receipt for the draw", "Check this draw", "rank: ", "Your reference"] {
        assert!(drawn.body.contains(text) && !new.body.contains(text), "{text}");
    }
    assert!(drawn.body.contains("Not available at the moment"));
    let none = |(name, _): &(&str, String)| *name != "refresh" && *name != "set-cookie";
    assert!(drawn.status == new.status && drawn.headers.iter().all(none), "{drawn:?}");

    let json = |answer: HttpResponse| {
        let answer: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        answer["cfWaitingRoom"].clone()
    };
    let only = "application/json";
    let waits = json(told("fifo", only, Outcome::Wait { ticket: own(), counted: false }));
    let (drawn, new) = (json(rejected(only, Some(own()))), json(rejected(only, None)));
    for key in ["drawCommitment", "drawLot", "drawKey", "drawRank", "reference"] {
        assert!(waits[key].is_string() && drawn[key] == waits[key], "{key}: {drawn}");
        assert!(new[key].is_null(), "{key}: {new}");
    }
    assert_eq!(drawn["refreshIntervalSeconds"], 0);
}

/// Who came with a shorter way before is told so, and nobody else.
#[test]
fn a_page_says_that_it_takes_longer_than_the_ticket_before_had_told() {
    let mut source = in_english(&[]);
    let room = shop(&json!({}));
    let before = Ticket { shown_estimate_s: 600, ..queued(NOW.0 - 1_000_000, NOW.0 - 20_000) };
    let name = "__cfwaitingroom";
    let mut keys = KeyRing::parse(&"1".repeat(64)).unwrap();
    let sealed = keys.seal(NOW, [7; NONCE_BYTES], room.id, name, &before);
    let mut says_longer = |cookies: &str, shown_estimate_s: u32| {
        let ticket = Ticket { shown_estimate_s, last_check_in: NOW, ..before.clone() };
        let outcome = Outcome::Wait { ticket, counted: true };
        match verdict_for("GET", &mut source, room.clone(), cookies, None, outcome) {
            Verdict::Respond(answer) => {
                answer.body.contains("The wait is longer than we estimated")
            }
            other => panic!("{other:?}"),
        }
    };
    let cookies = format!("{name}={sealed}");
    assert!(says_longer(&cookies, 660));
    assert!(!says_longer(&cookies, 580));
    assert!(!says_longer("", 660));
}

/// Who has typed something is told once in a minute, with a counted visit; nobody else costs a
/// message, a cookie or a call.
#[test]
fn what_a_visitor_has_typed_is_handed_over_near_the_head_and_kept_in_the_cookie() {
    const NAME: &str = "__cfwaitingroom-contact";
    let room = shop(&json!({ "turn_notice": "email" }));
    let mut keys = KeyRing::parse(&"1".repeat(64)).unwrap();
    let own = Ticket { unconfirmed: false, ..queued(NOW.0 - 600_000, NOW.0) };
    let mut cookie = |contact: &Contact| {
        let sealed = keys.seal_contact(NOW, [7; NONCE_BYTES], room.id, NAME, contact);
        format!("a=1; {NAME}={sealed}")
    };
    let typed = Contact::new(own.id.visitor(), "a@b.example".to_owned());
    let answered = |takes: bool, room: &Room, cookies: &str, wait_s: u32, counted: bool| {
        let mut source = Source { takes, ..in_english(&[]) };
        let ticket = Ticket { shown_estimate_s: wait_s, ..own.clone() };
        let outcome = Outcome::Wait { ticket, counted };
        let verdict = verdict_for("GET", &mut source, room.clone(), cookies, None, outcome);
        let Verdict::Respond(answer) = verdict else { panic!("{verdict:?}") };
        let is_set = |(name, value): &(&str, String)| {
            *name == "set-cookie" && value.starts_with(NAME) && value.contains("Max-Age=320; ")
        };
        let says = ["Get a message", "send one message to", "is on its way to"];
        let says = says.map(|text| answer.body.contains(text));
        assert!(!answer.body.contains("{{"));
        (says, answer.headers.iter().any(is_set), source.handed)
    };
    let told = |room: &Room, cookies: &str, wait_s: u32, counted: bool| {
        answered(true, room, cookies, wait_s, counted)
    };
    let (asks, given, sent) = ([true, false, false], [false, true, false], [false, false, true]);
    let none = [false; 3];
    assert_eq!(told(&room, "", 600, true), (asks, false, None));
    assert_eq!(told(&room, "", 60, true), (none, false, None));
    assert_eq!(told(&shop(&json!({})), &cookie(&typed), 60, true), (none, false, None));
    assert_eq!(told(&room, &cookie(&typed), 600, true), (given, true, None));
    assert_eq!(told(&room, &cookie(&typed), 60, false), (given, false, None));
    let (says, is_set, handed) = told(&room, &cookie(&typed), 60, true);
    assert_eq!((says, is_set), (sent, true));
    // The page does not promise what the object has not taken.
    assert_eq!(answered(false, &room, &cookie(&typed), 60, true), (given, true, handed.clone()));
    let TurnMessage { id, contact_id, contact, wait_s } = &handed.unwrap();
    assert_eq!(
        (contact.as_str(), *wait_s, id.len(), contact_id.len()),
        ("a@b.example", 60, 32, 32)
    );
    let ticket_id = own.id.to_string();
    assert!(*id != ticket_id && id != contact_id);
    assert_eq!(told(&room, &cookie(&typed.clone().handed(NOW)), 60, true), (sent, true, None));
    let other = Contact { visitor: crate::base::id::VisitorId(1), ..typed };
    assert_eq!(told(&room, &cookie(&other), 60, true), (none, false, None));
    let lottery = shop(&json!({ "turn_notice": "email", "queueing_method": "random" }));
    assert_eq!(told(&lottery, "", 600, true), (none, false, None));
}
