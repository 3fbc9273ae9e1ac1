//! Named tokens of the API: each with a role, the zones or rooms it is for, and an end.

use serde::{Deserialize, Serialize};

use crate::base::id::{RoomId, TokenId, ZoneId};
use crate::base::time::Timestamp;
use crate::keys::token;
use crate::room::Room;

/// How the value of a named token begins. What begins otherwise is not looked for among them.
pub const PREFIX: &str = "wr_";
/// How many characters the value of a named token has.
const VALUE_CHARS: usize = 67;

/// What a sender may do, from least to most. Each role may all that the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads, makes previews and tries rules.
    Look,
    /// Also presses the buttons of a sale: limits, holds, messages, begin and end of events.
    Steer,
    /// Also makes, changes and removes rooms, events, rules, webhooks and lists.
    Manage,
    /// Also makes tokens, changes the settings of zones and imports.
    Admin,
}

impl Role {
    /// Returns the word for the role, like `look`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Steer => "steer",
            Self::Manage => "manage",
            Self::Admin => "admin",
        }
    }
}

/// Where a sender may do it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<Parts>", into = "Option<Parts>")]
pub enum Scope {
    /// In all zones, and what belongs to none.
    All,
    /// In these zones and rooms alone.
    Parts {
        /// The zones, with all rooms that are in them now or later.
        zones: Vec<ZoneId>,
        /// The rooms, whatever zones they are in.
        rooms: Vec<RoomId>,
    },
}

/// A scope as it is stored and sent: `None` is everything. It takes less code than an enum.
#[derive(Serialize, Deserialize)]
struct Parts {
    zones: Vec<ZoneId>,
    rooms: Vec<RoomId>,
}

impl From<Option<Parts>> for Scope {
    fn from(parts: Option<Parts>) -> Self {
        parts.map_or(Self::All, |Parts { zones, rooms }| Self::Parts { zones, rooms })
    }
}

impl From<Scope> for Option<Parts> {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::All => None,
            Scope::Parts { zones, rooms } => Some(Parts { zones, rooms }),
        }
    }
}

impl Scope {
    /// Whether it has a whole zone.
    pub fn has_zone(&self, zone: ZoneId) -> bool {
        match self {
            Self::All => true,
            Self::Parts { zones, .. } => zones.contains(&zone),
        }
    }

    /// Whether it has a room, which is in `zone` or named as if it were.
    pub fn has_room(&self, zone: ZoneId, room: RoomId) -> bool {
        match self {
            Self::All => true,
            Self::Parts { rooms, .. } => self.has_zone(zone) || rooms.contains(&room),
        }
    }

    /// Returns the ids that it names, as texts; none if it has all.
    pub fn ids(&self) -> Vec<String> {
        match self {
            Self::All => Vec::new(),
            Self::Parts { zones, rooms } => {
                let rooms = rooms.iter().map(ToString::to_string);
                zones.iter().map(ToString::to_string).chain(rooms).collect()
            }
        }
    }

    /// Whether it has all that another one has. `zone_of` finds the zone of a room.
    pub fn has_all_of(&self, other: &Self, zone_of: impl Fn(RoomId) -> Option<ZoneId>) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (Self::Parts { .. }, Self::All) => false,
            (Self::Parts { rooms: own, .. }, Self::Parts { zones, rooms }) => {
                let has_room = |room: &RoomId| {
                    let is_in_zone = || zone_of(*room).is_some_and(|zone| self.has_zone(zone));
                    own.contains(room) || is_in_zone()
                };
                zones.iter().all(|zone| self.has_zone(*zone)) && rooms.iter().all(has_room)
            }
        }
    }
}

/// What the sender of a call may do and where, and who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What the sender may do.
    pub role: Role,
    /// Where the sender may do it.
    pub scope: Scope,
    /// The sender's named token, or the person whom Cloudflare Access has signed in; `None` for the
    /// secrets `API_TOKEN` and `API_TOKEN_READ`.
    pub token: Option<TokenId>,
}

impl Grant {
    /// What the secret of this role allows, everywhere.
    pub const fn of_secret(role: Role) -> Self {
        Self { role, scope: Scope::All, token: None }
    }

    /// What the owner may: all. Isolates of older versions know no other writers.
    pub const fn owner() -> Self {
        Self::of_secret(Role::Admin)
    }

    /// Whether the sender may see a room.
    pub fn sees(&self, room: &Room) -> bool {
        self.scope.has_room(room.zone_id, room.id)
    }
}

/// A token with a name. Only a hash of its value is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedToken {
    /// The permanent id of the token.
    pub id: TokenId,
    /// Whose it is, for the audit log; no two tokens have the same.
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// Where it allows that.
    pub scope: Scope,
    /// From when on it counts; `None` for always.
    pub not_before: Option<Timestamp>,
    /// From when on it counts no more; `None` for never.
    pub expires_on: Option<Timestamp>,
    /// The hash of its value, from [`token::hash`].
    pub hash: String,
    /// When it was made.
    pub issued_on: Timestamp,
    /// When it was last changed.
    pub modified_on: Timestamp,
}

impl NamedToken {
    /// Whether it counts at a moment.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.not_before.is_none_or(|begin| now >= begin)
            && self.expires_on.is_none_or(|end| now < end)
    }

    /// What it allows its bearer.
    pub fn grant(&self) -> Grant {
        Grant { role: self.role, scope: self.scope.clone(), token: Some(self.id) }
    }
}

/// Whether a text has the form of a named token's value. All others are told apart without asking
/// the registry.
pub fn has_form(value: &str) -> bool {
    value.len() == VALUE_CHARS && value.starts_with(PREFIX)
}

/// Finds the token with this value, if it counts now. All are compared, so that the time does not
/// tell which one it is.
pub fn find<'a>(tokens: &'a [NamedToken], value: &str, now: Timestamp) -> Option<&'a NamedToken> {
    let given = token::hash(value);
    let looked_at = |found, known: &'a NamedToken| {
        if token::is_same_hash(&given, &known.hash) { Some(known) } else { found }
    };
    let found = tokens.iter().fold(None, looked_at);
    found.filter(|known: &&NamedToken| known.is_active(now))
}
