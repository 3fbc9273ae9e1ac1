//! What an operation reads to answer a call. An operation returns the changes to make. It makes
//! none itself, since it holds the state by shared reference.

use super::deployment::Deployment;
use super::stored::Stored;
use crate::base::id::{RoomId, ZoneId};
use crate::base::time::Timestamp;
use crate::keys::key_ring::KeyRing;
use crate::management::api::Failure;
use crate::management::token::Grant;
use crate::room::Room;

/// The state of the registry when a call came, and everything else that the answer depends on.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// When the call came.
    pub now: Timestamp,
    /// Fresh random bytes, from which new ids are made. For a preview they are its id.
    pub draw: [u8; 16],
    /// The keys that draw the orders of events; `None` if they are not known.
    pub keys: Option<&'a KeyRing>,
    /// All that owners configured so far.
    pub stored: &'a Stored,
    /// What the deployment allows owners.
    pub deployment: &'a Deployment,
    /// What the sender of the call may do.
    pub grant: &'a Grant,
}

impl<'a> CallContext<'a> {
    /// Finds the room of this id in this zone.
    ///
    /// Errors: there is no such zone, or no such room in it.
    pub fn room(self, zone: ZoneId, room: RoomId) -> Result<&'a Room, Failure> {
        self.check_zone(zone)?;
        let found = self.stored.rooms().get(&room).filter(|room| room.zone_id == zone);
        found.ok_or_else(|| Failure::not_found("waiting room"))
    }

    /// Checks that a zone exists: the deployment names it, or a room is in it.
    pub fn check_zone(self, zone: ZoneId) -> Result<(), Failure> {
        let mut rooms = self.stored.rooms().values();
        if self.deployment.zones.has(zone) || rooms.any(|room| room.zone_id == zone) {
            return Ok(());
        }
        Err(no_zone())
    }
}

/// Makes the failure (404) of an unknown zone.
pub fn no_zone() -> Failure {
    let message = "There is no such zone; the variable ZONES names the zones there are.";
    Failure::new(404, 7_003, message)
}
