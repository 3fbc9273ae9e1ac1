//! How the global aggregator asks an aggregator for a sync. It is a report of nobody who knows a
//! newer view than any, so that an earlier version understands it too.

use crate::base::id::IsolateId;
use crate::machines::wire::Report;

/// No isolate has this number but by a chance of 1 in 2^64.
const NOBODY: IsolateId = IsolateId(0);

/// A sync that has had no answer for so long in milliseconds is sent again for whoever asks.
pub(super) const UNHEARD_MS: u64 = 500;

/// Returns the request for a sync.
pub fn sync_request() -> Report {
    let (events, check, counted) = (Vec::new(), Vec::new(), None);
    let (first, durable, view_version) = (1, 0, u64::MAX);
    Report { isolate: NOBODY, first, durable, events, view_version, check, counted }
}

/// Whether a report is such a request.
pub(super) fn is_sync_request(report: &Report) -> bool {
    report.isolate == NOBODY && report.view_version == u64::MAX
}
