//! I11 for whoever kept a copy of the cookie and left: a minute later no isolate of any data center
//! serves it, however many sessions were ended, and nobody else notices.

use room_core::base::id::Incarnation;
use room_core::base::time::Timestamp;
use room_core::room::settings::Settings;
use room_core::ticket::Ticket;

use crate::cluster::{Cluster, ISOLATES_PER_DATA_CENTER, Visitor};
use crate::escrow::limits;
use crate::flight::{Flight, Reporter};

const DATA_CENTERS: usize = 4;
/// Nobody has ever been here, so that isolates and objects know nothing.
const UNUSED: usize = (DATA_CENTERS - 1) * ISOLATES_PER_DATA_CENTER;
const MINUTE_S: u64 = 60;

impl Cluster {
    /// Asks the aggregator of an isolate whether a session was ended, and waits for the answer:
    /// messages pass meanwhile, and no time.
    pub fn ask_ended(&mut self, isolate: usize, ticket: &Ticket) -> Timestamp {
        let data_center = isolate / ISOLATES_PER_DATA_CENTER;
        let report = self.isolates[isolate].machine.ended_request(ticket);
        // The name of nobody, to whom no other answer goes.
        let reporter = Some(Reporter { isolate, incarnation: Incarnation(0) });
        self.flights.push_back(Flight::Report { data_center, report, reporter });
        let is_answer = |flight: &Flight| {
            let asker = Incarnation(0);
            matches!(flight, Flight::Reported { reporter, .. } if reporter.incarnation == asker)
        };
        let mut reply = None;
        for _ in 0..12 {
            if let Some(index) = self.flights.iter().position(is_answer) {
                if let Some(Flight::Reported { reply: answer, .. }) = self.flights.remove(index) {
                    reply = answer;
                }
                break;
            }
            for _ in 0..self.flights.len() {
                if !self.flights.front().is_some_and(is_answer) {
                    self.deliver(0);
                }
            }
        }
        self.asked_for_ended += 1;
        let now = self.clocks.of_isolate(isolate, self.now);
        self.isolates[isolate].machine.on_ended_reply(now, reply)
    }

    /// Whether a request with this ticket reaches the site, and not as a newcomer's.
    fn serves(&mut self, isolate: usize, ticket: &Ticket) -> bool {
        self.visitors.push(Visitor { isolate, ..Visitor::default() });
        let visitor = self.visitors.len() - 1;
        self.visit(visitor, isolate, Some(ticket.clone()));
        let is_own = |one: &Option<Ticket>| one.as_ref().is_none_or(|one| one.id == ticket.id);
        self.passed.take().is_some_and(|(who, set)| who == visitor && is_own(&set))
    }
}

/// A room in which `inside` visitors are, of whom the first `ended` leave within 20 s, each with a
/// copy of the ticket; sessions last ten minutes and are not renewed.
fn left(inside: usize, ended: usize) -> (Cluster, Vec<Ticket>) {
    let settings = Settings {
        sessions_end_early: true,
        disable_session_renewal: true,
        session_duration_minutes: 10,
        next_change_at: Some(Timestamp(0)),
        ..limits(inside as u32 + 1, inside as u32 + 1)
    };
    let mut cluster = Cluster::new(settings, DATA_CENTERS);
    for visitor in 0..inside {
        cluster.arrive(visitor % UNUSED);
        if visitor % 20 == 19 {
            cluster.run(1, 100);
        }
    }
    cluster.run(100, 100);
    assert_eq!(cluster.counted(), inside as u64);
    let mut copies = Vec::new();
    for visitor in 0..ended {
        copies.extend(cluster.revoke(visitor, visitor % UNUSED, 0));
        if visitor % (ended / 20).max(1) == 0 {
            cluster.run(10, 100);
        }
    }
    assert_eq!(copies.len(), ended);
    (cluster, copies)
}

/// Returns how many of these copies are served by each of these isolates.
fn served(cluster: &mut Cluster, copies: &[Ticket], isolates: &[usize]) -> usize {
    let mut served = 0;
    for isolate in isolates {
        for copy in copies {
            served += usize::from(cluster.serves(*isolate, copy));
        }
    }
    served
}

fn check(inside: usize, ended: usize, sample: usize) {
    let (mut cluster, copies) = left(inside, ended);
    cluster.run(MINUTE_S, 1_000);
    assert_eq!(cluster.counted(), (inside - ended) as u64);
    // Whoever is nobody any more waits, and asks no counter.
    cluster.change(Settings { queue_all: true, ..cluster.settings.clone() });
    let some: Vec<Ticket> = copies.iter().step_by((ended / sample).max(1)).cloned().collect();
    let all: Vec<usize> = (0..DATA_CENTERS * ISOLATES_PER_DATA_CENTER).collect();
    assert_eq!(served(&mut cluster, &some, &all), 0, "{ended} left of {inside}");
    // A new isolate beside them knows nothing.
    cluster.kill_isolate(0);
    assert_eq!(served(&mut cluster, &some, &[0]), 0, "{ended} left, a new isolate");
    for _ in 0..7 {
        cluster.run(MINUTE_S, 1_000);
        let served = served(&mut cluster, &some, &[0, 3, UNUSED]);
        assert_eq!(served, 0, "{ended} left of {inside}, at {}", cluster.now);
    }
}

#[test]
fn i11_a_copy_kept_after_leaving_is_served_nowhere_a_minute_later() {
    check(20, 15, 15);
    check(150, 150, 150);
    check(320, 288, 288);
}

#[test]
fn i11_nor_is_one_of_five_thousand() {
    check(10_000, 5_000, 100);
}
