//! The forms that one field of a room has alone, or shares with events.

use serde_json::{Value, json};

use super::choices::{ORIGIN_COMMANDS, word_of};
use super::field_error::ErrorCode;
use super::fields::Fields;
use super::form::{Form, Shape};
use super::value::{
    MAX_TEXT_BYTES, choice, list, out_of_range, parsed_or_default, plain_name, text, whole,
    wrong_type,
};
use crate::page::Page;
use crate::page::template::SOURCE_BYTES_MAX;
use crate::room::language::Language;

/// Allowed statuses of the queue page; the first is the default.
pub(super) const STATUS_CODES: [u16; 3] = [200, 202, 429];

/// The name of a room or an event.
pub(super) struct Name;

impl Form for Name {
    type Value = String;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<String> {
        fields.keep(name, plain_name(MAX_TEXT_BYTES)(value)).map(str::to_owned)
    }

    fn write(&self, value: &String) -> Value {
        Value::from(value.as_str())
    }

    fn shape(&self) -> Shape {
        Shape::Special
    }
}

/// One of `STATUS_CODES`.
pub(super) struct StatusCode;

impl Form for StatusCode {
    type Value = u16;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<u16> {
        let mut codes = STATUS_CODES.into_iter();
        let chosen = codes.find(|code| whole(value) == Some(u64::from(*code)));
        let problem = if value.is_number() { out_of_range } else { wrong_type };
        fields.keep(name, chosen.ok_or_else(|| problem("200, 202 or 429", value)))
    }

    fn write(&self, value: &u16) -> Value {
        Value::from(*value)
    }

    fn shape(&self) -> Shape {
        Shape::Numbers(&STATUS_CODES)
    }
}

/// The owner's page; `""` is the built-in one.
pub(super) struct OwnPage;

impl Form for OwnPage {
    type Value = Option<String>;

    fn read(
        &self,
        name: &'static str,
        value: &Value,
        fields: &mut Fields<'_>,
    ) -> Option<Option<String>> {
        let page = Template.read(name, value, fields)?;
        Some(Some(page).filter(|page| !page.is_empty()))
    }

    fn write(&self, value: &Option<String>) -> Value {
        Value::from(value.as_deref().unwrap_or_default())
    }

    fn shape(&self) -> Shape {
        Template.shape()
    }
}

/// A template of a page, which may be empty.
pub(super) struct Template;

impl Form for Template {
    type Value = String;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<String> {
        let source = fields.keep(name, text(SOURCE_BYTES_MAX)(value))?;
        let source =
            if source.is_empty() { Some(source) } else { check_template(fields, name, source) };
        source.map(str::to_owned)
    }

    fn write(&self, value: &String) -> Value {
        Value::from(value.as_str())
    }

    fn shape(&self) -> Shape {
        Shape::Text(Some(SOURCE_BYTES_MAX))
    }
}

fn check_template<'source>(
    fields: &mut Fields<'_>,
    name: &str,
    source: &'source str,
) -> Option<&'source str> {
    let errors = Page::compile(source).err().unwrap_or_default();
    let is_valid = errors.is_empty();
    for error in errors {
        fields.fail(name, ErrorCode::Template, error.to_string());
    }
    is_valid.then_some(source)
}

/// The language of a page; `""` is the default.
pub(super) struct LanguageTag;

impl Form for LanguageTag {
    type Value = Language;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<Language> {
        fields.keep(name, parsed_or_default(value))
    }

    fn write(&self, value: &Language) -> Value {
        Value::from(value.tag())
    }

    fn shape(&self) -> Shape {
        Shape::Words(Language::all().map(Language::tag).collect())
    }
}

/// The commands that an origin may give: whether it may end sessions.
pub(super) struct Commands;

impl Form for Commands {
    type Value = bool;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<bool> {
        let listed = list("a list of commands", ORIGIN_COMMANDS.len())(value);
        let listed = fields.keep(name, listed)?.iter().enumerate();
        Some(fields.each(name, listed, choice(&ORIGIN_COMMANDS))?.contains(&true))
    }

    fn write(&self, value: &bool) -> Value {
        let commands = Some(word_of(&ORIGIN_COMMANDS, true)).filter(|_| *value);
        json!(commands.as_slice())
    }

    fn shape(&self) -> Shape {
        Shape::Special
    }
}
