//! The fields of rooms and events that say what the built-in page shows of its site. Nothing of it
//! is markup: pages escape it.

use serde_json::Value;

use super::fields::Fields;
use super::form::{Form, Shape};
use super::table::field_table;
use super::value::{malformed, text};
use crate::room::branding::Branding;

/// The longest name on a page, in bytes. The number is ours.
pub(super) const NAME_BYTES_MAX: usize = 100;
/// The longest text and message, in bytes. Ours: a sentence in each language, of which a page shows
/// one.
const TEXT_BYTES_MAX: usize = 4_000;
/// The longest address, in bytes. The number is ours.
const URL_BYTES_MAX: usize = 500;
/// The longest picture, in bytes. Ours: every page carries it.
const LOGO_BYTES_MAX: usize = 4_096;
const LOGO_KINDS: [&str; 5] = ["svg+xml", "png", "webp", "jpeg", "gif"];

field_table! {
    Branding<Content>, (), Content;
    "page_name" at name: Line(NAME_BYTES_MAX), Page [ours new]
        "The name on the built-in page; empty: the host.";
    "page_text" at text: Line(TEXT_BYTES_MAX), Page [ours new]
        "A text for everybody who waits; in others: [de] ...";
    "page_message" at message: Line(TEXT_BYTES_MAX), [ours new]
        "News for everybody who waits; likewise.";
    "page_color" at color: COLOR, Page [ours new]
        "Its colour, like #0f766e.";
    "page_help_url" at help_url: LINK, Page [ours new]
        "Where visitors find help: https://...";
    "page_logo" at logo: PICTURE, Page [ours new]
        "Its picture, up to 4 KiB: data:image/...;base64,...";
}

/// A text of one line, of at most so many bytes.
pub(super) struct Line(pub usize);

impl Form for Line {
    type Value = String;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<String> {
        let expected = "a text without line breaks or other control characters";
        let line = Short { bytes_max: self.0, is_right: is_plain, expected };
        line.read(name, value, fields)
    }

    fn write(&self, value: &String) -> Value {
        Value::from(value.as_str())
    }

    fn shape(&self) -> Shape {
        Shape::Text(Some(self.0))
    }
}

/// A text of a form that bounds it; it may be empty.
struct Short {
    bytes_max: usize,
    is_right: fn(&str) -> bool,
    expected: &'static str,
}

const COLOR: Short =
    Short { bytes_max: NAME_BYTES_MAX, is_right: is_color, expected: "a colour like \"#0f766e\"" };
const LINK: Short = Short {
    bytes_max: URL_BYTES_MAX,
    is_right: is_link,
    expected: "an address that begins with \"https://\"",
};
const PICTURE: Short = Short {
    bytes_max: LOGO_BYTES_MAX,
    is_right: is_picture,
    expected: "a picture like \"data:image/png;base64,...\" (svg+xml, png, webp, jpeg, gif)",
};

impl Form for Short {
    type Value = String;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<String> {
        let given = fields.keep(name, text(self.bytes_max)(value))?;
        let is_right = given.is_empty() || (self.is_right)(given);
        let problem = || malformed(given, format!("must be {}", self.expected));
        fields.keep(name, is_right.then(|| given.to_owned()).ok_or_else(problem))
    }

    fn write(&self, value: &String) -> Value {
        Value::from(value.as_str())
    }

    fn shape(&self) -> Shape {
        Shape::Text(None)
    }
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
