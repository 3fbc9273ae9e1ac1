//! The heatmap: the waits of a run, counted in bins of arrival and of wait.

use super::Wait;

/// The number of bins of arrival, and of wait, as in the published pictures.
pub const BINS: usize = 30;

/// The number of visitors by bin of arrival (the first index) and of wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heatmap([[u32; BINS]; BINS]);

impl Heatmap {
    /// Counts the waits in bins of equal width from 0 to these ends. The last bin also has what
    /// lies beyond.
    pub fn of(waits: &[Wait], arrival_minutes_end: f64, wait_s_end: f64) -> Self {
        let mut counts = [[0; BINS]; BINS];
        let bin = |value: f64, end: f64| ((value / end * BINS as f64) as usize).min(BINS - 1);
        for wait in waits {
            let column = counts.get_mut(bin(wait.arrival_minutes, arrival_minutes_end));
            let cell = column.and_then(|column| column.get_mut(bin(wait.wait_s, wait_s_end)));
            if let Some(cell) = cell {
                *cell += 1;
            }
        }
        Self(counts)
    }

    /// Returns the counts by wait for each bin of arrival.
    pub fn columns(&self) -> &[[u32; BINS]; BINS] {
        &self.0
    }

    /// Returns the visitors of each bin of wait, the shortest first.
    pub fn by_wait(&self) -> [u32; BINS] {
        let mut sums = [0; BINS];
        for column in &self.0 {
            for (sum, count) in sums.iter_mut().zip(column) {
                *sum += count;
            }
        }
        sums
    }

    /// Returns the number of visitors of the fullest bin.
    pub fn max(&self) -> u32 {
        self.0.iter().flatten().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{BINS, Heatmap, Wait};

    #[test]
    fn everybody_who_entered_is_in_one_bin() {
        let check = |arrival_minutes: f64, wait_s: f64, want: (usize, usize)| {
            let map = Heatmap::of(&[Wait { arrival_minutes, wait_s }], 30.0, 3_000.0);
            let (arrival, wait) = want;
            assert_eq!(map.columns()[arrival][wait], 1, "{arrival_minutes} {wait_s}");
            assert_eq!((map.max(), map.by_wait()[wait]), (1, 1));
            assert_eq!(map.by_wait().iter().sum::<u32>(), 1);
        };
        check(0.0, 0.0, (0, 0));
        check(0.99, 99.9, (0, 0));
        check(1.0, 100.0, (1, 1));
        check(29.9, 2_999.0, (BINS - 1, BINS - 1));
        check(30.5, 9_000.0, (BINS - 1, BINS - 1));
    }
}
