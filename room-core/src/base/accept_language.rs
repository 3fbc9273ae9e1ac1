//! Splits an `Accept-Language` header (RFC 9110 section 12.5.4). Tags are returned as written;
//! `room::language` decides which of them name a language.

/// The highest quality, in thousandths; also that of an entry without a quality.
pub(crate) const FULL_QUALITY: u16 = 1_000;

/// Iterates over the entries of a header in their order, each as its tag and its quality.
///
/// The tag is `*` or empty if the header says so. The quality is in thousandths, 0 to 1,000; `None`
/// if something else than a quality follows the `;`. So `de, en;q=0.5` gives `("de", Some(1_000))`
/// and `("en", Some(500))`.
pub(crate) fn entries(header: &str) -> impl Iterator<Item = (&str, Option<u16>)> {
    header.split(',').map(|entry| {
        let (tag, parameters) = entry.split_once(';').unwrap_or((entry, ""));
        (tag.trim(), quality(parameters.trim()))
    })
}

fn quality(parameters: &str) -> Option<u16> {
    if parameters.is_empty() {
        return Some(FULL_QUALITY);
    }
    let value = parameters.strip_prefix(['q', 'Q'])?.trim_start().strip_prefix('=')?.trim_start();
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let is_digits = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "0" if is_digits => {
            let digits = fraction.bytes().map(|digit| u16::from(digit - b'0'));
            let three = digits.chain(std::iter::repeat(0)).take(3);
            Some(three.fold(0, |quality, digit| quality * 10 + digit))
        }
        "1" if fraction.bytes().all(|byte| byte == b'0') => Some(FULL_QUALITY),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn entries_have_a_tag_and_a_quality() {
        let check = |header: &str, want: &[(&str, Option<u16>)]| {
            assert_eq!(entries(header).collect::<Vec<_>>(), want, "{header}");
        };
        check("", &[("", Some(1_000))]);
        check("en-GB, *;q=0.1", &[("en-GB", Some(1_000)), ("*", Some(100))]);
        check("en ; Q = 0.801,", &[("en", Some(801)), ("", Some(1_000))]);
        check("a;q=0,b;q=0.,c;q=1.000", &[("a", Some(0)), ("b", Some(0)), ("c", Some(1_000))]);
        for none in ["q", "q=2", "q=1.001", "q=0.1234", "q=-0.5", "q=.5", "q=+0", "level=1", "é"] {
            check(&format!("en;{none}"), &[("en", None)]);
        }
    }
}
