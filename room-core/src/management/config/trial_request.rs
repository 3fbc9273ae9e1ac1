//! Reads a made-up request with which an owner tries rules before a visitor comes.

use std::borrow::Cow;
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::bypass_rule::expression;
use super::field_error::{ErrorCode, FieldError, Problem};
use super::fields::Fields;
use super::value::{malformed, text, wrong_type};
use crate::base::time::Timestamp;
use crate::base::url::split_url;
use crate::rules::{BODY_BYTES_MAX, Body, Expression, KnownLists, RequestSource};

/// The longest URL, method and header, in bytes. Ours: servers take no longer ones.
const MAX_PART_BYTES: usize = 16 * 1_024;
/// Most headers. The number is ours.
const MAX_HEADERS: usize = 100;

/// A request that nobody has sent, as far as its owner describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialRequest {
    url: String,
    method: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    address: Option<IpAddr>,
    body: String,
    /// What the platform would say about it, as `request.cf`.
    properties: Value,
    now: Timestamp,
}

impl TrialRequest {
    /// Returns the absolute URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// An expression that is no rule yet: its text, and what it was compiled to.
pub type Draft = (String, Expression);

/// Reads a request that comes at `now`, and the expression to try with the existing rules, if there
/// is one. It may refer to `lists`. Pointers of errors begin at the object.
pub fn read_trial(
    value: &Value,
    now: Timestamp,
    lists: &KnownLists,
) -> Result<(TrialRequest, Option<Draft>), Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let url = fields.required("url", absolute_url);
    let method = fields.optional("method", "GET", text(MAX_PART_BYTES));
    let headers = read_headers(&mut fields);
    let body = fields.optional("body", "", text(BODY_BYTES_MAX));
    let address = fields.optional("address", None, |value| address(value).map(Some));
    let no_properties = Map::new();
    let properties = fields.optional("cf", &no_properties, object);
    let draft = fields.optional("expression", None, |value| expression(value, lists).map(Some));
    let request = || {
        Some(TrialRequest {
            url: url?.to_owned(),
            method: method?.to_ascii_uppercase(),
            headers: headers?,
            address: address?,
            body: body?.to_owned(),
            properties: Value::Object(properties?.clone()),
            now,
        })
    };
    let draft = draft.map(|draft| draft.map(|(text, compiled)| (text.to_owned(), compiled)));
    let request = request().zip(draft);
    let errors = fields.finish();
    request.filter(|_| errors.is_empty()).ok_or(errors)
}

fn absolute_url(value: &Value) -> Result<&str, Problem> {
    let url = text(MAX_PART_BYTES)(value)?;
    let rule = "must be an absolute URL, like https://shop.example/checkout";
    split_url(url).map(|_| url).ok_or_else(|| malformed(url, rule))
}

fn address(value: &Value) -> Result<IpAddr, Problem> {
    let address = text(MAX_PART_BYTES)(value)?;
    let rule = "must be an IP address like 203.0.113.7 or 2001:db8::7";
    address.parse().map_err(|_| malformed(address, rule))
}

fn object(value: &Value) -> Result<&Map<String, Value>, Problem> {
    value.as_object().ok_or_else(|| wrong_type("an object", value))
}

fn read_headers(fields: &mut Fields<'_>) -> Option<Vec<(String, String)>> {
    let Some(value) = fields.value("headers") else { return Some(Vec::new()) };
    let headers = fields.keep("headers", header_list(value))?;
    let values = fields.each("headers", headers, text(MAX_PART_BYTES))?;
    let named = headers.keys().zip(values);
    Some(named.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect())
}

fn header_list(value: &Value) -> Result<&Map<String, Value>, Problem> {
    let headers = object(value)?;
    if headers.len() <= MAX_HEADERS {
        return Ok(headers);
    }
    let message = format!("must be at most {MAX_HEADERS}, but are {}", headers.len());
    Err(Problem { code: ErrorCode::OutOfRange, message })
}

impl RequestSource for TrialRequest {
    fn url(&self) -> &str {
        &self.url
    }

    fn method(&self) -> &str {
        &self.method
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, value) = self.headers.iter().find(|(one, _)| one == name)?;
        Some(Cow::Borrowed(value))
    }

    fn headers(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let borrowed = |(name, value): &'_ (String, String)| {
            (Cow::Owned(name.clone()), Cow::Owned(value.clone()))
        };
        self.headers.iter().map(borrowed).collect()
    }

    fn client_address(&self) -> Option<IpAddr> {
        self.address
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn body(&self) -> Body<'_> {
        Body::Read(self.body.as_bytes())
    }

    fn property(&self, path: &str) -> Option<Cow<'_, str>> {
        let value = path.split('.').try_fold(&self.properties, |value, name| value.get(name))?;
        match value {
            Value::String(text) => Some(Cow::Borrowed(text)),
            Value::Number(_) | Value::Bool(_) => Some(Cow::Owned(value.to_string())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}
