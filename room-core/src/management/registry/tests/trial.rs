//! Tests of made-up requests on which owners try their rules.

use serde_json::{Value, json};

use super::{World, path_of};

fn rule(expression: &str, enabled: bool) -> Value {
    json!({ "action": "bypass_waiting_room", "expression": expression, "enabled": enabled })
}

#[test]
fn a_trial_says_whether_a_request_passes_and_by_which_rule() {
    let mut world = World::new();
    let other = json!({ "name": "other", "host": "other.example" });
    let other = world.create(&other)["id"].clone();
    let room = world.create(&json!({ "name": "tried", "host": "tried.example", "path": "/buy" }));
    let path = path_of(&room);
    let rules = json!([
        rule("ip.src in {203.0.113.0/24}", true),
        rule("http.request.method eq \"POST\"", false),
        rule("http.user_agent contains \"probe\" and ip.geoip.country eq \"DE\"", true),
    ]);
    world.get("PUT", &format!("{path}/rules"), &rules);
    let trial = format!("{path}/rules/test");
    let before = world.registry.version();
    let mut check = |request: Value, outcome: &str, matches: [bool; 3]| {
        let told = world.get("POST", &trial, &request);
        assert_eq!(told["outcome"], outcome, "{request}: {told}");
        let seen: Vec<_> = told["rules"].as_array().into_iter().flatten().collect();
        let seen: Vec<_> = seen.iter().map(|rule| rule["matches"] == true).collect();
        assert_eq!(seen, matches, "{request}");
        told
    };
    let url = "https://tried.example/buy/now";
    check(json!({ "url": url }), "decided_by_room", [false; 3]);
    let at_home = json!({ "url": url, "address": "203.0.113.9" });
    check(at_home, "passes", [true, false, false]);
    // A rule that is off is shown to match, and lets nobody pass.
    check(json!({ "url": url, "method": "post" }), "decided_by_room", [false, true, false]);
    let probe = json!({
        "url": url,
        "headers": { "User-Agent": "a probe" },
        "cf": { "country": "DE" },
    });
    check(probe, "passes", [false, false, true]);
    check(json!({ "url": "https://tried.example/" }), "not_covered", [false; 3]);
    let uncovered = check(json!({ "url": "https://tried.example/x" }), "not_covered", [false; 3]);
    assert_eq!(uncovered["may_be_served_as"], Value::Null);
    for end in [".json", ".php", "::$DATA"] {
        let alike = json!({ "url": format!("https://tried.example/buy{end}") });
        assert_eq!(check(alike, "not_covered", [false; 3])["may_be_served_as"], "/buy", "{end}");
    }
    let elsewhere = check(json!({ "url": "https://other.example/" }), "other_room", [false; 3]);
    assert_eq!(elsewhere["room"], other);
    let draft = json!({ "url": url, "expression": "http.request.uri.path eq \"/buy/now\"" });
    let drafted = check(draft, "passes", [false; 3]);
    assert_eq!(drafted["expression_matches"], true);
    assert_eq!(world.registry.version(), before);
    world.get("PATCH", &path, &json!({ "suspended": true }));
    assert_eq!(world.get("POST", &trial, &json!({ "url": url }))["outcome"], "suspended");
}

#[test]
fn a_trial_says_what_is_wrong_with_it() {
    let mut world = World::new();
    let path = format!("{}/rules/test", path_of(&world.create(&json!({}))));
    let mut check = |body: Value, pointers: &[&str]| {
        let (status, seen) = world.fail("POST", &path, &body);
        let seen: Vec<_> = seen.iter().map(|(_, pointer)| pointer.as_str()).collect();
        assert_eq!((status, &*seen), (400, pointers), "{body}");
    };
    check(json!({}), &["/url"]);
    check(
        json!({ "url": "buy", "address": "home", "headers": 1, "expression": "ssl and" }),
        &["/url", "/headers", "/address", "/expression"],
    );
    let headers = json!({ "a/b": 1, "x": "fine", "y": [] });
    check(
        json!({ "url": "https://a.example/", "headers": headers }),
        &["/headers/a~1b", "/headers/y"],
    );
    check(json!({ "url": "https://a.example/", "expression": "ssl and" }), &["/expression"]);
    check(json!({ "url": "https://a.example/", "cookie": "a" }), &["/cookie"]);
    let home = json!({ "url": "https://a.example/", "address": "home" });
    let (_, told) = world.ask("POST", &path, &home);
    let message =
        "/address must be an IP address like 203.0.113.7 or 2001:db8::7; given is \"home\"";
    assert_eq!(told["errors"][0]["message"], message);
}
