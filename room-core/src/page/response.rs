//! Builds the HTTP answers of the waiting room: the queue page, its JSON, redirects and refusals.

use std::borrow::Cow;
use std::fmt::Display;

use crate::base::url::split_url;
use crate::page::arrival::Arrival;
use crate::page::contact::ContactForm;
use crate::page::template::RenderError;
use crate::page::widget::Widget;
use crate::page::{Page, Variables, Waiting, Words};
use crate::room::branding::Branding;

/// Forbids every cache to keep the answer: it is about one visitor and may set a cookie.
const CACHE_CONTROL: &str = "private, no-store";

/// A complete HTTP answer of the Worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The headers in order. Names are in lower case, `set-cookie` may stand more than once, and
    /// values are printable ASCII.
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty for a `HEAD` request.
    pub body: String,
}

/// The form in which a waiting visitor gets the facts about the wait.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    /// A page, and the words in which it writes times and numbers.
    Page(&'a Page, &'a Words),
    /// The same facts as JSON, for an app.
    Json,
}

/// How the queue page is to be delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The room's `queueing_status_code`.
    pub status: u16,
    /// Whether the request's method is `HEAD`. The answer then has the headers and no body.
    pub head: bool,
    /// The complete values of the `Set-Cookie` headers, in order.
    pub set_cookies: &'a [String],
    /// The Turnstile widget on the page; `None` if the visitor meets no challenge.
    pub widget: Option<Widget<'a>>,
    /// How the visitor's next check-in comes.
    pub arrival: Arrival<'a>,
    /// Whether pages of other hosts may show it in a frame.
    pub may_be_framed: bool,
    /// What the page shows of its site.
    pub branding: &'a Branding,
    /// The address of the request.
    pub url: &'a str,
    /// The form with which the visitor asks for a message before the turn.
    pub contact: &'a ContactForm,
    /// The name of the visitor's group; "" for a visitor without an invitation.
    pub group: &'a str,
}

/// The policy of a page that only its own host may show in a frame.
const OWN_FRAMES: &str = "frame-ancestors 'self'";

impl HttpResponse {
    /// Builds the answer for a visitor who waits. A browser reloads it by `GET` after the refresh
    /// interval, whatever the method of the request was. A page that stays open checks in by
    /// itself.
    pub fn queue(
        form: Form<'_>,
        waiting: &Waiting,
        delivery: Delivery<'_>,
    ) -> Result<Self, RenderError> {
        let (content_type, policy) = match form {
            Form::Page(page, _) => {
                let policy = page.content_security_policy(delivery.widget.is_some());
                ("text/html; charset=utf-8", policy)
            }
            Form::Json => ("application/json", None),
        };
        let is_bound = !delivery.may_be_framed && matches!(form, Form::Page(..));
        let policy = match policy {
            policy if !is_bound => policy.map(Cow::Borrowed),
            Some(policy) => Some(format!("{policy}; {OWN_FRAMES}").into()),
            None => Some(OWN_FRAMES.into()),
        };
        let body = match form {
            _ if delivery.head => String::new(),
            Form::Page(page, words) => {
                let variables = Variables::in_language(waiting, words);
                let variables = variables.with_challenge(delivery.widget, words);
                let variables = variables.with_arrival(delivery.arrival);
                let variables = variables.with_contact(delivery.contact);
                let variables = variables.with_group(delivery.group);
                let address = delivery.arrival.back.unwrap_or(delivery.url);
                let variables = variables.with_code_picture(address);
                let host = split_url(delivery.url).map_or("", |parts| parts.host);
                page.render(&variables.with_branding(delivery.branding, host))?
            }
            Form::Json => {
                let waiting = &Waiting { refresh_interval_s: waiting.interval_s, ..*waiting };
                let variables = Variables::of(waiting).with_group(delivery.group);
                Page::json(&variables.with_challenge(delivery.widget, &Words::default()))
            }
        };
        let mut answer = Self::of_status(delivery.status, content_type, body);
        let interval_s = waiting.refresh_interval_s;
        // A challenge that is half done must not be taken away, nor asked for again.
        let is_gate = delivery.widget.is_some_and(|widget| widget.is_gate);
        if interval_s > 0 && !is_gate {
            if !delivery.arrival.stays {
                answer.push("refresh", &delivery.arrival.refresh(interval_s));
            }
            // 429 and 503 tell machines when to come back; browsers follow `Refresh`.
            if matches!(delivery.status, 429 | 503) {
                answer.push("retry-after", &interval_s.to_string());
            }
        }
        if let Some(policy) = policy {
            answer.push("content-security-policy", &policy);
        }
        answer.push("referrer-policy", "same-origin");
        answer.push_cookies(delivery.set_cookies);
        Ok(answer)
    }

    /// Builds the answer to a WebSocket upgrade whose visitor has to wait: 503 with a plain text,
    /// since no client shows a page for it.
    pub fn upgrade_refused(words: &Words, retry_after_s: u32, set_cookies: &[String]) -> Self {
        let body = words.refusal();
        let mut answer = Self::of_status(503, "text/plain; charset=utf-8", body);
        answer.push("retry-after", &retry_after_s.to_string());
        answer.push_cookies(set_cookies);
        answer
    }

    /// Builds the answer to a check-in of the built-in page with which the visitor enters: 204. The
    /// page then requests what it has waited for, so that the site is asked once.
    pub fn entered(set_cookies: &[String]) -> Self {
        let mut answer = Self::of_status(204, "text/plain; charset=utf-8", String::new());
        answer.push_cookies(set_cookies);
        answer
    }

    /// Builds a redirect (303) to `address`, which the browser then asks for by `GET`.
    pub fn see_other(address: &str, set_cookies: &[String]) -> Self {
        let mut answer = Self::of_status(303, "text/plain; charset=utf-8", String::new());
        answer.push("location", address);
        answer.push("referrer-policy", "same-origin");
        answer.push_cookies(set_cookies);
        answer
    }

    /// Builds the JSON answer to a visitor who asks about the session or transfers a place.
    pub fn of_session(status: u16, facts: &dyn Display, set_cookies: &[String]) -> Self {
        let mut answer = Self::of_status(status, "application/json", facts.to_string());
        answer.push_cookies(set_cookies);
        answer
    }

    /// Builds a public answer, which may change at any moment.
    pub fn public(content_type: &str, body: String) -> Self {
        let mut answer = Self::of_status(200, content_type, body);
        answer.push("referrer-policy", "same-origin");
        answer
    }

    /// Builds the head of an event stream, with what it says first as its body.
    pub fn stream(text: String) -> Self {
        Self::of_status(200, "text/event-stream; charset=utf-8", text)
    }

    fn of_status(status: u16, content_type: &str, body: String) -> Self {
        let mut answer = Self { status, headers: Vec::with_capacity(9), body };
        answer.push("content-type", content_type);
        answer.push("cache-control", CACHE_CONTROL);
        answer.push("x-content-type-options", "nosniff");
        answer
    }

    fn push_cookies(&mut self, set_cookies: &[String]) {
        for cookie in set_cookies {
            self.push("set-cookie", cookie);
        }
    }

    /// Adds a header without the characters of its value that are not printable ASCII, so that no
    /// value can end its line and forge another header.
    fn push(&mut self, name: &'static str, value: &str) {
        let mut value = value.to_owned();
        // Looking over the bytes first is many times faster than `retain` and nearly always enough.
        if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            value.retain(|character| matches!(character, ' '..='~'));
        }
        self.headers.push((name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::Form;
    use super::HttpResponse;
    use super::{Arrival, ContactForm, Delivery};
    use crate::base::id::RoomId;
    use crate::page::widget::Widget;
    use crate::page::{Page, Waiting, Words};
    use crate::room::branding::Branding;
    use crate::room::language::Language;
    use crate::room::turn_notice::TurnNotice;
    use crate::room::turnstile::TurnstileMode;

    fn waiting() -> Waiting {
        Waiting {
            estimate_s: Some(90),
            last_updated: crate::base::time::Timestamp(1_795_255_200_123),
            refresh_interval_s: 20,
            interval_s: 20,
            ..Waiting::default()
        }
    }

    const DELIVERY: Delivery<'_> = Delivery {
        status: 200,
        head: false,
        set_cookies: &[],
        widget: None,
        arrival: ARRIVAL,
        may_be_framed: true,
        branding: &BRANDING,
        url: "https://shop.example/",
        contact: &CONTACT,
        group: "",
    };
    const CONTACT: ContactForm = ContactForm {
        takes: TurnNotice::Off,
        failed: false,
        full: false,
        typed: String::new(),
        given: String::new(),
        is_sent: false,
    };
    const BRANDING: Branding = Branding {
        name: String::new(),
        event_name: String::new(),
        logo: String::new(),
        color: String::new(),
        text: String::new(),
        message: String::new(),
        help_url: String::new(),
    };
    const ARRIVAL: Arrival<'_> =
        Arrival { stays: false, checks_in: false, can_resend: false, back: None };

    fn answer(waiting: &Waiting, delivery: Delivery<'_>) -> HttpResponse {
        let texts = include_str!("../../../templates/languages/en-US.json");
        let words = Words::parse(Language::default(), texts).unwrap();
        let page = Page::built_in(&words).unwrap();
        HttpResponse::queue(Form::Page(&page, &words), waiting, delivery).unwrap()
    }

    fn header<'a>(answer: &'a HttpResponse, name: &str) -> Option<&'a str> {
        let mut found = answer.headers.iter().filter(|(known, _)| *known == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert_eq!(found.next(), None, "{name} stands twice");
        value
    }

    #[test]
    fn the_queue_page_refreshes_and_is_never_stored() {
        let answer = answer(&waiting(), DELIVERY);
        assert_eq!(answer.status, 200);
        assert!(answer.body.starts_with("<!doctype html>"));
        let check = |name: &str, want: &str| assert_eq!(header(&answer, name), Some(want));
        check("content-type", "text/html; charset=utf-8");
        check("cache-control", "private, no-store");
        check("refresh", "20");
        check("x-content-type-options", "nosniff");
        check("referrer-policy", "same-origin");
        assert!(header(&answer, "content-security-policy").unwrap().contains("'sha256-"));
        assert_eq!(header(&answer, "retry-after"), None);
        assert_eq!(header(&answer, "set-cookie"), None);
    }

    /// A page counts from when it is shown, and apps from `lastUpdated`, as Cloudflare says.
    #[test]
    fn an_early_app_is_told_the_whole_interval() {
        let waiting = Waiting { refresh_interval_s: 7, ..waiting() };
        let delivery = Delivery { status: 503, ..DELIVERY };
        let told = HttpResponse::queue(Form::Json, &waiting, delivery).expect("an answer");
        assert!(told.body.contains(r#""refreshIntervalSeconds":20,"#), "{}", told.body);
        assert_eq!(
            (header(&told, "refresh"), header(&told, "retry-after")),
            (Some("7"), Some("7"))
        );
    }

    #[test]
    fn a_challenge_is_allowed_and_shown_where_there_is_one() {
        let widget = Widget {
            site_key: "1x00000000000000000000AA",
            mode: TurnstileMode::Invisible,
            room: RoomId::from_bytes([7; 16]),
            is_gate: true,
        };
        let delivery = Delivery { widget: Some(widget), ..DELIVERY };
        let challenged = answer(&waiting(), delivery);
        let origin = "https://challenges.cloudflare.com";
        assert!(header(&challenged, "content-security-policy").unwrap().contains(origin));
        assert!(challenged.body.contains("class=\"cf-turnstile\""));
        let plain = answer(&waiting(), DELIVERY);
        assert!(!header(&plain, "content-security-policy").unwrap().contains(origin));
        assert!(!plain.body.contains("class=\"cf-turnstile\""));
        let json = HttpResponse::queue(Form::Json, &waiting(), delivery).unwrap();
        assert!(json.body.contains(r#"class=\"cf-turnstile\""#), "{}", json.body);
    }

    #[test]
    fn a_token_is_answered_with_the_address_without_it() {
        let cookies = ["a=1; Path=/".to_owned()];
        let answer = HttpResponse::see_other("https://a.net/x?y\r\nz: 1", &cookies);
        assert_eq!((answer.status, answer.body.as_str()), (303, ""));
        assert_eq!(header(&answer, "location"), Some("https://a.net/x?yz: 1"));
        assert_eq!(header(&answer, "cache-control"), Some("private, no-store"));
        assert_eq!(header(&answer, "set-cookie"), Some("a=1; Path=/"));
        assert_eq!(header(&answer, "refresh"), None);
    }

    #[test]
    fn an_interval_of_zero_means_no_refresh() {
        let answer = answer(
            &Waiting { refresh_interval_s: 0, ..waiting() },
            Delivery { status: 429, ..DELIVERY },
        );
        assert_eq!(header(&answer, "refresh"), None);
        assert_eq!(header(&answer, "retry-after"), None);
    }

    #[test]
    fn only_429_and_503_say_when_to_retry() {
        let check = |status: u16, want: Option<&str>| {
            let answer = answer(&waiting(), Delivery { status, ..DELIVERY });
            assert_eq!((answer.status, header(&answer, "retry-after")), (status, want));
        };
        check(200, None);
        check(202, None);
        check(429, Some("20"));
        check(503, Some("20"));
    }

    #[test]
    fn head_gets_the_same_headers_without_the_page() {
        let head = answer(&waiting(), Delivery { head: true, ..DELIVERY });
        assert_eq!(head.headers, answer(&waiting(), DELIVERY).headers);
        assert_eq!(head.body, "");
    }

    #[test]
    fn cookies_keep_their_order_and_cannot_forge_a_header() {
        let set_cookies = ["a=1; Path=/".to_owned(), "b=2\r\nx-forged: é\u{7f}\n\n<p>".to_owned()];
        let answer = answer(&waiting(), Delivery { set_cookies: &set_cookies, ..DELIVERY });
        let cookies: Vec<_> =
            answer.headers.iter().filter(|(name, _)| *name == "set-cookie").collect();
        assert_eq!(cookies[0].1, "a=1; Path=/");
        assert_eq!(cookies[1].1, "b=2x-forged: <p>");
        assert_eq!(cookies.len(), 2);
    }

    #[test]
    fn an_owners_page_sets_its_own_policy() {
        let page = Page::compile("{{waitTime}}").unwrap();
        let form = Form::Page(&page, &Words::default());
        let answer = HttpResponse::queue(form, &waiting(), DELIVERY).unwrap();
        assert_eq!(header(&answer, "content-security-policy"), None);
        assert_eq!(answer.body, "2");
        let delivery = Delivery { may_be_framed: false, ..DELIVERY };
        let own = HttpResponse::queue(form, &waiting(), delivery).unwrap();
        assert_eq!(header(&own, "content-security-policy"), Some("frame-ancestors 'self'"));
    }

    #[test]
    fn an_app_gets_json_with_the_same_headers() {
        let delivery = Delivery { status: 429, ..DELIVERY };
        let json = HttpResponse::queue(Form::Json, &waiting(), delivery).unwrap();
        assert_eq!(json.status, 429);
        assert_eq!(header(&json, "content-type"), Some("application/json"));
        assert_eq!(header(&json, "content-security-policy"), None);
        for name in ["cache-control", "refresh", "retry-after", "x-content-type-options"] {
            assert_eq!(header(&json, name), header(&answer(&waiting(), delivery), name), "{name}");
        }
        assert!(json.body.starts_with("{\"cfWaitingRoom\":{\"inWaitingRoom\":true,"));
        let head = Delivery { head: true, ..DELIVERY };
        assert_eq!(HttpResponse::queue(Form::Json, &waiting(), head).unwrap().body, "");
    }

    #[test]
    fn a_refused_upgrade_says_when_to_retry() {
        let answer = HttpResponse::upgrade_refused(&Words::default(), 20, &["a=1".to_owned()]);
        assert_eq!(
            answer.body,
            "You are in line. Open the site in a browser, or try again later.\n"
        );
        assert_eq!(answer.status, 503);
        assert_eq!(header(&answer, "content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(header(&answer, "cache-control"), Some("private, no-store"));
        assert_eq!(header(&answer, "retry-after"), Some("20"));
        assert_eq!(header(&answer, "set-cookie"), Some("a=1"));
        assert_eq!(header(&answer, "refresh"), None);
    }
}
