//! How the global aggregator asks a data center's aggregator for a sync.
//!
//! The request is a report of an isolate that does not exist, with a view version newer than any.
//! So an earlier version understands it too.

use crate::base::id::IsolateId;
use crate::machines::wire::Report;

/// The isolate of the request. A real isolate has this number with a chance of 1 in 2^64.
const NOBODY: IsolateId = IsolateId(0);

/// How long a sync may be unanswered, in milliseconds, before a request sends it again.
pub(super) const UNHEARD_MS: u64 = 500;

/// Returns the request for a sync.
pub fn sync_request() -> Report {
    let (events, check, counted, journal) = (Vec::new(), Vec::new(), None, String::new());
    let (first, durable, view_version) = (1, 0, u64::MAX);
    Report { isolate: NOBODY, first, durable, events, view_version, check, counted, journal }
}

/// Whether a report is such a request.
pub(super) fn is_sync_request(report: &Report) -> bool {
    report.isolate == NOBODY && report.view_version == u64::MAX
}
