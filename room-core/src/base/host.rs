//! Host names: checked and written in lower case once, so that they can be compared as text.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// Longest host name in bytes (RFC 1035 section 2.3.4, without the final dot).
pub const MAX_HOST_BYTES: usize = 253;
/// Longest label of a host name in bytes (RFC 1035 section 2.3.4).
pub const MAX_LABEL_BYTES: usize = 63;
/// A host name in lower case: labels of letters, digits, `-` and `_`, without scheme and port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Host(String);

impl Host {
    /// Returns the name in lower case.
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
        if let Some(error) = text.bytes().find_map(forbidden) {
            // With a scheme, the colon and the slashes are not the mistake.
            return Err(if text.contains("://") { HostError::Scheme } else { error });
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

/// Why a text is not the host of a room. It displays as the rule that was broken ("must ...").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// The text has a character outside ASCII.
    NotAscii,
    /// The text has a path, a query or a fragment behind the host.
    Path,
    /// The text has a `:`, so it names a port.
    Port,
    /// The text begins with a scheme, like `https://`.
    Scheme,
    /// The text or one of its labels is empty, too long, or has a character that no label may have.
    Syntax,
    /// The text has a `*`.
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

#[cfg(test)]
mod tests {
    use super::{Host, HostError};

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
}
