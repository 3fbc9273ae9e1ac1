//! The code for the transfer of a place to another device: eight characters that are hard to
//! confuse.

use std::fmt;

/// Crockford's alphabet of 32 characters: no `I`, `L`, `O` and `U`.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BITS: u32 = 5;
const LENGTH: usize = 8;

/// A code of 40 bits. It displays as two groups of four characters, like `7K3M-9QXB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceCode([u8; LENGTH]);

impl PlaceCode {
    /// Makes the code that these bits spell.
    pub fn from_bytes(bytes: [u8; 5]) -> Self {
        Self(spelled(bytes.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte))))
    }

    /// Reads a code as people type it; `None` if it is none. Letter case and what stands between
    /// the groups do not matter, and letters count as the digits that look like them.
    pub fn parse(text: impl Iterator<Item = u8>) -> Option<Self> {
        typed::<LENGTH>(text).map(|bits| Self(spelled(bits)))
    }
}

/// Reads the bits that exactly `N` characters spell, as people type them; `None` if they spell
/// none.
pub(super) fn typed<const N: usize>(text: impl Iterator<Item = u8>) -> Option<u64> {
    let letters = text.filter(u8::is_ascii_alphanumeric);
    let mut places = letters.map(|letter| {
        let letter = match letter.to_ascii_uppercase() {
            b'O' => b'0',
            b'I' | b'L' => b'1',
            letter => letter,
        };
        ALPHABET.iter().zip(0_u64..).find_map(|(one, place)| (*one == letter).then_some(place))
    });
    let mut bits = 0;
    for _ in 0..N {
        bits = bits << BITS | places.next()??;
    }
    places.next().is_none().then_some(bits)
}

/// Spells the last `5 * N` of these bits.
pub(super) fn spelled<const N: usize>(bits: u64) -> [u8; N] {
    let mut characters = [0; N];
    for (character, place) in characters.iter_mut().rev().zip(0..) {
        let index = (bits >> (BITS * place)) as usize % ALPHABET.len();
        *character = ALPHABET.get(index).copied().unwrap_or_default();
    }
    characters
}

impl fmt::Display for PlaceCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = str::from_utf8(&self.0).unwrap_or_default();
        let (first, second) = text.split_at_checked(LENGTH / 2).unwrap_or_default();
        write!(formatter, "{first}-{second}")
    }
}

#[cfg(test)]
mod tests {
    use super::PlaceCode;

    #[test]
    fn a_code_is_read_as_people_type_it() {
        let code = PlaceCode::from_bytes([0x08, 0x86, 0x42, 0x98, 0x2a]);
        assert_eq!(code.to_string(), "1234-561A");
        let check = |text: &str, want: bool| {
            assert_eq!(PlaceCode::parse(text.bytes()), want.then_some(code), "{text}");
        };
        check("1234-561A", true);
        check("1234561a", true);
        check(" i234 – 56la ", true);
        check("1234-561", false);
        check("1234-561AA", false);
        check("1234-56UA", false);
        check("", false);
    }

    #[test]
    fn every_bit_tells_in_the_code() {
        let of = |bits: u64| {
            let [_, _, _, bytes @ ..] = bits.to_be_bytes();
            PlaceCode::from_bytes(bytes).to_string()
        };
        let codes: std::collections::BTreeSet<_> = (0..40).map(|bit| of(1 << bit)).collect();
        assert_eq!(codes.len(), 40);
        assert_eq!((of(0), of(u64::MAX)), ("0000-0000".to_owned(), "ZZZZ-ZZZZ".to_owned()));
    }
}
