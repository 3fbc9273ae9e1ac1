//! The request as the platform has it. Each part is read only when a rule or a page needs it.
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
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::platform;

#[wasm_bindgen]
extern "C" {
    /// The platform's `Request` object.
    pub type IncomingRequest;

    /// Returns the absolute URL.
    #[wasm_bindgen(method, getter)]
    pub fn url(this: &IncomingRequest) -> String;

    /// Returns the HTTP method, in capitals.
    #[wasm_bindgen(method, getter)]
    pub fn method(this: &IncomingRequest) -> String;

    #[wasm_bindgen(method, getter)]
    fn headers(this: &IncomingRequest) -> Headers;

    /// Returns the stream of the body; null if there is none.
    #[wasm_bindgen(method, getter)]
    fn body(this: &IncomingRequest) -> JsValue;

    type Headers;

    /// Returns a header. Errors: a name that no header can have.
    #[wasm_bindgen(method, catch)]
    fn get(this: &Headers, name: &str) -> Result<Option<String>, JsValue>;

    #[wasm_bindgen(method, js_name = forEach)]
    fn for_each(this: &Headers, take: &mut dyn FnMut(String, String));

    #[wasm_bindgen(catch, js_namespace = Reflect, js_name = get)]
    fn property_of(object: &JsValue, name: &str) -> Result<JsValue, JsValue>;

    /// Converts a primitive value to text.
    #[wasm_bindgen(catch, js_name = String)]
    fn text_of(value: &JsValue) -> Result<String, JsValue>;
}

#[wasm_bindgen(raw_module = "../../../src/client.js")]
extern "C" {
    /// Returns the address of the client as the platform gives it; "" if it is not known.
    #[wasm_bindgen(js_name = clientAddress)]
    fn client_address(request: &IncomingRequest) -> String;

    /// Returns the other properties that the platform gives, as an object or undefined.
    #[wasm_bindgen(js_name = clientProperties)]
    fn client_properties(request: &IncomingRequest) -> JsValue;

    /// Returns whether the platform gives this property of the request.
    #[wasm_bindgen(js_name = clientTells)]
    fn client_tells(request: &IncomingRequest, path: &str) -> bool;
}

impl IncomingRequest {
    /// Whether the request has a body.
    pub fn has_body(&self) -> bool {
        !self.body().is_null()
    }

    /// Returns the header of this name; `None` if there is none.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers().get(name).ok().flatten()
    }
}

#[wasm_bindgen(raw_module = "../../../src/usual_headers.js")]
extern "C" {
    /// Returns the values of [`USUAL_HEADERS`], each with a line end.
    fn usual_headers(request: &IncomingRequest) -> String;
}

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
        ClientPrefix::of(client_address(self.request).parse().ok())
    }

    /// Returns the mark by which tickets remember the client.
    pub fn client_mark(&self) -> ClientMark {
        ClientMark::of(self.client_prefix(), &self.header("user-agent"))
    }

    fn usual(&self, at: usize) -> &str {
        let read = || {
            let text = usual_headers(self.request);
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
        let mut headers = Vec::new();
        let mut take = |value, name| headers.push((Cow::Owned(name), Cow::Owned(value)));
        self.request.headers().for_each(&mut take);
        headers
    }

    fn client_address(&self) -> Option<IpAddr> {
        client_address(self.request).parse().ok()
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
        let mut value = client_properties(self.request);
        for name in path.split('.') {
            // An error if the value is of a kind that has no properties.
            value = property_of(&value, name).ok()?;
        }
        if value.is_undefined() || value.is_null() || value.is_object() {
            return None;
        }
        text_of(&value).ok().map(Cow::Owned)
    }

    fn tells(&self, path: &str) -> bool {
        client_tells(self.request, path)
    }
}
