//! `is_timed_hmac_valid_v0`: checks a message that was signed with a shared key, and its age.

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use hkdf::hmac::{Hmac, KeyInit, Mac};
use percent_encoding::percent_decode;
use sha2::Sha256;

use super::value::Value;

/// The number of digits of the time of signing, in seconds since the epoch.
const TIMESTAMP_DIGITS: usize = 10;
/// The number of bytes of the longest signature: 44 characters of base64, each percent-encoded.
const SIGNATURE_BYTES_MAX: usize = 3 * 44;

/// Decides whether `message` was signed with `key` and is not too old.
///
/// `rest` is the time to live and the current time, both in seconds. The length of the separator in
/// bytes may follow, and the flag `s`, which stands for base64url instead of base64.
pub(super) fn validity<'v>(key: &[u8], message: &[u8], rest: &[Value<'v>]) -> Value<'v> {
    let (ttl, now, others) = match rest {
        [Value::Integer(ttl), Value::Integer(now), others @ ..] => (*ttl, *now, others),
        _ => return Value::Missing,
    };
    let separator = match others {
        [] => Some(0),
        [Value::Integer(length), ..] => usize::try_from(*length).ok(),
        _ => None,
    };
    let is_url_safe = others.len() > 1;
    let is_valid = separator
        .and_then(|separator| Signed::parse(message, separator, is_url_safe))
        .is_some_and(|signed| signed.is_fresh(ttl, now) && signed.is_authentic(key));
    Value::Boolean(is_valid)
}

/// The parts of a signed message: message, separator, ten digits, `-` and signature. An example,
/// with a separator of 8 bytes, is
/// `/ticket?verify=1484063787-9JQB8vP1z0yc5DEBnH6JGWM3mBmvIeMrnnxFi3WtJLE=`.
struct Signed<'m> {
    message: &'m [u8],
    timestamp: &'m [u8],
    seconds: i64,
    signature: Vec<u8>,
}

impl<'m> Signed<'m> {
    fn parse(text: &'m [u8], separator_bytes: usize, is_url_safe: bool) -> Option<Self> {
        // The signature may have dashes itself, so the right one is known by the digits before it.
        let shortest = text.len().saturating_sub(SIGNATURE_BYTES_MAX + 1);
        let dashes = (shortest..text.len()).filter(|place| text.get(*place) == Some(&b'-'));
        let mut candidates = dashes.filter_map(|dash| {
            let start = dash.checked_sub(TIMESTAMP_DIGITS)?;
            let timestamp = text.get(start..dash)?;
            let written = std::str::from_utf8(timestamp).ok()?;
            let is_number = timestamp.iter().all(u8::is_ascii_digit);
            let seconds = written.parse().ok().filter(|_| is_number)?;
            let message = text.get(..start.checked_sub(separator_bytes)?)?;
            let signature = signature(text.get(dash.checked_add(1)?..)?, is_url_safe)?;
            (!message.is_empty()).then_some(Self { message, timestamp, seconds, signature })
        });
        candidates.next()
    }

    fn is_fresh(&self, ttl: i64, now: i64) -> bool {
        now < self.seconds.saturating_add(ttl)
    }

    fn is_authentic(&self, key: &[u8]) -> bool {
        // Every length is a key length of HMAC, so this cannot fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return false };
        mac.update(self.message);
        mac.update(self.timestamp);
        mac.verify_slice(&self.signature).is_ok()
    }
}

fn signature(text: &[u8], is_url_safe: bool) -> Option<Vec<u8>> {
    if is_url_safe {
        return Base64UrlUnpadded::decode_vec(std::str::from_utf8(text).ok()?).ok();
    }
    Base64::decode_vec(&percent_decode(text).decode_utf8().ok()?).ok()
}
