//! What rules can ask of a request: raw parts from the platform, the rest made of them on demand.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use super::budget::{ELEMENT_STEPS, NODE_STEPS, PLATFORM_STEPS, copy_steps};
use super::field::Source;
use super::value::Value;
use crate::coverage::{UrlParts, split_url};
use crate::percent;
use crate::sorted;
use crate::time::Timestamp;

/// A request as the platform has it. Each part is asked for only when a rule needs it, maybe more
/// than once.
pub trait RequestSource {
    /// The absolute URL, as the platform gives it.
    fn url(&self) -> &str;
    /// The method, in capitals.
    fn method(&self) -> &str;
    /// The header of this name, which is in lower case; repeated ones joined by the platform.
    fn header(&self, name: &str) -> Option<Cow<'_, str>>;
    /// Every header, its name in lower case, in the order of the platform.
    fn headers(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)>;
    /// The client's address as the platform saw it; never one that the client says.
    fn client_address(&self) -> Option<IpAddr>;
    /// When the request came.
    fn now(&self) -> Timestamp;
    /// A property of `request.cf` as text, a nested one by a dotted path like
    /// `tlsClientAuth.certVerified`; numbers in decimal, Booleans as `true` and `false`.
    fn property(&self, path: &str) -> Option<Cow<'_, str>>;
    /// False if it tells only URL, method, cookies and time; the rest must not be taken as absent.
    fn is_complete(&self) -> bool {
        true
    }
}

/// The fields of one request; what is made of raw parts is made once.
pub struct RequestFields<'r> {
    source: &'r dyn RequestSource,
    url: Option<UrlParts<'r>>,
    arguments: OnceCell<Pairs<'r>>,
    cookie: OnceCell<Cow<'r, str>>,
    cookies: OnceCell<Pairs<'r>>,
    headers: OnceCell<Pairs<'r>>,
    accept_language: OnceCell<Cow<'r, str>>,
    languages: OnceCell<Vec<String>>,
}

/// Names and values in their order; a name may stand more than once.
pub(super) type Pairs<'r> = Vec<(Cow<'r, [u8]>, Cow<'r, [u8]>)>;

impl<'r> RequestFields<'r> {
    /// The fields of the request that `source` knows.
    pub fn new(source: &'r dyn RequestSource) -> Self {
        Self {
            source,
            url: split_url(source.url()),
            arguments: OnceCell::new(),
            cookie: OnceCell::new(),
            cookies: OnceCell::new(),
            headers: OnceCell::new(),
            accept_language: OnceCell::new(),
            languages: OnceCell::new(),
        }
    }

    /// True if the source does not tell what a field is made of.
    pub(super) fn lacks(&self, source: Source) -> bool {
        !source.is_at_hand() && !self.source.is_complete()
    }

    /// The value of a field that is no map.
    pub(super) fn value(&self, source: Source) -> Value<'_> {
        let url = self.url.as_ref();
        let text = |text: Option<&'r str>| Value::from(text.unwrap_or_default());
        let path = url.map_or("", |url| url.path);
        match source {
            Source::Address => self.source.client_address().map_or(Value::Missing, Value::Ip),
            Source::ArgumentNames => names(self.arguments()),
            Source::ArgumentValues => values(self.arguments()),
            Source::CertificateVerified => {
                Value::Boolean(self.property("tlsClientAuth.certVerified") == "SUCCESS")
            }
            Source::Extension => Value::from(extension(path)),
            Source::FullUri => text(self.source.url().split('#').next()),
            Source::Header("cookie") => Value::from(self.cookie()),
            Source::Header(name) => Value::from(self.source.header(name).unwrap_or_default()),
            Source::HeaderNames => names(self.headers()),
            Source::HeaderValues => values(self.headers()),
            Source::HeadersTruncated => Value::Boolean(false),
            Source::Host => text(url.map(|url| url.host)),
            Source::Languages => {
                Value::Array(self.languages().iter().map(|tag| Value::from(tag.as_str())).collect())
            }
            Source::Method => Value::from(self.source.method()),
            Source::Milliseconds => integer(self.source.now().0 % 1_000),
            Source::OverTcp => Value::Boolean(self.property("httpProtocol") != "HTTP/3"),
            Source::Path => text(Some(path)),
            Source::Property(path) => self.source.property(path).into(),
            Source::PropertyFlag(path) => {
                Value::Boolean(matches!(&*self.property(path), "1" | "true"))
            }
            Source::PropertyNumber(path) => {
                self.property(path).parse().map_or(Value::Missing, Value::Integer)
            }
            Source::Query => text(url.and_then(|url| url.query)),
            Source::RayId => Value::from(self.ray_id()),
            Source::Seconds => integer(self.source.now().seconds()),
            Source::Secure => Value::Boolean(self.is_secure()),
            Source::ServerPort => Value::Integer(self.port()),
            Source::Subdivision => self.subdivision(),
            Source::Uri => Value::from(self.uri()),
            Source::VerifiedBot => Value::Boolean(!self.property("verifiedBotCategory").is_empty()),
            Source::Arguments | Source::Cookies | Source::Headers => Value::Missing,
        }
    }

    /// What it costs to read a field that is no map and no part of one, the bytes of an answer of
    /// the platform aside.
    pub(super) fn steps_to_read(&self, source: Source) -> usize {
        let url_bytes = self.source.url().len();
        match source {
            Source::Extension | Source::FullUri => url_bytes,
            Source::Uri => url_bytes.saturating_add(ELEMENT_STEPS),
            Source::Header("cookie") => self.steps_for_cookie(),
            Source::Languages => {
                // A tag may be two bytes, and all of them are sorted.
                let is_parsed = self.languages.get().is_some();
                let bytes = self.accept_language().len();
                let once = if is_parsed { 0 } else { bytes.saturating_mul(16) };
                once.saturating_add(bytes.saturating_mul(ELEMENT_STEPS / 2))
            }
            Source::Seconds | Source::Milliseconds | Source::ServerPort => ELEMENT_STEPS,
            Source::Subdivision => 2 * PLATFORM_STEPS,
            _ if source.is_at_hand() => NODE_STEPS,
            _ => PLATFORM_STEPS,
        }
    }

    /// What it costs to take a map apart; nothing if that was done before.
    pub(super) fn steps_to_parse(&self, source: Source) -> usize {
        match source {
            Source::Arguments if self.arguments.get().is_none() => {
                let query = self.url.as_ref().and_then(|url| url.query).unwrap_or_default();
                query.len().saturating_mul(4)
            }
            Source::Cookies if self.cookies.get().is_none() => {
                // Names and values are copied one by one.
                self.steps_for_cookie().saturating_add(self.cookie().len().saturating_mul(8))
            }
            Source::Headers if self.headers.get().is_none() => {
                // Read at once, whatever they are: at most as much as the platform read itself.
                let bytes = |(name, value): &(Cow<'_, [u8]>, Cow<'_, [u8]>)| {
                    let bytes = name.len().saturating_add(value.len());
                    copy_steps(bytes).saturating_add(2 * PLATFORM_STEPS)
                };
                self.headers().iter().map(bytes).sum()
            }
            _ => 0,
        }
    }

    /// The cookies are read once from the platform.
    fn steps_for_cookie(&self) -> usize {
        if self.cookie.get().is_some() {
            return NODE_STEPS;
        }
        copy_steps(self.cookie().len()).saturating_add(PLATFORM_STEPS)
    }

    /// True if the headers were read all at once.
    pub(super) fn knows_all_headers(&self) -> bool {
        self.headers.get().is_some()
    }

    /// The value of one header as an entry of the map, read by itself.
    pub(super) fn header_entry(&self, name: &[u8]) -> Value<'_> {
        let is_lower = !name.iter().any(u8::is_ascii_uppercase);
        let name = std::str::from_utf8(name).ok().filter(|name| is_lower && !name.is_empty());
        let header = name.and_then(|name| self.source.header(name));
        header.map_or(Value::Missing, |value| Value::Array(vec![value.into()]))
    }

    /// The value of `name` in a map; missing if there is none.
    pub(super) fn entry(&self, source: Source, name: &[u8]) -> Value<'_> {
        let found = self.pairs(source).iter().filter(|(key, _)| **key == *name);
        let values: Vec<_> = found.map(|(_, value)| Value::borrowed(value)).collect();
        if values.is_empty() { Value::Missing } else { Value::Array(values) }
    }

    /// The values of a map by name, as an array of arrays in the order of the first of each name.
    pub(super) fn entries(&self, source: Source) -> Value<'_> {
        let mut places = BTreeMap::new();
        let mut entries: Vec<Vec<Value<'_>>> = Vec::new();
        for (name, value) in self.pairs(source) {
            let place = *places.entry(name.as_ref()).or_insert(entries.len());
            let value = Value::borrowed(value);
            match entries.get_mut(place) {
                Some(values) => values.push(value),
                None => entries.push(vec![value]),
            }
        }
        Value::Array(entries.into_iter().map(Value::Array).collect())
    }

    /// How many pairs a map has: what it costs to look through it.
    pub(super) fn count(&self, source: Source) -> usize {
        self.pairs(source).len()
    }

    fn pairs(&self, source: Source) -> &Pairs<'_> {
        match source {
            Source::Cookies => self.cookies(),
            Source::Headers => self.headers(),
            _ => self.arguments(),
        }
    }

    fn arguments(&self) -> &Pairs<'_> {
        self.arguments.get_or_init(|| {
            let query = self.url.as_ref().and_then(|url| url.query).unwrap_or_default();
            let pair = |argument: &'r str| {
                let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
                (Cow::Borrowed(name.as_bytes()), Cow::Borrowed(value.as_bytes()))
            };
            query.split('&').filter(|argument| !argument.is_empty()).map(pair).collect()
        })
    }

    fn cookies(&self) -> &Pairs<'_> {
        self.cookies.get_or_init(|| {
            let pair = |cookie: &str| {
                let (name, value) = cookie.split_once('=')?;
                let name = percent::decode(name.trim().as_bytes());
                Some((Cow::Owned(name), Cow::Owned(value.trim().as_bytes().to_vec())))
            };
            self.cookie().split(';').filter_map(pair).collect()
        })
    }

    fn cookie(&self) -> &str {
        self.cookie.get_or_init(|| self.source.header("cookie").unwrap_or_default())
    }

    fn accept_language(&self) -> &str {
        let read = || self.source.header("accept-language").unwrap_or_default();
        self.accept_language.get_or_init(read)
    }

    fn languages(&self) -> &[String] {
        self.languages.get_or_init(|| languages(self.accept_language()))
    }

    fn headers(&self) -> &Pairs<'_> {
        self.headers.get_or_init(|| {
            let headers = self.source.headers().into_iter();
            headers.map(|(name, value)| (into_bytes(name), into_bytes(value))).collect()
        })
    }

    /// Empty if the platform does not know it.
    fn property(&self, path: &str) -> Cow<'_, str> {
        self.source.property(path).unwrap_or_default()
    }

    fn is_secure(&self) -> bool {
        self.url.as_ref().is_some_and(|url| url.scheme.eq_ignore_ascii_case("https"))
    }

    /// Path and query.
    fn uri(&self) -> Cow<'r, str> {
        let Some(UrlParts { path, query, .. }) = self.url else { return Cow::Borrowed("") };
        match query {
            None => Cow::Borrowed(path),
            Some(query) => Cow::Owned(format!("{path}?{query}")),
        }
    }

    fn port(&self) -> i64 {
        let default = if self.is_secure() { 443 } else { 80 };
        let authority = self.source.url().split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '\\', '?', '#']).next().unwrap_or_default();
        // The colons of an IPv6 address stand before its closing bracket.
        let behind_address = authority.rsplit(']').next().unwrap_or_default();
        let port = behind_address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        port.map_or(default, i64::from)
    }

    /// The header also names the data center, behind a dash.
    fn ray_id(&self) -> Cow<'_, str> {
        let ray = self.source.header("cf-ray").unwrap_or_default();
        match ray.split_once('-') {
            Some((id, _)) => Cow::Owned(id.to_owned()),
            None => ray,
        }
    }

    fn subdivision(&self) -> Value<'_> {
        match (self.source.property("country"), self.source.property("regionCode")) {
            (Some(country), Some(region)) => Value::from(Cow::Owned(format!("{country}-{region}"))),
            _ => Value::Missing,
        }
    }
}

fn names<'p>(pairs: &'p Pairs<'_>) -> Value<'p> {
    Value::Array(pairs.iter().map(|(name, _)| Value::borrowed(name)).collect())
}

fn values<'p>(pairs: &'p Pairs<'_>) -> Value<'p> {
    Value::Array(pairs.iter().map(|(_, value)| Value::borrowed(value)).collect())
}

fn integer<'v>(number: u64) -> Value<'v> {
    i64::try_from(number).map_or(Value::Missing, Value::Integer)
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// What stands behind the last dot of the last segment, in lower case; a dot at the start of the
/// segment marks a hidden file and not an extension.
fn extension(path: &str) -> Cow<'_, str> {
    let segment = path.rsplit('/').next().unwrap_or_default();
    let extension = match segment.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension,
        _ => "",
    };
    if extension.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(extension.to_ascii_lowercase())
    } else {
        Cow::Borrowed(extension)
    }
}

/// The language tags of an `Accept-Language` header, the best liked first.
fn languages(header: &str) -> Vec<String> {
    let weighted = |entry: &str| {
        let (tag, parameters) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = parameters.trim().strip_prefix("q=").map_or(1_000, per_mille);
        let tag = tag.trim();
        (!tag.is_empty()).then(|| (weight, tag.to_owned()))
    };
    let tags = header.split(',').filter_map(weighted).collect();
    let best_first = sorted::stably_by_number(tags, |(weight, _)| u64::from(1_000 - weight));
    best_first.into_iter().map(|(_, tag)| tag).collect()
}

/// A weight of `Accept-Language` (RFC 9110 section 12.4.2) in thousandths; 0 if it is none.
fn per_mille(weight: &str) -> u32 {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let thousandths = format!("{fraction:0<3}");
    let thousandths = thousandths.get(..3).and_then(|digits| digits.parse::<u32>().ok());
    match (whole, thousandths) {
        ("0", Some(thousandths)) => thousandths,
        ("1", Some(_)) => 1_000,
        _ => 0,
    }
}
