//! Checks what the leaves say: limits, rate, order, and how many there are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::leaf::{Admission, Leaf, Rules};

/// By how many seconds the limits in force may be known earlier or later in a data center.
const KNOWN_S: u64 = 30;
/// By how many seconds a visitor of the line may enter behind one who joined later, besides the
/// time in which nobody heard of the visitor: places come free by chance within a few check-ins.
const ORDER_S: u64 = 60;
/// By how many seconds two data centers may time one moment differently.
const CLOCK_S: u64 = 2;
/// The window of the rate, in seconds.
const MINUTE_S: u64 = 60;
/// More than any limit: where sessions may end early, nobody knows how many were inside.
const UNKNOWN: u64 = u64::MAX;
/// Classes that no limit counts: the room let everybody in, or had no answer.
const UNCOUNTED: [&str; 2] = [EVERYBODY, "silence"];
const EVERYBODY: &str = "everybody";
/// The method by which the room lets everybody in.
const PASSTHROUGH: &str = "passthrough";

/// How many the room itself counted as admitted, by the reports on which its limits rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// From which second on, since the Unix epoch: a full minute.
    pub from_s: u64,
    /// Until before which second; `None` until the end of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<u64>,
    /// How many.
    pub admissions: u64,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was checked.
    pub name: String,
    /// Whether nothing is wrong.
    pub good: bool,
    /// Whether it could be checked.
    pub checked: bool,
    /// What was found, in words.
    pub says: String,
}

fn finding(name: &str, good: bool, says: String) -> Finding {
    Finding { name: name.to_owned(), good, checked: true, says }
}

/// Says why something cannot be checked.
pub fn unchecked(name: &str, why: &str) -> Finding {
    Finding { name: name.to_owned(), good: true, checked: false, says: why.to_owned() }
}

/// Checks all leaves, and compares them with what the room `counted`.
pub fn checks(leaves: &[Leaf], counted: Option<Counted>) -> Vec<Finding> {
    let mut rules = Vec::new();
    let mut late = Vec::new();
    let mut admissions: Vec<&Admission> = Vec::new();
    let mut latest_s = 0;
    for leaf in leaves {
        match leaf {
            Leaf::Admission(admission) => {
                latest_s = latest_s.max(admission.admitted_s);
                admissions.push(admission);
            }
            Leaf::Rules(one) if one.since_s.saturating_add(KNOWN_S) < latest_s => {
                late.push((one, latest_s));
            }
            Leaf::Rules(one) => rules.push(one),
        }
    }
    rules.sort_by_key(|one| one.since_s);
    admissions.sort_by_key(|one| (one.admitted_s, one.joined_s));
    let entered = admissions.iter().filter(|one| !UNCOUNTED.contains(&one.class.as_str()));
    let seconds: Vec<u64> = entered.map(|one| one.admitted_s).collect();
    let mut found = vec![in_time(&rules, &late)];
    found.extend([classes(&admissions, &rules), count(&admissions, counted)]);
    if !admissions.is_empty() {
        found.extend([rate(&seconds, &rules), limit(&seconds, &rules), order(&admissions)]);
    }
    found
}

/// Checks the rules that stand behind admissions later than their second: no check counts them, so
/// they may only repeat what was known by then, as a data center that was heard late does.
fn in_time(rules: &[&Rules], late: &[(&Rules, u64)]) -> Finding {
    let is_new = |(one, latest_s): &&(&Rules, u64)| {
        let known = in_force(rules, one.since_s, *latest_s);
        known.into_iter().all(|other| allows_more(one, other))
    };
    let Some((one, latest_s)) = late.iter().find(is_new) else {
        return finding("rules", true, "the limits were not changed afterwards".to_owned());
    };
    let says = format!(
        "limits were changed afterwards: an entry says that it is in force since {}, stands behind \
         an admission of {latest_s}, and allows more than was known until then",
        one.since_s
    );
    finding("rules", false, says)
}

fn allows_more(one: &Rules, other: &Rules) -> bool {
    one.total > other.total
        || one.per_minute > other.per_minute
        || one.session_s < other.session_s
        || one.method != other.method
        || (one.ends_early && !other.ends_early)
}

fn classes(admissions: &[&Admission], rules: &[&Rules]) -> Finding {
    let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut visitors: BTreeMap<&str, u64> = BTreeMap::new();
    for one in admissions {
        *classes.entry(&one.class).or_default() += 1;
        *visitors.entry(&one.commitment).or_default() += 1;
    }
    let again: u64 = visitors.values().filter(|count| **count > 1).count() as u64;
    let classes: Vec<String> =
        classes.iter().map(|(class, count)| format!("{count} {class}")).collect();
    let says = format!("{} ({})", admissions.len(), classes.join(", "));
    let late = admissions.iter().filter(|one| one.joined_s > one.admitted_s + CLOCK_S).count();
    if late > 0 {
        return finding("admissions", false, format!("{says}; {late} entered before they joined"));
    }
    let uncounted = admissions.iter().filter(|one| one.class == EVERYBODY);
    let uncounted = uncounted.filter(|one| !is_open(one.admitted_s, admissions, rules)).count();
    if uncounted > 0 {
        let says = format!("{says}; {uncounted} entered as everybody where not everybody may");
        return finding("admissions", false, says);
    }
    let more = if again > 0 { format!("; {again} visitors entered again") } else { String::new() };
    finding("admissions", true, says + &more)
}

/// Whether everybody may have entered at a second. The next admission tells of rules that a data
/// center did not know yet.
fn is_open(at: u64, admissions: &[&Admission], rules: &[&Rules]) -> bool {
    let next = admissions.partition_point(|one| one.admitted_s <= at + KNOWN_S);
    let until = admissions.get(next).map_or(at, |one| one.admitted_s);
    in_force(rules, at, until).iter().any(|one| one.method == PASSTHROUGH)
}

fn count(admissions: &[&Admission], counted: Option<Counted>) -> Finding {
    let Some(Counted { from_s, until_s, admissions: own }) = counted else {
        return unchecked("count", "the file does not say how many the room itself counted");
    };
    let span = from_s..until_s.unwrap_or(u64::MAX);
    let logged = admissions.iter().filter(|one| span.contains(&one.admitted_s)).count() as u64;
    let until = until_s.map(|until| format!(" until {until}")).unwrap_or_default();
    let says = format!("from {from_s}{until} the room counted {own}, the log has {logged}");
    finding("count", logged == own, says)
}

/// Returns the rules that may be in force in a span of seconds.
fn in_force<'all>(rules: &[&'all Rules], from: u64, until: u64) -> Vec<&'all Rules> {
    let (from, until) = (from.saturating_sub(KNOWN_S), until + KNOWN_S);
    let before = rules.iter().rposition(|one| one.since_s <= from).unwrap_or(0);
    let inside = rules.iter().enumerate();
    let in_span =
        inside.filter(|(at, one)| *at >= before && (*at == before || one.since_s <= until));
    in_span.map(|(_, one)| *one).collect()
}

/// The fullest minute: how many entered in it, and when it ends.
fn rate(seconds: &[u64], rules: &[&Rules]) -> Finding {
    let entered = |at: usize, until: u64| {
        let from = first_of(until, MINUTE_S);
        let first = seconds.partition_point(|second| *second < from);
        (from, (at + 1).saturating_sub(first))
    };
    let of = |_| "a minute".to_owned();
    windows("rate", of, seconds, rules, (entered, |one| one.per_minute))
}

/// The moment at which most were inside. Who entered under a shorter session than the one in force
/// then was inside for that one; who entered under a longer one may have left with the change.
fn limit(seconds: &[u64], rules: &[&Rules]) -> Finding {
    let runs = runs(seconds, rules);
    let inside = |at: usize, until: u64| {
        let session_s = session_at(rules, until);
        let from = first_of(until, session_s);
        let entered = runs.iter().rev().skip_while(|run| run.first > at).map_while(|run| {
            let end = run.end.min(at + 1);
            let last = seconds.get(end.checked_sub(1)?)?;
            let own = first_of(until, session_s.min(run.session_s));
            let first = seconds.partition_point(|second| *second < own).max(run.first);
            (*last >= from).then_some(end.saturating_sub(first))
        });
        (from, entered.sum())
    };
    let of = |until| format!("one session of {} s", session_at(rules, until));
    let most = |one: &Rules| if one.ends_early { UNKNOWN } else { one.total };
    windows("limit", of, seconds, rules, (inside, most))
}

/// Returns the first second of a span of so many seconds that ends with `until`.
fn first_of(until: u64, length_s: u64) -> u64 {
    (until + 1).saturating_sub(length_s)
}

/// Returns the shortest session that may be in force at a second.
fn session_at(rules: &[&Rules], at: u64) -> u64 {
    in_force(rules, at, at).iter().map(|one| one.session_s).min().unwrap_or(0)
}

/// Admissions one after another under the same session, by their places from `first` to before
/// `end`.
struct Run {
    first: usize,
    end: usize,
    session_s: u64,
}

fn runs(seconds: &[u64], rules: &[&Rules]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut first = 0;
    for second in seconds.chunk_by(|one, other| one == other) {
        let end = first + second.len();
        let session_s = second.first().map_or(0, |at| session_at(rules, *at));
        match runs.last_mut() {
            Some(run) if run.session_s == session_s => run.end = end,
            _ => runs.push(Run { first, end, session_s }),
        }
        first = end;
    }
    runs
}

/// Checks that no window that ends with an admission has more admissions than allowed: `of` names
/// the window that ends with a second, `entered` tells when the window of the admission at a place
/// begins, and how many count in it.
fn windows(
    name: &str,
    of: impl Fn(u64) -> String,
    seconds: &[u64],
    rules: &[&Rules],
    (entered, most): (impl Fn(usize, u64) -> (u64, usize), impl Fn(&Rules) -> u64),
) -> Finding {
    let mut worst: Option<(u64, u64, u64)> = None;
    for (at, until) in seconds.iter().enumerate() {
        if seconds.get(at + 1) == Some(until) {
            // The last of a second stands for all of it.
            continue;
        }
        let (from, entered) = entered(at, *until);
        let entered = entered as u64;
        let Some(most) = in_force(rules, from, *until).into_iter().map(&most).max() else {
            return finding(name, false, "no entry says which limits were in force".to_owned());
        };
        let is_worse = worst.is_none_or(|(other, its, _)| {
            u128::from(entered) * u128::from(its) > u128::from(other) * u128::from(most)
        });
        if is_worse {
            worst = Some((entered, most, *until));
        }
    }
    let Some((entered, most, until)) = worst else {
        return finding(name, true, "nobody entered who counts".to_owned());
    };
    if most == UNKNOWN {
        let why = "sessions may end early in this room, so the log alone cannot show it";
        return unchecked(name, why);
    }
    let window = of(until);
    let says = format!("at most {entered} of {most} in {window}, the one that ends at {until}");
    finding(name, entered <= most, says)
}

/// Checks that of those who came from the line nobody entered long after somebody who joined later.
fn order(admissions: &[&Admission]) -> Finding {
    let line: Vec<&Admission> =
        admissions.iter().filter(|one| one.class == "line").copied().collect();
    // The latest join of all who had entered by then.
    let mut latest = Vec::with_capacity(line.len());
    let mut so_far = 0;
    for one in &line {
        so_far = so_far.max(one.joined_s);
        latest.push(so_far);
    }
    let mut overtaken = Vec::new();
    for one in &line {
        let heard_s = one.admitted_s.saturating_sub(one.unheard_s + ORDER_S);
        let before = line.partition_point(|other| other.admitted_s < heard_s);
        let last = before.checked_sub(1).and_then(|at| latest.get(at)).copied().unwrap_or(0);
        if last > one.joined_s + CLOCK_S {
            overtaken.push(one);
        }
    }
    let Some(first) = overtaken.first() else {
        let says = format!("none of {} from the line was overtaken while present", line.len());
        return finding("order", true, says);
    };
    let says = format!(
        "{} of {} from the line were overtaken by later ones while present, the first of them \
         joined at {} and entered at {}",
        overtaken.len(),
        line.len(),
        first.joined_s,
        first.admitted_s
    );
    finding("order", false, says)
}

#[cfg(test)]
mod tests;
