//! What visitors send and owners write, as a fuzzer makes it up: one function for each reader, with
//! the laws that hold for whatever it reads.

#![allow(clippy::missing_panics_doc, reason = "a broken law is a panic, which the fuzzer reports")]

use room_core::base::time::Timestamp;
use room_core::keys::key_ring::KeyRing;
use room_core::machines::wire;
use room_core::management::api::{Call, route};
use room_core::management::config::{TrialRequest, parse_rooms, read_trial};
use room_core::management::messages::{RegistryReply, RegistryRequest};
use room_core::management::registry::{Bounds, Configuration, Registry};
use room_core::management::token::Grant;
use room_core::page::{Page, Variables, Waiting};
use room_core::room::coverage::Coverage;
use room_core::room::zones::Zones;
use room_core::rules::parse_rule_expression;
use room_core::rules::{KnownLists, Lists, RequestFields, STEPS_MAX, first_match};
use room_core::ticket::cookie;
use serde_json::{Value, json};

/// When the made-up requests come.
const NOW: Timestamp = Timestamp(1_795_255_200_000);
const NAME: &str = "__cfwaitingroom";
const ROOM: &str = "0123456789abcdef0123456789abcdef";
/// A page may be longer than its template by what its variables say.
const PAGE_FACTOR: usize = 40;

/// A `Cookie` header: what is found stands in it, and is gone once it was taken out.
pub fn cookie(header: &str) {
    for value in cookie::find(header, NAME) {
        assert!(header.contains(value));
    }
    if let Some(rest) = cookie::without(header, NAME) {
        assert!(rest.len() <= header.len());
        assert_eq!(cookie::find(&rest, NAME).count(), 0);
    }
}

/// The value of a cookie: only the genuine ticket opens.
pub fn ticket(text: &str) {
    let golden: Value =
        serde_json::from_str(include_str!("../../tests/golden/ticket.json")).unwrap();
    let sealed = &golden["sealed"][0];
    let mut ring = KeyRing::parse(golden["ticket_keys"].as_str().unwrap()).unwrap();
    let now = Timestamp(sealed["now"].as_u64().unwrap());
    let room = sealed["room"].as_str().unwrap().parse().unwrap();
    let opens = ring.open(now, room, sealed["cookie_name"].as_str().unwrap(), text).is_some();
    let is_genuine = golden["sealed"].as_array().unwrap().iter().any(|one| one["text"] == text);
    assert!(!opens || is_genuine, "{text} opens");
}

/// A URL in the first line, an expression in the others: it prints what parses to the same, and
/// every request can be asked within the bound of steps.
pub fn rules(text: &str) {
    let (url, expression) = text.split_once('\n').unwrap_or(("https://a.example/", text));
    let Ok(parsed) = parse_rule_expression(expression, &KnownLists::default()) else { return };
    let printed = parsed.to_string();
    let again = parse_rule_expression(&printed, &KnownLists::default());
    assert!(again.is_err() && printed.len() > 4_096 || again.as_ref() == Ok(&parsed), "{printed}");
    let Some(request) = request(url) else { return };
    let outcome = first_match([&parsed], &RequestFields::new(&request), &Lists::default());
    assert!(outcome.steps <= STEPS_MAX);
}

/// A request for an absolute URL, with something in each part that rules look at.
fn request(url: &str) -> Option<TrialRequest> {
    let described = json!({
        "url": url,
        "headers": { "cookie": "a=1; b=2" },
        "address": "203.0.113.9",
        "body": "a=1&b=%20&a={}",
        "cf": { "country": "NZ" },
    });
    let (request, _) = read_trial(&described, NOW, &KnownLists::default()).ok()?;
    Some(request)
}

/// A template: a page is no longer than so many times its source.
pub fn template(source: &str) {
    let Ok(page) = Page::compile(source) else { return };
    let waiting = Waiting { estimate_s: Some(60), ..Waiting::default() };
    if let Ok(html) = page.render(&Variables::of(&waiting)) {
        assert!(html.len() <= source.len() * PAGE_FACTOR);
    }
}

/// A `rooms.json`: it is read or has errors, and what is read can cover a host.
pub fn config(text: &str) {
    match parse_rooms(text) {
        Ok(rooms) => {
            let _ = Coverage::new(rooms.into()).lookup("https://shop.example/buy");
        }
        Err(errors) => assert!(!errors.is_empty()),
    }
}

/// A call of the API, a line each for method, path and query, then the body: it is answered, and
/// what it stores reads back as the same.
pub fn api(text: &str) {
    let mut parts = text.splitn(4, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (method, path, query, body) = (part(), part(), part(), part().to_owned());
    let Ok((target, method)) = route(method, path) else { return };
    let rooms = || parse_rooms(&json!([room("/")]).to_string()).unwrap();
    let mut registry = registry(Vec::new(), rooms());
    let actor = "me@shop.example".to_owned();
    let base_url = "https://admin.example".to_owned();
    let (query, if_match, idempotency_key) = (query.to_owned(), String::new(), String::new());
    let grant = Grant::owner();
    let call =
        Call { target, method, query, body, base_url, actor, grant, if_match, idempotency_key };
    let turn = registry.perform(Timestamp::from_seconds(1_795_255_200), [7; 16], None, &call);
    let _: Value = serde_json::from_str(&turn.reply.body).unwrap();
    let rows = turn.rows.into_iter().filter_map(|row| Some((row.key, row.value?)));
    let again = self::registry(rows.collect(), rooms());
    assert_eq!(again.configuration(), registry.configuration());
}

/// A message between isolates and objects: what is read is written to the same.
pub fn wire(text: &str) {
    fn check<T: serde::de::DeserializeOwned + serde::Serialize>(text: &str) {
        let Some(message) = wire::decode::<T>(text) else { return };
        let written = wire::encode(&message);
        let again = wire::decode::<T>(&written).unwrap();
        assert_eq!(wire::encode(&again), written);
    }
    check::<wire::CounterRequest>(text);
    check::<wire::CounterReply>(text);
    check::<wire::Report>(text);
    check::<wire::ReportReply>(text);
    check::<wire::GlobalRequest>(text);
    check::<wire::GlobalReply>(text);
    check::<RegistryRequest>(text);
    check::<RegistryReply>(text);
    let _ = Configuration::parse(text);
}

/// A path: a query or a fragment behind it never changes which room covers it.
pub fn paths(path: &str) {
    let rooms = json!([room("/buy"), room("/buy/now"), room("/bag/c")]);
    let coverage = Coverage::new(parse_rooms(&rooms.to_string()).unwrap().into());
    let of = |url: &str| coverage.lookup(url).map(|room| room.map(|room| room.id)).map_err(|_| ());
    let plain = path.split(['?', '#']).next().unwrap_or_default();
    let url = format!("https://shop.example/{plain}");
    assert_eq!(of(&url), of(&format!("{url}?a=/buy/../")));
    if of(&url) == Ok(None) && !plain.contains(['%', '\\', ';']) {
        let first = plain.trim_start_matches('/').to_lowercase();
        assert!(first != "buy" && !first.starts_with("buy/"), "{plain}");
    }
}

fn room(path: &str) -> Value {
    json!({
        "id": format!("{:032x}", path.len()),
        "zone_id": ROOM,
        "name": format!("room-{}", path.len()),
        "host": "shop.example",
        "path": path,
        "total_active_users": 900,
        "new_users_per_minute": 300,
    })
}

fn registry(rows: Vec<(String, String)>, file: Vec<room_core::room::Room>) -> Registry {
    Registry::new(rows, file, Zones::default(), Bounds::default()).unwrap()
}

/// Makes a fuzz target of a function above; what is no UTF-8 never arrives.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            if let Ok(text) = std::str::from_utf8(data) {
                fuzz::$name(text);
            }
        });
    };
}
