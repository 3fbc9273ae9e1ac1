//! The languages of the built-in page, and which of them a visitor gets. Their texts are in
//! `templates/languages/`.

use std::fmt;
use std::str::FromStr;

use crate::base::accept_language;

/// The tags that `default_template_language` can have, as Cloudflare publishes them; the default is
/// the first.
const TAGS: [&str; 39] = [
    "en-US", "ar-EG", "bg-BG", "cs-CZ", "da-DK", "de-DE", "el-GR", "es-ES", "fa-IR", "fi-FI",
    "fr-FR", "he-IL", "hi-IN", "hr-HR", "hu-HU", "id-ID", "it-IT", "ja-JP", "ko-KR", "lt-LT",
    "lv-LV", "ms-MY", "nb-NO", "nl-NL", "pl-PL", "pt-BR", "ro-RO", "ru-RU", "sk-SK", "sl-SI",
    "sr-BA", "sv-SE", "th-TH", "tl-PH", "tr-TR", "uk-UA", "vi-VN", "zh-CN", "zh-TW",
];

/// Other names of these languages, and languages whose readers understand one of them. Each is a
/// pair of a tag in `Accept-Language` and one of ours.
const ALIASES: [(&str, &str); 8] = [
    ("bs", "sr"),
    ("fil", "tl"),
    ("in", "id"),
    ("iw", "he"),
    ("mo", "ro"),
    ("nn", "nb"),
    ("no", "nb"),
    ("sh", "sr"),
];

/// The parts of a tag that mean Chinese in traditional characters: the script, and regions that use
/// it.
const TRADITIONAL: [&str; 4] = ["Hant", "HK", "MO", "TW"];

/// The languages that are written from right to left.
const RIGHT_TO_LEFT: [&str; 3] = ["ar", "fa", "he"];

/// The most bytes of an `Accept-Language` header that are read. Ours: browsers send a dozen entries
/// at most.
const MAX_HEADER_BYTES: usize = 1_024;
/// The most entries of an `Accept-Language` header that are read. Ours, as above.
const MAX_RANGES: usize = 32;

/// A language of the built-in page. It displays as its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Language(&'static str);

impl Language {
    /// Iterates over all languages, the default first.
    pub fn all() -> impl Iterator<Item = Self> {
        TAGS.into_iter().map(Self)
    }

    /// Returns the tag as the API writes it, like `en-US`.
    pub const fn tag(self) -> &'static str {
        self.0
    }

    /// Returns the tag for the `lang` attribute of a page. It names the script if browsers would
    /// otherwise assume another one, as for Serbian in Latin letters.
    pub fn html_tag(self) -> &'static str {
        if self.0 == "sr-BA" { "sr-Latn-BA" } else { self.0 }
    }

    /// Returns the direction of the writing: `rtl` or `ltr`.
    pub fn direction(self) -> &'static str {
        if RIGHT_TO_LEFT.contains(&self.primary()) { "rtl" } else { "ltr" }
    }

    /// Chooses the language that a visitor prefers by the `Accept-Language` header, or else
    /// `default`.
    ///
    /// A tag of another region counts as the language itself (RFC 4647, section 3.4): `de-AT` gives
    /// `de-DE`. Entries that are malformed or name no language of ours are skipped. `*` stands for
    /// `default`.
    pub fn preferred(accept_language: &str, default: Self) -> Self {
        let cut = accept_language.floor_char_boundary(MAX_HEADER_BYTES);
        let header = accept_language.get(..cut).unwrap_or_default();
        let mut best = (0, default);
        for (tag, quality) in accept_language::entries(header).take(MAX_RANGES) {
            let Some(quality) = quality else { continue };
            if quality <= best.0 {
                continue;
            }
            if let Some(language) = Self::matching(tag, default) {
                best = (quality, language);
            }
        }
        best.1
    }

    /// Returns the language of a short tag like `de` or `pt-BR`; `None` if it is none of ours.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let is_tag = (2..=5).contains(&tag.len()) && !tag.starts_with('*');
        Self::matching(tag, Self::default()).filter(|_| is_tag)
    }

    /// Returns the language for one tag of the header; `None` if no language of ours fits.
    fn matching(tag: &str, default: Self) -> Option<Self> {
        let mut parts = tag.split('-');
        let primary = parts.next().filter(|primary| !primary.is_empty())?;
        if primary == "*" {
            return Some(default);
        }
        let alias = ALIASES.iter().find(|(name, _)| name.eq_ignore_ascii_case(primary));
        let primary = alias.map_or(primary, |(_, ours)| ours);
        if primary.eq_ignore_ascii_case("zh") {
            let is_traditional = |part: &str| {
                TRADITIONAL.iter().any(|traditional| traditional.eq_ignore_ascii_case(part))
            };
            // The script, if the tag names one, comes before the region (RFC 5646).
            let is_simplified = parts.clone().any(|part| part.eq_ignore_ascii_case("Hans"));
            let is_traditional = !is_simplified && parts.any(is_traditional);
            return Some(Self(if is_traditional { "zh-TW" } else { "zh-CN" }));
        }
        Self::all().find(|language| language.primary().eq_ignore_ascii_case(primary))
    }

    fn primary(self) -> &'static str {
        self.0.split('-').next().unwrap_or_default()
    }
}

impl Default for Language {
    fn default() -> Self {
        Self(TAGS[0])
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

/// A text is not the tag of a language of the built-in page. It displays as what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLanguage;

impl fmt::Display for UnknownLanguage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "must be one of {}", TAGS.join(", "))
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        Self::all().find(|known| known.0.eq_ignore_ascii_case(text)).ok_or(UnknownLanguage)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Language, MAX_HEADER_BYTES, MAX_RANGES, TAGS};

    fn preferred(header: &str) -> &'static str {
        Language::preferred(header, "de-DE".parse().unwrap()).tag()
    }

    #[test]
    fn every_tag_is_found_whatever_its_letter_case() {
        assert_eq!(Language::all().count(), TAGS.len());
        for language in Language::all() {
            let tag = language.tag();
            assert_eq!(tag.parse(), Ok(language));
            assert_eq!(tag.to_lowercase().parse(), Ok(language));
            assert_eq!(preferred(tag), tag);
        }
        assert!("xx-XX".parse::<Language>().is_err());
        assert!("de".parse::<Language>().is_err());
        assert_eq!(Language::default().tag(), "en-US");
    }

    #[test]
    fn the_highest_quality_wins_and_of_equals_the_first() {
        let check = |header: &str, want: &str| assert_eq!(preferred(header), want, "{header}");
        check("fr-FR,fr;q=0.9,en;q=0.8", "fr-FR");
        check("en;q=0.8, fr;q=0.9", "fr-FR");
        check("en;q=0.8, fr;q=0.8", "en-US");
        check("en; q=0.801, fr ;Q = 0.8", "en-US");
        check("cy, gd;q=0.9, it;q=0.1", "it-IT");
        check("en;q=0", "de-DE");
        check("en;q=0.000, fr;q=0.001", "fr-FR");
        check("fr;q=1.000, en", "fr-FR");
    }

    #[test]
    fn another_region_or_name_is_the_language_itself() {
        let check = |header: &str, want: &str| assert_eq!(preferred(header), want, "{header}");
        check("en-GB", "en-US");
        check("EN", "en-US");
        check("es-419", "es-ES");
        check("pt-PT", "pt-BR");
        check("no", "nb-NO");
        check("nn-NO", "nb-NO");
        check("iw", "he-IL");
        check("fil-PH", "tl-PH");
        check("bs", "sr-BA");
        check("sr-Cyrl-RS", "sr-BA");
        check("zh", "zh-CN");
        check("zh-Hans-SG", "zh-CN");
        check("zh-HK", "zh-TW");
        check("zh-Hans-HK", "zh-CN");
        check("zh-hant-US", "zh-TW");
    }

    #[test]
    fn what_is_malformed_or_unknown_leaves_the_default() {
        let check = |header: &str| assert_eq!(preferred(header), "de-DE", "{header}");
        check("");
        check("*");
        check("*, en;q=0.9");
        check("xx, tlh-Latn");
        check("e, english");
        check(",;-,q=1,;q=1,-en");
        check("en;q");
        check("en;q=2");
        check("en;q=1.001");
        check("en;q=0.1234");
        check("en;q=-0.5");
        check("en;level=1");
        assert_eq!(preferred("en;q=2, fr"), "fr-FR");
    }

    #[test]
    fn only_the_first_part_of_a_long_header_is_read() {
        let behind = |count: usize| format!("{}en", "xx,".repeat(count));
        assert_eq!(preferred(&behind(MAX_RANGES - 1)), "en-US");
        assert_eq!(preferred(&behind(MAX_RANGES)), "de-DE");
        let padded = |blanks: usize| format!("{}en", " ".repeat(blanks));
        assert_eq!(preferred(&padded(MAX_HEADER_BYTES - 2)), "en-US");
        assert_eq!(preferred(&padded(MAX_HEADER_BYTES - 1)), "de-DE");
    }

    #[test]
    fn three_languages_are_written_from_right_to_left() {
        let of = |direction| {
            let languages = Language::all().filter(|one| one.direction() == direction);
            languages.map(Language::tag).collect::<Vec<_>>()
        };
        assert_eq!(of("rtl"), ["ar-EG", "fa-IR", "he-IL"]);
        assert_eq!(of("ltr").len(), 36);
    }

    proptest! {
        #[test]
        fn any_header_gives_a_language(
            header in prop_oneof!["[a-z*;q=0-9., -]{0,60}", any::<String>()],
        ) {
            let language = preferred(&header);
            prop_assert!(language.parse::<Language>().is_ok());
        }
    }
}
