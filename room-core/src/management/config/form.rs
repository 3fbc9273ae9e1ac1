//! The forms of values: how JSON becomes a value, how it is written, and which values there are.

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Value, json};

use super::choices::word_of;
use super::fields::Fields;
use super::value::{boolean, choice, parsed, text, whole_number};
use crate::base::time::Timestamp;

/// The form of a field's values.
pub trait Form {
    /// What JSON becomes.
    type Value;

    /// Reads the `value` of the field `name`. Returns `None` if the field is to stay as it is:
    /// the value is wrong, and `fields` has the error, or it is empty where that is the default.
    fn read(
        &self,
        name: &'static str,
        value: &Value,
        fields: &mut Fields<'_>,
    ) -> Option<Self::Value>;

    /// Writes a value as JSON that reads as the same value.
    fn write(&self, value: &Self::Value) -> Value;

    /// Says which values there are.
    fn shape(&self) -> Shape;
}

/// Which values a field takes, for those who describe it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `true` or `false`.
    Flag,
    /// A whole number from the first to the second.
    Number(u32, u32),
    /// One of these whole numbers.
    Numbers(&'static [u16]),
    /// One of these words.
    Words(Vec<&'static str>),
    /// A text of at most so many bytes; `None` if it is short by its form.
    Text(Option<usize>),
    /// 32 lowercase hexadecimal characters.
    Id,
    /// A moment.
    Moment,
    /// A form that no other field has. Whoever describes it knows it by the field's name.
    Special,
}

impl Shape {
    /// Returns itself, so that a table can have a field that is read and written by hand.
    #[must_use]
    pub fn shape(&self) -> Self {
        self.clone()
    }
}

/// Where a value `V` is kept: as it is, in an `Option` if `None` leaves it to somebody else, or in
/// a smaller number.
pub trait Held<V>: Sized {
    /// Keeps a value.
    fn of(value: V) -> Self;
    /// Writes what is kept.
    fn written(&self, form: &impl Form<Value = V>) -> Value;
}

impl<V> Held<V> for V {
    fn of(value: V) -> Self {
        value
    }

    fn written(&self, form: &impl Form<Value = V>) -> Value {
        form.write(self)
    }
}

impl<V> Held<V> for Option<V> {
    fn of(value: V) -> Self {
        Some(value)
    }

    fn written(&self, form: &impl Form<Value = V>) -> Value {
        self.as_ref().map_or(Value::Null, |value| form.write(value))
    }
}

impl Held<u32> for u8 {
    fn of(value: u32) -> Self {
        Self::try_from(value).unwrap_or(Self::MAX)
    }

    fn written(&self, form: &impl Form<Value = u32>) -> Value {
        form.write(&u32::from(*self))
    }
}

/// `true` or `false`.
pub struct Flag;

impl Form for Flag {
    type Value = bool;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<bool> {
        fields.keep(name, boolean(value))
    }

    fn write(&self, value: &bool) -> Value {
        Value::Bool(*value)
    }

    fn shape(&self) -> Shape {
        Shape::Flag
    }
}

/// A whole number in a range.
pub struct Number(pub RangeInclusive<u32>);

impl Form for Number {
    type Value = u32;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<u32> {
        fields.keep(name, whole_number(self.0.clone())(value))
    }

    fn write(&self, value: &u32) -> Value {
        Value::from(*value)
    }

    fn shape(&self) -> Shape {
        Shape::Number(*self.0.start(), *self.0.end())
    }
}

/// One of some words. Clients that cannot leave a field out send it empty: `""` is the default.
pub struct Choice<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Form for Choice<T> {
    type Value = T;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<T> {
        if value.as_str() == Some("") { None } else { fields.keep(name, choice(self.0)(value)) }
    }

    fn write(&self, value: &T) -> Value {
        Value::from(word_of(self.0, *value))
    }

    fn shape(&self) -> Shape {
        Shape::Words(self.0.iter().map(|(word, _)| *word).collect())
    }
}

/// Any text of at most so many bytes.
pub struct Text(pub usize);

impl Form for Text {
    type Value = String;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<String> {
        fields.keep(name, text(self.0)(value)).map(str::to_owned)
    }

    fn write(&self, value: &String) -> Value {
        Value::from(value.as_str())
    }

    fn shape(&self) -> Shape {
        Shape::Text(Some(self.0))
    }
}

/// The id of an object.
pub struct Id<T>(pub PhantomData<T>);

impl<T: FromStr<Err: Display> + Serialize> Form for Id<T> {
    type Value = T;

    fn read(&self, name: &'static str, value: &Value, fields: &mut Fields<'_>) -> Option<T> {
        fields.keep(name, parsed(value))
    }

    fn write(&self, value: &T) -> Value {
        json!(value)
    }

    fn shape(&self) -> Shape {
        Shape::Id
    }
}

/// When something was made or changed.
pub struct Moment;

impl Form for Moment {
    type Value = Timestamp;

    fn read(
        &self,
        name: &'static str,
        value: &Value,
        fields: &mut Fields<'_>,
    ) -> Option<Timestamp> {
        fields.keep(name, parsed(value))
    }

    fn write(&self, value: &Timestamp) -> Value {
        Value::from(value.to_iso8601())
    }

    fn shape(&self) -> Shape {
        Shape::Moment
    }
}
