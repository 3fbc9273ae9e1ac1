//! Visitors whose cookie others use too, at the same time: while it waits, and in some stories once
//! it is inside.

use room_core::ticket::Ticket;

use crate::visitor::{Owner, VisitorState};
use crate::world::World;

/// The number of data centers in which a shared cookie is used at once, including the visitor's
/// own. The constant after it says how often in the visitor's own while it waits.
const SHARED_BY: usize = 10;
const SHARED_USES: usize = 200;

impl World {
    /// Makes others use the same cookie as a visitor who shares it, here and in other data centers.
    pub(super) fn use_copies(&mut self, visitor: usize, ticket: Option<&Ticket>) {
        let Some(browser) = self.visitors.get(visitor) else { return };
        let data_center = browser.data_center;
        let uses_here = match browser.standing {
            VisitorState::Waits(_) => SHARED_USES,
            VisitorState::Inside(_) if self.scenario.habits.shared_inside => 1,
            _ => 0,
        };
        if browser.owner != Owner::Sharer || uses_here == 0 {
            return;
        }
        let data_centers = self.isolates.len();
        let elsewhere =
            (1..data_centers.min(SHARED_BY)).map(|one| (data_center + one) % data_centers);
        let here = (0..uses_here).map(|_| data_center);
        for place in elsewhere.chain(here) {
            self.request(visitor, place, ticket.cloned(), true);
        }
    }
}
