//! Renders a checked template through the engine: values are scalars, and the length has a bound.

use std::io;

use ramhorns::Content;
use ramhorns::Section;
use ramhorns::encoding::Encoder;
use ramhorns::traits::ContentSequence;

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

/// Renders the template with the values that `lookup` gives by name, at most `bytes_max` bytes.
pub(super) fn render<'a>(
    engine: &ramhorns::Template<'_>,
    bytes_max: usize,
    lookup: impl Fn(&str) -> Option<Value<'a>>,
) -> Result<String, RenderError> {
    // Values are short, so an eighth on top of the fixed text saves growing the buffer.
    let capacity = engine.capacity_hint() + engine.capacity_hint() / 8;
    let mut writer = CappedWriter { bytes: Vec::with_capacity(capacity.min(bytes_max)), bytes_max };
    engine.render_to_writer(&mut writer, &Scalars(lookup)).map_err(|_| RenderError::TooLong)?;
    String::from_utf8(writer.bytes).map_err(|_| RenderError::NotText)
}

struct CappedWriter {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl io::Write for CappedWriter {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.write_all(part)?;
        Ok(part.len())
    }

    fn write_all(&mut self, part: &[u8]) -> io::Result<()> {
        if part.len() > self.bytes_max - self.bytes.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives the engine the scalar of each name. A section on a scalar opens no new scope.
struct Scalars<F>(F);

impl<'a, F: Fn(&str) -> Option<Value<'a>>> Content for Scalars<F> {
    fn render_field_escaped<E: Encoder>(
        &self,
        _hash: u64,
        name: &str,
        encoder: &mut E,
    ) -> Result<bool, E::Error> {
        let Some(value) = (self.0)(name) else { return Ok(false) };
        value.render_escaped(encoder)?;
        Ok(true)
    }

    fn render_field_unescaped<E: Encoder>(
        &self,
        _hash: u64,
        name: &str,
        encoder: &mut E,
    ) -> Result<bool, E::Error> {
        let Some(value) = (self.0)(name) else { return Ok(false) };
        value.render_unescaped(encoder)?;
        Ok(true)
    }

    fn render_field_section<C: ContentSequence, E: Encoder>(
        &self,
        _hash: u64,
        name: &str,
        section: Section<C>,
        encoder: &mut E,
    ) -> Result<bool, E::Error> {
        let Some(value) = (self.0)(name) else { return Ok(false) };
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
        let Some(value) = (self.0)(name) else { return Ok(false) };
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
            Value::Html(text) | Value::Text(text) => write_escaped(text, encoder),
        }
    }

    fn render_unescaped<E: Encoder>(&self, encoder: &mut E) -> Result<(), E::Error> {
        match self {
            Value::Html(html) => encoder.write_unescaped(html),
            Value::Bool(_) | Value::Integer(_) | Value::Text(_) => self.render_escaped(encoder),
        }
    }
}

/// Escapes `'` besides what the engine escapes: it would end an attribute value in single quotes.
fn write_escaped<E: Encoder>(text: &str, encoder: &mut E) -> Result<(), E::Error> {
    let mut parts = text.split('\'');
    encoder.write_escaped(parts.next().unwrap_or_default())?;
    for part in parts {
        encoder.write_unescaped("&#39;")?;
        encoder.write_escaped(part)?;
    }
    Ok(())
}
