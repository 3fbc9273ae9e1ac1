//! Errors of expressions: what is wrong and where, and the wrong line with a mark under it.

use std::fmt;

use crate::base::edits::edits;

/// The most characters of a line that an error shows around the error's place.
const EXCERPT_CHARACTERS_MAX: usize = 76;
/// How many of these are before the error's place if the line is longer.
const EXCERPT_CHARACTERS_BEFORE: usize = 40;

/// A part of an expression, by the offsets of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    /// The offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the part from the start of this one to the end of `last`.
    pub fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end }
    }
}

/// What is wrong with one part of an expression.
#[derive(Debug)]
pub(super) struct Mistake {
    pub span: Span,
    pub message: String,
}

impl Mistake {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

/// Why a text is not an expression that this product can evaluate.
///
/// It displays as a sentence with the place, the wrong line, and marks under what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The offset of the first wrong byte. The length of the text if something is missing there.
    pub offset: usize,
    /// The line of that byte, counted from 1.
    pub line: usize,
    /// The column of that byte in characters, counted from 1.
    pub column: usize,
    /// What is wrong and what is allowed.
    pub message: String,
    excerpt: String,
    mark: String,
}

impl ExpressionError {
    pub(super) fn new(text: &str, fault: Mistake) -> Self {
        let Mistake { span, message } = fault;
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_text = text.get(line_start..).unwrap_or_default();
        let line_text = line_text.split('\n').next().unwrap_or_default();
        let column = before.get(line_start..).unwrap_or_default().chars().count();
        let marked = text.get(span.start..span.end).unwrap_or_default();
        let marked = marked.split('\n').next().unwrap_or_default().chars().count();

        let is_long = line_text.chars().count() > EXCERPT_CHARACTERS_MAX;
        let cut = if is_long { column.saturating_sub(EXCERPT_CHARACTERS_BEFORE) } else { 0 };
        let shown = line_text.chars().skip(cut).take(EXCERPT_CHARACTERS_MAX);
        let shown = shown.map(|character| if character.is_control() { ' ' } else { character });
        let room = EXCERPT_CHARACTERS_MAX.saturating_sub(column - cut).max(1);
        Self {
            offset: span.start,
            line: before.matches('\n').count() + 1,
            column: column + 1,
            message,
            excerpt: shown.collect(),
            mark: format!("{}{}", " ".repeat(column - cut), "^".repeat(marked.clamp(1, room))),
        }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message, excerpt, mark, .. } = self;
        write!(formatter, "line {line}, column {column}: {message}\n  {excerpt}\n  {mark}")
    }
}

impl std::error::Error for ExpressionError {}

/// Finds the one of `names` that was probably meant by `written`; `None` if all are too different.
pub(super) fn nearest<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // More than every name has; the search costs the product of both lengths.
    const WRITTEN_BYTES_MAX: usize = 48;
    if written.len() > WRITTEN_BYTES_MAX {
        return None;
    }
    let written = written.to_ascii_lowercase();
    let distances = names.map(|name| (edits(&written, name), name));
    let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= written.len() / 4 + 1 && distance < name.len()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{ExpressionError, Mistake, Span, nearest};

    #[test]
    fn the_mark_stands_under_the_place() {
        let check = |text: &str, span: (usize, usize), want: &str| {
            let span = Span { start: span.0, end: span.1 };
            let error = ExpressionError::new(text, Mistake::new(span, "no"));
            assert_eq!(error.to_string(), want, "{text}");
        };
        check("ab cd", (3, 5), "line 1, column 4: no\n  ab cd\n     ^^");
        check("ab", (2, 2), "line 1, column 3: no\n  ab\n    ^");
        check("a\n\u{e4}\tb", (5, 6), "line 2, column 3: no\n  \u{e4} b\n    ^");
        check("ab\ncd", (1, 5), "line 1, column 2: no\n  ab\n   ^");
        let long = format!("{}!{}", "x".repeat(100), "y".repeat(100));
        let shown = format!("{}!{}", "x".repeat(40), "y".repeat(35));
        let mark = " ".repeat(40);
        check(&long, (100, 101), &format!("line 1, column 101: no\n  {shown}\n  {mark}^"));
        let all = "^".repeat(36);
        check(&long, (100, 201), &format!("line 1, column 101: no\n  {shown}\n  {mark}{all}"));
    }

    #[test]
    fn slips_of_the_pen_are_told_from_other_names() {
        let check = |written: &str, want: Option<&str>| {
            let names = ["http.host", "http.referer", "ssl"];
            assert_eq!(nearest(written, names.into_iter()), want, "{written}");
        };
        check("http.hots", Some("http.host"));
        check("http.referrer", Some("http.referer"));
        check("sll", Some("ssl"));
        check("SSL", Some("ssl"));
        check("a", None);
        check("tcp.port", None);
        check(&"http.host".repeat(9), None);
    }
}
