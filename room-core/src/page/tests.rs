//! The built-in page in its states and languages, its policy, and what pages of owners may do.

use super::BUILT_IN_SOURCE;
use super::Page;
use super::Variables;
use super::Waiting;
use super::Words;
use super::arrival::Arrival;
use super::content_security_policy;
use super::hashes;
use super::invitation::Invitation;
use super::{ORIGIN, TurnstileMode, Widget};
use crate::base::id::RoomId;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::room::branding::Branding;
use crate::room::event::{Phase, Stage};
use crate::room::language::Language;
use crate::room::settings::QueueingMethod;

fn english() -> Words {
    let texts = include_str!("../../../templates/languages/en-US.json");
    Words::parse(Language::default(), texts).unwrap()
}

fn built_in() -> Page {
    Page::built_in(&english()).unwrap()
}

fn render(waiting: &Waiting) -> String {
    built_in().render(&Variables::of(waiting)).unwrap()
}

/// The page as a browser reads it, which knows the characters that are named by number.
fn read(html: &str) -> String {
    let mut parts = html.split("&#");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(';').expect("a reference ends");
        text.extend(number.parse().ok().and_then(char::from_u32));
        text.push_str(rest);
    }
    text
}

fn two_minutes() -> Waiting {
    Waiting { estimate_s: Some(90), refresh_interval_s: 20, ..Waiting::default() }
}

fn prequeue() -> Stage {
    Stage {
        phase: Phase::Prequeueing,
        starts_at: Timestamp(1_795_255_200_000),
        starts_in_ms: 15 * MINUTE_MS,
        ends_in_ms: 75 * MINUTE_MS,
        shuffles: false,
    }
}

#[test]
fn the_built_in_page_compiles_and_knows_its_variables() {
    let page = built_in();
    assert_eq!(page.warnings(), []);
    let page = Page::compile("{{waitTime}}{{typo}}").unwrap();
    assert_eq!(page.warnings().len(), 1);
    assert!(Page::compile("{{#queueAll}}").is_err());
}

#[test]
fn the_title_shows_the_state() {
    let check = |waiting: Waiting, want: &str| {
        let page = render(&waiting);
        let title = page.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
        assert_eq!(title.trim(), want);
    };
    let rejected =
        Waiting { method: QueueingMethod::Reject, refresh_interval_s: 0, ..Waiting::default() };
    check(rejected, "Not available at the moment");
    check(two_minutes(), "About 2 minutes &ndash; You are in line");
    check(Waiting { estimate_s: None, ..two_minutes() }, "You are in line");
    let paused = Waiting { queue_all: true, ..two_minutes() };
    check(paused, "Entry is paused &ndash; You are in line");
    check(Waiting { queue_is_full: true, ..paused }, "The line is full");
    let before = Waiting { event: Some(prequeue()), ..two_minutes() };
    check(before, "Starts in: 15 minutes &ndash; You are in line");
    check(Waiting { queue_all: true, ..before }, "Entry is paused &ndash; You are in line");
}

#[test]
fn each_state_says_what_is_true_and_nothing_else() {
    const KEPT: &str = "<strong>Your place is kept.";
    let check = |waiting: Waiting, shown: &[&str], hidden: &[&str]| {
        let page = read(&render(&waiting));
        assert!(!page.contains("{{"), "{page}");
        for text in shown {
            assert!(page.contains(text), "{waiting:?} must say {text}");
        }
        for text in hidden {
            assert!(!page.contains(text), "{waiting:?} must not say {text}");
        }
    };
    let usual = two_minutes();
    let unusual = ["Nothing was submitted", "paused", "is full", "ahead of you", "Not known"];
    check(usual, &["About 2 minutes", KEPT, "20 s</span>", "first come, first served"], &unusual);
    check(Waiting { estimate_s: None, ..usual }, &["Finding your place…", KEPT], &["About"]);
    check(Waiting { people_ahead: Some(1_234), ..usual }, &["People ahead of you", "1,234"], &[]);
    check(
        Waiting { queue_all: true, ..usual },
        &["Entry is paused", KEPT],
        &["About", "Not known"],
    );
    check(
        Waiting { event: Some(prequeue()), ..usual },
        &["has not started yet", "15 minutes", "2026-11-21 10:00 UTC</time>", KEPT],
        &["About", "Not known", "A lot of people"],
    );
    let running = Stage { phase: Phase::Running, ..prequeue() };
    check(
        Waiting { event: Some(running), ..usual },
        &["About 2 minutes", "A lot of people"],
        &["has not started yet"],
    );
    let held = Waiting { is_held: true, queue_all: true, ..usual };
    check(held, &["right back", "20 s</span>"], &["Entry is paused", "Estimated", KEPT]);
    check(Waiting { queue_is_full: true, ..usual }, &["More than a day"], &[KEPT, "About"]);
    check(
        Waiting { method: QueueingMethod::Reject, ..Waiting::default() },
        &["Please try again later", "data-refresh=\"0\""],
        &[KEPT, "About", "You are in line", "updates automatically", "Estimated"],
    );
    check(
        Waiting { method: QueueingMethod::Random, ..usual },
        &["in the draw", "drawn at random", "Keep this page open"],
        &["first come, first served", KEPT],
    );
    let ends_soon = Stage { starts_in_ms: 0, ends_in_ms: 60_000, ..running };
    check(Waiting { event: Some(ends_soon), ..usual }, &["The event may end before it is"], &[]);
    check(Waiting { event: Some(running), ..usual }, &[], &["The event may end before it is"]);
    let posted = Waiting { submitted_nothing: true, ..usual };
    check(posted, &["Nothing was submitted.", "data-nothing-submitted\n"], &[]);
    check(
        Waiting { refresh_interval_s: 0, ..usual },
        &["data-refresh=\"0\""],
        &["updates automatically"],
    );
}

#[test]
fn less_than_a_minute_is_said_and_no_place_is_kept_before_a_draw() {
    let soon = render(&Waiting { estimate_s: Some(60), ..two_minutes() });
    assert!(soon.contains("<strong>Less than a minute</strong>"), "{soon}");
    assert!(soon.contains("<title>\nLess than a minute &ndash; You are in line"), "{soon}");
    assert!(!soon.contains("1 minute"), "{soon}");
    let next = render(&Waiting { estimate_s: Some(61), ..two_minutes() });
    assert!(next.contains("<strong>About 1 minute</strong>"), "{next}");
    let event = Some(Stage { shuffles: true, ..prequeue() });
    let before = render(&Waiting { event, ..two_minutes() });
    assert!(before.contains("at random"), "{before}");
    assert!(!before.contains("<strong>Your place is kept."), "{before}");
}

#[test]
fn before_a_start_each_is_told_what_invitations_are_worth() {
    for shuffles in [false, true] {
        let event = Some(Stage { shuffles, ..prequeue() });
        let invitation = Invitation { one_in: 4, others_first: true, ..Invitation::default() };
        let page = render(&Waiting { event, invitation, ..two_minutes() });
        assert!(page.contains(" are let in first.") && page.contains("Up to 1 in 4 "), "{page}");
    }
}

/// In every language: who waits for a draw is told of no line and of no place in one.
#[test]
fn before_a_draw_no_language_speaks_of_a_place() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../templates/languages");
    let event = Some(Stage { shuffles: true, ..prequeue() });
    let waits = two_minutes();
    let states = [
        Waiting { event, ..waits },
        Waiting { event, queue_all: true, ..waits },
        Waiting { method: QueueingMethod::Random, ..waits },
        Waiting { method: QueueingMethod::Random, queue_all: true, ..waits },
    ];
    for language in Language::all() {
        let path = format!("{folder}/{}.json", language.tag());
        let texts = std::fs::read_to_string(path).expect("the texts of a language");
        let words = Words::parse(language, &texts).expect("texts");
        let page = Page::built_in(&words).expect("a page");
        let texts: serde_json::Value = serde_json::from_str(&texts).expect("texts");
        let text = |key: &str| texts[key].as_str().expect(key).to_owned();
        for waiting in &states {
            let html = page.render(&Variables::in_language(waiting, &words)).expect("a page");
            // Other scripts would be longer by a third.
            match language.tag() {
                "fr-FR" => assert!(html.is_ascii(), "{html}"),
                "ja-JP" => assert!(!html.contains("&#"), "{html}"),
                _ => {}
            }
            let html = read(&html);
            // What is shown: the attribute for the time without connection is used for those
            // whose place is kept alone.
            let (_, shown) = html.split_once("<div class=\"page\"").expect("a page");
            for key in ["in_line", "in_order", "kept", "kept_text", "cookies_text"] {
                let tag = language.tag();
                assert!(!shown.contains(&text(key)), "{tag} tells {key} in {waiting:?}");
            }
            assert!(shown.contains(&text("in_draw")) && shown.contains(&text("cookies_draw")));
            assert!(!shown.contains("data-kept"));
        }
    }
}

/// An owner's page stays as it is: its texts may stand in a script.
#[test]
fn the_built_in_page_is_ascii_and_reads_the_same() {
    let name = "K\u{e4}se's \u{1f9c0} <b>".to_owned();
    let branding = Branding { name, ..Branding::default() };
    let variables = Variables::of(&two_minutes()).with_branding(&branding, "shop.example");
    let html = built_in().render(&variables).unwrap();
    assert!(html.is_ascii());
    assert!(html.contains("<p><bdi>K&#228;se&#39;s &#129472; &lt;b&gt;</bdi></p>"), "{html}");
    let own = Page::compile("\u{e4} {{pageName}}").unwrap().render(&variables).unwrap();
    assert_eq!(own, "\u{e4} K\u{e4}se&#39;s \u{1f9c0} &lt;b&gt;");
}

#[test]
fn every_state_shows_whose_page_it_is_and_no_markup_of_the_owner() {
    let text = |one: &str| format!("{one} & <b>\"");
    let branding = Branding {
        name: text("name"),
        logo: "data:image/png;base64,QQ==".to_owned(),
        color: "#123456".to_owned(),
        text: text("text"),
        event_name: text("event"),
        message: text("message"),
        help_url: "https://help.example/?a=1&b=2".to_owned(),
    };
    let usual = two_minutes();
    let states = [
        usual,
        Waiting { is_held: true, ..usual },
        Waiting { method: QueueingMethod::Reject, ..usual },
        Waiting { queue_is_full: true, ..usual },
        Waiting { event: Some(prequeue()), ..usual },
    ];
    for waiting in states {
        let page = built_in();
        let variables = Variables::of(&waiting).with_branding(&branding, "shop.example");
        let html = page.render(&variables).unwrap();
        for shown in ["name", "text", "message"] {
            let escaped = format!(">{shown} &amp; &lt;b&gt;&quot;<");
            assert!(html.contains(&escaped), "{waiting:?}: {shown}");
        }
        let event = "<bdi class=\"event\">event &amp; &lt;b&gt;&quot;</bdi>";
        assert!(html.contains(event), "{waiting:?}");
        assert!(html.contains("<img src=\"data:image/png;base64,QQ==\" alt=\"\">"));
        assert!(html.contains("href=\"https://help.example/?a=1&amp;b=2\""));
        assert!(html.contains("fill=\"#123456\""));
        // What the owner says may be that there is no later.
        assert!(!html.contains("Please try again later"));
        // The policy names the blocks, so nothing of the owner may stand in one.
        let policy = page.content_security_policy(false).unwrap();
        assert_eq!(content_security_policy(&html, None), policy);
        let plain = Variables::of(&waiting).with_branding(&Branding::default(), "shop.example");
        let html = page.render(&plain).unwrap();
        assert!(html.contains("<p><bdi>shop.example</bdi></p>"), "{html}");
        for part in ["<img", "<a ", "data-color", "class=\"own\""] {
            assert!(!html.contains(part), "{part}");
        }
    }
}

#[test]
fn the_way_is_a_bar_with_a_label_and_longer_is_said_in_words() {
    let bar = "<label for=\"way\">Your progress</label> \
        <progress id=\"way\" max=\"100\" value=\"42\"></progress>";
    let longer = "The wait is longer than we estimated: ";
    let on_the_way = Waiting { progress_percent: Some(42), ..two_minutes() };
    let page = render(&on_the_way);
    assert!(page.contains(bar) && !page.contains(longer), "{page}");
    assert!(!page.contains("Let in during the last minute"), "{page}");
    let page = render(&Waiting { takes_longer: true, ..on_the_way });
    assert!(page.contains(bar) && page.contains(longer), "{page}");
    let page = render(&Waiting { entered_last_minute: Some(1_234), ..on_the_way });
    assert!(page.contains("Let in during the last minute: <strong>1,234</strong>"), "{page}");
    assert!(!render(&two_minutes()).contains("<progress"));
}

/// Who comes without a cookie each time sees this page alone, and has no place.
#[test]
fn the_first_page_promises_no_place() {
    let first = render(&Waiting { is_first: true, ..two_minutes() });
    assert!(!first.contains("<strong>Your place is kept."), "{first}");
    assert!(first.contains("Allow cookies for this site."), "{first}");
}

#[test]
fn a_draw_does_not_speak_of_people_ahead_where_it_takes_longer() {
    let longer = Waiting { takes_longer: true, ..two_minutes() };
    let of = |method| render(&Waiting { method, ..longer });
    let (line, draw) = (of(QueueingMethod::Fifo), of(QueueingMethod::Random));
    assert!(line.contains("or people ahead of you") && !line.contains("or more people"), "{line}");
    assert!(draw.contains("or more people") && !draw.contains("people ahead"), "{draw}");
}

#[test]
fn a_check_in_gets_the_news_without_style_and_script() {
    let render = |arrival| {
        let variables = Variables::of(&two_minutes()).with_arrival(arrival);
        built_in().render(&variables).unwrap()
    };
    let refresh = "<noscript><meta http-equiv=\"refresh\" content=\"20";
    let by_header = render(Arrival::default());
    assert!(!by_header.contains("<noscript>") && !by_header.contains("data-stays"));
    let stays = Arrival { stays: true, ..Arrival::default() };
    let page = render(stays);
    assert!(page.contains(&format!("{refresh}\">")) && page.contains("data-stays"), "{page}");
    let news = render(Arrival { checks_in: true, ..stays });
    assert!(news.contains("data-stays") && news.contains("About 2 minutes"), "{news}");
    assert!(!news.contains("<style>") && !news.contains("<script>"), "{news}");
    let back = render(Arrival { back: Some("https://shop.example/a?b=\"><i>"), ..stays });
    assert!(back.contains(&format!("{refresh};url=https://shop.example/a?b=&quot;&gt;")), "{back}");
    assert!(back.contains("data-back=\"https://shop.example/a?b=&quot;&gt;"), "{back}");
}

#[test]
fn the_policy_allows_the_blocks_of_every_state() {
    let page = built_in();
    let policy = page.content_security_policy(false).unwrap();
    assert_eq!(policy.matches("'sha256-").count(), 2, "{policy}");
    for bits in 0..64_u32 {
        let waiting = Waiting {
            method: if bits & 32 == 0 { QueueingMethod::Fifo } else { QueueingMethod::Reject },
            estimate_s: (bits & 1 != 0).then_some(7_200),
            queue_all: bits & 2 != 0,
            queue_is_full: bits & 4 != 0,
            submitted_nothing: bits & 8 != 0,
            people_ahead: Some(u64::from(bits)),
            event: (bits & 16 != 0).then(prequeue),
            refresh_interval_s: bits,
            ..Waiting::default()
        };
        assert_eq!(content_security_policy(&render(&waiting), None), policy);
    }
    let copied = Page::compile(&english().fill(BUILT_IN_SOURCE).unwrap()).unwrap();
    assert_eq!(copied.content_security_policy(false), None);
}

#[test]
fn a_page_with_a_challenge_allows_that_and_stays_small() {
    let page = built_in();
    let widget = Widget {
        site_key: "1x00000000000000000000AA",
        mode: TurnstileMode::VisibleManaged,
        room: RoomId::from_bytes([7; 16]),
        is_gate: true,
    };
    let words = english();
    let variables = Variables::in_language(&two_minutes(), &words);
    let html = page.render(&variables.with_challenge(Some(widget), &words)).unwrap();
    assert!(html.len() < 17_408, "{} bytes", html.len());
    assert!(html.contains("One quick check") && html.contains("About 2 minutes"), "{html}");
    assert!(!html.contains("<strong>Your place is kept"), "who has no place is told of one");
    // The blocks of the page and the one of the widget, whatever their order.
    let policy = page.content_security_policy(true).unwrap();
    for source in hashes(&html, "<script>", "</script>").split(' ') {
        assert!(policy.contains(source), "{source} is not in {policy}");
    }
    assert_eq!(policy.matches(ORIGIN).count(), 2, "{policy}");
    assert!(!page.content_security_policy(false).unwrap().contains("http"));
}

#[test]
fn a_page_has_a_challenge_where_it_shows_one_as_markup() {
    let check = |source: &str, want: bool| {
        assert_eq!(Page::compile(source).unwrap().has_challenge(), want, "{source}");
    };
    check("{{{turnstile}}}", true);
    check("{{&turnstile}}", true);
    check("{{#turnstile}}<p>{{{ turnstile }}}</p>{{/turnstile}}", true);
    check("{{turnstile}}", false);
    check("{{#queueAll}}{{{turnstile}}}{{/queueAll}}", false);
    check("<p>turnstile", false);
}

#[test]
fn a_hash_is_the_one_a_browser_computes() {
    // printf alert | openssl dgst -sha256 -binary | base64
    let html = "<style></style><script>alert</script>";
    let policy = content_security_policy(html, None);
    let want = "default-src 'none'; \
        style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; \
        script-src 'sha256-35BQWN1npAn++BSA6B5HNlcrDttNf7mHxpXNB+Jg7IE='; \
        img-src data:; connect-src 'self'; base-uri 'none'; \
        form-action 'self'";
    assert_eq!(policy, want);
}

#[test]
fn the_page_is_small_and_loads_nothing() {
    let event = Some(prequeue());
    let page = render(&Waiting { people_ahead: Some(12), event, ..two_minutes() });
    assert!(page.is_ascii(), "a JavaScript engine handles any other text twice as slowly");
    assert!(page.len() < 17_000, "{} bytes", page.len());
    for outside in ["src=", "url(", "@import", "<iframe", "style=\"", "onclick"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let addresses: Vec<_> = page.match_indices("http").map(|(place, _)| place).collect();
    assert_eq!(addresses.len(), 1, "only the name space of the icon");
}
