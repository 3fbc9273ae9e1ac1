//! The idle part of the limits while a line stands that is long enough for the next minute. It
//! knows no visitor.

use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::room::settings::Settings;

use super::Idle;

/// The divisor of N that gives, where R is larger, how many waiting visitors are enough for a
/// minute.
const PART: u32 = 10;

/// A line, since it has been long enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StandingLine {
    since: Option<Timestamp>,
}

impl StandingLine {
    /// Adds the idle part of the second that ends at `now` to `idle`, once the line has stood for a
    /// minute; `used` is the used part of the tighter limit.
    pub(super) fn see(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        (used, waiting): (f64, u64),
        idle: &mut Idle,
    ) {
        let enough = settings.new_users_per_minute.min(settings.total_active_users / PART).max(1);
        if waiting < u64::from(enough) || settings.queue_all {
            self.since = None;
            return;
        }
        let since = *self.since.get_or_insert(now);
        if now.since_ms(since) >= MINUTE_MS {
            idle.add((1.0 - used).max(0.0));
        }
    }
}
