//! Decodes percent-encoding in URL paths. Never fails: what is not an encoding stays as it is.

/// `text` with every well-formed `%XX` replaced by its byte, once, from left to right.
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        rest = match *rest {
            [] => return decoded,
            [b'%', high, low, ref after @ ..] if let Some(byte) = byte_of(high, low) => {
                decoded.push(byte);
                after
            }
            [byte, ref after @ ..] => {
                decoded.push(byte);
                after
            }
        };
    }
}

/// True when every `%` of `text` begins a well-formed `%XX`.
pub fn is_well_formed(text: &[u8]) -> bool {
    let mut pieces = text.split(|byte| *byte == b'%');
    pieces.next();
    pieces.all(|piece| match *piece {
        [high, low, ..] => byte_of(high, low).is_some(),
        _ => false,
    })
}

fn byte_of(high: u8, low: u8) -> Option<u8> {
    Some(hex_value(high)? << 4 | hex_value(low)?)
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::{decode, is_well_formed};

    #[test]
    fn well_formed_encodings_are_decoded_once_and_others_kept() {
        let check = |text: &str, want: &str, well_formed: bool| {
            assert_eq!(decode(text.as_bytes()), want.as_bytes(), "{text}");
            assert_eq!(is_well_formed(text.as_bytes()), well_formed, "{text}");
        };
        check("", "", true);
        check("/plain", "/plain", true);
        check("%73%68op", "shop", true);
        check("%2f%2F", "//", true);
        check("%252e", "%2e", true);
        check("k%C3%A4se", "käse", true);
        check("%", "%", false);
        check("%7", "%7", false);
        check("%zz", "%zz", false);
        check("%%37", "%7", false);
    }
}
