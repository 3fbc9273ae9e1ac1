//! Whatever visitors send and owners write, random or mutated: no panic, no way in, and time in
//! proportion to the length. `PARSER_CASES` says how many cases (30,000; releases try 10 million):
//! `PARSER_CASES=10000000 cargo test --release -p room-core --test parsers`.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that is wrong about its own cases must fail"
)]

mod corpus;

use std::env;
use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
use room_core::base::id::RoomId;
use room_core::base::time::Timestamp;
use room_core::keys::key_ring::KeyRing;
use room_core::page::{Page, Variables, Waiting};
use room_core::room::language::Language;
use room_core::room::turnstile;
use room_core::ticket::cookie;
use room_core::visit::request::accepts_json_alone;
use serde_json::Value;

const DEFAULT_CASES: u64 = 30_000;
/// Pieces that parsers branch on, and some that they should not.
const FRAGMENTS: [&str; 44] = [
    "{{",
    "}}",
    "{{{",
    "}}}",
    "{{#",
    "{{^",
    "{{/",
    "{{!",
    "{{&",
    "{{>",
    "{{=",
    "waitTime",
    "queueAll",
    ".",
    " ",
    "\t",
    "\r\n",
    "\0",
    "é",
    "\u{202e}",
    "__cfwaitingroom",
    "=",
    ";",
    "; ",
    "%00",
    "\"",
    "A",
    "_-",
    "AUQAB5v6",
    "de-DE",
    "zh-Hant-HK",
    ",",
    ";q=",
    "0.5",
    "1.0000",
    "*",
    "-",
    "q",
    "application/json",
    "<b>'&",
    "cf_wr_turnstile",
    "?",
    "&",
    "#",
];

/// Cases in the same order on every machine (splitmix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("it is below a usize")
    }

    fn pieces(&mut self) -> String {
        let count = self.below(24);
        (0..count).map(|_| FRAGMENTS[self.below(FRAGMENTS.len())]).collect()
    }

    /// `text` with a few bytes changed, inserted or cut; still UTF-8, as all that arrives is.
    fn mutated(&mut self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(3) {
            let byte = u8::try_from(self.below(256)).expect("below 256");
            let place = self.below(bytes.len() + 1);
            match self.below(4) {
                0 => bytes.insert(place, byte),
                1 => bytes.truncate(place),
                2 if place < bytes.len() => bytes[place] = byte,
                _ if place < bytes.len() => bytes[place] ^= 1 << self.below(8),
                _ => {}
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn case(&mut self, sample: &str) -> String {
        match self.below(3) {
            0 => self.pieces(),
            1 => self.mutated(sample),
            _ => {
                let pieces = self.pieces();
                self.mutated(&(pieces + sample))
            }
        }
    }
}

fn cases() -> u64 {
    let wanted = env::var("PARSER_CASES").ok();
    wanted.map_or(DEFAULT_CASES, |cases| cases.parse().expect("PARSER_CASES is a number"))
}

/// A genuine ticket, and what opens it.
struct Genuine {
    ring: KeyRing,
    now: Timestamp,
    room: RoomId,
    name: String,
    text: String,
}

fn genuine() -> Genuine {
    let golden = include_str!("../../../tests/golden/ticket.json");
    let golden: Value = serde_json::from_str(golden).expect("the golden tickets");
    let sealed = &golden["sealed"][0];
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    Genuine {
        ring: KeyRing::parse(&text(&golden["ticket_keys"])).expect("a key"),
        now: Timestamp(sealed["now"].as_u64().expect("a time")),
        room: text(&sealed["room"]).parse().expect("a room"),
        name: text(&sealed["cookie_name"]),
        text: text(&sealed["text"]),
    }
}

#[test]
fn no_cookie_panics_or_is_forged() {
    let Genuine { mut ring, now, room, name, text } = genuine();
    assert!(ring.open(now, room, &name, &text).is_some(), "the genuine one opens");
    let sample = format!("a=1; {name}={text}; b=2");
    let mut draw = Draw(1);
    let mut found_count = 0_u64;
    for _ in 0..cases() / 3 {
        let header = draw.case(&sample);
        for value in cookie::find(&header, &name) {
            found_count += 1;
            let opens = ring.open(now, room, &name, value).is_some();
            assert!(!opens || value == text, "{value} opens");
        }
        black_box(cookie::without(&header, &name));
    }
    assert!(found_count > cases() / 20, "too few cases reached the key ring: {found_count}");
}

#[test]
fn no_template_panics_or_grows_without_bound() {
    let sample = include_str!("../../../templates/starters/minimal.html");
    let waiting = Waiting { estimate_s: Some(60), ..Waiting::default() };
    let variables = Variables::of(&waiting);
    let mut draw = Draw(2);
    let mut accepted_count = 0_u64;
    for _ in 0..cases() / 3 {
        let source = draw.case(sample);
        match Page::compile(&source) {
            Ok(page) => {
                accepted_count += 1;
                let html = page.render(&variables).expect("a short page");
                assert!(html.len() <= source.len() * 40, "{source}");
            }
            Err(errors) => {
                let lines = source.matches('\n').count() + 1;
                assert!(errors.iter().all(|error| error.line <= lines), "{source}");
            }
        }
    }
    assert!(accepted_count > cases() / 30, "too few were accepted: {accepted_count}");
}

#[test]
fn no_header_panics_or_asks_for_an_unknown_language() {
    let sample = "fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5";
    let mut draw = Draw(3);
    let default = Language::default();
    let mut others_count = 0_u64;
    for _ in 0..cases() / 3 {
        let header = draw.case(sample);
        let language = Language::preferred(&header, default);
        assert_eq!(language.tag().parse(), Ok(language), "{header}");
        others_count += u64::from(language != default);
        black_box(accepts_json_alone(&header));
    }
    assert!(others_count > cases() / 20, "too few asked for a language: {others_count}");
}

#[test]
fn no_address_keeps_a_token_or_loses_anything_else() {
    let sample = "https://a.net/p?b=%20+&cf_wr_turnstile=1.a-_%2F&c#cf_wr_turnstile=2";
    let mut draw = Draw(4);
    let mut taken_count = 0_u64;
    for _ in 0..cases() / 3 {
        let url = draw.case(sample);
        let Some(taken) = turnstile::split_token(&url) else { continue };
        taken_count += 1;
        assert_eq!(turnstile::split_token(&taken.url), None, "{url}");
        let pairs = |url: &str| {
            let target = url.split('#').next().unwrap_or_default();
            let query = target.split_once('?').map_or("", |(_, query)| query).to_owned();
            let is_kept = |pair: &&str| pair.split('=').next() != Some(turnstile::PARAMETER);
            query.split('&').filter(is_kept).collect::<Vec<_>>().join("&")
        };
        assert_eq!(pairs(&taken.url), pairs(&url), "{url}");
        black_box(turnstile::is_plausible(&taken.token));
        let expected = turnstile::Expected { hostname: "a", action: "b", for_tests: true };
        black_box(turnstile::judge(Some(&url), expected));
    }
    assert!(taken_count > cases() / 20, "too few had a token: {taken_count}");
}

/// The fastest of some runs, in time that this thread had a processor: what else the machine does
/// hardly adds to that.
fn fastest(act: impl Fn()) -> Duration {
    let run = |_| {
        let start = ThreadTime::now();
        act();
        start.elapsed()
    };
    (0..7).map(run).min().unwrap_or_default()
}

/// Sixteen times the length may take sixteen times as long, and on a busy machine with more page
/// faults six times that; a square would be 256 times.
#[test]
fn time_grows_with_the_length_alone() {
    let check = |what: &str, piece: &str, act: &dyn Fn(&str)| {
        let (short, long) = (piece.repeat(2_000), piece.repeat(32_000));
        act(&short);
        let short = fastest(|| act(&short)).max(Duration::from_micros(20));
        let long = fastest(|| act(&long));
        assert!(long < short * 96, "{what} {piece:?}: {short:?}, then {long:?}");
    };
    let name = genuine().name;
    let cookies = |header: &str| {
        black_box(cookie::find(header, &name).count());
        black_box(cookie::without(header, &name));
    };
    let template = |source: &str| {
        black_box(Page::compile(source).is_ok());
    };
    let language = |header: &str| {
        black_box(Language::preferred(header, Language::default()));
    };
    let address = |query: &str| {
        black_box(turnstile::split_token(&format!("https://a.net/?{query}")));
    };
    for piece in ["cf_wr_turnstile=%20&", "cf_wr_turnstile&a", "&", "cf_wr_turnstile", "?"] {
        check("an address", piece, &address);
    }
    for piece in ["a=1; ", ";", "=", "__cfwaitingroom=A;"] {
        check("cookies", piece, &cookies);
    }
    for piece in ["{{a}}", "{{#queueAll}}{{/queueAll}}", "{{", "{{!", "{{{", "{{/a}}", "\n{{x"] {
        check("a template", piece, &template);
    }
    for piece in ["en;q=0.1,", ",", "-", ";q=", "x"] {
        check("a header", piece, &language);
    }
}
