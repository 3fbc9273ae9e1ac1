//! Whether all servers read the path of a URL in the same way, and which characters some of them
//! read differently.

use percent_encoding::percent_decode_str;

use super::letter_case::{KELVIN, LONG_S};

/// Whether every server reads `path` in the same way, apart from the letter case. A decision by the
/// text of the path then holds for what the origin serves.
///
/// False for an encoding that is not needed; for what some servers take for a separator or an end
/// (`;`, `\`, `//`, an encoded `/`, `%` or `#`); for dot segments; for blanks at the ends of a
/// segment and dots at its end, which some servers drop; for what is not UTF-8, and control
/// characters; for letters that some servers turn into others: the wide ones (U+FF01 to U+FF5E)
/// and the two whose other case is a plain letter; for names that some servers take out; and for a
/// first one that some take for a scheme.
pub fn has_one_reading(path: &str) -> bool {
    let Some(below_root) = path.strip_prefix('/') else { return false };
    let without_end = below_root.strip_suffix('/').unwrap_or(below_root);
    let first = without_end.split('/').next().unwrap_or_default();
    let begins_with_scheme = percent_decode_str(first).decode_utf8().is_ok_and(|it| is_scheme(&it));
    below_root.is_empty()
        || !begins_with_scheme && without_end.split('/').all(segment_has_one_reading)
}

/// Whether some servers drop the character at the ends of a path or a name: white space, control
/// characters, and invisible ones.
pub fn is_blank(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(character, '\u{180e}' | '\u{200b}' | '\u{feff}')
}

/// Whether some servers leave the character out, or take it for the end of a line, a name or the
/// path.
pub fn is_break(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Whether some servers take the character for a separator.
pub fn is_separator(character: char) -> bool {
    matches!(character, '/' | '\\')
}

/// Whether some servers take the character for the end of a segment's name.
pub fn is_end(character: char) -> bool {
    matches!(character, ';' | '?' | '#')
}

/// Whether some servers take the segment out of the path: a session that is not in a cookie, as
/// ASP.NET writes it, `(S(id))`.
pub fn is_session(segment: &str) -> bool {
    let mut characters = segment.chars();
    characters.next() == Some('(')
        && characters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && characters.next() == Some('(')
}

/// Whether some servers take the segment for the scheme of a whole URL, and the one after it for a
/// host, if it is the first: `http:`.
pub fn is_scheme(segment: &str) -> bool {
    segment.ends_with(':')
}

fn segment_has_one_reading(written: &str) -> bool {
    let Ok(decoded) = percent_decode_str(written).decode_utf8() else { return false };
    written.split('%').skip(1).all(needs_encoding)
        && !decoded.is_empty()
        && !decoded.starts_with(is_blank)
        && !decoded.ends_with(|last| last == '.' || is_blank(last))
        && !decoded.contains(is_read_differently)
        && !is_session(&decoded)
}

/// Whether the two digits after a `%` are a byte that has to be encoded.
fn needs_encoding(after_percent: &str) -> bool {
    let byte = after_percent.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let is_number = !after_percent.starts_with('+');
    byte.is_some_and(|byte| {
        is_number && !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'.' | b'_' | b'~')
    })
}

fn is_read_differently(character: char) -> bool {
    is_separator(character)
        || is_end(character)
        || is_break(character)
        || matches!(character, '%' | '\u{ff01}'..='\u{ff5e}' | KELVIN | LONG_S)
}

#[cfg(test)]
mod tests {
    use super::has_one_reading;

    #[test]
    fn only_usual_paths_have_one_reading() {
        let check = |path: &str, want: bool| assert_eq!(has_one_reading(path), want, "{path}");
        for path in
            ["/", "/shop", "/shop/", "/Shop/a.css", "/.well-known/x", "/a%20b", "/k%C3%A4se"]
        {
            check(path, true);
        }
        check("/a:b@c,d=e&f!g$h'(i)*+-_~", true);
        check("/%E2%82%AC%22", true);
        for path in ["", "shop", "//", "/a//b", "/a//", "/.", "/..", "/a/../b", "/a/%2e%2e/b"] {
            check(path, false);
        }
        for path in ["/%73hop", "/a%2fb", "/a%5Cb", "/a\\b", "/a;b", "/a%3Bb", "/a%3fb", "/a%23b"] {
            check(path, false);
        }
        for path in ["/a%2525", "/a%", "/a%2", "/a%u002f", "/a%+1", "/a%00", "/a%0a", "/a\0"] {
            check(path, false);
        }
        for path in ["/a.", "/a%20", "/a./b", "/...", "/%c0%af", "/%ff", "/%EF%BC%8F"] {
            check(path, false);
        }
        for path in ["/%20a", "/a%C2%A0", "/%E3%80%80a", "/a%EF%BB%BF", "/a%E2%80%A8b", "/a%7F"] {
            check(path, false);
        }
        for path in ["/(S(a))/b", "/a/%28F(b)A(c)%29", "/http:/a.net/b", "/http%3A/b"] {
            check(path, false);
        }
        check("/wiki/(S(x))", false);
        check("/Help:", false);
        for path in ["/(shop)/a", "/a(b)", "/(.)a", "/a:b/c", "/wiki/Help:", "/wiki/Help%3A/"] {
            check(path, true);
        }
        check("/%E2%84%AA", false);
        check("/%C5%BFhop", false);
        check("/10%C2%A0km", true);
        check("/%C4%B1rmak", true);
    }
}
