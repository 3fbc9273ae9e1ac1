//! A template as it reads while the same variables are true: fixed text, and the places of values
//! in it. The engine makes each such outline once; most visitors of a room share one.

use std::fmt::Write as _;

use ramhorns::Content;

use super::render::{RenderError, Value, write_escaped};

/// The most outlines kept of a template. A page has a handful of states.
const KEPT_MAX: usize = 8;
/// The most bytes of fixed text in all kept outlines. A larger outline is made for each visitor.
const KEPT_BYTES_MAX: usize = 131_072;

/// A template without its sections: for one choice of what is true in it.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// All fixed text of the template.
    pub(super) text: String,
    /// The values between the parts of the text, in their order.
    pub(super) values: Vec<Printed>,
}

/// A value that is printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printed {
    /// The byte offset in the outline's text at which the value is inserted.
    pub(super) at: usize,
    /// The number of the variable.
    pub(super) variable: usize,
    /// Whether HTML stays as it is: true for `{{{name}}}`.
    pub(super) is_raw: bool,
}

impl Outline {
    /// Inserts the values, for a page of at most `bytes_max` bytes.
    pub(super) fn fill<'a>(
        &self,
        bytes_max: usize,
        in_ascii: bool,
        value: impl Fn(usize) -> Value<'a>,
    ) -> Result<String, RenderError> {
        // Values are short, so an eighth on top of the fixed text saves growing the buffer.
        let mut page = String::with_capacity(self.text.len() + self.text.len() / 8);
        let mut from = 0;
        for printed in &self.values {
            page.push_str(self.text.get(from..printed.at).ok_or(RenderError::NotText)?);
            from = printed.at;
            print(value(printed.variable), printed.is_raw, in_ascii, &mut page);
            if page.len() > bytes_max {
                return Err(RenderError::TooLong);
            }
        }
        page.push_str(self.text.get(from..).ok_or(RenderError::NotText)?);
        if page.len() > bytes_max { Err(RenderError::TooLong) } else { Ok(page) }
    }
}

/// Writes a value. Writing to a text cannot fail.
fn print(value: Value<'_>, is_raw: bool, in_ascii: bool, page: &mut String) {
    match value {
        Value::Integer(number) => {
            let _ = write!(page, "{number}");
        }
        Value::Text(text) if !is_raw => {
            let _ = write_escaped(text, in_ascii, page);
        }
        _ if is_raw => {
            let _ = value.render_unescaped(page);
        }
        _ => {
            let _ = value.render_escaped(page);
        }
    }
}

/// The last used outlines of a template, each with the truth values for which it was made.
#[derive(Debug, Default)]
pub(super) struct Outlines {
    kept: Vec<(Vec<bool>, Outline)>,
    bytes: usize,
}

impl Outlines {
    /// Returns the outline for these truth values.
    pub(super) fn get(&self, truths: &[bool]) -> Option<&Outline> {
        self.kept.iter().find(|(of, _)| of == truths).map(|(_, outline)| outline)
    }

    /// Keeps an outline, and forgets older ones that do not fit beside it.
    pub(super) fn keep(&mut self, truths: Vec<bool>, outline: Outline) {
        let bytes = outline.text.len();
        if bytes > KEPT_BYTES_MAX {
            return;
        }
        while self.kept.len() >= KEPT_MAX || self.bytes + bytes > KEPT_BYTES_MAX {
            let (_, oldest) = self.kept.remove(0);
            self.bytes -= oldest.text.len();
        }
        self.bytes += bytes;
        self.kept.push((truths, outline));
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_BYTES_MAX, KEPT_MAX, Outline, Outlines};

    fn outline(length: usize) -> Outline {
        Outline { text: "x".repeat(length), values: Vec::new() }
    }

    #[test]
    fn the_last_outlines_are_kept_within_bounds() {
        let mut outlines = Outlines::default();
        let choice = |number: usize| (0..8).map(|bit| number >> bit & 1 == 1).collect::<Vec<_>>();
        let kept = |outlines: &Outlines| {
            (0..40).filter(|number| outlines.get(&choice(*number)).is_some()).collect::<Vec<_>>()
        };
        for number in 0..KEPT_MAX + 2 {
            outlines.keep(choice(number), outline(10));
        }
        assert_eq!(kept(&outlines), (2..KEPT_MAX + 2).collect::<Vec<_>>());
        outlines.keep(choice(20), outline(KEPT_BYTES_MAX - 15));
        assert_eq!(kept(&outlines), [KEPT_MAX + 1, 20]);
        outlines.keep(choice(21), outline(KEPT_BYTES_MAX + 1));
        assert_eq!(kept(&outlines), [KEPT_MAX + 1, 20]);
        outlines.keep(choice(22), outline(KEPT_BYTES_MAX));
        assert_eq!(kept(&outlines), [22]);
    }
}
