//! Reads named tokens as owners write them, and writes them as the API shows them: without hash.

use std::fmt::Display;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::field_error::{ErrorCode, FieldError, Problem};
use super::fields::Fields;
use super::value::{choice, document, list, malformed, parsed, text};
use crate::base::id::{RoomId, ZoneId};
use crate::base::time::Timestamp;
use crate::keys::token::hash;
use crate::management::token::{NamedToken, Role, Scope};

/// What the audit log calls the bearer of the secret `API_TOKEN`; no token has this name.
pub const OWNER: &str = "owner";
/// The longest name, in bytes. Cloudflare's.
const NAME_BYTES_MAX: usize = 120;
/// The most zones of a token, and the most rooms. The number is ours.
const PARTS_MAX: usize = 100;
/// An id of 16 bytes, in hexadecimal characters.
const ID_CHARACTERS: usize = 32;
const ROLES: [(&str, Role); 4] = [
    ("look", Role::Look),
    ("steer", Role::Steer),
    ("manage", Role::Manage),
    ("admin", Role::Admin),
];

/// What an owner says of a token.
#[derive(Debug, PartialEq, Eq)]
pub struct TokenFields {
    /// Whose it is.
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// Where it allows that.
    pub scope: Scope,
    /// From when on it counts.
    pub not_before: Option<Timestamp>,
    /// From when on it counts no more.
    pub expires_on: Option<Timestamp>,
}

/// Reads a token from a JSON object. Pointers of errors begin at the object.
pub fn read_token(value: &Value) -> Result<TokenFields, Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let name = fields.required("name", name);
    let role = fields.required("role", choice(&ROLES));
    // What was read can be sent back; Cloudflare's third word is not honoured.
    fields.optional("status", (), choice(&[("active", ()), ("expired", ())]));
    let zones = ids::<ZoneId>(&mut fields, "zones");
    let rooms = ids::<RoomId>(&mut fields, "rooms");
    let moment = |value: &Value| parsed::<Timestamp>(value).map(Some);
    let not_before = fields.optional("not_before", None, moment);
    let expires_on = fields.optional("expires_on", None, moment);
    let is_backwards = not_before.flatten().zip(expires_on.flatten()).map(|(from, to)| from >= to);
    if is_backwards == Some(true) {
        fields.fail("expires_on", ErrorCode::Contradiction, "must be later than not_before");
    }
    // A list that is wrong has an error, with which no token is read.
    let scope = match (zones, rooms) {
        (None, None) => Some(Scope::All),
        (zones, rooms) => {
            let (zones, rooms) = (zones.unwrap_or_default(), rooms.unwrap_or_default());
            if zones.is_empty() && rooms.is_empty() {
                let message = "must name at least one; without zones and rooms it is for all";
                fields.fail("zones", ErrorCode::OutOfRange, message);
                None
            } else {
                Some(Scope::Parts { zones, rooms })
            }
        }
    };
    let errors = fields.finish();
    let read = || {
        let (not_before, expires_on) = (not_before?, expires_on?);
        Some(TokenFields { name: name?, role: role?, scope: scope?, not_before, expires_on })
    };
    read().filter(|_| errors.is_empty()).ok_or(errors)
}

fn name(value: &Value) -> Result<String, Problem> {
    let name = text(NAME_BYTES_MAX)(value)?.trim();
    let is_plain = !name.is_empty() && !name.contains(is_invisible);
    if is_plain && !name.eq_ignore_ascii_case(OWNER) {
        return Ok(name.to_owned());
    }
    let rule = format!("must be 1 to {NAME_BYTES_MAX} bytes that can be seen, and not \"{OWNER}\"");
    Err(malformed(name, rule))
}

/// Whether nobody sees a character, so that with it a name would look like another.
fn is_invisible(character: char) -> bool {
    let is_format = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    );
    character.is_control() || is_format
}

/// Reads a list of ids; `None` if the field is missing or, with an error, wrong.
fn ids<T: FromStr<Err: Display>>(fields: &mut Fields<'_>, name: &'static str) -> Option<Vec<T>> {
    let value = fields.value(name)?;
    let listed = fields.keep(name, list("a list of ids", PARTS_MAX)(value))?;
    fields.each(name, listed.iter().enumerate(), parsed)
}

/// Reads whom Cloudflare Access has signed in, as `src/access.js` writes it: the fields of a token,
/// whose name is the person's address. The id is made of the name, so it stays the same. `None` if
/// these are not a token's fields.
pub fn read_person(text: &str) -> Option<NamedToken> {
    let TokenFields { name, role, scope, not_before, expires_on } =
        read_token(&serde_json::from_str(text).ok()?).ok()?;
    let id = hash(&name).get(..ID_CHARACTERS)?.parse().ok()?;
    let hash = String::new();
    let since = not_before.unwrap_or_default();
    let (issued_on, modified_on) = (since, since);
    Some(NamedToken { id, name, role, scope, not_before, expires_on, hash, issued_on, modified_on })
}

/// Writes a token as the API shows it; `is_active` says whether it counts now.
pub fn token_document(token: &NamedToken, is_active: bool) -> Map<String, Value> {
    let (zones, rooms) = match &token.scope {
        Scope::All => (None, None),
        Scope::Parts { zones, rooms } => (Some(zones), Some(rooms)),
    };
    let moment = |moment: Option<Timestamp>| moment.map(Timestamp::to_iso8601);
    document(json!({
        "id": token.id,
        "name": token.name,
        "status": if is_active { "active" } else { "expired" },
        "role": token.role.name(),
        "zones": zones,
        "rooms": rooms,
        "not_before": moment(token.not_before),
        "expires_on": moment(token.expires_on),
        "issued_on": token.issued_on.to_iso8601(),
        "modified_on": token.modified_on.to_iso8601(),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Role, Scope, read_person, read_token};
    use crate::management::config::ErrorCode;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn with(patch: &Value) -> Value {
        let mut value = json!({ "name": "Anna", "role": "look" });
        for (name, field) in patch.as_object().unwrap() {
            value[name] = field.clone();
        }
        value
    }

    #[test]
    fn a_token_keeps_to_its_fields() {
        let check = |patch: Value, want: &[(&str, ErrorCode)]| {
            let errors = read_token(&with(&patch)).err().unwrap_or_default();
            let seen = errors.iter().map(|error| (&*error.pointer, error.code));
            assert_eq!(seen.collect::<Vec<_>>(), want, "{patch}");
        };
        check(json!({}), &[]);
        check(json!({ "name": null }), &[("/name", ErrorCode::Required)]);
        check(json!({ "role": null }), &[("/role", ErrorCode::Required)]);
        for name in ["", "  ", "Owner", "a\nb", "own\u{ad}er", "owner\u{200b}"] {
            check(json!({ "name": name }), &[("/name", ErrorCode::Malformed)]);
        }
        let told = read_token(&with(&json!({ "name": "" }))).expect_err("no name").remove(0);
        let rule = "must be 1 to 120 bytes that can be seen, and not \"owner\"; given is \"\"";
        assert_eq!(told.message, rule);
        check(json!({ "name": "x".repeat(121) }), &[("/name", ErrorCode::OutOfRange)]);
        check(json!({ "role": "owner" }), &[("/role", ErrorCode::OutOfRange)]);
        check(json!({ "status": "expired" }), &[]);
        check(json!({ "status": "disabled" }), &[("/status", ErrorCode::OutOfRange)]);
        let two = json!({ "zones": ["x"], "rooms": [ID, "y", 1] });
        let want = [
            ("/zones/0", ErrorCode::Malformed),
            ("/rooms/1", ErrorCode::Malformed),
            ("/rooms/2", ErrorCode::WrongType),
        ];
        check(two, &want);
        check(json!({ "zones": [] }), &[("/zones", ErrorCode::OutOfRange)]);
        check(json!({ "zones": [], "rooms": [ID] }), &[]);
        check(json!({ "rooms": vec![ID; 101] }), &[("/rooms", ErrorCode::OutOfRange)]);
        check(json!({ "expires_on": "tomorrow" }), &[("/expires_on", ErrorCode::Malformed)]);
        let (early, late) = ("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z");
        check(json!({ "not_before": early, "expires_on": late }), &[]);
        let backwards = json!({ "not_before": late, "expires_on": early });
        check(backwards, &[("/expires_on", ErrorCode::Contradiction)]);
        check(json!({ "hash": "x" }), &[("/hash", ErrorCode::UnknownField)]);
    }

    #[test]
    fn a_person_has_the_rights_of_a_token_and_an_id_of_the_name() {
        let (from, until) = ("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z");
        let read = |name: &str| {
            let rights = json!({
                "name": name, "role": "steer", "rooms": [ID], "not_before": from,
                "expires_on": until,
            });
            read_person(&with(&rights).to_string())
        };
        let anna = read("anna@shop.example").unwrap();
        assert_eq!(Some(anna.id), read("anna@shop.example").map(|again| again.id));
        assert_ne!(Some(anna.id), read("bert@shop.example").map(|other| other.id));
        assert_eq!((anna.grant().role, anna.grant().token), (Role::Steer, Some(anna.id)));
        assert!(anna.is_active(anna.issued_on), "it counts from its beginning");
        for wrong in ["", "{}", "owner", r#"{"name":"owner","role":"admin"}"#] {
            assert_eq!(read_person(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn without_zones_and_rooms_a_token_is_for_all() {
        let check = |patch: Value, want: Scope| {
            let read = read_token(&with(&patch)).unwrap();
            assert_eq!((read.scope, read.role), (want, Role::Look), "{patch}");
        };
        let (zones, rooms) = (vec![ID.parse().unwrap()], vec![ID.parse().unwrap()]);
        check(json!({}), Scope::All);
        check(json!({ "zones": null, "rooms": null }), Scope::All);
        check(json!({ "zones": [ID] }), Scope::Parts { zones, rooms: Vec::new() });
        check(json!({ "rooms": [ID] }), Scope::Parts { zones: Vec::new(), rooms });
    }
}
