//! The JSON envelope of every answer of the API, and what failures look like inside it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::paging::Paging;
use crate::management::config::FieldError;

/// An answer of the API: a status and a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The envelope as a JSON text.
    pub body: String,
}

impl Reply {
    /// Makes the answer of a success. `messages` warn the owner about settings that do not act as
    /// they say.
    pub fn success(result: Value, messages: &[String]) -> Self {
        Self::enveloped(result, messages, None)
    }

    /// Makes an answer with one page of a list.
    pub fn page(all: &[Value], paging: Paging) -> Self {
        Self::part(paging.slice(all).to_vec(), all.len(), paging)
    }

    /// Makes an answer with the entries of one page of a list of `total` entries.
    pub fn part(entries: Vec<Value>, total: usize, paging: Paging) -> Self {
        let info = json!({
            "page": paging.page,
            "per_page": paging.per_page,
            "count": entries.len(),
            "total_count": total,
            "total_pages": total.div_ceil(paging.per_page),
        });
        Self::enveloped(Value::Array(entries), &[], Some(info))
    }

    fn enveloped(result: Value, messages: &[String], info: Option<Value>) -> Self {
        let messages: Vec<_> = messages
            .iter()
            // All warnings have this code, which is ours.
            .map(|message| json!({ "code": 1_900, "message": message }))
            .collect();
        let mut envelope = Map::new();
        envelope.insert("success".to_owned(), true.into());
        envelope.insert("errors".to_owned(), json!([]));
        envelope.insert("messages".to_owned(), messages.into());
        envelope.insert("result".to_owned(), result);
        envelope.extend(info.map(|info| ("result_info".to_owned(), info)));
        Self { status: 200, body: Value::Object(envelope).to_string() }
    }
}

/// The refusal of a request. Nothing of the request was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The HTTP status.
    pub status: u16,
    /// The errors, at least one.
    pub errors: Vec<ReplyError>,
    /// Seconds after which the same request may be repeated; `None` if that is not said.
    pub retry_after_s: Option<u64>,
    /// How long the answer is held back, in milliseconds: 0 except for a wrong token.
    pub held_back_ms: u64,
    /// The methods that the path has, for the header `Allow` of a 405; "" for other failures.
    pub allow: String,
}

/// One error in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyError {
    /// The number by which clients tell errors apart, at least 1000.
    pub code: u32,
    /// A sentence that says what is wrong and what to do.
    pub message: String,
    /// The field of the body that is wrong, as a JSON pointer (RFC 6901); `None` for other errors.
    pub pointer: Option<String>,
}

impl Failure {
    /// Makes a failure of one error.
    pub fn new(status: u16, code: u32, message: impl Into<String>) -> Self {
        let error = ReplyError { code, message: message.into(), pointer: None };
        Self::of(status, vec![error])
    }

    /// Makes a failure of these errors.
    pub fn of(status: u16, errors: Vec<ReplyError>) -> Self {
        Self { status, errors, retry_after_s: None, held_back_ms: 0, allow: String::new() }
    }

    /// Makes the failure (400) of a body whose fields have these errors.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let error = |FieldError { pointer, code, message }| ReplyError {
            code: u32::from(code.number()),
            message: if pointer.is_empty() { message } else { format!("{pointer} {message}") },
            pointer: Some(pointer),
        };
        Self::of(400, errors.into_iter().map(error).collect())
    }

    /// Makes the failure (404) of an unknown id; `what` is the kind of thing, like `event`.
    pub fn not_found(what: &str) -> Self {
        Self::new(404, 1_001, format!("There is no such {what}."))
    }

    /// Makes the failure (404) of a path that does not exist.
    pub fn no_route() -> Self {
        let message = "There is nothing at this path: is the id of the zone right?";
        Self::new(404, 7_003, message)
    }

    /// Makes the failure (405) of a method that the path does not have.
    pub fn method(method: &str, allowed: &str) -> Self {
        let message = format!("{method} is not possible for this path, only {allowed}.");
        Self { allow: allowed.to_owned(), ..Self::new(405, 7_001, message) }
    }

    /// Writes the failure as an answer.
    pub fn to_reply(&self) -> Reply {
        let error = |error: &ReplyError| {
            let mut object = Map::new();
            object.insert("code".to_owned(), error.code.into());
            object.insert("message".to_owned(), error.message.clone().into());
            if let Some(pointer) = &error.pointer {
                object.insert("source".to_owned(), json!({ "pointer": pointer }));
            }
            object
        };
        let errors: Vec<_> = self.errors.iter().map(error).collect();
        let envelope =
            json!({ "success": false, "errors": errors, "messages": [], "result": null });
        Reply { status: self.status, body: envelope.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Failure, Reply};
    use crate::management::api::Paging;
    use crate::management::config::{ErrorCode, FieldError};

    #[test]
    fn every_answer_is_an_envelope() {
        let check = |reply: &Reply, status: u16, want: &Value| {
            let body: Value = serde_json::from_str(&reply.body).expect("JSON");
            assert_eq!((reply.status, &body), (status, want));
        };
        let warned = Reply::success(json!({ "id": 1 }), &["careful".to_owned()]);
        let messages = json!([{ "code": 1_900, "message": "careful" }]);
        let want =
            json!({ "success": true, "errors": [], "messages": messages, "result": { "id": 1 } });
        check(&warned, 200, &want);
        let failure = Failure::invalid(vec![FieldError {
            pointer: "/host".to_owned(),
            code: ErrorCode::Required,
            message: "is required".to_owned(),
        }]);
        let error = json!({
            "code": 1_101,
            "message": "/host is required",
            "source": { "pointer": "/host" },
        });
        let want = json!({ "success": false, "errors": [error], "messages": [], "result": null });
        check(&failure.to_reply(), 400, &want);
    }

    #[test]
    fn a_page_tells_how_much_there_is() {
        let all: Vec<Value> = (0..7).map(Value::from).collect();
        let check = |query: &str, want: &[i32], pages: usize| {
            let reply = Reply::page(&all, Paging::parse(query).expect("a page"));
            let body: Value = serde_json::from_str(&reply.body).expect("JSON");
            assert_eq!(body["result"], json!(want), "{query}");
            let info = &body["result_info"];
            assert_eq!((&info["count"], &info["total_count"]), (&json!(want.len()), &json!(7)));
            assert_eq!(info["total_pages"], json!(pages));
        };
        check("", &[0, 1, 2, 3, 4, 5, 6], 1);
        check("per_page=5", &[0, 1, 2, 3, 4], 2);
        check("per_page=5&page=2", &[5, 6], 2);
        check("per_page=5&page=3", &[], 2);
        check("page=18446744073709551615", &[], 1);
    }
}
