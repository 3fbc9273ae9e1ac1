//! What will happen, in order of time; what is due at the same moment comes in order of entry.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use room_core::time::Timestamp;

/// Future events.
#[derive(Debug)]
pub struct Calendar<Event> {
    entries: BinaryHeap<Reverse<Entry<Event>>>,
    entered: u64,
}

#[derive(Debug)]
struct Entry<Event> {
    at: Timestamp,
    number: u64,
    event: Event,
}

impl<Event> Default for Calendar<Event> {
    fn default() -> Self {
        Self { entries: BinaryHeap::new(), entered: 0 }
    }
}

impl<Event> Calendar<Event> {
    /// Enters an event.
    pub fn enter(&mut self, at: Timestamp, event: Event) {
        self.entered += 1;
        self.entries.push(Reverse(Entry { at, number: self.entered, event }));
    }

    /// Takes the next event out.
    pub fn next(&mut self) -> Option<(Timestamp, Event)> {
        self.entries.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }

    /// Events entered so far.
    pub fn entered(&self) -> u64 {
        self.entered
    }
}

impl<Event> Ord for Entry<Event> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<Event> PartialOrd for Entry<Event> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Event> PartialEq for Entry<Event> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<Event> Eq for Entry<Event> {}
