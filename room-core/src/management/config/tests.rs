//! Tests of the room configuration: each field's default, both sides of each limit, each rule.

use serde_json::{Map, Value, json};

use super::{
    ErrorCode, Field, FieldError, Shape, branding, parse_rooms, room_document, room_table,
};
use crate::room::Room;
use crate::room::invitation::Invitations;
use crate::room::route::Route;
use crate::room::settings::Settings;

const REQUIRED: ErrorCode = ErrorCode::Required;
const TYPE: ErrorCode = ErrorCode::WrongType;
const RANGE: ErrorCode = ErrorCode::OutOfRange;
const FORM: ErrorCode = ErrorCode::Malformed;
const UNKNOWN: ErrorCode = ErrorCode::UnknownField;
const DUPLICATE: ErrorCode = ErrorCode::Duplicate;
const CONTRADICTION: ErrorCode = ErrorCode::Contradiction;

/// Parses one minimal valid room for each patch, with the fields of the patch set.
pub(super) fn parse(patches: &[Value]) -> Result<Vec<Room>, Vec<FieldError>> {
    let patched = |(index, patch): (usize, &Value)| {
        let mut room = json!({
            "id": format!("{index:032x}"),
            "zone_id": "0123456789abcdef0123456789abcdef",
            "name": format!("room-{index}"),
            "host": format!("shop-{index}.example.net"),
            "total_active_users": 900,
            "new_users_per_minute": 300,
        });
        for (name, value) in patch.as_object().expect("a patch is an object") {
            room[name] = value.clone();
        }
        room
    };
    parse_rooms(&patches.iter().enumerate().map(patched).collect::<Value>().to_string())
}

fn parse_one(patch: Value) -> Room {
    parse(&[patch]).expect("a valid room").remove(0)
}

/// Parses like `parse` and compares pointer and code of every error.
pub(super) fn check_all(patches: &[Value], want: &[(&str, ErrorCode)]) {
    let errors = parse(patches).err().unwrap_or_default();
    let seen = errors.iter().map(|error| (&*error.pointer, error.code)).collect::<Vec<_>>();
    assert_eq!(seen, want, "{patches:?}");
}

/// Checks that the field `name` of one room has this error, or none, with each of these values.
pub(super) fn check(name: &str, values: &[Value], want: Option<ErrorCode>) {
    let pointer = format!("/0/{name}");
    for value in values {
        check_all(&[json!({ name: value })], &want.map_or(vec![], |code| vec![(&*pointer, code)]));
    }
}

/// Valid values of all fields but the required ones, none of them the default.
pub(super) fn other_values() -> Map<String, Value> {
    let fields = room_table::described().into_iter().chain(branding::described());
    let fields = fields.filter(|field| !field.mark.required);
    fields.map(|field| (field.mark.name.to_owned(), other_value(&field))).collect()
}

fn other_value(field: &Field) -> Value {
    match (field.mark.name, &field.shape) {
        ("additional_routes", _) => {
            json!([{ "host": "b.example", "path": "/" }, { "host": "c.example", "path": "/x" }])
        }
        ("cookie_attributes", _) => json!({ "samesite": "none", "secure": "always" }),
        ("cookie_suffix", _) => json!("_buy_1"),
        ("custom_page_html", _) => json!("<p>{{waitTime}}"),
        ("enabled_origin_commands", _) => json!(["revoke"]),
        ("invitation_groups", _) => json!([{ "name": "members", "enters": "in_turn" }]),
        ("page_color", _) => json!("#0f766e"),
        ("page_help_url", _) => json!("https://help"),
        ("page_logo", _) => json!("data:image/png;base64,QQ=="),
        ("path", _) => json!("/Buy"),
        (_, Shape::Flag) => json!(true),
        (_, Shape::Number(_, most)) => json!(most),
        (_, Shape::Numbers(all)) => json!(all.last()),
        (_, Shape::Words(all)) => json!(all.last()),
        (_, Shape::Text(_)) => json!("a text"),
        (_, Shape::Moment) => json!("2026-11-20T10:00:00.123Z"),
        (name, shape) => panic!("a value of {name}, {shape:?}"),
    }
}

#[test]
fn a_minimal_room_has_the_defaults() {
    let host = "shop-0.example.net".parse().unwrap();
    let want = Room {
        id: "00000000000000000000000000000000".parse().unwrap(),
        zone_id: "0123456789abcdef0123456789abcdef".parse().unwrap(),
        name: "room-0".to_owned(),
        routes: vec![Route { host, path: "/".parse().unwrap() }],
        settings: Settings::with_limits(900, 300),
        ..room_table::blank()
    };
    assert_eq!(parse_one(json!({})), want);
}

/// With one field set, the document of the room differs from that of a minimal room in this field,
/// and in what the field needs.
#[test]
fn every_field_reaches_its_own_place() {
    let plain = room_document(&parse_one(json!({})));
    for (name, value) in other_values() {
        let mut patch = match name.as_str() {
            "additional_routes" => json!({ "cookie_suffix": "a" }),
            "created_on" => json!({ "modified_on": "2026-11-21T10:00:00.123Z" }),
            "invitation_only" => json!({ "invitation_groups": [{ "name": "members" }] }),
            "near_head_refresh_interval_seconds" => json!({ "refresh_interval_seconds": 300 }),
            "when_silent" => json!({ "keep_flowing_per_minute": 1 }),
            _ => json!({}),
        };
        patch[&name] = value;
        let patch = patch.as_object().expect("an object");
        let document = room_document(&parse_one(json!(patch)));
        let changed = document.iter().filter(|(name, value)| plain.get(*name) != Some(value));
        let changed = changed.map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(changed, patch.keys().collect::<Vec<_>>(), "{name}");
        assert_eq!(document.get(&name), patch.get(&name));
    }
}

#[test]
fn what_follows_from_fields_is_settled() {
    let of = |patch: Value| parse_one(patch).settings;
    assert!(!of(json!({})).challenge_required && !of(json!({})).sessions_end_early);
    assert!(of(json!({ "turnstile_action": "infinite_queue" })).challenge_required);
    assert!(of(json!({ "session_endpoint": true })).sessions_end_early);
    assert!(of(json!({ "enabled_origin_commands": ["revoke"] })).sessions_end_early);
    let groups = json!([{ "name": "members" }, { "name": "b_2", "enters": "in_turn" }]);
    let room = parse_one(json!({ "invitation_groups": groups, "invitation_only": true }));
    assert_eq!(room.settings.invitations, Invitations::of(&room.invitation_groups, true));
    let room = parse_one(json!({
        "path": "/Buy", "cookie_suffix": "buy_1",
        "additional_routes": [{ "host": "B.example.net" }, { "host": "c.net", "path": "/x" }],
    }));
    let routes = room.routes.iter().map(|route| (route.host.as_str(), route.path.as_str()));
    let want = [("shop-0.example.net", "/Buy"), ("b.example.net", "/"), ("c.net", "/x")];
    assert_eq!(routes.collect::<Vec<_>>(), want);
    assert_eq!(room.cookie_name, "__cfwaitingroom_buy_1");
}

#[test]
fn values_keep_to_their_limits() {
    let text = |bytes: usize| json!("a".repeat(bytes));
    check("session_duration", &[json!(1), json!(30), json!(null)], None);
    check("session_duration", &[json!(0), json!(31), json!(-1), json!(1.5)], Some(RANGE));
    check("session_duration", &[json!("5"), json!(true), json!([])], Some(TYPE));
    check("total_active_users", &[json!(300), json!(2_147_483_647)], None);
    check("total_active_users", &[json!(0), json!(2_147_483_648_u32), json!(1e300)], Some(RANGE));
    check("total_active_users", &[json!(null)], Some(REQUIRED));
    check("new_users_per_minute", &[json!(1), json!(900)], None);
    check("new_users_per_minute", &[json!(0), json!(u64::MAX)], Some(RANGE));
    check("refresh_interval_seconds", &[json!(5), json!(300)], None);
    check("refresh_interval_seconds", &[json!(4), json!(301)], Some(RANGE));
    check("near_head_refresh_interval_seconds", &[json!(3), json!(20)], None);
    check("near_head_refresh_interval_seconds", &[json!(2), json!(61)], Some(RANGE));
    check("keep_flowing_per_minute", &[json!(0), json!(100_000)], None);
    check("keep_flowing_per_minute", &[json!(100_001)], Some(RANGE));
    check("unconfirmed_seconds", &[json!(null), json!(0), json!(1_800)], None);
    check("unconfirmed_seconds", &[json!(1_801)], Some(RANGE));
    check("when_silent", &[json!("hold"), json!(null)], None);
    check("when_silent", &[json!("open")], Some(RANGE));
    let methods = ["fifo", "FIFO", "random", "passthrough", "Reject"];
    check("queueing_method", &methods.map(Value::from), None);
    check("queueing_method", &[json!("lifo")], Some(RANGE));
    check("queueing_method", &[json!(7)], Some(TYPE));
    check("maintenance", &[json!("off"), json!("drain"), json!("hold"), json!(null)], None);
    check("maintenance", &[json!("on")], Some(RANGE));
    check("show_position", &[json!(true), json!(false), json!(null)], None);
    check("queueing_status_code", &[json!(200), json!(202), json!(429)], None);
    check("queueing_status_code", &[json!(0), json!(503), json!(-200)], Some(RANGE));
    check("queueing_status_code", &[json!("200")], Some(TYPE));
    check("case_sensitive_path", &[json!(false), json!(true)], None);
    check("case_sensitive_path", &[json!("true")], Some(TYPE));
    check("new_places_per_network", &[json!(0), json!(100_000)], None);
    check("new_places_per_network", &[json!(-1), json!(100_001)], Some(RANGE));
    check("ticket_sharing", &[json!("allow"), json!("report"), json!("new_visitor")], None);
    check("ticket_sharing", &[json!("passes")], Some(RANGE));
    check("turn_notice", &[json!("off"), json!("email"), json!("phone"), json!(null)], None);
    check("turn_notice", &[json!("sms"), json!("on")], Some(RANGE));
    check("turn_notice", &[json!(true)], Some(TYPE));
    check("transparency_log", &[json!("off"), json!("owner"), json!("public")], None);
    check("transparency_log", &[json!("on"), json!("all")], Some(RANGE));
    check("json_response_enabled", &[json!(false), json!(true)], None);
    check("json_response_enabled", &[json!("true")], Some(TYPE));
    let languages = ["en-US", "de-de", "lv-LV", "sr-BA"].map(Value::from);
    check("default_template_language", &languages, None);
    check("default_template_language", &[json!("de"), json!("en-GB")], Some(FORM));
    check("default_template_language", &[json!(1)], Some(TYPE));
    let modes = ["off", "invisible", "visible_non_interactive", "Visible_Managed"];
    check("turnstile_mode", &modes.map(Value::from), None);
    check("turnstile_mode", &[json!("on")], Some(RANGE));
    check("turnstile_action", &["log", "Infinite_Queue"].map(Value::from), None);
    check("turnstile_action", &[json!("block")], Some(RANGE));
    check("turnstile_when_silent", &["accept", "refuse"].map(Value::from), None);
    check("turnstile_when_silent", &[json!("hold")], Some(RANGE));
    check("created_on", &[json!("2026-12-01T18:00:00.000Z"), json!(null)], None);
    check("created_on", &[json!("yesterday")], Some(FORM));
    check("queue_all", &[json!(true), json!(false)], None);
    check("queue_all", &[json!("true"), json!(1)], Some(TYPE));
    check("description", &[json!(""), text(1_024)], None);
    check("description", &[text(1_025)], Some(RANGE));
    check("custom_page_html", &[json!(""), text(1_048_576)], None);
    check("custom_page_html", &[text(1_048_577)], Some(RANGE));
    check("custom_page_html", &[json!("{{#queueAll}}")], Some(ErrorCode::Template));
}

/// Clients that cannot leave a field out send it empty.
#[test]
fn an_empty_choice_is_the_default() {
    let fields = room_table::described().into_iter();
    let choices = fields.filter(|field| matches!(field.shape, Shape::Words(_)));
    let names = choices.map(|field| field.mark.name).collect::<Vec<_>>();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        let empty = parse_one(json!({ name: "" }));
        assert_eq!(empty, parse_one(json!({})), "{name}");
    }
    let attributes = json!({ "samesite": "", "secure": "" });
    assert_eq!(parse_one(json!({ "cookie_attributes": attributes })), parse_one(json!({})));
}

#[test]
fn what_a_page_shows_of_its_site_has_its_form() {
    for name in ["page_name", "page_text", "page_message"] {
        check(name, &[json!(""), json!(null), json!("Müller & <b>Söhne</b>")], None);
        check(name, &[json!("a\nb"), json!("\u{7}")], Some(FORM));
        check(name, &[json!(7)], Some(TYPE));
        check(name, &[json!("a".repeat(4_001))], Some(RANGE));
    }
    check("page_name", &[json!("a".repeat(101))], Some(RANGE));
    check("page_color", &[json!("#0f766e"), json!("#ABCDEF"), json!("")], None);
    check(
        "page_color",
        &[json!("red"), json!("#fff"), json!("#0f766g"), json!("0f766e0")],
        Some(FORM),
    );
    check("page_help_url", &[json!("https://help.example/a?b#c")], None);
    let links = ["http://a", "javascript:alert(1)", "https://", "https:///a", "https://a b", "/a"];
    check("page_help_url", &links.map(Value::from), Some(FORM));
    check("page_logo", &[json!("data:image/svg+xml;base64,PHN2Zy8+")], None);
    let pictures = [
        "https://a/b.png",
        "data:text/html;base64,QQ==",
        "data:image/png;base64,",
        "data:image/png;base64,\"><i>",
        "data:image/png,a",
    ];
    check("page_logo", &pictures.map(Value::from), Some(FORM));
    check(
        "page_logo",
        &[json!(format!("data:image/png;base64,{}", "A".repeat(4_096)))],
        Some(RANGE),
    );
}

#[test]
fn names_and_suffixes_keep_to_their_characters() {
    check("id", &[json!("0123456789abcdef0123456789abcdef")], None);
    check("id", &[json!("demo"), json!("")], Some(FORM));
    check("zone_id", &[json!(null)], Some(REQUIRED));
    check("name", &[json!("a"), json!("Check_out-2"), json!("a".repeat(1_024))], None);
    check("name", &[json!(""), json!("a b"), json!("a.b"), json!("ä")], Some(FORM));
    check("name", &[json!("a".repeat(1_025))], Some(RANGE));
    check("cookie_suffix", &[json!(""), json!("a_1"), json!("a".repeat(64))], None);
    check("cookie_suffix", &[json!("a-b"), json!("a;b"), json!("a=b")], Some(FORM));
    check("cookie_suffix", &[json!("a".repeat(65))], Some(RANGE));
    check("host", &[json!("localhost"), json!("SHOP.example.net")], None);
    check("host", &[json!("https://shop"), json!("*.shop"), json!("shop:80")], Some(FORM));
    check("path", &[json!("/"), json!("/a/b"), json!(null), json!("")], None);
    check("path", &[json!("a"), json!("/a?b"), json!("/a/*")], Some(FORM));
    check("path", &[json!(["/a"])], Some(TYPE));
}

#[test]
fn fields_that_do_not_go_together_are_refused() {
    let check = |patch: Value, want: &[(&str, ErrorCode)]| check_all(&[patch], want);
    check(json!({ "total_active_users": 2, "new_users_per_minute": 2 }), &[]);
    check(
        json!({ "total_active_users": 2, "new_users_per_minute": 3 }),
        &[("/0/new_users_per_minute", CONTRADICTION)],
    );
    let near_name = "near_head_refresh_interval_seconds";
    let intervals =
        |base: u32, near: u32| json!({ "refresh_interval_seconds": base, near_name: near });
    check(intervals(10, 10), &[]);
    check(intervals(10, 11), &[(&format!("/0/{near_name}"), CONTRADICTION)]);
    let flowing =
        |bound: u32| json!({ "when_silent": "keep_flowing", "keep_flowing_per_minute": bound });
    check(flowing(1), &[]);
    check(flowing(0), &[("/0/keep_flowing_per_minute", CONTRADICTION)]);
    let challenged = |mode: &str| json!({ "ticket_sharing": "challenge", "turnstile_mode": mode });
    check(challenged("invisible"), &[]);
    check(challenged("off"), &[("/0/ticket_sharing", CONTRADICTION)]);
    let routes =
        |suffix: &str| json!({ "additional_routes": [{ "host": "b" }], "cookie_suffix": suffix });
    check(routes("b"), &[]);
    check(routes(""), &[("/0/cookie_suffix", CONTRADICTION)]);
    check(json!({ "additional_routes": [] }), &[]);
    let attributes = |same_site: &str, secure: &str| {
        let attributes = json!({ "samesite": same_site, "secure": secure });
        json!({ "cookie_attributes": attributes })
    };
    for same_site in ["auto", "lax", "none", "strict"] {
        for secure in ["auto", "always", "never"] {
            let contradicts = (same_site, secure) == ("none", "never");
            let want = [("/0/cookie_attributes/secure", CONTRADICTION)];
            check(attributes(same_site, secure), if contradicts { &want } else { &[] });
        }
    }
}

#[test]
fn what_this_version_cannot_honour_is_refused_by_name() {
    check("enabled_origin_commands", &[json!([]), json!(["revoke"]), json!(["REVOKE"])], None);
    check("enabled_origin_commands", &[json!("revoke")], Some(TYPE));
    check("enabled_origin_commands", &[json!(["revoke", "revoke"])], Some(RANGE));
    for (wrong, code) in [(json!("admit"), RANGE), (json!(1), TYPE)] {
        let pointer = "/0/enabled_origin_commands/0";
        check_all(&[json!({ "enabled_origin_commands": [wrong] })], &[(pointer, code)]);
    }
}

#[test]
fn only_one_room_has_an_id_a_name_and_a_route() {
    let id = "0123456789abcdef0123456789abcdef";
    check_all(&[json!({ "id": id }), json!({ "id": id })], &[("/1/id", DUPLICATE)]);
    let named = |name: &str| json!({ "name": name });
    check_all(&[named("Demo"), named("demo")], &[("/1/name", DUPLICATE)]);
    let other_zone = json!({ "name": "demo", "zone_id": id.replace('0', "1") });
    check_all(&[named("demo"), other_zone], &[]);
    let at = |host: &str, path: &str| json!({ "host": host, "path": path });
    check_all(&[at("a", "/x"), at("A", "/x/")], &[("/1/host", DUPLICATE)]);
    check_all(&[at("a", "/x"), at("a", "/%78")], &[("/1/host", DUPLICATE)]);
    check_all(&[at("a", "/x"), at("a", "/X"), at("a", "/x/y"), at("b", "/x")], &[]);
    let routes = json!([at("b", "/"), at("b", "/")]);
    let patch = json!({ "additional_routes": routes, "cookie_suffix": "b" });
    check_all(&[patch], &[("/0/additional_routes/1/host", DUPLICATE)]);
    // A room with another error still has its routes.
    let broken = json!({ "host": "a", "session_duration": 0 });
    check_all(&[broken, at("a", "/")], &[("/0/session_duration", RANGE), ("/1/host", DUPLICATE)]);
}

#[test]
fn events_and_rules_of_a_room_are_read_with_it() {
    let id = "0123456789abcdef0123456789abcdef";
    let event = |start: &str, end: &str| {
        let time = |time: &str| format!("2026-12-01T{time}:00Z");
        json!({
            "id": id.replace('0', &start[..1]),
            "name": format!("from-{}", start.replace(':', "-")),
            "event_start_time": time(start),
            "event_end_time": time(end),
        })
    };
    let rule = json!({ "id": id, "action": "bypass_waiting_room", "expression": "ssl" });
    let events = json!([event("09:00", "10:00"), event("10:00", "11:00")]);
    let room = parse_one(json!({ "events": events, "bypass_rules": [rule] }));
    assert_eq!((room.events.len(), room.bypass_rules.len()), (2, 1));
    let events = json!([event("09:00", "10:01"), event("10:00", "11:00")]);
    check_all(&[json!({ "events": events })], &[("/0/events/1/event_end_time", CONTRADICTION)]);
    check_all(&[json!({ "events": [7] })], &[("/0/events/0", TYPE)]);
    check_all(&[json!({ "bypass_rules": [rule, rule] })], &[("/0/bypass_rules/1/id", DUPLICATE)]);
}

#[test]
fn unknown_fields_are_errors_with_escaped_pointers() {
    check_all(&[json!({ "a/b~c": 1 })], &[("/0/a~1b~0c", UNKNOWN)]);
    let inner = json!({ "cookie_attributes": { "same_site": "lax" } });
    check_all(&[inner], &[("/0/cookie_attributes/same_site", UNKNOWN)]);
    let route =
        json!({ "additional_routes": [{ "host": "b", "paht": "/" }, 7], "cookie_suffix": "b" });
    check_all(
        &[route],
        &[("/0/additional_routes/0/paht", UNKNOWN), ("/0/additional_routes/1", TYPE)],
    );
}

#[test]
fn a_text_that_is_no_array_of_objects_has_one_error() {
    let check = |json: &str, want: Option<(&str, ErrorCode)>| {
        let errors = parse_rooms(json).err();
        let seen = errors.iter().flatten().map(|error| (&*error.pointer, error.code));
        assert_eq!(seen.collect::<Vec<_>>(), want.into_iter().collect::<Vec<_>>(), "{json:.40}");
    };
    check("[]", None);
    check("", Some(("", ErrorCode::NotJson)));
    check("[", Some(("", ErrorCode::NotJson)));
    check("{}", Some(("", TYPE)));
    check("null", Some(("", TYPE)));
    check("[null]", Some(("/0", TYPE)));
    check(&"[".repeat(1_000_000), Some(("", ErrorCode::NotJson)));
    check(&format!("[{}]", vec!["0"; 10_001].join(",")), Some(("", RANGE)));
    assert_eq!(
        parse_rooms(&format!("[{}]", vec!["0"; 10_000].join(","))).unwrap_err().len(),
        10_000
    );
}
