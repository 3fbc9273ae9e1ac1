//! The audit log: who changed what and when, from what to what. It keeps the newest changes as
//! their stored texts, since few of many thousands are ever read.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::change::Answer;
use super::document::Document;
use crate::base::id::TokenId;
use crate::base::time::Timestamp;
use crate::management::api::{AuditFilter, Method, Paging, Part, Reply, part_of, route};
use crate::management::token::{Grant, Role, Scope};

/// The most entries of the log. Older ones are dropped. The number is ours.
const MAX_ENTRIES: usize = 10_000;
/// The most bytes of all entries together. Older ones are dropped. The number is ours: an object
/// has 128 MB of memory.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// The longest value that an entry shows, in bytes. A longer one is replaced by its length and
/// hash.
const MAX_SHOWN_BYTES: usize = 1_024;

/// One change in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The number of the change, counted from 1.
    pub version: u64,
    /// When the change was made, in ISO 8601.
    pub at: String,
    /// Who made it: the name of the token, the address of the person whom Cloudflare Access has
    /// signed in, or of the owner's secret token the address of `X-Auth-Email` or `owner`.
    pub actor: String,
    /// The id of the named token or of the person that made it; `None` for the owner's secret one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenId>,
    /// The method of the call.
    pub method: Method,
    /// What changed, as a path of the API.
    pub target: String,
    /// The fields that changed, as they were; `null` if the target is new.
    pub before: Option<Document>,
    /// The fields that changed, as they became; `null` if the target is gone.
    pub after: Option<Document>,
    /// The mark by which a repeated call is recognized, see `idempotency`. `None` for a call
    /// without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<String>,
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
            token: None,
            method,
            target,
            before: changed(before, after),
            after: changed(after, before),
            idempotency: None,
        }
    }
}

/// The newest changes, up to a fixed number and size.
#[derive(Debug, Default)]
pub struct AuditLog {
    /// Versions with their entries as JSON, oldest first.
    entries: VecDeque<(u64, String)>,
    /// The bytes of all entries together.
    bytes: usize,
}

impl AuditLog {
    /// Adds an entry in its stored form. Returns the versions of the entries dropped for it.
    pub fn push(&mut self, version: u64, text: String) -> Vec<u64> {
        self.restore(version, text);
        let mut dropped = Vec::new();
        while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES && self.entries.len() > 1 {
            let Some((version, text)) = self.entries.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(text.len());
            dropped.push(version);
        }
        dropped
    }

    /// Adds an entry read from storage. Entries come oldest first.
    pub fn restore(&mut self, version: u64, text: String) {
        self.bytes = self.bytes.saturating_add(text.len());
        self.entries.push_back((version, text));
    }

    /// Finds the entry of the call with this hash of its key.
    pub fn of_key(&self, hash: &str) -> Option<AuditEntry> {
        // No value of a field can look like that: quotes within texts are escaped.
        let mark = format!("\"idempotency\":\"{hash}/");
        let found = self.entries.iter().rev().find(|(_, text)| text.contains(&mark));
        found.and_then(|(_, text)| read(text))
    }

    /// Shows a page of the entries within `scope` that the filter accepts, newest first.
    pub fn page(&self, filter: &AuditFilter, grant: &Grant, paging: Paging) -> Answer {
        let scope = &grant.scope;
        let ids = scope.ids();
        // Only who may see tokens may see what was done with them.
        let is_secret = |text: &str| {
            let of_tokens = |entry: AuditEntry| entry.target.starts_with(TOKENS);
            grant.role < Role::Admin && text.contains(TOKENS) && read(text).is_some_and(of_tokens)
        };
        // Few of many thousands are read to learn what they are about.
        let is_named = |text: &str| ids.is_empty() || ids.iter().any(|id| text.contains(id));
        let passes = |text: &&str| {
            let passes = |entry: AuditEntry| {
                is_within(scope, &entry.target)
                    && filter.passes(&entry.at, &entry.actor, entry.method, &entry.target)
            };
            let has_all = filter.is_empty() && *scope == Scope::All;
            has_all || is_named(text) && read(text).is_some_and(passes)
        };
        let texts = self.entries.iter().rev().map(|(_, text)| text.as_str());
        let texts: Vec<&str> = texts.filter(passes).filter(|text| !is_secret(text)).collect();
        let shown = |text: &&str| serde_json::from_str(text).unwrap_or_default();
        let page = paging.slice(&texts).iter().map(shown).collect();
        let reply = Reply::part(page, texts.len(), paging);
        Answer { reply, changes: Vec::new() }
    }
}

/// The beginning of the targets of named tokens.
const TOKENS: &str = "user/tokens";

/// Whether a scope has what an entry is about.
fn is_within(scope: &Scope, target: &str) -> bool {
    let part = route(Method::Get.name(), target).map(|(target, _)| part_of(target));
    match part {
        _ if *scope == Scope::All => true,
        Ok(Part::Room(zone, room)) => scope.has_room(zone, room),
        Ok(Part::Zone(zone)) => scope.has_zone(zone),
        Ok(Part::Each | Part::None) | Err(_) => false,
    }
}

fn read(text: &str) -> Option<AuditEntry> {
    serde_json::from_str(text).ok()
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
