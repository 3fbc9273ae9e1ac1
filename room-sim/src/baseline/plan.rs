//! What a data center does with a view for one minute: which bucket enters, what is shared out.
//! Computed once per view and minute, not per visit.

use super::counts::{Presence, Totals};
use super::design::{Design, Offer};
use super::minute::Minute;
use super::settings::{Order, Settings};
use super::slots::{Reservation, reserve, slots_available};

/// How a visitor may enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The whole bucket has slots: from anywhere, without asking.
    Reserved,
    /// Only on one of the slots that are divided among the isolates.
    Shared,
    /// Not in this moment.
    Wait,
}

/// The decision material of one data center.
#[derive(Debug)]
pub(super) struct Plan {
    reservations: Vec<Reservation>,
    order: Order,
    /// The slots that are divided among the isolates.
    pub(super) offer: Offer,
    /// Mean admissions of the last full minutes; 0 stands for unknown.
    pub(super) admissions_per_minute: f64,
}

impl Plan {
    pub(super) fn of(
        minute: Minute,
        settings: Settings,
        totals: &Totals,
        presence_here: &Presence,
        workers_here: u64,
        design: &dyn Design,
    ) -> Self {
        let counts = &totals.counts;
        let limit = settings.total_active_users;
        let active = counts.active_users(minute, settings.session_minutes);
        let available = slots_available(
            limit,
            active,
            settings.new_users_per_minute,
            counts.admitted_users(minute),
        );
        let waiting = counts.waiting_users(minute, settings.hold_minutes);
        let (reservations, left) = reserve(&waiting, available);
        let left = match settings.order {
            Order::Random => u64::try_from(available).unwrap_or(0),
            Order::Fifo => first_partial(&reservations).map_or(left, |bucket| bucket.reserved),
        };
        // The isolates count whom they let in since the minute began, so do the slots they compare
        // it with. Nothing left: nobody, however few one isolate has let in.
        let slots = if left == 0 { 0 } else { left + counts.shared_admissions(minute) };
        let history = minute.before(design.history_minutes());
        let shares =
            design.shares(presence_here.users(history), counts.presence.users(history), limit);
        Self {
            reservations,
            order: settings.order,
            offer: Offer {
                minute,
                slots,
                shares,
                utilisation: active as f64 / limit.max(1) as f64,
                workers_here: workers_here.max(1),
                workers_everywhere: totals.workers.max(1),
            },
            admissions_per_minute: counts.admissions_per_minute(minute),
        }
    }

    /// New users enter only if every bucket is reserved in full.
    pub(super) fn new_visitors_wait(&self) -> bool {
        self.order == Order::Fifo && first_partial(&self.reservations).is_some()
    }

    /// A queued user's claim; a bucket the view does not know yet is behind all it knows.
    pub(super) fn claim_of(&self, bucket: Minute) -> Claim {
        if self.order == Order::Random {
            return Claim::Shared;
        }
        let open = first_partial(&self.reservations).map(|reservation| reservation.bucket);
        match open {
            Some(open) if bucket > open => Claim::Wait,
            Some(open) if bucket == open => Claim::Shared,
            Some(_) => Claim::Reserved,
            None if self.knows(bucket) => Claim::Reserved,
            None => Claim::Shared,
        }
    }

    /// Waiting minus eligible slots over the buckets up to `bucket`.
    pub(super) fn ahead_of(&self, bucket: Minute) -> u64 {
        let end = self.reservations.partition_point(|known| known.bucket <= bucket);
        end.checked_sub(1).and_then(|last| self.reservations.get(last)).map_or(0, |last| last.ahead)
    }

    fn knows(&self, bucket: Minute) -> bool {
        self.reservations.binary_search_by_key(&bucket, |known| known.bucket).is_ok()
    }
}

fn first_partial(reservations: &[Reservation]) -> Option<&Reservation> {
    let full = reservations.partition_point(|bucket| bucket.reserved == bucket.waiting);
    reservations.get(full)
}
