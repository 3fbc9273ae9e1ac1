//! Reads the name and the attributes of a room's cookie.

use serde_json::Value;

use super::choices::{SAME_SITES, SECURES};
use super::field_error::{ErrorCode, Problem};
use super::fields::Fields;
use super::value::{malformed, text};
use crate::room::route::Route;
use crate::ticket::cookie::{CookieAttributes, SameSite, Secure, cookie_name};

/// The longest `cookie_suffix`, in bytes. Ours: the name is sent with every request.
pub const MAX_SUFFIX_BYTES: usize = 64;

/// Reads the name of the cookie. A room of several routes must give its own.
pub(super) fn read_cookie_name(
    fields: &mut Fields<'_>,
    routes: Option<&[Route]>,
) -> Option<String> {
    let suffix = fields.optional("cookie_suffix", "", cookie_suffix)?;
    if suffix.is_empty() && routes.is_some_and(|routes| routes.len() > 1) {
        let message = "is required when there are additional_routes";
        fields.fail("cookie_suffix", ErrorCode::Contradiction, message);
        return None;
    }
    Some(cookie_name(suffix))
}

/// Reads how the cookie is set.
pub(super) fn read_cookie_attributes(fields: &mut Fields<'_>) -> Option<CookieAttributes> {
    let default = CookieAttributes::default();
    let Some(value) = fields.value("cookie_attributes") else {
        return Some(default);
    };
    let mut inner = match Fields::of(value, fields.pointer_to("cookie_attributes")) {
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

fn cookie_suffix(value: &Value) -> Result<&str, Problem> {
    let suffix = text(MAX_SUFFIX_BYTES)(value)?;
    if suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(suffix);
    }
    Err(malformed(suffix, "must be letters, digits and _"))
}
