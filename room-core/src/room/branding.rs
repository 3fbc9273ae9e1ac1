//! The owner's branding: what the built-in page shows of the site, in every state.

use serde::{Deserialize, Serialize};

use crate::room::language::Language;

/// What the built-in page shows of the site behind it. An empty field shows nothing.
///
/// An event has an `Option` for each field. Where it is `None`, the room's own value counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branding<Text = String> {
    /// The name of the site or the sale. Without one, pages show the host.
    pub name: Text,
    /// The name of the active event on pages; a room itself has none.
    pub event_name: Text,
    /// A picture as a `data:` address, since pages load nothing.
    pub logo: Text,
    /// The colour of the page's non-text parts, like `#0f766e`.
    pub color: Text,
    /// A text for all waiting visitors, perhaps in several languages: see [`in_language`].
    pub text: Text,
    /// News for all waiting visitors, shown in a prominent place. Also in several languages.
    pub message: Text,
    /// An `https:` address where visitors find help.
    pub help_url: Text,
}

impl Branding<Option<String>> {
    /// Returns what pages show, with `other` for all that is not set here.
    #[must_use]
    pub fn or(self, other: Branding) -> Branding {
        Branding {
            name: self.name.unwrap_or(other.name),
            event_name: self.event_name.unwrap_or(other.event_name),
            logo: self.logo.unwrap_or(other.logo),
            color: self.color.unwrap_or(other.color),
            text: self.text.unwrap_or(other.text),
            message: self.message.unwrap_or(other.message),
            help_url: self.help_url.unwrap_or(other.help_url),
        }
    }
}

/// Returns the part of an owner's text for readers of a language. A tag in brackets, like `[de]`,
/// begins the text of its language. Other readers get the text before the first tag, or, if that is
/// empty, the text behind it.
pub fn in_language(text: &str, language: Language) -> &str {
    let mark = |(at, _): (usize, &str)| {
        let (tag, _) = text.get(at + 1..)?.split_once(']')?;
        Some((at, at + tag.len() + 2, Language::of_tag(tag)?))
    };
    let marks: Vec<(usize, usize, Language)> = text.match_indices('[').filter_map(mark).collect();
    let from = |start: usize| {
        let end = marks.iter().map(|(at, ..)| *at).find(|at| *at >= start);
        text.get(start..end.unwrap_or(text.len())).unwrap_or_default().trim()
    };
    let own = marks.iter().find(|(.., of)| *of == language).map(|(_, start, _)| from(*start));
    let first = || marks.first().map(|(_, start, _)| from(*start));
    own.or_else(|| Some(from(0)).filter(|text| !text.is_empty())).or_else(first).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::in_language;

    #[test]
    fn readers_get_the_text_of_their_language_or_the_first() {
        let check = |text: &str, language: &str, want: &str| {
            assert_eq!(in_language(text, language.parse().unwrap()), want, "{text} {language}");
        };
        check("Doors open at 8.", "de-DE", "Doors open at 8.");
        let both = "Doors open at 8. [de] Einlass um 8. [pt-BR] Portas às 8. [ar] تفتح الأبواب";
        check(both, "en-US", "Doors open at 8.");
        check(both, "de-DE", "Einlass um 8.");
        check(both, "pt-BR", "Portas às 8.");
        check(both, "ar-EG", "تفتح الأبواب");
        check(both, "fr-FR", "Doors open at 8.");
        check("[de] Einlass [fr] Entrée", "en-US", "Einlass");
        check("[de] Einlass [fr] Entrée", "fr-FR", "Entrée");
        // What is no tag of a language is text.
        check("Row [7] and [VIP seats], [*] [x", "de-DE", "Row [7] and [VIP seats], [*] [x");
        check("[de]", "de-DE", "");
        check("", "de-DE", "");
    }
}
