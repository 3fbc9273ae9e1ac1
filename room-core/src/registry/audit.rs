//! The audit log: who changed what, when, from what to what. Keeps the newest changes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Registry;
use super::document::Document;
use super::rows::{self, Row};
use crate::api::Method;
use crate::time::Timestamp;

/// Most entries; older ones are dropped. Ours.
pub const MAX_ENTRIES: usize = 1_000;
/// Texts of an entry are shown up to this length in bytes; a longer one by its hash.
const MAX_SHOWN_BYTES: usize = 1_024;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Which change it was, counted from 1.
    pub version: u64,
    /// When, in ISO 8601.
    pub at: String,
    /// Who: the address of `X-Auth-Email`, or `token`.
    pub actor: String,
    /// How.
    pub method: Method,
    /// What, as a path of the API.
    pub target: String,
    /// The fields that changed, as they were; `null` if it is new.
    pub before: Option<Document>,
    /// The fields that changed, as they are; `null` if it is gone.
    pub after: Option<Document>,
}

impl AuditEntry {
    /// The entry of a change between two documents.
    pub fn new(
        (version, now): (u64, Timestamp),
        (actor, method, target): (&str, Method, String),
        (before, after): (Option<&Document>, Option<&Document>),
    ) -> Self {
        let changed = |one: Option<&Document>, other: Option<&Document>| {
            let mut fields = Document::new();
            for (name, value) in one? {
                if other.and_then(|other| other.get(name)) != Some(value) {
                    fields.insert(name.clone(), shown(value));
                }
            }
            Some(fields)
        };
        Self {
            version,
            at: now.to_iso8601(),
            actor: actor.to_owned(),
            method,
            target,
            before: changed(before, after),
            after: changed(after, before),
        }
    }
}

impl Registry {
    /// Keeps an entry; the rows to write and to drop for it.
    pub(super) fn log(&mut self, entry: AuditEntry) -> Vec<Row> {
        let mut written = vec![rows::of_audit(entry.version, Some(&entry))];
        self.audit.push_back(entry);
        while self.audit.len() > MAX_ENTRIES {
            let dropped = self.audit.pop_front();
            written.extend(dropped.map(|dropped| rows::of_audit(dropped.version, None)));
        }
        written
    }
}

fn shown(value: &Value) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.len() <= MAX_SHOWN_BYTES {
        return value.clone();
    }
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let [first, ..] = digest.as_chunks::<16>().0 else { return Value::Null };
    json!(format!("{} bytes, SHA-256 {:032x}...", text.len(), u128::from_be_bytes(*first)))
}
