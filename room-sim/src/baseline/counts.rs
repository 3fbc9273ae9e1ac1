//! What the published designs count: users by minute, merged by adding. Decides nothing.

use std::collections::BTreeMap;

use super::minute::Minute;

/// Full minutes over which admissions are averaged.
pub const AVERAGE_MINUTES: u64 = 5;
/// Minutes whose users are kept for the shares: the running one and two before it.
const USERS_MINUTES: u64 = 2;

/// Counts of one isolate, one data center or all of them.
///
/// A user who is seen again moves from one minute to another, perhaps at another place, so a
/// single place's entry can be negative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Active users by the minute of their last request.
    active: BTreeMap<Minute, i64>,
    /// Queued users by bucket and by the minute of their last check-in.
    waiting: BTreeMap<(Minute, Minute), i64>,
    /// Users let in, by minute.
    admitted: BTreeMap<Minute, i64>,
    /// Those of `admitted` that took a shared slot.
    shared: BTreeMap<Minute, i64>,
    /// Who was seen when.
    pub(super) presence: Presence,
}

/// Users by the minutes in which they were seen, each once a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    seen: BTreeMap<Minute, i64>,
    accepted: BTreeMap<Minute, i64>,
}

/// Users of one minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// All users, queued and accepted.
    pub seen: u64,
    /// Users on the site.
    pub accepted: u64,
}

impl Presence {
    /// Counts the users who were seen in `minute`.
    pub fn users(&self, minute: Minute) -> Users {
        Users { seen: at(&self.seen, minute), accepted: at(&self.accepted, minute) }
    }
}

/// All data centers together.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// The counts of all data centers, added.
    pub counts: Counts,
    /// Isolates that served a request in the last minute, of all data centers.
    pub workers: u64,
}

impl Counts {
    /// A user is seen in `minute` for the first time.
    pub fn see(&mut self, minute: Minute) {
        change(&mut self.presence.seen, minute, 1);
    }

    /// A user enters in `minute`, on a shared slot or on one reserved for its bucket.
    pub fn admit(&mut self, minute: Minute, on_shared_slot: bool) {
        change(&mut self.active, minute, 1);
        change(&mut self.presence.accepted, minute, 1);
        change(&mut self.admitted, minute, 1);
        if on_shared_slot {
            change(&mut self.shared, minute, 1);
        }
    }

    /// A new user starts to wait.
    pub fn join(&mut self, minute: Minute) {
        self.wait(minute, minute);
    }

    /// A user of `bucket` waits, seen in `minute`.
    pub fn wait(&mut self, bucket: Minute, minute: Minute) {
        change(&mut self.waiting, (bucket, minute), 1);
    }

    /// A user of `bucket`, last seen in `minute`, no longer waits there.
    pub fn leave_line(&mut self, bucket: Minute, minute: Minute) {
        change(&mut self.waiting, (bucket, minute), -1);
    }

    /// An accepted user last seen in minute `from` is seen in minute `to`.
    pub fn renew(&mut self, from: Minute, to: Minute) {
        if from != to {
            change(&mut self.active, from, -1);
            change(&mut self.active, to, 1);
            change(&mut self.presence.accepted, to, 1);
        }
    }

    /// Adds `other` (`sign` 1) or takes it away (`sign` -1).
    pub fn add(&mut self, other: &Self, sign: i64) {
        add(&mut self.active, &other.active, sign);
        add(&mut self.waiting, &other.waiting, sign);
        add(&mut self.admitted, &other.admitted, sign);
        add(&mut self.shared, &other.shared, sign);
        add(&mut self.presence.seen, &other.presence.seen, sign);
        add(&mut self.presence.accepted, &other.presence.accepted, sign);
    }

    /// Drops what no question about `minute` or later can reach.
    pub fn forget_old(&mut self, minute: Minute, session_minutes: u64, hold_minutes: u64) {
        self.active.retain(|&seen, _| lives(seen, minute, session_minutes));
        self.waiting.retain(|&(_, seen), _| lives(seen, minute, hold_minutes));
        self.admitted.retain(|&entered, _| entered >= minute.before(AVERAGE_MINUTES));
        self.shared.retain(|&entered, _| entered >= minute);
        self.presence.seen.retain(|&seen, _| seen >= minute.before(USERS_MINUTES));
        self.presence.accepted.retain(|&seen, _| seen >= minute.before(USERS_MINUTES));
    }

    /// Counts the users whose session lasts: last seen within `session_minutes` of `minute`.
    pub fn active_users(&self, minute: Minute, session_minutes: u64) -> u64 {
        self.active
            .iter()
            .filter(|&(&seen, _)| lives(seen, minute, session_minutes))
            .map(|(_, &count)| u64::try_from(count).unwrap_or(0))
            .sum()
    }

    /// Queued users per bucket, oldest first; buckets nobody waits in are left out.
    pub fn waiting_users(&self, minute: Minute, hold_minutes: u64) -> Vec<(Minute, u64)> {
        let mut buckets: Vec<(Minute, u64)> = Vec::new();
        for (&(bucket, seen), &count) in &self.waiting {
            let count = u64::try_from(count).unwrap_or(0);
            if count == 0 || !lives(seen, minute, hold_minutes) {
                continue;
            }
            match buckets.last_mut() {
                Some((last, sum)) if *last == bucket => *sum = sum.saturating_add(count),
                _ => buckets.push((bucket, count)),
            }
        }
        buckets
    }

    /// Users let in during `minute`.
    pub fn admitted_users(&self, minute: Minute) -> u64 {
        at(&self.admitted, minute)
    }

    /// Users let in during `minute` on shared slots.
    pub fn shared_admissions(&self, minute: Minute) -> u64 {
        at(&self.shared, minute)
    }

    /// Mean admissions over the last full minutes; 0 stands for unknown.
    pub fn admissions_per_minute(&self, minute: Minute) -> f64 {
        let full = minute.before(AVERAGE_MINUTES)..minute;
        let sum: u64 = self.admitted.range(full).map(|(_, &count)| count.max(0) as u64).sum();
        sum as f64 / AVERAGE_MINUTES as f64
    }
}

/// The count at `minute`, 0 if it is negative or absent.
fn at(counts: &BTreeMap<Minute, i64>, minute: Minute) -> u64 {
    counts.get(&minute).map_or(0, |&count| u64::try_from(count).unwrap_or(0))
}

/// Whether a user last seen in minute `seen` may still be within `span_minutes` of it.
const fn lives(seen: Minute, minute: Minute, span_minutes: u64) -> bool {
    seen.0.saturating_add(span_minutes) >= minute.0
}

fn add<Key: Copy + Ord>(sums: &mut BTreeMap<Key, i64>, counts: &BTreeMap<Key, i64>, sign: i64) {
    for (&key, &count) in counts {
        change(sums, key, count.saturating_mul(sign));
    }
}

/// Keys at zero are dropped, so that sums stay as small as what is summed.
fn change<Key: Copy + Ord>(counts: &mut BTreeMap<Key, i64>, key: Key, by: i64) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(by);
    if *count == 0 {
        counts.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Minute};

    #[test]
    fn the_average_is_over_the_last_five_full_minutes() {
        let mut counts = Counts::default();
        assert!(counts.admissions_per_minute(Minute(10)) <= 0.0, "0 stands for unknown");
        for (minute, users) in [(4, 1_000), (5, 10), (6, 20), (7, 30), (8, 40), (9, 50), (10, 900)]
        {
            for _ in 0..users {
                counts.admit(Minute(minute), false);
            }
        }
        let mean = counts.admissions_per_minute(Minute(10));
        assert!((mean - 30.0).abs() < 1e-9, "{mean}");
    }

    #[test]
    fn users_count_until_their_session_is_over_for_certain() {
        let mut counts = Counts::default();
        counts.admit(Minute(3), true);
        let check = |minute, want| assert_eq!(counts.active_users(Minute(minute), 5), want);
        check(3, 1);
        check(8, 1);
        check(9, 0);
    }

    #[test]
    fn who_stops_checking_in_is_held_for_the_grace_time() {
        let mut counts = Counts::default();
        counts.join(Minute(3));
        counts.leave_line(Minute(3), Minute(3));
        counts.wait(Minute(3), Minute(4));
        assert_eq!(counts.waiting_users(Minute(9), 5), [(Minute(3), 1)]);
        assert_eq!(counts.waiting_users(Minute(10), 5), []);
    }

    #[test]
    fn a_user_who_moves_between_data_centers_is_one_user() {
        let (mut here, mut there) = (Counts::default(), Counts::default());
        here.admit(Minute(3), true);
        there.renew(Minute(3), Minute(4));
        there.renew(Minute(4), Minute(4));
        assert_eq!(
            there.presence.users(Minute(4)).accepted,
            1,
            "two requests, one user of the minute"
        );
        let alone = here.clone();
        here.add(&there, 1);
        assert_eq!(here.active_users(Minute(3), 5), 1);
        here.add(&there, -1);
        assert_eq!(here, alone);
    }

    #[test]
    fn forgetting_changes_no_answer() {
        let mut counts = Counts::default();
        for minute in 0..20 {
            counts.see(Minute(minute));
            counts.admit(Minute(minute), true);
            counts.join(Minute(minute));
        }
        let mut kept = counts.clone();
        kept.forget_old(Minute(19), 5, 5);
        let ask = |counts: &Counts| {
            let minute = Minute(19);
            (
                counts.active_users(minute, 5),
                counts.waiting_users(minute, 5),
                counts.admissions_per_minute(minute).to_bits(),
                counts.shared_admissions(minute),
                counts.presence.users(minute.before(2)),
            )
        };
        assert_eq!(ask(&kept), ask(&counts));
        assert_ne!(kept, counts);
    }
}
