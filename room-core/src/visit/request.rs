//! Recognizes the kind of a request (page, preflight, prefetch, upgrade) by its method and a few
//! headers.

use std::fmt::Debug;

use crate::page::arrival::CHECK_IN_HEADER;

/// The headers that show the kind of a request; "" for an absent one. Each is read on demand:
/// reading costs time, and for a visitor inside none is needed.
pub trait KindHeaders: Debug {
    /// The value of `Sec-Purpose`, or of the older `Purpose`.
    fn purpose(&self) -> &str;

    /// The value of `Upgrade`.
    fn upgrade(&self) -> &str;
}

/// Headers that were read beforehand.
#[derive(Clone, Copy, Debug, Default)]
pub struct GivenHeaders<'a> {
    /// The value of `Sec-Purpose`, or of the older `Purpose`.
    pub purpose: &'a str,
    /// The value of `Upgrade`.
    pub upgrade: &'a str,
}

impl KindHeaders for GivenHeaders<'_> {
    fn purpose(&self) -> &str {
        self.purpose
    }

    fn upgrade(&self) -> &str {
        self.upgrade
    }
}

/// The method of a request, and the headers that show its kind.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method, in capitals, like `GET`.
    pub method: &'a str,
    /// The headers that show the kind.
    pub headers: &'a dyn KindHeaders,
    /// Whether it has all that browsers' preflights have: `Origin`,
    /// `Access-Control-Request-Method`, and no body. `None` if that was not read.
    pub is_preflight: Option<bool>,
}

/// The kinds of request that a waiting room treats differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A page, or anything else that is none of the kinds below.
    Ordinary,
    /// A CORS preflight. Browsers send it without a cookie, so it passes and does not count.
    Preflight,
    /// A prefetch or prerender. The browser loads a page that may never be opened, so it takes no
    /// slot and no place in the line.
    Prefetch,
    /// A WebSocket upgrade. Its client cannot show a page, so a refusal is plain text.
    Upgrade,
}

impl Default for RequestHead<'_> {
    fn default() -> Self {
        Self { method: "", headers: &GivenHeaders { purpose: "", upgrade: "" }, is_preflight: None }
    }
}

impl RequestHead<'_> {
    /// Returns the kind of this request.
    pub fn kind(&self) -> RequestKind {
        let is_prefetch = || {
            let purpose = self.headers.purpose();
            !purpose.is_empty() && is_prefetch(purpose)
        };
        if self.is_preflight() {
            RequestKind::Preflight
        } else if self.headers.upgrade().eq_ignore_ascii_case("websocket") {
            RequestKind::Upgrade
        } else if is_prefetch() {
            RequestKind::Prefetch
        } else {
            RequestKind::Ordinary
        }
    }

    /// Whether this is a CORS preflight.
    pub fn is_preflight(&self) -> bool {
        self.method == "OPTIONS" && self.is_preflight == Some(true)
    }

    /// Whether more headers must be read to recognize a preflight.
    pub fn is_preflight_unknown(&self) -> bool {
        self.method == "OPTIONS" && self.is_preflight.is_none()
    }

    /// Whether the answer must have no body.
    pub fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// Whether the request submits something (a form). A queue page then says that it was not
    /// passed on.
    pub fn submits(&self) -> bool {
        !matches!(self.method, "GET" | "HEAD" | "OPTIONS")
    }
}

/// The header by which browsers say what a request is for.
pub const DESTINATION_HEADER: &str = "sec-fetch-dest";

/// Whether the value of [`DESTINATION_HEADER`] is that of a part of a page. Requests by scripts are
/// not: apps wait with them.
pub fn is_part(destination: &str) -> bool {
    const PARTS: [&str; 8] =
        ["audio", "font", "image", "manifest", "script", "style", "track", "video"];
    PARTS.contains(&destination)
}

/// The headers that most answers to waiting visitors depend on. The Worker reads them together,
/// since a call to JavaScript takes longer than reading a header.
pub const USUAL_HEADERS: [&str; 9] = [
    "sec-purpose",
    "upgrade",
    "purpose",
    "x-purpose",
    "x-moz",
    "accept-language",
    "sec-fetch-mode",
    DESTINATION_HEADER,
    CHECK_IN_HEADER,
];

/// The older headers by which browsers and their extensions announce a prefetch.
pub const PREFETCH_HEADERS: [&str; 3] = ["purpose", "x-purpose", "x-moz"];

/// Whether the value of a header about a request's purpose announces a prefetch.
pub fn is_prefetch(purpose: &str) -> bool {
    let purpose = purpose.to_ascii_lowercase();
    ["prefetch", "prerender", "preview"].iter().any(|one| purpose.contains(one))
}

/// Whether an `Accept` header is exactly `application/json`, by which apps ask for JSON. A client
/// that lists other types as well gets the page.
pub fn accepts_json_alone(accept: &str) -> bool {
    accept.trim().eq_ignore_ascii_case("application/json")
}

/// Whether an `Accept` header asks for an event stream and nothing else, as `EventSource` does.
pub fn accepts_event_stream_alone(accept: &str) -> bool {
    accept.trim().eq_ignore_ascii_case("text/event-stream")
}

#[cfg(test)]
mod tests {
    use super::{
        GivenHeaders, RequestHead, RequestKind, accepts_event_stream_alone, accepts_json_alone,
        is_part,
    };

    #[test]
    fn pictures_and_the_like_are_parts_and_pages_and_fetches_are_none() {
        for part in ["image", "style", "script", "font"] {
            assert!(is_part(part), "{part}");
        }
        for whole in ["", "document", "iframe", "empty", "worker", "Image"] {
            assert!(!is_part(whole), "{whole}");
        }
    }

    #[test]
    fn only_one_accept_header_asks_for_a_stream() {
        let check = |accept: &str, want: bool| {
            assert_eq!(accepts_event_stream_alone(accept), want, "{accept}");
        };
        check("text/event-stream", true);
        check(" Text/Event-Stream ", true);
        check("", false);
        check("*/*", false);
        check("text/event-stream, application/json", false);
    }

    #[test]
    fn only_one_accept_header_asks_for_json() {
        let check = |accept: &str, want: bool| {
            assert_eq!(accepts_json_alone(accept), want, "{accept}");
        };
        check("application/json", true);
        check(" Application/JSON ", true);
        check("", false);
        check("*/*", false);
        check("application/json, text/html", false);
        check("application/json;q=1", false);
        check("application/json, application/json", false);
    }

    #[test]
    fn requests_are_told_apart_by_method_and_headers() {
        let check = |method, purpose, upgrade, is_preflight, want: RequestKind| {
            let is_preflight = Some(is_preflight);
            let headers = &GivenHeaders { purpose, upgrade };
            let head = RequestHead { method, headers, is_preflight };
            assert_eq!(head.kind(), want, "{head:?}");
        };
        check("GET", "", "", false, RequestKind::Ordinary);
        check("OPTIONS", "", "", false, RequestKind::Ordinary);
        check("OPTIONS", "", "", true, RequestKind::Preflight);
        check("GET", "", "", true, RequestKind::Ordinary);
        check("GET", "prefetch", "", false, RequestKind::Prefetch);
        check("GET", "Preview", "", false, RequestKind::Prefetch);
        check("GET", "prefetch;prerender", "", false, RequestKind::Prefetch);
        check("GET", "", "WebSocket", false, RequestKind::Upgrade);
        check("GET", "", "h2c", false, RequestKind::Ordinary);
    }

    #[test]
    fn only_what_sends_something_submits() {
        for (method, want) in [("GET", false), ("HEAD", false), ("POST", true), ("DELETE", true)] {
            assert_eq!(RequestHead { method, ..RequestHead::default() }.submits(), want);
        }
    }
}
