//! Searches of a text in a time that grows only with its length: for a plain text, by a wildcard
//! pattern, by a regular expression.

use std::fmt;

use memchr::memmem::Finder;
use regex_lite::{Regex, RegexBuilder};

/// A text that is searched for in another.
#[derive(Clone, Debug)]
pub(super) struct Needle(Finder<'static>);

impl Needle {
    pub fn new(text: &[u8]) -> Self {
        Self(Finder::new(text).into_owned())
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.needle()
    }

    pub fn is_in(&self, text: &[u8]) -> bool {
        self.0.find(text).is_some()
    }
}

impl PartialEq for Needle {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Needle {}

/// A wildcard pattern that the whole text must match. `*` stands for any bytes, `\*` for a star and
/// `\\` for a backslash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wildcard {
    /// The pattern as written.
    pattern: Box<[u8]>,
    /// The parts before, between and behind the stars; one piece if there is no star.
    pieces: Vec<Needle>,
    /// Whether letter case counts, as for `strict wildcard`. Otherwise ASCII letters match in
    /// either case.
    pub is_strict: bool,
}

impl Wildcard {
    pub fn parse(pattern: &[u8], is_strict: bool) -> Result<Self, WildcardError> {
        let mut pieces = Vec::new();
        let mut piece = Vec::new();
        let mut rest = pattern;
        let mut after_star = false;
        loop {
            let is_star = matches!(rest, [b'*', ..]);
            rest = match *rest {
                [] => break,
                [b'*', ..] if after_star => return Err(WildcardError::TwoStars),
                [b'*', ref rest @ ..] => {
                    pieces.push(Needle::new(&piece));
                    piece.clear();
                    rest
                }
                [b'\\', byte @ (b'*' | b'\\'), ref rest @ ..] => {
                    piece.push(byte);
                    rest
                }
                [b'\\', ..] => return Err(WildcardError::Escape),
                [byte, ref rest @ ..] => {
                    piece.push(if is_strict { byte } else { byte.to_ascii_lowercase() });
                    rest
                }
            };
            after_star = is_star;
        }
        pieces.push(Needle::new(&piece));
        Ok(Self { pattern: pattern.into(), pieces, is_strict })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.pattern
    }

    /// Whether the whole text matches. Each piece takes the first place where it fits, so the text
    /// is read once, however many stars there are.
    pub fn matches(&self, text: &[u8]) -> bool {
        if self.is_strict {
            return self.matches_exactly(text);
        }
        self.matches_exactly(&text.to_ascii_lowercase())
    }

    fn matches_exactly(&self, text: &[u8]) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.pieces.iter().all(|only| only.as_bytes() == text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_bytes()) else {
            return false;
        };
        for piece in middle {
            let Some(after) = piece
                .0
                .find(rest)
                .and_then(|place| rest.get(place.saturating_add(piece.as_bytes().len())..))
            else {
                return false;
            };
            rest = after;
        }
        rest.ends_with(last.as_bytes())
    }
}

/// Why a text is not a wildcard pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WildcardError {
    Escape,
    TwoStars,
}

impl fmt::Display for WildcardError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Escape => "in a wildcard pattern a backslash stands only before * or \\",
            Self::TwoStars => "in a wildcard pattern two stars must not follow each other",
        })
    }
}

/// A regular expression, which may match anywhere in a text.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    size_bytes: usize,
}

impl Pattern {
    /// The most bytes of a text that are searched. A longer text is cut, at the end of a character.
    pub const SUBJECT_BYTES_MAX: usize = 2_048;
    /// The most bytes of one compiled expression. 9 names of crawlers with `(?i)` need 8 KiB.
    pub const SIZE_BYTES_MAX: usize = 16 * 1_024;
    const SIZE_BYTES_MIN: usize = 256;

    pub fn compile(pattern: &str) -> Result<Self, regex_lite::Error> {
        // The engine does not tell how big a program is, so the smallest limit is looked for.
        let mut size_bytes = Self::SIZE_BYTES_MIN;
        loop {
            match RegexBuilder::new(pattern).size_limit(size_bytes).build() {
                Ok(regex) => return Ok(Self { regex, size_bytes }),
                Err(error) if size_bytes >= Self::SIZE_BYTES_MAX => return Err(error),
                Err(_) => size_bytes = size_bytes.saturating_mul(2),
            }
        }
    }

    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// Returns the bytes of the compiled expression, rounded up to a power of two.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Returns the most steps that a search costs for each byte of the text.
    ///
    /// The engine visits every state of the program for each byte, and a state takes 24 bytes or
    /// more.
    pub fn steps_per_byte(&self) -> usize {
        self.size_bytes / 24
    }

    pub fn is_in(&self, text: &[u8]) -> bool {
        let text = text.get(..Self::SUBJECT_BYTES_MAX).unwrap_or(text);
        match std::str::from_utf8(text) {
            Ok(text) => self.regex.is_match(text),
            // The cut went through a character, which is left out.
            Err(error) if error.error_len().is_none() => {
                let valid = text.get(..error.valid_up_to()).unwrap_or_default();
                self.regex.is_match(&String::from_utf8_lossy(valid))
            }
            Err(_) => self.regex.is_match(&String::from_utf8_lossy(text)),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

#[cfg(test)]
mod tests {
    use super::{Pattern, Wildcard, WildcardError};

    #[test]
    fn wildcards_match_the_whole_text() {
        let check = |pattern: &str, text: &str, loose: bool, strict: bool| {
            let matches = |is_strict| {
                Wildcard::parse(pattern.as_bytes(), is_strict).unwrap().matches(text.as_bytes())
            };
            assert_eq!((matches(false), matches(true)), (loose, strict), "{pattern} {text}");
        };
        check("", "", true, true);
        check("", "a", false, false);
        check("*", "", true, true);
        check("*", "anything", true, true);
        check("/shop", "/shop", true, true);
        check("/shop", "/Shop", true, false);
        check("/SHOP", "/shop", true, false);
        check("/shop", "/shops", false, false);
        check("/shop*", "/shops", true, true);
        check("*.net", "shop.net", true, true);
        check("*.net", "shop.net.", false, false);
        check("a*a", "a", false, false);
        check("a*a", "aa", true, true);
        check("a*b*c", "a-b-b-c", true, true);
        check("a*b*c", "a-c-b", false, false);
        check("*ab*ab*", "ab", false, false);
        check("*ab*ab*", "abab", true, true);
        check("*ab", "aab", true, true);
        check(r"\**", "*x", true, true);
        check(r"\**", "x", false, false);
        check(r"a\\b", r"a\b", true, true);
        check("a?b", "a?b", true, true);
        check("a?b", "axb", false, false);
        check("\u{c4}*", "\u{e4}", false, false);
    }

    #[test]
    fn broken_wildcards_are_refused() {
        let check = |pattern: &str, want: WildcardError| {
            assert_eq!(Wildcard::parse(pattern.as_bytes(), true), Err(want), "{pattern}");
        };
        check("a**", WildcardError::TwoStars);
        check(r"a\", WildcardError::Escape);
        check(r"a\b", WildcardError::Escape);
        assert!(Wildcard::parse(br"*\**", true).is_ok());
    }

    #[test]
    fn a_regular_expression_is_as_big_as_its_program() {
        let check = |pattern: &str, want: Option<usize>| {
            let size = Pattern::compile(pattern).ok().map(|pattern| pattern.size_bytes());
            assert_eq!(size, want, "{pattern}");
        };
        check("a", Some(256));
        check(r"\.(css|js|png)$", Some(1_024));
        check("(?i)googlebot|bingbot|yandex|baiduspider|duckduckbot|slurp|twitterbot", Some(4_096));
        check("(a{0,10}){0,10}!", Some(16_384));
        check("(a{0,20}){0,20}!", None);
        check("(", None);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let pattern = Pattern::compile("b$").unwrap();
        let check = |text: String, want: bool| {
            assert_eq!(pattern.is_in(text.as_bytes()), want, "{}", text.len());
        };
        check("a".repeat(2_047) + "b", true);
        check("a".repeat(2_048) + "b", false);
        check("b".repeat(2_047) + "\u{e4}", true);
        assert!(!pattern.is_in(b"b\xff"));
        assert!(Pattern::compile("b").unwrap().is_in(b"\xffb"));
    }
}
