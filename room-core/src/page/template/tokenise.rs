//! Finds the tags of a Mustache template and everything that is wrong with them.

use std::fmt::Write;

use crate::base::sorted;

/// How deep sections may be nested: the fixed depth of the engine's own stack.
pub(super) const DEPTH_MAX: usize = 16;
/// The most characters of a name. Every variable has a shorter one.
const NAME_CHARACTERS_MAX: usize = 64;

/// What a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `{{! for the reader of the source }}`
    Comment,
    /// `{{name}}`
    Escaped,
    /// `{{{name}}}` or `{{&name}}`
    Raw,
    /// `{{#name}}`
    Section,
    /// `{{^name}}`
    Inverted,
    /// `{{/name}}`
    Close,
}

/// One tag of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub kind: Kind,
    /// The name without white space around it; empty for a comment.
    pub name: &'a str,
    /// Byte offset of the first brace.
    pub start: usize,
    /// Byte offset behind the last brace.
    pub end: usize,
}

/// Something wrong with the source.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TagError {
    /// Byte offset of the tag at fault.
    pub offset: usize,
    pub message: String,
}

/// Returns every tag in order, or every fault in order.
///
/// The tags of an accepted source are well-formed, carry one name each and nest properly.
pub(super) fn tokenise(source: &str) -> Result<Vec<Tag<'_>>, Vec<TagError>> {
    let mut tags = Vec::new();
    let mut faults = Vec::new();
    let mut rest = source;
    while let Some((_, opened)) = rest.split_once("{{") {
        let start = source.len() - opened.len() - 2;
        rest = match read_tag(opened) {
            Ok(Read { kind, name, after }) => {
                tags.push(Tag { kind, name, start, end: source.len() - after.len() });
                after
            }
            Err(Refusal { message, resume }) => {
                faults.push(TagError { offset: start, message });
                resume
            }
        };
    }
    check_nesting(&tags, &mut faults);
    if faults.is_empty() {
        name_dots(&mut tags);
        return Ok(tags);
    }
    Err(in_order(faults))
}

/// Gives each `{{.}}` the name of the section around it, whose value it prints. In an inverted
/// section that is the name of the next section around it.
fn name_dots(tags: &mut [Tag<'_>]) {
    let mut open = Vec::new();
    for tag in tags {
        match tag.kind {
            Kind::Section => open.push(Some(tag.name)),
            Kind::Inverted => open.push(None),
            Kind::Close => drop(open.pop()),
            Kind::Escaped | Kind::Raw if tag.name == "." => {
                let around = open.iter().rev().find_map(|name| *name);
                tag.name = around.unwrap_or(tag.name);
            }
            Kind::Escaped | Kind::Raw | Kind::Comment => {}
        }
    }
}

/// Sorts faults by their place in the source.
pub(super) fn in_order(faults: Vec<TagError>) -> Vec<TagError> {
    sorted::stably_by_number(faults, |fault| fault.offset as u64)
}

struct Read<'a> {
    kind: Kind,
    name: &'a str,
    after: &'a str,
}

struct Refusal<'a> {
    message: String,
    /// Where the search for further faults goes on.
    resume: &'a str,
}

/// Reads one tag; `opened` is the source behind its two opening braces.
fn read_tag(opened: &str) -> Result<Read<'_>, Refusal<'_>> {
    let Some((inside, after)) = opened.split_once("}}") else {
        return Err(Refusal { message: "this tag is never closed".to_owned(), resume: "" });
    };
    // White space may stand before the sign: parsers take it, and the specification is silent.
    let signed = inside.trim_start();
    if signed.starts_with('!') {
        return Ok(Read { kind: Kind::Comment, name: "", after });
    }
    if let Some(gap) = inside.find("{{") {
        let message = "this tag is not closed before the next one opens".to_owned();
        return Err(Refusal { message, resume: opened.get(gap..).unwrap_or_default() });
    }
    let refuse = |message: &str| Err(Refusal { message: message.to_owned(), resume: after });
    let mut characters = signed.chars();
    let (kind, name, after) = match characters.next() {
        Some('{') => match after.strip_prefix('}') {
            Some(after) => (Kind::Raw, characters.as_str(), after),
            None => return refuse("this tag opens with three braces and closes with two"),
        },
        Some('&') => (Kind::Raw, characters.as_str(), after),
        Some('#') => (Kind::Section, characters.as_str(), after),
        Some('^') => (Kind::Inverted, characters.as_str(), after),
        Some('/') => (Kind::Close, characters.as_str(), after),
        Some('=') => return refuse("the delimiters cannot be changed"),
        Some('>') => return refuse("partials are not available"),
        Some('<' | '$') => return refuse("template inheritance is not available"),
        _ => (Kind::Escaped, signed, after),
    };
    let name = name.trim();
    match fault_of_name(name) {
        Some(message) => refuse(message),
        None => Ok(Read { kind, name, after }),
    }
}

/// Returns what is wrong with a name. A dotted name is allowed and is one name. No variable has
/// parts, so it finds nothing, as the Mustache specification demands of a broken chain.
fn fault_of_name(name: &str) -> Option<&'static str> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    if name.is_empty() {
        Some("this tag is empty")
    } else if name.contains(char::is_whitespace) {
        Some("this tag has more than one name")
    } else if !name.chars().all(allowed) {
        Some("a name is made of ASCII letters, digits, `_`, `-` and `.`")
    } else if name.len() > NAME_CHARACTERS_MAX {
        Some("this name is longer than 64 characters")
    } else {
        None
    }
}

/// Checks that every section is closed, in the right order, and that none is nested too deep.
fn check_nesting(tags: &[Tag<'_>], faults: &mut Vec<TagError>) {
    let mut open: Vec<&Tag<'_>> = Vec::new();
    for tag in tags {
        match tag.kind {
            Kind::Section | Kind::Inverted => {
                open.push(tag);
                if open.len() == DEPTH_MAX + 1 {
                    let message = format!("sections are nested deeper than {DEPTH_MAX}");
                    faults.push(TagError { offset: tag.start, message });
                }
            }
            Kind::Close => {
                let position = open.iter().rposition(|opened| opened.name == tag.name);
                let closed = open.split_off(position.unwrap_or(open.len()));
                if closed.is_empty() {
                    let message = format!("`{}` is closed here but not open", tag.name);
                    faults.push(TagError { offset: tag.start, message });
                }
                // Sections that are still open inside the closed one are faults of their own.
                let unclosed = closed.iter().skip(1);
                faults.extend(unclosed.map(|unclosed| never_closed(unclosed, Some(tag))));
            }
            Kind::Comment | Kind::Escaped | Kind::Raw => {}
        }
    }
    faults.extend(open.iter().map(|tag| never_closed(tag, None)));
}

fn never_closed(tag: &Tag<'_>, before: Option<&Tag<'_>>) -> TagError {
    let mut message = format!("section `{}` is never closed", tag.name);
    if let Some(before) = before {
        // Writing to a string cannot fail.
        let _ = write!(message, " before `{}` closes", before.name);
    }
    TagError { offset: tag.start, message }
}

#[cfg(test)]
mod tests {
    use super::{Kind, tokenise};

    #[test]
    fn tags_are_found_with_their_places() {
        let tags = tokenise("a{{ b }}{{{c}}}{{&\td\n}}{{! e } f }}{{#g}}{{/ g }}").unwrap();
        let found: Vec<_> =
            tags.iter().map(|tag| (tag.kind, tag.name, tag.start, tag.end)).collect();
        let want = [
            (Kind::Escaped, "b", 1, 8),
            (Kind::Raw, "c", 8, 15),
            (Kind::Raw, "d", 15, 23),
            (Kind::Comment, "", 23, 35),
            (Kind::Section, "g", 35, 41),
            (Kind::Close, "g", 41, 49),
        ];
        assert_eq!(found, want);
    }

    #[test]
    fn white_space_may_stand_before_the_sign() {
        let check = |source: &str, want: Kind, name: &str| {
            let tags = tokenise(source).expect(source);
            let found = (tags[0].kind, tags[0].name, tags[0].start, tags[0].end);
            assert_eq!(found, (want, name, 0, source.find("}}<").unwrap() + 2), "{source}");
        };
        check("{{ #a }}<{{ /a }}", Kind::Section, "a");
        check("{{\n\t^ a}}<{{ / a}}", Kind::Inverted, "a");
        check("{{ & a }}<", Kind::Raw, "a");
        check("{{ ! a {{ b }}<", Kind::Comment, "");
        assert_eq!(tokenise("{{ {a}}}").unwrap()[0].kind, Kind::Raw);
    }

    #[test]
    fn every_fault_is_reported_at_its_tag() {
        let check = |source: &str, want: &[(usize, &str)]| {
            let faults = tokenise(source).expect_err(source);
            let found: Vec<_> =
                faults.iter().map(|fault| (fault.offset, fault.message.as_str())).collect();
            assert_eq!(found, want, "{source}");
        };
        check("ab{{c", &[(2, "this tag is never closed")]);
        check("{{a {{b}}", &[(0, "this tag is not closed before the next one opens")]);
        check("{{{{a}}}}", &[(0, "this tag is not closed before the next one opens")]);
        check("{{}} x }}", &[(0, "this tag is empty")]);
        check("{{# }}", &[(0, "this tag is empty")]);
        check("{{a b}}", &[(0, "this tag has more than one name")]);
        check("{{a}}{{é}}", &[(5, "a name is made of ASCII letters, digits, `_`, `-` and `.`")]);
        check("{{ #a}}", &[(0, "section `a` is never closed")]);
        check("{{ # a b}}", &[(0, "this tag has more than one name")]);
        check("{{ > a}}", &[(0, "partials are not available")]);
        check("{{{a}} }", &[(0, "this tag opens with three braces and closes with two")]);
        check("{{=<% %>=}}", &[(0, "the delimiters cannot be changed")]);
        check("{{>a}}", &[(0, "partials are not available")]);
        check(
            "{{<a}}{{$a}}",
            &[
                (0, "template inheritance is not available"),
                (6, "template inheritance is not available"),
            ],
        );
        check("{{#a}}b", &[(0, "section `a` is never closed")]);
        check("{{/a}}", &[(0, "`a` is closed here but not open")]);
        check(
            "{{#a}}{{^b}}{{/a}}{{/b}}",
            &[
                (6, "section `b` is never closed before `a` closes"),
                (18, "`b` is closed here but not open"),
            ],
        );
        check("{{#a}}{{}}", &[(0, "section `a` is never closed"), (6, "this tag is empty")]);
    }

    #[test]
    fn depth_and_name_length_have_a_limit() {
        let nested = |depth: usize| format!("{}{}", "{{#a}}".repeat(depth), "{{/a}}".repeat(depth));
        assert!(tokenise(&nested(16)).is_ok());
        assert_eq!(tokenise(&nested(17)).unwrap_err().len(), 1);
        let named = |length: usize| format!("{{{{{}}}}}", "a".repeat(length));
        assert!(tokenise(&named(64)).is_ok());
        assert_eq!(tokenise(&named(65)).unwrap_err().len(), 1);
    }
}
