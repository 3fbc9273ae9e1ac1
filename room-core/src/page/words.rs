//! The texts of the built-in page in one language, and how that language writes numbers and times.

use crate::base::sorted::SortedMap;
use crate::queue::estimate;
use crate::room::language::Language;

const MINUTES_PER_HOUR: u64 = 60;
const MINUTES_PER_DAY: u64 = 24 * MINUTES_PER_HOUR;
/// The plural categories of Unicode, as `plurals` numbers them.
const CATEGORIES: [&str; 6] = ["zero", "one", "two", "few", "many", "other"];
/// The number of entries in the table of plural categories. A larger number has the category of its
/// last two digits plus 100. That holds in every language here; a test compares it with the
/// platform's own rules.
const TABLE_LENGTH: u64 = 200;

/// The words of one language. The default has no texts of the page and writes numbers in English.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    language: Language,
    /// The texts by key, as in `templates/languages/`.
    texts: SortedMap<String, String>,
}

/// Rounds minutes as they are shown: to the hour from 4 hours on, and to the day from 4 days on. No
/// forecast is better than that.
fn rounded(minutes: u64) -> u64 {
    let step = match minutes {
        0..240 => 1,
        240..5_760 => MINUTES_PER_HOUR,
        _ => MINUTES_PER_DAY,
    };
    (minutes + step / 2) / step * step
}

/// Returns a wait in minutes as its words round it, so that longer words have a higher number. 0
/// stands for less than a minute.
pub fn told_step(wait_s: u32) -> u64 {
    if wait_s <= estimate::SHORTEST_S { 0 } else { rounded(estimate::told_minutes(wait_s)) }
}

impl Words {
    /// Reads a language from a JSON object of texts; `None` if the text is no such object. Beside
    /// the texts of `templates/languages/` it may have:
    ///
    /// - `plurals`: for each of the numbers below 200 the digit of its plural category, from 0 for
    ///   `zero` to 5 for `other`. Without it, 1 is `one` and all else `other`.
    /// - `digits`: the ten digits, and what stands between thousands. Without it, as in English.
    pub fn parse(language: Language, json: &str) -> Option<Self> {
        Some(Self { language, texts: serde_json::from_str(json).ok()? })
    }

    /// Returns the language of the words.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Replaces each `[[key]]` in `source` by its text.
    ///
    /// Errors: the first key without a text.
    pub fn fill(&self, source: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(source.len() * 2);
        let mut parts = source.split("[[");
        filled.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (key, rest) = part.split_once("]]").unwrap_or((part, ""));
            filled.push_str(self.text(key).ok_or_else(|| key.to_owned())?);
            filled.push_str(rest);
        }
        Ok(filled)
    }

    /// Writes a number of minutes, [`rounded`], like `2 hours 5 minutes`.
    pub(super) fn minutes(&self, minutes: u64) -> String {
        let rounded = rounded(minutes);
        let parts = [
            (rounded / MINUTES_PER_DAY, "day"),
            (rounded % MINUTES_PER_DAY / MINUTES_PER_HOUR, "hour"),
            (rounded % MINUTES_PER_HOUR, "minute"),
        ];
        let mut spoken = String::new();
        for (number, unit) in parts.into_iter().filter(|(number, _)| *number > 0) {
            let part = self.count(number, unit);
            spoken = if spoken.is_empty() {
                part
            } else {
                let join = self.text("join").unwrap_or("{first} {second}");
                join.replace("{first}", &spoken).replace("{second}", &part)
            };
        }
        spoken
    }

    /// Writes the range from one number of minutes to another, like `3 minutes to 14 minutes`.
    pub(super) fn range(&self, from: u64, to: u64) -> String {
        let range = self.text("range").unwrap_or("{from} to {to}");
        range.replace("{from}", &self.minutes(from)).replace("{to}", &self.minutes(to))
    }

    /// Writes a number of seconds in short form, like `20 s`.
    pub(super) fn seconds(&self, seconds: u64) -> String {
        self.text("second").unwrap_or("{n} s").replace("{n}", &self.number(seconds))
    }

    /// Writes a number in the digits of the language, with its mark between thousands.
    pub(super) fn number(&self, number: u64) -> String {
        let mut marks = self.text("digits").unwrap_or("0123456789,").chars();
        let digits: Vec<char> = marks.by_ref().take(10).collect();
        let separator: String = marks.collect();
        let decimal = number.to_string();
        let mut spoken = String::with_capacity(decimal.len() * 2);
        for (place, digit) in decimal.bytes().enumerate() {
            if place > 0 && (decimal.len() - place).is_multiple_of(3) {
                spoken.push_str(&separator);
            }
            let digit = digits.get(usize::from(digit - b'0'));
            spoken.extend(digit);
        }
        spoken
    }

    /// Returns the text for a client that cannot show a page.
    pub(crate) fn refusal(&self) -> String {
        let line = self.text("in_line").unwrap_or("You are in line");
        let open = self.text("open_in_browser");
        let open = open.unwrap_or("Open the site in a browser, or try again later.");
        format!("{line}. {open}\n")
    }

    /// Returns the sentence for visitors whose browser cannot run the challenge.
    pub(crate) fn no_challenge(&self) -> &str {
        let english =
            "This check needs JavaScript. Please allow it for this site and reload the page.";
        self.text("no_challenge").unwrap_or(english)
    }

    fn count(&self, number: u64, unit: &str) -> String {
        let form = self.text(&format!("{unit}.{}", self.category(number)));
        let digits = self.number(number);
        form.map_or_else(
            || {
                let plural = if number == 1 { "" } else { "s" };
                format!("{number} {unit}{plural}")
            },
            |form| form.replace("{n}", &digits),
        )
    }

    fn category(&self, number: u64) -> &'static str {
        let english = if number == 1 { 1 } else { 5 };
        let place = if number < TABLE_LENGTH { number } else { number % 100 + TABLE_LENGTH / 2 };
        let listed = self.text("plurals").and_then(|plurals| {
            plurals.as_bytes().get(usize::try_from(place).ok()?)?.checked_sub(b'0')
        });
        CATEGORIES.get(usize::from(listed.unwrap_or(english))).copied().unwrap_or("other")
    }

    fn text(&self, key: &str) -> Option<&str> {
        match key {
            "language" => Some(self.language.html_tag()),
            "direction" => Some(self.language.direction()),
            _ => self.texts.get(key).map(String::as_str),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use crate::room::language::Language;

    fn words(tag: &str, json: &str) -> Words {
        Words::parse(tag.parse().unwrap(), json).unwrap()
    }

    #[test]
    fn spans_read_naturally() {
        let check = |minutes: u64, want: &str| assert_eq!(Words::default().minutes(minutes), want);
        check(1, "1 minute");
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
        assert_eq!(Words::default().range(5, 65), "5 minutes to 1 hour 5 minutes");
    }

    #[test]
    fn a_language_has_its_own_plurals_digits_and_joints() {
        // Of Arabic: one, two, few for 3 to 10, many for 11 to 99, other for 100 to 102.
        let below_hundred = format!("0123{}{}", "3".repeat(7), "4".repeat(89));
        let json = format!(
            r#"{{"minute.one": "M", "minute.two": "MM", "minute.few": "{{n}} f",
                "minute.many": "{{n}} m", "minute.other": "{{n}} o", "day.few": "{{n}} d",
                "day.other": "{{n}} D", "hour.two": "HH", "join": "{{first}} w{{second}}",
                "range": "{{from}}..{{to}}", "second": "s{{n}}", "digits": "abcdefghij'",
                "plurals": "{below_hundred}555{}"}}"#,
            &below_hundred[3..]
        );
        let words = words("ar-EG", &json);
        let check = |minutes: u64, want: &str| assert_eq!(words.minutes(minutes), want);
        check(1, "M");
        check(2, "MM");
        check(3, "d f");
        check(11, "bb m");
        check(122, "HH wMM");
        check(100 * 1_440, "baa D");
        check(103 * 1_440, "bad d");
        check(200 * 1_440, "caa D");
        check(1_203 * 1_440, "b'cad d");
        assert_eq!(words.range(1, 2), "M..MM");
        assert_eq!(words.seconds(20), "sca");
        assert_eq!(words.number(1_234_567), "b'cde'fgh");
        assert_eq!(words.number(0), "a");
        let json = r#"{"in_line": "A", "open_in_browser": "B."}"#;
        assert_eq!(self::words("de-DE", json).refusal(), "A. B.\n");
    }

    #[test]
    fn texts_are_filled_in_by_key() {
        let words = words("he-IL", r#"{"a": "A", "b": "[[a]]"}"#);
        let check = |source: &str, want: Result<&str, &str>| {
            let filled = words.fill(source);
            assert_eq!(filled.as_deref().map_err(String::as_str), want, "{source}");
        };
        check("", Ok(""));
        check("x[[a]]y[[a]]", Ok("xAyA"));
        check("[[b]]", Ok("[[a]]"));
        check("<[[language]] [[direction]]>", Ok("<he-IL rtl>"));
        check("[[a]] [[c]] [[d]]", Err("c"));
        check("[[a", Ok("A"));
        check("a]]", Ok("a]]"));
        assert_eq!(Words::parse(Language::default(), "[]"), None);
        assert_eq!(Words::parse(Language::default(), r#"{"a": 1}"#), None);
    }

    #[test]
    fn damaged_plurals_are_other() {
        let check = |plurals: &str, want: &str| {
            let json = format!(
                r#"{{"plurals": "{plurals}", "minute.one": "one", "minute.other": "other"}}"#
            );
            assert_eq!(words("en-US", &json).minutes(1), want, "{plurals}");
        };
        check("51", "one");
        check("09", "other");
        check("0 ", "one");
        check("", "one");
    }
}
