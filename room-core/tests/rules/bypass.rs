//! Rules as a room has them: order, the enabled flag, what a first glance tells, the documented use
//! cases, and crawlers.

use room_core::management::config::parse_rooms;
use room_core::room::Room;
use room_core::room::bypass::{Bypass, FirstGlance, decide};
use room_core::room::zone_settings::ZoneSettings;
use room_core::rules::{End, Lists, RequestFields, RequestSource, first_match};
use serde_json::{Value, json};

use super::request::{Request, evaluate, lists, parse, visitor};

const ID: &str = "0123456789abcdef0123456789abcdef";
const CRAWLERS_STAY: ZoneSettings =
    ZoneSettings { search_engine_crawler_bypass: false, always_use_https: None };
const CRAWLERS_SKIP: ZoneSettings =
    ZoneSettings { search_engine_crawler_bypass: true, always_use_https: None };

/// A room whose rules have these expressions, enabled or not.
fn room(rules: &[(bool, &str)]) -> Room {
    let rule = |(number, (enabled, expression)): (usize, &(bool, &str))| {
        json!({
            "id": format!("{number:032x}"),
            "action": "bypass_waiting_room",
            "expression": expression,
            "enabled": enabled,
        })
    };
    let rules: Value = rules.iter().enumerate().map(rule).collect();
    let rooms = json!([{
        "id": ID,
        "zone_id": ID,
        "name": "shop",
        "host": "shop.example.net",
        "total_active_users": 1,
        "new_users_per_minute": 1,
        "bypass_rules": rules,
    }]);
    parse_rooms(&rooms.to_string()).expect("a valid room").remove(0)
}

/// The same visitor as far as a first glance tells.
fn at_a_glance(request: &Request) -> FirstGlance<'_> {
    let cookie = request.headers.iter().find(|(name, _)| name == "cookie");
    let cookie = cookie.map_or("", |(_, value)| value);
    FirstGlance { url: &request.url, method: request.method, cookie, now: request.now() }
}

#[test]
fn the_first_enabled_rule_that_matches_bypasses() {
    let check = |rules: &[(bool, &str)], want: Bypass| {
        let found = decide(&room(rules), CRAWLERS_STAY, &lists(), &visitor());
        assert_eq!(found, want, "{rules:?}");
    };
    check(&[], Bypass::Stays);
    check(&[(true, "not ssl")], Bypass::Stays);
    check(&[(false, "ssl")], Bypass::Stays);
    check(&[(true, "ssl")], Bypass::Skips);
    check(&[(true, "not ssl"), (true, "ssl"), (true, "true")], Bypass::Skips);
    check(&[(false, "ssl"), (true, "not ssl")], Bypass::Stays);
    check(&[(false, "ssl"), (true, "not ssl"), (true, "true")], Bypass::Skips);
}

#[test]
fn a_first_glance_is_enough_where_the_rest_makes_no_difference() {
    let check = |rules: &[(bool, &str)], want: Bypass| {
        let request = visitor();
        let found = decide(&room(rules), CRAWLERS_STAY, &lists(), &at_a_glance(&request));
        assert_eq!(found, want, "{rules:?}");
        let complete = decide(&room(rules), CRAWLERS_STAY, &lists(), &request);
        assert!(found == complete || found == Bypass::Unknown, "{rules:?} is {complete:?}");
    };
    check(&[], Bypass::Stays);
    check(&[(true, r#"starts_with(http.request.uri.path, "/Sale")"#)], Bypass::Skips);
    check(&[(true, r#"starts_with(http.request.uri.path, "/sale")"#)], Bypass::Stays);
    check(&[(true, r#"http.request.cookies["theme"][0] eq "dark""#)], Bypass::Skips);
    check(&[(true, r#"http.cookie contains "theme = dark""#)], Bypass::Skips);
    let at_hand = r#"ssl and http.request.method eq "GET" and http.host eq "shop.example.net"
        and http.request.uri.path.extension eq "gz" and http.request.uri.args["x"][0] ne "b"
        and http.request.timestamp.sec gt 0 and cf.edge.server_port eq 8443"#;
    check(&[(true, at_hand)], Bypass::Skips);
    check(&[(true, "ip.src in {203.0.113.0/24}")], Bypass::Unknown);
    check(&[(true, "not ip.src in {203.0.113.0/24}")], Bypass::Unknown);
    check(&[(true, r#"ip.src.country eq "FR""#)], Bypass::Unknown);
    check(&[(true, "cf.client.bot")], Bypass::Unknown);
    check(&[(true, r#"http.user_agent eq "x""#)], Bypass::Unknown);
    check(&[(true, r#"any(http.request.headers["x"][*] eq "x")"#)], Bypass::Unknown);
    check(&[(false, r#"ip.src.country eq "FR""#)], Bypass::Stays);
    // What a glance tells may settle the matter before anything else is asked for.
    check(&[(true, r#"not ssl and ip.src.country eq "FR""#)], Bypass::Stays);
    check(&[(true, r#"ssl or ip.src.country eq "FR""#)], Bypass::Skips);
    check(&[(true, "ssl"), (true, r#"ip.src.country eq "FR""#)], Bypass::Skips);
    check(&[(true, r#"ip.src.country eq "FR""#), (true, "ssl")], Bypass::Unknown);
}

#[test]
fn only_crawlers_of_search_engines_that_the_platform_verified_skip_rooms() {
    let check = |zone: ZoneSettings, category: Option<&'static str>, agent: &str, want: Bypass| {
        let mut request = visitor();
        request.properties.extend(category.map(|category| ("verifiedBotCategory", category)));
        request.headers.push(("user-agent".to_owned(), agent.to_owned()));
        let room = room(&[(true, "not ssl")]);
        assert_eq!(decide(&room, zone, &lists(), &request), want, "{category:?}");
    };
    let (crawler, browser) = ("Googlebot/2.1", "Mozilla/5.0");
    check(CRAWLERS_SKIP, Some("Search Engine Crawler"), browser, Bypass::Skips);
    check(CRAWLERS_STAY, Some("Search Engine Crawler"), crawler, Bypass::Stays);
    check(CRAWLERS_SKIP, Some("AI Crawler"), crawler, Bypass::Stays);
    check(CRAWLERS_SKIP, Some(""), crawler, Bypass::Stays);
    check(CRAWLERS_SKIP, None, crawler, Bypass::Stays);
    // A glance does not tell a crawler, but it may find that a rule matches anyway.
    let request = visitor();
    let glance = at_a_glance(&request);
    let at_a_glance = |room: &Room| decide(room, CRAWLERS_SKIP, &Lists::new(), &glance);
    assert_eq!(at_a_glance(&room(&[])), Bypass::Unknown);
    assert_eq!(at_a_glance(&room(&[(true, "ssl")])), Bypass::Skips);
}

#[test]
fn the_documented_example_lets_the_link_of_a_ticket_host_through() {
    let text = r#"ends_with(http.request.uri.path, "/userverified")"#;
    let check = |url: &str, want: bool| {
        let request = Request { url: url.to_owned(), ..visitor() };
        assert_eq!(evaluate(&parse(text).expect(text), &request).0, want, "{url}");
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
        assert_eq!(evaluate(&parse(text).expect(text), &request).0, want, "{text} {path}");
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
fn a_list_that_is_gone_has_no_items() {
    let expression = parse("ip.src in $office").expect("an expression");
    let visitor = visitor();
    let fields = RequestFields::new(&visitor);
    assert_eq!(first_match([&expression], &fields, &lists()).end, End::Match(0));
    assert_eq!(first_match([&expression], &fields, &Lists::new()).end, End::NoMatch);
}
