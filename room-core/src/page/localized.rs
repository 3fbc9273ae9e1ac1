//! What a queue page prints in the visitor's language, for one visitor. Decides nothing.

use super::variables::Variables;
use super::words::Words;
use crate::language::Language;
use crate::template::Value;

/// Texts in one language; empty where there is nothing to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Localized {
    pub(super) language: Language,
    /// A range where nothing better is known.
    pub(super) wait: String,
    pub(super) until_start: String,
    pub(super) people_ahead: String,
    pub(super) refresh_interval: String,
}

impl Localized {
    /// The numbers among `variables` in `words`.
    pub(super) fn of(variables: &Variables, words: &Words) -> Self {
        let number = |name| match variables.value(name) {
            Some(Value::Integer(number)) => number,
            _ => 0,
        };
        let is_true = |name| variables.value(name) == Some(Value::Bool(true));
        let (from, to) = (number("waitTime25Percentile"), number("waitTime75Percentile"));
        let wait =
            if from < to { words.range(from, to) } else { words.minutes(number("waitTime")) };
        let people_ahead = if is_true("peopleAheadKnown") {
            words.number(number("peopleAhead"))
        } else {
            String::new()
        };
        Self {
            language: words.language(),
            wait,
            until_start: words.minutes(number("timeUntilEventStart")),
            people_ahead,
            refresh_interval: words.seconds(number("refreshIntervalSeconds")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Variables, Waiting, Words};
    use crate::template::Value;

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
            refresh_interval_s: 20,
            ..Waiting::default()
        };
        check(waiting, "language", "de-DE");
        check(waiting, "waitTimeFormatted", "10 minutes");
        check(waiting, "waitTimeLocalized", "10 Minuten");
        check(waiting, "peopleAheadFormatted", "1,234 people");
        check(waiting, "peopleAheadLocalized", "1.234");
        check(waiting, "refreshIntervalLocalized", "20 Sek.");
        check(Waiting::default(), "waitTimeLocalized", "");
        check(Waiting::default(), "timeUntilEventStartLocalized", "");
        check(Waiting::default(), "peopleAheadLocalized", "");
        check(Waiting { people_ahead: Some(0), ..waiting }, "peopleAheadLocalized", "0");
    }
}
