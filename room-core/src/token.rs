//! Management tokens: compares in constant time. Never stores, logs or shows one.

use ctutils::CtEq;
use sha2::{Digest, Sha256};

/// Whether `given` is the configured token; never, if none or an empty one is configured.
///
/// Digests are compared, so that neither the content nor the length of the token shows in the
/// time it takes (`threats.md` row 10).
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
