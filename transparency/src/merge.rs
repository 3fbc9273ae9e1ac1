//! Decides in which order admissions join the log, and which of them are in it already.
//!
//! A data center keeps rows: the first line has the limits, each further line an admission. A row
//! comes twice if an object or an answer was lost. What is in the log stays where it is.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::leaf::{self, Leaf};

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
    /// The limits of the last row, as it has them.
    pub limits: String,
}

/// Makes the entries of rows that are new to a log of `size` entries. `limits` are those of the
/// row before. `stored` returns the leaves that the log has from a second until another.
pub fn merged(
    secret: &[u8],
    limits: &str,
    rows: &[Row<'_>],
    size: u64,
    stored: impl FnOnce(u64, u64) -> Vec<String>,
) -> Merged {
    let (all, limits) = in_order(secret, limits, rows);
    let leaves = span(&all).map(|(first_s, last_s)| stored(first_s, last_s)).unwrap_or_default();
    let mut entries = without_repeats(all, leaves);
    let fit = usize::try_from(SIZE_MAX.saturating_sub(size)).unwrap_or(usize::MAX);
    let left_out = entries.len().saturating_sub(fit) as u64;
    entries.truncate(fit);
    Merged { entries, left_out, limits }
}

/// Sorts entries by the second of the admission, then by that of joining; limits stand before the
/// admissions of their second. Returns the limits of the last row too. A line that is no admission
/// is left out.
fn in_order(secret: &[u8], limits: &str, rows: &[Row<'_>]) -> (Vec<Entry>, String) {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| row.stored_ms);
    let mut known = limits;
    let mut entries = Vec::new();
    for row in &rows {
        let mut lines = row.text.lines();
        let limits = lines.next().unwrap_or_default();
        let found: Vec<_> = lines.filter_map(|line| leaf::of_record(secret, line).ok()).collect();
        let first_s = found.iter().map(|one| one.admitted_s).min();
        if let Some(first_s) = first_s.filter(|_| limits != known) {
            let changed = leaf::of_rules(first_s, limits).ok();
            entries.extend(changed.map(|rules| Entry::of(&Leaf::Rules(rules))));
            known = limits;
        }
        entries.extend(found.into_iter().map(|one| Entry::of(&Leaf::Admission(one))));
    }
    entries.sort_by_key(|one| (one.at_s, one.is_admission, one.joined_s));
    (entries, known.to_owned())
}

/// Returns the first and the last second of admissions; `None` without any.
fn span(entries: &[Entry]) -> Option<(u64, u64)> {
    let seconds = || entries.iter().filter(|one| one.is_admission).map(|one| one.at_s);
    seconds().min().zip(seconds().max())
}

/// Keeps the first of equal entries, and none that is among `stored`.
fn without_repeats(entries: Vec<Entry>, stored: Vec<String>) -> Vec<Entry> {
    let mut seen: BTreeSet<String> = stored.into_iter().collect();
    entries.into_iter().filter(|one| seen.insert(one.leaf.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::{Entry, Merged, Row, SIZE_MAX, merged};

    const SECRET: [u8; 32] = [7; 32];
    const LIMITS: &str = "500,100,300,0,0";
    const OTHERS: &str = "900,100,300,0,0";

    fn rows(of: &[(u64, String)]) -> Vec<Row<'_>> {
        of.iter().map(|(stored_ms, text)| Row { stored_ms: *stored_ms, text }).collect()
    }

    fn row(stored_ms: u64, limits: &str, admissions: &[&str]) -> (u64, String) {
        (stored_ms, format!("{limits}\n{}", admissions.join("\n")))
    }

    /// Merges rows into a log that has the leaves of `before`.
    fn merge(limits: &str, of: &[(u64, String)], before: &[Entry]) -> Merged {
        let stored = |first_s, last_s| {
            let within = |one: &&Entry| (first_s..=last_s).contains(&one.at_s);
            before.iter().filter(within).map(|one| one.leaf.clone()).collect()
        };
        merged(&SECRET, limits, &rows(of), before.len() as u64, stored)
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
    fn entries_stand_by_admission_then_by_joining_whatever_data_center_was_heard_first() {
        let late = row(2, LIMITS, &["b,11,20,0,5", "a,10,20,0,5"]);
        let early = row(1, LIMITS, &["d,15,21,0,5", "c,12,19,0,5"]);
        let all = merge("", &[late.clone(), early.clone()], &[]);
        assert_eq!(said(&all), ["rules 19 500", "12 19", "10 20", "11 20", "15 21"]);
        assert_eq!(all.limits, LIMITS);
        assert_eq!(merge("", &[early, late], &[]), all);
    }

    #[test]
    fn limits_stand_before_the_first_admission_under_them_and_once() {
        let of = [
            row(1, LIMITS, &["a,0,20,0,5"]),
            row(2, OTHERS, &[]),
            row(3, OTHERS, &["b,10,20,0,5", "c,10,22,0,5"]),
            row(4, OTHERS, &["d,10,24,0,5"]),
        ];
        let all = merge(LIMITS, &of, &[]);
        assert_eq!(said(&all), ["rules 20 900", "0 20", "10 20", "10 22", "10 24"]);
        assert_eq!(all.limits, OTHERS);
        assert_eq!(merge(LIMITS, &of[1..2], &[]).limits, LIMITS, "nobody entered under others");
    }

    #[test]
    fn an_admission_is_one_entry_however_often_it_comes() {
        let one = row(1, LIMITS, &["a,10,20,0,5", "b,10,21,0,5", "a,10,20,0,5"]);
        let first = merge("", &[one.clone(), one.clone()], &[]);
        assert_eq!(said(&first), ["rules 20 500", "10 20", "10 21"]);
        let more = row(2, LIMITS, &["c,9,20,0,5", "b,10,21,0,5"]);
        let again = merge(&first.limits, &[one, more], &first.entries);
        assert_eq!(said(&again), ["9 20"], "a late one alone, which stands behind");
        let twice = row(3, LIMITS, &["a,10,20,0,5", "a,10,26,0,5"]);
        assert_eq!(said(&merge(LIMITS, &[twice], &first.entries)), ["10 26"], "entered again");
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
        let all = merged(&SECRET, LIMITS, &rows(&of), SIZE_MAX - 1, |_, _| Vec::new());
        assert_eq!((said(&all), all.left_out), (vec!["10 20".to_owned()], 2));
    }
}
