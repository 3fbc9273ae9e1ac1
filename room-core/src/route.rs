//! The addresses a room covers, parsed: a host, a path, and both together. Knows no request.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::percent;

/// Longest host name in bytes (RFC 1035 section 2.3.4, without the final dot).
pub const MAX_HOST_BYTES: usize = 253;
/// Longest label of a host name in bytes (RFC 1035 section 2.3.4).
pub const MAX_LABEL_BYTES: usize = 63;
/// Longest path of a route in bytes, as written. Ours: far above any real one.
pub const MAX_PATH_BYTES: usize = 1_024;

/// A place where a room stands: everything on `host` whose path is `path` or lies below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Route {
    /// The host, exactly: sub-domains are not covered.
    pub host: Host,
    /// The path, with everything below it.
    pub path: RoutePath,
}

/// A host name in lower case: labels of letters, digits, `-` and `_`, without scheme and port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Host(String);

impl Host {
    /// The name in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        let forbidden = |byte| match byte {
            b'*' => Some(HostError::Wildcard),
            b'/' | b'?' | b'#' => Some(HostError::Path),
            b':' => Some(HostError::Port),
            _ => None,
        };
        if text.contains("://") {
            return Err(HostError::Scheme);
        }
        if let Some(error) = text.bytes().find_map(forbidden) {
            return Err(error);
        }
        if !text.is_ascii() {
            return Err(HostError::NotAscii);
        }
        if text.is_empty() || text.len() > MAX_HOST_BYTES || !text.split('.').all(is_label) {
            return Err(HostError::Syntax);
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_label(label: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=MAX_LABEL_BYTES).contains(&label.len())
        && label.bytes().all(allowed)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Why a text is not the host of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// It has a character outside ASCII.
    NotAscii,
    /// It goes on after the host.
    Path,
    /// It names a port.
    Port,
    /// It begins with a scheme.
    Scheme,
    /// It is empty, too long, or a label of it is not one.
    Syntax,
    /// It has a `*`.
    Wildcard,
}

impl fmt::Display for HostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotAscii => "must be written in ASCII, international names as xn--",
            Self::Path => "must be a host alone; the path has its own field",
            Self::Port => "must have no port; a room covers every port",
            Self::Scheme => "must have no scheme, like shop.example.net",
            Self::Syntax => {
                "must be labels of letters, digits, - and _ joined by single dots, each label at \
                 most 63 characters without - at its ends, together at most 253"
            }
            Self::Wildcard => "must have no wildcard; name each host as a route of its own",
        })
    }
}

/// A path that means one thing only, with everything below it.
///
/// Invariant: `canonical` is empty for `/`, else `/` and the decoded segments joined by `/`. No
/// segment is empty, `.` or `..` or holds a character that could be read in two ways.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoutePath {
    canonical: String,
    written: String,
}

impl RoutePath {
    /// The path as its owner wrote it.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// What the path is matched by: decoded, without a slash at its end, so empty for `/`.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// How many segments the path has; 0 for `/`.
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
    if !percent::is_well_formed(written.as_bytes()) {
        return Err(PathError::BadEncoding);
    }
    if written.chars().any(char::is_whitespace) {
        return Err(PathError::Forbidden);
    }
    let segment = String::from_utf8(percent::decode(written.as_bytes()))
        .map_err(|_| PathError::BadEncoding)?;
    match segment.as_str() {
        "" => Err(PathError::EmptySegment),
        "." | ".." => Err(PathError::DotSegment),
        _ if segment.chars().any(is_forbidden) => Err(PathError::Forbidden),
        _ => Ok(segment),
    }
}

/// Characters that some server reads as an end, a separator, a parameter or another encoding.
fn is_forbidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '?' | '&' | '#' | '=' | '*' | ';' | '%' | '/' | '\\')
}

/// Why a text is not the path of a room.
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
    /// Longer than `MAX_PATH_BYTES`.
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
    use super::{Host, HostError, PathError, RoutePath};

    #[test]
    fn hosts_are_names_in_lower_case() {
        let check = |text: &str, want: Result<&str, HostError>| {
            let host = text.parse::<Host>();
            assert_eq!(host.as_ref().map(Host::as_str).map_err(|error| *error), want, "{text}");
        };
        let label = "a".repeat(63);
        check("localhost", Ok("localhost"));
        check("Shop.Example.NET", Ok("shop.example.net"));
        check("127.0.0.1", Ok("127.0.0.1"));
        check("_dmarc.xn--kse-qla.net", Ok("_dmarc.xn--kse-qla.net"));
        check(&label, Ok(&label));
        check(&format!("{label}a"), Err(HostError::Syntax));
        let longest = [&*label, &label, &label, &label[..61]].join(".");
        check(&longest, Ok(&longest));
        check(&format!("{longest}a"), Err(HostError::Syntax));
        check("", Err(HostError::Syntax));
        check("shop.example.net.", Err(HostError::Syntax));
        check("a..b", Err(HostError::Syntax));
        check("-a.b", Err(HostError::Syntax));
        check("a-.b", Err(HostError::Syntax));
        check("a b", Err(HostError::Syntax));
        check("user@shop", Err(HostError::Syntax));
        check("https://shop", Err(HostError::Scheme));
        check("*.shop", Err(HostError::Wildcard));
        check("shop:8787", Err(HostError::Port));
        check("[::1]", Err(HostError::Port));
        check("shop/buy", Err(HostError::Path));
        check("käse.net", Err(HostError::NotAscii));
    }

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
        check("/a%2", Err(PathError::BadEncoding));
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
