//! Merges the body of a request into the document that is stored. The values are validated later,
//! by `config`.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::management::api::{Failure, Method};
use crate::management::config::{ErrorCode, FieldError, Mark, read_json, whole};

/// A JSON object as the API shows it and the registry stores it.
pub type Document = Map<String, Value>;

/// Reads a body as JSON.
pub fn parse(body: &str) -> Result<Value, Failure> {
    read_json("The body", body).map_err(|problem| Failure::invalid(vec![problem.at(String::new())]))
}

/// How the fields of one kind of document are merged with a body: their marks, in lists. A field
/// without a mark need not be in one.
pub struct Meaning(pub &'static [&'static [Mark]]);

impl Meaning {
    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.0.iter().copied().flatten()
    }

    fn has(&self, name: &str, marked: fn(&Mark) -> bool) -> bool {
        self.marks().any(|mark| mark.name == name && marked(mark))
    }

    /// Returns the document that `body` makes of `current`. `PATCH` changes the fields it has, any
    /// other method replaces all. A field that is `null` gets its default.
    ///
    /// Errors: `body` is no object.
    pub fn merged(
        &self,
        current: Document,
        method: Method,
        body: &Value,
    ) -> Result<Document, Failure> {
        let Value::Object(body) = body else {
            let message = "must be an object".to_owned();
            let error = FieldError { pointer: String::new(), code: ErrorCode::WrongType, message };
            return Err(Failure::invalid(vec![error]));
        };
        let mut merged = current;
        if method != Method::Patch {
            merged.retain(|name, _| self.has(name, |mark| mark.ours));
        }
        for (name, value) in body {
            if self.has(name, |mark| mark.read_only) {
                continue;
            }
            match (merged.get_mut(name), value) {
                (Some(Value::Object(inner)), Value::Object(given)) => {
                    inner.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
                }
                _ => {
                    merged.insert(name.clone(), value.clone());
                }
            }
        }
        for mark in self.marks() {
            let is_default = |value: &Value| {
                mark.zero_is_default && whole(value) == Some(0)
                    || mark.empty_is_default && value.as_str() == Some("")
            };
            if merged.get(mark.name).is_some_and(is_default) {
                merged.remove(mark.name);
            }
        }
        Ok(merged)
    }
}

/// Returns `document` with these fields set.
pub fn with<const N: usize>(mut document: Document, fields: [(&str, Value); N]) -> Document {
    document.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    document
}

/// Derives an id from the random bytes of a call. Each `index` gives another id.
pub fn drawn_id(draw: [u8; 16], index: usize) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(draw);
    hash.update((index as u64).to_be_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    let mut id = [0; 16];
    id.copy_from_slice(digest.split_at(16).0);
    id
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Mark, Meaning, drawn_id};
    use crate::management::api::Method;

    const MEANING: Meaning = Meaning(&[
        &[Mark::read_only("id"), Mark::ours("ours")],
        &[
            Mark { zero_is_default: true, ..Mark::named("count") },
            Mark { empty_is_default: true, ..Mark::named("text") },
        ],
    ]);

    #[test]
    fn a_patch_adds_and_a_put_replaces_all_but_extensions() {
        let current = json!({ "id": 1, "name": "a", "ours": 5, "inner": { "x": 1, "y": 2 } });
        let check = |method: Method, body: Value, want: Value| {
            let current = current.as_object().expect("an object").clone();
            let merged = MEANING.merged(current, method, &body).expect("an object");
            assert_eq!(Value::Object(merged), want, "{method:?} {body}");
        };
        let kept = json!({ "id": 1, "name": "a", "ours": 5, "inner": { "x": 1, "y": 2 } });
        check(Method::Patch, json!({}), kept.clone());
        check(Method::Patch, json!({ "id": 2 }), kept);
        check(
            Method::Patch,
            json!({ "name": null, "inner": { "y": 3 } }),
            json!({ "id": 1, "name": null, "ours": 5, "inner": { "x": 1, "y": 3 } }),
        );
        check(Method::Put, json!({}), json!({ "ours": 5 }));
        check(
            Method::Put,
            json!({ "id": 2, "ours": null, "inner": { "y": 3 } }),
            json!({ "ours": null, "inner": { "y": 3 } }),
        );
        check(Method::Put, json!({ "count": 0, "text": "" }), json!({ "ours": 5 }));
        check(Method::Put, json!({ "count": 0.0 }), json!({ "ours": 5 }));
        check(
            Method::Put,
            json!({ "count": 1, "text": "x", "name": "" }),
            json!({ "ours": 5, "count": 1, "text": "x", "name": "" }),
        );
        check(
            Method::Patch,
            json!({ "id": 2, "inner": { "x": "" } }),
            json!({ "id": 1, "name": "a", "ours": 5, "inner": { "x": "", "y": 2 } }),
        );
        check(Method::Put, json!({ "inner": "" }), json!({ "ours": 5, "inner": "" }));
        for body in [json!([]), json!(null), json!("x")] {
            assert!(MEANING.merged(super::Document::new(), Method::Put, &body).is_err());
        }
    }

    #[test]
    fn one_draw_gives_many_ids() {
        assert_ne!(drawn_id([1; 16], 0), drawn_id([1; 16], 1));
        assert_ne!(drawn_id([1; 16], 0), drawn_id([2; 16], 0));
        assert_eq!(drawn_id([1; 16], 0), drawn_id([1; 16], 0));
    }
}
