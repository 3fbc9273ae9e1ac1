//! What is no expression, where it is wrong and what the error says.

use super::request::parse;
use room_core::rules::DEPTH_MAX;

/// In each text `¦` marks the place of the error; the message has these words.
fn check(cases: &[(&str, &str)]) {
    let wrong = cases.iter().filter_map(|(marked, words)| {
        let offset = marked.find('¦').expect("a mark");
        let text = marked.replacen('¦', "", 1);
        let found = match parse(&text) {
            Ok(expression) => format!("is accepted as {expression}"),
            Err(error) if error.offset == offset && error.message.contains(words) => return None,
            Err(error) => error.to_string(),
        };
        Some(format!("{marked}\n  {found}\n  instead of: {words}"))
    });
    let wrong = wrong.collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_that_are_not_there() {
    check(&[
        (r#"¦http.hots eq "a""#, "there is no field of this name; did you mean http.host?"),
        (r#"ssl and ¦http.uri.path eq "a""#, "there is no field of this name"),
        ("¦ip.address eq 10.0.0.1", "there is no field of this name"),
        (r#"¦starts_wth(http.host, "a")"#, "did you mean starts_with?"),
        ("¦frobnicate(http.host)", "there is no function of this name"),
        ("¦lower", "lower is a function: ( must follow"),
        ("¦tcp.dstport eq 80", "there is no field of this name"),
        ("ip.src in ¦$ofice", "there is no list of this name; did you mean $office?"),
        ("ip.src in ¦$cf.malware", "there is no list of this name"),
        ("not ¦SSL", "did you mean ssl?"),
        ("ssl ¦AND ssl", "and, or, xor or the end must follow, not `AND`"),
    ]);
}

#[test]
fn names_that_are_not_here() {
    check(&[
        ("¦cf.threat_score gt 10", "bypass rules exclude it"),
        ("¦cf.bot_management.score lt 30", "bypass rules exclude it"),
        ("¦http.response.code eq 200", "there is no response yet"),
        (r#"¦raw.http.response.headers["a"][0] eq "b""#, "there is no response yet"),
        ("¦cf.response.error_type eq 1", "there is no response yet"),
        (r#"¦http.request.body.multipart.names[0] eq "a""#, "only http.request.body.raw"),
        (r#"any(¦http.request.jwt.claims.sub["a"][*] eq "b")"#, "nothing here verifies tokens"),
        (r#"¦http.request.jwt.claims.iss.values[0] eq "b""#, "nothing here verifies tokens"),
        ("¦cf.waf.score lt 20", "the platform does not tell it"),
        (r#"¦ip.src.subdivision_2_iso_code eq "GB-SWK""#, "the platform does not tell it"),
        ("¦src.ip eq 10.0.0.1", "the field is called `ip.src`"),
        ("¦cf.random_seed eq 1", "the same answer"),
        ("¦cidr(ip.src, 24, 24) eq 10.0.0.0", "not available in bypass rules"),
        (r#"¦regex_replace(http.host, "a", "b") eq "b""#, "not available in bypass rules"),
        ("¦to_string(ssl) eq \"true\"", "not available in bypass rules"),
    ]);
}

#[test]
fn texts_that_break_off() {
    check(&[
        ("¦", "the expression is empty"),
        (" \t\r\n ¦", "the expression is empty"),
        ("ssl and¦", "a field or a function must stand here, not the end"),
        ("(ssl¦", ") must stand here, not the end"),
        ("not¦", "not the end"),
        ("http.host¦", "http.host is a text, so use eq"),
        ("http.host eq¦", "a quoted text must stand here, not the end"),
        ("http.host eq ¦\"a", "never closed"),
        ("http.host eq ¦r#\"a\"", "never closed"),
        ("http.host matches ¦\"a\\\"", "never closed"),
        ("http.host in¦", "{ or $ must follow in, not the end"),
        ("http.host in {\"a\"¦", "a quoted text must stand here, not the end"),
        ("ip.src in $¦", "the name of a list must follow $"),
        ("lower(http.host¦", ") must stand here, not the end"),
        ("lower(¦", "not the end"),
        ("http.request.headers[¦", "an index is a number"),
        ("http.request.headers[\"a\"¦", "] must stand here, not the end"),
        ("any¦", "( must stand here, not the end"),
        ("http.request.uri¦.", "so use eq, ne, lt, le"),
    ]);
}

#[test]
fn things_in_the_wrong_place() {
    check(&[
        ("ssl ¦ssl", "and, or, xor or the end must follow, not `ssl`"),
        ("ssl¦)", "must follow, not `)`"),
        ("¦) or ssl", "a field or a function must stand here, not `)`"),
        ("¦\"a\" eq http.host", "a field or a function must stand here, not a quoted text"),
        ("¦80 eq cf.edge.server_port", "there is no field of this name"),
        ("http.host eq ¦http.referer", "a field cannot be compared with another field"),
        ("cf.edge.server_port eq ¦http.referer", "must be a whole number"),
        ("ssl and ¦or ssl", "there is no field of this name"),
        ("ssl && ¦& ssl", "must stand here, not `&`"),
        ("ssl ¦# comment", "must follow, not `#`"),
        ("¦= ssl", "not `=`"),
        ("http.host ¦= \"a\"", "found is `=`"),
        ("http.host strict ¦\"a\"", "wildcard must follow strict"),
        ("http.host in ¦\"a\"", "{ or $ must follow in"),
        ("http.host in {\"a\"¦, \"b\"}", "the items of a set are separated by spaces"),
        ("http.request.headers[¦http.host] eq \"a\"", "an index is a number"),
        ("¦\u{e4} eq 1", "not `\u{e4}`"),
        ("lower(http.host ¦\"a\") eq \"a\"", ") must stand here"),
        ("¦lower() eq \"a\"", "0 arguments do not fit"),
        ("¦[0] eq 1", "not `[`"),
    ]);
}

#[test]
fn types_that_do_not_fit() {
    check(&[
        ("cf.edge.server_port ¦contains \"a\"", "contains does not fit an integer"),
        ("cf.edge.server_port ¦matches \"a\"", "matches does not fit an integer"),
        ("ip.src ¦lt 10.0.0.1", "lt does not fit an IP address: use eq, ne or in"),
        ("ip.src ¦wildcard \"a\"", "wildcard does not fit an IP address"),
        ("ssl ¦eq \"true\"", "eq does not fit a Boolean: it stands alone, or behind not"),
        ("ssl ¦== true", "it stands alone"),
        ("http.host ¦& 1", "& does not fit a text"),
        ("http.host eq ¦5", "a quoted text must stand here, not `5`"),
        ("cf.edge.server_port eq ¦\"443\"", "an integer without quotation marks"),
        ("ip.src eq ¦\"10.0.0.1\"", "an IP address without quotation marks"),
        ("ip.src in {¦\"10.0.0.1\"}", "an IP address, a network or a range, without quotes"),
        ("http.host in {\"a\" ¦5}", "a quoted text must stand here, not `5`"),
        ("cf.edge.server_port in {80 ¦\"a\"}", "an integer or a range"),
        ("ip.src in ¦$hosts", "$hosts is a list of host names, but a list of IP addresses"),
        ("http.host in ¦$office", "$office is a list of IP addresses, but a list of host names"),
        ("ip.src.asnum in ¦$office", "a list of AS numbers must stand here"),
        ("http.host¦", "http.host is a text, so use eq"),
        ("len(http.host)¦", "is an integer, so use eq"),
        ("ip.src ¦and ssl", "ip.src is an IP address, so use eq, ne or in"),
        ("¦http.request.headers eq \"a\"", "take one entry, like http.request.headers[\"name\"]"),
        ("¦http.request.headers.names eq \"a\"", "http.request.headers.names[0]"),
        ("¦http.request.headers[\"a\"] eq \"a\"", "is an array of texts and cannot be compared"),
        ("¦http.request.headers[\"a\"]", "is an array of texts"),
    ]);
}

#[test]
fn literals_that_are_none() {
    check(&[
        ("cf.edge.server_port eq ¦010", "must not begin with 0"),
        ("cf.edge.server_port eq ¦1.5", "must be a whole number"),
        ("cf.edge.server_port eq ¦9223372036854775808", "must be from -9223372036854775808"),
        ("cf.edge.server_port eq ¦0x", "must be a whole number"),
        ("cf.edge.server_port eq ¦--1", "must be a whole number"),
        ("cf.edge.server_port in {¦9..8}", "must not end before it begins"),
        ("cf.edge.server_port in {¦1..}", "must be a whole number"),
        ("cf.edge.server_port in {¦1...3}", "must be a whole number"),
        ("ip.src eq ¦10.0.0", "must be an IP address"),
        ("ip.src eq ¦10.0.0.0/8", "a range is tested by in, like ip.src in {10.0.0.0/8}"),
        ("ip.src in {¦10.0.0.1/8}", "the network of this address is 10.0.0.0/8"),
        ("ip.src in {¦10.0.0.0/33}", "a number of bits from 0 to 32"),
        ("ip.src in {10.0.0.0/8 ¦::1..10.0.0.1}", "both IPv6"),
        ("ip.src in {¦10.0.0.9..10.0.0.1}", "must not end before it begins"),
        ("ip.src in {¦10.0.0.256}", "must be an IP address"),
        ("http.host eq \"a¦\\n\"", "behind a backslash stands"),
        ("http.host eq \"¦\\x4g\"", "two hexadecimal digits"),
        ("http.host eq \"¦\\400\"", "three octal digits"),
        ("http.host wildcard ¦\"a**\"", "two stars must not follow each other"),
        ("http.host wildcard ¦r\"\\a\"", "a backslash stands only before"),
        ("http.host matches ¦\"(\"", "not a regular expression of this product"),
        ("http.host matches ¦\"(?=a)\"", "not a regular expression of this product"),
        ("http.host matches ¦r\"\\p{L}\"", "Unicode character classes are not supported"),
        ("http.host matches ¦\"(a{0,100}){0,100}\"", "size limit"),
        ("http.host ~ ¦http.referer", "a quoted regular expression must stand here"),
    ]);
}

#[test]
fn calls_that_do_not_fit() {
    check(&[
        ("¦lower() eq \"a\"", "0 arguments do not fit: lower(text)"),
        ("¦lower(http.host, http.host) eq \"a\"", "2 arguments do not fit"),
        ("¦starts_with(http.host)", "1 argument do not fit: starts_with(text, beginning)"),
        ("starts_with(¦\"a\", \"b\")", "a text of the request, not a quoted one"),
        ("ends_with(¦\"a\", http.host)", "a text of the request"),
        ("lower(¦ip.src) eq \"a\"", "this must be a text, but is an IP address"),
        ("lower(¦5) eq \"a\"", "this must be a text, but is a written integer"),
        ("lower(¦http.request.headers.names) eq \"a\"", "but is an array of texts"),
        ("len(¦http.request.headers) eq 1", "a text or an array, but is a map"),
        ("substring(http.host, ¦\"1\") eq \"a\"", "this must be an integer"),
        ("url_decode(http.host, ¦\"x\") eq \"a\"", "the options of url_decode"),
        ("url_decode(http.host, ¦http.host) eq \"a\"", "this must be a quoted text"),
        ("lookup_json_string(http.host, ¦-1) eq \"a\"", "a quoted name or an integer from 0"),
        ("lookup_json_string(http.host, \"a\", ¦http.host) eq \"a\"", "a quoted name"),
        ("concat(http.host, ¦http.request.headers.names) eq \"a\"", "all must be of one type"),
        ("concat(http.host, ¦5) eq \"a\"", "this must be a text or an array"),
        ("remove_bytes(http.host, ¦http.referer) eq \"a\"", "this must be a quoted text"),
        ("is_timed_hmac_valid_v0(¦\"\", http.host, 1, 2)", "the key must not be empty"),
        ("is_timed_hmac_valid_v0(\"k\", http.host, ¦-1, 2)", "must be 0 or more"),
        ("is_timed_hmac_valid_v0(\"k\", http.host, 1, 2, ¦-1)", "must be 0 or more"),
        ("is_timed_hmac_valid_v0(\"k\", http.host, 1, 2, 0, ¦\"x\")", "the only flag is \"s\""),
        ("lower(http.host ¦eq \"a\")", ") must stand here, not `eq`"),
    ]);
}

#[test]
fn arrays_in_the_wrong_place() {
    check(&[
        ("http.request.headers.names¦[*] == \"a\"", "[*] must stand inside of any()"),
        ("lower(http.request.headers.names[*])¦[*] == \"a\"", "[*] must stand inside of any()"),
        ("any(¦ssl)", "mark the array with [*]"),
        ("any(¦true)", "mark the array with [*]"),
        ("any(http.request.headers.names[*] == \"a\" and ¦ssl)", "cannot join one Boolean"),
        ("any(ssl or ¦http.request.headers.names[*] == \"a\")", "cannot join one Boolean"),
        ("¦starts_with(http.request.headers.names[*], \"a\")", "put it into any(...) or all(...)"),
        (
            "not ssl or ¦starts_with(http.request.headers.names[*], \"a\")",
            "cannot join one Boolean and an array",
        ),
        (
            "any(http.request.headers.names[*] == \"a\" \
             and http.request.headers.values¦[*] == \"b\")",
            "behind one and the same array",
        ),
        (
            "any(http.request.headers[\"a\"][*] == \"a\" \
             or http.request.headers[\"b\"]¦[*] == \"b\")",
            "behind one and the same array",
        ),
        (
            "any(starts_with(http.host, ¦http.request.headers.names[*]))",
            "only in the first argument",
        ),
        (
            "any(concat(¦http.request.headers[*], http.request.headers.names)[*] == \"a\")",
            "an array for each [*]",
        ),
        ("http.host¦[0] eq \"a\"", "a text has no elements"),
        ("http.request.headers.names¦[\"a\"] eq \"a\"", "are found by number"),
        ("http.request.headers¦[0] eq \"a\"", "are found by name"),
        ("http.request.headers[\"a\"][¦-1] eq \"a\"", "an index is a number from 0"),
        ("http.request.headers[\"a\"][¦4294967296] eq \"a\"", "an index is a number from 0"),
        ("http.request.headers[\"a\"][0]¦[0] eq \"a\"", "a text has no elements"),
        ("any(¦lower(http.request.headers.names[*]) == \"a\")", "[0], or any("),
        ("any(¦any(http.request.headers.names[*] == \"a\"))", "mark the array with [*]"),
    ]);
}

#[test]
fn depth_and_length_have_a_limit() {
    let deepest = |opening: &str, closing: &str, depth: usize| {
        format!("{}ssl{}", opening.repeat(depth), closing.repeat(depth))
    };
    for (opening, closing) in [("(", ")"), ("not ", ""), ("!", ""), ("not(", ")")] {
        let each = if opening == "not(" { 2 } else { 1 };
        assert!(parse(&deepest(opening, closing, DEPTH_MAX / each)).is_ok(), "{opening}");
        let error = parse(&deepest(opening, closing, DEPTH_MAX / each + 1)).expect_err(opening);
        assert!(error.message.contains("nest at most 64 deep"), "{error}");
        assert_eq!(error.offset, opening.len() * (DEPTH_MAX / each), "{error}");
    }
    let calls =
        |depth: usize| format!("{}http.host{} eq \"a\"", "lower(".repeat(depth), ")".repeat(depth));
    assert!(parse(&calls(64)).is_ok());
    assert!(parse(&calls(65)).is_err());
    let as_long_as = |bytes: usize| format!("http.host eq \"{}\"", "a".repeat(bytes - 15));
    assert!(parse(&as_long_as(4_096)).is_ok());
    let error = parse(&as_long_as(4_097)).expect_err("too long");
    assert_eq!((error.offset, error.column), (4_096, 4_097));
    assert!(error.message.contains("at most 4096 bytes long, but has 4097"), "{error}");
    assert_eq!(parse(&"\u{e4}".repeat(2_049)).expect_err("too long").offset, 4_096);
    assert_eq!(parse(&format!("a{}", "\u{e4}".repeat(2_048))).expect_err("").offset, 4_095);
}

#[test]
fn regular_expressions_share_a_limit() {
    let patterns = |count: usize| vec!["http.host ~ \"(a{0,10}){0,10}!\""; count].join(" or ");
    assert!(parse(&patterns(4)).is_ok());
    let error = parse(&patterns(5)).expect_err("too many");
    assert!(error.message.contains("more than 65536 bytes"), "{error}");
    assert_eq!(error.offset, patterns(5).rfind('"').unwrap_or_default() - 17);
}

#[test]
fn an_error_shows_the_line_and_a_mark() {
    let text = "starts_with(http.request.uri.path, \"/x\")\n  or http.hots eq \"a\"";
    let want = "line 2, column 6: there is no field of this name; did you mean http.host?\n  \
                \u{20} or http.hots eq \"a\"\n       ^^^^^^^^^";
    assert_eq!(parse(text).expect_err(text).to_string(), want);
}
