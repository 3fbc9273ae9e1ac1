//! The values of fields, functions and their elements during one evaluation.

use std::borrow::Cow;
use std::net::IpAddr;

/// A value, borrowed from the request or the expression if possible.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'v> {
    Array(Vec<Value<'v>>),
    Boolean(bool),
    Integer(i64),
    Ip(IpAddr),
    /// The value of a missing name or index, or of something that the platform does not give.
    Missing,
    Text(Cow<'v, [u8]>),
}

impl<'v> Value<'v> {
    pub fn borrowed(text: &'v [u8]) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Self::borrowed(text.as_bytes())
    }
}

impl<'v> From<Cow<'v, str>> for Value<'v> {
    fn from(text: Cow<'v, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::from(text),
            Cow::Owned(text) => Self::Text(Cow::Owned(text.into_bytes())),
        }
    }
}

impl<'v> From<Option<Cow<'v, str>>> for Value<'v> {
    fn from(text: Option<Cow<'v, str>>) -> Self {
        text.map_or(Self::Missing, Self::from)
    }
}
