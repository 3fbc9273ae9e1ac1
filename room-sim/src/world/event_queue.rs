//! The future events, in order of time. Events of the same moment come in order of entry.
//!
//! A wheel of one slot per millisecond holds the present span, and sorted chunks hold the rest.
//! Entering and taking out cost the same however many millions of visitors are due. The span is so
//! short that the slots of millions stay in the caches of the processor.

use std::collections::{BTreeMap, VecDeque};

use room_core::base::time::Timestamp;

/// Milliseconds of one turn of the wheel.
const SPAN_MS: u64 = 1 << 10;

/// Future events, to the millisecond.
#[derive(Debug)]
pub struct EventQueue<WorldEvent> {
    /// The millisecond of the span that is being emptied.
    slot: usize,
    span: u64,
    slots: Vec<VecDeque<WorldEvent>>,
    /// The number of events in the slots.
    near: usize,
    later: BTreeMap<u64, Vec<(Timestamp, WorldEvent)>>,
    entered: u64,
}

impl<WorldEvent> EventQueue<WorldEvent> {
    /// An empty queue that begins at `start`.
    pub fn new(start: Timestamp) -> Self {
        Self {
            slot: (start.0 % SPAN_MS) as usize,
            span: start.0 / SPAN_MS,
            slots: (0..SPAN_MS).map(|_| VecDeque::new()).collect(),
            near: 0,
            later: BTreeMap::new(),
            entered: 0,
        }
    }

    /// Enters an event. One for a past moment happens now.
    pub fn enter(&mut self, at: Timestamp, event: WorldEvent) {
        self.entered += 1;
        let at = at.max(self.present());
        if at.0 / SPAN_MS == self.span {
            self.enter_near(at, event);
        } else {
            self.later.entry(at.0 / SPAN_MS).or_default().push((at, event));
        }
    }

    /// Takes out the next event, with its moment; `None` if there is none.
    pub fn next(&mut self) -> Option<(Timestamp, WorldEvent)> {
        loop {
            if self.near == 0 {
                self.turn()?;
            }
            let at = self.present();
            if let Some(event) = self.slots.get_mut(self.slot).and_then(VecDeque::pop_front) {
                self.near -= 1;
                return Some((at, event));
            }
            self.slot += 1;
        }
    }

    /// Lists the other events due at the moment of the last event, in their order.
    pub fn due_now(&self) -> impl Iterator<Item = &WorldEvent> {
        self.slots.get(self.slot).into_iter().flatten()
    }

    /// Returns the number of all events that were ever entered.
    pub fn entered(&self) -> u64 {
        self.entered
    }

    fn present(&self) -> Timestamp {
        Timestamp(self.span * SPAN_MS + self.slot as u64)
    }

    fn enter_near(&mut self, at: Timestamp, event: WorldEvent) {
        if let Some(slot) = self.slots.get_mut((at.0 % SPAN_MS) as usize) {
            slot.push_back(event);
            self.near += 1;
        }
    }

    /// Advances to the next span in which anything happens.
    fn turn(&mut self) -> Option<()> {
        let (span, events) = self.later.pop_first()?;
        (self.span, self.slot) = (span, 0);
        for (at, event) in events {
            self.enter_near(at, event);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{EventQueue, SPAN_MS};
    use room_core::base::time::Timestamp;

    #[test]
    fn events_come_in_order_of_time_and_of_entry() {
        let mut event_queue = EventQueue::new(Timestamp(5));
        let far = 3 * SPAN_MS;
        let moments = [far, 9, 7, 9, SPAN_MS, far, 1];
        for (number, at) in moments.into_iter().enumerate() {
            event_queue.enter(Timestamp(at), number);
        }
        let mut order = Vec::new();
        while let Some((at, number)) = event_queue.next() {
            order.push((at.0, number));
            if number == 2 {
                event_queue.enter(at, 100);
                event_queue.enter(at - 3, 101);
                event_queue.enter(at + far, 102);
            }
        }
        let want = [(5, 6), (7, 2), (7, 100), (7, 101), (9, 1), (9, 3), (SPAN_MS, 4)];
        assert_eq!(order.get(..7), Some(want.as_slice()));
        assert_eq!(order.get(7..), Some([(far, 0), (far, 5), (far + 7, 102)].as_slice()));
        assert_eq!(event_queue.entered(), 10);
    }
}
