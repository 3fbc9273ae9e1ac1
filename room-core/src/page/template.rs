//! Mustache templates that owners write: checked once when they are saved, rendered per request.
//!
//! The engine, ramhorns, accepts broken templates and prints them wrongly: a section that is never
//! closed is always shown, and a tag with ten thousand names overflows the stack. So every template
//! is tokenised and checked here first, and the engine only sees a plain form of it. The names of
//! the variables come from the caller.

mod normalise;
mod outline;
mod render;
mod tokenise;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use ramhorns::Content;

pub use render::RenderError;
pub use render::Value;

use crate::base::sorted::{SortedMap, SortedSet};
use normalise::normalise;
use outline::Outlines;
use render::referenced;
use tokenise::Kind;
use tokenise::Tag;
use tokenise::TagError;
use tokenise::in_order;
use tokenise::tokenise;

/// The most bytes of a template's source: Cloudflare's limit for its templates, which are accepted
/// here.
pub const SOURCE_BYTES_MAX: usize = 1_048_576;
/// The most bytes of a rendered page: twice the longest source.
pub const RENDERED_BYTES_MAX: usize = 2 * SOURCE_BYTES_MAX;
/// The most errors reported for one template, and the most warnings. Nobody reads more.
pub const REPORTS_MAX: usize = 64;

/// A template that is known to render.
pub struct Template {
    engine: ramhorns::Template<'static>,
    /// The white space at the end of the source, which the engine drops.
    trailing: String,
    warnings: Vec<TemplateError>,
    in_ascii: bool,
    /// The variables that it names, each with the number by which the caller knows it.
    names: SortedMap<String, usize>,
    /// The numbers of the variables on which sections depend.
    conditions: Vec<usize>,
    outlines: RefCell<Outlines>,
}

/// An error or a warning at one place of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// The line, counted from 1.
    pub line: usize,
    /// The place in the line, in characters, counted from 1.
    pub column: usize,
    /// A sentence for the template's author.
    pub message: String,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl Template {
    /// Checks `source` and prepares it for rendering, or returns all its errors, at most
    /// `REPORTS_MAX`.
    ///
    /// `find` gives the number by which [`Self::render`] asks for a variable. An unknown name is no
    /// error: it prints nothing. It gives a warning, with the variable `nearest` to it.
    pub fn compile(
        source: &str,
        find: impl Fn(&str) -> Option<usize>,
        nearest: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, Vec<TemplateError>> {
        if source.len() > SOURCE_BYTES_MAX {
            let message = format!("the template is longer than {SOURCE_BYTES_MAX} bytes");
            return Err(vec![TemplateError { line: 1, column: 1, message }]);
        }
        let tags = tokenise(source).map_err(|faults| place(source, faults))?;
        let mut names = SortedMap::new();
        let mut conditions = SortedSet::new();
        for tag in tags.iter().filter(|tag| tag.kind != Kind::Comment) {
            let Some(variable) = find(tag.name) else { continue };
            names.insert(tag.name.to_owned(), variable);
            if matches!(tag.kind, Kind::Section | Kind::Inverted) {
                conditions.insert(variable);
            }
        }
        let is_unknown =
            |tag: &&Tag<'_>| tag.kind != Kind::Comment && names.get(tag.name).is_none();
        // A tree, for there may be 100,000 names; of bytes, for rules have one of bytes as well.
        let mut unknown = BTreeMap::new();
        for tag in tags.iter().filter(is_unknown) {
            unknown.entry(tag.name.as_bytes()).or_insert(tag.start);
        }
        let unknown =
            unknown.into_iter().map(|(name, start)| (String::from_utf8_lossy(name), start));
        // Looking for names takes long, and nobody reads more of them.
        let warnings = unknown.take(REPORTS_MAX).map(|(name, offset)| {
            let meant = nearest(&name).map(|meant| format!("; did you mean `{meant}`?"));
            let meant = meant.unwrap_or_default();
            let message =
                format!("there is no variable `{name}`: it prints nothing and is false{meant}");
            TagError { offset, message }
        });
        let warnings = place(source, in_order(warnings.collect()));
        let plain = normalise(source, &tags);
        let trailing = plain.get(plain.trim_end().len()..).unwrap_or_default().to_owned();
        let engine = ramhorns::Template::new(plain).map_err(|error| {
            // Not known to happen: the engine accepts whatever the checks above let through.
            let message = format!("the template engine refuses this template: {error}");
            vec![TemplateError { line: 1, column: 1, message }]
        })?;
        let conditions = conditions.into_iter().collect();
        let outlines = RefCell::default();
        Ok(Self { engine, trailing, warnings, in_ascii: false, names, conditions, outlines })
    }

    /// Compiles like [`Self::compile`], with character references for all that is not ASCII, if
    /// they lengthen the page by at most `bytes_more_max` bytes. Scripts and styles must be ASCII,
    /// since references mean nothing there.
    pub fn compile_in_ascii(
        source: &str,
        bytes_more_max: usize,
        find: impl Fn(&str) -> Option<usize>,
        nearest: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, Vec<TemplateError>> {
        let ascii = referenced(source);
        let in_ascii = ascii.len() <= source.len().saturating_add(bytes_more_max);
        let template = Self::compile(if in_ascii { &ascii } else { source }, find, nearest)?;
        Ok(Self { in_ascii, ..template })
    }

    /// Returns the names this template uses that are no variables, each at its first place.
    pub fn warnings(&self) -> &[TemplateError] {
        &self.warnings
    }

    /// Renders the page. `value` gives the value of each variable by its number.
    pub fn render<'a>(&self, value: impl Fn(usize) -> Value<'a>) -> Result<String, RenderError> {
        let is_true = |variable: usize| value(variable).is_truthy();
        let truths: Vec<bool> = self.conditions.iter().map(|one| is_true(*one)).collect();
        // `trailing` is part of a source of at most half the limit, so this cannot underflow.
        let bytes_max = RENDERED_BYTES_MAX - self.trailing.len();
        let mut outlines = self.outlines.borrow_mut();
        let mut page = if let Some(outline) = outlines.get(&truths) {
            outline.fill(bytes_max, self.in_ascii, value)?
        } else {
            let outline = render::outline(&self.engine, bytes_max, &self.names, is_true)?;
            let page = outline.fill(bytes_max, self.in_ascii, value)?;
            outlines.keep(truths, outline);
            page
        };
        page.push_str(&self.trailing);
        Ok(page)
    }
}

/// Converts byte offsets to lines and columns.
fn place(source: &str, faults: Vec<TagError>) -> Vec<TemplateError> {
    let place = |fault: TagError| {
        let before = source.get(..fault.offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |position| position + 1);
        TemplateError {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            message: fault.message,
        }
    };
    faults.into_iter().take(REPORTS_MAX).map(place).collect()
}

#[cfg(test)]
mod tests;
