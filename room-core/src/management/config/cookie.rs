//! Reads and writes the name and the attributes of a room's cookie.

use serde_json::{Value, json};

use super::choices::{SAME_SITES, SECURES, word_of};
use super::claims::Claims;
use super::field_error::{ErrorCode, Problem};
use super::fields::Fields;
use super::form::{Form, Shape};
use super::value::{malformed, text};
use crate::room::Room;
use crate::ticket::cookie::{CookieAttributes, SameSite, Secure, cookie_name, cookie_suffix};

/// The longest `cookie_suffix`, in bytes. Ours: the name is sent with every request.
pub const MAX_SUFFIX_BYTES: usize = 64;

/// What the name of the cookie ends with. The value is the whole name.
pub(super) struct Suffix;

impl Form for Suffix {
    type Value = String;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<String> {
        fields.keep(name, read_suffix(value)).map(cookie_name)
    }

    fn write(&self, value: &String) -> Value {
        Value::from(cookie_suffix(value))
    }

    fn shape(&self) -> Shape {
        Shape::Special
    }
}

/// Checks that a room of several routes gives its cookie a name of its own.
pub(super) fn check_suffix(fields: &mut Fields<'_>, room: &mut Room, _: &mut Claims) {
    if room.routes.len() > 1 && cookie_suffix(&room.cookie_name).is_empty() {
        fields.contradict(&["cookie_suffix"], "is required when there are additional_routes");
    }
}

/// How the cookie is set.
pub(super) struct Attributes;

impl Form for Attributes {
    type Value = CookieAttributes;

    fn read(
        &self,
        name: &'static str,
        value: &Value,
        fields: &mut Fields<'_>,
    ) -> Option<CookieAttributes> {
        let default = CookieAttributes::default();
        let mut inner = match Fields::of(value, fields.pointer_to(name)) {
            Err(error) => {
                fields.add([error]);
                return None;
            }
            Ok(inner) => inner,
        };
        let same_site = inner.choice("samesite", default.same_site, &SAME_SITES);
        let secure = inner.choice("secure", default.secure, &SECURES);
        if (same_site, secure) == (Some(SameSite::None), Some(Secure::Never)) {
            let message =
                "must not be \"never\" when samesite is \"none\": browsers drop such a cookie";
            inner.fail("secure", ErrorCode::Contradiction, message);
        }
        fields.add(inner.finish());
        Some(CookieAttributes { same_site: same_site?, secure: secure? })
    }

    fn write(&self, value: &CookieAttributes) -> Value {
        json!({
            "samesite": word_of(&SAME_SITES, value.same_site),
            "secure": word_of(&SECURES, value.secure),
        })
    }

    fn shape(&self) -> Shape {
        Shape::Special
    }
}

fn read_suffix(value: &Value) -> Result<&str, Problem> {
    let suffix = text(MAX_SUFFIX_BYTES)(value)?;
    if suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(suffix);
    }
    Err(malformed(suffix, "must be letters, digits and _"))
}
