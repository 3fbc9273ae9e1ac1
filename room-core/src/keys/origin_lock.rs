//! The origin lock: a header on each forwarded request, by which the origin knows that it comes
//! from here. `docs/origin-lock.md` says how origins check it.

use hkdf::hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::base::time::{SECOND_MS, Timestamp};

/// How long a header is good, in seconds. Clocks may differ by half of it.
const LIFETIME_S: u64 = 120;

/// Writes the header's value for a request at `now`: `t=<seconds>,v1=<signature>`.
///
/// `t` is when it expires, and the signature is the HMAC-SHA-256 of `t=<seconds>` in hexadecimal.
/// It does not depend on the request, so that one value serves all requests of some seconds.
pub fn header(secret: &str, now: Timestamp) -> String {
    let expires = format!("t={}", now.0 / SECOND_MS + LIFETIME_S);
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return String::new();
    };
    mac.update(expires.as_bytes());
    let signature = base16ct::lower::encode_string(&mac.finalize().into_bytes());
    format!("{expires},v1={signature}")
}

#[cfg(test)]
mod tests {
    use super::header;
    use crate::base::time::Timestamp;

    /// Origins check these bytes: a change locks everybody out.
    #[test]
    fn the_header_is_as_documented() {
        let want =
            "t=1763895720,v1=232411e6f9a2e28e1c425dfe55a2fccaf1422479e2d10b1f56bdfc63c5d2d73c";
        assert_eq!(
            header("a secret of at least 32 characters", Timestamp(1_763_895_600_999)),
            want
        );
    }
}
