//! The admissions of a data center for the room's transparency log, until the shell stores them.
//!
//! The shell stores them before it sends the sync that counts them. Isolates keep an event until a
//! sync with it is stored, and repeat it to the next incarnation. So no admission that is counted
//! is missing, and one may be stored twice, in the same words.

use std::fmt::Write as _;

use crate::machines::wire::{Admission, IsolateEvent, Logged as Words};
use crate::room::settings::{QueueingMethod, Settings};

/// Admissions as text: visitor (hexadecimal), joined, admitted, why, unheard; one in each line.
#[derive(Clone, Debug, Default)]
pub(super) struct Logged(String);

impl Logged {
    /// Adds an event that was counted, if it is an admission of a room with a log.
    pub(super) fn add(&mut self, event: &IsolateEvent) {
        if let IsolateEvent::Admitted(Admission { visitor, second, logged: Some(words), .. }) =
            event
        {
            let Words { joined_s, why, unheard_s } = words;
            // Writing to a text cannot fail.
            let _ = writeln!(self.0, "{:x},{joined_s},{second},{why},{unheard_s}", visitor.0);
        }
    }

    /// Returns the limits in force, in the first line, and the admissions; `None` without any.
    pub(super) fn take(&mut self, settings: &Settings) -> Option<String> {
        let admissions = std::mem::take(&mut self.0);
        (!admissions.is_empty()).then(|| format!("{}\n{admissions}", rules(settings)))
    }
}

/// The limits as text: visitors inside, new per minute, seconds of a session, method, and whether
/// sessions may end early.
fn rules(settings: &Settings) -> String {
    let method = match settings.queueing_method {
        QueueingMethod::Fifo => 0,
        QueueingMethod::Random => 1,
        QueueingMethod::Passthrough => 2,
        QueueingMethod::Reject => 3,
    };
    let early = settings.places_come_free_early();
    let (total, per_minute) = (settings.total_active_users, settings.new_users_per_minute);
    let session_s = u64::from(settings.session_duration_minutes) * 60;
    format!("{total},{per_minute},{session_s},{method},{}", u8::from(early))
}
