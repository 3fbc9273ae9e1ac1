//! The request as the platform has it. What is read here is personal data: do not log or store it.

use std::net::IpAddr;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// The platform's `Request` object.
    pub type IncomingRequest;

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

#[wasm_bindgen(raw_module = "../../../src/usual_headers.js")]
extern "C" {
    fn usual_headers(request: &IncomingRequest) -> String;
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

    /// Returns all headers: name and value.
    pub fn all_headers(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut take = |value, name| all.push((name, value));
        self.headers().for_each(&mut take);
        all
    }

    /// Returns the values of the headers of `visit::request::USUAL_HEADERS`, each with a line end.
    pub fn usual_headers(&self) -> String {
        usual_headers(self)
    }

    /// Returns the address of the client; `None` if it is not known.
    pub fn client_address(&self) -> Option<IpAddr> {
        client_address(self).parse().ok()
    }

    /// Returns another property that the platform gives, by its path, as text; `None` if there is
    /// none, or no single value.
    pub fn property(&self, path: &str) -> Option<String> {
        let mut value = client_properties(self);
        for name in path.split('.') {
            // An error if the value is of a kind that has no properties.
            value = property_of(&value, name).ok()?;
        }
        if value.is_undefined() || value.is_null() || value.is_object() {
            return None;
        }
        text_of(&value).ok()
    }

    /// Whether the platform gives this property at all.
    pub fn tells(&self, path: &str) -> bool {
        client_tells(self, path)
    }
}
