//! What an evaluation costs, in steps and never in time: little for a usual expression, and no
//! more than the limit for the worst one on the largest request.

use std::time::Instant;

use room_core::rules::{
    BODY_BYTES_MAX, Body, End, Expression, Outcome, RequestFields, STEPS_MAX, first_match,
};

use super::request::{Request, evaluate, lists, parse, visitor};

/// As long as all headers of a request may be together on the platform.
const LONGEST_HEADERS_BYTES: usize = 128 * 1_024;
/// As long as a URL may be there.
const LONGEST_URL_BYTES: usize = 16 * 1_024;
/// Rules of one room, unless its owner allows more.
const RULES_MAX: usize = 100;

fn steps(text: &str, request: &Request) -> usize {
    let (_, steps, is_exhausted) = evaluate(&parse(text).expect(text), request);
    assert!(!is_exhausted, "{text}");
    steps
}

#[test]
fn usual_expressions_cost_little() {
    let check = |text: &str, want: usize| assert_eq!(steps(text, &visitor()), want, "{text}");
    check("ssl", 4);
    check("ip.src in {203.0.113.0/24}", 67);
    check("ip.src in $office", 130);
    check(r#"ends_with(http.request.uri.path, "/userverified")"#, 42);
    check(r#"ip.src.country in {"DE" "AT" "CH"}"#, 71);
    check(r#"http.host eq "shop.example.net""#, 21);
    check(r#"http.request.uri.path contains "sale""#, 48);
    check(r#"http.request.uri.path wildcard "/sale/*""#, 51);
    // 20 bytes times a kilobyte of program in states.
    check(r#"http.request.uri.path matches r"\.(css|js|png)$""#, 24 + 20 * 42);
    check(r#"any(http.request.headers["referer"][*] contains "search")"#, 134);
}

#[test]
fn what_comes_first_saves_what_comes_later() {
    let long = r#"http.user_agent matches "(?i)googlebot|bingbot""#;
    let short = steps(&format!("ssl or {long}"), &visitor());
    assert_eq!(short, steps("ssl or ssl", &visitor()));
    assert_eq!(steps(&format!("not ssl and {long}"), &visitor()), short + 2);
    assert!(steps(&format!("ssl and {long}"), &visitor()) > 50 * short);
}

/// A request with these headers and a target as long as the platform lets it be.
fn large_request(target: &str, headers: Vec<(&str, String)>) -> Request {
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Request { url: format!("https://shop.example.net/{target}"), headers, ..visitor() }
}

/// `piece` as often as `bytes` bytes hold it.
fn filled(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len())
}

/// Requests as large as they can be where these expressions are dearest.
fn worst_cases() -> Vec<(Request, Vec<String>)> {
    let half = LONGEST_HEADERS_BYTES / 2;
    let owned = |terms: &[&str]| terms.iter().map(|term| (*term).to_owned()).collect();
    let many_headers = (0..half / 8).map(|number| (format!("{number:x}"), "a".to_owned()));
    let many_headers = Request { headers: many_headers.collect(), ..visitor() };
    let signed = filled("message", half / 4) + "1795219200-" + &"A".repeat(43) + "%3D";
    vec![
        worst_arrays(),
        worst_texts(),
        worst_form(),
        (
            large_request("", vec![("accept-language", filled("a,", half / 2))]),
            owned(&[r#"any(http.request.accepted_languages[*]eq"b")"#]),
        ),
        (
            large_request("", vec![("cookie", signed), ("host", filled("a.", 253))]),
            owned(&[
                r#"is_timed_hmac_valid_v0("k",http.cookie,9999999999,2)"#,
                r#"http.request.headers["host"][0] in $hosts"#,
            ]),
        ),
        (
            large_request("", vec![("cookie", filled("a=b;", half))]),
            owned(&[r#"any(http.request.cookies["b"][*]eq"b")"#]),
        ),
        (
            many_headers,
            owned(&[
                r#"any(http.request.headers.names[*]eq"b")"#,
                r#"any(http.request.headers[*][*]eq"b")"#,
            ]),
        ),
    ]
}

fn worst_form() -> (Request, Vec<String>) {
    let body: &[u8] = filled("a&", BODY_BYTES_MAX).leak().as_bytes();
    let form = "application/x-www-form-urlencoded".to_owned();
    let request = large_request("", vec![("content-type", form)]);
    let terms = [
        r#"any(http.request.body.form.names[*]eq"b")"#,
        r#"any(http.request.body.form[*][*]eq"b")"#,
        r#"lower(http.request.body.raw)eq"b""#,
        r#"http.request.body.mime eq"b""#,
    ];
    (Request { body: Body::Read(body), ..request }, terms.map(str::to_owned).into())
}

fn worst_arrays() -> (Request, Vec<String>) {
    let half = LONGEST_HEADERS_BYTES / 2;
    // Read once, and never again.
    let json = format!("[{}0]", filled(r#"{"":0},"#, half / 2));
    let names = format!("{{{}\"z\":1}}", filled("\"\":{},", half));
    let query = format!("?{}", filled("a=%2525&", LONGEST_URL_BYTES));
    let headers = vec![("cookie", filled("a=%2525;", half)), ("x", json), ("y", names)];
    let terms = [
        r#"any(http.request.cookies["a"][*]eq"b")"#,
        r#"any(http.request.cookies[*][*]eq"b")"#,
        r#"any(http.request.uri.args[*][*]eq"b")"#,
        r#"any(http.request.uri.args["a"][*]eq"b")"#,
        r#"any(http.request.uri.args.names[*]ne"a")"#,
        r#"http.request.uri.args.names[0]eq"b""#,
        r#"any(lower(http.request.uri.args.values[*])[*]~"b{9}!")"#,
        r#"any(concat(http.request.uri.args.values[*],"b")[*]eq"b")"#,
        r#"lookup_json_string(http.request.headers["x"][0],0)eq"b""#,
        r#"lookup_json_string(http.request.headers["y"][0],"z")eq"b""#,
        r#"url_decode(http.cookie,"r")eq"b""#,
    ];
    (large_request(&query, headers), terms.map(str::to_owned).into())
}

fn worst_texts() -> (Request, Vec<String>) {
    let deep = format!("{}http.cookie{}", "lower(upper(".repeat(31), "))".repeat(31));
    let deep = format!("{deep}eq\"b\"");
    let terms = [
        r#"http.cookie contains "aaaaaaaaaaaaaaaaaaaaab""#,
        r#"http.cookie wildcard "*a*b*c*d*e*f*""#,
        r#"http.cookie~"(a{0,9}){0,9}!""#,
        r#"http.cookie~"(a|b|ab|ba|aa){0,20}!""#,
        r#"http.cookie~"a{0,200}!""#,
        r#"lower(http.cookie)eq"b""#,
        r#"remove_bytes(http.cookie,"b")eq"b""#,
        "len(concat(http.cookie,http.cookie,http.cookie,http.cookie))eq 0",
        r#"http.request.uri.path.extension eq"b""#,
        r#"http.request.uri eq"b""#,
        "not ip.src in $office",
        r#"ip.src.city eq"b""#,
        &deep,
    ];
    let target = filled("a", LONGEST_URL_BYTES);
    let headers = vec![("cookie", filled("a", LONGEST_HEADERS_BYTES / 2))];
    (large_request(&target, headers), terms.map(str::to_owned).into())
}

/// As many copies of `term` as an expression can hold; each must be evaluated.
fn repeated(term: &str, last: &str) -> String {
    // All regular expressions of a rule together have a limit, too.
    let regexes = if term.contains('~') { 4 } else { usize::MAX };
    let count = ((4_096 - last.len()) / (term.len() + " or ".len())).min(regexes);
    format!("{}{last}", format!("{term} or ").repeat(count))
}

/// As many rules of such an expression as a room can have.
fn worst_rules(term: &str) -> Vec<Expression> {
    let expression = parse(&repeated(term, "false")).expect(term);
    vec![expression; RULES_MAX]
}

/// It asserts no time, but prints each:
/// `cargo test --release -p room-core --test rules -- --nocapture the_worst_rules`.
#[test]
#[expect(clippy::disallowed_methods, reason = "a native test may read the native clock")]
fn the_worst_rules_stay_within_the_limit() {
    for (request, terms) in worst_cases() {
        for term in terms {
            let (rules, lists) = (worst_rules(&term), lists());
            let began = Instant::now();
            let fields = RequestFields::new(&request);
            let Outcome { end, steps } = first_match(&rules, &fields, &lists);
            println!("{:10.2?} {term:.60}", began.elapsed());
            assert_eq!((end, steps), (End::Exhausted, STEPS_MAX), "{term}");
        }
    }
}

#[test]
fn what_costs_too_much_bypasses_nobody() {
    let request = large_request("", vec![("cookie", filled("a=%2525;", 64 * 1_024))]);
    let costly = repeated(r#"lower(http.cookie)eq"a""#, "true");
    for text in [costly.clone(), format!("not ({})", &costly[..costly.len() - " or true".len()])] {
        let (is_match, steps, is_exhausted) = evaluate(&parse(&text).expect(&text), &request);
        assert!(!is_match && is_exhausted, "{steps}");
        assert_eq!(steps, STEPS_MAX);
        // The same expression on a small request is no matter.
        assert!(!evaluate(&parse(&text).expect(&text), &visitor()).2);
    }
    // What comes before the costly one matches as ever, what comes behind it does not.
    let fields = RequestFields::new(&request);
    let [cheap, costly] = ["true", &costly].map(|text| parse(text).expect(text));
    assert_eq!(first_match([&cheap, &costly], &fields, &lists()).end, End::Match(0));
    assert_eq!(first_match([&costly, &cheap], &fields, &lists()).end, End::Exhausted);
}

#[test]
fn what_is_taken_apart_is_paid_by_the_byte_and_only_once() {
    const BYTES: usize = 4_096;
    let check = |term: &str, request: &Request, steps_per_byte: usize| {
        let once = steps(term, request);
        assert!(once >= BYTES * steps_per_byte, "{term}: {once}");
        let twice = steps(&format!("{term} or {term}"), request);
        assert!(twice < 2 * once - BYTES * steps_per_byte / 2, "{term}: {once}, then {twice}");
    };
    let with = |name: &str, piece: &str| large_request("", vec![(name, filled(piece, BYTES))]);
    let languages = r#"any(http.request.accepted_languages[*] eq "b")"#;
    check(languages, &with("accept-language", "a,"), 16);
    check(r#"http.request.cookies["b"][0] eq "b""#, &with("cookie", "a=b;"), 8);
    let query = large_request(&format!("?{}", filled("a=b&", BYTES)), Vec::new());
    check(r#"http.request.uri.args["b"][0] eq "b""#, &query, 4);
}

#[test]
fn a_hundred_usual_rules_stay_far_below_the_limit() {
    let text = r#"starts_with(http.request.uri.path, "/b") and ip.src.country in {"FR" "IT"}
        or http.user_agent matches "(?i)googlebot|bingbot|yandex" or ip.src in {10.0.0.0/8 ::1}
        or any(http.request.cookies["beta"][*] eq "1")"#;
    let rules = vec![parse(text).expect(text); RULES_MAX];
    let visitor = visitor();
    let Outcome { end, steps } = first_match(&rules, &RequestFields::new(&visitor), &lists());
    assert_eq!(end, End::NoMatch);
    assert!(steps < STEPS_MAX / 2, "{steps}");
}

#[test]
fn the_platform_is_asked_for_the_address_once() {
    let rules = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
        .map(|address| parse(&format!("ip.src eq {address}")).expect("an expression"));
    let visitor = visitor();
    let end = first_match(&rules, &RequestFields::new(&visitor), &lists()).end;
    assert_eq!((end, visitor.asked_for_address.get()), (End::NoMatch, 1));
}
