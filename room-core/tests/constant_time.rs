//! The time that a comparison of secrets takes tells nothing about them: a guess that is wrong at
//! its beginning takes as long as one that is wrong at its end.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
use room_core::keys::token;

/// The length of the tokens: long enough to be measured.
const TOKEN_BYTES: usize = 1 << 20;
const RUNS: usize = 15;

#[test]
fn a_token_is_compared_as_slowly_wherever_it_differs() {
    let secret = "s".repeat(TOKEN_BYTES);
    let early = format!("x{}", secret.get(1..).unwrap_or_default());
    let late = format!("{}x", secret.get(1..).unwrap_or_default());
    let at_its_beginning = fastest(&early, &secret);
    let at_its_end = fastest(&late, &secret);
    let (faster, slower) =
        (at_its_beginning.min(at_its_end), at_its_beginning.max(at_its_end).max(NOTHING));
    assert!(faster * APART_MAX > slower, "{at_its_beginning:?} and {at_its_end:?}");
}

/// So many times apart the fastest runs may be, on however busy a machine: a comparison that stops
/// at the first difference is a thousand times faster there.
const APART_MAX: u32 = 30;
/// Less than this no comparison of so many bytes can take.
const NOTHING: Duration = Duration::from_micros(1);

/// The fastest of some runs, in time that this thread had a processor: what else the machine does
/// hardly adds to that.
fn fastest(given: &str, secret: &str) -> Duration {
    let run = |_| {
        let start = ThreadTime::now();
        assert!(!black_box(token::matches(black_box(given), Some(black_box(secret)))));
        start.elapsed()
    };
    (0..RUNS).map(run).min().unwrap_or_default()
}
