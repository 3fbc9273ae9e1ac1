//! What a queue page may print: every documented variable and a few of our own, for one visitor.
//! Reads no clock; decides nothing.

use super::draw::DrawTexts;
use super::english::{format_people, format_range, in_english};
use super::localized::Localized;
use super::words::Words;
use crate::settings::QueueingMethod;
use crate::template::Value;
use crate::time::MINUTE_MS;
use crate::waiting::Waiting;

const MINUTES_PER_HOUR: u64 = 60;
/// Printed where no time can be told.
const UNAVAILABLE: &str = "unavailable";

/// The values of all variables for one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    waiting: Waiting,
    /// Rounded up, at least 1; none if the estimate does not apply.
    wait_minutes: Option<u64>,
    wait_formatted: String,
    /// The same of the quartiles.
    range_minutes: Option<(u64, u64)>,
    range_formatted: String,
    /// True when the wait is longer than the active event.
    is_beyond_event: bool,
    last_updated: String,
    people_ahead_formatted: String,
    draw: DrawTexts,
    until_start: Countdown,
    until_end: Countdown,
    /// When the active event starts, empty without one.
    event_start: String,
    localized: Localized,
}

/// What a page mainly says; of several true things the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Held,
    Rejected,
    Full,
    Paused,
    Prequeue,
    Estimate,
    Unknown,
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
        let formatted = minutes.map_or_else(|| UNAVAILABLE.to_owned(), in_english);
        Self { minutes: minutes.unwrap_or(0), formatted }
    }
}

impl Variables {
    /// The variables of a page in English for this visitor.
    pub fn of(waiting: &Waiting) -> Self {
        Self::in_language(waiting, &Words::default())
    }

    /// The variables of a page for this visitor. Those called `...Formatted` are in English, as
    /// documented; those called `...Localized` are in the language of `words`.
    pub fn in_language(waiting: &Waiting, words: &Words) -> Self {
        let mut own = Self::unlocalized(waiting);
        own.localized = Localized::of(&own, words);
        own
    }

    fn unlocalized(waiting: &Waiting) -> Self {
        // While nobody is let in, an estimate from yesterday's pace would be a lie.
        let is_held = waiting.queue_all || waiting.is_prequeueing();
        let estimate_s = waiting.estimate_s.filter(|_| !is_held && !waiting.queue_is_full);
        let to_start = waiting.event.filter(|_| waiting.is_prequeueing());
        let minutes = |seconds: u32| u64::from(seconds.div_ceil(60).max(1));
        let wait_minutes = estimate_s.map(minutes);
        let quartiles_s = waiting.quartiles_s.filter(|_| estimate_s.is_some());
        let range_minutes = quartiles_s.map(|(low_s, high_s)| (minutes(low_s), minutes(high_s)));
        let range_formatted = range_minutes.map_or_else(|| UNAVAILABLE.to_owned(), format_range);
        let wait_formatted = match wait_minutes {
            Some(_) if waiting.method == QueueingMethod::Random && range_minutes.is_some() => {
                range_formatted.clone()
            }
            Some(minutes) => in_english(minutes),
            None => UNAVAILABLE.to_owned(),
        };
        let ends_in_ms = waiting.event.map(|event| event.ends_in_ms);
        let is_beyond_event = estimate_s
            .zip(ends_in_ms)
            .is_some_and(|(wait_s, ends_in_ms)| u64::from(wait_s) * 1_000 > ends_in_ms);
        Self {
            waiting: *waiting,
            wait_minutes,
            wait_formatted,
            range_minutes,
            range_formatted,
            is_beyond_event,
            last_updated: waiting.last_updated.to_iso8601(),
            people_ahead_formatted: waiting.people_ahead.map(format_people).unwrap_or_default(),
            draw: DrawTexts::of(waiting.draw),
            until_start: Countdown::of(to_start.map(|event| event.starts_in_ms)),
            until_end: Countdown::of(waiting.event.map(|event| event.ends_in_ms)),
            event_start: to_start.map(|event| event.starts_at.to_iso8601()).unwrap_or_default(),
            localized: Localized::default(),
        }
    }

    /// True if a page may print `name`.
    pub fn is_known(name: &str) -> bool {
        find(name).is_some() || DrawTexts::default().text(name).is_some()
    }

    /// The value of the variable called `name`.
    pub fn value(&self, name: &str) -> Option<Value<'_>> {
        let read = find(name).map(|read| read(self));
        read.or_else(|| self.draw.text(name).map(Value::Text))
    }

    /// Minutes after which a quarter, a half and three quarters are inside, in a lottery.
    fn percentiles(&self) -> [u64; 3] {
        let minutes = self.wait_minutes.zip(self.range_minutes);
        match minutes.filter(|_| self.waiting.method == QueueingMethod::Random) {
            Some((middle, (low, high))) => [low, middle, high],
            None => [0; 3],
        }
    }

    fn shown(&self) -> Shown {
        match self.wait_minutes {
            _ if self.waiting.is_held => Shown::Held,
            _ if self.waiting.is_rejected() => Shown::Rejected,
            _ if self.waiting.queue_is_full => Shown::Full,
            _ if self.waiting.queue_all => Shown::Paused,
            _ if self.waiting.is_prequeueing() => Shown::Prequeue,
            Some(_) => Shown::Estimate,
            None => Shown::Unknown,
        }
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

/// Every variable but those of a draw, sorted by name for the search.
///
/// Those not of the documented set: `eventStart…` (while prequeueing, in UTC), `eventStream`,
/// `language…`, `lastUpdatedTime`, `nothingSubmitted`, `peopleAhead…`, `shows…` (exactly one is
/// true), `waitTimeExceedsEvent`, `waitTimeRange…` and all that end with `Localized`.
const VARIABLES: [(&str, Read); 56] = [
    ("eventStart", |own| Value::Text(&own.event_start)),
    ("eventStartDate", |own| Value::Text(own.event_start.get(..10).unwrap_or(""))),
    ("eventStartTime", |own| Value::Text(own.event_start.get(11..16).unwrap_or(""))),
    ("eventStream", |own| Value::Bool(own.waiting.event_stream)),
    ("inWaitingRoom", |_| Value::Bool(true)),
    ("infiniteQueue", |_| Value::Bool(false)),
    ("isEventActive", |own| Value::Bool(own.waiting.event.is_some())),
    ("isEventPrequeueing", |own| Value::Bool(own.waiting.is_prequeueing())),
    ("isFIFOQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Fifo)),
    ("isPassthroughQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Passthrough)),
    ("isRandomQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Random)),
    ("isRejectQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Reject)),
    ("language", |own| Value::Text(own.localized.language.html_tag())),
    ("languageDirection", |own| Value::Text(own.localized.language.direction())),
    ("lastUpdated", |own| Value::Text(&own.last_updated)),
    ("lastUpdatedTime", |own| Value::Text(own.last_updated_time())),
    ("nothingSubmitted", |own| Value::Bool(own.waiting.submitted_nothing)),
    ("peopleAhead", |own| Value::Integer(own.waiting.people_ahead.unwrap_or(0))),
    ("peopleAheadFormatted", |own| Value::Text(&own.people_ahead_formatted)),
    ("peopleAheadKnown", |own| Value::Bool(own.waiting.people_ahead.is_some())),
    ("peopleAheadLocalized", |own| Value::Text(&own.localized.people_ahead)),
    ("queueAll", |own| Value::Bool(own.waiting.queue_all)),
    ("queueIsFull", |own| Value::Bool(own.waiting.queue_is_full)),
    ("queueingMethod", |own| Value::Text(own.waiting.method_name())),
    ("refreshIntervalLocalized", |own| Value::Text(&own.localized.refresh_interval)),
    ("refreshIntervalSeconds", |own| Value::Integer(own.waiting.refresh_interval_s.into())),
    ("showsEstimate", |own| Value::Bool(own.shown() == Shown::Estimate)),
    ("showsFull", |own| Value::Bool(own.shown() == Shown::Full)),
    ("showsHeld", |own| Value::Bool(own.shown() == Shown::Held)),
    ("showsPaused", |own| Value::Bool(own.shown() == Shown::Paused)),
    ("showsPrequeue", |own| Value::Bool(own.shown() == Shown::Prequeue)),
    ("showsRejected", |own| Value::Bool(own.shown() == Shown::Rejected)),
    ("showsUnknown", |own| Value::Bool(own.shown() == Shown::Unknown)),
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
    ("timeUntilEventStartLocalized", |own| Value::Text(&own.localized.until_start)),
    ("turnstile", |_| Value::Html("")),
    ("waitTime", |own| Value::Integer(own.wait_minutes.unwrap_or(0))),
    ("waitTime25Percentile", |own| Value::Integer(own.percentiles()[0])),
    ("waitTime50Percentile", |own| Value::Integer(own.percentiles()[1])),
    ("waitTime75Percentile", |own| Value::Integer(own.percentiles()[2])),
    ("waitTimeExceedsEvent", |own| Value::Bool(own.is_beyond_event)),
    ("waitTimeFormatted", |own| Value::Text(&own.wait_formatted)),
    ("waitTimeHourMinutes", |own| Value::Integer(own.wait_minutes.unwrap_or(0) % MINUTES_PER_HOUR)),
    ("waitTimeHours", |own| Value::Integer(own.wait_minutes.unwrap_or(0) / MINUTES_PER_HOUR)),
    ("waitTimeKnown", |own| Value::Bool(own.wait_minutes.is_some())),
    ("waitTimeLocalized", |own| Value::Text(&own.localized.wait)),
    ("waitTimeRangeFormatted", |own| Value::Text(&own.range_formatted)),
    ("waitTimeRangeHigh", |own| Value::Integer(own.range_minutes.map_or(0, |(_, high)| high))),
    ("waitTimeRangeKnown", |own| Value::Bool(own.range_minutes.is_some())),
    ("waitTimeRangeLow", |own| Value::Integer(own.range_minutes.map_or(0, |(low, _)| low))),
];

#[cfg(test)]
mod tests {
    use super::VARIABLES;
    use super::Variables;
    use crate::event::Phase;
    use crate::settings::QueueingMethod;
    use crate::template::Value;
    use crate::time::Timestamp;
    use crate::waiting::{Stage, Waiting};

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

    /// The names and meanings are documented to owners: changing one breaks their pages.
    #[test]
    fn every_variable_has_its_documented_value() {
        let waiting = Waiting {
            estimate_s: Some(3_901),
            quartiles_s: Some((3_500, 4_321)),
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
            ("eventStream", Value::Bool(false)),
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
            ("peopleAhead", Value::Integer(1_234)),
            ("peopleAheadFormatted", Value::Text("1,234 people")),
            ("peopleAheadKnown", Value::Bool(true)),
            ("peopleAheadLocalized", Value::Text("1,234")),
            ("queueAll", Value::Bool(false)),
            ("queueIsFull", Value::Bool(false)),
            ("queueingMethod", Value::Text("fifo")),
            ("refreshIntervalLocalized", Value::Text("23 s")),
            ("refreshIntervalSeconds", Value::Integer(23)),
            ("showsEstimate", Value::Bool(true)),
            ("showsFull", Value::Bool(false)),
            ("showsHeld", Value::Bool(false)),
            ("showsPaused", Value::Bool(false)),
            ("showsPrequeue", Value::Bool(false)),
            ("showsRejected", Value::Bool(false)),
            ("showsUnknown", Value::Bool(false)),
            ("shuffleAtEventStart", Value::Bool(false)),
            ("timeUntilEventEnd", Value::Integer(0)),
            ("timeUntilEventEndFormatted", Value::Text("unavailable")),
            ("timeUntilEventStart", Value::Integer(0)),
            ("timeUntilEventStartFormatted", Value::Text("unavailable")),
            ("timeUntilEventStartHourMinutes", Value::Integer(0)),
            ("timeUntilEventStartHours", Value::Integer(0)),
            ("timeUntilEventStartLocalized", Value::Text("")),
            ("turnstile", Value::Html("")),
            ("waitTime", Value::Integer(66)),
            ("waitTime25Percentile", Value::Integer(0)),
            ("waitTime50Percentile", Value::Integer(0)),
            ("waitTime75Percentile", Value::Integer(0)),
            ("waitTimeExceedsEvent", Value::Bool(false)),
            ("waitTimeFormatted", Value::Text("1 hour 6 minutes")),
            ("waitTimeHourMinutes", Value::Integer(6)),
            ("waitTimeHours", Value::Integer(1)),
            ("waitTimeKnown", Value::Bool(true)),
            ("waitTimeLocalized", Value::Text("1 hour 6 minutes")),
            ("waitTimeRangeFormatted", Value::Text("59 minutes to 1 hour 13 minutes")),
            ("waitTimeRangeHigh", Value::Integer(73)),
            ("waitTimeRangeKnown", Value::Bool(true)),
            ("waitTimeRangeLow", Value::Integer(59)),
        ];
        let found = VARIABLES.map(|(name, read)| (name, read(&variables)));
        assert_eq!(found, want);
    }
}
