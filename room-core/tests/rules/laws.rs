//! Laws: no text makes the parser or an evaluation panic, and what is printed parses to the same.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::{Index, select};
use proptest::test_runner::Config;

use super::request::{Request, evaluate, parse, visitor};
use room_core::rules::STEPS_MAX;

/// What expressions are made of, and what breaks them.
const PIECES: &[&str] = &[
    "ssl",
    "http.host",
    "ip.src",
    "http.request.headers",
    "http.request.uri.args.names",
    "len",
    "lower",
    "concat",
    "substring",
    "url_decode",
    "any",
    "all",
    "not",
    "!",
    "and",
    "&&",
    "or",
    "||",
    "xor",
    "^^",
    "eq",
    "==",
    "ne",
    "lt",
    "in",
    "contains",
    "matches",
    "~",
    "wildcard",
    "strict",
    "strict wildcard",
    "&",
    "(",
    ")",
    "[",
    "]",
    "[*]",
    "[0]",
    "[\"a\"]",
    "{",
    "}",
    ",",
    "$office",
    "$",
    "\"a\"",
    "\"",
    "r\"a\"",
    "r#\"",
    "\\",
    "\"\\x41\"",
    "80",
    "-1",
    "1..2",
    "10.0.0.1",
    "10.0.0.0/8",
    "::1",
    "..",
    ".",
    " ",
    "\n",
    "\u{e4}",
    "\0",
    "#",
    "true",
    "false",
    "(((((((((",
    "99999999999999999999",
    "lookup_json_string",
    "remove_bytes",
    "is_timed_hmac_valid_v0",
];

/// A quoted or raw text with anything in it.
fn literal() -> impl Strategy<Value = String> {
    let escaped = vec(any::<u8>(), 0..6).prop_map(|bytes| {
        let escapes: Vec<String> = bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect();
        format!("\"{}\"", escapes.concat())
    });
    let raw = "[^\"]{0,6}".prop_map(|text| format!("r##\"{text}\"#\"##"));
    prop_oneof!["\"[a-z/.*]{0,8}\"", escaped, raw]
}

/// A regular expression, quoted, with quotation marks inside and outside of classes.
fn regular_expression() -> impl Strategy<Value = String> {
    let piece =
        select(vec!["a", "\\.", "\\\"", "[\"b]", "[^]\"x]", "(c|d)", "x{1,3}", "#", "\\\\"]);
    let many_hashes = Just(format!("\"\\\"{}\"", "#".repeat(300)));
    let pieces = vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    prop_oneof![9 => pieces, 1 => many_hashes]
}

/// A text of the request, deeper with functions around it.
fn text() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        select(vec!["http.host", "http.cookie", "ip.src.country", "raw.http.request.uri"])
            .prop_map(str::to_owned),
        literal().prop_map(|key| format!("http.request.headers[{key}][0]")),
        (0..9_u32).prop_map(|place| format!("http.request.headers.names[{place}]")),
    ];
    field.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("lower({inner})")),
            (inner.clone(), any::<i64>(), any::<i8>())
                .prop_map(|(inner, start, end)| format!("substring({inner},{start}, {end})")),
            (inner.clone(), literal(), inner.clone())
                .prop_map(|(one, text, other)| format!("concat({one} ,{text},{other})")),
            (inner.clone(), select(vec!["", ",\"r\"", ",\"ur\""]))
                .prop_map(|(inner, options)| format!("url_decode({inner}{options})")),
            (inner, literal(), 0..3_u8).prop_map(|(inner, key, place)| format!(
                "lookup_json_string({inner},{key},{place})"
            )),
        ]
    })
}

/// What is asked of a text.
fn test() -> impl Strategy<Value = String> {
    prop_oneof![
        (select(vec!["eq", "!=", "lt", ">=", "contains"]), literal())
            .prop_map(|(operator, literal)| format!("{operator} {literal}")),
        vec(literal(), 0..4).prop_map(|items| format!("in {{{}}}", items.join(" "))),
        (select(vec!["~", "matches"]), regular_expression())
            .prop_map(|(operator, pattern)| format!("{operator} {pattern}")),
        (select(vec!["wildcard", "strict wildcard"]), "\"[a-z/.]{0,3}\\*?[a-z]{1,2}\\*?\"")
            .prop_map(|(operator, pattern)| format!("{operator} {pattern}")),
    ]
}

fn comparison() -> impl Strategy<Value = String> {
    let range = (any::<i64>(), any::<i64>())
        .prop_map(|(one, other)| format!("{}..{}", one.min(other), one.max(other)));
    let network = (any::<u32>(), 0..=32_u32).prop_map(|(address, bits)| {
        let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        format!("{}/{bits}", std::net::Ipv4Addr::from_bits(address & mask))
    });
    let address = any::<u128>().prop_map(|bits| std::net::Ipv6Addr::from_bits(bits).to_string());
    prop_oneof![
        4 => (text(), test()).prop_map(|(text, test)| format!("{text} {test}")),
        1 => (text(), text()).prop_map(|(one, other)| format!("ends_with({one},{other})")),
        1 => (text(), any::<i64>()).prop_map(|(text, number)| format!("len({text}) & {number}")),
        1 => vec(range, 0..3)
            .prop_map(|ranges| format!("ip.src.asnum in {{{}}}", ranges.join("\t"))),
        1 => vec(prop_oneof![network, address], 0..3)
            .prop_map(|ranges| format!("ip.src in {{ {} }}", ranges.join(" "))),
        1 => (select(vec!["any", "all"]), test(), test()).prop_map(|(quantifier, one, other)| {
            let array = "lower(http.request.uri.args[*][*])[*]";
            format!("{quantifier}({array} {one} or not {array} {other})")
        }),
        1 => Just("ip.src in $office".to_owned()),
        1 => select(vec!["ssl", "true", "false"]).prop_map(str::to_owned),
    ]
}

/// A valid expression.
fn expression() -> impl Strategy<Value = String> {
    comparison().prop_recursive(4, 12, 4, |inner| {
        let operators = select(vec!["and", "or", "xor", "&&", "||", "^^"]);
        prop_oneof![
            inner.clone().prop_map(|inner| format!("not {inner}")),
            inner.clone().prop_map(|inner| format!("({inner})")),
            (vec(inner, 2..4), operators)
                .prop_map(|(terms, operator)| terms.join(&format!(" {operator} "))),
        ]
    })
}

/// Evaluates the text if it is an expression: the verdict, unless it costs too much.
fn try_out(text: &str, request: &Request) -> Option<bool> {
    let expression = match parse(text) {
        Ok(expression) => expression,
        Err(error) => {
            assert!(error.offset <= text.len(), "{error}");
            assert!(text.is_char_boundary(error.offset), "{error}");
            assert!(!error.message.is_empty());
            return None;
        }
    };
    let printed = expression.to_string();
    // What is printed may be longer than what was written, so long ones are not read again.
    if printed.len() <= 4_096 {
        assert_eq!(parse(&printed).as_ref(), Ok(&expression), "{text} prints {printed}");
    }
    let (verdict, steps, is_exhausted) = evaluate(&expression, request);
    assert!(steps <= STEPS_MAX);
    (!is_exhausted).then_some(verdict)
}

proptest! {
    #![proptest_config(Config { cases: 512, ..Config::default() })]

    #[test]
    fn any_text_is_an_expression_or_has_an_error_at_a_place(text in any::<String>()) {
        try_out(&text, &visitor());
    }

    #[test]
    fn any_pieces_are_an_expression_or_have_an_error_at_a_place(
        pieces in vec(select(PIECES), 0..24),
        gap in select(vec!["", " "]),
    ) {
        try_out(&pieces.join(gap), &visitor());
    }

    #[test]
    fn a_valid_expression_prints_what_parses_to_the_same(text in expression()) {
        let error = parse(&text).err();
        // A random range or size may break a limit; nothing else may be wrong.
        if let Some(error) = error {
            let is_limit = error.message.contains("at most") || error.message.contains("bytes");
            assert!(is_limit, "{error}");
        }
        try_out(&text, &visitor());
    }

    #[test]
    fn a_mutated_expression_is_one_or_has_an_error_at_a_place(
        text in expression(),
        place in any::<Index>(),
        piece in select(PIECES),
        removed in 0..4_usize,
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        let place = place.index(characters.len() + 1);
        let end = (place + removed).min(characters.len());
        characters.splice(place..end, piece.chars());
        try_out(&characters.into_iter().collect::<String>(), &visitor());
    }

    #[test]
    fn logic_is_that_of_booleans(one in expression(), other in expression()) {
        let request = visitor();
        let verdict = |text: String| try_out(&text, &request);
        if let (Some(first), Some(second)) = (verdict(one.clone()), verdict(other.clone())) {
            let check = |word: &str, want: bool| {
                let joined = format!("({one}) {word} ({other})");
                if let Some(found) = verdict(joined.clone()) {
                    assert_eq!(found, want, "{joined}");
                }
            };
            check("and", first && second);
            check("or", first || second);
            check("xor", first != second);
            if let Some(found) = verdict(format!("not ({one})")) {
                assert_eq!(found, !first, "not ({one})");
            }
        }
    }

    #[test]
    fn any_request_can_be_asked(
        text in expression(),
        url in any::<String>(),
        target in "[/.?=&%+a-z\u{e4}]{0,24}",
        header in any::<String>(),
    ) {
        let headers = ["cookie", "accept-language", "cf-ray", "a", ""];
        let headers = headers.map(|name| (name.to_owned(), header.clone())).into();
        let request = Request { url, headers, ..visitor() };
        try_out(&text, &request);
        for field in [
            r#"http.request.uri.path.extension eq "a""#,
            r#"any(http.request.cookies[*][*] eq "a")"#,
            r#"any(http.request.accepted_languages[*] eq "a")"#,
            r#"any(url_decode(http.request.uri.args.values[*], "ru")[*] eq "a")"#,
            "cf.edge.server_port eq 1",
            r#"lookup_json_string(http.cookie, "a") eq "a""#,
            r#"is_timed_hmac_valid_v0("a", http.cookie, 1, 2, 3)"#,
        ] {
            try_out(field, &request);
            let url = format!("https://shop.net{target}");
            try_out(field, &Request { url, ..request.clone() });
        }
    }
}
