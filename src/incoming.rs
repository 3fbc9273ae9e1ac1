//! The request as the platform has it. Each part is read only when a rule or a page asks for it.
//!
//! What is read here is personal data: do not log or store it.

use std::borrow::Cow;
use std::net::IpAddr;

use room_core::base::prefix_budget::ClientPrefix;
use room_core::base::time::Timestamp;
use room_core::rules::RequestSource;
use room_core::ticket::client::ClientMark;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::platform;

/// The header in which the platform tells the client's address. It replaces such a header of the
/// client.
const ADDRESS_HEADER: &str = "cf-connecting-ip";

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

    #[wasm_bindgen(method, getter)]
    fn cf(this: &IncomingRequest) -> JsValue;

    type Headers;

    /// Returns a header; an error for a name that no header can have.
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

impl IncomingRequest {
    /// Whether the request has a body. Only asked where one would be wrong.
    pub fn has_body(&self) -> bool {
        !self.body().is_null()
    }

    /// Returns the header of this name; "" if there is none.
    pub fn header(&self, name: &str) -> String {
        self.headers().get(name).ok().flatten().unwrap_or_default()
    }
}

impl IncomingRequest {
    /// Returns the network of the client.
    pub fn client_prefix(&self) -> ClientPrefix {
        ClientPrefix::of(self.header(ADDRESS_HEADER).parse().ok())
    }

    /// Returns the mark by which tickets remember the client.
    pub fn client_mark(&self) -> ClientMark {
        ClientMark::of(self.client_prefix(), &self.header("user-agent"))
    }
}

/// A complete source of a request: all that rules can ask for.
pub struct Incoming<'r> {
    /// The absolute URL of the request.
    pub url: &'r str,
    /// The HTTP method, in capitals.
    pub method: &'r str,
    /// The platform's request, for everything else.
    pub request: &'r IncomingRequest,
}

impl RequestSource for Incoming<'_> {
    fn url(&self) -> &str {
        self.url
    }

    fn method(&self) -> &str {
        self.method
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.request.headers().get(name).ok().flatten().map(Cow::Owned)
    }

    fn headers(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let mut headers = Vec::new();
        let mut take = |value, name| headers.push((Cow::Owned(name), Cow::Owned(value)));
        self.request.headers().for_each(&mut take);
        headers
    }

    fn client_address(&self) -> Option<IpAddr> {
        self.request.header(ADDRESS_HEADER).parse().ok()
    }

    fn now(&self) -> Timestamp {
        platform::now()
    }

    fn property(&self, path: &str) -> Option<Cow<'_, str>> {
        let mut value = self.request.cf();
        for name in path.split('.') {
            // An error if the value is of a kind that has no properties.
            value = property_of(&value, name).ok()?;
        }
        if value.is_undefined() || value.is_null() || value.is_object() {
            return None;
        }
        text_of(&value).ok().map(Cow::Owned)
    }
}
