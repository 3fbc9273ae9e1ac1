//! The request that the tables ask about, and their one way to ask.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use room_core::base::sorted::SortedMap;
use room_core::base::time::Timestamp;
use room_core::rules::{
    Body, End, Expression, ExpressionError, List, ListKind, Lists, Outcome, RequestFields,
    RequestSource, first_match, parse_rule_expression,
};

/// A request made of plain parts.
#[derive(Clone)]
pub struct Request {
    pub url: String,
    pub method: &'static str,
    pub headers: Vec<(String, String)>,
    pub address: Option<&'static str>,
    /// How often the address was asked for.
    pub asked_for_address: Cell<u32>,
    pub properties: BTreeMap<&'static str, &'static str>,
    /// The properties that the platform does not tell.
    pub untold: &'static [&'static str],
    pub body: Body<'static>,
}

impl RequestSource for Request {
    fn url(&self) -> &str {
        &self.url
    }

    fn method(&self) -> &str {
        self.method
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| Cow::Borrowed(value.as_str()))
    }

    fn headers(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let pair = |(name, value): &(String, String)| {
            (Cow::Owned(name.clone()), Cow::Owned(value.clone()))
        };
        self.headers.iter().map(pair).collect()
    }

    fn client_address(&self) -> Option<IpAddr> {
        self.asked_for_address.set(self.asked_for_address.get() + 1);
        self.address.map(|address| address.parse().expect("an address"))
    }

    fn now(&self) -> Timestamp {
        Timestamp(1_795_219_200_857)
    }

    fn body(&self) -> Body<'_> {
        self.body
    }

    fn property(&self, path: &str) -> Option<Cow<'_, str>> {
        self.properties.get(path).map(|value| Cow::Borrowed(*value))
    }

    fn tells(&self, path: &str) -> bool {
        !self.untold.contains(&path)
    }
}

/// A visitor in Bavaria with an old browser, who asks for an archive of the shop.
pub fn visitor() -> Request {
    let headers = [
        ("accept-language", "de;q=0.8, en-GB, fr;q=0.25, *;q=0"),
        ("cf-ray", "8d3f1a2b4c5d6e7f-MUC"),
        ("cookie", "session=abc=1; %73ession=two; theme = dark ; flag; empty="),
        ("referer", "https://search.example/?q=shop"),
        ("user-agent", "Mozilla/5.0 (X11) \"Old\" Browser/1.0"),
        ("x-data", r#"{"user":{"id":7,"name":"eve","tags":["a","b"]},"f":42.0,"ok":true}"#),
        ("x-forwarded-for", "192.0.2.1, 192.0.2.2"),
    ];
    Request {
        url: concat!(
            "https://shop.example.net:8443/Sale/archive.tar.GZ",
            "?filter=waf&filter=botm&x=a%20b+c&k#top"
        )
        .to_owned(),
        method: "GET",
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        address: Some("203.0.113.7"),
        asked_for_address: Cell::new(0),
        properties: BTreeMap::from([
            ("asn", "64496"),
            ("city", "M\u{fc}nchen"),
            ("clientTcpRtt", "23"),
            ("continent", "EU"),
            ("country", "DE"),
            ("httpProtocol", "HTTP/2"),
            ("isEUCountry", "1"),
            ("latitude", "48.13743"),
            ("postalCode", "80331"),
            ("region", "Bavaria"),
            ("regionCode", "BY"),
            ("timezone", "Europe/Berlin"),
            ("tlsCipher", "AEAD-AES128-GCM-SHA256"),
            ("tlsClientAuth.certPresented", "1"),
            ("tlsClientAuth.certRevoked", "0"),
            ("tlsClientAuth.certVerified", "SUCCESS"),
            ("tlsVersion", "TLSv1.3"),
        ]),
        untold: &[],
        body: Body::Read(b""),
    }
}

/// The lists that expressions of the tables may refer to.
pub fn lists() -> Lists {
    SortedMap::from([
        ("carriers".to_owned(), List::of_asns([64_496, 64_500])),
        ("hosts".to_owned(), List::of_hostnames(["*.example.net"]).expect("names")),
        ("office".to_owned(), List::of_ips(["203.0.113.0/24", "2001:db8::/32"]).expect("ranges")),
        ("others".to_owned(), List::of_ips(["198.51.100.0/24"]).expect("ranges")),
    ])
}

/// Their names and kinds, and one that is gone at request time.
pub fn known_lists() -> SortedMap<String, ListKind> {
    let mut known: SortedMap<_, _> =
        lists().into_iter().map(|(name, list)| (name, list.kind())).collect();
    known.insert("gone".to_owned(), ListKind::Ip);
    known
}

/// The expression, or what is wrong with it.
pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
    parse_rule_expression(text, &known_lists())
}

/// What one expression says, the steps it takes, and whether they are used up.
pub fn evaluate(expression: &Expression, request: &Request) -> (bool, usize, bool) {
    let Outcome { end, steps } = first_match([expression], &RequestFields::new(request), &lists());
    (end == End::Match(0), steps, end == End::Exhausted)
}

/// Each expression gives `want` for `visitor`, whatever else is in its table; so does its print.
pub fn check(want: bool, expressions: &[&str]) {
    let wrong = expressions.iter().filter_map(|text| {
        let expression = match parse(text) {
            Ok(expression) => expression,
            Err(error) => return Some(format!("{text}\n  is refused: {error}")),
        };
        let printed = parse(&expression.to_string());
        if printed.as_ref() != Ok(&expression) {
            return Some(format!("{text}\n  prints {expression}, which gives {printed:?}"));
        }
        let (found, _, _) = evaluate(&expression, &visitor());
        (found != want).then(|| format!("{text}\n  gives {found}"))
    });
    let wrong = wrong.collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
