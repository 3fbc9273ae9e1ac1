//! The waiting visitors by their keys: how many stand up to a key, and up to which key a number of
//! them stands.
//!
//! Keys are exact while few visitors wait. Beyond that an entry stands for the visitors of a whole
//! key bucket of 5 seconds, who are assumed to have joined evenly over it. One data center may
//! report the exact keys of a bucket while another rounds them. Then all are assumed to have joined
//! like those with exact keys. So a visitor of a data center with few others does not pass anybody
//! for it.

use serde::{Deserialize, Serialize};

use super::OrderKey;
use crate::order::EXACT_WAITERS_MAX;
use crate::order::order_key::EPOCH_MS;

/// The largest number of points of a view's line; 64 keep a view under 2 KB.
pub const CURVE_POINTS_MAX: usize = 64;

/// The fewest exact keys by which the visitors of a whole key bucket are placed. Each stands for a
/// sixteenth of them at most.
const SAMPLE_MIN: u64 = 16;

/// The visitors who wait in one epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Line {
    /// Pairs, ascending: a key, and how many visitors stand at or before it.
    points: Vec<(OrderKey, u64)>,
}

/// The visitors between one point of the line and the next.
#[derive(Clone, Copy)]
struct Stretch {
    first: OrderKey,
    last: OrderKey,
    /// How many visitors stand before the stretch.
    before: u64,
    count: u64,
}

impl Line {
    pub(super) fn of(waiters: impl Iterator<Item = (OrderKey, u32)>) -> Self {
        let mut ahead = 0;
        let points = waiters.map(|(key, count)| {
            ahead += u64::from(count);
            (key, ahead)
        });
        Self { points: points.collect() }.with_whole_buckets()
    }

    /// Places the visitors of each key bucket whose keys are rounded among those of the same bucket
    /// whose keys are exact; evenly, where there are fewer than [`SAMPLE_MIN`] of these.
    fn with_whole_buckets(self) -> Self {
        if !self.may_be_coarse() {
            return self;
        }
        let ahead_at = |last: Option<&(OrderKey, u64)>| last.map_or(0, |(_, ahead)| *ahead);
        let mut points: Vec<(OrderKey, u64)> = Vec::with_capacity(self.points.len());
        for (key, ahead) in self.points {
            if is_bucket(key, ahead - ahead_at(points.last())) {
                let first = points.partition_point(|(exact, _)| exact.coarse() < key);
                let before = ahead_at(points.get(..first).and_then(<[_]>::last));
                let exact = ahead_at(points.last()) - before;
                if exact < SAMPLE_MIN {
                    points.truncate(first);
                }
                // Up to the n-th exact key there are n equal shares, and one behind them all.
                for (_, sampled) in points.iter_mut().skip(first) {
                    let shares = (*sampled - before).saturating_mul(ahead - before);
                    *sampled = before + shares / (exact + 1);
                }
            }
            points.push((key, ahead));
        }
        Self { points }
    }

    pub(super) fn points(&self) -> &[(OrderKey, u64)] {
        &self.points
    }

    /// Returns the same line with few enough points to be stored.
    pub(super) fn for_storage(&self) -> Self {
        Self { points: curve(&self.points) }
    }

    /// Returns how many visitors wait in all.
    pub(super) fn count(&self) -> u64 {
        self.points.last().map_or(0, |(_, ahead)| *ahead)
    }

    /// Returns how many visitors stand at `key` or before it.
    pub(super) fn up_to(&self, key: OrderKey) -> u64 {
        let index = self.points.partition_point(|(last, _)| *last <= key);
        match self.stretch(index) {
            Some(stretch) => stretch.up_to(key),
            None => self.count(),
        }
    }

    /// Returns the highest key below `limit` with at most `count` visitors up to it.
    pub(super) fn key_with(&self, count: u64, limit: OrderKey) -> Option<OrderKey> {
        let fits = |(last, ahead): &(OrderKey, u64)| *last < limit && *ahead <= count;
        let index = self.points.partition_point(fits);
        let whole = index.checked_sub(1).and_then(|last| self.points.get(last));
        let part = self.stretch(index).and_then(|stretch| stretch.key_with(count));
        part.filter(|key| *key < limit).or(whole.map(|(last, _)| *last))
    }

    /// Returns the first key after `key` and below `limit` at which a visitor may stand.
    pub(super) fn key_after(&self, key: OrderKey, limit: OrderKey) -> Option<OrderKey> {
        let index = self.points.partition_point(|(last, _)| *last <= key);
        let first = self.stretch(index)?.first;
        Some(first.max(OrderKey(key.0.saturating_add(1)))).filter(|key| *key < limit)
    }

    /// Whether every visitor of the line is known by key.
    pub(super) fn is_exact(&self) -> bool {
        !self.may_be_coarse()
    }

    /// Returns how many visitors of an exact line stand at `key`: several if they joined in one
    /// millisecond.
    pub(super) fn count_at(&self, key: OrderKey) -> u64 {
        let Ok(index) = self.points.binary_search_by_key(&key, |(point, _)| *point) else {
            return 0;
        };
        let ahead = |index: usize| self.points.get(index).map_or(0, |(_, ahead)| *ahead);
        ahead(index) - index.checked_sub(1).map_or(0, ahead)
    }

    /// Whether so many visitors wait that a data center may report key buckets.
    fn may_be_coarse(&self) -> bool {
        self.count() > EXACT_WAITERS_MAX as u64
    }

    /// Returns the last key of the stretch in which or before which `key` lies.
    pub(super) fn end_of_stretch(&self, key: OrderKey) -> Option<OrderKey> {
        let index = self.points.partition_point(|(last, _)| *last <= key);
        self.points.get(index).map(|(last, _)| *last)
    }

    fn stretch(&self, index: usize) -> Option<Stretch> {
        let (last, ahead) = self.points.get(index).copied()?;
        let previous = index.checked_sub(1).and_then(|before| self.points.get(before));
        let (previous, before) = previous.copied().unwrap_or_default();
        let count = ahead.saturating_sub(before);
        let is_bucket = self.may_be_coarse() && is_bucket(last, count);
        let first_of_bucket = OrderKey(last.0 - last.0 % EPOCH_MS);
        let after_previous = OrderKey(previous.0.saturating_add(1)).min(last);
        let first = if is_bucket { first_of_bucket.max(after_previous) } else { last };
        Some(Stretch { first, last, before, count })
    }
}

/// Whether `count` visitors at this key may be those of a whole key bucket, with rounded keys.
fn is_bucket(key: OrderKey, count: u64) -> bool {
    count > 1 && key == key.coarse()
}

impl Stretch {
    /// Returns how many keys the stretch spans, at least 1.
    fn span(self) -> u64 {
        (self.last.0 - self.first.0).saturating_add(1)
    }

    fn up_to(self, key: OrderKey) -> u64 {
        if key < self.first {
            return self.before;
        }
        let keys = (key.0 - self.first.0).saturating_add(1).min(self.span());
        self.before + self.count.saturating_mul(keys) / self.span()
    }

    /// Returns the last key of the stretch with at most `count` visitors up to it. `None` if there
    /// are more at its first key already.
    fn key_with(self, count: u64) -> Option<OrderKey> {
        let room = count.checked_sub(self.before)?.min(self.count);
        // The largest number of keys with count * keys / span <= room.
        let keys = (room + 1).saturating_mul(self.span()).div_ceil(self.count.max(1)) - 1;
        let offset = keys.min(self.span()).checked_sub(1)?;
        Some(OrderKey(self.first.0 + offset))
    }
}

/// Thins a line to at most [`CURVE_POINTS_MAX`] points, and keeps the last one. The last points of
/// key buckets stay first, evenly, and then those between.
///
/// It reads few points of a bucket: each view has a curve, and at 300 data centers a line has tens
/// of thousands of points.
pub fn curve(line: &[(OrderKey, u64)]) -> Vec<(OrderKey, u64)> {
    if line.len() <= CURVE_POINTS_MAX {
        return line.to_vec();
    }
    let buckets = buckets(line);
    let mut ends = Thinning::new(buckets.len(), CURVE_POINTS_MAX);
    let points_left = CURVE_POINTS_MAX - buckets.len().div_ceil(ends.step);
    let mut between = Thinning::new(line.len() - buckets.len(), points_left);
    let mut places = Vec::with_capacity(CURVE_POINTS_MAX);
    for (first, end) in buckets.into_iter().rev() {
        places.extend(ends.next(1).map(|_| end));
        places.extend(between.next(end - first).map(|offset| end - 1 - offset));
    }
    places.into_iter().rev().filter_map(|place| line.get(place).copied()).collect()
}

/// Returns the places of the first and the last point of each key bucket.
fn buckets(line: &[(OrderKey, u64)]) -> Vec<(usize, usize)> {
    let mut buckets = Vec::new();
    let mut first = 0;
    while let Some(rest) = line.get(first..)
        && let Some((key, _)) = rest.first()
    {
        let last = key.coarse();
        let count = rest.partition_point(|(key, _)| *key <= last);
        buckets.push((first, first + count - 1));
        first += count;
    }
    buckets
}

/// Takes points at equal distances, from the end on.
struct Thinning {
    step: usize,
    /// How many points are passed before the next one is taken.
    skip: usize,
}

impl Thinning {
    /// Takes at most `points_max` of `count` points, and the last one of them.
    fn new(count: usize, points_max: usize) -> Self {
        match points_max {
            0 => Self { step: usize::MAX, skip: usize::MAX },
            _ => Self { step: count.div_ceil(points_max).max(1), skip: 0 },
        }
    }

    /// Returns which of the next `count` points, counted from the end, are taken.
    fn next(&mut self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let taken = (self.skip..count).step_by(self.step);
        self.skip = self.skip + taken.len() * self.step - count;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::{CURVE_POINTS_MAX, Line, curve};
    use crate::order::order_key::OrderKey;

    const NO_LIMIT: OrderKey = OrderKey(u64::MAX);

    fn line(points: &[(u64, u32)]) -> Line {
        Line::of(points.iter().map(|(key, count)| (OrderKey(*key), *count)))
    }

    /// Three exact keys, two of them in one millisecond, and a key bucket of a thousand.
    fn mixed() -> Line {
        line(&[(100, 1), (200, 2), (9_999, 1_000)])
    }

    #[test]
    fn waiters_are_counted_by_key_and_evenly_within_a_key_bucket() {
        let check = |key: u64, want: u64| {
            assert_eq!(mixed().up_to(OrderKey(key)), want, "{key}");
        };
        check(99, 0);
        check(100, 1);
        check(199, 1);
        check(200, 3);
        check(4_999, 3);
        check(5_003, 3);
        check(5_004, 4);
        check(9_998, 1_002);
        check(9_999, 1_003);
        check(99_999, 1_003);
        assert_eq!(mixed().count(), 1_003);
    }

    #[test]
    fn the_key_with_so_many_waiters_is_the_highest_one() {
        let check = |count: u64, limit: u64, want: Option<u64>| {
            let key = mixed().key_with(count, OrderKey(limit));
            assert_eq!(key, want.map(OrderKey), "{count} below {limit}");
        };
        check(0, u64::MAX, None);
        check(1, u64::MAX, Some(100));
        check(2, u64::MAX, Some(100)); // two of one millisecond are called together or not
        check(3, u64::MAX, Some(5_003));
        check(4, u64::MAX, Some(5_008));
        check(1_003, u64::MAX, Some(9_999));
        check(9_999, u64::MAX, Some(9_999));
        check(9_999, 9_999, Some(200));
        check(9_999, 200, Some(100));
    }

    #[test]
    fn count_and_key_agree_everywhere() {
        for count in 3..1_003 {
            let key = mixed().key_with(count, NO_LIMIT).unwrap();
            assert_eq!(mixed().up_to(key), count);
            assert_eq!(mixed().up_to(OrderKey(key.0 + 1)), count + 1);
        }
    }

    #[test]
    fn the_next_key_is_an_exact_one_or_the_next_millisecond_of_a_bucket() {
        let check = |key: u64, limit: u64, want: Option<u64>| {
            let next = mixed().key_after(OrderKey(key), OrderKey(limit));
            assert_eq!(next, want.map(OrderKey), "{key} below {limit}");
        };
        check(0, u64::MAX, Some(100));
        check(100, u64::MAX, Some(200));
        check(200, u64::MAX, Some(5_000));
        check(6_000, u64::MAX, Some(6_001));
        check(9_999, u64::MAX, None);
        check(100, 200, None);
    }

    #[test]
    fn who_waits_with_few_others_in_a_data_center_goes_before_nobody_for_it() {
        let check = |exact: u64, key: u64, want: u64| {
            // So many in the first second of the bucket, and 2,000 whose keys are rounded.
            let exact = (0..exact).map(|at| (5_000 + 1_000 * at / exact, 1));
            let points: Vec<_> = [(4_000, 7)]
                .into_iter()
                .chain(exact)
                .chain([(9_999, 2_000), (12_000, 3)])
                .collect();
            assert_eq!(line(&points).up_to(OrderKey(key)), want, "{points:?} {key}");
        };
        // Enough to say that most of the 2,500 came in that second.
        check(500, 4_999, 7);
        check(500, 5_500, 7 + 251 * 2_500 / 501);
        check(500, 5_998, 7 + 500 * 2_500 / 501);
        check(500, 9_999, 7 + 2_500);
        check(500, 12_000, 7 + 2_503);
        // The first number that is enough, and the last that is not.
        check(16, 5_937, 7 + 16 * 2_016 / 17);
        check(15, 5_999, 7 + 2_015 / 5);
        check(15, 9_999, 7 + 2_015);
    }

    #[test]
    fn a_key_that_is_the_last_of_its_bucket_by_chance_stands_for_itself() {
        let line = line(&[(5_000, 600), (9_999, 1), (12_000, 3)]);
        assert_eq!(line.up_to(OrderKey(9_998)), 600);
        assert_eq!(line.up_to(OrderKey(9_999)), 601);
    }

    #[test]
    fn while_few_wait_every_key_is_exact() {
        let check = |count: u32, want: u64| {
            assert_eq!(line(&[(9_999, count)]).up_to(OrderKey(9_998)), want, "{count}");
        };
        check(2, 0);
        check(512, 0);
        check(513, 512);
    }

    #[test]
    fn a_stretch_ends_at_its_point() {
        let check = |key: u64, want: Option<u64>| {
            assert_eq!(mixed().end_of_stretch(OrderKey(key)), want.map(OrderKey), "{key}");
        };
        check(0, Some(100));
        check(100, Some(200));
        check(6_000, Some(9_999));
        check(9_999, None);
    }

    #[test]
    fn a_long_line_is_thinned_and_keeps_its_end() {
        let whole: Vec<_> = (0..1_000_u64).map(|key| (OrderKey(key), key + 1)).collect();
        let points = curve(&whole);
        assert!(points.len() <= CURVE_POINTS_MAX);
        assert_eq!(points.last(), whole.last());
        assert_eq!(curve(&whole[..3]), whole[..3]);
    }

    /// Of the first two key buckets the parts are told, as of a crowd of seconds, and forty more.
    #[test]
    fn of_a_line_told_in_parts_every_key_bucket_stays_and_then_parts_between() {
        let parts = (0..500).map(|part| (OrderKey(part * 20 + 9), part + 1));
        let buckets = (2..42).map(|bucket| (OrderKey(bucket * 5_000 + 4_999), 1_000 + bucket));
        let whole: Vec<_> = parts.chain(buckets.clone()).collect();
        let points = curve(&whole);
        assert_eq!(points.len(), CURVE_POINTS_MAX);
        assert!(buckets.into_iter().all(|bucket| points.contains(&bucket)));
        assert!(points.contains(&(OrderKey(4_989), 250)), "{points:?}");
        assert!(points.is_sorted());
    }

    /// The same points as by sorting them all into ends of buckets and others, which takes longer.
    #[test]
    fn a_line_is_thinned_alike_however_its_points_lie_in_key_buckets() {
        let sorted = |line: &[(OrderKey, u64)]| {
            let is_end = |at: usize| {
                let bucket = |at| line.get(at).map(|(key, _): &(OrderKey, u64)| key.coarse());
                bucket(at) != bucket(at + 1)
            };
            let (ends, others): (Vec<_>, Vec<_>) =
                (0..line.len()).rev().partition(|at| is_end(*at));
            let every = |places: Vec<usize>, points_max: usize| {
                let step = places.len().checked_div(points_max).map_or(usize::MAX, |step| {
                    step + usize::from(step * points_max < places.len())
                });
                places.into_iter().step_by(step.max(1)).take(points_max).collect::<Vec<_>>()
            };
            let ends = every(ends, CURVE_POINTS_MAX);
            let others = every(others, CURVE_POINTS_MAX - ends.len());
            let places = [ends, others].concat();
            (0..line.len()).filter(|at| places.contains(at)).map(|at| line[at]).collect::<Vec<_>>()
        };
        for count in [64, 65, 100, 128, 129, 500, 1_000] {
            for distance in [1, 7, 78, 600, 2_500, 4_999, 5_000, 9_000] {
                let key = |place: u64| OrderKey(place * distance + place % 7 * distance / 9);
                let line: Vec<_> = (0..count).map(|place| (key(place), place + 1)).collect();
                let want = if count == 64 { line.clone() } else { sorted(&line) };
                assert_eq!(curve(&line), want, "{count}, {distance}");
            }
        }
    }
}
