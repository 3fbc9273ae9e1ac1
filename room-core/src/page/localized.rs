//! The numbers of one visitor's page as texts in the language of the page.

use super::variables::Variables;
use super::words::Words;
use crate::room::language::Language;

/// The values of the variables called `...Localized`; empty where there is nothing to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Localized {
    pub(super) language: Language,
    /// The wait; in a lottery the range in which half of all visitors enter.
    pub(super) wait: String,
    pub(super) until_start: String,
    pub(super) people_ahead: String,
    pub(super) entered_last_minute: String,
    pub(super) refresh_interval: String,
    /// How long the code on the page is good.
    pub(super) code_left: String,
    /// How long the turn can be confirmed.
    pub(super) turn_left: String,
}

impl Localized {
    /// Writes the numbers among `variables` in the language of `words`.
    pub(super) fn of(variables: &Variables, words: &Words) -> Self {
        let [from, _, to] = variables.percentiles();
        let wait = if from < to {
            words.range(from, to)
        } else {
            words.minutes(variables.wait_minutes.unwrap_or(0))
        };
        let waiting = &variables.waiting;
        let known = |number: Option<u64>| number.map(|number| words.number(number));
        Self {
            language: words.language(),
            wait,
            until_start: words.minutes(variables.until_start.minutes),
            people_ahead: known(waiting.people_ahead).unwrap_or_default(),
            entered_last_minute: known(waiting.entered_last_minute).unwrap_or_default(),
            refresh_interval: words.seconds(waiting.refresh_interval_s.into()),
            turn_left: words.seconds(waiting.turn_left_s.unwrap_or(0).into()),
            code_left: words.seconds(waiting.place.code_left_s().into()),
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
        check(Waiting::default(), "timeUntilEventStartLocalized", "");
        check(Waiting::default(), "peopleAheadLocalized", "");
        check(Waiting { people_ahead: Some(0), ..waiting }, "peopleAheadLocalized", "0");
    }
}
