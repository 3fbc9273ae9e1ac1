//! What a visitor who does not enter gets over HTTP. Sends nothing and decides nobody's turn.

use crate::page::Page;
use crate::page::Variables;
use crate::page::Waiting;
use crate::page::Words;
use crate::template::RenderError;
use crate::turnstile::Widget;

/// Shared caches must keep nothing: the page is about one visitor and may set a cookie.
const CACHE_CONTROL: &str = "private, no-store";

/// A complete HTTP answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Names in lower case; `set-cookie` may stand more than once. Values are printable ASCII.
    pub headers: Vec<(&'static str, String)>,
    /// Empty for a `HEAD` request.
    pub body: String,
}

/// What a waiting visitor gets to read.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    /// A page, and the language that it tells times in.
    Page(&'a Page, &'a Words),
    /// The same facts for an app.
    Json,
}

/// How the queue page is to be delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The room's `queueing_status_code`.
    pub status: u16,
    /// The request's method is `HEAD`.
    pub head: bool,
    /// Complete values of `Set-Cookie`, in order.
    pub set_cookies: &'a [String],
    /// A challenge for the visitor.
    pub widget: Option<Widget<'a>>,
}

impl Answer {
    /// The answer for a visitor who waits. It reloads itself by `GET`, whatever the request was.
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
        let body = match form {
            _ if delivery.head => String::new(),
            Form::Page(page, words) => {
                let variables = Variables::in_language(waiting, words);
                page.render(&variables.with_challenge(delivery.widget, words))?
            }
            Form::Json => {
                let variables = Variables::of(waiting);
                Page::json(&variables.with_challenge(delivery.widget, &Words::default()))
            }
        };
        let mut answer = Self::of_status(delivery.status, content_type, body);
        let interval_s = waiting.refresh_interval_s;
        if interval_s > 0 {
            answer.push("refresh", &interval_s.to_string());
            // 429 and 503 tell machines when to come back; browsers follow `Refresh`.
            if matches!(delivery.status, 429 | 503) {
                answer.push("retry-after", &interval_s.to_string());
            }
        }
        if let Some(policy) = policy {
            answer.push("content-security-policy", policy);
        }
        answer.push("referrer-policy", "same-origin");
        answer.push_cookies(delivery.set_cookies);
        Ok(answer)
    }

    /// The answer to a WebSocket upgrade whose visitor has to wait: no client shows a page for it.
    pub fn upgrade_refused(retry_after_s: u32, set_cookies: &[String]) -> Self {
        let body = "You are in line. Open the site in a browser, or try again later.\n".to_owned();
        let mut answer = Self::of_status(503, "text/plain; charset=utf-8", body);
        answer.push("retry-after", &retry_after_s.to_string());
        answer.push_cookies(set_cookies);
        answer
    }

    /// The answer to a request that is to come again at this address, by `GET`.
    pub fn see_other(address: &str, set_cookies: &[String]) -> Self {
        let mut answer = Self::of_status(303, "text/plain; charset=utf-8", String::new());
        answer.push("location", address);
        answer.push("referrer-policy", "same-origin");
        answer.push_cookies(set_cookies);
        answer
    }

    /// The head of an event stream, and what it says first.
    pub fn stream(text: String) -> Self {
        Self::of_status(200, "text/event-stream; charset=utf-8", text)
    }

    /// The answer as one text for the JavaScript entry: the status, one line per header, an empty
    /// line, the body.
    pub fn to_verdict(&self) -> String {
        let head_bytes: usize =
            self.headers.iter().map(|(name, value)| name.len() + value.len() + 3).sum();
        let mut verdict = String::with_capacity(head_bytes + self.body.len() + 8);
        verdict.push_str(&self.status.to_string());
        verdict.push('\n');
        for (name, value) in &self.headers {
            for part in [name, ": ", value, "\n"] {
                verdict.push_str(part);
            }
        }
        verdict.push('\n');
        verdict.push_str(&self.body);
        verdict
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

    /// Drops what is not printable ASCII, so that no value can end its line and forge another.
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
    use super::Answer;
    use super::Delivery;
    use super::Form;
    use crate::id::RoomId;
    use crate::language::Language;
    use crate::page::Page;
    use crate::page::Waiting;
    use crate::page::Words;
    use crate::settings::QueueingMethod;
    use crate::turnstile::{TurnstileMode, Widget};

    const WAITING: Waiting = Waiting {
        method: QueueingMethod::Fifo,
        estimate_s: Some(90),
        quartiles_s: None,
        last_updated: crate::time::Timestamp(1_795_255_200_123),
        refresh_interval_s: 20,
        queue_all: false,
        queue_is_full: false,
        is_held: false,
        submitted_nothing: false,
        people_ahead: None,
        event_stream: false,
        draw: None,
        event: None,
        is_infinite: false,
    };
    const DELIVERY: Delivery<'_> =
        Delivery { status: 200, head: false, set_cookies: &[], widget: None };

    fn answer(waiting: &Waiting, delivery: Delivery<'_>) -> Answer {
        let texts = include_str!("../../templates/languages/en-US.json");
        let words = Words::parse(Language::default(), texts).unwrap();
        let page = Page::built_in(&words).unwrap();
        Answer::queue(Form::Page(&page, &words), waiting, delivery).unwrap()
    }

    fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
        let mut found = answer.headers.iter().filter(|(known, _)| *known == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert_eq!(found.next(), None, "{name} stands twice");
        value
    }

    #[test]
    fn the_queue_page_refreshes_and_is_never_stored() {
        let answer = answer(&WAITING, DELIVERY);
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

    #[test]
    fn a_challenge_is_allowed_and_shown_where_there_is_one() {
        let widget = Widget {
            site_key: "1x00000000000000000000AA",
            mode: TurnstileMode::Invisible,
            room: RoomId::from_bytes([7; 16]),
            is_gate: true,
        };
        let delivery = Delivery { widget: Some(widget), ..DELIVERY };
        let challenged = answer(&WAITING, delivery);
        let origin = "https://challenges.cloudflare.com";
        assert!(header(&challenged, "content-security-policy").unwrap().contains(origin));
        assert!(challenged.body.contains("class=\"cf-turnstile\""));
        let plain = answer(&WAITING, DELIVERY);
        assert!(!header(&plain, "content-security-policy").unwrap().contains(origin));
        assert!(!plain.body.contains("class=\"cf-turnstile\""));
        let json = Answer::queue(Form::Json, &WAITING, delivery).unwrap();
        assert!(json.body.contains(r#"class=\"cf-turnstile\""#), "{}", json.body);
    }

    #[test]
    fn a_token_is_answered_with_the_address_without_it() {
        let cookies = ["a=1; Path=/".to_owned()];
        let answer = Answer::see_other("https://a.net/x?y\r\nz: 1", &cookies);
        assert_eq!((answer.status, answer.body.as_str()), (303, ""));
        assert_eq!(header(&answer, "location"), Some("https://a.net/x?yz: 1"));
        assert_eq!(header(&answer, "cache-control"), Some("private, no-store"));
        assert_eq!(header(&answer, "set-cookie"), Some("a=1; Path=/"));
        assert_eq!(header(&answer, "refresh"), None);
    }

    #[test]
    fn an_interval_of_zero_means_no_refresh() {
        let answer = answer(
            &Waiting { refresh_interval_s: 0, ..WAITING },
            Delivery { status: 429, ..DELIVERY },
        );
        assert_eq!(header(&answer, "refresh"), None);
        assert_eq!(header(&answer, "retry-after"), None);
    }

    #[test]
    fn only_429_and_503_say_when_to_retry() {
        let check = |status: u16, want: Option<&str>| {
            let answer = answer(&WAITING, Delivery { status, ..DELIVERY });
            assert_eq!((answer.status, header(&answer, "retry-after")), (status, want));
        };
        check(200, None);
        check(202, None);
        check(429, Some("20"));
        check(503, Some("20"));
    }

    #[test]
    fn head_gets_the_same_headers_without_the_page() {
        let head = answer(&WAITING, Delivery { head: true, ..DELIVERY });
        assert_eq!(head.headers, answer(&WAITING, DELIVERY).headers);
        assert_eq!(head.body, "");
    }

    #[test]
    fn cookies_keep_their_order_and_cannot_forge_a_header() {
        let set_cookies = ["a=1; Path=/".to_owned(), "b=2\r\nx-forged: é\u{7f}\n\n<p>".to_owned()];
        let answer = answer(&WAITING, Delivery { set_cookies: &set_cookies, ..DELIVERY });
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
        let answer = Answer::queue(form, &WAITING, DELIVERY).unwrap();
        assert_eq!(header(&answer, "content-security-policy"), None);
        assert_eq!(answer.body, "2");
    }

    #[test]
    fn an_app_gets_json_with_the_same_headers() {
        let delivery = Delivery { status: 429, ..DELIVERY };
        let json = Answer::queue(Form::Json, &WAITING, delivery).unwrap();
        assert_eq!(json.status, 429);
        assert_eq!(header(&json, "content-type"), Some("application/json"));
        assert_eq!(header(&json, "content-security-policy"), None);
        for name in ["cache-control", "refresh", "retry-after", "x-content-type-options"] {
            assert_eq!(header(&json, name), header(&answer(&WAITING, delivery), name), "{name}");
        }
        assert!(json.body.starts_with("{\"cfWaitingRoom\":{\"inWaitingRoom\":true,"));
        let head = Delivery { head: true, ..DELIVERY };
        assert_eq!(Answer::queue(Form::Json, &WAITING, head).unwrap().body, "");
    }

    #[test]
    fn the_verdict_is_status_headers_and_body() {
        let answer = Answer {
            status: 200,
            headers: vec![("refresh", "20".to_owned()), ("set-cookie", "a=1".to_owned())],
            body: "one\n\ntwo\n".to_owned(),
        };
        assert_eq!(answer.to_verdict(), "200\nrefresh: 20\nset-cookie: a=1\n\none\n\ntwo\n");
    }

    #[test]
    fn a_refused_upgrade_says_when_to_retry() {
        let answer = Answer::upgrade_refused(20, &["a=1".to_owned()]);
        assert_eq!(answer.status, 503);
        assert_eq!(header(&answer, "content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(header(&answer, "cache-control"), Some("private, no-store"));
        assert_eq!(header(&answer, "retry-after"), Some("20"));
        assert_eq!(header(&answer, "set-cookie"), Some("a=1"));
        assert_eq!(header(&answer, "refresh"), None);
    }
}
