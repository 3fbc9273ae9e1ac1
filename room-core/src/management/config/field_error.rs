//! The errors of a configuration: which field is wrong, by which rule, and what is allowed.

use std::fmt;

use serde::{Serialize, Serializer};

/// One error at one place of the JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// The place: a JSON pointer (RFC 6901), like `/0/new_users_per_minute`; empty for the whole
    /// text.
    pub pointer: String,
    /// The rule that is broken.
    pub code: ErrorCode,
    /// A sentence that says what is wrong and what is allowed; it may lack the field's name.
    pub message: String,
}

impl FieldError {
    /// Returns the same error without the wrong line of an expression. The line may have a secret
    /// in it, and health and log are not for its author alone.
    #[must_use]
    pub fn without_excerpt(&self) -> Self {
        let sentence = self.message.lines().next().unwrap_or_default();
        Self { message: sentence.to_owned(), ..self.clone() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, code, message } = self;
        let place = if pointer.is_empty() { "/" } else { pointer };
        write!(formatter, "{place}: {message} ({})", code.number())
    }
}

/// The rule that a field breaks.
///
/// The numbers are ours: Cloudflare publishes none for validation. They are part of the management
/// API, so a number must keep its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The text is not JSON.
    NotJson,
    /// The field is missing.
    Required,
    /// The value has another JSON type.
    WrongType,
    /// The number, size or choice is not an allowed one.
    OutOfRange,
    /// The text does not have the form of the field.
    Malformed,
    /// No field has this name.
    UnknownField,
    /// Another thing has this value already, which must be unique.
    Duplicate,
    /// Two fields do not go together.
    Contradiction,
    /// The value is known, but this version cannot honour it.
    Unsupported,
    /// The template does not compile.
    Template,
    /// The host does not belong to the zone.
    ForeignHost,
}

impl ErrorCode {
    /// Returns the number that clients see, from 1100 on.
    pub const fn number(self) -> u16 {
        match self {
            Self::NotJson => 1_100,
            Self::Required => 1_101,
            Self::WrongType => 1_102,
            Self::OutOfRange => 1_103,
            Self::Malformed => 1_104,
            Self::UnknownField => 1_105,
            Self::Duplicate => 1_106,
            Self::Contradiction => 1_107,
            Self::Unsupported => 1_108,
            Self::Template => 1_109,
            Self::ForeignHost => 1_110,
        }
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(self.number())
    }
}

/// An error of a value that does not know its place yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The rule that is broken.
    pub code: ErrorCode,
    /// A sentence that says what is wrong and what is allowed; it may lack the field's name.
    pub message: String,
}

impl Problem {
    /// Makes the error of this problem at `pointer`.
    pub fn at(self, pointer: String) -> FieldError {
        FieldError { pointer, code: self.code, message: self.message }
    }
}
