//! Reads a checked template through the engine: values are scalars, and the length has a bound.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};
use std::io;

use ramhorns::Content;
use ramhorns::Section;
use ramhorns::encoding::Encoder;
use ramhorns::traits::ContentSequence;

use super::outline::{Outline, Printed};
use crate::base::sorted::SortedMap;

/// A value that a template may print or test. All are scalars, so that no template can recurse or
/// repeat a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Printed as `true` or `false`.
    Bool(bool),
    /// HTML that the Worker made: `{{{name}}}` prints it as it is, `{{name}}` escaped. Empty is
    /// false.
    Html(&'a str),
    /// Printed in decimal; 0 is false.
    Integer(u64),
    /// Printed escaped even by `{{{name}}}`; empty is false.
    Text(&'a str),
}

/// Why a page could not be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderError {
    /// The page would be longer than [`RENDERED_BYTES_MAX`](super::RENDERED_BYTES_MAX).
    TooLong,
    /// The engine cut a character in two. Not known to happen.
    NotText,
}

/// Makes the engine write the outline of a template, with the variables `names` as `truth` says.
/// Its fixed text has at most `bytes_max` bytes.
pub(super) fn outline(
    engine: &ramhorns::Template<'_>,
    bytes_max: usize,
    names: &SortedMap<String, usize>,
    truth: impl Fn(usize) -> bool,
) -> Result<Outline, RenderError> {
    let written = Cell::new(0);
    let values = RefCell::default();
    let bytes = Vec::with_capacity(engine.capacity_hint().min(bytes_max));
    let mut writer = CappedWriter { bytes, bytes_max, written: &written };
    let scalars = Scalars { names, truth, written: &written, values: &values };
    engine.render_to_writer(&mut writer, &scalars).map_err(|_| RenderError::TooLong)?;
    let text = String::from_utf8(writer.bytes).map_err(|_| RenderError::NotText)?;
    Ok(Outline { text, values: values.into_inner() })
}

struct CappedWriter<'a> {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// The number of bytes written, for callers that cannot see the writer.
    written: &'a Cell<usize>,
}

impl io::Write for CappedWriter<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.write_all(part)?;
        Ok(part.len())
    }

    fn write_all(&mut self, part: &[u8]) -> io::Result<()> {
        if part.len() > self.bytes_max - self.bytes.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(part);
        self.written.set(self.bytes.len());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Tells the engine which sections to write, and notes where it would print values. A section on a
/// scalar opens no new scope.
struct Scalars<'a, T> {
    names: &'a SortedMap<String, usize>,
    truth: T,
    written: &'a Cell<usize>,
    values: &'a RefCell<Vec<Printed>>,
}

impl<T: Fn(usize) -> bool> Scalars<'_, T> {
    /// Notes that a value is printed here; false if there is no variable of this name.
    fn print(&self, name: &str, is_raw: bool) -> bool {
        let Some(variable) = self.names.get(name).copied() else { return false };
        self.values.borrow_mut().push(Printed { at: self.written.get(), variable, is_raw });
        true
    }

    /// Returns whether the variable is true; `None` if there is no variable of this name.
    fn is_true(&self, name: &str) -> Option<Value<'_>> {
        self.names.get(name).map(|variable| Value::Bool((self.truth)(*variable)))
    }
}

/// Writes `html` with references like `&#8230;` for all that is not ASCII.
///
/// A single other character makes JavaScript use two bytes for each character of the page, and a
/// fifth more CPU.
pub(super) fn referenced(html: &str) -> String {
    let mut ascii = String::with_capacity(html.len());
    for letter in html.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(ascii, "{}", Reference(letter));
        }
    }
    ascii
}

/// A character as HTML names it by its number.
struct Reference(char);

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "&#{};", u32::from(self.0))
    }
}

impl<T: Fn(usize) -> bool> Content for Scalars<'_, T> {
    fn render_field_escaped<E: Encoder>(
        &self,
        _hash: u64,
        name: &str,
        _encoder: &mut E,
    ) -> Result<bool, E::Error> {
        Ok(self.print(name, false))
    }

    fn render_field_unescaped<E: Encoder>(
        &self,
        _hash: u64,
        name: &str,
        _encoder: &mut E,
    ) -> Result<bool, E::Error> {
        Ok(self.print(name, true))
    }

    fn render_field_section<C: ContentSequence, E: Encoder>(
        &self,
        _hash: u64,
        name: &str,
        section: Section<C>,
        encoder: &mut E,
    ) -> Result<bool, E::Error> {
        let Some(value) = self.is_true(name) else { return Ok(false) };
        value.render_section(section, encoder)?;
        Ok(true)
    }

    fn render_field_inverse<C: ContentSequence, E: Encoder>(
        &self,
        _hash: u64,
        name: &str,
        section: Section<C>,
        encoder: &mut E,
    ) -> Result<bool, E::Error> {
        let Some(value) = self.is_true(name) else { return Ok(false) };
        value.render_inverse(section, encoder)?;
        Ok(true)
    }
}

impl Content for Value<'_> {
    fn is_truthy(&self) -> bool {
        match self {
            Value::Bool(value) => *value,
            Value::Integer(value) => *value != 0,
            Value::Html(text) | Value::Text(text) => !text.is_empty(),
        }
    }

    fn render_escaped<E: Encoder>(&self, encoder: &mut E) -> Result<(), E::Error> {
        match self {
            Value::Bool(value) => encoder.write_unescaped(if *value { "true" } else { "false" }),
            Value::Integer(value) => encoder.format_unescaped(value),
            Value::Html(text) | Value::Text(text) => write_escaped(text, false, encoder),
        }
    }

    fn render_unescaped<E: Encoder>(&self, encoder: &mut E) -> Result<(), E::Error> {
        match self {
            Value::Html(html) => encoder.write_unescaped(html),
            Value::Bool(_) | Value::Integer(_) | Value::Text(_) => self.render_escaped(encoder),
        }
    }
}

/// Escapes `'` besides what the engine escapes, since it would end an attribute value in single
/// quotes. With `in_ascii` it also escapes all that is not ASCII.
pub(super) fn write_escaped<E: Encoder>(
    text: &str,
    in_ascii: bool,
    encoder: &mut E,
) -> Result<(), E::Error> {
    let is_special = |letter: char| letter == '\'' || in_ascii && !letter.is_ascii();
    for part in text.split_inclusive(is_special) {
        match part.char_indices().next_back().filter(|(_, last)| is_special(*last)) {
            Some((at, special)) => {
                encoder.write_escaped(part.get(..at).unwrap_or_default())?;
                encoder.format_unescaped(Reference(special))?;
            }
            None => encoder.write_escaped(part)?,
        }
    }
    Ok(())
}
