//! Writes the variables of a waiting visitor as the JSON that apps read.

use serde_json::Value as Json;

use super::variables::Variables;
use crate::page::template::Value;

/// The keys that Cloudflare documents, in the documented order; always present.
const KEYS: [&str; 25] = [
    "inWaitingRoom",
    "waitTimeKnown",
    "waitTime",
    "waitTime25Percentile",
    "waitTime50Percentile",
    "waitTime75Percentile",
    "waitTimeFormatted",
    "queueIsFull",
    "queueAll",
    "lastUpdated",
    "refreshIntervalSeconds",
    "queueingMethod",
    "isFIFOQueue",
    "isRandomQueue",
    "isPassthroughQueue",
    "isRejectQueue",
    "isEventActive",
    "isEventPrequeueing",
    "timeUntilEventStart",
    "timeUntilEventStartFormatted",
    "timeUntilEventEnd",
    "timeUntilEventEndFormatted",
    "shuffleAtEventStart",
    "turnstile",
    "infiniteQueue",
];

/// Our own keys, behind the documented ones. Each is present only while its variable is true or not
/// empty.
const OWN_KEYS: [(&str, &str); 13] = [
    ("peopleAhead", "peopleAheadKnown"),
    ("eventStream", "eventStream"),
    ("drawCommitment", "drawCommitment"),
    ("drawLot", "drawLot"),
    ("drawKey", "drawKey"),
    ("drawRank", "drawRank"),
    ("placeMoved", "placeMoved"),
    ("reference", "reference"),
    ("turnSeconds", "showsTurn"),
    ("invitation", "invitation"),
    ("invitationNeeded", "invitationNeeded"),
    ("invitationsFirst", "invitationsFirst"),
    ("invitationsOneIn", "invitationsShare"),
];

/// Writes `{"cfWaitingRoom":{...}}`. By that key apps tell it from an answer of the origin.
pub(super) fn json(variables: &Variables) -> String {
    let mut text = String::with_capacity(1_024);
    text.push_str("{\"cfWaitingRoom\":{");
    let is_told = |told_by: &str| match variables.value(told_by) {
        Some(Value::Bool(is_told)) => is_told,
        Some(Value::Text(text)) => !text.is_empty(),
        _ => false,
    };
    let own = OWN_KEYS.into_iter().filter(|(_, told_by)| is_told(told_by)).map(|(key, _)| key);
    for (place, key) in KEYS.into_iter().chain(own).enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push('"');
        text.push_str(key);
        text.push_str("\":");
        text.push_str(&value(variables, key).to_string());
    }
    text.push_str("}}");
    text
}

fn value(variables: &Variables, key: &str) -> Json {
    match variables.value(key) {
        Some(Value::Bool(value)) => value.into(),
        Some(Value::Integer(value)) => value.into(),
        Some(Value::Html(text) | Value::Text(text)) => text.into(),
        None => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::{KEYS, json};
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;
    use crate::order::shuffle::{Lot, Receipt};
    use crate::page::{Variables, Waiting};
    use crate::room::event::{Phase, Stage};
    use crate::room::settings::QueueingMethod;
    use crate::ticket::reference::Reference;

    fn waiting() -> Waiting {
        Waiting {
            estimate_s: Some(600),
            last_updated: Timestamp(1_795_255_200_123),
            refresh_interval_s: 20,
            interval_s: 20,
            ..Waiting::default()
        }
    }

    fn stage(phase: Phase) -> Stage {
        Stage {
            phase,
            starts_at: Timestamp(1_795_255_200_000),
            starts_in_ms: if phase == Phase::Prequeueing { 900_000 } else { 0 },
            ends_in_ms: 4_500_000,
            shuffles: true,
        }
    }

    #[test]
    fn what_cloudflare_does_not_know_comes_last_and_only_where_it_is_known() {
        let check = |waiting: Waiting, want: &str| {
            let text = json(&Variables::of(&waiting));
            let (_, end) = text.split_once("\"infiniteQueue\":false").expect("the last key");
            assert_eq!(end, want);
        };
        check(waiting(), "}}");
        check(Waiting { people_ahead: Some(0), ..waiting() }, ",\"peopleAhead\":0}}");
        check(Waiting { event_stream: true, ..waiting() }, ",\"eventStream\":true}}");
        let reference = Some(Reference::of(VisitorId(7)));
        check(Waiting { reference, ..waiting() }, ",\"reference\":\"AVB2V-14BBV\"}}");
        check(Waiting { turn_left_s: Some(287), ..waiting() }, ",\"turnSeconds\":287}}");
        let draw = Some(Receipt { commitment: [0xab; 32], lot: Lot([0xcd; 16]), drawn: None });
        let [commitment, lot] = ["ab".repeat(32), "cd".repeat(16)];
        let want = format!(",\"drawCommitment\":\"{commitment}\",\"drawLot\":\"{lot}\"}}}}");
        let event = Some(stage(Phase::Prequeueing));
        check(Waiting { draw, event, ..waiting() }, &want);
    }

    /// Apps are built against these bytes and stay in use for longer than any version of the
    /// Worker.
    #[test]
    fn the_json_of_each_state_is_as_pinned() {
        let golden = include_str!("../../../tests/golden/json_answers.json");
        let golden: Vec<(String, String)> = serde_json::from_str(golden).unwrap();
        let ranged = Waiting { quartiles_s: Some((300, 900)), ..waiting() };
        let rejected = Waiting {
            method: QueueingMethod::Reject,
            estimate_s: None,
            refresh_interval_s: 0,
            ..waiting()
        };
        let states = [
            ("waiting", waiting()),
            ("unknown", Waiting { estimate_s: None, ..waiting() }),
            ("queue-all", Waiting { queue_all: true, ..waiting() }),
            ("full", Waiting { queue_is_full: true, ..waiting() }),
            ("prequeue", Waiting { event: Some(stage(Phase::Prequeueing)), ..waiting() }),
            ("event", Waiting { event: Some(stage(Phase::Running)), ..waiting() }),
            ("random", Waiting { method: QueueingMethod::Random, ..ranged }),
            ("rejected", rejected),
        ];
        let found =
            states.map(|(state, waiting)| (state.to_owned(), json(&Variables::of(&waiting))));
        assert_eq!(found.as_slice(), golden);
        for (state, text) in found {
            let object: Json = serde_json::from_str(&text).unwrap();
            let object = object["cfWaitingRoom"].as_object().unwrap();
            assert_eq!(object.len(), KEYS.len(), "{state}");
            assert!(object.values().all(|value| !value.is_null()), "{state}");
        }
    }
}
