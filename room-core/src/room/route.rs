//! The addresses that a room covers: a host with a path, checked and in one form.

use std::fmt;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use serde::Serialize;

use crate::base::host::Host;

/// The longest path of a route, in bytes as written. Ours: far above any real one.
pub const MAX_PATH_BYTES: usize = 1_024;

/// One of the addresses that a room covers: every URL on `host` whose path is `path` or lies below
/// it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Route {
    /// The host; its sub-domains are not covered.
    pub host: Host,
    /// The path. Everything below it is covered too, by whole segments: `/shop` covers `/shop/a`
    /// and not `/shopping`.
    pub path: RoutePath,
}

/// The path of a route, which every server reads in the same way.
///
/// Invariant: `canonical` is empty for `/`, and otherwise each decoded segment with a `/` before
/// it. No segment is empty, `.` or `..`, or has a character that could be read in two ways.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoutePath {
    canonical: String,
    written: String,
}

impl RoutePath {
    /// Returns the path as the owner wrote it.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns the path in the form in which paths are compared: decoded and without a slash at its
    /// end, so empty for `/`.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Returns the number of segments of the path; 0 for `/`.
    pub fn depth(&self) -> usize {
        self.canonical.matches('/').count()
    }
}

impl FromStr for RoutePath {
    type Err = PathError;

    fn from_str(written: &str) -> Result<Self, PathError> {
        if written.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong);
        }
        let Some(below_root) = written.strip_prefix('/') else {
            return Err(PathError::NoLeadingSlash);
        };
        let mut canonical = String::with_capacity(written.len());
        // One slash at the end changes nothing: `/shop/` is the room `/shop`.
        let below_root = below_root.strip_suffix('/').unwrap_or(below_root);
        if !below_root.is_empty() {
            for segment in below_root.split('/') {
                canonical.push('/');
                canonical.push_str(&canonical_segment(segment)?);
            }
        } else if written.len() > 1 {
            return Err(PathError::EmptySegment);
        }
        Ok(Self { canonical, written: written.to_owned() })
    }
}

impl fmt::Display for RoutePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

impl Serialize for RoutePath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written)
    }
}

fn canonical_segment(written: &str) -> Result<String, PathError> {
    if !is_well_encoded(written) {
        return Err(PathError::BadEncoding);
    }
    if written.chars().any(char::is_whitespace) {
        return Err(PathError::Forbidden);
    }
    let segment = percent_decode_str(written).decode_utf8().map_err(|_| PathError::BadEncoding)?;
    match &*segment {
        "" => Err(PathError::EmptySegment),
        "." | ".." => Err(PathError::DotSegment),
        _ if segment.chars().any(is_forbidden) => Err(PathError::Forbidden),
        _ => Ok(segment.into_owned()),
    }
}

/// Whether two hexadecimal digits follow each `%`. The decoder itself would keep any other `%`.
fn is_well_encoded(text: &str) -> bool {
    text.as_bytes().split(|byte| *byte == b'%').skip(1).all(|piece| {
        matches!(piece, [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
    })
}

/// Whether some server reads the character as an end, a separator, a parameter or another encoding.
fn is_forbidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '?' | '&' | '#' | '=' | '*' | ';' | '%' | '/' | '\\')
}

/// Why a text is not the path of a room. It displays as the rule that was broken ("must ...").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathError {
    /// A `%` is not followed by two hexadecimal digits, or the decoded bytes are not UTF-8.
    BadEncoding,
    /// A segment is `.` or `..`.
    DotSegment,
    /// Two slashes follow each other.
    EmptySegment,
    /// A character is not allowed, plain or percent-encoded.
    Forbidden,
    /// The first character is not `/`.
    NoLeadingSlash,
    /// The text is longer than [`MAX_PATH_BYTES`].
    TooLong,
}

impl fmt::Display for PathError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::BadEncoding => "must have % only in encodings of UTF-8, like %C3%A4",
            Self::DotSegment => "must not have a segment . or ..",
            Self::EmptySegment => "must not have two slashes in a row",
            Self::Forbidden => {
                "must not have ? & # = * ; % \\ an encoded slash, white space or a control \
                 character; everything below the path is covered, and the query is ignored"
            }
            Self::NoLeadingSlash => "must begin with /",
            Self::TooLong => "must be at most 1024 bytes long",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{PathError, RoutePath};

    #[test]
    fn paths_mean_one_thing_only() {
        let check = |text: &str, want: Result<(&str, usize), PathError>| {
            let path = text.parse::<RoutePath>();
            let seen = path.as_ref().map(|path| (path.canonical(), path.depth()));
            assert_eq!(seen.map_err(|error| *error), want, "{text}");
        };
        let longest = format!("/{}", "a".repeat(1_023));
        check("/", Ok(("", 0)));
        check("/shop", Ok(("/shop", 1)));
        check("/shop/", Ok(("/shop", 1)));
        check("/Shop/a_b-c.d", Ok(("/Shop/a_b-c.d", 2)));
        check("/k%C3%A4se", Ok(("/käse", 1)));
        check("/käse", Ok(("/käse", 1)));
        check("/a%20b", Ok(("/a b", 1)));
        check("/%73hop", Ok(("/shop", 1)));
        check(&longest, Ok((&longest, 1)));
        check(&format!("{longest}a"), Err(PathError::TooLong));
        check("", Err(PathError::NoLeadingSlash));
        check("shop", Err(PathError::NoLeadingSlash));
        check("//", Err(PathError::EmptySegment));
        check("/a//b", Err(PathError::EmptySegment));
        check("/a//", Err(PathError::EmptySegment));
        check("/./a", Err(PathError::DotSegment));
        check("/a/%2e.", Err(PathError::DotSegment));
        for invalid in ["%", "%2", "%zz", "%2g", "%%73", "%73%", "%u0041", "%+1"] {
            check(&format!("/a{invalid}"), Err(PathError::BadEncoding));
        }
        check("/%ff", Err(PathError::BadEncoding));
        check("/a b", Err(PathError::Forbidden));
        for forbidden in "?&#=*;\\\u{7f}".chars() {
            check(&format!("/a{forbidden}b"), Err(PathError::Forbidden));
        }
        for forbidden in ["%3f", "%2f", "%5C", "%25", "%00", "%3B", "%0a"] {
            check(&format!("/a{forbidden}b"), Err(PathError::Forbidden));
        }
    }
}
