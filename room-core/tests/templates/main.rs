//! Owners' templates from the outside: the constructs of the published ones keep their meaning in
//! every state, and the starters of `templates/starters/` can be used as they stand.
//! `UPDATE=1 cargo test -p room-core --test templates` writes the golden pages anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use room_core::base::id::RoomId;
use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::page::widget::Widget;
use room_core::page::{Page, Variables, Waiting, Words};
use room_core::room::event::{Phase, Stage};
use room_core::room::language::Language;
use room_core::room::settings::QueueingMethod;
use room_core::room::turnstile::TurnstileMode;

/// The challenge of somebody who has no place before it.
fn widget() -> Widget<'static> {
    Widget {
        site_key: "1x00000000000000000000AA",
        mode: TurnstileMode::VisibleManaged,
        room: RoomId::from_bytes([0; 16]),
        is_gate: true,
    }
}

/// Every state that a page can show, by name.
fn states() -> Vec<(&'static str, Waiting)> {
    let usual = Waiting {
        estimate_s: Some(600),
        last_updated: Timestamp(1_795_255_200_123),
        refresh_interval_s: 20,
        ..Waiting::default()
    };
    let stage = Stage {
        phase: Phase::Prequeueing,
        starts_at: Timestamp(1_795_255_200_000),
        starts_in_ms: 75 * MINUTE_MS,
        ends_in_ms: 135 * MINUTE_MS,
        shuffles: false,
    };
    let lots = Stage { shuffles: true, ..stage };
    let running = Stage { phase: Phase::Running, starts_in_ms: 0, ..stage };
    let quartiles_s = Some((300, 900));
    let lottery = Waiting { method: QueueingMethod::Random, quartiles_s, ..usual };
    vec![
        ("waiting", usual),
        ("long", Waiting { estimate_s: Some(7_500), people_ahead: Some(1_234), ..usual }),
        ("unknown", Waiting { estimate_s: None, ..usual }),
        ("paused", Waiting { queue_all: true, ..usual }),
        ("held", Waiting { queue_all: true, is_held: true, ..usual }),
        ("full", Waiting { queue_is_full: true, ..usual }),
        ("prequeue", Waiting { event: Some(stage), ..usual }),
        ("lots", Waiting { event: Some(lots), ..usual }),
        ("event", Waiting { event: Some(running), ..usual }),
        ("random", lottery),
        ("form", Waiting { submitted_nothing: true, ..usual }),
        ("rejected", Waiting { method: QueueingMethod::Reject, ..Waiting::default() }),
    ]
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The page of a state with a challenge, or without.
fn render(page: &Page, waiting: &Waiting, widget: Option<Widget<'_>>) -> String {
    let variables = Variables::of(waiting).with_challenge(widget, &Words::default());
    let html = page.render(&variables);
    assert!(html.is_ok(), "{waiting:?}: {html:?}");
    html.unwrap_or_default()
}

/// A Worker makes a page when its first visitor needs it, and has no other to show in its place.
#[test]
fn the_built_in_page_can_be_made_in_every_language_and_state() {
    for language in Language::all() {
        let file = root().join(format!("templates/languages/{language}.json"));
        let texts = fs::read_to_string(file).expect("the texts");
        let words = Words::parse(language, &texts).expect("an object of texts");
        let page = Page::built_in(&words).expect("every text of the page");
        assert_eq!(page.warnings(), [], "{language}");
        for (name, waiting) in states() {
            for widget in [None, Some(widget())] {
                let html = render(&page, &waiting, widget);
                assert!(!html.contains("[[") && html.ends_with("</html>\n"), "{language} {name}");
            }
        }
    }
}

/// A change here changes what the owners' visitors read.
#[test]
fn templates_with_a_challenge_are_as_pinned_in_every_state() {
    let folder = root().join("tests/golden/templates");
    for name in ["turnstile_section", "turnstile_script"] {
        let source = fs::read_to_string(folder.join(format!("{name}.html"))).expect("a template");
        let template = Page::compile(&source).expect("it is valid");
        assert_eq!(template.warnings(), []);
        assert!(template.has_challenge());
        let markup = widget().html(&Words::default());
        let mut found = String::new();
        for (state, waiting) in states() {
            for (challenge, widget) in [("without", None), ("with", Some(widget()))] {
                let page = render(&template, &waiting, widget);
                assert_eq!(page.contains(&markup), challenge == "with", "{state}");
                let title = format!("=== {state}, {challenge} a challenge");
                writeln!(found, "{title}\n{page}").expect("a text takes all");
            }
        }
        let golden = folder.join(format!("{name}.txt"));
        if env::var_os("UPDATE").is_some() {
            fs::write(&golden, &found).expect("a place to write to");
        }
        let pinned = fs::read_to_string(&golden).expect("the golden pages");
        assert_eq!(found, pinned, "{name}");
    }
}

#[test]
fn starters_are_valid_and_render_in_every_state() {
    let folder = root().join("templates/starters");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the starters") {
        let path = entry.expect("an entry").path();
        let source = fs::read_to_string(&path).expect("a text");
        let page = Page::compile(&source).expect("a valid template");
        assert_eq!(page.warnings(), [], "{}", path.display());
        assert!(page.has_challenge(), "{}: no place for it", path.display());
        for (state, waiting) in states() {
            let html = page.render(&Variables::of(&waiting)).expect("a page");
            assert!(html.contains("<title>") && html.ends_with("</html>\n"), "{state}");
            assert!(!html.contains("{{"), "{}, {state}", path.display());
        }
        count += 1;
    }
    assert_eq!(count, 3);
}

/// Only the method `reject` sends anybody away, and not before an event or while all are held.
#[test]
fn only_who_cannot_join_is_told_to_come_back_later() {
    let folder = root().join("templates/starters");
    let method = QueueingMethod::Reject;
    let rejecting = |(state, waiting)| (state, Waiting { method, ..waiting });
    for name in ["branded", "minimal"] {
        let source = fs::read_to_string(folder.join(format!("{name}.html"))).expect("a starter");
        let page = Page::compile(&source).expect("a valid template");
        for (state, waiting) in states().into_iter().chain(states().into_iter().map(rejecting)) {
            let is_away = waiting.is_rejected() && !waiting.is_held;
            let refresh_interval_s = if is_away { 0 } else { 20 };
            let waiting = Waiting { refresh_interval_s, ..waiting };
            for widget in [None, Some(widget())] {
                let html = render(&page, &waiting, widget);
                assert_eq!(html.contains("come back later"), is_away, "{name} {state}");
            }
        }
    }
}

#[test]
fn every_error_of_a_template_has_its_place() {
    let check = |source: &str, want: &[&str]| {
        let errors = Page::compile(source).err().expect("it is refused");
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors, want, "{source}");
    };
    check(
        "<p>\n  {{#queueAll}}Paused\n{{waitTime",
        &[
            "line 2, column 3: section `queueAll` is never closed",
            "line 3, column 1: this tag is never closed",
        ],
    );
    check(
        "{{#queueAll}}{{/queueIsFull}}",
        &[
            "line 1, column 1: section `queueAll` is never closed",
            "line 1, column 14: `queueIsFull` is closed here but not open",
        ],
    );
    check("é{{>header}}", &["line 1, column 2: partials are not available"]);
}
