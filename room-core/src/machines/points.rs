//! What a report adds to a raw data point, where an owner binds a dataset for points. Nothing of a
//! visitor is in it.

use super::wire::{IsolateEvent, Report};
use crate::capacity::facts::{Fact, minute_and_cell};

/// How many numbers a point has.
pub const NUMBERS: usize = 10;

/// Places of numbers. Points are stored for months: none may move. The last have the [`FACTS`].
const ENTERED: usize = 0;
const CALLED: usize = 1;
const JOINED: usize = 2;
const REVOKED: usize = 3;
const WAITED_S: usize = 4;
const FIRST_FACT: usize = 5;

const FACTS: [Fact; NUMBERS - FIRST_FACT] =
    [Fact::Challenged, Fact::Solved, Fact::Failed, Fact::InfiniteRefresh, Fact::Unanswered];

/// Returns what a report adds to the numbers of a point: visitors who entered without waiting, who
/// entered after waiting, and who joined the line; sessions that the site ended; how many seconds
/// the second ones waited in all; challenges shown, solved and failed; pages of the infinite queue;
/// messages without an answer.
pub fn numbers(report: &Report) -> [u32; NUMBERS] {
    let mut numbers = [0_u32; NUMBERS];
    let mut add = |place: usize, by: u32| {
        if let Some(number) = numbers.get_mut(place) {
            *number = number.saturating_add(by);
        }
    };
    for event in &report.events {
        match event {
            IsolateEvent::Admitted(admission) => match admission.waited_s {
                None => add(ENTERED, 1),
                Some(seconds) => {
                    add(CALLED, 1);
                    add(WAITED_S, seconds);
                }
            },
            IsolateEvent::Present(presence) => add(JOINED, presence.joined.into()),
            IsolateEvent::Revoked { .. } => add(REVOKED, 1),
            IsolateEvent::Moved { .. } => {}
        }
    }
    for (key, count) in report.counted.iter().flat_map(|counted| &counted.facts) {
        let (_, cell) = minute_and_cell(*key);
        if let Some(at) = FACTS.iter().position(|fact| fact.cell() == cell) {
            add(FIRST_FACT + at, *count);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::numbers;
    use crate::capacity::facts::{Fact, key};

    #[test]
    fn a_point_counts_what_a_report_says() {
        let admitted = |more: serde_json::Value| {
            let mut event = json!({
                "visitor": 7, "bucket": 9, "second": 5, "class": "new", "grant": null,
            });
            event.as_object_mut().expect("fields").extend(more.as_object().cloned().expect("more"));
            json!({ "admitted": event })
        };
        let present = |joined: bool| {
            let span = json!({ "key": 1, "from": 2, "until": 3, "check_in": 7, "joined": joined });
            json!({ "present": span })
        };
        let of = |fact: Fact, minute: u64| key(29_000_000 + minute, fact).to_string();
        let report = serde_json::from_value(json!({
            "isolate": 1,
            "first": 1,
            "events": [
                admitted(json!({})),
                admitted(json!({ "waited_s": 90, "told_s": 60 })),
                admitted(json!({ "waited_s": 30 })),
                present(true),
                present(false),
                { "revoked": { "visitor": 7, "from": 9 } },
                { "moved": { "visitor": 7, "from": 9, "to": 10 } },
            ],
            "counted": {
                "number": 1,
                "facts": {
                    of(Fact::Challenged, 0): 5, of(Fact::Solved, 0): 3, of(Fact::Failed, 0): 1,
                    of(Fact::Failed, 1): 1, of(Fact::InfiniteRefresh, 0): 11,
                    of(Fact::Unanswered, 0): 4, of(Fact::TurnKept, 0): 9,
                },
            },
        }));
        let report = report.expect("a report");
        assert_eq!(numbers(&report), [1, 2, 1, 1, 120, 5, 3, 2, 11, 4]);
    }
}
