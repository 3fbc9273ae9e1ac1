//! The page that verifies a draw: at any address of a room that draws lots, followed by [`QUERY`].
//!
//! It also publishes the commitment of each draw from the prequeue on, and its key from the start
//! on. Everybody can read it without a place, and so note the commitment before the start.

use std::fmt::Write;

use base16ct::lower::encode_string;

use super::request::RequestHead;
use crate::base::time::Timestamp;
use crate::order::shuffle::{Published, Shuffle};
use crate::page::response::HttpResponse;

/// The query of a request for the page that verifies a draw.
pub const QUERY: &str = "?waiting-room-draw";
/// The page. It also works from a disk, without the published draws.
const SOURCE: &str = include_str!("../../../templates/verify-draw.html");
/// The place of the published draws in it.
const LIST: &str = "<ul id=\"published\"></ul>";

/// Whether a request asks for the page that verifies the draws of its room.
pub fn is_asked(head: &RequestHead<'_>, url: &str, draws: &[Shuffle]) -> bool {
    !draws.is_empty() && head.method == "GET" && url.ends_with(QUERY)
}

/// Answers with the page, or with the published draws as JSON.
pub fn answer(now: Timestamp, draws: &[Shuffle], as_json: bool) -> HttpResponse {
    let published = draws.iter().filter_map(|draw| draw.published(now));
    if as_json {
        let items: Vec<String> = published.map(json).collect();
        return HttpResponse::public(
            "application/json",
            format!("{{\"draws\":[{}]}}", items.join(",")),
        );
    }
    let list = published.fold("<ul id=\"published\">".to_owned(), |mut list, draw| {
        let Published { starts_at, commitment, .. } = draw;
        // Writing to a string cannot fail.
        let _ = write!(
            list,
            "<li>Draw of {}:<br><code>{}</code></li>",
            starts_at.to_iso8601(),
            encode_string(&commitment)
        );
        list
    }) + "</ul>";
    HttpResponse::public("text/html; charset=utf-8", SOURCE.replace(LIST, &list))
}

fn json(draw: Published) -> String {
    let Published { starts_at, commitment, key } = draw;
    let key = key.map(|key| format!(",\"key\":\"{}\"", encode_string(&key))).unwrap_or_default();
    let (starts_at, commitment) = (starts_at.to_iso8601(), encode_string(&commitment));
    format!("{{\"startsAt\":\"{starts_at}\",\"commitment\":\"{commitment}\"{key}}}")
}

#[cfg(test)]
mod tests {
    use super::{LIST, SOURCE, answer, is_asked};
    use crate::base::id::EventId;
    use crate::base::time::Timestamp;
    use crate::order::shuffle::{DrawKey, Shuffle};
    use crate::visit::request::RequestHead;

    const FROM: Timestamp = Timestamp(1_800_000_000_000);
    const UNTIL: Timestamp = Timestamp(1_800_000_060_000);

    fn draw() -> Shuffle {
        let (event, key) = (EventId::from_bytes([1; 16]), DrawKey::from_bytes([9; 32]));
        Shuffle { event, from: FROM, until: UNTIL, key }
    }

    #[test]
    fn only_a_room_with_a_draw_has_the_page() {
        let check = |method: &str, url: &str, draws: &[Shuffle], want: bool| {
            let head = RequestHead { method, ..RequestHead::default() };
            assert_eq!(is_asked(&head, url, draws), want, "{method} {url}");
        };
        let url = "https://shop.example/sale?waiting-room-draw";
        check("GET", url, &[draw()], true);
        check("GET", url, &[], false);
        check("POST", url, &[draw()], false);
        check("GET", "https://shop.example/waiting-room-draw", &[draw()], false);
    }

    #[test]
    fn the_commitment_is_published_in_the_prequeue_and_the_key_at_the_start() {
        assert_eq!(SOURCE.matches(LIST).count(), 1);
        let (key, commitment) = ("09".repeat(32), {
            let receipt = answer(FROM, &[draw()], true).body;
            let (_, rest) = receipt.split_once("\"commitment\":\"").expect("a commitment");
            rest.get(..64).expect("64 digits").to_owned()
        });
        let check = |now: Timestamp, told: bool, opened: bool| {
            for as_json in [true, false] {
                let body = answer(now, &[draw()], as_json).body;
                assert_eq!(body.contains(&commitment), told, "{now:?} {body}");
                assert_eq!(body.contains(&key), opened && as_json, "{now:?} {body}");
            }
        };
        check(FROM - 1, false, false);
        check(FROM, true, false);
        check(UNTIL - 1, true, false);
        check(UNTIL, true, true);
        let json = answer(FROM, &[draw()], true).body;
        let want = format!(
            r#"{{"draws":[{{"startsAt":"2027-01-15T08:01:00.000Z","commitment":"{commitment}"}}]}}"#
        );
        assert_eq!(json, want);
        assert_eq!(answer(FROM - 1, &[draw()], true).body, r#"{"draws":[]}"#);
    }
}
