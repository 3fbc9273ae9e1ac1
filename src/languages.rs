//! The built-in page in the languages that visitors have asked for, with the texts that the entry
//! holds. Chooses no language.

use room_core::language::Language;
use room_core::page::{Page, Words};
use room_core::sorted::SortedMap;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "../../../src/languages.js")]
extern "C" {
    /// The texts of a language as JSON, and how it says numbers: what `Words::parse` reads.
    #[wasm_bindgen(js_name = wordsOf)]
    fn words_of(tag: &str) -> Option<String>;
}

/// Languages that were asked for.
#[derive(Default)]
pub struct Languages {
    ready: SortedMap<Language, (Words, Page)>,
}

impl Languages {
    /// The words of a language and the built-in page in it, or why there is none.
    pub fn ready(&mut self, language: Language) -> Result<&(Words, Page), String> {
        if self.ready.get(&language).is_none() {
            let json = words_of(language.tag()).unwrap_or_default();
            let words = Words::parse(language, &json);
            let words = words.ok_or_else(|| format!("{language}: the texts are no JSON"))?;
            let page = Page::built_in(&words).map_err(|what| format!("{language}: {what}"))?;
            self.ready.insert(language, (words, page));
        }
        self.ready.get(&language).ok_or_else(String::new)
    }
}
