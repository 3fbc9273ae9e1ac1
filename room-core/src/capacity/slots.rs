//! Escrow: the account of granted slots, which keeps admitted <= granted <= limit at every instant.
//!
//! A *slot* is the right to admit one visitor; a *grant* is a number of slots handed to one data
//! center. Of every grant, n = used + returned + written off + outstanding, each at least 0. Who
//! comes first is decided elsewhere, and only the global aggregator owns a [`Ledger`].

mod ahead;
mod end;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::id::Incarnation;
use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::order::order_key::EPOCH_MS;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

pub use end::SlotEnd;

/// How long a data center's counter may hand out slots (a *lease*), in milliseconds since it asked
/// for them (`docs/algorithm.md`).
pub const LEASE_MS: u64 = 4_000;
/// How long a counter keeps slots for called visitors, in milliseconds since they came. Slots not
/// handed out by then go back.
pub const QUEUED_LEASE_MS: u64 = 1_500;
/// How long after the end of its lease a slot that was handed out before may be used, in
/// milliseconds. An answer may be on its way for as long (`LIMIT_MS` in `src/calls.rs`).
pub const ANSWER_MS: u64 = 3_000;
/// How long an isolate may use a batch of slots, in milliseconds. A batch never outlives the lease
/// from which it was taken.
pub const BATCH_MS: u64 = 2_500;
/// How long after its end a grant is settled, in milliseconds. Slots neither reported used nor
/// returned by then are written off, and count as used.
pub const WRITE_OFF_MS: u64 = 15_000;
/// The number of one-second bins in which admissions count against `new_users_per_minute`. With 61
/// of them every span of 60 s is within the limit, wherever in a second it begins.
pub const RATE_BINS: u64 = 61;
/// For how long it is known how many called visitors were granted slots, in milliseconds, besides a
/// check-in interval. A census is doubted for a minute and a check-in interval, and by then may be
/// 20 s old.
const QUEUED_KNOWN_MS: u64 = MINUTE_MS + 20 * SECOND_MS;
/// The most grants kept, so that the ledger fits into a stored value. Each takes up to 200 bytes,
/// and a sale in 300 data centers has 620.
const GRANTS_MAX: usize = 1_024;
/// The number of grants from which on completely written-off grants are merged.
const GRANTS_MANY: usize = GRANTS_MAX / 2;
/// The width of the bins of granted slots, in milliseconds. The middle of a census epoch is the
/// start of a bin, so that the entrances since then are known exactly. One visitor called too many
/// takes another's place.
const BIN_MS: u64 = 500;
const _: () = assert!((EPOCH_MS / 2).is_multiple_of(BIN_MS) && SECOND_MS.is_multiple_of(BIN_MS));

/// The name of a grant: the incarnation (life) of the global aggregator that made it, and a number
/// within it. As text and in JSON both are hexadecimal, with a hyphen between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId {
    /// The incarnation of the global aggregator that made the grant.
    pub incarnation: Incarnation,
    /// The number, counted from 1 within that incarnation. 0 is the grant that stands for lost ones
    /// after a restart.
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

/// The kind of visitor a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotClass {
    /// A visitor who arrives while the room is open.
    New,
    /// A waiting visitor whose turn it is.
    Queued,
}

/// A number of slots of one grant, as handed to a data center's counter or an isolate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slots {
    /// The grant they belong to.
    pub grant: GrantId,
    /// The number of slots, and so of visitors that may be admitted.
    pub n: u32,
    /// The moment from which on they may not be handed out, by the holder's clock.
    pub until: Timestamp,
    /// The same moment in ledger time: see [`SlotEnd`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_books: Option<Timestamp>,
}

impl Slots {
    /// Returns `n` slots of a grant with this end.
    pub fn new(grant: GrantId, n: u32, end: SlotEnd) -> Self {
        Self { grant, n, until: end.until, in_books: end.in_books }
    }

    /// Returns when they end.
    pub fn end(&self) -> SlotEnd {
        SlotEnd { until: self.until, in_books: self.in_books }
    }
}

/// One grant and what became of its slots.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Grant {
    class: SlotClass,
    n: u32,
    /// When the grant was made; rows of an earlier version lack it.
    #[serde(default)]
    granted_at: Timestamp,
    until: Timestamp,
    used: u32,
    returned: u32,
    written_off: u32,
    /// The bucket in which written-off slots count as visitors. If the session duration changed
    /// while they could be used, the longer one counts. Rows of an earlier version lack it.
    #[serde(default)]
    bucket: Bucket,
}

impl Grant {
    fn outstanding(&self) -> u32 {
        self.n.saturating_sub(self.used + self.returned + self.written_off)
    }

    /// Returns the last moment at which slots could be used. Written-off ones count as admitted
    /// then.
    fn last_use_at(&self) -> Timestamp {
        self.until + ANSWER_MS
    }

    /// Whether a slot admitted at [`Self::last_use_at`] counts in the rate at `now`.
    fn is_in_rate(&self, now: Timestamp) -> bool {
        now.seconds() < self.last_use_at().seconds() + RATE_BINS
    }

    /// Returns the same grant, with its written-off slots holding places for at least a session of
    /// these `settings`.
    fn holding(mut self, settings: &Settings) -> Self {
        self.hold(settings);
        self
    }

    fn hold(&mut self, settings: &Settings) {
        self.bucket = self.bucket.max(settings.bucket_at(self.last_use_at()));
    }
}

/// The account of all grants of a room. It is stored, and survives a restart by [`Self::restart`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledger {
    incarnation: Incarnation,
    next_number: u64,
    /// The number of slots granted in the whole life of the room.
    granted_total: u64,
    /// How far `granted_total` may rise before the row must be stored again.
    ceiling: u64,
    grants: SortedMap<GrantId, Grant>,
    /// When slots for called visitors were granted last.
    queued_at: Timestamp,
    /// The number of slots for called visitors, by the half second of their grant.
    queued_by_bin: SortedMap<u64, u32>,
    /// The same of slots for newcomers, while they count in the rate. Rows of an earlier version
    /// lack it.
    #[serde(default)]
    new_by_bin: SortedMap<u64, u32>,
    /// For each earlier incarnation, the grant that stands for those made after its last stored
    /// row.
    stand_ins: SortedMap<Incarnation, StandIn>,
    /// For each incarnation, the last grant that was merged into another. Of earlier grants missing
    /// in the account it is not known whether all slots were used.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    taken_together: SortedMap<Incarnation, u64>,
}

/// The grant that stands for one earlier incarnation's grants from a number on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct StandIn {
    first_number: u64,
    grant: GrantId,
}

impl Ledger {
    /// Makes the account of a room that has never granted anything.
    pub fn new(incarnation: Incarnation) -> Self {
        Self {
            incarnation,
            next_number: 1,
            granted_total: 0,
            ceiling: 0,
            grants: SortedMap::new(),
            queued_at: Timestamp::default(),
            queued_by_bin: SortedMap::new(),
            new_by_bin: SortedMap::new(),
            stand_ins: SortedMap::new(),
            taken_together: SortedMap::new(),
        }
    }

    /// Takes over the stored account after a restart at `now`, for the new `incarnation`.
    ///
    /// Slots may have been granted after the account was stored, up to its ceiling. For `lease_ms`
    /// at most they count as outstanding, until they are reported used or written off. So limits
    /// hold, if too strictly.
    #[must_use]
    pub fn restart(mut self, incarnation: Incarnation, now: Timestamp, lease_ms: u64) -> Self {
        let beyond = self.ceiling.saturating_sub(self.granted_total);
        let beyond = u32::try_from(beyond).unwrap_or(u32::MAX);
        if beyond > 0 {
            let id = GrantId { incarnation, number: 0 };
            *self.new_by_bin.get_or_default(now.0 / BIN_MS) += beyond;
            let (class, granted_at, until) = (SlotClass::New, now, now + lease_ms);
            let (used, returned, written_off, bucket) = (0, 0, 0, Bucket::default());
            let n = beyond;
            let grant = Grant { class, n, granted_at, until, used, returned, written_off, bucket };
            self.grants.insert(id, grant);
            let stand_in = StandIn { first_number: self.next_number, grant: id };
            self.stand_ins.insert(self.incarnation, stand_in);
        }
        self.granted_total = self.ceiling;
        self.incarnation = incarnation;
        self.next_number = 1;
        self
    }

    /// Returns the same account with a ceiling at least as high as that of `other`.
    #[must_use]
    pub fn with_ceiling_of(mut self, other: &Self) -> Self {
        self.ceiling = self.ceiling.max(other.ceiling);
        self
    }

    /// Whether another grant can be made and still be stored.
    pub fn has_room(&self) -> bool {
        self.grants.len() < GRANTS_MAX
    }

    /// Books `n` slots at `now` for a lease of `lease_ms`, and returns them for a counter. The
    /// caller has checked that both limits of the room allow them.
    pub fn grant(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        class: SlotClass,
        n: u32,
        lease_ms: u64,
    ) -> Slots {
        let id = GrantId { incarnation: self.incarnation, number: self.next_number };
        let until = now + lease_ms;
        self.next_number += 1;
        self.granted_total += u64::from(n);
        let by_bin = match class {
            SlotClass::New => &mut self.new_by_bin,
            SlotClass::Queued => {
                self.queued_at = now;
                &mut self.queued_by_bin
            }
        };
        *by_bin.get_or_default(now.0 / BIN_MS) += n;
        let (granted_at, bucket) = (now, Bucket::default());
        let (used, returned, written_off) = (0, 0, 0);
        let grant = Grant { class, n, granted_at, until, used, returned, written_off, bucket };
        self.grants.insert(id, grant.holding(settings));
        Slots::new(id, n, SlotEnd { until, in_books: Some(until) })
    }

    /// Lets the slots of a grant be used for [`LEASE_MS`] from `now` on, for a visitor who did not
    /// get the answer with one of them in time. Returns the new end.
    ///
    /// None of them counts twice. Those not accounted for are outstanding again, and leave the rate
    /// and their places later by as much. If they have left the rate already, `rate_left` must be
    /// as many. `None` if it is not, if they no longer hold places, or if it is not known what
    /// became of them.
    pub fn extend(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: GrantId,
        rate_left: u64,
    ) -> Option<SlotEnd> {
        let until = now + LEASE_MS;
        let held = self.stand_in_for(id).unwrap_or(id);
        let counts = if let Some(grant) = self.grants.get_mut(&held) {
            let unused = u64::from(grant.written_off);
            let counts =
                grant.bucket.is_live(now) && (grant.is_in_rate(now) || unused <= rate_left);
            if counts {
                grant.until = grant.until.max(until);
                grant.written_off = 0;
                grant.hold(settings);
            }
            counts
        } else {
            self.has_settled(id)
        };
        counts.then_some(SlotEnd { until, in_books: Some(until) })
    }

    /// Whether a grant that is not in the account was made, and each of its slots is accounted for.
    fn has_settled(&self, id: GrantId) -> bool {
        let stand_in = self.stand_ins.get(&id.incarnation);
        let is_own = id.incarnation == self.incarnation && id.number < self.next_number;
        let taken = self.taken_together.get(&id.incarnation);
        if taken.is_some_and(|last| id.number <= *last) {
            return false;
        }
        is_own || stand_in.is_some_and(|stand_in| id.number < stand_in.first_number)
    }

    /// Whether more is granted than the stored ceiling allows. The row must then be stored before
    /// the last grant leaves the object.
    pub fn is_beyond_ceiling(&self) -> bool {
        self.granted_total > self.ceiling
    }

    /// Sets the ceiling for the next stored row: what was granted so far plus `ahead`.
    pub fn raise_ceiling(&mut self, ahead: u32) {
        self.ceiling = self.granted_total + u64::from(ahead);
    }

    /// Books how many slots of a grant were used, in total over all data centers' reports.
    ///
    /// Returns false if the used and returned slots are more than the grant has, which is a fault
    /// somewhere. The account then books as many used slots as fit, and fewer returned ones.
    pub fn set_used(&mut self, id: GrantId, used: u32) -> bool {
        let Some(grant) = self.grants.get_mut(&id) else { return true };
        grant.used = used.max(grant.used).min(grant.n);
        let fits = grant.used + grant.returned <= grant.n;
        grant.returned = grant.returned.min(grant.n - grant.used);
        // A late use takes the place of its written-off slot.
        grant.written_off = grant.written_off.min(grant.n - grant.used - grant.returned);
        fits && used <= grant.n
    }

    /// Books how many slots of a grant came back unused, as the counter's running total.
    pub fn set_returned(&mut self, id: GrantId, returned: u32) {
        let Some(grant) = self.grants.get_mut(&id) else { return };
        let free = grant.n - grant.used;
        let more = returned.min(free).saturating_sub(grant.returned);
        grant.returned += more;
        grant.written_off = grant.written_off.min(free - grant.returned);
        let by_bin = match grant.class {
            SlotClass::New => &mut self.new_by_bin,
            SlotClass::Queued => &mut self.queued_by_bin,
        };
        // A slot that came back let nobody in, and called nobody out of the line.
        if let Some(granted) = by_bin.get_mut(&(grant.granted_at.0 / BIN_MS)) {
            *granted = granted.saturating_sub(more);
        }
    }

    /// Returns the grant that stands for `id`, if an earlier incarnation made that after its last
    /// stored row; otherwise `None`.
    pub fn stand_in_for(&self, id: GrantId) -> Option<GrantId> {
        let stand_in = self.stand_ins.get(&id.incarnation)?;
        (id.number >= stand_in.first_number).then_some(stand_in.grant)
    }

    /// Writes off the slots that are not accounted for [`WRITE_OFF_MS`] after their end. Forgets
    /// grants that no longer count.
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
            now < grant.until
                || grant.outstanding() > 0
                || grant.written_off > 0 && (grant.is_in_rate(now) || grant.bucket.is_live(now))
        });
        if self.grants.len() > GRANTS_MANY {
            self.take_together(now);
        }
        let grants = &self.grants;
        self.stand_ins.retain(|_, stand_in| grants.contains_key(&stand_in.grant));
        let (own, stand_ins) = (self.incarnation, &self.stand_ins);
        self.taken_together.retain(|life, _| *life == own || stand_ins.contains_key(life));
        let oldest = now - QUEUED_KNOWN_MS - settings.longest_refresh_ms();
        self.queued_by_bin.keep_from(&(oldest.0 / BIN_MS));
        self.new_by_bin.keep_from(&(now.minus_seconds(RATE_BINS).0 / BIN_MS));
    }

    /// Merges the written-off slots of one bucket into one grant, once they count against no rate.
    /// A late use of a slot of a merged grant is then counted in addition.
    fn take_together(&mut self, now: Timestamp) {
        let mut together: SortedMap<Bucket, GrantId> = SortedMap::new();
        let mut taken: Vec<(GrantId, Grant)> = Vec::new();
        for (id, grant) in &self.grants {
            if grant.outstanding() > 0 || grant.written_off == 0 || grant.is_in_rate(now) {
                continue;
            }
            if together.contains_key(&grant.bucket) {
                taken.push((*id, grant.clone()));
            } else {
                together.insert(grant.bucket, *id);
            }
        }
        for (id, grant) in taken {
            let of_bucket = together.get(&grant.bucket).and_then(|one| self.grants.get_mut(one));
            if let Some(one) = of_bucket {
                one.n = one.n.saturating_add(grant.n);
                one.used = one.used.saturating_add(grant.used);
                one.returned = one.returned.saturating_add(grant.returned);
                one.written_off = one.written_off.saturating_add(grant.written_off);
                self.grants.remove(&id);
                let last = self.taken_together.get_or_default(id.incarnation);
                *last = (*last).max(id.number);
            }
        }
    }

    /// Returns how many slots are outstanding: granted, and neither reported used, nor returned,
    /// nor written off.
    pub fn outstanding(&self) -> u64 {
        self.grants.values().map(|grant| u64::from(grant.outstanding())).sum()
    }

    /// Returns how many of the outstanding slots are for newcomers.
    pub fn outstanding_new(&self) -> u64 {
        let new = |grant: &&Grant| grant.class == SlotClass::New;
        self.grants.values().filter(new).map(|grant| u64::from(grant.outstanding())).sum()
    }

    /// Returns how many written-off slots still hold a place at `now`, as visitors inside do.
    pub fn written_off_slots(&self, now: Timestamp) -> u64 {
        let holds = |grant: &&Grant| grant.bucket.is_live(now);
        self.grants.values().filter(holds).map(|grant| u64::from(grant.written_off)).sum()
    }

    /// Returns how many written-off slots still count against `new_users_per_minute` at `now`.
    pub fn written_off_in_rate(&self, now: Timestamp) -> u64 {
        let in_rate = |grant: &&Grant| grant.is_in_rate(now);
        self.grants.values().filter(in_rate).map(|grant| u64::from(grant.written_off)).sum()
    }

    /// Returns when slots for called visitors were granted last; 1970 if never.
    pub fn queued_at(&self) -> Timestamp {
        self.queued_at
    }

    /// Returns how many slots were granted to called visitors since `from`, including the whole
    /// half second of `from`.
    pub fn queued_since(&self, from: Timestamp) -> u64 {
        between(&self.queued_by_bin, from, Timestamp(u64::MAX))
    }

    /// Returns how many slots of both classes were granted from `from`, a minute ago at most, to
    /// `now`, and have not come back.
    pub fn granted_since(&self, from: Timestamp, now: Timestamp) -> u64 {
        between(&self.queued_by_bin, from, now) + between(&self.new_by_bin, from, now)
    }
}

fn between(by_bin: &SortedMap<u64, u32>, from: Timestamp, until: Timestamp) -> u64 {
    let bins = by_bin.from_key(&(from.0 / BIN_MS));
    bins.take_while(|(bin, _)| **bin <= until.0 / BIN_MS).map(|(_, n)| u64::from(*n)).sum()
}

#[cfg(test)]
mod tests;
