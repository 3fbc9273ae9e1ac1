//! What rules can read of a request: the parts that the platform gives, and fields that are made
//! from them on demand.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use percent_encoding::percent_decode;

use super::body::{self, Body};
use super::budget::{ELEMENT_STEPS, NODE_STEPS, PLATFORM_STEPS, Stop, copy_steps};
use super::field::Source;
use super::value::Value;
use crate::base::accept_language::{self, FULL_QUALITY};
use crate::base::path::has_one_reading;
use crate::base::sorted;
use crate::base::time::Timestamp;
use crate::base::url::{UrlParts, authority, lower_case, split_url};

/// The parts of a request that the platform gives. Each is read only when a rule needs it, maybe
/// more than once.
pub trait RequestSource {
    /// Returns the absolute URL.
    fn url(&self) -> &str;
    /// Returns the HTTP method, in capitals.
    fn method(&self) -> &str;
    /// Returns the header of this name, which is in lower case. Several headers are joined as the
    /// platform does it.
    fn header(&self, name: &str) -> Option<Cow<'_, str>>;
    /// Returns all headers as names in lower case and values, in the order of the platform.
    fn headers(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)>;
    /// Returns the client's address as the platform saw it, not as a header of the client says.
    fn client_address(&self) -> Option<IpAddr>;
    /// Returns when the request came.
    fn now(&self) -> Timestamp;
    /// Returns a property of `request.cf` as text, a nested one by a dotted path like
    /// `tlsClientAuth.certVerified`. Numbers are in decimal, Booleans `true` and `false`.
    fn property(&self, path: &str) -> Option<Cow<'_, str>>;
    /// Whether the platform gives this property of the request, which may be empty. A rule that
    /// needs a property that is not given matches nobody, however it compares it.
    fn tells(&self, _path: &str) -> bool {
        true
    }
    /// Returns what is known of the body. Rules wait for one that is [`Body::Unread`].
    fn body(&self) -> Body<'_> {
        Body::Unread
    }
    /// Whether the source has all parts; the body may be missing. An incomplete source has URL,
    /// method, cookies and time. If it returns nothing for another part, the request may still have
    /// that part.
    fn is_complete(&self) -> bool {
        true
    }
}

/// The fields of one request. Those that take work are made once and kept.
pub struct RequestFields<'r> {
    source: &'r dyn RequestSource,
    url: Option<UrlParts<'r>>,
    /// Whether servers may read the path in different ways. Set once a rule has asked for it.
    ambiguous: OnceCell<bool>,
    address: OnceCell<Option<IpAddr>>,
    arguments: OnceCell<Pairs<'r>>,
    body: OnceCell<Body<'r>>,
    form: OnceCell<Pairs<'r>>,
    cookie: OnceCell<Cow<'r, str>>,
    cookies: OnceCell<Pairs<'r>>,
    headers: OnceCell<Pairs<'r>>,
    accept_language: OnceCell<Cow<'r, str>>,
    languages: OnceCell<Vec<String>>,
}

/// Names and values in their order. A name may occur more than once.
pub(super) type Pairs<'r> = Vec<(Cow<'r, [u8]>, Cow<'r, [u8]>)>;

impl<'r> RequestFields<'r> {
    /// Makes the fields of the request in `source`.
    pub fn new(source: &'r dyn RequestSource) -> Self {
        Self {
            source,
            url: split_url(source.url()),
            ambiguous: OnceCell::new(),
            address: OnceCell::new(),
            arguments: OnceCell::new(),
            body: OnceCell::new(),
            form: OnceCell::new(),
            cookie: OnceCell::new(),
            cookies: OnceCell::new(),
            headers: OnceCell::new(),
            accept_language: OnceCell::new(),
            languages: OnceCell::new(),
        }
    }

    /// Stops an evaluation if the source lacks what a field is made from.
    pub(super) fn check(&self, source: Source) -> Result<(), Stop> {
        if source.is_at_hand() {
            return Ok(());
        }
        if !self.source.is_complete() {
            return Err(Stop::Lacking);
        }
        if source.property().is_some_and(|path| !self.source.tells(path)) {
            return Err(Stop::Untold);
        }
        if !source.is_of_body() {
            return Ok(());
        }
        match self.body() {
            Body::Read(_) => Ok(()),
            Body::Unreadable => Err(Stop::Unreadable),
            Body::Unread => Err(Stop::Lacking),
        }
    }

    /// Whether servers may read the path of the URL in different ways.
    pub(super) fn is_path_ambiguous(&self) -> bool {
        *self.ambiguous.get_or_init(|| self.url.is_some_and(|url| !has_one_reading(url.path)))
    }

    /// Returns the client's address. The platform is asked once, since many of a hundred rules want
    /// it.
    fn address(&self) -> Option<IpAddr> {
        *self.address.get_or_init(|| self.source.client_address())
    }

    /// Returns the value of a field that is no map.
    pub(super) fn value(&self, source: Source) -> Value<'_> {
        let url = self.url.as_ref();
        let text = |text: Option<&'r str>| Value::from(text.unwrap_or_default());
        let path = url.map_or("", |url| url.path);
        match source {
            Source::Address => self.address().map_or(Value::Missing, Value::Ip),
            Source::ArgumentNames => names(self.arguments()),
            Source::ArgumentValues => values(self.arguments()),
            Source::BodyFormNames => names(self.form()),
            Source::BodyFormValues => values(self.form()),
            Source::BodyMime => body::media_type(self.body().bytes()).map(Cow::Borrowed).into(),
            Source::BodyRaw => Value::borrowed(self.body().bytes()),
            Source::BodySize => self.body_size(),
            Source::BodyTruncated => Value::Boolean(self.body().is_truncated()),
            Source::CertificateVerified => {
                Value::Boolean(self.property("tlsClientAuth.certVerified") == "SUCCESS")
            }
            Source::Extension => Value::from(extension(path)),
            Source::FullUri => Value::from(full_uri(self.source.url())),
            Source::Header("cookie") => Value::from(self.cookie()),
            Source::Header(name) => Value::from(self.source.header(name).unwrap_or_default()),
            Source::HeaderNames => names(self.headers()),
            Source::HeaderValues => values(self.headers()),
            Source::HeadersTruncated => Value::Boolean(false),
            Source::Host => Value::from(url.map_or("".into(), |url| lower_case(url.host))),
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
            Source::Arguments | Source::BodyForm | Source::Cookies | Source::Headers => {
                Value::Missing
            }
        }
    }

    /// Returns the steps of reading a field that is no map and no part of one, without the bytes of
    /// an answer of the platform.
    pub(super) fn steps_to_read(&self, source: Source) -> usize {
        let url_bytes = self.source.url().len();
        match source {
            Source::Path if self.ambiguous.get().is_none() => copy_steps(url_bytes),
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
            Source::BodyMime => body::SNIFFED_BYTES.saturating_add(PLATFORM_STEPS),
            Source::Seconds | Source::Milliseconds | Source::ServerPort => ELEMENT_STEPS,
            Source::Subdivision => 2 * PLATFORM_STEPS,
            _ if source.is_at_hand() => NODE_STEPS,
            _ => PLATFORM_STEPS,
        }
    }

    /// Returns the steps of splitting a map; 0 if that was done before.
    pub(super) fn steps_to_parse(&self, source: Source) -> usize {
        match source {
            Source::Arguments if self.arguments.get().is_none() => {
                let query = self.url.as_ref().and_then(|url| url.query).unwrap_or_default();
                query.len().saturating_mul(4)
            }
            Source::BodyForm if self.form.get().is_none() => {
                self.form_text().len().saturating_mul(4).saturating_add(PLATFORM_STEPS)
            }
            Source::Cookies if self.cookies.get().is_none() => {
                // Names and values are copied one by one.
                self.steps_for_cookie().saturating_add(self.cookie().len().saturating_mul(8))
            }
            Source::Headers if self.headers.get().is_none() => {
                // They are read here and paid for afterwards: the platform has read as much before.
                let bytes = |(name, value): &(Cow<'_, [u8]>, Cow<'_, [u8]>)| {
                    let bytes = name.len().saturating_add(value.len());
                    copy_steps(bytes).saturating_add(2 * PLATFORM_STEPS)
                };
                self.headers().iter().map(bytes).sum()
            }
            _ => 0,
        }
    }

    /// Returns the steps of reading the `Cookie` header. The platform is asked for it once.
    fn steps_for_cookie(&self) -> usize {
        if self.cookie.get().is_some() {
            return NODE_STEPS;
        }
        copy_steps(self.cookie().len()).saturating_add(PLATFORM_STEPS)
    }

    /// Whether all headers have been read.
    pub(super) fn knows_all_headers(&self) -> bool {
        self.headers.get().is_some()
    }

    /// Returns one entry of the map of headers, without reading the other headers.
    pub(super) fn header_entry(&self, name: &[u8]) -> Value<'_> {
        let is_lower = !name.iter().any(u8::is_ascii_uppercase);
        let name = std::str::from_utf8(name).ok().filter(|name| is_lower && !name.is_empty());
        let header = name.and_then(|name| self.source.header(name));
        header.map_or(Value::Missing, |value| Value::Array(vec![value.into()]))
    }

    /// Returns the values of `name` in a map as an array. Missing if there is none.
    pub(super) fn entry(&self, source: Source, name: &[u8]) -> Value<'_> {
        let found = self.pairs(source).iter().filter(|(key, _)| **key == *name);
        let values: Vec<_> = found.map(|(_, value)| Value::borrowed(value)).collect();
        if values.is_empty() { Value::Missing } else { Value::Array(values) }
    }

    /// Returns the values of a map as an array of arrays, one for each name, in the order in which
    /// the names first occur.
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

    /// Counts the pairs of a map.
    pub(super) fn count(&self, source: Source) -> usize {
        self.pairs(source).len()
    }

    fn pairs(&self, source: Source) -> &Pairs<'_> {
        match source {
            Source::BodyForm => self.form(),
            Source::Cookies => self.cookies(),
            Source::Headers => self.headers(),
            _ => self.arguments(),
        }
    }

    fn arguments(&self) -> &Pairs<'_> {
        self.arguments.get_or_init(|| {
            let query = self.url.as_ref().and_then(|url| url.query).unwrap_or_default();
            form_pairs(query.as_bytes())
        })
    }

    fn body(&self) -> Body<'r> {
        *self.body.get_or_init(|| self.source.body())
    }

    /// Returns the length of the whole body, if it is known.
    fn body_size(&self) -> Value<'_> {
        let body = self.body();
        if !body.is_truncated() {
            return integer(body.bytes().len() as u64);
        }
        let told = self.source.header("content-length");
        told.and_then(|bytes| bytes.parse().ok()).map_or(Value::Missing, Value::Integer)
    }

    fn form(&self) -> &Pairs<'r> {
        self.form.get_or_init(|| form_pairs(self.form_text()))
    }

    /// Returns the body if it is a form; "" if it is none.
    fn form_text(&self) -> &'r [u8] {
        let content_type = self.source.header("content-type").unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let is_form = media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded");
        if is_form { self.body().bytes() } else { &[] }
    }

    fn cookies(&self) -> &Pairs<'_> {
        self.cookies.get_or_init(|| {
            let pair = |cookie: &str| {
                let (name, value) = cookie.split_once('=')?;
                let name = percent_decode(name.trim().as_bytes()).collect();
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

    /// Returns a property of `request.cf`; empty if the platform does not give it.
    fn property(&self, path: &str) -> Cow<'_, str> {
        self.source.property(path).unwrap_or_default()
    }

    fn is_secure(&self) -> bool {
        self.url.as_ref().is_some_and(|url| url.scheme.eq_ignore_ascii_case("https"))
    }

    /// Returns path and query of the URL.
    fn uri(&self) -> Cow<'r, str> {
        let Some(UrlParts { path, query, .. }) = self.url else { return Cow::Borrowed("") };
        match query {
            None => Cow::Borrowed(path),
            Some(query) => Cow::Owned(format!("{path}?{query}")),
        }
    }

    fn port(&self) -> i64 {
        let default = if self.is_secure() { 443 } else { 80 };
        self.url.as_ref().and_then(|url| url.port).map_or(default, i64::from)
    }

    /// Returns the id of the request from its `Cf-Ray` header. The header also names the data
    /// center, behind a dash.
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

/// Splits a query or a form into names and values, without decoding them.
fn form_pairs(text: &[u8]) -> Pairs<'_> {
    let parts = text.split(|byte| *byte == b'&').filter(|part| !part.is_empty());
    let pair = |part| {
        let mut halves = <[u8]>::splitn(part, 2, |byte| *byte == b'=');
        let mut half = || Cow::Borrowed(halves.next().unwrap_or_default());
        (half(), half())
    };
    parts.map(pair).collect()
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

/// Returns the part behind the last dot of the last segment of a path, in lower case. A dot at the
/// start of the segment marks a hidden file and not an extension.
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

/// Returns the language tags of an `Accept-Language` header, the preferred ones first. Tags with
/// something else than a quality behind the `;` come last.
fn languages(header: &str) -> Vec<String> {
    let tags = accept_language::entries(header).filter(|(tag, _)| !tag.is_empty()).collect();
    let best_first = sorted::stably_by_number(tags, |(_, quality)| {
        u64::from(FULL_QUALITY.saturating_sub(quality.unwrap_or(0)))
    });
    best_first.into_iter().map(|(tag, _)| tag.to_owned()).collect()
}

/// Returns the URL without its fragment, with the host in lower case, as browsers send it.
fn full_uri(url: &str) -> Cow<'_, str> {
    let url = url.split('#').next().unwrap_or_default();
    let written = authority(url).unwrap_or_default();
    match (lower_case(written), url.split_once("://")) {
        (Cow::Owned(lower), Some((scheme, rest))) => {
            format!("{scheme}://{lower}{}", rest.get(written.len()..).unwrap_or_default()).into()
        }
        _ => url.into(),
    }
}
