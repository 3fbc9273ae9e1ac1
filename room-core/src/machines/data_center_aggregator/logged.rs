//! The admissions of a data center for the room's transparency log, until the shell stores them.
//!
//! The shell stores them before it sends the sync that counts them. Isolates keep an event until a
//! sync with it is stored, and repeat it to the next incarnation. So no admission that is counted
//! is missing, and one may be stored twice, in the same words.
//!
//! The limits of an admission are those that its isolate knew. If the aggregator knows others when
//! it counts the admission, the slot may be from before a change that the isolate knew already, or
//! the isolate did not know of it yet. Then the admission stands under both: the log has it once,
//! and tells of all limits that were in force, also of those that were so for a second.

use std::fmt::Write as _;

use crate::machines::wire::{Admission, IsolateEvent, Limits, Logged as Words, limits};
use crate::room::settings::Settings;

/// Admissions as text, by limits: visitor (hexadecimal), joined, admitted, why, unheard; one in
/// each line.
#[derive(Clone, Debug, Default)]
pub(super) struct Logged(Vec<(Limits, String)>);

impl Logged {
    /// Adds an event that was counted under `settings`, if it is an admission of a room with a log.
    pub(super) fn add(&mut self, settings: &Settings, event: &IsolateEvent) {
        if let IsolateEvent::Admitted(Admission { visitor, second, logged: Some(words), .. }) =
            event
        {
            let Words { joined_s, why, unheard_s, limits: admitted_under } = words;
            let line = format!("{:x},{joined_s},{second},{why},{unheard_s}", visitor.0);
            let counted_under = limits(settings);
            if let Some(other) = admitted_under.filter(|limits| *limits != counted_under) {
                self.add_line(other, &line);
            }
            self.add_line(counted_under, &line);
        }
    }

    /// Adds a line. What the aggregator has known last stands last: it is in force from then on.
    fn add_line(&mut self, limits: Limits, line: &str) {
        let place = self.0.iter().position(|(known, _)| *known == limits);
        let mut lines = place.map(|place| self.0.remove(place).1).unwrap_or_default();
        // Writing to a text cannot fail.
        let _ = writeln!(lines, "{line}");
        self.0.push((limits, lines));
    }

    /// Returns the admissions, with their limits in the first line of each text.
    pub(super) fn take(&mut self) -> Vec<String> {
        let texts = |(limits, lines): (Limits, String)| {
            let limits: Vec<String> = limits.iter().map(u32::to_string).collect();
            format!("{}\n{lines}", limits.join(","))
        };
        std::mem::take(&mut self.0).into_iter().map(texts).collect()
    }
}
