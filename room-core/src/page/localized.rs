//! The numbers of one visitor's page as texts in the language of the page.

use super::variables::Variables;
use super::words::Words;
use crate::page::template::Value;
use crate::room::language::Language;

/// The values of the variables called `...Localized`; empty where there is nothing to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Localized {
    pub(super) language: Language,
    /// The time to wait; in a lottery the range in which half of all enter.
    pub(super) wait: String,
    pub(super) until_start: String,
    pub(super) people_ahead: String,
    pub(super) entered_last_minute: String,
    pub(super) refresh_interval: String,
}

impl Localized {
    /// Writes the numbers among `variables` in the language of `words`.
    pub(super) fn of(variables: &Variables, words: &Words) -> Self {
        let number = |name| match variables.value(name) {
            Some(Value::Integer(number)) => number,
            _ => 0,
        };
        let is_true = |name| variables.value(name) == Some(Value::Bool(true));
        let (from, to) = (number("waitTime25Percentile"), number("waitTime75Percentile"));
        let wait = match variables.seconds_left() {
            Some(seconds) => words.seconds(seconds.into()),
            None if from < to => words.range(from, to),
            None => words.minutes(number("waitTime")),
        };
        let known = |is_known, name| {
            if is_true(is_known) { words.number(number(name)) } else { String::new() }
        };
        Self {
            language: words.language(),
            wait,
            until_start: words.minutes(number("timeUntilEventStart")),
            people_ahead: known("peopleAheadKnown", "peopleAhead"),
            entered_last_minute: known("enteredLastMinuteKnown", "enteredLastMinute"),
            refresh_interval: words.seconds(number("refreshIntervalSeconds")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Variables, Waiting, Words};
    use crate::page::template::Value;

    #[test]
    fn numbers_are_told_in_the_language_of_the_page() {
        let json = r#"{"minute.other": "{n} Minuten", "second": "{n} Sek.",
            "digits": "0123456789."}"#;
        let words = Words::parse("de-DE".parse().unwrap(), json).unwrap();
        let check = |waiting: Waiting, name: &str, want: &str| {
            let variables = Variables::in_language(&waiting, &words);
            assert_eq!(variables.value(name), Some(Value::Text(want)), "{name}");
        };
        let waiting = Waiting {
            estimate_s: Some(600),
            people_ahead: Some(1_234),
            entered_last_minute: Some(5_678),
            refresh_interval_s: 20,
            ..Waiting::default()
        };
        check(waiting, "language", "de-DE");
        check(waiting, "waitTimeFormatted", "10 minutes");
        check(waiting, "waitTimeLocalized", "10 Minuten");
        check(waiting, "peopleAheadFormatted", "1,234 people");
        check(waiting, "peopleAheadLocalized", "1.234");
        check(waiting, "enteredLastMinuteLocalized", "5.678");
        check(Waiting::default(), "enteredLastMinuteLocalized", "");
        check(waiting, "refreshIntervalLocalized", "20 Sek.");
        check(Waiting::default(), "waitTimeLocalized", "");
        let soon = Waiting { estimate_s: Some(60), seconds_left: Some(20), ..waiting };
        check(soon, "waitTimeLocalized", "20 Sek.");
        check(soon, "waitTimeFormatted", "1 minute");
        check(Waiting::default(), "timeUntilEventStartLocalized", "");
        check(Waiting::default(), "peopleAheadLocalized", "");
        check(Waiting { people_ahead: Some(0), ..waiting }, "peopleAheadLocalized", "0");
    }
}
