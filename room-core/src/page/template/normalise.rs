//! Rewrites a tokenised template into the plain form that the engine reads correctly.

use super::tokenise::Kind;
use super::tokenise::Tag;

/// Returns the same template without comments, without white space in its tags, and without the
/// lines on which a section tag or a comment stands alone.
pub(super) fn normalise(source: &str, tags: &[Tag<'_>]) -> String {
    let mut plain = String::with_capacity(source.len());
    let mut cursor = 0;
    let mut at_line_start = true;
    for tag in tags {
        let before = source.get(cursor..tag.start).unwrap_or_default();
        let after = source.get(tag.end..).unwrap_or_default();
        let standing_alone = if may_stand_alone(tag.kind) {
            line_around(before, after, at_line_start)
        } else {
            None
        };
        at_line_start = standing_alone.is_some();
        let (text, rest) = standing_alone.unwrap_or((before, after));
        plain.push_str(text);
        push_tag(&mut plain, tag);
        cursor = source.len() - rest.len();
    }
    plain.push_str(source.get(cursor..).unwrap_or_default());
    plain
}

/// Returns the text before the line and the text after it, if only blanks surround a tag on its
/// line.
fn line_around<'a>(
    before: &'a str,
    after: &'a str,
    at_line_start: bool,
) -> Option<(&'a str, &'a str)> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let text = before.trim_end_matches(BLANKS);
    let opens_line = text.ends_with('\n') || (text.is_empty() && at_line_start);
    let behind = after.trim_start_matches(BLANKS);
    let rest = match behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix('\n')) {
        None if behind.is_empty() => behind,
        None => return None,
        Some(rest) => rest,
    };
    opens_line.then_some((text, rest))
}

fn may_stand_alone(kind: Kind) -> bool {
    matches!(kind, Kind::Comment | Kind::Section | Kind::Inverted | Kind::Close)
}

fn push_tag(plain: &mut String, tag: &Tag<'_>) {
    let opening = match tag.kind {
        Kind::Comment => return,
        Kind::Escaped => "{{",
        Kind::Raw => "{{&",
        Kind::Section => "{{#",
        Kind::Inverted => "{{^",
        Kind::Close => "{{/",
    };
    plain.push_str(opening);
    plain.push_str(tag.name);
    plain.push_str("}}");
}

#[cfg(test)]
mod tests {
    use super::super::tokenise::tokenise;
    use super::normalise;

    #[test]
    fn comments_blanks_and_lines_of_lone_tags_go() {
        let check = |source: &str, want: &str| {
            assert_eq!(normalise(source, &tokenise(source).unwrap()), want, "{source:?}");
        };
        check("a{{! b }}c", "ac");
        check("{{ a }}{{{\tb\n}}}{{& c}}", "{{a}}{{&b}}{{&c}}");
        check("a\n  {{# b }}  \nc\n{{/b}}\nd", "a\n{{#b}}c\n{{/b}}d");
        check("a\r\n{{#b}}\r\n{{/b}}\r\nc", "a\r\n{{#b}}{{/b}}c");
        check("{{#a}} {{/a}}\n", "{{#a}} {{/a}}\n");
        check("  {{a}}  \nb", "  {{a}}  \nb");
        check("a\n \t{{! b\n c }}", "a\n");
        check("{{!a}}\n{{!b}}\n", "");
        check("{{!a}} {{!b}}\n", " \n");
    }
}
