//! The published arithmetic all designs share: slots, reservations, shares, estimate.
//! Pure functions; nothing here counts or remembers.

use super::minute::Minute;

/// Slots in the running minute: min(limit - active, limit per minute - admitted in it).
///
/// Negative when the site is over its limit; then nobody enters.
pub fn slots_available(
    total_active_users: u64,
    active_users: u64,
    new_users_per_minute: u64,
    admitted_in_minute: u64,
) -> i64 {
    let free = i128::from(total_active_users) - i128::from(active_users);
    let new = i128::from(new_users_per_minute) - i128::from(admitted_in_minute);
    free.min(new).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// One bucket of queued users and its reserved slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The minute the users joined.
    pub bucket: Minute,
    /// How many still wait.
    pub waiting: u64,
    /// Eligible slots: how many of them may enter, at most `waiting`.
    pub reserved: u64,
    /// Waiting minus reserved over this bucket and all before it.
    pub ahead: u64,
}

/// Reserves slots from the oldest bucket on; returns the reservations and what is left.
pub fn reserve(waiting: &[(Minute, u64)], slots: i64) -> (Vec<Reservation>, u64) {
    let mut left = u64::try_from(slots).unwrap_or(0);
    let mut ahead = 0_u64;
    let mut reservations = Vec::with_capacity(waiting.len());
    for &(bucket, waiting) in waiting {
        let reserved = waiting.min(left);
        left -= reserved;
        ahead = ahead.saturating_add(waiting - reserved);
        reservations.push(Reservation { bucket, waiting, reserved, ahead });
    }
    (reservations, left)
}

/// The parts of the slots one data center may use, each in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The data center's own part.
    pub here: f64,
    /// The part that all data centers may use together: 0 in the design of 2021.
    pub anywhere: f64,
}

impl Shares {
    /// 2021: the data center's part of all users of the history minute, no Anywhere.
    pub fn of_traffic(users_here: u64, users_everywhere: u64) -> Self {
        Self { here: part(users_here, users_everywhere.max(users_here)), anywhere: 0.0 }
    }

    /// 2023: users of the history minute / limit; Anywhere has the rest. More users than the limit
    /// are normalised to 1.
    pub fn of_limit(users_here: u64, users_everywhere: u64, total_active_users: u64) -> Self {
        let users_everywhere = users_everywhere.max(users_here);
        let whole = total_active_users.max(users_everywhere);
        Self { here: part(users_here, whole), anywhere: part(whole - users_everywhere, whole) }
    }
}

fn part(count: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { count as f64 / whole as f64 }
}

/// A share of the slots, rounded to the nearest slot.
pub fn shared(slots: u64, share: f64) -> u64 {
    (slots as f64 * share).round() as u64
}

/// What one of `workers` isolates (a count adapted to utilisation need not be whole) may hand out:
/// cut to whole slots, and never more than there are.
pub fn per_worker(slots: u64, workers: f64) -> u64 {
    (slots as f64 / workers.max(1.0)).floor() as u64
}

/// Minutes until `ahead` users have entered; `None` if nobody entered lately.
pub fn estimate_minutes(ahead: u64, admissions_per_minute: f64) -> Option<f64> {
    (admissions_per_minute > 0.0).then(|| ahead as f64 / admissions_per_minute)
}

#[cfg(test)]
mod tests {
    use super::{Minute, Shares, estimate_minutes, per_worker, reserve, shared, slots_available};

    fn reserved(waiting: [u64; 3], slots: i64) -> (Vec<u64>, Vec<u64>, u64) {
        let waiting = [0, 1, 2].map(|minute| (Minute(minute), waiting[minute as usize]));
        let (reservations, left) = reserve(&waiting, slots);
        let of = |field: fn(&super::Reservation) -> u64| reservations.iter().map(field).collect();
        (of(|bucket| bucket.reserved), of(|bucket| bucket.ahead), left)
    }

    #[test]
    fn slots_are_the_smaller_of_both_limits() {
        let check = |(limit, active, rate, admitted), want| {
            assert_eq!(slots_available(limit, active, rate, admitted), want);
        };
        check((10_000, 7_000, 2_000, 0), 2_000);
        check((10_000, 9_000, 2_000, 0), 1_000);
        check((10_000, 7_000, 2_000, 500), 1_500);
        check((200, 201, 200, 0), -1);
        check((200, 50, 200, 0), 150);
    }

    #[test]
    fn buckets_reserve_from_the_oldest() {
        let check = |waiting, slots, want: ([u64; 3], u64)| {
            let (reserved, _, left) = reserved(waiting, slots);
            assert_eq!((reserved.as_slice(), left), (want.0.as_slice(), want.1));
        };
        check([500, 1_000, 800], 2_000, ([500, 1_000, 500], 0));
        check([2, 50, 60], 52, ([2, 50, 0], 0));
        check([2, 50, 60], -1, ([0, 0, 0], 0));
        check([200, 0, 0], 2_000, ([200, 0, 0], 1_800));
    }

    #[test]
    fn sixty_ahead_at_thirty_a_minute_take_two_minutes() {
        let (_, ahead, _) = reserved([2, 50, 60], 52);
        assert_eq!(ahead, [0, 0, 60]);
        assert_eq!(estimate_minutes(ahead[2], 30.0), Some(2.0));
        assert_eq!(estimate_minutes(ahead[2], 0.0), None);
    }

    #[test]
    fn slots_are_shared_by_traffic() {
        let check = |slots, users: [u64; 2], want: [u64; 2]| {
            let all = users.iter().sum();
            let got = users.map(|here| shared(slots, Shares::of_traffic(here, all).here));
            assert_eq!(got, want);
        };
        check(1_000, [50, 50], [500, 500]);
        check(1_000, [45, 55], [450, 550]);
        check(20, [25, 75], [5, 15]);
        check(500, [60, 40], [300, 200]);
        check(1_800, [60, 40], [1_080, 720]);
        check(2_000, [60, 40], [1_200, 800]);
        check(1_000, [0, 0], [0, 0]);
    }

    #[test]
    fn slots_are_shared_by_limit_and_anywhere_has_the_rest() {
        let check = |users, want: (u64, u64)| {
            let (here, everywhere) = users;
            let shares = Shares::of_limit(here, everywhere, 200);
            assert_eq!((shared(150, shares.here), shared(150, shares.anywhere)), want);
        };
        check((20, 50), (15, 113));
        check((30, 50), (23, 113));
        check((0, 50), (0, 113));
        check((0, 0), (0, 150));
        check((200, 200), (150, 0));
        check((200, 400), (75, 0));
    }

    #[test]
    fn an_isolate_gets_its_part_in_whole_slots() {
        let check = |slots, workers, want| assert_eq!(per_worker(slots, workers), want);
        check(10, 2.0, 5);
        check(15, 3.0, 5);
        check(113, 10.0, 11);
        check(113, 2.5, 45);
        check(10, 0.2, 10);
        check(10, 0.0, 10);
        check(300, 3.0, 100);
        check(200, 2.0, 100);
        check(1_080, 3.0, 360);
        check(720, 2.0, 360);
        check(1_200, 3.0, 400);
    }
}
