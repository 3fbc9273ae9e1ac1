//! The order that an event draws at its start for all who joined in its prequeue. Computed from the
//! ticket wherever it is read, never stored, and the same everywhere; it counts and calls nobody.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::id::EventId;
use crate::queue::OrderKey;
use crate::ticket::Ticket;
use crate::time::Timestamp;

/// One draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shuffle {
    /// The event, whose id makes it a draw of its own.
    pub event: EventId,
    /// The beginning of the prequeue.
    pub from: Timestamp,
    /// Its end, the start of the event. Whoever joins from then on stands behind all of them.
    pub until: Timestamp,
}

impl Shuffle {
    /// True for a moment of the prequeue.
    pub fn covers(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }

    /// The drawn place of a visitor who joined in the prequeue; `None` for everybody else.
    ///
    /// `from + rank * (until - from)` with the rank a share of 1 (`admission.md` section 4): so the
    /// threshold runs through the ranks, then without a break through the times after the start.
    /// Nobody can look for a good one: the ticket's id is random and sealed from its holder.
    pub fn key_of(&self, ticket: &Ticket) -> Option<OrderKey> {
        if !self.covers(ticket.joined_at) {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(self.event.as_bytes());
        hash.update(ticket.id.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let rank = u64::from_be_bytes(*digest.first_chunk().unwrap_or(&[0; 8]));
        let length_ms = u128::from(self.until.since_ms(self.from));
        let offset_ms = u64::try_from((u128::from(rank) * length_ms) >> u64::BITS).unwrap_or(0);
        Some(OrderKey::fifo(self.from + offset_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::Shuffle;
    use crate::bucket::Bucket;
    use crate::id::{EventId, TicketId};
    use crate::queue::OrderKey;
    use crate::settings::Settings;
    use crate::ticket::{Challenge, NO_ESTIMATE, Ticket, TicketState};
    use crate::time::{MINUTE_MS, Timestamp};

    const FROM: Timestamp = Timestamp(1_800_000_000_000);

    fn shuffle(event: u8) -> Shuffle {
        let event = EventId::from_bytes([event; 16]);
        Shuffle { event, from: FROM, until: FROM + 30 * MINUTE_MS }
    }

    fn settings() -> Settings {
        Settings { shuffles: vec![shuffle(1)], ..Settings::for_tests() }
    }

    fn ticket(number: u64, joined_at: Timestamp) -> Ticket {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        Ticket {
            id: TicketId::from_bytes(id),
            joined_at,
            state: TicketState::Queued,
            accepted_at: Timestamp(0),
            counted_bucket: Bucket(0),
            last_check_in: joined_at,
            interval_s: 20,
            shown_estimate_s: NO_ESTIMATE,
            event: 0,
            confirmed_s: 0,
            unconfirmed: false,
            infinite: false,
            challenge: Challenge::None,
            people_ahead: 0,
        }
    }

    #[test]
    fn who_joins_in_the_prequeue_gets_a_place_in_it_and_nobody_else() {
        let check = |joined_at: Timestamp, is_drawn: bool| {
            let key = settings().order_key(&ticket(7, joined_at));
            assert_eq!(key != OrderKey::fifo(joined_at), is_drawn, "{joined_at:?}");
            assert!(!is_drawn || shuffle(1).covers(Timestamp(key.0)), "{key:?}");
        };
        check(FROM - 1, false);
        check(FROM, true);
        check(FROM + 30 * MINUTE_MS - 1, true);
        check(FROM + 30 * MINUTE_MS, false);
    }

    #[test]
    fn a_ticket_has_one_rank_in_a_draw_and_another_in_the_next() {
        let key = |shuffle: Shuffle| shuffle.key_of(&ticket(7, FROM)).expect("a rank");
        assert_eq!(key(shuffle(1)), key(shuffle(1)));
        assert_ne!(key(shuffle(1)), key(shuffle(2)));
    }

    #[test]
    fn holding_calls_nobody_of_the_prequeue() {
        let check = |now: Timestamp, want: Timestamp| {
            assert_eq!(settings().held_from(now), OrderKey::fifo(want), "{now:?}");
        };
        check(FROM - 1, FROM - 1);
        check(FROM + MINUTE_MS, FROM);
        check(FROM + 30 * MINUTE_MS, FROM + 30 * MINUTE_MS);
    }

    /// I10. With 100,000 the correlation of a fair draw stays below 0.0095 in 997 of 1,000 draws;
    /// this is one draw, the same in every run.
    #[test]
    fn the_drawn_order_has_nothing_to_do_with_the_time_of_joining() {
        const VISITORS: u64 = 100_000;
        let key = |number: u64| {
            let joined_at = FROM + number * 30 * MINUTE_MS / VISITORS;
            settings().order_key(&ticket(number, joined_at)).0 - FROM.0
        };
        let keys: Vec<f64> = (0..VISITORS).map(|number| key(number) as f64).collect();
        let count = VISITORS as f64;
        let (mean_place, mean_key) = ((count - 1.0) / 2.0, keys.iter().sum::<f64>() / count);
        let places = (0..VISITORS).map(|place| place as f64 - mean_place);
        let both = places.zip(keys.iter().map(|key| key - mean_key));
        let (mut joint, mut of_places, mut of_keys) = (0.0, 0.0, 0.0);
        for (place, key) in both {
            joint += place * key;
            of_places += place * place;
            of_keys += key * key;
        }
        let correlation = joint / f64::sqrt(of_places * of_keys);
        assert!(correlation.abs() < 0.01, "{correlation}");
        let middle = (30 * MINUTE_MS) as f64 / 2.0;
        assert!((mean_key / middle - 1.0).abs() < 0.01, "{mean_key}");
    }
}
