//! What kind of request a visit is, from its method and a few headers. Decides nobody's turn.

/// Method and headers of a request, as far as they matter here.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestHead<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// `Sec-Purpose`, or the older `Purpose`.
    pub purpose: &'a str,
    /// `Upgrade`.
    pub upgrade: &'a str,
    /// True if `Access-Control-Request-Method` is there.
    pub asks_for_method: bool,
}

/// What a request wants, as far as a waiting room cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A page or anything else a person waits for.
    Ordinary,
    /// A CORS preflight: browsers send it without a cookie, so it passes and is not counted.
    Preflight,
    /// A page loaded on suspicion: it takes no slot and no place in the line.
    Prefetch,
    /// A WebSocket upgrade: no client shows a page for it.
    Upgrade,
}

impl RequestHead<'_> {
    /// The kind of this request.
    pub fn kind(&self) -> RequestKind {
        if self.method == "OPTIONS" && self.asks_for_method {
            RequestKind::Preflight
        } else if self.upgrade.eq_ignore_ascii_case("websocket") {
            RequestKind::Upgrade
        } else if self.purpose.contains("prefetch") || self.purpose.contains("prerender") {
            RequestKind::Prefetch
        } else {
            RequestKind::Ordinary
        }
    }

    /// True if the answer must have no body.
    pub fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// True if the visitor sent something that the queue page must say was not submitted.
    pub fn submits(&self) -> bool {
        !matches!(self.method, "GET" | "HEAD" | "OPTIONS")
    }
}

/// True if an `Accept` header is exactly `application/json`, by which apps ask for JSON: whoever
/// takes a page as well gets the page.
pub fn accepts_json_alone(accept: &str) -> bool {
    accept.trim().eq_ignore_ascii_case("application/json")
}

/// True if an `Accept` header asks for an event stream and nothing else, as `EventSource` does.
pub fn accepts_event_stream_alone(accept: &str) -> bool {
    accept.trim().eq_ignore_ascii_case("text/event-stream")
}

#[cfg(test)]
mod tests {
    use super::{RequestHead, RequestKind, accepts_event_stream_alone, accepts_json_alone};

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
        let check = |method, purpose, upgrade, asks_for_method, want: RequestKind| {
            let head = RequestHead { method, purpose, upgrade, asks_for_method };
            assert_eq!(head.kind(), want, "{head:?}");
        };
        check("GET", "", "", false, RequestKind::Ordinary);
        check("OPTIONS", "", "", false, RequestKind::Ordinary);
        check("OPTIONS", "", "", true, RequestKind::Preflight);
        check("GET", "", "", true, RequestKind::Ordinary);
        check("GET", "prefetch", "", false, RequestKind::Prefetch);
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
