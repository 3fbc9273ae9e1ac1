//! Whether a request skips its room: bypass rules, and crawlers that the platform has verified.
//!
//! Reads no request by itself. Whoever skips gets no ticket, is not counted and waits for nobody.

use std::borrow::Cow;
use std::net::IpAddr;

use crate::config::ZoneSettings;
use crate::room::Room;
use crate::rule::{End, Lists, RequestFields, RequestSource, first_match};
use crate::time::Timestamp;

/// The category of crawlers that `search_engine_crawler_bypass` means, as the platform names it.
const SEARCH_ENGINE_CRAWLER: &str = "Search Engine Crawler";

/// Whether a request skips its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes to the origin as if there were no room.
    Skips,
    /// The room decides.
    Stays,
    /// The source does not tell enough: ask again with a complete one.
    Unknown,
}

/// Whether a request to `room`, which is not suspended, skips it.
pub fn verdict(
    room: &Room,
    zone: ZoneSettings,
    lists: &Lists,
    source: &dyn RequestSource,
) -> Verdict {
    let mut enabled = room.bypass_rules.iter().filter(|rule| rule.enabled).peekable();
    let end = if enabled.peek().is_some() {
        let expressions = enabled.map(|rule| &rule.compiled);
        first_match(expressions, &RequestFields::new(source), lists).end
    } else {
        End::NoMatch
    };
    match end {
        End::Match(_) => Verdict::Skips,
        End::Lacking => Verdict::Unknown,
        End::NoMatch | End::Exhausted if !zone.search_engine_crawler_bypass => Verdict::Stays,
        _ if !source.is_complete() => Verdict::Unknown,
        _ if is_search_engine(source) => Verdict::Skips,
        _ => Verdict::Stays,
    }
}

/// Only the platform's word counts: what a client says of itself is worth nothing. On plans where
/// the platform does not say it, nobody is a crawler.
fn is_search_engine(source: &dyn RequestSource) -> bool {
    source.property("verifiedBotCategory").as_deref() == Some(SEARCH_ENGINE_CRAWLER)
}

/// What is known of a request before anything else of it is read.
#[derive(Clone, Copy, Debug)]
pub struct FirstGlance<'r> {
    /// The absolute URL.
    pub url: &'r str,
    /// The method, in capitals.
    pub method: &'r str,
    /// The `Cookie` header, or "".
    pub cookie: &'r str,
    /// When the request came.
    pub now: Timestamp,
}

impl RequestSource for FirstGlance<'_> {
    fn url(&self) -> &str {
        self.url
    }

    fn method(&self) -> &str {
        self.method
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        (name == "cookie").then_some(Cow::Borrowed(self.cookie))
    }

    fn headers(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        Vec::new()
    }

    fn client_address(&self) -> Option<IpAddr> {
        None
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn property(&self, _path: &str) -> Option<Cow<'_, str>> {
        None
    }

    fn is_complete(&self) -> bool {
        false
    }
}
