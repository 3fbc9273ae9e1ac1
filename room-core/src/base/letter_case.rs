//! Names in one letter case, for comparisons.

use std::borrow::Cow;

/// The sign of the unit, whose small letter is `k`.
pub const KELVIN: char = '\u{212a}';
/// The long s, whose capital is `S`.
pub const LONG_S: char = '\u{17f}';

/// Returns a name in the form in which case-insensitive servers compare it.
pub fn folded(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.chars().map(lower).collect())
    }
}

/// Returns the small letter of a Greek, Cyrillic or Latin capital (ASCII, Latin-1, Extended-A,
/// Extended Additional, and the two of Vietnamese). Letters whose other case is a plain letter
/// become that letter. All of Unicode would cost a fresh isolate 8 KB.
fn lower(letter: char) -> char {
    let code = u32::from(letter);
    let distance = match letter {
        KELVIN => return 'k',
        LONG_S => return 's',
        'İ' | 'ı' => return 'i',
        'Ÿ' => return 'ÿ',
        'ẞ' => return 'ß',
        'ς' => return 'σ',
        'Ά' => return 'ά',
        'Ό' => return 'ό',
        'A'..='Z' | 'À'..='Ö' | 'Ø'..='Þ' | 'Α'..='Ϋ' | 'А'..='Я' => 0x20,
        'Έ'..='Ί' => 0x25,
        'Ύ' | 'Ώ' => 0x3f,
        'Ѐ'..='Џ' => 0x50,
        'Ā'..='ķ' | 'Ŋ'..='ŷ' | 'Ơ'..='ơ' | 'Ḁ'..='ẕ' | 'Ạ'..='ỿ' => 1 - code % 2,
        'Ĺ'..='ň' | 'Ź'..='ž' | 'Ư'..='ư' => code % 2,
        _ => 0,
    };
    char::from_u32(code + distance).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn capitals_become_small_letters() {
        let check = |name: &str, want: &str| assert_eq!(folded(name), want, "{name}");
        check("shop", "shop");
        check("Shop", "shop");
        check("ÄÖÜ×÷ßΑΩАЯЁ", "äöü×÷ßαωаяё");
        check("ĀāĶķŁłŻżŸžŒœ", "āāķķłłżżÿžœœ");
        check("\u{212a}\u{17f}İı", "ksii");
        check("ĐẶT-VÉ ƯƠỲỴẠẼ", "đặt-vé ươỳỵạẽ");
        check("ΕΊΣΟΔΟς ΆΈΉΊΌΎΏΪΫ AŸ ẞ", "είσοδοσ άέήίόύώϊϋ aÿ ß");
        check("日本", "日本");
    }
}
