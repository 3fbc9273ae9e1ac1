//! Reads what the built-in page shows of its site. Nothing of it is markup: pages escape it.

use serde_json::Value;

use super::field_error::Problem;
use super::fields::Fields;
use super::value::{malformed, text};
use crate::room::branding::Branding;

/// The longest name on a page, in bytes. The number is ours.
const NAME_BYTES_MAX: usize = 100;
/// The longest text and message, in bytes. Ours: a sentence in each language, of which a page shows
/// one.
const TEXT_BYTES_MAX: usize = 4_000;
/// The longest address, in bytes. The number is ours.
const URL_BYTES_MAX: usize = 500;
/// The longest picture, in bytes. Ours: every page carries it.
const LOGO_BYTES_MAX: usize = 4_096;
const LOGO_KINDS: [&str; 5] = ["svg+xml", "png", "webp", "jpeg", "gif"];

/// Reads the fields of a room that begin with `page_`.
pub(super) fn read_branding(fields: &mut Fields<'_>) -> Option<Branding> {
    read_fields(fields, None).map(|read| read.or(Branding::default()))
}

/// Reads the same fields of an event, and the event's name on pages.
pub(super) fn read_overrides(fields: &mut Fields<'_>) -> Option<Branding<Option<String>>> {
    read_fields(fields, Some("page_event_name"))
}

fn read_fields(
    fields: &mut Fields<'_>,
    event_name: Option<&'static str>,
) -> Option<Branding<Option<String>>> {
    let mut read =
        |name: &'static str, limit: usize, is_right: fn(&str) -> bool, expected: &str| {
            let value = |value: &Value| checked(value, limit, is_right, expected).map(Some);
            fields.optional(name, None, value)
        };
    let line = "a text without line breaks or other control characters";
    let name = read("page_name", NAME_BYTES_MAX, is_plain, line);
    let event_name =
        event_name.map_or(Some(None), |field| read(field, NAME_BYTES_MAX, is_plain, line));
    let text = read("page_text", TEXT_BYTES_MAX, is_plain, line);
    let message = read("page_message", TEXT_BYTES_MAX, is_plain, line);
    let color = read("page_color", NAME_BYTES_MAX, is_color, "a colour like \"#0f766e\"");
    let link = "an address that begins with \"https://\"";
    let help_url = read("page_help_url", URL_BYTES_MAX, is_link, link);
    let picture = "a picture like \"data:image/png;base64,...\" (svg+xml, png, webp, jpeg, gif)";
    let logo = read("page_logo", LOGO_BYTES_MAX, is_picture, picture);
    Some(Branding {
        name: name?,
        event_name: event_name?,
        logo: logo?,
        color: color?,
        text: text?,
        message: message?,
        help_url: help_url?,
    })
}

fn checked(
    value: &Value,
    limit: usize,
    is_right: fn(&str) -> bool,
    expected: &str,
) -> Result<String, Problem> {
    let given = text(limit)(value)?;
    if given.is_empty() || is_right(given) {
        return Ok(given.to_owned());
    }
    Err(malformed(given, format!("must be {expected}")))
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

fn is_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn is_link(text: &str) -> bool {
    let rest = text.strip_prefix("https://").unwrap_or_default();
    !rest.is_empty() && !rest.starts_with('/') && rest.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_picture(text: &str) -> bool {
    let (kind, data) = text
        .strip_prefix("data:image/")
        .and_then(|rest| rest.split_once(";base64,"))
        .unwrap_or_default();
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    LOGO_KINDS.contains(&kind) && !data.is_empty() && data.bytes().all(is_base64)
}
