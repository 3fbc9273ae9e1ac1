//! Decides whether a request skips its room: by a bypass rule, or as a crawler that the platform
//! has verified. A request that skips goes to the origin, without a ticket and uncounted.

use std::borrow::Cow;
use std::net::IpAddr;

use crate::base::time::Timestamp;
use crate::room::Room;
use crate::room::bypass_rule::BypassRule;
use crate::room::zone_settings::ZoneSettings;
use crate::rules::{End, Lists, RequestFields, RequestSource, first_match};

/// The `verifiedBotCategory` at Cloudflare that `search_engine_crawler_bypass` means.
const SEARCH_ENGINE_CRAWLER: &str = "Search Engine Crawler";

/// Whether a request skips its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bypass {
    /// The request goes to the origin as if there were no room.
    Skips,
    /// The room decides the request.
    Stays,
    /// The source does not say enough about the request. Ask again with a complete one.
    Unknown,
}

/// Decides whether a request to `room`, which is not suspended, skips it.
pub fn decide(
    room: &Room,
    zone: ZoneSettings,
    lists: &Lists,
    source: &dyn RequestSource,
) -> Bypass {
    let mut enabled = room.bypass_rules.iter().filter(|rule| rule.enabled).peekable();
    let end = if enabled.peek().is_some() {
        let expressions = enabled.map(|rule| &rule.compiled);
        first_match(expressions, &RequestFields::new(source), lists).end
    } else {
        End::NoMatch
    };
    match end {
        End::Match(_) => Bypass::Skips,
        End::Lacking => Bypass::Unknown,
        End::NoMatch | End::Exhausted if !zone.search_engine_crawler_bypass => Bypass::Stays,
        _ if !source.is_complete() => Bypass::Unknown,
        _ if is_search_engine(source) => Bypass::Skips,
        _ => Bypass::Stays,
    }
}

/// Whether a rule, enabled or not, matches a request; `source` must be complete.
pub fn matches(rule: &BypassRule, lists: &Lists, source: &dyn RequestSource) -> bool {
    let fields = RequestFields::new(source);
    matches!(first_match([&rule.compiled], &fields, lists).end, End::Match(_))
}

/// Whether the platform says that a search engine's crawler sent the request. What the client says
/// of itself does not count. On plans without this category it is always false.
fn is_search_engine(source: &dyn RequestSource) -> bool {
    source.property("verifiedBotCategory").as_deref() == Some(SEARCH_ENGINE_CRAWLER)
}

/// An incomplete source of a request: the parts that are known at once, without reading the
/// platform's request object.
#[derive(Clone, Copy, Debug)]
pub struct FirstGlance<'r> {
    /// The absolute URL of the request.
    pub url: &'r str,
    /// The HTTP method, in capitals.
    pub method: &'r str,
    /// The `Cookie` header; empty if there is none.
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
