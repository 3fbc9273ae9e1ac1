//! How many slots come free soon, where the limit per minute decides it.

use super::books::Books;
use crate::base::time::Timestamp;
use crate::room::settings::Settings;

/// Returns how many slots per second come free until a visitor near the head has checked in,
/// if the limit per minute decides it, of which `rate_free` is left. `None` if the places do:
/// whether sessions are renewed is not known.
pub(super) fn freed_per_s(
    books: &Books,
    now: Timestamp,
    settings: &Settings,
    rate_free: f64,
) -> Option<f64> {
    // The present second is not over.
    let seconds = settings.near_head_refresh_interval_s + 1;
    let leaving = books.entered_in_rate_window(now).take(seconds as usize);
    let places_free = books.places_free(now, settings);
    let then_free = rate_free + leaving.map(|(_, entered)| entered).sum::<u64>() as f64;
    let freed = (then_free - rate_free.max(0.0)).max(0.0);
    (places_free as f64 > then_free).then(|| freed / f64::from(seconds))
}
