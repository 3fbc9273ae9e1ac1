//! Reads the fields of one JSON object by name and keeps every error.

use std::rc::Rc;

use serde_json::Value;

use super::field_error::{ErrorCode, FieldError, Problem};
use super::form::{Form, Held};
use super::value::{choice, quoted, wrong_type};
use crate::base::edits::edits;

/// The fields of one JSON object, and the errors found so far. A field counts as known once it has
/// been asked for.
pub struct Fields<'json> {
    errors: Vec<FieldError>,
    known: Vec<&'static str>,
    entries: Vec<Entry<'json>>,
    pointer: Rc<str>,
}

/// One field of the object. Fields are searched one by one, in the order of their names. Most have
/// different lengths, so that this is faster than a tree.
struct Entry<'json> {
    name: &'json str,
    value: &'json Value,
    is_known: bool,
}

impl<'json> Fields<'json> {
    /// Opens `value`, which stands at `pointer` and must be an object.
    pub fn of(value: &'json Value, pointer: String) -> Result<Self, FieldError> {
        let Value::Object(object) = value else {
            return Err(wrong_type("an object", value).at(pointer));
        };
        let entry = |(name, value): (&'json String, _)| Entry { name, value, is_known: false };
        Ok(Self {
            errors: Vec::new(),
            known: Vec::with_capacity(KNOWN_USUALLY),
            entries: object.iter().map(entry).collect(),
            pointer: pointer.into(),
        })
    }

    /// Reads a required field by `parse`. Keeps an error and returns `None` if it is missing or
    /// wrong.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&'json Value) -> Result<T, Problem>,
    ) -> Option<T> {
        if let Some(value) = self.value(name) {
            return self.keep(name, parse(value));
        }
        self.fail(name, ErrorCode::Required, "is required");
        None
    }

    /// Reads a field by `parse`, or returns `default` if it is missing. Keeps an error and returns
    /// `None` if it is wrong.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        default: T,
        parse: impl FnOnce(&'json Value) -> Result<T, Problem>,
    ) -> Option<T> {
        match self.value(name) {
            None => Some(default),
            Some(value) => self.keep(name, parse(value)),
        }
    }

    /// Reads one of the texts of `choices`, or returns `default` if the field is missing or "".
    /// Clients that cannot leave a field out send it empty.
    pub fn choice<T: Copy, R: From<T>>(
        &mut self,
        name: &'static str,
        default: R,
        choices: &[(&str, T)],
    ) -> Option<R> {
        match self.value(name).filter(|value| value.as_str() != Some("")) {
            None => Some(default),
            Some(value) => self.keep(name, choice(choices)(value)).map(R::from),
        }
    }

    /// Reads a field of a table into its `place`. A missing or wrong field leaves the place as it
    /// is; of a wrong one, and of a missing one that is `required`, the error is kept.
    pub fn take<T: Held<F::Value>, F: Form>(
        &mut self,
        name: &'static str,
        required: bool,
        form: &F,
        place: &mut T,
    ) {
        match self.value(name) {
            None if required => self.fail(name, ErrorCode::Required, "is required"),
            None => {}
            Some(value) => {
                if let Some(value) = form.read(name, value, self) {
                    *place = T::of(value);
                }
            }
        }
    }

    /// Returns a field's value as it stands; `null` is the same as a missing field.
    pub fn value(&mut self, name: &'static str) -> Option<&'json Value> {
        self.known.push(name);
        let entry = self.entries.iter_mut().find(|entry| entry.name == name)?;
        entry.is_known = true;
        Some(entry.value).filter(|value| !value.is_null())
    }

    /// Returns the JSON pointer to the object.
    pub fn pointer(&self) -> Rc<str> {
        Rc::clone(&self.pointer)
    }

    /// Returns the JSON pointer to the field of this name.
    pub fn pointer_to(&self, name: &str) -> String {
        pointer_below(&self.pointer, name)
    }

    /// Keeps an error of the field of this name.
    pub fn fail(&mut self, name: &str, code: ErrorCode, message: impl Into<String>) {
        let pointer = self.pointer_to(name);
        self.errors.push(FieldError { pointer, code, message: message.into() });
    }

    /// Keeps the error that the first of these fields contradicts the others, unless one of them
    /// already has an error.
    pub fn contradict(&mut self, names: &[&str], message: impl Into<String>) {
        if let [name, ..] = names
            && !names.iter().any(|name| self.has_failed(name))
        {
            self.fail(name, ErrorCode::Contradiction, message);
        }
    }

    /// Whether the field of this name, or a part of it, has an error.
    pub fn has_failed(&self, name: &str) -> bool {
        let is_in = |error: &FieldError, pointer: &str| {
            let rest = error.pointer.strip_prefix(pointer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !self.errors.is_empty() && {
            let pointer = self.pointer_to(name);
            self.errors.iter().any(|error| is_in(error, &pointer))
        }
    }

    /// Whether each field has been read, though some may contradict others.
    pub fn has_only_contradictions(&self) -> bool {
        self.errors.iter().all(|error| error.code == ErrorCode::Contradiction)
    }

    /// Keeps errors that were found elsewhere.
    pub fn add(&mut self, errors: impl IntoIterator<Item = FieldError>) {
        self.errors.extend(errors);
    }

    /// Returns all errors. A field that was never asked for is an error: its name is unknown.
    pub fn finish(mut self) -> Vec<FieldError> {
        let unknown = self.entries.iter().filter(|entry| !entry.is_known);
        for name in unknown.map(|entry| entry.name).collect::<Vec<_>>() {
            let hint = closest(name, &self.known)
                .map_or_else(String::new, |known| format!("; did you mean {known}?"));
            let message = format!("there is no field {}{hint}", quoted(name));
            self.fail(name, ErrorCode::UnknownField, message);
        }
        self.errors
    }

    /// Returns what was read of the field of this name, or keeps its error and returns `None`.
    pub fn keep<T>(&mut self, name: &str, parsed: Result<T, Problem>) -> Option<T> {
        parsed.map_err(|problem| self.errors.push(problem.at(self.pointer_to(name)))).ok()
    }

    /// Reads the `parts` of the field of this name by `parse`: the items of a list, each with its
    /// place, or the fields of an object. Keeps the error of each wrong part, and then returns
    /// `None`.
    pub fn each<'part, T>(
        &mut self,
        name: &str,
        parts: impl IntoIterator<Item = (impl ToString, &'part Value)>,
        parse: impl Fn(&'part Value) -> Result<T, Problem>,
    ) -> Option<Vec<T>> {
        let pointer = self.pointer_to(name);
        let (mut read, mut is_valid) = (Vec::new(), true);
        for (place, part) in parts {
            match parse(part) {
                Ok(part) => read.push(part),
                Err(problem) => {
                    is_valid = false;
                    self.errors.push(problem.at(pointer_below(&pointer, &place.to_string())));
                }
            }
        }
        is_valid.then_some(read)
    }
}

/// Returns the JSON pointer to the part of this name of what stands at `pointer`.
fn pointer_below(pointer: &str, name: &str) -> String {
    // RFC 6901 section 3: `~` and `/` of a name are written `~0` and `~1`.
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The usual number of known fields: those of a room, with its events and rules.
const KNOWN_USUALLY: usize = 64;
/// Longer names are not compared with the known ones, which bounds the work of a hostile text.
const MAX_COMPARED_BYTES: usize = 64;
/// With more edits than this, a name is no misspelling of a known one.
const MAX_EDITS: usize = 3;

/// Finds the known name that `name` was probably meant to be.
fn closest<'names>(name: &str, known: &[&'names str]) -> Option<&'names str> {
    if name.len() > MAX_COMPARED_BYTES {
        return None;
    }
    // Known names are ASCII: the letter cases of all scripts would be 8 KB of wasm for a hint.
    let lower = name.to_ascii_lowercase().replace('-', "_");
    let distance_to = |known: &&'names str| {
        let is_part =
            lower.len() > MAX_EDITS && known.starts_with(&*lower) || lower.starts_with(known);
        (if is_part { 0 } else { edits(&lower, known) }, *known)
    };
    let (distance, nearest) = known.iter().map(distance_to).min()?;
    (distance <= MAX_EDITS && distance < lower.len()).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn the_closest_known_name_is_named() {
        let known = ["host", "path", "queue_all", "session_duration", "refresh_interval_seconds"];
        let check = |name: &str, want: Option<&str>| {
            assert_eq!(closest(name, &known), want, "{name}");
        };
        check("hots", Some("host"));
        check("Host", Some("host"));
        check("queueAll", Some("queue_all"));
        check("queue-all", Some("queue_all"));
        check("session_duration_minutes", Some("session_duration"));
        check("refresh_interval", Some("refresh_interval_seconds"));
        check("colour", None);
        check("x", None);
        check("", None);
        check(&"host".repeat(20), None);
    }
}
