//! A visitor's own requests about the session: how long it lasts, and to leave early.
//!
//! Both go to [`PATH`] below the room's own path, since the cookie goes there too. Asking renews
//! nothing and counts nothing. Leaving takes a `POST` whose `Origin` is the site's own. No page can
//! write that header, so no other site makes a visitor leave.

use serde_json::{Value, json};

use super::Visit;
use crate::admission;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::base::url::{is_same_origin, split_url};
use crate::page::response::HttpResponse;
use crate::room::settings::Settings;
use crate::ticket::Ticket;

/// The address of these requests, at the end of a path that the room covers.
pub const PATH: &str = "/_waiting-room/session";

/// The reply to a request to [`PATH`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionReply {
    /// The request is answered with this response.
    Respond(HttpResponse),
    /// The session of this ticket is ended with [`super::end_session`], and then [`left`] answers.
    End(Ticket),
}

/// Whether a request to this URL asks for the session.
pub fn is_asked(url: &str) -> bool {
    url.contains(PATH) && split_url(url).is_some_and(|parts| parts.path.ends_with(PATH))
}

/// Answers a request to [`PATH`] by its method. `session` is the visitor's ticket if it holds a
/// session. `origin` is the header `Origin`, "" if absent.
pub fn reply(visit: &Visit<'_>, session: Option<Ticket>, origin: &str) -> SessionReply {
    let Visit { now, url, head, in_force, .. } = *visit;
    let refused = |status: u16, error: &str| {
        SessionReply::Respond(HttpResponse::of_session(status, &json!({ "error": error }), &[]))
    };
    match (head.method, session) {
        ("GET" | "HEAD", session) => {
            let facts = facts(now, &in_force.settings, session.as_ref());
            let mut response = HttpResponse::of_session(200, &facts, &[]);
            if head.is_head() {
                response.body.clear();
            }
            SessionReply::Respond(response)
        }
        ("POST", _) if !is_origin_of(origin, url) => {
            refused(403, "Only a page of this site can end the session.")
        }
        ("POST", Some(ticket)) => SessionReply::End(ticket),
        ("POST", None) => SessionReply::Respond(left(&[])),
        _ => refused(405, "GET tells of the session, POST ends it."),
    }
}

/// Answers a visitor who is no longer inside; `set_cookies` remove the ticket.
pub fn left(set_cookies: &[String]) -> HttpResponse {
    let facts = json!({ "inside": false, "secondsLeft": 0, "renews": false });
    HttpResponse::of_session(200, &facts, set_cookies)
}

/// Returns whether the visitor is inside, for how long without a further visit, and whether a visit
/// renews the session.
fn facts(now: Timestamp, settings: &Settings, session: Option<&Ticket>) -> Value {
    let ends_at = session.and_then(|ticket| admission::session_end(ticket, now, settings));
    let renews = session.is_some_and(|ticket| renews(settings, ticket));
    json!({
        "inside": ends_at.is_some(),
        "secondsLeft": ends_at.map_or(0, |end| end.since_ms(now) / SECOND_MS),
        "renews": ends_at.is_some() && renews,
    })
}

/// Writes a header with the seconds that the session of this ticket lasts without a further visit,
/// and whether a visit renews it. It is an item of a structured field (RFC 9651) like `300;renews`.
/// `None` if the visitor is not inside.
pub fn header(now: Timestamp, settings: &Settings, ticket: &Ticket) -> Option<String> {
    let seconds = admission::session_end(ticket, now, settings)?.since_ms(now) / SECOND_MS;
    let renews = if renews(settings, ticket) { ";renews" } else { "" };
    Some(format!("{seconds}{renews}"))
}

fn renews(settings: &Settings, ticket: &Ticket) -> bool {
    !settings.disable_session_renewal && !ticket.shared
}

/// Whether a header `Origin` names the origin of this URL.
pub(super) fn is_origin_of(origin: &str, url: &str) -> bool {
    let is_bare =
        origin.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '\\', '?', '#']));
    is_bare && is_same_origin(origin, url)
}

#[cfg(test)]
mod tests {
    use super::{SessionReply, header, is_asked, is_origin_of, reply};
    use crate::admission;
    use crate::admission::tests::queued;
    use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
    use crate::room::event::InForce;
    use crate::room::settings::Settings;
    use crate::ticket::{Ticket, TicketState};
    use crate::visit::Visit;
    use crate::visit::request::RequestHead;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);
    const URL: &str = "https://shop.example/_waiting-room/session";
    const SITE: &str = "https://shop.example";

    fn inside(settings: &Settings) -> Ticket {
        Ticket {
            state: TicketState::Accepted,
            accepted_at: NOW,
            counted_bucket: settings.bucket_at(NOW),
            unconfirmed: false,
            ..queued(NOW.0, NOW.0)
        }
    }

    #[test]
    fn the_header_tells_what_the_endpoint_tells() {
        let check = |settings: &Settings, ticket: Ticket, want: Option<&str>| {
            assert_eq!(header(NOW, settings, &ticket).as_deref(), want);
        };
        let settings = Settings::for_tests();
        let seconds = admission::session_end(&inside(&settings), NOW, &settings);
        let seconds = seconds.map_or(0, |end| end.since_ms(NOW) / SECOND_MS);
        check(&settings, inside(&settings), Some(&format!("{seconds};renews")));
        let shared = Ticket { shared: true, ..inside(&settings) };
        check(&settings, shared, Some(&seconds.to_string()));
        let once = Settings { disable_session_renewal: true, ..settings.clone() };
        let end = admission::session_end(&inside(&once), NOW, &once).map(|end| end.since_ms(NOW));
        let seconds = end.unwrap_or(0) / SECOND_MS;
        check(&once, inside(&once), Some(&seconds.to_string()));
        check(&settings, queued(NOW.0, NOW.0), None);
    }

    #[test]
    fn the_session_is_asked_for_at_one_path_below_any_room() {
        let check = |url: &str, want: bool| assert_eq!(is_asked(url), want, "{url}");
        check(URL, true);
        check("https://shop.example/tickets/_waiting-room/session?a=b", true);
        check("https://shop.example/_waiting-room/session/", false);
        check("https://shop.example/_waiting-room/sessions", false);
        check("https://shop.example/?/_waiting-room/session", false);
        check("https://shop.example/#/_waiting-room/session", false);
        check("https://shop.example/_waiting-room%2Fsession", false);
    }

    #[test]
    fn only_the_whole_origin_is_the_origin() {
        let check = |origin: &str, url: &str, want: bool| {
            assert_eq!(is_origin_of(origin, url), want, "{origin} {url}");
        };
        check(SITE, URL, true);
        check("http://localhost:8787", "http://localhost:8787/_waiting-room/session", true);
        for other in [
            "",
            "null",
            "https://",
            "http://shop.example",
            "https://shop.example:8443",
            "https://shop.example/",
            "https://shop.example.other.example",
            "https://other.example",
            "*",
        ] {
            check(other, URL, false);
        }
        check("https://", "https:///_waiting-room/session", false);
        check("https://a@shop.example", "https://a@shop.example/_waiting-room/session", false);
    }

    fn told(settings: &Settings, now: Timestamp, ticket: Option<Ticket>, method: &str) -> String {
        let in_force = InForce::of_settings(settings);
        let head = RequestHead { method, ..RequestHead::default() };
        let visit = Visit { url: URL, head, ..Visit::of_page(now, &in_force) };
        match reply(&visit, ticket, SITE) {
            SessionReply::Respond(response) => format!("{} {}", response.status, response.body),
            SessionReply::End(_) => "end".to_owned(),
        }
    }

    #[test]
    fn what_is_left_is_told_to_the_second() {
        let settings = Settings { session_duration_minutes: 5, ..Settings::for_tests() };
        let fixed = Settings { disable_session_renewal: true, ..settings.clone() };
        let ticket = || Some(inside(&settings));
        let check = |settings: &Settings, after_ms: u64, ticket, want: &str| {
            assert_eq!(told(settings, NOW + after_ms, ticket, "GET"), format!("200 {want}"));
        };
        let none = r#"{"inside":false,"renews":false,"secondsLeft":0}"#;
        check(&settings, 0, ticket(), r#"{"inside":true,"renews":true,"secondsLeft":301}"#);
        check(&settings, MINUTE_MS, ticket(), r#"{"inside":true,"renews":true,"secondsLeft":241}"#);
        check(&settings, 6 * MINUTE_MS, ticket(), none);
        check(&settings, 0, None, none);
        // Without renewal it ends with the very second, and no sooner for being asked.
        check(&fixed, 0, ticket(), r#"{"inside":true,"renews":false,"secondsLeft":300}"#);
        check(&fixed, 5 * MINUTE_MS, ticket(), none);
        let shared = Ticket { shared: true, ..inside(&settings) };
        let want = r#"{"inside":true,"renews":false,"secondsLeft":301}"#;
        check(&settings, 0, Some(shared), want);
        assert_eq!(told(&settings, NOW, ticket(), "HEAD"), "200 ");
    }

    #[test]
    fn leaving_takes_a_post_and_is_done_once() {
        let settings = Settings::for_tests();
        let none = r#"200 {"inside":false,"renews":false,"secondsLeft":0}"#;
        assert_eq!(told(&settings, NOW, Some(inside(&settings)), "POST"), "end");
        assert_eq!(told(&settings, NOW, None, "POST"), none);
        assert!(told(&settings, NOW, None, "DELETE").starts_with("405 "));
    }
}
