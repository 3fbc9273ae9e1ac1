//! What rules, pages and the core read of a request, each part only when it is needed.
//!
//! What is read here is personal data: do not log or store it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;
use std::net::IpAddr;

use room_core::base::prefix_budget::ClientPrefix;
use room_core::base::time::Timestamp;
use room_core::page::arrival::{CHECK_IN_HEADER, HIDDEN};
use room_core::rules::{Body, RequestSource};
use room_core::ticket::client::ClientMark;
use room_core::visit::request::{KindHeaders, USUAL_HEADERS};

use crate::platform;
use crate::platform::request::IncomingRequest;

/// The headers of a visit. The usual ones are read together on first use, since a call to
/// JavaScript takes longer than reading a header.
pub struct VisitHeaders<'r> {
    /// The platform's request.
    pub request: &'r IncomingRequest,
    usual: OnceCell<[String; USUAL_HEADERS.len()]>,
}

impl<'r> VisitHeaders<'r> {
    /// Makes the headers without reading any.
    pub fn new(request: &'r IncomingRequest) -> Self {
        Self { request, usual: OnceCell::new() }
    }

    /// Returns the header of this name, in lower case; "" if there is none.
    pub fn header(&self, name: &str) -> String {
        let usual = USUAL_HEADERS.iter().position(|one| *one == name);
        usual.map_or_else(
            || self.request.header(name).unwrap_or_default(),
            |at| self.usual(at).to_owned(),
        )
    }

    /// Whether the request is a check-in of a page that reports itself as hidden.
    pub fn is_hidden(&self) -> bool {
        self.header(CHECK_IN_HEADER) == HIDDEN
    }

    /// Returns the network of the client.
    pub fn client_prefix(&self) -> ClientPrefix {
        ClientPrefix::of(self.request.client_address())
    }

    /// Returns the client's own address and its network.
    pub fn client_prefixes(&self) -> [ClientPrefix; 2] {
        [ClientPrefix::of_one(self.request.client_address()), self.client_prefix()]
    }

    /// Returns the mark by which tickets remember the client.
    pub fn client_mark(&self) -> ClientMark {
        ClientMark::of(self.client_prefix(), &self.header("user-agent"))
    }

    fn usual(&self, at: usize) -> &str {
        let read = || {
            let text = self.request.usual_headers();
            let mut values = text.split('\n').map(str::to_owned);
            std::array::from_fn(|_| values.next().unwrap_or_default())
        };
        self.usual.get_or_init(read).get(at).map_or("", String::as_str)
    }
}

impl KindHeaders for VisitHeaders<'_> {
    fn purpose(&self) -> &str {
        self.usual(0)
    }

    fn upgrade(&self) -> &str {
        self.usual(1)
    }
}

impl fmt::Debug for VisitHeaders<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers are personal data.
        formatter.write_str("VisitHeaders")
    }
}

/// A complete source of a request: all that rules can read.
pub struct Incoming<'r> {
    /// The absolute URL of the request.
    pub url: &'r str,
    /// The HTTP method, in capitals.
    pub method: &'r str,
    /// The platform's request, for everything else.
    pub request: &'r IncomingRequest,
    /// The part of its body that was read.
    pub body: Body<'r>,
}

impl RequestSource for Incoming<'_> {
    fn url(&self) -> &str {
        self.url
    }

    fn method(&self) -> &str {
        self.method
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.request.header(name).map(Cow::Owned)
    }

    fn headers(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let all = self.request.all_headers().into_iter();
        all.map(|(name, value)| (Cow::Owned(name), Cow::Owned(value))).collect()
    }

    fn client_address(&self) -> Option<IpAddr> {
        self.request.client_address()
    }

    fn body(&self) -> Body<'_> {
        // Nearly all requests have none, and need not wait for it.
        let is_empty = self.body == Body::Unread && !self.request.has_body();
        if is_empty { Body::Read(&[]) } else { self.body }
    }

    fn now(&self) -> Timestamp {
        platform::now()
    }

    fn property(&self, path: &str) -> Option<Cow<'_, str>> {
        self.request.property(path).map(Cow::Owned)
    }

    fn tells(&self, path: &str) -> bool {
        self.request.tells(path)
    }
}
