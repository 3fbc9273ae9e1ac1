//! Reads webhooks as owners write them, and writes them without their secrets.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use super::field_error::{ErrorCode, FieldError, Problem};
use super::fields::Fields;
use super::value::{
    MAX_TEXT_BYTES, boolean, choice, document, list, malformed, text, whole_number,
};
use crate::base::host::Host;
use crate::base::url::split_url;
use crate::room::turn_notice::TurnNotice;
use crate::room::webhook::Webhook;

/// The formats of bodies; the first is the default.
const FORMATS: [(&str, &str); 4] =
    [("json", "json"), ("slack", "slack"), (PAGERDUTY, PAGERDUTY), (EMAIL, EMAIL)];
const PAGERDUTY: &str = "pagerduty";
const EMAIL: &str = "email";
/// How the `url` of a webhook begins that sends e-mails. One mailbox follows.
const MAILTO: &str = "mailto:";
/// Where `PagerDuty` accepts events of its Events API v2.
const PAGERDUTY_URL: &str = "https://events.pagerduty.com/v2/enqueue";
/// The topics of a webhook's messages: by default all but turns.
const TOPICS: [(&str, &str); 8] = [
    ("queueing", "queueing"),
    ("event", "event"),
    ("told_wait", "told_wait"),
    ("limit", "limit"),
    ("hold", "hold"),
    ("save", "save"),
    ("quota", "quota"),
    (TURN, TURN),
];
/// The topic whose messages hold what a visitor has typed. A webhook must name it, and one with a
/// format of others never gets it.
const TURN: &str = "turn";
/// The longest address, in bytes. The number is ours.
const URL_BYTES_MAX: usize = 1_000;
/// Allowed bounds of the shown wait, in minutes: up to a day. The range is ours.
const TOLD_WAIT_MINUTES: RangeInclusive<u32> = 1..=1_440;
const DEFAULT_TOLD_WAIT_MINUTES: u32 = 30;
/// The length of `PagerDuty`'s keys.
const ROUTING_KEY_CHARS: usize = 32;
/// What stands for the path of an address that is shown.
const HIDDEN: &str = "/...";
/// Endings of names that belong to an inner network.
const INNER_NAMES: [&str; 6] =
    ["localhost", "local", "internal", "lan", "home.arpa", "localdomain"];

/// Reads an owner's webhook from a JSON object. Returns every field with its value. With `anywhere`
/// it may have any address, for tests.
pub fn read_webhook(value: &Value, anywhere: bool) -> Result<Map<String, Value>, Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let description = fields.optional("description", "", text(MAX_TEXT_BYTES));
    let enabled = fields.optional("enabled", true, boolean);
    let format = fields.optional("format", "json", choice(&FORMATS));
    let is_pagerduty = format == Some(PAGERDUTY);
    let url = match format {
        Some(PAGERDUTY) => fields.optional("url", PAGERDUTY_URL, address(anywhere)),
        Some(EMAIL) => fields.required("url", mailbox),
        _ => fields.required("url", address(anywhere)),
    };
    let routing_key = fields.optional("routing_key", "", routing_key);
    if routing_key.is_some_and(|key| key.is_empty() == is_pagerduty) {
        let message = "is required for the format pagerduty, and belongs to no other";
        fields.fail("routing_key", ErrorCode::Contradiction, message);
    }
    let topics = read_topics(&mut fields);
    if topics.as_ref().is_some_and(|topics| topics.contains(&TURN)) && format != Some("json") {
        let message = "may name turn only with the format json: its messages hold what visitors \
                       have typed";
        fields.fail("topics", ErrorCode::Contradiction, message);
    }
    let bound = whole_number(TOLD_WAIT_MINUTES);
    let told_wait = fields.optional("told_wait_minutes", DEFAULT_TOLD_WAIT_MINUTES, bound);
    let errors = fields.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(document(json!({
        "description": description,
        "enabled": enabled,
        "url": url,
        "format": format,
        "routing_key": routing_key,
        "topics": topics,
        "told_wait_minutes": told_wait,
    })))
}

/// Reads a webhook of an exported file: like [`read_webhook`], but the key of `PagerDuty` may be
/// missing, since no file has it.
pub fn read_imported_webhook(
    value: &Value,
    anywhere: bool,
) -> Result<Map<String, Value>, Vec<FieldError>> {
    let has = |name: &str, wanted: &str| value.get(name).and_then(Value::as_str) == Some(wanted);
    let has_key = !has("routing_key", "") && value.get("routing_key").is_some();
    if !has("format", PAGERDUTY) || has_key {
        return read_webhook(value, anywhere);
    }
    let mut with_key = value.clone();
    if let Some(fields) = with_key.as_object_mut() {
        if has("url", &shown_url(PAGERDUTY_URL)) {
            fields.remove("url");
        }
        fields.insert("routing_key".to_owned(), json!("0".repeat(ROUTING_KEY_CHARS)));
    }
    let mut fields = read_webhook(&with_key, anywhere)?;
    fields.insert("routing_key".to_owned(), json!(""));
    Ok(fields)
}

/// Returns the fields that a webhook of an exported file lacks, since the file has no secrets:
/// the whole `url`, or the `routing_key`. Nothing is sent until the owner has set them.
pub fn missing_fields(webhook: &Webhook) -> Vec<&'static str> {
    let field = |name: &str| webhook.fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_hidden = field("url").ends_with(HIDDEN) && field("url") == shown_url(field("url"));
    let has_no_key = field("format") == PAGERDUTY && field("routing_key").is_empty();
    let all = [("url", is_hidden), ("routing_key", has_no_key)];
    all.into_iter().filter_map(|(name, is_missing)| is_missing.then_some(name)).collect()
}

fn read_topics(fields: &mut Fields<'_>) -> Option<Vec<&'static str>> {
    let Some(value) = fields.value("topics") else {
        let all = TOPICS.iter().map(|(_, topic)| *topic);
        return Some(all.filter(|topic| *topic != TURN).collect());
    };
    let names = fields.keep("topics", list("a list of topics", TOPICS.len())(value))?;
    if names.is_empty() {
        fields.fail("topics", ErrorCode::OutOfRange, "must be at least one topic");
        return None;
    }
    fields.each("topics", names.iter().enumerate(), choice(&TOPICS))
}

fn routing_key(value: &Value) -> Result<&str, Problem> {
    let key = text(ROUTING_KEY_CHARS)(value)?;
    let is_key =
        key.len() == ROUTING_KEY_CHARS && key.bytes().all(|one| one.is_ascii_alphanumeric());
    if key.is_empty() || is_key {
        return Ok(key);
    }
    // The value is a secret, which no answer repeats.
    let message = format!("must be {ROUTING_KEY_CHARS} letters and digits");
    Err(Problem { code: ErrorCode::Malformed, message })
}

/// Reads the address of a webhook that sends e-mails: one mailbox of a public mail server.
fn mailbox(value: &Value) -> Result<&str, Problem> {
    let url = text(URL_BYTES_MAX)(value)?;
    let given = url.strip_prefix(MAILTO).filter(|given| *given == given.trim());
    let is_mailbox = given.and_then(|given| TurnNotice::Email.read(given)).is_some();
    let message = "must be mailto: and one address of a public mail server";
    is_mailbox.then_some(url).ok_or_else(|| malformed(&shown_url(url), message))
}

/// Reads the address of a webhook: `https`, and a public name.
fn address(anywhere: bool) -> impl Fn(&Value) -> Result<&str, Problem> {
    move |value| {
        let url = text(URL_BYTES_MAX)(value)?;
        let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let parts = split_url(url).filter(|_| is_plain && !url.contains('@'));
        let parts = parts.ok_or_else(|| {
            malformed(&shown_url(url), "must be an address without user, spaces and other scripts")
        })?;
        let is_web = anywhere && parts.scheme.eq_ignore_ascii_case("http");
        if !is_web && !parts.scheme.eq_ignore_ascii_case("https") {
            return Err(malformed(&shown_url(url), "must begin with https://"));
        }
        if anywhere || is_public(parts.host) {
            return Ok(url);
        }
        Err(malformed(&shown_url(url), "must have a public host name, no number and no inner name"))
    }
}

/// Whether a host can be one of the public network: a name of at least two labels whose last is no
/// number. Every spelling of an IPv4 address ends with a number, and IPv6 has colons.
fn is_public(host: &str) -> bool {
    let Ok(host) = host.parse::<Host>() else { return false };
    let name = host.as_str();
    let Some((_, last)) = name.rsplit_once('.') else { return false };
    let is_number = last.starts_with(|first: char| first.is_ascii_digit());
    let is_inner = |inner: &str| name.ends_with(&format!(".{inner}"));
    !is_number && !INNER_NAMES.iter().any(|inner| name == *inner || is_inner(inner))
}

/// Whether two addresses have the same scheme, host and port, so that a key for the one may be sent
/// to the other.
pub fn is_same_receiver(one: &str, other: &str) -> bool {
    let receiver = |url: &str| shown_url(url).trim_end_matches(HIDDEN).to_ascii_lowercase();
    receiver(one) == receiver(other)
}

/// Writes an address without its path and all behind it, which may be secret.
pub fn shown_url(url: &str) -> String {
    let end = url.find("://").map_or(0, |at| at + "://".len());
    let host = url.get(end..).unwrap_or_default();
    let host_bytes = host.find(['/', '?', '#', '\\']).unwrap_or(host.len());
    match url.get(..end + host_bytes) {
        Some(shown) if shown.len() < url.len() => format!("{shown}{HIDDEN}"),
        _ => url.to_owned(),
    }
}

/// Writes a webhook as it is stored, secrets included; [`stored_webhook`] reads it.
pub fn webhook_row(webhook: &Webhook) -> Value {
    json!({
        "id": webhook.id,
        "room": webhook.room,
        "fields": webhook.fields,
        "secret": webhook.secret,
        "created_on": webhook.created_on.to_iso8601(),
        "modified_on": webhook.modified_on.to_iso8601(),
    })
}

/// Reads a webhook as [`webhook_row`] writes it; `None` for anything else.
pub fn stored_webhook(row: &Value) -> Option<Webhook> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    Some(Webhook {
        id: text("id")?.parse().ok()?,
        room: text("room")?.parse().ok()?,
        fields: row.get("fields")?.as_object()?.clone(),
        secret: text("secret")?.to_owned(),
        created_on: text("created_on")?.parse().ok()?,
        modified_on: text("modified_on")?.parse().ok()?,
    })
}

/// Writes a webhook as the API shows it: without its secrets.
pub fn webhook_document(webhook: &Webhook) -> Map<String, Value> {
    let mut all = webhook.fields.clone();
    all.remove("routing_key");
    all.insert("id".to_owned(), json!(webhook.id));
    let url = all.get("url").and_then(Value::as_str).unwrap_or_default();
    let url = json!(shown_url(url));
    all.insert("url".to_owned(), url);
    all.insert("created_on".to_owned(), json!(webhook.created_on.to_iso8601()));
    all.insert("modified_on".to_owned(), json!(webhook.modified_on.to_iso8601()));
    all
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        is_same_receiver, read_webhook, shown_url, stored_webhook, webhook_document, webhook_row,
    };
    use crate::base::id::{RoomId, WebhookId};
    use crate::base::time::Timestamp;
    use crate::management::config::ErrorCode;
    use crate::room::webhook::Webhook;

    fn check(patch: &Value, want: &[(&str, ErrorCode)]) {
        let mut value = json!({ "url": "https://hooks.example/T0/secret" });
        for (name, field) in patch.as_object().unwrap() {
            value[name] = field.clone();
        }
        let read = read_webhook(&value, false);
        let errors = read.as_ref().err().cloned().unwrap_or_default();
        let seen = errors.iter().map(|error| (&*error.pointer, error.code)).collect::<Vec<_>>();
        assert_eq!(seen, want, "{value}");
        assert!(!format!("{errors:?}").contains("secret"), "an error repeats a secret");
        let Ok(fields) = read else { return };
        assert_eq!(read_webhook(&Value::Object(fields.clone()), false).as_ref(), Ok(&fields));
        let webhook = Webhook {
            id: WebhookId::from_bytes([1; 16]),
            room: RoomId::from_bytes([2; 16]),
            fields,
            secret: "whsec_AAAA".to_owned(),
            created_on: Timestamp(1),
            modified_on: Timestamp(2),
        };
        assert_eq!(stored_webhook(&webhook_row(&webhook)).as_ref(), Some(&webhook));
        let shown = Value::Object(webhook_document(&webhook)).to_string();
        assert!(!shown.contains("secret") && !shown.contains("whsec_"), "{shown}");
        assert!(!shown.contains(KEY), "{shown}");
    }

    const KEY: &str = "0123456789abcdefghijABCDEFGHIJ00";

    #[test]
    fn a_webhook_keeps_to_its_fields() {
        check(&json!({}), &[]);
        check(&json!({ "format": "slack", "enabled": false, "description": "x" }), &[]);
        check(&json!({ "format": "teams" }), &[("/format", ErrorCode::OutOfRange)]);
        check(&json!({ "topics": ["queueing", "save"], "told_wait_minutes": 1_440 }), &[]);
        check(&json!({ "topics": ["turn", "event"] }), &[]);
        let slack = json!({ "topics": ["turn"], "format": "slack" });
        check(&slack, &[("/topics", ErrorCode::Contradiction)]);
        check(&json!({ "topics": [] }), &[("/topics", ErrorCode::OutOfRange)]);
        check(
            &json!({ "topics": ["weather", "save", 1] }),
            &[("/topics/0", ErrorCode::OutOfRange), ("/topics/2", ErrorCode::WrongType)],
        );
        check(&json!({ "topics": "queueing" }), &[("/topics", ErrorCode::WrongType)]);
        check(&json!({ "told_wait_minutes": 0 }), &[("/told_wait_minutes", ErrorCode::OutOfRange)]);
        check(&json!({ "url": null }), &[("/url", ErrorCode::Required)]);
        check(&json!({ "url": null, "format": "pagerduty", "routing_key": KEY }), &[]);
        check(&json!({ "format": "pagerduty" }), &[("/routing_key", ErrorCode::Contradiction)]);
        check(&json!({ "routing_key": KEY }), &[("/routing_key", ErrorCode::Contradiction)]);
        let short = json!({ "format": "pagerduty", "routing_key": "a secret" });
        check(&short, &[("/routing_key", ErrorCode::Malformed)]);
        check(&json!({ "colour": "x" }), &[("/colour", ErrorCode::UnknownField)]);
    }

    #[test]
    fn an_email_goes_to_one_public_mailbox() {
        let check = |url: &str, format: &str, want: bool| {
            let taken = read_webhook(&json!({ "url": url, "format": format }), true).is_ok();
            assert_eq!(taken, want, "{url} {format}");
        };
        check("mailto:ops@shop.example", "email", true);
        check("mailto:ops+room@shop.example", "email", true);
        check("mailto:ops@shop.example", "json", false);
        check("https://hooks.example/", "email", false);
        for wrong in [
            "",
            "ops@shop.example",
            "mailto:",
            "mailto:ops",
            "mailto:+491511234567",
            "mailto:a@shop.example,b@shop.example",
            "mailto:a@shop.example?bcc=b@shop.example",
            "mailto:Anna <a@shop.example>",
            "mailto: a@shop.example",
            "mailto:a@shop.example\nBcc: b@shop.example",
            "mailto:a@127.0.0.1",
            "mailto:a@db.internal",
            "MAILTO:a@shop.example",
        ] {
            check(wrong, "email", false);
        }
        let turns = json!({ "url": "mailto:a@b.example", "format": "email", "topics": ["turn"] });
        assert!(read_webhook(&turns, false).is_err(), "what visitors type goes out by e-mail");
    }

    #[test]
    fn only_who_names_turns_is_told_what_visitors_type() {
        let fields = read_webhook(&json!({ "url": "https://hooks.example" }), false).unwrap();
        let all_others =
            json!(["queueing", "event", "told_wait", "limit", "hold", "save", "quota"]);
        assert_eq!(fields["topics"], all_others);
    }

    #[test]
    fn an_address_is_https_and_public() {
        let check = |url: &str, want: bool| {
            let taken = read_webhook(&json!({ "url": url }), false).is_ok();
            assert_eq!(taken, want, "{url}");
        };
        check("https://hooks.slack.com/services/T0/B0/x?a=b", true);
        check("HTTPS://hooks.example:8443/", true);
        check("http://hooks.example/", false);
        check("ftp://hooks.example/", false);
        check("hooks.example/x", false);
        check("https://user:word@hooks.example/", false);
        check("https://hooks.example\\@127.0.0.1/", false);
        check("https://hooks.example/a b", false);
        for host in [
            "localhost",
            "localhost.",
            "LOCALHOST",
            "a.localhost",
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0x7f000001",
            "0177.0.0.1",
            "10.0.0.1",
            "169.254.169.254",
            "[::1]",
            "[::ffff:7f00:1]",
            "intranet",
            "db.internal",
            "printer.local",
            "router.home.arpa",
            "1.1.1.1",
            "example.0x7f",
            "",
        ] {
            check(&format!("https://{host}/"), false);
        }
        assert!(read_webhook(&json!({ "url": "http://127.0.0.1:8080/x" }), true).is_ok());
        assert!(read_webhook(&json!({ "url": "ftp://127.0.0.1/" }), true).is_err());
    }

    #[test]
    fn of_an_address_the_host_is_shown() {
        let check = |url: &str, want: &str| assert_eq!(shown_url(url), want);
        check("https://hooks.slack.com/services/T0", "https://hooks.slack.com/...");
        check("https://hooks.example?key=1", "https://hooks.example/...");
        check("https://hooks.example", "https://hooks.example");
        check("token", "token");
        let (one, other) = ("https://hooks.example/a", "https://HOOKS.example?b");
        assert!(is_same_receiver(one, other) && is_same_receiver(one, "https://hooks.example"));
        assert!(!is_same_receiver(one, "https://hooks.example:8443/a"));
    }
}
