//! Tests of the variables: names, values, and what a page says of several true things.

use super::VARIABLES;
use super::Variables;
use crate::base::id::VisitorId;
use crate::base::time::Timestamp;
use crate::page::contact::ContactForm;
use crate::page::invitation::Invitation;
use crate::page::place::{CodeFailure, PlaceMove};
use crate::page::template::Value;
use crate::page::waiting::Waiting;
use crate::room::branding::Branding;
use crate::room::event::{Phase, Stage};
use crate::room::settings::QueueingMethod;
use crate::room::turn_notice::TurnNotice;
use crate::ticket::place_code::PlaceCode;
use crate::ticket::reference::Reference;

#[test]
fn names_are_sorted_so_the_search_finds_each() {
    assert!(VARIABLES.is_sorted_by(|(first, _), (second, _)| first < second));
    for (name, _) in VARIABLES {
        assert!(Variables::find(name).is_some(), "{name}");
    }
    assert_eq!(Variables::find("waittime"), None);
}

#[test]
fn the_wait_is_rounded_to_the_nearest_minute_and_split() {
    let check = |estimate_s: Option<u32>, minutes: u64, formatted: &str| {
        let variables = Variables::of(&Waiting { estimate_s, ..Waiting::default() });
        let value = |name: &str| variables.value(name).unwrap();
        assert_eq!(value("waitTimeKnown"), Value::Bool(estimate_s.is_some()));
        assert_eq!(value("waitTime"), Value::Integer(minutes));
        assert_eq!(value("waitTimeHours"), Value::Integer(minutes / 60));
        assert_eq!(value("waitTimeHourMinutes"), Value::Integer(minutes % 60));
        assert_eq!(value("waitTimeFormatted"), Value::Text(formatted));
    };
    check(None, 0, "unavailable");
    check(Some(0), 1, "1 minute");
    check(Some(60), 1, "1 minute");
    check(Some(61), 1, "1 minute");
    check(Some(89), 1, "1 minute");
    check(Some(90), 2, "2 minutes");
    check(Some(3_629), 60, "1 hour");
    check(Some(3_630), 61, "1 hour 1 minute");
    check(Some(u32::MAX), 71_582_788, "49710 days");
}

#[test]
fn a_lottery_asks_for_no_invitation_unless_one_is_needed() {
    let check = |method, needed: bool, want: bool| {
        let invitation = Invitation { asked: true, needed, ..Invitation::default() };
        let variables = Variables::of(&Waiting { method, invitation, ..Waiting::default() });
        assert_eq!(variables.value("invitationAsked"), Some(Value::Bool(want)), "{method:?}");
    };
    check(QueueingMethod::Fifo, false, true);
    check(QueueingMethod::Random, false, false);
    check(QueueingMethod::Random, true, true);
}

#[test]
fn nobody_gets_an_estimate_while_nobody_enters() {
    let check = |waiting: Waiting| {
        let variables = Variables::of(&Waiting { estimate_s: Some(60), ..waiting });
        assert_eq!(variables.value("waitTimeKnown"), Some(Value::Bool(false)));
        assert_eq!(variables.value("waitTime"), Some(Value::Integer(0)));
        assert_eq!(variables.value("waitTimeFormatted"), Some(Value::Text("unavailable")));
    };
    check(Waiting { queue_all: true, ..Waiting::default() });
    check(Waiting { queue_is_full: true, ..Waiting::default() });
}

#[test]
fn an_event_counts_down_to_its_start_and_its_end() {
    const NONE: (u64, &str) = (0, "unavailable");
    let check = |phase: Phase, left_ms: (u64, u64), start: (u64, &str), end: (u64, &str)| {
        let (starts_in_ms, ends_in_ms) = left_ms;
        let starts_at = Timestamp(1_795_255_200_000);
        let event = Some(Stage { phase, starts_at, starts_in_ms, ends_in_ms, shuffles: true });
        let waiting = Waiting { estimate_s: Some(60), event, ..Waiting::default() };
        let variables = Variables::of(&waiting);
        let value = |name: &str| variables.value(name).unwrap();
        let is_prequeueing = phase == Phase::Prequeueing;
        assert_eq!(value("isEventActive"), Value::Bool(true));
        assert_eq!(value("shuffleAtEventStart"), Value::Bool(true));
        assert_eq!(value("isEventPrequeueing"), Value::Bool(is_prequeueing));
        assert_eq!(value("waitTimeKnown"), Value::Bool(!is_prequeueing));
        assert_eq!(value("queueAll"), Value::Bool(false));
        assert_eq!(value("timeUntilEventStart"), Value::Integer(start.0));
        assert_eq!(value("timeUntilEventStartFormatted"), Value::Text(start.1));
        assert_eq!(value("timeUntilEventStartHours"), Value::Integer(start.0 / 60));
        assert_eq!(value("timeUntilEventStartHourMinutes"), Value::Integer(start.0 % 60));
        assert_eq!(value("timeUntilEventEnd"), Value::Integer(end.0));
        assert_eq!(value("timeUntilEventEndFormatted"), Value::Text(end.1));
        let shown = |text| Value::Text(if is_prequeueing { text } else { "" });
        assert_eq!(value("eventStart"), shown("2026-11-21T10:00:00.000Z"));
        assert_eq!(value("eventStartDate"), shown("2026-11-21"));
        assert_eq!(value("eventStartTime"), shown("10:00"));
    };
    let before = Phase::Prequeueing;
    check(before, (1, 3_600_001), (1, "1 minute"), (61, "1 hour 1 minute"));
    check(before, (60_000, 3_660_000), (1, "1 minute"), (61, "1 hour 1 minute"));
    check(before, (60_001, 7_200_000), (2, "2 minutes"), (120, "2 hours"));
    check(before, (7_500_000, 7_560_000), (125, "2 hours 5 minutes"), (126, "2 hours 6 minutes"));
    check(Phase::Running, (0, 60_000), NONE, (1, "1 minute"));
    check(Phase::Running, (0, 1), NONE, (1, "1 minute"));
}

#[test]
fn a_page_shows_the_first_of_what_is_true() {
    let check = |waiting: Waiting, want: &str| {
        let variables = Variables::of(&waiting);
        let is_true = |name: &&str| variables.value(name) == Some(Value::Bool(true));
        let names = VARIABLES.into_iter().map(|(name, _)| name);
        let shown: Vec<_> =
            names.filter(|name| name.starts_with("shows")).filter(is_true).collect();
        assert_eq!(shown, [want], "{waiting:?}");
    };
    let known = Waiting { estimate_s: Some(60), ..Waiting::default() };
    check(Waiting::default(), "showsUnknown");
    check(known, "showsEstimate");
    let event = Some(Stage {
        phase: Phase::Prequeueing,
        starts_at: Timestamp(60_000),
        starts_in_ms: 60_000,
        ends_in_ms: 120_000,
        shuffles: false,
    });
    check(Waiting { event, ..known }, "showsPrequeue");
    check(Waiting { event, queue_all: true, ..known }, "showsPaused");
    let full = Waiting { event, queue_all: true, queue_is_full: true, ..known };
    check(full, "showsFull");
    let method = QueueingMethod::Reject;
    check(Waiting { method, ..full }, "showsFull");
    check(Waiting { method, ..Waiting::default() }, "showsRejected");
    check(Waiting { is_held: true, method, ..full }, "showsHeld");
}

#[test]
fn less_than_a_minute_is_said_up_to_a_minute() {
    let check = |waiting: Waiting, want: bool| {
        let variables = Variables::of(&waiting);
        assert_eq!(variables.value("waitTimeBelowMinute"), Some(Value::Bool(want)), "{waiting:?}");
    };
    let soon = Waiting { estimate_s: Some(60), ..Waiting::default() };
    check(soon, true);
    check(Waiting { estimate_s: Some(61), ..soon }, false);
    check(Waiting { estimate_s: None, ..soon }, false);
    check(Waiting { method: QueueingMethod::Random, ..soon }, false);
}

#[test]
fn a_place_is_kept_where_there_is_one() {
    let check = |waiting: Waiting, want: bool| {
        let variables = Variables::of(&waiting);
        assert_eq!(variables.value("placeIsKept"), Some(Value::Bool(want)), "{waiting:?}");
    };
    let event = |shuffles| {
        let (phase, starts_at) = (Phase::Prequeueing, Timestamp(60_000));
        Some(Stage { phase, starts_at, starts_in_ms: 60_000, ends_in_ms: 120_000, shuffles })
    };
    check(Waiting::default(), true);
    check(Waiting { queue_all: true, ..Waiting::default() }, true);
    check(Waiting { event: event(false), ..Waiting::default() }, true);
    check(Waiting { event: event(true), ..Waiting::default() }, false);
    check(Waiting { event: event(true), queue_all: true, ..Waiting::default() }, false);
    check(Waiting { queue_is_full: true, ..Waiting::default() }, false);
    check(Waiting { is_held: true, ..Waiting::default() }, false);
    check(Waiting { method: QueueingMethod::Reject, ..Waiting::default() }, false);
    check(Waiting { method: QueueingMethod::Random, ..Waiting::default() }, false);
}

/// The names and meanings are documented to owners: changing one breaks their pages.
const DOCUMENTED: [(&str, Value<'static>); 91] = [
    ("awaitsDraw", Value::Bool(false)),
    ("checkIn", Value::Bool(false)),
    ("contactAsked", Value::Bool(false)),
    ("contactFailed", Value::Bool(false)),
    ("contactGiven", Value::Text("")),
    ("contactIsFull", Value::Bool(false)),
    ("contactIsSent", Value::Bool(false)),
    ("contactTakesEmail", Value::Bool(false)),
    ("contactTakesPhone", Value::Bool(false)),
    ("contactType", Value::Text("text")),
    ("enteredLastMinute", Value::Integer(60)),
    ("enteredLastMinuteKnown", Value::Bool(true)),
    ("enteredLastMinuteLocalized", Value::Text("60")),
    ("eventStart", Value::Text("")),
    ("eventStartDate", Value::Text("")),
    ("eventStartTime", Value::Text("")),
    ("eventStream", Value::Bool(false)),
    ("formCanBeSent", Value::Bool(false)),
    ("inWaitingRoom", Value::Bool(true)),
    ("infiniteQueue", Value::Bool(false)),
    ("isEventActive", Value::Bool(false)),
    ("isEventPrequeueing", Value::Bool(false)),
    ("isFIFOQueue", Value::Bool(true)),
    ("isPassthroughQueue", Value::Bool(false)),
    ("isRandomQueue", Value::Bool(false)),
    ("isRejectQueue", Value::Bool(false)),
    ("language", Value::Text("en-US")),
    ("languageDirection", Value::Text("ltr")),
    ("lastUpdated", Value::Text("2026-11-21T10:00:00.123Z")),
    ("lastUpdatedTime", Value::Text("10:00:00")),
    ("nothingSubmitted", Value::Bool(true)),
    ("pageColor", Value::Text("#0f766e")),
    ("pageEventName", Value::Text("Spring sale")),
    ("pageHelpUrl", Value::Text("https://help.example/")),
    ("pageLogo", Value::Text("data:image/png;base64,QQ==")),
    ("pageMessage", Value::Text("A second day was added.")),
    ("pageName", Value::Text("shop.example")),
    ("pageStays", Value::Bool(false)),
    ("pageText", Value::Text("Welcome.")),
    ("peopleAhead", Value::Integer(1_234)),
    ("peopleAheadFormatted", Value::Text("1,234 people")),
    ("peopleAheadKnown", Value::Bool(true)),
    ("peopleAheadLocalized", Value::Text("1,234")),
    ("placeCode", Value::Text("1234-561A")),
    ("placeCodeFailed", Value::Bool(false)),
    ("placeIsKept", Value::Bool(true)),
    ("placeMoved", Value::Bool(false)),
    ("placeMoves", Value::Bool(true)),
    ("progressKnown", Value::Bool(true)),
    ("progressPercent", Value::Integer(42)),
    ("queueAll", Value::Bool(false)),
    ("queueIsFull", Value::Bool(false)),
    ("queueingMethod", Value::Text("fifo")),
    ("refreshIntervalLocalized", Value::Text("23 s")),
    ("refreshIntervalSeconds", Value::Integer(23)),
    ("returnAddress", Value::Text("")),
    ("showsChallenge", Value::Bool(false)),
    ("showsEstimate", Value::Bool(true)),
    ("showsFull", Value::Bool(false)),
    ("showsHeld", Value::Bool(false)),
    ("showsMoved", Value::Bool(false)),
    ("showsPaused", Value::Bool(false)),
    ("showsPrequeue", Value::Bool(false)),
    ("showsRejected", Value::Bool(false)),
    ("showsTurn", Value::Bool(false)),
    ("showsUnknown", Value::Bool(false)),
    ("shuffleAtEventStart", Value::Bool(false)),
    ("takesLonger", Value::Bool(false)),
    ("timeUntilEventEnd", Value::Integer(0)),
    ("timeUntilEventEndFormatted", Value::Text("unavailable")),
    ("timeUntilEventStart", Value::Integer(0)),
    ("timeUntilEventStartFormatted", Value::Text("unavailable")),
    ("timeUntilEventStartHourMinutes", Value::Integer(0)),
    ("timeUntilEventStartHours", Value::Integer(0)),
    ("timeUntilEventStartLocalized", Value::Text("")),
    ("turnstile", Value::Html("")),
    ("waitTime", Value::Integer(65)),
    ("waitTime25Percentile", Value::Integer(0)),
    ("waitTime50Percentile", Value::Integer(0)),
    ("waitTime75Percentile", Value::Integer(0)),
    ("waitTimeBelowMinute", Value::Bool(false)),
    ("waitTimeExceedsEvent", Value::Bool(false)),
    ("waitTimeFormatted", Value::Text("1 hour 5 minutes")),
    ("waitTimeHourMinutes", Value::Integer(5)),
    ("waitTimeHours", Value::Integer(1)),
    ("waitTimeKnown", Value::Bool(true)),
    ("waitTimeLocalized", Value::Text("1 hour 5 minutes")),
    ("waitTimeRangeFormatted", Value::Text("58 minutes to 1 hour 12 minutes")),
    ("waitTimeRangeHigh", Value::Integer(72)),
    ("waitTimeRangeKnown", Value::Bool(true)),
    ("waitTimeRangeLow", Value::Integer(58)),
];

#[test]
fn every_variable_has_its_documented_value() {
    let waiting = Waiting {
        estimate_s: Some(3_901),
        quartiles_s: Some((3_500, 4_321)),
        last_updated: Timestamp(1_795_255_200_123),
        refresh_interval_s: 23,
        submitted_nothing: true,
        people_ahead: Some(1_234),
        entered_last_minute: Some(60),
        progress_percent: Some(42),
        place: PlaceMove::Code(PlaceCode::from_bytes([0x08, 0x86, 0x42, 0x98, 0x2a]), 60),
        ..Waiting::default()
    };
    let branding = Branding {
        name: String::new(),
        event_name: "Spring sale".to_owned(),
        logo: "data:image/png;base64,QQ==".to_owned(),
        color: "#0f766e".to_owned(),
        text: "Welcome.".to_owned(),
        message: "A second day was added.".to_owned(),
        help_url: "https://help.example/".to_owned(),
    };
    let variables = Variables::of(&waiting).with_branding(&branding, "shop.example");
    let named = Branding { name: "Shop".to_owned(), ..branding };
    let named = variables.clone().with_branding(&named, "shop.example");
    assert_eq!(named.value("pageName"), Some(Value::Text("Shop")));
    assert_eq!(VARIABLES.map(|(name, read)| (name, read(&variables))), DOCUMENTED);
}

#[test]
fn a_page_asks_for_a_contact_where_there_is_a_place() {
    let check = |waiting: Waiting, form: ContactForm, asks: bool, given: &str| {
        let variables = Variables::of(&waiting).with_contact(&form);
        assert_eq!(variables.value("contactAsked"), Some(Value::Bool(asks)), "{form:?}");
        assert_eq!(variables.value("contactGiven"), Some(Value::Text(given)), "{form:?}");
    };
    let takes = |takes| ContactForm { takes, ..ContactForm::default() };
    let line = Waiting { place: PlaceMove::Possible, ..Waiting::default() };
    check(line, ContactForm::default(), false, "");
    check(line, takes(TurnNotice::Email), true, "");
    check(Waiting { queue_is_full: true, ..line }, takes(TurnNotice::Email), false, "");
    check(Waiting { is_held: true, ..line }, takes(TurnNotice::Email), false, "");
    check(Waiting::default(), takes(TurnNotice::Email), false, "");
    let given = ContactForm { given: "a@b.example".to_owned(), ..ContactForm::default() };
    check(line, given.clone(), false, "a@b.example");
    check(Waiting { is_held: true, ..line }, given, false, "");
    for (takes, kind) in [
        (TurnNotice::Email, "email"),
        (TurnNotice::Phone, "tel"),
        (TurnNotice::EmailOrPhone, "text"),
    ] {
        let form = ContactForm { takes, ..ContactForm::default() };
        let variables = Variables::of(&line).with_contact(&form);
        assert_eq!(variables.value("contactType"), Some(Value::Text(kind)));
    }
}

#[test]
fn a_page_says_why_a_code_did_not_work_and_how_long_one_lasts() {
    let code = PlaceCode::from_bytes([7; 5]);
    let check = |place: PlaceMove, want: [bool; 5], left_s: u64| {
        let variables = Variables::of(&Waiting { place, ..Waiting::default() });
        let value = |name: &str| variables.value(&format!("placeCode{name}"));
        let told = ["Failed", "Tried", "Wrong", "Used", "Over"].map(value);
        assert_eq!(told, want.map(|one| Some(Value::Bool(one))), "{place:?}");
        assert_eq!(value("Seconds"), Some(Value::Integer(left_s)));
    };
    check(PlaceMove::Failed(CodeFailure::Wrong), [true, true, true, false, false], 0);
    check(PlaceMove::Failed(CodeFailure::Used), [true, true, false, true, false], 0);
    check(PlaceMove::Failed(CodeFailure::Over), [true, true, false, false, true], 0);
    check(PlaceMove::Failed(CodeFailure::NotTried), [true, false, false, false, false], 0);
    check(PlaceMove::Code(code, 41), [false; 5], 41);
    let waiting = Waiting { place: PlaceMove::Code(code, 41), ..Waiting::default() };
    let told = Variables::of(&Waiting { is_first: true, ..waiting });
    assert_eq!(told.value("isFirstPage"), Some(Value::Bool(true)));
    assert_eq!(told.value("placeCodeTimeLocalized"), Some(Value::Text("41 s")));
    let has_picture = |one: Variables| {
        let drawn = one.with_code_picture("https://shop.example/");
        matches!(drawn.value("placeCodePicture"), Some(Value::Html(svg)) if !svg.is_empty())
    };
    assert!(has_picture(told));
    assert!(!has_picture(Variables::of(&Waiting::default())));
}

#[test]
fn a_page_tells_the_number_to_quote() {
    let reference = Some(Reference::of(VisitorId(7)));
    let variables = Variables::of(&Waiting { reference, ..Waiting::default() });
    assert_eq!(variables.value("reference"), Some(Value::Text("AVB2V-14BBV")));
    let without = Variables::of(&Waiting::default());
    assert_eq!(without.value("reference"), Some(Value::Text("")));
}

#[test]
fn a_page_tells_how_long_a_turn_can_be_confirmed() {
    let asked = Waiting {
        turn_left_s: Some(287),
        confirms_turn: true,
        queue_all: true,
        place: PlaceMove::None,
        ..Waiting::default()
    };
    let check = |waiting: Waiting, name: &str, want: Value<'_>| {
        assert_eq!(Variables::of(&waiting).value(name), Some(want), "{name}");
    };
    check(asked, "showsTurn", Value::Bool(true));
    check(asked, "showsPaused", Value::Bool(false));
    check(asked, "turnSeconds", Value::Integer(287));
    check(asked, "turnTimeLocalized", Value::Text("287 s"));
    check(asked, "placeMoves", Value::Bool(false));
    check(asked, "placeIsKept", Value::Bool(false));
    check(Waiting { is_held: true, ..asked }, "showsTurn", Value::Bool(false));
    let waits = Waiting { turn_left_s: None, queue_all: false, estimate_s: Some(60), ..asked };
    check(waits, "showsTurn", Value::Bool(false));
    check(waits, "confirmsTurn", Value::Bool(true));
    check(waits, "turnSeconds", Value::Integer(0));
}
