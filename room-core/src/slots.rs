//! Escrow: grants of slots, and the books that keep admitted <= granted <= limit at every instant.
//!
//! Invariant of every grant: n = used + returned + written off + outstanding, each at least 0.
//! Knows nothing of order; only the global aggregator owns a [`Ledger`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bucket::Bucket;
use crate::census::EPOCH_MS;
use crate::id::Incarnation;
use crate::settings::Settings;
use crate::sorted::SortedMap;
use crate::time::{SECOND_MS, Timestamp};

/// Life of a lease at a data center's counter (`admission.md` section 5).
pub const LEASE_MS: u64 = 4_000;
/// Life of slots for called visitors: what is not used by then goes back.
pub const QUEUED_LEASE_MS: u64 = 1_500;
/// Life of a batch at an isolate, never beyond the lease it was cut from.
pub const BATCH_MS: u64 = 2_500;
/// After `until` and this span the rest of a grant is written off.
pub const WRITE_OFF_MS: u64 = 15_000;
/// The rate rule looks at this many one-second bins: any 60 s, whatever the phase.
pub const RATE_BINS: u64 = 61;
/// Bins of slots for called visitors. The middle of a census epoch is the start of one, so that
/// who has entered since then is known exactly: one too many called takes another's place.
const BIN_MS: u64 = 500;
const _: () = assert!((EPOCH_MS / 2).is_multiple_of(BIN_MS) && SECOND_MS.is_multiple_of(BIN_MS));

/// Names a grant: the life of the global aggregator that made it, and a number within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId {
    /// The life of the global aggregator.
    pub incarnation: Incarnation,
    /// Counted from 1 within that life.
    pub number: u64,
}

impl fmt::Display for GrantId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:x}-{:x}", self.incarnation.0, self.number)
    }
}

impl FromStr for GrantId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = |part| u64::from_str_radix(part, 16).map_err(|_| "not a grant id");
        let (incarnation, number) = text.split_once('-').ok_or("not a grant id")?;
        Ok(Self { incarnation: Incarnation(parse(incarnation)?), number: parse(number)? })
    }
}

// Written as one string, so that it can be the key of a JSON object.
impl Serialize for GrantId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GrantId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Whom a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotClass {
    /// A visitor who arrives while the room is open; counted in the rate when used.
    New,
    /// A waiting visitor whose turn it is; counted in the rate when granted.
    Queued,
}

/// Slots handed to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slots {
    /// The grant they belong to.
    pub grant: GrantId,
    /// How many.
    pub n: u32,
    /// No admission from them at or after this moment.
    pub until: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Grant {
    class: SlotClass,
    n: u32,
    until: Timestamp,
    used: u32,
    returned: u32,
    written_off: u32,
}

impl Grant {
    fn outstanding(&self) -> u32 {
        self.n.saturating_sub(self.used + self.returned + self.written_off)
    }

    /// The bucket and second of the phantoms: just after the last moment they could be used.
    fn phantom_at(&self) -> Timestamp {
        self.until + SECOND_MS
    }
}

/// The books of all grants of a room.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledger {
    incarnation: Incarnation,
    next_number: u64,
    /// Slots granted in the whole life of the room.
    granted_total: u64,
    /// Bound of `granted_total` that the stored row knows of.
    ceiling: u64,
    grants: SortedMap<GrantId, Grant>,
    /// When slots for called visitors were granted last.
    queued_at: Timestamp,
    /// Slots for called visitors, by the half second of their grant.
    queued_by_bin: SortedMap<u64, u32>,
    /// Grants of earlier lives that the row did not know, gathered in one for each life.
    stand_ins: SortedMap<Incarnation, StandIn>,
}

/// Stands for the grants of one earlier life from a number on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct StandIn {
    first_number: u64,
    grant: GrantId,
}

impl Ledger {
    /// Empty books of a room that never granted anything.
    pub fn new(incarnation: Incarnation) -> Self {
        Self {
            incarnation,
            next_number: 1,
            granted_total: 0,
            ceiling: 0,
            grants: SortedMap::new(),
            queued_at: Timestamp::default(),
            queued_by_bin: SortedMap::new(),
            stand_ins: SortedMap::new(),
        }
    }

    /// Takes over stored books after a restart.
    ///
    /// What may have been granted beyond them (up to their ceiling) counts as outstanding until
    /// it is reported used or written off: safe, never looser.
    #[must_use]
    pub fn restart(mut self, incarnation: Incarnation, now: Timestamp) -> Self {
        let beyond = u32::try_from(self.ceiling.saturating_sub(self.granted_total)).unwrap_or(0);
        if beyond > 0 {
            let id = GrantId { incarnation, number: 0 };
            self.grants.insert(
                id,
                Grant {
                    class: SlotClass::New,
                    n: beyond,
                    until: now + LEASE_MS,
                    used: 0,
                    returned: 0,
                    written_off: 0,
                },
            );
            let stand_in = StandIn { first_number: self.next_number, grant: id };
            self.stand_ins.insert(self.incarnation, stand_in);
        }
        self.granted_total = self.ceiling;
        self.incarnation = incarnation;
        self.next_number = 1;
        self
    }

    /// The same books under a ceiling that is at least as high as that of `other`.
    #[must_use]
    pub fn with_ceiling_of(mut self, other: &Self) -> Self {
        self.ceiling = self.ceiling.max(other.ceiling);
        self
    }

    /// Books `n` slots. The caller has checked the limits.
    pub fn grant(&mut self, now: Timestamp, class: SlotClass, n: u32) -> Slots {
        let id = GrantId { incarnation: self.incarnation, number: self.next_number };
        let until = now + if class == SlotClass::New { LEASE_MS } else { QUEUED_LEASE_MS };
        self.next_number += 1;
        self.granted_total += u64::from(n);
        if class == SlotClass::Queued {
            *self.queued_by_bin.get_or_default(now.0 / BIN_MS) += n;
            self.queued_at = now;
        }
        let grant = Grant { class, n, until, used: 0, returned: 0, written_off: 0 };
        self.grants.insert(id, grant);
        Slots { grant: id, n, until }
    }

    /// True when the stored row must be written before the last grant may leave the object.
    pub fn is_beyond_ceiling(&self) -> bool {
        self.granted_total > self.ceiling
    }

    /// Raises the ceiling for the next row: what was granted, and `ahead` more.
    pub fn raise_ceiling(&mut self, ahead: u32) {
        self.ceiling = self.granted_total + u64::from(ahead);
    }

    /// Books the total use of a grant over all its reporters. Returns false when the reports
    /// exceed the grant, which is a fault somewhere and is clamped here.
    pub fn set_used(&mut self, now: Timestamp, id: GrantId, used: u32) -> bool {
        let Some(grant) = self.grants.get_mut(&id) else { return true };
        let used_before = grant.used;
        grant.used = used.max(used_before).min(grant.n);
        let fits = grant.used + grant.returned <= grant.n;
        grant.returned = grant.returned.min(grant.n - grant.used);
        // A late use takes the place of its phantom.
        grant.written_off = grant.written_off.min(grant.n - grant.used - grant.returned);
        if self.stand_ins.values().any(|stand_in| stand_in.grant == id) {
            // Their class is not known: they count in the rate from now on, the safe side.
            *self.queued_by_bin.get_or_default(now.0 / BIN_MS) += grant.used - used_before;
        }
        fits && used <= grant.n
    }

    /// Books what came back unused, as the counter's running total for this grant.
    pub fn set_returned(&mut self, id: GrantId, returned: u32) {
        let Some(grant) = self.grants.get_mut(&id) else { return };
        let free = grant.n - grant.used;
        let more = returned.min(free).saturating_sub(grant.returned);
        grant.returned += more;
        grant.written_off = grant.written_off.min(free - grant.returned);
        if grant.class == SlotClass::Queued {
            // A slot that came back was no admission: the rate gets it back too.
            let granted_at = grant.until - QUEUED_LEASE_MS;
            if let Some(granted) = self.queued_by_bin.get_mut(&(granted_at.0 / BIN_MS)) {
                *granted = granted.saturating_sub(more);
            }
        }
    }

    /// The grant that stands for those an earlier life made after its last stored row, if `id`
    /// is one of them.
    pub fn stand_in_for(&self, id: GrantId) -> Option<GrantId> {
        let stand_in = self.stand_ins.get(&id.incarnation)?;
        (id.number >= stand_in.first_number).then_some(stand_in.grant)
    }

    /// Writes off what was not accounted for 15 s after its end, and forgets what no longer
    /// counts.
    pub fn settle(&mut self, now: Timestamp, settings: &Settings) {
        for grant in self.grants.values_mut() {
            if now >= grant.until + WRITE_OFF_MS {
                grant.written_off += grant.outstanding();
            }
        }
        self.grants.retain(|_, grant| {
            let in_rate = now.since_ms(grant.phantom_at()) < RATE_BINS * SECOND_MS;
            now < grant.until
                || grant.outstanding() > 0
                || grant.written_off > 0
                    && (in_rate || Bucket::at(grant.phantom_at(), settings).is_live(now))
        });
        let grants = &self.grants;
        self.stand_ins.retain(|_, stand_in| grants.contains_key(&stand_in.grant));
        let oldest = now - RATE_BINS * SECOND_MS;
        self.queued_by_bin.keep_from(&(oldest.0 / BIN_MS));
    }

    /// Slots granted and not yet accounted for.
    pub fn outstanding(&self) -> u64 {
        self.grants.values().map(|grant| u64::from(grant.outstanding())).sum()
    }

    /// The same for newcomers alone: they will count in the rate when they are used.
    pub fn outstanding_new(&self) -> u64 {
        let new = |grant: &&Grant| grant.class == SlotClass::New;
        self.grants.values().filter(new).map(|grant| u64::from(grant.outstanding())).sum()
    }

    /// Written-off slots that still hold a place at `now`.
    pub fn phantoms(&self, now: Timestamp, settings: &Settings) -> u64 {
        let holds = |grant: &&Grant| Bucket::at(grant.phantom_at(), settings).is_live(now);
        self.grants.values().filter(holds).map(|grant| u64::from(grant.written_off)).sum()
    }

    /// Written-off slots for newcomers that still count in the rate at `now`.
    pub fn phantoms_in_rate(&self, now: Timestamp) -> u64 {
        let oldest_s = now.seconds().saturating_sub(RATE_BINS - 1);
        self.grants
            .values()
            .filter(|grant| grant.class == SlotClass::New)
            .filter(|grant| grant.phantom_at().seconds() >= oldest_s)
            .map(|grant| u64::from(grant.written_off))
            .sum()
    }

    /// When slots for called visitors were granted last.
    pub fn queued_at(&self) -> Timestamp {
        self.queued_at
    }

    /// Slots granted to called visitors since `from`, the half second of `from` included.
    pub fn queued_since(&self, from: Timestamp) -> u64 {
        self.queued_by_bin.from_key(&(from.0 / BIN_MS)).map(|(_, n)| u64::from(*n)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{GrantId, Ledger, QUEUED_LEASE_MS, SlotClass, Slots, WRITE_OFF_MS};
    use crate::id::Incarnation;
    use crate::settings::Settings;
    use crate::time::Timestamp;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn ledger() -> Ledger {
        Ledger::new(Incarnation(7))
    }

    fn settled(mut ledger: Ledger, now: Timestamp) -> Ledger {
        ledger.settle(now, &Settings::for_tests());
        ledger
    }

    /// (outstanding, places held by phantoms) of a ledger at `now`.
    fn held(ledger: &Ledger, now: Timestamp) -> (u64, u64) {
        (ledger.outstanding(), ledger.phantoms(now, &Settings::for_tests()))
    }

    #[test]
    fn a_grant_is_outstanding_until_every_slot_is_accounted_for() {
        let check = |used: u32, returned: u32, want: u64, fits: bool| {
            let mut ledger = ledger();
            let slots = ledger.grant(NOW, SlotClass::New, 10);
            ledger.set_returned(slots.grant, returned);
            assert_eq!(ledger.set_used(NOW, slots.grant, used), fits, "{used} + {returned}");
            assert_eq!(ledger.outstanding(), want, "{used} + {returned}");
        };
        check(0, 0, 10, true);
        check(3, 4, 3, true);
        check(6, 4, 0, true);
        check(7, 4, 0, false);
        check(11, 0, 0, false);
    }

    #[test]
    fn repeated_and_late_reports_change_nothing() {
        let mut ledger = ledger();
        let Slots { grant, .. } = ledger.grant(NOW, SlotClass::New, 10);
        for (used, returned, want) in [(3, 2, 5), (2, 1, 5), (3, 2, 5), (4, 2, 4)] {
            ledger.set_used(NOW, grant, used);
            ledger.set_returned(grant, returned);
            assert_eq!(ledger.outstanding(), want);
        }
    }

    #[test]
    fn the_rest_is_written_off_15_s_after_the_end_and_holds_its_place_for_a_session() {
        let mut ledger = ledger();
        let slots = ledger.grant(NOW, SlotClass::New, 10);
        ledger.set_used(NOW, slots.grant, 4);
        let written_off_at = slots.until + WRITE_OFF_MS;
        let ledger = settled(ledger, written_off_at - 1);
        assert_eq!(held(&ledger, written_off_at - 1), (6, 0));
        let ledger = settled(ledger, written_off_at);
        assert_eq!(held(&ledger, written_off_at), (0, 6));
        assert_eq!(ledger.phantoms_in_rate(written_off_at), 6);
        // Booked at until + 1 s: in the rate for 61 bins, inside for a session and a bucket.
        let booked_at = slots.until + 1_000;
        assert_eq!(ledger.phantoms_in_rate(booked_at + 60_000), 6);
        assert_eq!(ledger.phantoms_in_rate(booked_at + 61_000), 0);
        let gone_at = Timestamp(1_010_000 + 300_000);
        assert_eq!(held(&settled(ledger.clone(), gone_at - 1), gone_at - 1), (0, 6));
        assert_eq!(held(&settled(ledger, gone_at), gone_at), (0, 0));
    }

    #[test]
    fn a_late_use_or_return_takes_the_place_of_its_phantom() {
        let mut ledger = ledger();
        let slots = ledger.grant(NOW, SlotClass::New, 10);
        let late = slots.until + WRITE_OFF_MS;
        let mut ledger = settled(ledger, late);
        assert!(ledger.set_used(late, slots.grant, 3));
        assert_eq!(held(&ledger, late), (0, 7));
        ledger.set_returned(slots.grant, 5);
        assert_eq!(held(&ledger, late), (0, 2));
    }

    #[test]
    fn slots_of_called_visitors_count_in_the_rate_when_granted_until_they_come_back() {
        let mut ledger = ledger();
        let slots = ledger.grant(NOW, SlotClass::Queued, 3);
        assert_eq!(slots.until, NOW + QUEUED_LEASE_MS);
        assert_eq!(ledger.queued_since(NOW), 3);
        assert_eq!(ledger.queued_since(NOW + 499), 3);
        assert_eq!(ledger.queued_since(NOW + 500), 0);
        assert_eq!(ledger.outstanding_new(), 0);
        ledger.set_used(NOW, slots.grant, 1);
        assert_eq!(ledger.queued_since(NOW), 3);
        ledger.set_returned(slots.grant, 2);
        ledger.set_returned(slots.grant, 2);
        assert_eq!(ledger.queued_since(NOW), 1);
    }

    #[test]
    fn a_grant_above_the_stored_ceiling_must_be_stored_first() {
        let mut ledger = ledger();
        ledger.raise_ceiling(5);
        ledger.grant(NOW, SlotClass::New, 5);
        assert!(!ledger.is_beyond_ceiling());
        ledger.grant(NOW, SlotClass::New, 1);
        assert!(ledger.is_beyond_ceiling());
        ledger.raise_ceiling(0);
        assert!(!ledger.is_beyond_ceiling());
    }

    #[test]
    fn what_the_stored_books_do_not_know_is_outstanding_after_a_restart() {
        let mut stored = ledger();
        stored.grant(NOW, SlotClass::New, 2);
        stored.raise_ceiling(8);
        let restarted = stored.restart(Incarnation(8), NOW);
        assert_eq!(restarted.outstanding(), 2 + 8);
        // The ceiling is used up: a grant of the new life must be stored first.
        let mut restarted = restarted;
        let slots = restarted.grant(NOW, SlotClass::New, 1);
        assert_eq!(slots.grant, GrantId { incarnation: Incarnation(8), number: 1 });
        assert!(restarted.is_beyond_ceiling());
    }

    #[test]
    fn each_earlier_life_has_its_own_stand_in() {
        let id = |life: u64, number: u64| GrantId { incarnation: Incarnation(life), number };
        let mut first = ledger();
        first.grant(NOW, SlotClass::New, 2);
        first.raise_ceiling(8);
        let mut second = first.restart(Incarnation(8), NOW);
        second.grant(NOW, SlotClass::New, 1);
        second.raise_ceiling(0);
        let mut third = second.restart(Incarnation(9), NOW);
        let check = |ledger: &Ledger, id: GrantId, want: Option<GrantId>| {
            assert_eq!(ledger.stand_in_for(id), want, "{id}");
        };
        check(&third, id(7, 1), None);
        check(&third, id(7, 2), Some(id(8, 0)));
        check(&third, id(8, 1), None);
        check(&third, id(8, 2), None); // the second life's books were complete
        assert_eq!(third.outstanding(), 2 + 8 + 1);
        assert!(third.set_used(NOW, id(8, 0), 8));
        assert_eq!(third.outstanding(), 2 + 1);
        assert_eq!(third.queued_since(NOW), 8); // their class is unknown: the safe side
        let forgotten = settled(third, NOW + 10 * 60_000);
        check(&forgotten, id(7, 2), None);
    }

    #[test]
    fn a_grant_id_is_written_as_one_word() {
        let id = GrantId { incarnation: Incarnation(255), number: 16 };
        assert_eq!(id.to_string(), "ff-10");
        assert_eq!("ff-10".parse(), Ok(id));
        for wrong in ["", "ff", "ff-", "-1", "ff-10-1", "zz-1"] {
            assert!(wrong.parse::<GrantId>().is_err(), "{wrong}");
        }
    }
}
