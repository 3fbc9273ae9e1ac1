//! What a queue page may print: every documented variable and a few of our own, for one visitor.
//! Reads no clock; decides nothing.

use crate::event::Phase;
use crate::settings::QueueingMethod;
use crate::template::Value;
use crate::time::{MINUTE_MS, Timestamp};

const MINUTES_PER_HOUR: u64 = 60;
const MINUTES_PER_DAY: u64 = 24 * MINUTES_PER_HOUR;
/// Printed where no time can be told.
const UNAVAILABLE: &str = "unavailable";

/// What is known about a waiting visitor when the page is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Seconds until the visitor is likely to enter; none without data.
    pub estimate_s: Option<u32>,
    /// The visitor's last counted check-in.
    pub last_updated: Timestamp,
    /// Seconds from `last_updated` to the next check-in that counts; 0 for no refresh.
    pub refresh_interval_s: u32,
    /// How the room deals with those who wait.
    pub method: QueueingMethod,
    /// Nobody new is let in, whatever is free.
    pub queue_all: bool,
    /// The line takes nobody; this visitor has no place.
    pub queue_is_full: bool,
    /// The request was to change something (a form was sent), and was not passed on.
    pub submitted_nothing: bool,
    /// Visitors who enter before this one; none if the room does not show it.
    pub people_ahead: Option<u64>,
    /// The active event.
    pub event: Option<Stage>,
}

/// Where the active event stands when the page is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Before or after its start.
    pub phase: Phase,
    /// When it starts or started.
    pub starts_at: Timestamp,
    /// Milliseconds until the start; 0 once it came.
    pub starts_in_ms: u64,
    /// Milliseconds until the end.
    pub ends_in_ms: u64,
    /// True when the start draws a new order for all who join before it.
    pub shuffles: bool,
}

impl Stage {
    /// True before the start.
    pub fn is_prequeueing(&self) -> bool {
        self.phase == Phase::Prequeueing
    }
}

impl Waiting {
    fn is_prequeueing(&self) -> bool {
        self.event.as_ref().is_some_and(Stage::is_prequeueing)
    }

    /// True for a visitor who has no place and gets none.
    fn is_rejected(&self) -> bool {
        self.method == QueueingMethod::Reject && !self.queue_all && !self.is_prequeueing()
    }

    /// As the API names it.
    fn method_name(&self) -> &'static str {
        match self.method {
            QueueingMethod::Fifo => "fifo",
            QueueingMethod::Random => "random",
            QueueingMethod::Passthrough => "passthrough",
            QueueingMethod::Reject => "reject",
        }
    }
}

/// The values of all variables for one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    waiting: Waiting,
    /// Rounded up, at least 1; none if the estimate does not apply.
    wait_minutes: Option<u64>,
    wait_formatted: String,
    last_updated: String,
    people_ahead_formatted: String,
    until_start: Countdown,
    until_end: Countdown,
    /// When the active event starts, empty without one.
    event_start: String,
}

/// How long until a moment of the active event; of no length where there is none to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Countdown {
    minutes: u64,
    formatted: String,
}

impl Countdown {
    fn of(left_ms: Option<u64>) -> Self {
        let minutes = left_ms.map(|left_ms| left_ms.div_ceil(MINUTE_MS).max(1));
        let formatted = minutes.map_or_else(|| UNAVAILABLE.to_owned(), format_minutes);
        Self { minutes: minutes.unwrap_or(0), formatted }
    }
}

impl Variables {
    /// The variables of a page for this visitor.
    pub fn of(waiting: &Waiting) -> Self {
        // While nobody is let in, an estimate from yesterday's pace would be a lie.
        let is_held = waiting.queue_all || waiting.is_prequeueing();
        let estimate_s = waiting.estimate_s.filter(|_| !is_held && !waiting.queue_is_full);
        let to_start = waiting.event.filter(|_| waiting.is_prequeueing());
        let wait_minutes = estimate_s.map(|seconds| u64::from(seconds.div_ceil(60).max(1)));
        Self {
            waiting: *waiting,
            wait_minutes,
            wait_formatted: wait_minutes.map_or_else(|| UNAVAILABLE.to_owned(), format_minutes),
            last_updated: waiting.last_updated.to_iso8601(),
            people_ahead_formatted: waiting.people_ahead.map(format_people).unwrap_or_default(),
            until_start: Countdown::of(to_start.map(|event| event.starts_in_ms)),
            until_end: Countdown::of(waiting.event.map(|event| event.ends_in_ms)),
            event_start: to_start.map(|event| event.starts_at.to_iso8601()).unwrap_or_default(),
        }
    }

    /// True if a page may print `name`.
    pub fn is_known(name: &str) -> bool {
        find(name).is_some()
    }

    /// The value of the variable called `name`.
    pub fn value(&self, name: &str) -> Option<Value<'_>> {
        find(name).map(|read| read(self))
    }

    /// The time of day of `lastUpdated`, for visitors whose browser runs no script.
    fn last_updated_time(&self) -> &str {
        let time = self.last_updated.split_once('T').map(|(_, time)| time);
        time.and_then(|time| time.split_once('.')).map_or("", |(to_the_second, _)| to_the_second)
    }
}

type Read = for<'a> fn(&'a Variables) -> Value<'a>;

fn find(name: &str) -> Option<Read> {
    let position = VARIABLES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    VARIABLES.get(position).map(|(_, read)| *read)
}

/// Every variable, sorted by name for the search.
///
/// Those not of the documented set: `eventStart…` (while prequeueing, in UTC), `lastUpdatedTime`,
/// `isRejected`, `nothingSubmitted` and `peopleAhead…`.
const VARIABLES: [(&str, Read); 38] = [
    ("eventStart", |own| Value::Text(&own.event_start)),
    ("eventStartDate", |own| Value::Text(own.event_start.get(..10).unwrap_or(""))),
    ("eventStartTime", |own| Value::Text(own.event_start.get(11..16).unwrap_or(""))),
    ("inWaitingRoom", |_| Value::Bool(true)),
    ("infiniteQueue", |_| Value::Bool(false)),
    ("isEventActive", |own| Value::Bool(own.waiting.event.is_some())),
    ("isEventPrequeueing", |own| Value::Bool(own.waiting.is_prequeueing())),
    ("isFIFOQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Fifo)),
    ("isPassthroughQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Passthrough)),
    ("isRandomQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Random)),
    ("isRejectQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Reject)),
    ("isRejected", |own| Value::Bool(own.waiting.is_rejected())),
    ("lastUpdated", |own| Value::Text(&own.last_updated)),
    ("lastUpdatedTime", |own| Value::Text(own.last_updated_time())),
    ("nothingSubmitted", |own| Value::Bool(own.waiting.submitted_nothing)),
    ("peopleAhead", |own| Value::Integer(own.waiting.people_ahead.unwrap_or(0))),
    ("peopleAheadFormatted", |own| Value::Text(&own.people_ahead_formatted)),
    ("peopleAheadKnown", |own| Value::Bool(own.waiting.people_ahead.is_some())),
    ("queueAll", |own| Value::Bool(own.waiting.queue_all)),
    ("queueIsFull", |own| Value::Bool(own.waiting.queue_is_full)),
    ("queueingMethod", |own| Value::Text(own.waiting.method_name())),
    ("refreshIntervalSeconds", |own| Value::Integer(own.waiting.refresh_interval_s.into())),
    ("shuffleAtEventStart", |own| {
        Value::Bool(own.waiting.event.is_some_and(|event| event.shuffles))
    }),
    ("timeUntilEventEnd", |own| Value::Integer(own.until_end.minutes)),
    ("timeUntilEventEndFormatted", |own| Value::Text(&own.until_end.formatted)),
    ("timeUntilEventStart", |own| Value::Integer(own.until_start.minutes)),
    ("timeUntilEventStartFormatted", |own| Value::Text(&own.until_start.formatted)),
    ("timeUntilEventStartHourMinutes", |own| {
        Value::Integer(own.until_start.minutes % MINUTES_PER_HOUR)
    }),
    ("timeUntilEventStartHours", |own| Value::Integer(own.until_start.minutes / MINUTES_PER_HOUR)),
    ("turnstile", |_| Value::Html("")),
    ("waitTime", |own| Value::Integer(own.wait_minutes.unwrap_or(0))),
    ("waitTime25Percentile", |_| Value::Integer(0)),
    ("waitTime50Percentile", |_| Value::Integer(0)),
    ("waitTime75Percentile", |_| Value::Integer(0)),
    ("waitTimeFormatted", |own| Value::Text(&own.wait_formatted)),
    ("waitTimeHourMinutes", |own| Value::Integer(own.wait_minutes.unwrap_or(0) % MINUTES_PER_HOUR)),
    ("waitTimeHours", |own| Value::Integer(own.wait_minutes.unwrap_or(0) / MINUTES_PER_HOUR)),
    ("waitTimeKnown", |own| Value::Bool(own.wait_minutes.is_some())),
];

/// In English, from 4 hours on to the hour and from 4 days on to the day: nobody can foresee more.
fn format_minutes(minutes: u64) -> String {
    let step = match minutes {
        0..240 => 1,
        240..5_760 => MINUTES_PER_HOUR,
        _ => MINUTES_PER_DAY,
    };
    let rounded = (minutes + step / 2) / step * step;
    let parts = [
        count(rounded / MINUTES_PER_DAY, "day"),
        count(rounded % MINUTES_PER_DAY / MINUTES_PER_HOUR, "hour"),
        count(rounded % MINUTES_PER_HOUR, "minute"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// None for 0.
fn count(number: u64, unit: &str) -> Option<String> {
    let plural = if number == 1 { "" } else { "s" };
    (number > 0).then(|| format!("{number} {unit}{plural}"))
}

/// In English, with a comma between thousands.
fn format_people(people: u64) -> String {
    match people {
        0 => "nobody".to_owned(),
        1 => "1 person".to_owned(),
        _ => {
            let digits = people.to_string();
            let mut grouped = String::with_capacity(digits.len() * 2);
            for (position, digit) in digits.chars().enumerate() {
                if position > 0 && (digits.len() - position).is_multiple_of(3) {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            grouped + " people"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stage;
    use super::VARIABLES;
    use super::Variables;
    use super::Waiting;
    use super::format_minutes;
    use super::format_people;
    use crate::event::Phase;
    use crate::template::Value;
    use crate::time::Timestamp;

    #[test]
    fn names_are_sorted_so_the_search_finds_each() {
        assert!(VARIABLES.is_sorted_by(|(first, _), (second, _)| first < second));
        for (name, _) in VARIABLES {
            assert!(Variables::is_known(name), "{name}");
        }
        assert!(!Variables::is_known("waittime"));
    }

    #[test]
    fn the_wait_is_rounded_up_and_split() {
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
        check(Some(61), 2, "2 minutes");
        check(Some(3_600), 60, "1 hour");
        check(Some(3_601), 61, "1 hour 1 minute");
        check(Some(u32::MAX), 71_582_789, "49710 days");
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
        check(
            before,
            (7_500_000, 7_560_000),
            (125, "2 hours 5 minutes"),
            (126, "2 hours 6 minutes"),
        );
        check(Phase::Running, (0, 60_000), NONE, (1, "1 minute"));
        check(Phase::Running, (0, 1), NONE, (1, "1 minute"));
    }

    /// The names and meanings are documented to owners: changing one breaks their pages.
    #[test]
    fn every_variable_has_its_documented_value() {
        let waiting = Waiting {
            estimate_s: Some(3_901),
            last_updated: Timestamp(1_795_255_200_123),
            refresh_interval_s: 23,
            submitted_nothing: true,
            people_ahead: Some(1_234),
            ..Waiting::default()
        };
        let variables = Variables::of(&waiting);
        let want = [
            ("eventStart", Value::Text("")),
            ("eventStartDate", Value::Text("")),
            ("eventStartTime", Value::Text("")),
            ("inWaitingRoom", Value::Bool(true)),
            ("infiniteQueue", Value::Bool(false)),
            ("isEventActive", Value::Bool(false)),
            ("isEventPrequeueing", Value::Bool(false)),
            ("isFIFOQueue", Value::Bool(true)),
            ("isPassthroughQueue", Value::Bool(false)),
            ("isRandomQueue", Value::Bool(false)),
            ("isRejectQueue", Value::Bool(false)),
            ("isRejected", Value::Bool(false)),
            ("lastUpdated", Value::Text("2026-11-21T10:00:00.123Z")),
            ("lastUpdatedTime", Value::Text("10:00:00")),
            ("nothingSubmitted", Value::Bool(true)),
            ("peopleAhead", Value::Integer(1_234)),
            ("peopleAheadFormatted", Value::Text("1,234 people")),
            ("peopleAheadKnown", Value::Bool(true)),
            ("queueAll", Value::Bool(false)),
            ("queueIsFull", Value::Bool(false)),
            ("queueingMethod", Value::Text("fifo")),
            ("refreshIntervalSeconds", Value::Integer(23)),
            ("shuffleAtEventStart", Value::Bool(false)),
            ("timeUntilEventEnd", Value::Integer(0)),
            ("timeUntilEventEndFormatted", Value::Text("unavailable")),
            ("timeUntilEventStart", Value::Integer(0)),
            ("timeUntilEventStartFormatted", Value::Text("unavailable")),
            ("timeUntilEventStartHourMinutes", Value::Integer(0)),
            ("timeUntilEventStartHours", Value::Integer(0)),
            ("turnstile", Value::Html("")),
            ("waitTime", Value::Integer(66)),
            ("waitTime25Percentile", Value::Integer(0)),
            ("waitTime50Percentile", Value::Integer(0)),
            ("waitTime75Percentile", Value::Integer(0)),
            ("waitTimeFormatted", Value::Text("1 hour 6 minutes")),
            ("waitTimeHourMinutes", Value::Integer(6)),
            ("waitTimeHours", Value::Integer(1)),
            ("waitTimeKnown", Value::Bool(true)),
        ];
        let found = VARIABLES.map(|(name, read)| (name, read(&variables)));
        assert_eq!(found, want);
    }

    #[test]
    fn spans_and_crowds_read_naturally() {
        let check = |minutes: u64, want: &str| assert_eq!(format_minutes(minutes), want);
        check(59, "59 minutes");
        check(60, "1 hour");
        check(125, "2 hours 5 minutes");
        check(239, "3 hours 59 minutes");
        check(240, "4 hours");
        check(269, "4 hours");
        check(270, "5 hours");
        check(1_410, "1 day");
        check(1_500, "1 day 1 hour");
        check(5_759, "4 days");
        check(5_760, "4 days");
        check(6_479, "4 days");
        check(6_480, "5 days");
        let check = |people: u64, want: &str| assert_eq!(format_people(people), want);
        check(0, "nobody");
        check(1, "1 person");
        check(999, "999 people");
        check(1_000, "1,000 people");
        check(1_234_567, "1,234,567 people");
    }
}
