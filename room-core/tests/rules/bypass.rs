//! Rules as a room has them: order, the enabled flag, the documented use cases.

use room_core::bypass_rule::BypassRule;
use room_core::id::RuleId;
use room_core::rule::{Lists, RequestFields, Rule, bypasses, first_match};

use super::request::{Request, evaluate, lists, parse, visitor};

fn rule(number: u8, enabled: bool, expression: &str) -> Rule {
    let expression = parse(expression).expect(expression);
    Rule { id: RuleId::from_bytes([number; 16]), enabled, expression }
}

#[test]
fn the_first_enabled_rule_that_matches_bypasses() {
    let check = |rules: &[(bool, &str)], want: Option<u8>| {
        let rules: Vec<Rule> = (1..)
            .zip(rules)
            .map(|(number, (enabled, text))| rule(number, *enabled, text))
            .collect();
        let visitor = visitor();
        let fields = RequestFields::new(&visitor);
        let outcome = first_match(&rules, &fields, &lists());
        let want_id = want.map(|number| RuleId::from_bytes([number; 16]));
        assert_eq!(outcome.rule.map(|rule| rule.id), want_id, "{rules:?}");
        assert!(!outcome.is_exhausted);
        assert_eq!(bypasses(&rules, &fields, &lists()), want.is_some());
    };
    check(&[], None);
    check(&[(true, "not ssl")], None);
    check(&[(false, "ssl")], None);
    check(&[(true, "ssl")], Some(1));
    check(&[(true, "not ssl"), (true, "ssl"), (true, "true")], Some(2));
    check(&[(false, "ssl"), (true, "not ssl"), (true, "true")], Some(3));
}

#[test]
fn the_documented_example_lets_the_link_of_a_ticket_host_through() {
    let text = r#"ends_with(http.request.uri.path, "/userverified")"#;
    let check = |url: &str, want: bool| {
        let request = Request { url: url.to_owned(), ..visitor() };
        assert_eq!(evaluate(parse(text).expect(text), &request).0, want, "{url}");
    };
    check("https://tickets.example.net/concert/userverified", true);
    check("https://tickets.example.net/concert/userverified?id=7", true);
    check("https://tickets.example.net/concert/userverified/", false);
    check("https://tickets.example.net/concert?/userverified", false);
    check("https://tickets.example.net/concert", false);
}

#[test]
fn the_documented_use_cases_work() {
    let check = |text: &str, path: &str, want: bool| {
        let request = Request { url: format!("https://shop.net{path}"), ..visitor() };
        assert_eq!(evaluate(parse(text).expect(text), &request).0, want, "{text} {path}");
    };
    let paths =
        r#"starts_with(http.request.uri.path, "/x") or ends_with(http.request.uri.path, ".css")"#;
    check(paths, "/x/a", true);
    check(paths, "/a.css", true);
    check(paths, "/a.js", false);
    let extensions = r#"http.request.uri.path.extension in {"css" "js" "png"}"#;
    check(extensions, "/a.PNG", true);
    check(extensions, "/a.png/b", false);
    let query = r#"any(http.request.uri.args["preview"][*] eq "1")"#;
    check(query, "/?preview=1", true);
    check(query, "/?preview=0", false);
    check("ip.src in $office", "/", true);
    check(r#"ip.src.country in {"FR" "IT"}"#, "/", false);
}

#[test]
fn a_rule_is_compiled_from_what_its_owner_configured() {
    let value = serde_json::json!({
        "id": "07070707070707070707070707070707",
        "action": "bypass_waiting_room",
        "expression": "ssl",
        "enabled": false,
    });
    let owned: BypassRule = room_core::config::read_bypass_rule(&value).expect("a valid rule");
    let compiled = Rule::compile(&owned, &super::request::known_lists());
    assert_eq!(compiled, Ok(rule(7, false, "ssl")));
}

#[test]
fn a_list_that_is_gone_has_no_items() {
    let rules = [rule(1, true, "ip.src in $office")];
    let visitor = visitor();
    let fields = RequestFields::new(&visitor);
    assert!(bypasses(&rules, &fields, &lists()));
    assert!(!bypasses(&rules, &fields, &Lists::new()));
}
