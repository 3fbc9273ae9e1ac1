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
    /// Until when phantoms hold their places: where the session changed while the slots could be
    /// used, the longer one counts. Rows of an earlier version do not know it.
    #[serde(default)]
    bucket: Bucket,
}

impl Grant {
    fn outstanding(&self) -> u32 {
        self.n.saturating_sub(self.used + self.returned + self.written_off)
    }

    /// The bucket and second of the phantoms: just after the last moment they could be used.
    fn phantom_at(&self) -> Timestamp {
        self.until + SECOND_MS
    }

    /// The same grant, its phantoms inside for a session of these settings at least.
    fn holding(mut self, settings: &Settings) -> Self {
        self.hold(settings);
        self
    }

    fn hold(&mut self, settings: &Settings) {
        self.bucket = self.bucket.max(Bucket::at(self.phantom_at(), settings));
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
                    bucket: Bucket::default(),
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
    pub fn grant(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        class: SlotClass,
        n: u32,
    ) -> Slots {
        let id = GrantId { incarnation: self.incarnation, number: self.next_number };
        let until = now + if class == SlotClass::New { LEASE_MS } else { QUEUED_LEASE_MS };
        self.next_number += 1;
        self.granted_total += u64::from(n);
        if class == SlotClass::Queued {
            *self.queued_by_bin.get_or_default(now.0 / BIN_MS) += n;
            self.queued_at = now;
        }
        let (used, returned, written_off, bucket) = (0, 0, 0, Bucket::default());
        let grant = Grant { class, n, until, used, returned, written_off, bucket };
        self.grants.insert(id, grant.holding(settings));
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
            if grant.outstanding() > 0 || grant.bucket == Bucket::default() {
                grant.hold(settings);
            }
            if now >= grant.until + WRITE_OFF_MS {
                grant.written_off += grant.outstanding();
            }
        }
        self.grants.retain(|_, grant| {
            let in_rate = now.since_ms(grant.phantom_at()) < RATE_BINS * SECOND_MS;
            now < grant.until
                || grant.outstanding() > 0
                || grant.written_off > 0 && (in_rate || grant.bucket.is_live(now))
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
    pub fn phantoms(&self, now: Timestamp) -> u64 {
        let holds = |grant: &&Grant| grant.bucket.is_live(now);
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
mod tests;
