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

/// Returns what is kept of a token: its SHA-256, as 64 hexadecimal characters. Tokens are long and
/// random, so that nobody finds one by its hash.
pub fn hash(token: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(token.as_bytes()))
}

/// Whether two hashes are the same. The time it takes tells nothing of where they differ.
pub fn is_same_hash(given: &str, kept: &str) -> bool {
    given.as_bytes().ct_eq(kept.as_bytes()).to_bool()
}

#[cfg(test)]
mod tests {
    use super::{hash, is_same_hash, matches};

    #[test]
    fn a_hash_is_kept_and_no_token() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hash(""), empty);
        assert!(is_same_hash(&hash("secret"), &hash("secret")));
        for other in ["secreT", "", "secret2"] {
            assert!(!is_same_hash(&hash("secret"), &hash(other)), "{other}");
        }
        assert!(!is_same_hash(empty, "e3"));
    }

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
