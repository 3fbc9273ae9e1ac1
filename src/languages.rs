//! The built-in page in the languages that visitors have used, made on first use.
//! `src/languages.js` holds the texts.

use room_core::base::sorted::SortedMap;
use room_core::page::{Page, Words};
use room_core::room::language::Language;

use crate::platform::scripts;

/// The texts and pages of the languages that were used.
#[derive(Default)]
pub struct Languages {
    ready: SortedMap<Language, (Words, Page)>,
}

impl Languages {
    /// Returns the words of a language and the built-in page in it. Errors: why there are none.
    pub fn ready(&mut self, language: Language) -> Result<&(Words, Page), String> {
        if self.ready.get(&language).is_none() {
            let json = scripts::words_of(language.tag()).unwrap_or_default();
            let words = Words::parse(language, &json);
            let words = words.ok_or_else(|| format!("{language}: the texts are no JSON"))?;
            let page = Page::built_in(&words).map_err(|what| format!("{language}: {what}"))?;
            self.ready.insert(language, (words, page));
        }
        self.ready.get(&language).ok_or_else(String::new)
    }
}
