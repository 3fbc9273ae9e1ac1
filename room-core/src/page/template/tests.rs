//! What a template means: the Mustache specification as far as scalars reach, the engine's known
//! faults, and random templates. Tests only.

use proptest::prelude::*;

use super::RENDERED_BYTES_MAX;
use super::REPORTS_MAX;
use super::RenderError;
use super::SOURCE_BYTES_MAX;
use super::Template;
use super::TemplateError;
use super::Value;
use super::tokenise::Kind;
use super::tokenise::tokenise;

const VALUES: [(&str, Value<'static>); 7] = [
    ("count", Value::Integer(85)),
    ("empty", Value::Text("")),
    ("markup", Value::Html("<b title='x'>&</b>")),
    ("no", Value::Bool(false)),
    ("text", Value::Text("& \" < > ' é")),
    ("yes", Value::Bool(true)),
    ("zero", Value::Integer(0)),
];

fn find(name: &str) -> Option<usize> {
    VALUES.iter().position(|(known, _)| *known == name)
}

fn value(number: usize) -> Value<'static> {
    VALUES[number].1
}

fn compile(source: &str) -> Result<Template, Vec<TemplateError>> {
    let nearest = |name: &str| (name == "cuont").then_some("count");
    Template::compile(source, find, nearest)
}

fn check(source: &str, want: &str) {
    let template = compile(source).unwrap_or_else(|errors| panic!("{source:?}: {errors:?}"));
    assert_eq!(template.render(value).unwrap(), want, "{source:?}");
}

#[test]
fn comments_vanish() {
    check("12345{{! Comment Block! }}67890", "1234567890");
    check("12345{{!\n  This is a\n  multi-line comment...\n}}67890\n", "1234567890\n");
    check("Begin.\n{{! Comment Block! }}\nEnd.\n", "Begin.\nEnd.\n");
    check("Begin.\n  {{! Indented Comment Block! }}\nEnd.\n", "Begin.\nEnd.\n");
    check("|\r\n{{! Standalone Comment }}\r\n|", "|\r\n|");
    check("  {{! I'm Still Standalone }}\n!", "!");
    check("!\n  {{! I'm Still Standalone }}", "!\n");
    check("Begin.\n{{!\nSomething's going on here...\n}}\nEnd.\n", "Begin.\nEnd.\n");
    check("  12 {{! 34 }}\n", "  12 \n");
    check("12345 {{! Comment Block! }} 67890", "12345  67890");
    check("a{{!}}b{{! a } b }}c{{! {{ }}d", "abcd");
}

#[test]
fn values_are_interpolated() {
    check("Hello from {Mustache}!\n", "Hello from {Mustache}!\n");
    check("\"{{count}} miles an hour!\"", "\"85 miles an hour!\"");
    check("{{text}}", "&amp; &quot; &lt; &gt; &#39; é");
    check("{{{text}}}{{&text}}", "&amp; &quot; &lt; &gt; &#39; é&amp; &quot; &lt; &gt; &#39; é");
    check("{{markup}}", "&lt;b title=&#39;x&#39;&gt;&amp;&lt;/b&gt;");
    check("{{{markup}}}|{{& markup }}", "<b title='x'>&</b>|<b title='x'>&</b>");
    check("var known = {{yes}}, wait = {{{count}}};", "var known = true, wait = 85;");
    check("I ({{missing}}) be {{{missing}}}{{&missing}}seen!", "I () be seen!");
    check("| {{count}} |  {{{count}}}\n", "| 85 |  85\n");
    check("  {{count}}\n", "  85\n");
    check("|{{ count }}|{{{ count }}}|{{& count }}|", "|85|85|85|");
    check("|{{\tcount\t}}|{{\ncount\n}}|", "|85|85|");
    check("{{no}} {{zero}}{{empty}}", "false 0");
    check("{{count}}}", "85}");
    check("{{{count}}}}}", "85}}");
}

#[test]
fn dotted_names_are_broken_chains_of_scalars() {
    check("\"{{count.name}}\" == \"\"", "\"\" == \"\"");
    check("{{#yes.count}}Here{{/yes.count}}", "");
    check("{{^yes.count}}Not Here{{/yes.count}}", "Not Here");
    check("{{.}}", "");
}

#[test]
fn a_dot_prints_the_value_of_the_section_around_it() {
    check("{{#count}}{{.}}{{/count}}", "85");
    check("{{#yes}}{{#count}}{{ . }}, {{{.}}}{{/count}} {{.}}{{/yes}} {{.}}", "85, 85 true ");
    check(
        "{{#markup}}{{&.}}{{.}}{{/markup}}",
        "<b title='x'>&</b>&lt;b title=&#39;x&#39;&gt;&amp;&lt;/b&gt;",
    );
    check("{{#count}}{{^no}}{{.}}{{/no}}{{/count}}{{^no}}{{.}}{{/no}}", "85");
    check("{{#zero}}{{.}}{{/zero}}{{#missing}}{{.}}{{/missing}}", "");
}

#[test]
fn an_unknown_name_is_told_with_the_one_that_was_meant() {
    let template = compile("{{cuont}} {{zzz}}").unwrap();
    let told: Vec<_> = template.warnings().iter().map(ToString::to_string).collect();
    let rest = "it prints nothing and is false";
    assert_eq!(
        told,
        [
            format!(
                "line 1, column 1: there is no variable `cuont`: {rest}; did you mean `count`?"
            ),
            format!("line 1, column 11: there is no variable `zzz`: {rest}"),
        ]
    );
}

#[test]
fn sections_and_inverted_sections_follow_the_value() {
    check("{{#yes}}This should be rendered.{{/yes}}", "This should be rendered.");
    check("{{#no}}This should not be rendered.{{/no}}", "");
    check("{{^no}}shown{{/no}}{{^yes}}hidden{{/yes}}", "shown");
    check("{{#zero}}a{{/zero}}{{^zero}}b{{/zero}}{{#count}}c{{/count}}", "bc");
    check("{{#empty}}a{{/empty}}{{^empty}}b{{/empty}}{{#markup}}c{{/markup}}", "bc");
    check("[{{#missing}}Found key 'missing'!{{/missing}}]", "[]");
    check("[{{^missing}}Cannot find key 'missing'!{{/missing}}]", "[Cannot find key 'missing'!]");
    check("{{#yes}}{{count}}{{#count}}{{count}}{{/count}}{{/yes}}", "8585");
    check("| A {{#yes}}B {{#yes}}C{{/yes}} D{{/yes}} E |", "| A B C D E |");
    check("| A {{#yes}}B {{#no}}C{{/no}} D{{/yes}} E |", "| A B  D E |");
    check(
        "{{#yes}}\n* first\n{{/yes}}\n* {{count}}\n{{#yes}}\n* third\n{{/yes}}\n",
        "* first\n* 85\n* third\n",
    );
    check("|{{# yes }}={{/ yes }}|{{^ no }}={{/ no }}|", "|=|=|");
    check(" | {{#yes}}\t|\t{{/yes}} | \n", " | \t|\t | \n");
    check(" | {{#yes}} {{! Important Whitespace }}\n {{/yes}} | \n", " |  \n  | \n");
}

#[test]
fn lines_of_lone_tags_leave_no_trace() {
    check(" {{#yes}}YES{{/yes}}\n {{#yes}}GOOD{{/yes}}\n", " YES\n GOOD\n");
    check("| This Is\n{{#yes}}\n|\n{{/yes}}\n| A Line\n", "| This Is\n|\n| A Line\n");
    check("| This\n  {{#yes}}\n|\n  {{/yes}}\n| A Line\n", "| This\n|\n| A Line\n");
    check("| This Is\n  {{^no}}\n|\n  {{/no}}\n| A Line\n", "| This Is\n|\n| A Line\n");
    check("|\r\n{{#yes}}\r\n{{/yes}}\r\n|", "|\r\n|");
    check("  {{#yes}}\n#{{/yes}}\n/", "#\n/");
    check("#{{#yes}}\n/\n  {{/yes}}", "#\n/\n");
    check("  {{^no}}\n^{{/no}}\n/", "^\n/");
    check("^{{^no}}\n/\n  {{/no}}", "^\n/\n");
}

#[test]
fn white_space_at_the_end_stays() {
    check("a \r\n\t ", "a \r\n\t ");
    check("{{count}}\n\n", "85\n\n");
    check("{{#yes}} {{/yes}} \u{a0}", "  \u{a0}");
    check("", "");
    check(" \n", " \n");
}

#[test]
fn what_the_engine_would_get_wrong_is_refused() {
    let check = |source: &str, line: usize, column: usize, message: &str| {
        let errors = compile(source).err().unwrap_or_else(|| panic!("{source:?} is accepted"));
        let want = TemplateError { line, column, message: message.to_owned() };
        assert_eq!(errors, [want], "{source:?}");
    };
    check("{{#no}}no", 1, 1, "section `no` is never closed");
    check("é\né{{}} foo }}", 2, 2, "this tag is empty");
    check("{{count text}}", 1, 1, "this tag has more than one name");
    check("\n\n {{=<% %>=}}", 3, 2, "the delimiters cannot be changed");
    check("{{>count}}", 1, 1, "partials are not available");
    check("{{<count}}", 1, 1, "template inheritance is not available");
    check("{{$count}}", 1, 1, "template inheritance is not available");
    check("{{#yes}}{{count{{/yes}}", 1, 9, "this tag is not closed before the next one opens");
    // Rendering this one would overflow the stack, which nothing can catch in WebAssembly.
    let ten_thousand_names = format!("{{{{{}}}}}", "t ".repeat(10_000));
    check(&ten_thousand_names, 1, 1, "this tag has more than one name");
    let deep = format!("{}{}", "{{#yes}}".repeat(17), "{{/yes}}".repeat(17));
    check(&deep, 1, 129, "sections are nested deeper than 16");
}

#[test]
fn the_deepest_nesting_renders() {
    check(&format!("{}a{}", "{{#yes}}".repeat(16), "{{/yes}}".repeat(16)), "a");
}

#[test]
fn all_errors_are_reported_at_once_up_to_a_limit() {
    let errors = compile("{{}}\n {{#a}}\n  {{>b}}").err().unwrap();
    let places: Vec<_> = errors.iter().map(|error| (error.line, error.column)).collect();
    assert_eq!(places, [(1, 1), (2, 2), (3, 3)]);
    assert_eq!(errors[0].to_string(), "line 1, column 1: this tag is empty");
    assert_eq!(compile(&"{{}}".repeat(10_000)).err().unwrap().len(), REPORTS_MAX);
}

#[test]
fn unknown_names_give_one_warning_each_in_order() {
    let template = compile("{{yes}}\n{{b}}{{#a}}{{b}}{{/a}}{{! c }}").unwrap();
    let warnings: Vec<_> = template.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "line 2, column 1: there is no variable `b`: it prints nothing and is false",
            "line 2, column 6: there is no variable `a`: it prints nothing and is false",
        ]
    );
}

#[test]
fn source_and_page_are_bounded() {
    let longest = "a".repeat(SOURCE_BYTES_MAX);
    assert_eq!(compile(&longest).unwrap().render(value).unwrap().len(), SOURCE_BYTES_MAX);
    assert!(compile(&format!("{longest}a")).is_err());
    let template = compile("{{{markup}}}\n").unwrap();
    let render = |length: usize| {
        let long = "x".repeat(length);
        let page = template.render(|_| Value::Html(&long));
        page.map(|page| page.len())
    };
    assert_eq!(render(RENDERED_BYTES_MAX - 1), Ok(RENDERED_BYTES_MAX));
    assert_eq!(render(RENDERED_BYTES_MAX), Err(RenderError::TooLong));
}

/// Other values of the same variables: what was true is false, and what is printed differs.
fn other(number: usize) -> Value<'static> {
    match value(number) {
        Value::Bool(is_true) => Value::Bool(!is_true),
        Value::Integer(number) => Value::Integer(85 - number),
        Value::Html(_) => Value::Html(""),
        Value::Text(text) => Value::Text(if text.is_empty() { "<'>" } else { "" }),
    }
}

/// The meaning of a template in the plainest way, to compare the engine with.
fn interpret(source: &str, value: fn(usize) -> Value<'static>) -> String {
    let mut page = String::new();
    let mut shown = vec![true];
    let mut cursor = 0;
    for tag in tokenise(source).unwrap() {
        if *shown.last().unwrap() {
            page.push_str(&source[cursor..tag.start]);
        }
        cursor = tag.end;
        let value = find(tag.name).map(value);
        let truth = match value {
            None => false,
            Some(Value::Bool(value)) => value,
            Some(Value::Integer(value)) => value != 0,
            Some(Value::Html(text) | Value::Text(text)) => !text.is_empty(),
        };
        match tag.kind {
            Kind::Comment => {}
            Kind::Section => shown.push(truth && *shown.last().unwrap()),
            Kind::Inverted => shown.push(!truth && *shown.last().unwrap()),
            Kind::Close => drop(shown.pop()),
            Kind::Escaped | Kind::Raw if !shown.last().unwrap() => {}
            Kind::Escaped | Kind::Raw => match value {
                None => {}
                Some(Value::Bool(value)) => page.push_str(&value.to_string()),
                Some(Value::Integer(value)) => page.push_str(&value.to_string()),
                Some(Value::Html(html)) if tag.kind == Kind::Raw => page.push_str(html),
                Some(Value::Html(text) | Value::Text(text)) => page.push_str(
                    &text
                        .replace('&', "&amp;")
                        .replace('<', "&lt;")
                        .replace('>', "&gt;")
                        .replace('"', "&quot;")
                        .replace('\'', "&#39;"),
                ),
            },
        }
    }
    page + &source[cursor..]
}

const FRAGMENTS: [&str; 32] = [
    "{{", "}}", "{{{", "}}}", "{", "}", "{{#", "{{^", "{{/", "{{!", "{{&", "{{>", "{{=", "#", "&",
    "yes", "no", "text", "markup", ".", "'", " ", "\t", "\n", "\r\n", "é", "\0", "{{yes}}",
    "{{#yes}}", "{{^no}}", "{{/yes}}", "{{/no}}",
];

fn hostile() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&FRAGMENTS[..]), 0..40)
        .prop_map(|parts| parts.concat())
}

/// Pieces that always make an accepted template, to reach the engine on every try.
fn accepted() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "{{yes}}",
        "{{{markup}}}",
        "{{& text }}",
        "{{! } {{ }}",
        "{{ no\n}}",
        "}",
        "}}",
        " ",
        "\n",
        "\r\n",
        "\t",
        "é{ ",
        "'\"<",
        "{ { ",
    ]);
    let leaf = leaf.prop_map(str::to_owned);
    leaf.prop_recursive(6, 64, 8, |inner| {
        let name = prop::sample::select(vec!["yes", "no", "zero", "missing"]);
        (name, any::<bool>(), any::<bool>(), prop::collection::vec(inner, 0..8)).prop_map(
            |(name, inverted, lines, parts)| {
                let (sigil, end) =
                    (if inverted { '^' } else { '#' }, if lines { "\n" } else { "" });
                let body = parts.join("\u{b7}");
                format!("{end}{{{{{sigil}{name}}}}}{end}{body}{end}{{{{/{name}}}}}{end}")
            },
        )
    })
}

/// White space aside: `interpret` keeps the lines that lone tags leave behind.
fn visible(page: &str) -> String {
    page.split_whitespace().collect()
}

proptest! {
    #[test]
    fn no_template_panics_and_an_accepted_one_means_what_it_says(source in hostile()) {
        if let Ok(template) = compile(&source) {
            let page = template.render(value).unwrap();
            prop_assert_eq!(visible(&page), visible(&interpret(&source, value)));
        }
    }

    #[test]
    fn the_engine_agrees_with_the_plain_meaning(source in accepted()) {
        let template = compile(&source).unwrap();
        // What is kept of one visitor's page is right for the next one, who meets other values.
        for value in [value, other, value, |number| value(number / 2)] {
            let page = template.render(value).unwrap();
            prop_assert_eq!(visible(&page), visible(&interpret(&source, value)));
        }
    }
}
