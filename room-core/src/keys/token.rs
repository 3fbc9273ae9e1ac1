//! Tokens of the management API, compared in constant time.

use ctutils::CtEq;
use sha2::{Digest, Sha256};

/// Whether `given` is the configured token. Without a configured one, or with an empty one, no
/// token matches.
///
/// Digests are compared, so that the time it takes tells neither the content nor the length of the
/// token (CWE-208).
pub fn matches(given: &str, configured: Option<&str>) -> bool {
    let Some(configured) = configured.filter(|token| !token.is_empty()) else { return false };
    let digest = |text: &str| -> [u8; 32] { Sha256::digest(text.as_bytes()).into() };
    digest(given).ct_eq(&digest(configured)).to_bool()
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn only_the_configured_token_matches() {
        let check = |given: &str, configured: Option<&str>, want: bool| {
            assert_eq!(matches(given, configured), want, "{given} against {configured:?}");
        };
        check("secret", Some("secret"), true);
        check("secreT", Some("secret"), false);
        check("secret2", Some("secret"), false);
        check("", Some("secret"), false);
        check("", Some(""), false);
        check("", None, false);
    }
}
