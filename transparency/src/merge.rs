//! Decides in which order admissions join the log, and which of them are in it already.
//!
//! A data center keeps rows: the first line has the limits, each further line an admission. A row
//! comes twice if an object or an answer was lost. What is in the log stays where it is.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::leaf::{self, Admission, Leaf, Rules};

/// The most entries of a log: 400 MB. What comes later is left out, and counted.
const SIZE_MAX: u64 = 4_000_000;

/// What a data center has stored at one time.
#[derive(Clone, Copy, Debug)]
pub struct Row<'text> {
    /// When it was stored, in milliseconds since the Unix epoch.
    pub stored_ms: u64,
    /// The limits, and an admission in each further line.
    pub text: &'text str,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The second of the admission, or of the first one under the limits, since the Unix epoch.
    pub at_s: u64,
    /// When the visitor joined, in seconds since the Unix epoch; 0 for limits.
    #[serde(skip)]
    joined_s: u64,
    /// Whether it is an admission, and no change of the limits.
    pub is_admission: bool,
    /// The leaf, as it stands in the log.
    pub leaf: String,
}

impl Entry {
    fn of(leaf: &Leaf) -> Self {
        let (at_s, joined_s, is_admission) = match leaf {
            Leaf::Admission(one) => (one.admitted_s, one.joined_s, true),
            Leaf::Rules(one) => (one.since_s, 0, false),
        };
        Self { at_s, joined_s, is_admission, leaf: leaf.to_string() }
    }
}

/// What joins a log.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// The new entries in their order.
    pub entries: Vec<Entry>,
    /// How many entries were left out because the log is full.
    pub left_out: u64,
    /// The limits that are in force after all entries, as their leaf; "" if there are none.
    pub rules: String,
}

/// Makes the entries of rows that are new to a log of `size` entries. `rules` are those that the
/// merge before returned. `stored` returns the leaves that the log has from a second until another.
pub fn merged(
    secret: &[u8],
    rules: &str,
    rows: &[Row<'_>],
    size: u64,
    stored: impl FnOnce(u64, u64) -> Vec<String>,
) -> Merged {
    let known = match rules.parse() {
        Ok(Leaf::Rules(known)) => Some(known),
        _ => None,
    };
    let since_s = known.as_ref().map_or(0, |known| known.since_s);
    let all = in_order(secret, known, rows);
    let leaves = span(&all).map(|(first_s, last_s)| stored(first_s, last_s)).unwrap_or_default();
    let mut entries = without_repeats(all, leaves);
    let fit = usize::try_from(SIZE_MAX.saturating_sub(size)).unwrap_or(usize::MAX);
    let left_out = entries.len().saturating_sub(fit) as u64;
    entries.truncate(fit);
    let last = entries.iter().rfind(|one| !one.is_admission && one.at_s >= since_s);
    let rules = last.map_or(rules, |last| &last.leaf).to_owned();
    Merged { entries, left_out, rules }
}

/// Sorts entries by the second of the admission, then by that of joining; limits stand before the
/// admissions of their second. A line that is no admission is left out.
fn in_order(secret: &[u8], known: Option<Rules>, rows: &[Row<'_>]) -> Vec<Entry> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| row.stored_ms);
    let mut found = Vec::new();
    for row in &rows {
        let mut lines = row.text.lines();
        let limits = lines.next().unwrap_or_default();
        let admissions = lines.filter_map(|line| leaf::of_record(secret, line).ok());
        found.extend(admissions.map(|one| (one, limits)));
    }
    // What was stored last in a second stands last in it.
    found.sort_by_key(|(one, _)| one.admitted_s);
    let since_s = known.as_ref().map_or(0, |known| known.since_s);
    let (before, after) =
        found.split_at(found.partition_point(|(one, _)| one.admitted_s < since_s));
    let changes = changes(None, before).into_iter().chain(changes(known, after));
    let mut entries: Vec<Entry> = changes.map(|rules| Entry::of(&Leaf::Rules(rules))).collect();
    entries.extend(found.into_iter().map(|(one, _)| Entry::of(&Leaf::Admission(one))));
    entries.sort_by_key(|one| (one.at_s, one.is_admission, one.joined_s));
    entries
}

/// Returns the limits of admissions wherever they are others than those of the admission before:
/// so each admission has its limits in force, and those of the last stay so.
fn changes(mut known: Option<Rules>, admissions: &[(Admission, &str)]) -> Vec<Rules> {
    let mut changes = Vec::new();
    for (one, limits) in admissions {
        let Ok(rules) = leaf::of_rules(one.admitted_s, limits) else { continue };
        let is_known = |known: &Rules| Rules { since_s: rules.since_s, ..known.clone() } == rules;
        if !known.as_ref().is_some_and(is_known) {
            known = Some(rules.clone());
            changes.push(rules);
        }
    }
    changes
}

/// Returns the first and the last second of admissions; `None` without any.
fn span(entries: &[Entry]) -> Option<(u64, u64)> {
    let seconds = || entries.iter().filter(|one| one.is_admission).map(|one| one.at_s);
    seconds().min().zip(seconds().max())
}

/// Keeps the first of equal admissions, and none that is among `stored`. Where an admission is new
/// all limits stay: within a second the same may come into force again after others.
fn without_repeats(entries: Vec<Entry>, stored: Vec<String>) -> Vec<Entry> {
    let mut seen: BTreeSet<String> = stored.into_iter().collect();
    let is_kept = |one: &Entry| !one.is_admission || seen.insert(one.leaf.clone());
    let kept: Vec<Entry> = entries.into_iter().filter(is_kept).collect();
    if kept.iter().any(|one| one.is_admission) { kept } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Merged, Row, SIZE_MAX, merged};
    use crate::rules::checks;

    const SECRET: [u8; 32] = [7; 32];
    const LIMITS: &str = "500,100,300,0,0";
    const OTHERS: &str = "900,100,300,0,0";
    /// The limits since before all admissions.
    const SINCE: &str = "rules 9 500 100 300 fifo full";

    fn rows(of: &[(u64, String)]) -> Vec<Row<'_>> {
        of.iter().map(|(stored_ms, text)| Row { stored_ms: *stored_ms, text }).collect()
    }

    fn row(stored_ms: u64, limits: &str, admissions: &[&str]) -> (u64, String) {
        (stored_ms, format!("{limits}\n{}", admissions.join("\n")))
    }

    /// Merges rows into a log that has the leaves of `before`.
    fn merge(rules: &str, of: &[(u64, String)], before: &[Entry]) -> Merged {
        let stored = |first_s, last_s| {
            let within = |one: &&Entry| (first_s..=last_s).contains(&one.at_s);
            before.iter().filter(within).map(|one| one.leaf.clone()).collect()
        };
        merged(&SECRET, rules, &rows(of), before.len() as u64, stored)
    }

    /// What entries say, without commitments and what stands behind.
    fn said(Merged { entries, .. }: &Merged) -> Vec<String> {
        let words = |one: &Entry| {
            let words: Vec<&str> = one.leaf.split(' ').collect();
            if one.is_admission { words[2..4].join(" ") } else { words[..3].join(" ") }
        };
        entries.iter().map(words).collect()
    }

    #[test]
    fn limits_that_are_in_force_again_within_a_second_stay_so() {
        let raised = row(1, OTHERS, &["a,10,20,0,5"]);
        let late = row(2, LIMITS, &["b,10,20,0,5"]);
        let again = row(3, OTHERS, &["c,10,20,0,5", "d,10,21,0,5"]);
        let all = merge("", &[raised.clone(), late.clone(), again.clone()], &[]);
        assert_eq!(said(&all)[..3], ["rules 20 900", "rules 20 500", "rules 20 900"]);
        assert_eq!(all.rules, "rules 20 900 100 300 fifo full");
        // Whoever merges the same again adds nothing.
        assert_eq!(merge(&all.rules, &[raised, late, again], &all.entries).entries, []);
    }

    #[test]
    fn entries_stand_by_admission_then_by_joining_whatever_data_center_was_heard_first() {
        let late = row(2, LIMITS, &["b,11,20,0,5", "a,10,20,0,5"]);
        let early = row(1, LIMITS, &["d,15,21,0,5", "c,12,19,0,5"]);
        let all = merge("", &[late.clone(), early.clone()], &[]);
        assert_eq!(said(&all), ["rules 19 500", "12 19", "10 20", "11 20", "15 21"]);
        assert_eq!(all.rules, "rules 19 500 100 300 fifo full");
        assert_eq!(merge("", &[early, late], &[]), all);
    }

    #[test]
    fn limits_stand_before_the_first_admission_under_them_and_once() {
        let of = [
            row(1, LIMITS, &["a,0,19,0,5"]),
            row(2, OTHERS, &[]),
            row(3, OTHERS, &["b,10,20,0,5", "c,10,22,0,5"]),
            row(4, OTHERS, &["d,10,24,0,5"]),
        ];
        let all = merge(SINCE, &of, &[]);
        assert_eq!(said(&all), ["0 19", "rules 20 900", "10 20", "10 22", "10 24"]);
        assert_eq!(all.rules, "rules 20 900 100 300 fifo full");
        assert_eq!(merge(SINCE, &of[1..2], &[]).rules, SINCE, "nobody entered under others");
    }

    /// Writes rows that were heard at different times, merges them in one piece or one by one, and
    /// returns which checks are wrong after `count` more have entered under the limits of the last.
    fn wrong(of: &[(u64, String)], at_once: bool, count: u64) -> Vec<String> {
        let (_, last) = of.last().expect("a row");
        let limits = last.lines().next().unwrap_or_default();
        let line = |number| format!("{:x},1000,{},0,5", 100 + number, 1_100 + number / 4);
        let more: Vec<String> = (0..count).map(line).collect();
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let of = [of, &[row(9, limits, &more)]].concat();
        let mut log: Vec<Entry> = Vec::new();
        let mut rules = String::new();
        for some in of.chunks(if at_once { of.len() } else { 1 }) {
            let Merged { entries, rules: last, .. } = merge(&rules, some, &log);
            log.extend(entries);
            rules = last;
        }
        let leaves: Vec<_> = log.iter().map(|one| one.leaf.parse().expect("a leaf")).collect();
        let found = checks(&leaves, None).into_iter().filter(|one| !one.good);
        found.map(|one| one.name).collect()
    }

    /// An isolate hears of changed limits after the aggregator, whose row has all its admissions.
    #[test]
    fn limits_that_an_isolate_knew_for_longer_do_not_stay_in_force() {
        let heard = |old: &str, new: &str| {
            [
                row(1, old, &["1,1000,1002,0,5"]),
                row(2, new, &["2,1000,1003,0,5"]),
                row(3, old, &["4,1000,1006,0,5"]),
                row(4, new, &["3,1000,1005,0,5", "4,1000,1006,0,5"]),
            ]
        };
        let (few, many) = ("900,50,300,0,0", "900,100,300,0,0");
        for at_once in [true, false] {
            assert_eq!(wrong(&heard(few, many), at_once, 95), [""; 0], "raised, {at_once}");
            assert_eq!(wrong(&heard(many, few), at_once, 95), ["rate"], "lowered, {at_once}");
            assert_eq!(wrong(&heard(many, few), at_once, 50), [""; 0], "honest, {at_once}");
        }
        let all = merge("", &heard(few, many), &[]);
        let limits: Vec<String> =
            said(&all).into_iter().filter(|said| said.starts_with("rules")).collect();
        let times = ["rules 1002 900", "rules 1003 900", "rules 1006 900", "rules 1006 900"];
        assert_eq!(limits, times);
        assert_eq!(all.rules, "rules 1006 900 100 300 fifo full");
    }

    #[test]
    fn a_data_center_that_is_heard_late_changes_no_limits_of_later() {
        let now = merge(SINCE, &[row(2, OTHERS, &["b,10,50,0,5"])], &[]);
        let late = row(3, LIMITS, &["a,10,20,0,5", "c,10,30,0,5"]);
        let merged = merge(&now.rules, &[late], &now.entries);
        assert_eq!(said(&merged), ["rules 20 500", "10 20", "10 30"]);
        assert_eq!(merged.rules, now.rules);
    }

    #[test]
    fn an_admission_is_one_entry_however_often_it_comes() {
        let one = row(1, LIMITS, &["a,10,20,0,5", "b,10,21,0,5", "a,10,20,0,5"]);
        let first = merge("", &[one.clone(), one.clone()], &[]);
        assert_eq!(said(&first), ["rules 20 500", "10 20", "10 21"]);
        let more = row(2, LIMITS, &["c,9,20,0,5", "b,10,21,0,5"]);
        let again = merge(&first.rules, &[one, more], &first.entries);
        assert_eq!(said(&again), ["9 20"], "a late one alone, which stands behind");
        let twice = row(3, LIMITS, &["a,10,20,0,5", "a,10,26,0,5"]);
        assert_eq!(said(&merge(SINCE, &[twice], &first.entries)), ["10 26"], "entered again");
    }

    #[test]
    fn a_line_that_is_no_admission_is_left_out() {
        let damaged = row(1, "limits", &["a,10,20,0,5", "", "x", "b,1,2"]);
        assert_eq!(said(&merge("", &[damaged], &[])), ["10 20"]);
        assert_eq!(said(&merge("", &[row(1, LIMITS, &["x"])], &[])), [""; 0]);
    }

    #[test]
    fn a_full_log_leaves_out_and_counts() {
        let of = [row(1, LIMITS, &["a,10,20,0,5", "b,10,21,0,5", "c,10,22,0,5"])];
        let all = merged(&SECRET, SINCE, &rows(&of), SIZE_MAX - 1, |_, _| Vec::new());
        assert_eq!((said(&all), all.left_out), (vec!["10 20".to_owned()], 2));
    }
}
