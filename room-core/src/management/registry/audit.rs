//! The audit log: who changed what, when, from what to what. Keeps the newest changes.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::change::Answer;
use super::document::Document;
use crate::base::time::Timestamp;
use crate::management::api::{Method, Paging, Reply};

/// Most entries of the log; older ones are dropped. The number is ours.
const MAX_ENTRIES: usize = 1_000;
/// Longest value that an entry shows, in bytes; a longer one is replaced by its length and hash.
const MAX_SHOWN_BYTES: usize = 1_024;

/// One change in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The number of the change, counted from 1.
    pub version: u64,
    /// When the change was made, in ISO 8601.
    pub at: String,
    /// Who made it: the address of `X-Auth-Email`, or `token`.
    pub actor: String,
    /// The method of the call.
    pub method: Method,
    /// What changed, as a path of the API.
    pub target: String,
    /// The fields that changed, as they were; `null` if the target is new.
    pub before: Option<Document>,
    /// The fields that changed, as they became; `null` if the target is gone.
    pub after: Option<Document>,
}

impl AuditEntry {
    /// Makes the entry of a change from the document `before` to the document `after`.
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

/// The newest changes, up to a fixed number.
#[derive(Debug, Default)]
pub struct AuditLog {
    /// Oldest first.
    entries: VecDeque<AuditEntry>,
}

impl AuditLog {
    /// Adds an entry, and returns the versions of those that are dropped for it.
    pub fn push(&mut self, entry: AuditEntry) -> Vec<u64> {
        self.entries.push_back(entry);
        let too_many = self.entries.len().saturating_sub(MAX_ENTRIES);
        self.entries.drain(..too_many).map(|dropped| dropped.version).collect()
    }

    /// Adds an entry that was read from storage; entries come oldest first.
    pub fn restore(&mut self, entry: AuditEntry) {
        self.entries.push_back(entry);
    }

    /// Shows a page of the log, newest first.
    pub fn page(&self, paging: Paging) -> Answer {
        let entries: Vec<Value> = self.entries.iter().rev().map(|entry| json!(entry)).collect();
        Answer { reply: Reply::page(&entries, paging), changes: Vec::new() }
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
