//! What an evaluation costs, in steps and never in time: little for a usual expression, and no
//! more than the limit for the worst one on the largest request.

use room_core::rule::{End, RequestFields, STEPS_MAX, first_match};

use super::request::{Request, evaluate, lists, parse, visitor};

/// As long as all headers of a request may be together on the platform.
const LONGEST_HEADERS_BYTES: usize = 128 * 1_024;

fn steps(text: &str, request: &Request) -> usize {
    let (_, steps, is_exhausted) = evaluate(&parse(text).expect(text), request);
    assert!(!is_exhausted, "{text}");
    steps
}

#[test]
fn usual_expressions_cost_little() {
    let check = |text: &str, want: usize| assert_eq!(steps(text, &visitor()), want, "{text}");
    check("ssl", 2);
    check("ip.src in {203.0.113.0/24}", 3);
    check("ip.src in $office", 66);
    check(r#"ends_with(http.request.uri.path, "/userverified")"#, 17);
    check(r#"ip.src.country in {"DE" "AT" "CH"}"#, 7);
    check(r#"http.host eq "shop.example.net""#, 18);
    check(r#"http.request.uri.path contains "sale""#, 26);
    check(r#"http.request.uri.path wildcard "/sale/*""#, 29);
    // 20 bytes times a sixteenth of a kilobyte of program.
    check(r#"http.request.uri.path matches r"\.(css|js|png)$""#, 2 + 20 * 64);
    check(r#"any(http.request.headers["referer"][*] contains "search")"#, 47);
}

#[test]
fn what_comes_first_saves_what_comes_later() {
    let long = r#"http.user_agent matches "(?i)googlebot|bingbot""#;
    let short = steps(&format!("ssl or {long}"), &visitor());
    assert_eq!(short, steps("ssl or ssl", &visitor()));
    assert_eq!(steps(&format!("not ssl and {long}"), &visitor()), short + 1);
    assert!(steps(&format!("ssl and {long}"), &visitor()) > 100 * short);
}

/// A request whose cookie, query and one header are as long as the platform lets them be.
fn largest_request() -> Request {
    let cookie = "a=%2525;".repeat(LONGEST_HEADERS_BYTES / 2 / 8);
    let nested = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let json = format!("[{}]", vec![nested; LONGEST_HEADERS_BYTES / 2 / 201].join(","));
    let query = "a=%2525&".repeat(16 * 1_024 / 8 - 8);
    Request {
        url: format!("https://shop.example.net/{}?{query}", "a".repeat(32)),
        headers: vec![("cookie".to_owned(), cookie), ("x".to_owned(), json)],
        ..visitor()
    }
}

/// As many copies of `term` as an expression can hold; each must be evaluated.
fn repeated(term: &str, last: &str) -> String {
    let count = (4_096 - last.len()) / (term.len() + " or ".len());
    format!("{}{last}", format!("{term} or ").repeat(count))
}

#[test]
fn the_worst_expressions_stay_within_the_limit() {
    let request = largest_request();
    let deep = format!("{}http.cookie{}", "lower(upper(".repeat(31), "))".repeat(31));
    let terms = [
        r#"http.cookie contains "aaaaaaaaaaaaaaaaaaaaab""#.to_owned(),
        r#"http.cookie wildcard "*a*b*c*d*e*f*""#.to_owned(),
        r#"http.cookie~"(a{0,9}){0,9}!""#.to_owned(),
        r#"lower(http.cookie)eq"a""#.to_owned(),
        r#"url_decode(http.cookie,"r")eq"b""#.to_owned(),
        r#"any(http.request.cookies["a"][*]eq"b")"#.to_owned(),
        r#"any(http.request.cookies[*][*]eq"b")"#.to_owned(),
        r#"any(http.request.uri.args[*][*]eq"b")"#.to_owned(),
        r#"any(lower(http.request.uri.args.values[*])[*]~"b{9}!")"#.to_owned(),
        "len(concat(http.cookie,http.cookie,http.cookie,http.cookie))eq 0".to_owned(),
        r#"lookup_json_string(http.request.headers["x"][0],0)eq"b""#.to_owned(),
        r#"is_timed_hmac_valid_v0("k",http.cookie,1,2)"#.to_owned(),
        r#"remove_bytes(http.cookie,"a")eq"b""#.to_owned(),
        format!("{deep}eq\"b\""),
    ];
    for term in terms {
        let regexes = if term.contains('~') { 8 } else { usize::MAX };
        let count = ((4_096 - 5) / (term.len() + 4)).min(regexes);
        let text = format!("{}false", format!("{term} or ").repeat(count));
        let expression = parse(&text).expect(&term);
        let (is_match, steps, is_exhausted) = evaluate(&expression, &request);
        assert!(!is_match, "{term}");
        assert!(steps <= STEPS_MAX, "{term}: {steps}");
        assert!(is_exhausted || steps > 10_000, "{term}: {steps} is no worst case");
    }
}

#[test]
fn what_costs_too_much_bypasses_nobody() {
    let request = largest_request();
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
