//! The breaks: for each law of the pure core at least one. It runs nothing.

use super::Mutant;

/// In the order of the laws. I14 is also held by the tests in
/// workerd, and I16 by them alone.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        law: "I1",
        breaks: "slots that are out do not count against the places",
        file: "global_aggregator/limits.rs",
        from: "let inside = self.counted(now, settings) + self.ledger.outstanding();\n        \
               let places = u64::from(settings.total_active_users).saturating_sub(inside);",
        to: "let inside = self.counted(now, settings);\n        \
             let places = u64::from(settings.total_active_users).saturating_sub(inside);",
    },
    Mutant {
        law: "I1",
        breaks: "called visitors do not count against the rate",
        file: "global_aggregator/limits.rs",
        from: "            + self.ledger.queued_since(from)\n",
        to: "",
    },
    Mutant {
        law: "I1",
        breaks: "a longer promise from before the end of an event counts for a minute only",
        file: "data_center_aggregator/contribution.rs",
        from: "let newest = Bucket::last_possible(now + SKEW_MS);",
        to: "let newest = Bucket(now.seconds() as u32 + 62);",
    },
    Mutant {
        law: "I2",
        breaks: "a slot comes back that was used",
        file: "slots.rs",
        from: "let free = grant.n - grant.used;\n        let more = returned.min(free)",
        to: "let free = grant.n - grant.used;\n        let more = returned.min(grant.n)",
    },
    Mutant {
        law: "I3",
        breaks: "the threshold calls visitors of an epoch that is not reported",
        file: "queue.rs",
        from: "let limit = self.joined_by(self.reported.start());",
        to: "let limit = OrderKey(u64::MAX);",
    },
    Mutant {
        law: "I3",
        breaks: "a burst calls ahead of the census for longer than a second",
        file: "global_aggregator/burst.rs",
        from: "first.0.saturating_add(SECOND_MS)",
        to: "first.0.saturating_add(60 * SECOND_MS)",
    },
    Mutant {
        law: "I4",
        breaks: "the counter gives slots to visitors who were not called",
        file: "data_center_counter.rs",
        from: "if take.class == SlotClass::Queued && !self.is_called(take) {",
        to: "if false {",
    },
    Mutant {
        law: "I5",
        breaks: "a lease is spent after its end",
        file: "data_center_counter/leases.rs",
        from: "lease.class == class && lease.tokens > 0 && now < lease.until;",
        to: "lease.class == class && lease.tokens > 0;",
    },
    Mutant {
        law: "I5",
        breaks: "a batch outlives its lease",
        file: "data_center_counter.rs",
        from: "let until = until.min(now + BATCH_MS);",
        to: "let until = until + BATCH_MS;",
    },
    Mutant {
        law: "I6",
        breaks: "a renewal is counted in the new bucket and left in the old one",
        file: "data_center_aggregator/visitors.rs",
        from: "self.place(visitor, Place { bucket: to, behind, ..known });\n            left",
        to: "self.place(visitor, Place { bucket: to, behind, ..known });\n            to",
    },
    Mutant {
        law: "I7",
        breaks: "every one of several requests with one cookie moves the visitor",
        file: "data_center_aggregator/visitors.rs",
        from: "let left = known.bucket.max(from);",
        to: "let left = from;",
    },
    Mutant {
        law: "I8",
        breaks: "a check-in leaves a gap behind the one before it",
        file: "admission.rs",
        from: "if now.since_ms(due) <= EPOCH_MS { due } else { now }",
        to: "now + EPOCH_MS",
    },
    Mutant {
        law: "I9",
        breaks: "nobody is called when a place is free",
        file: "queue.rs",
        from: "    if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {\n        \
               return supply.available;",
        to: "    if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {\n        \
             return supply.available / 2;",
    },
    Mutant {
        law: "I9",
        breaks: "the room does not open when the line is gone",
        file: "queue.rs",
        from: "        self.open = true;\n        // Everybody",
        to: "        // Everybody",
    },
    Mutant {
        law: "I10",
        breaks: "the start draws no lots",
        file: "shuffle.rs",
        from: "        if !self.covers(ticket.joined_at) {",
        to: "        if true || !self.covers(ticket.joined_at) {",
    },
    Mutant {
        law: "I10",
        breaks: "whoever joins in a round draws a lot in it",
        file: "lottery.rs",
        from: "if ticket.confirmed_s == 0 || confirmed_at >= self.start() {",
        to: "if false {",
    },
    Mutant {
        law: "I10",
        breaks: "who was called is not when the round ends",
        file: "lottery.rs",
        from: "Round::of(self.before) == Some(round) && key <= self.before",
        to: "false",
    },
    Mutant {
        law: "I11",
        breaks: "each data center that says that a session ended frees a place",
        file: "state/revoked.rs",
        from: "let known = self.visitors.get(&visitor).copied();",
        to: "let known: Option<Bucket> = None;",
    },
    Mutant {
        law: "I11",
        breaks: "a copy of the ticket keeps its place",
        file: "isolate.rs",
        from: "self.void.contains(ticket)",
        to: "ticket.infinite",
    },
    Mutant {
        law: "I12",
        breaks: "the estimate rises by any amount",
        file: "estimate.rs",
        from: "shown_s.map_or(estimate_s, |shown| estimate_s.min(bound(shown)))",
        to: "shown_s.map_or(estimate_s, |shown| estimate_s.max(bound(shown)))",
    },
    Mutant {
        law: "I13",
        breaks: "slots are granted while data centers are missing after a restart",
        file: "global_aggregator/limits.rs",
        from: "|| now < self.learning_until && self.book.is_missing_since(self.started_at)",
        to: "",
    },
    Mutant {
        law: "I13",
        breaks: "learning waits for data centers that never report",
        file: "global_aggregator/limits.rs",
        from: "now < self.learning_until && self.book",
        to: "self.book",
    },
    Mutant {
        law: "I14",
        breaks: "a visitor inside asks for a place again",
        file: "admission.rs",
        from: "Some(ticket) if is_inside(&ticket, now, settings) =>",
        to: "Some(ticket) if false && is_inside(&ticket, now, settings) =>",
    },
    Mutant {
        law: "I14",
        breaks: "an event without renewal forgets what was promised before it",
        file: "admission.rs",
        from: "            || counted > Bucket::at(ticket.accepted_at, settings)\n",
        to: "",
    },
    Mutant {
        law: "I15",
        breaks: "an old contribution takes the place of a newer one",
        file: "state.rs",
        from: "before.is_some_and(|before| before.seq >= contribution.seq)",
        to: "before.is_some_and(|before| before.seq == contribution.seq)",
    },
    Mutant {
        law: "I17",
        breaks: "an open view admits without a slot",
        file: "isolate.rs",
        from: "            return Outcome::Ask(ask);\n        }\n        self.perform",
        to: "            let answer = Answer::Granted(now);\n            \
             return self.settled(now, settings, ask, draws, answer, None);\n        \
             }\n        self.perform",
    },
];
