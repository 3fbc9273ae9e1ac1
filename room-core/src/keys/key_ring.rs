//! Seals tickets into cookie values and opens them again.
//!
//! A cookie value is base64url without padding of
//! `version(1) | key id(1) | hour(4) | nonce(12) | ciphertext(64) | tag(16)`, lengths in bytes. The
//! first three parts are the header, in clear. The cipher is AES-256-GCM with another key for every
//! hour, because random nonces are safe for 2^32 seals per key and a busy site makes more than that
//! in a day (NIST SP 800-38D, section 8.3). The header, the room and the cookie's name are
//! authenticated with the ticket, so that a ticket opens in no other room and under no other name.
//! The host is not, since a room can span several.

use std::fmt;
use std::ops::RangeInclusive;

use aes_gcm::aead::AeadInOut;
use base64ct::{Base64UrlUnpadded, Encoding};
use ctutils::CtEq;

use crate::base::id::RoomId;
use crate::base::prefix_budget::ClientPrefix;
use crate::base::time::{CLOCKS_APART_MS, Timestamp};
use crate::keys::master_key::{MasterKey, PREVIEW_RANDOM_BYTES};
use crate::keys::opened_tickets::OpenedTickets;
use crate::order::lottery::LotteryKey;
use crate::order::shuffle::{DrawKey, Shuffle};
use crate::ticket::contact::Contact;
use crate::ticket::place_code::PlaceCode;
use crate::ticket::{TICKET_BYTES, Ticket};

/// The keys of a deployment: the newest seals tickets, all of them open tickets.
pub struct KeyRing {
    newest: MasterKey,
    older: Vec<MasterKey>,
    /// Keys that other isolates may seal with already. They name and draw nothing here.
    coming: Vec<MasterKey>,
    opened: OpenedTickets<SEALED_CHARACTERS>,
}

impl KeyRing {
    /// Reads the secret `TICKET_KEYS`: 1 to 8 keys, the newest first, separated by commas. Each is
    /// 32 random bytes, as 64 hexadecimal characters or as base64 or base64url. Behind `opens:` is
    /// a key that only opens tickets: the next newest, while not all isolates know it.
    ///
    /// White space around a key is ignored: a secret read from a file ends in a line feed.
    pub fn parse(text: &str) -> Result<Self, KeyRingError> {
        if text.trim().is_empty() {
            return Err(KeyRingError::Empty);
        }
        let (mut sealing, mut coming): (Vec<MasterKey>, Vec<MasterKey>) = Default::default();
        let mut ids = Vec::new();
        for (index, word) in text.split(',').map(str::trim).enumerate() {
            let position = index + 1;
            if position > MAX_KEYS {
                return Err(KeyRingError::TooMany);
            }
            let (word, keys) = match word.strip_prefix(OPENS) {
                Some(word) => (word, &mut coming),
                None => (word, &mut sealing),
            };
            let key = MasterKey::parse(word).ok_or(KeyRingError::NotAKey { position })?;
            if let Some(first) = ids.iter().position(|id| *id == key.id()) {
                return Err(KeyRingError::SameId { first: first + 1, second: position });
            }
            ids.push(key.id());
            keys.push(key);
        }
        let mut sealing = sealing.into_iter();
        let newest = sealing.next().ok_or(KeyRingError::NoneSeals)?;
        let opened = OpenedTickets::default();
        Ok(Self { newest, older: sealing.collect(), coming, opened })
    }

    /// All keys: those that have sealed, the newest first, then those that will.
    fn all(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.newest).chain(&self.older).chain(&self.coming)
    }

    /// Whether one of the keys is that of local development, which everybody can read.
    pub fn is_public(&self) -> bool {
        self.all().any(MasterKey::is_public)
    }

    /// Seals `ticket` into a cookie value, always of 131 characters.
    ///
    /// `nonce` must be drawn at random for every call. With two tickets sealed with the same nonce
    /// in the same hour one can read and forge tickets.
    pub fn seal(
        &mut self,
        now: Timestamp,
        nonce: [u8; NONCE_BYTES],
        room: RoomId,
        cookie_name: &str,
        ticket: &Ticket,
    ) -> String {
        let mut message = Vec::with_capacity(TICKET_BYTES);
        ticket.append_to(&mut message);
        self.seal_bytes(now, nonce, room, cookie_name, &message)
    }

    /// Seals what a visitor has typed into the value of a cookie of its own, which is no ticket.
    /// `nonce` is as in [`Self::seal`].
    pub fn seal_contact(
        &mut self,
        now: Timestamp,
        nonce: [u8; NONCE_BYTES],
        room: RoomId,
        cookie_name: &str,
        contact: &Contact,
    ) -> String {
        self.seal_bytes(now, nonce, room, cookie_name, &contact.to_bytes())
    }

    #[expect(
        clippy::expect_used,
        reason = "the cipher fails on more than 64 GiB only; the messages have some 100 bytes"
    )]
    fn seal_bytes(
        &mut self,
        now: Timestamp,
        nonce: [u8; NONCE_BYTES],
        room: RoomId,
        cookie_name: &str,
        message: &[u8],
    ) -> String {
        let header = Header { key_id: self.newest.id(), hour: hour_of(now) }.to_bytes();
        let associated = associated_data(header, room, cookie_name);
        let mut sealed = Vec::with_capacity(SEALED_BYTES - TICKET_BYTES + message.len());
        sealed.extend_from_slice(&header);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(message);
        let (_, message) = sealed.split_at_mut(HEADER_BYTES + NONCE_BYTES);

        let tag = self
            .newest
            .cipher(hour_of(now), &readable_hours(now))
            .encrypt_inout_detached(&nonce.into(), &associated, message.into())
            .expect("it is shorter than the longest message");

        sealed.extend_from_slice(&tag);
        Base64UrlUnpadded::encode_string(&sealed)
    }

    /// Opens the ticket in a cookie value. `None` if the value is no ticket of this room and
    /// cookie, or was sealed more than 2 hours ago or with a removed key. In each case the caller
    /// treats the visitor as a new one.
    pub fn open(
        &mut self,
        now: Timestamp,
        room: RoomId,
        cookie_name: &str,
        text: &str,
    ) -> Option<Ticket> {
        let characters = <&[u8; SEALED_CHARACTERS]>::try_from(text.as_bytes()).ok()?;
        let hours = readable_hours(now);
        if let Some(ticket) = self.opened.get(room, cookie_name, characters, &hours) {
            return Some(ticket.clone());
        }
        let mut sealed = [0; SEALED_BYTES];
        Base64UrlUnpadded::decode(text, &mut sealed).ok()?;
        let (hour, message) = self.open_bytes(&hours, room, cookie_name, &mut sealed)?;
        let ticket = Ticket::from_bytes(message)?;
        self.opened.keep(room, cookie_name, *characters, hour, &ticket);
        Some(ticket)
    }

    /// Opens what [`Self::seal_contact`] has sealed; `None` as in [`Self::open`].
    pub fn open_contact(
        &mut self,
        now: Timestamp,
        room: RoomId,
        cookie_name: &str,
        text: &str,
    ) -> Option<Contact> {
        let mut sealed = Base64UrlUnpadded::decode_vec(text).ok()?;
        let hours = readable_hours(now);
        let (_, message) = self.open_bytes(&hours, room, cookie_name, &mut sealed)?;
        Contact::from_bytes(message)
    }

    /// Opens in place what was sealed in one of `hours`. Returns that hour and the message.
    fn open_bytes<'m>(
        &mut self,
        hours: &RangeInclusive<u32>,
        room: RoomId,
        cookie_name: &str,
        sealed: &'m mut [u8],
    ) -> Option<(u32, &'m [u8])> {
        let (header_bytes, rest) = sealed.split_first_chunk_mut::<HEADER_BYTES>()?;
        let (nonce, rest) = rest.split_first_chunk_mut::<NONCE_BYTES>()?;
        let (message, tag) = rest.split_last_chunk_mut::<TAG_BYTES>()?;

        let header = Header::from_bytes(*header_bytes)?;
        if !hours.contains(&header.hour) {
            return None;
        }
        let associated = associated_data(*header_bytes, room, cookie_name);
        let (nonce, tag) = ((*nonce).into(), (*tag).into());
        self.key(header.key_id)?
            .cipher(header.hour, hours)
            .decrypt_inout_detached(&nonce, &associated, (&mut *message).into(), &tag)
            .ok()?;
        Some((header.hour, message))
    }

    /// Returns the key that draws the places in a room's lottery (`queueing_method` `random`). It
    /// is derived from the oldest key: while a new one gets to be known, all isolates draw alike.
    pub fn lottery_key(&self, room: RoomId) -> LotteryKey {
        self.oldest().lottery_key(room)
    }

    /// Returns the key that draws the order at the start of an event (`shuffle_at_event_start`).
    ///
    /// It is derived from the oldest key, so that a new key in front changes no draw whose
    /// commitment has been shown. An event at another time gets another key, since its own may be
    /// public already.
    pub fn draw_key(&self, room: RoomId, draw: &Shuffle) -> DrawKey {
        self.oldest().draw_key(room, draw)
    }

    /// Returns the keys that sign invitations to a group of a room, 43 characters of base64url
    /// each: first the one to sign with, then those of before a rotation, and the coming one. A
    /// group of another name or room has other keys.
    pub fn invitation_keys(&self, room: RoomId, group: &str) -> impl Iterator<Item = String> {
        self.all().map(move |key| key.invitation_key(room, group))
    }

    /// Returns the code for the transfer of a ticket's place. The holder of the ticket can show the
    /// code; nobody else can tell it.
    pub fn place_code(&self, room: RoomId, ticket: &Ticket) -> PlaceCode {
        self.oldest().place_code(room, ticket)
    }

    /// Returns the name of a code for the room's object, which never sees the code.
    pub fn place_name(&self, room: RoomId, code: PlaceCode) -> u64 {
        self.oldest().place_name(room, code)
    }

    /// Returns the name of a network by which the room's object limits its codes. One name stands
    /// for many networks, so it reveals none.
    pub fn network_name(&self, room: RoomId, network: ClientPrefix) -> u16 {
        self.oldest().network_name(room, network)
    }

    /// Returns the id of a preview that begins with these random bytes. Only the keys can complete
    /// them: [`Self::is_preview`] recognizes a made-up id without a call.
    pub fn preview_id(&self, random: [u8; PREVIEW_RANDOM_BYTES]) -> [u8; 16] {
        let mut id = self.oldest().preview_id(random);
        id.split_at_mut(PREVIEW_RANDOM_BYTES).0.copy_from_slice(&random);
        id
    }

    /// Whether [`Self::preview_id`] made this id, with a key that is still in the ring.
    pub fn is_preview(&self, id: RoomId) -> bool {
        let Some(random) = id.as_bytes().first_chunk() else { return false };
        self.preview_id(*random).ct_eq(id.as_bytes()).to_bool()
    }

    /// Returns the public name of the visitor with this ticket. It reveals neither the ticket nor
    /// the visitor's number in counts.
    pub fn visitor_name(&self, room: RoomId, ticket: &Ticket) -> String {
        self.oldest().public_name(b"visitor v1", room, ticket.id.as_bytes())
    }

    /// Returns a name for a mailbox or telephone given by the clients of one network. It reveals
    /// neither.
    pub fn mailbox_name(&self, room: RoomId, network: ClientPrefix, mailbox: &str) -> String {
        let of = [&network.to_bytes()[..], mailbox.as_bytes()].concat();
        self.oldest().public_name(b"mailbox v1", room, &of)
    }

    fn oldest(&self) -> &MasterKey {
        self.older.last().unwrap_or(&self.newest)
    }

    /// Finds the key with this id. The other keys are not tried: GCM does not commit to its key, so
    /// one text can be made to open under two of them.
    fn key(&mut self, id: u8) -> Option<&mut MasterKey> {
        let known = std::iter::once(&mut self.newest).chain(&mut self.older);
        known.chain(&mut self.coming).find(|key| key.id() == id)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.all().map(MasterKey::id)).finish()
    }
}

/// Why a text is not a list of keys. It names keys by their position and not by their content, and
/// displays as what the operator has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRingError {
    /// The text has no key.
    Empty,
    /// A key is not 32 bytes in hexadecimal, base64 or base64url.
    NotAKey {
        /// Which key it is, counted from 1.
        position: usize,
    },
    /// Two keys are equal, or have the same id: by chance 1 pair in 256 has.
    SameId {
        /// The position of the newer of the two, counted from 1.
        first: usize,
        /// The position of the older of the two, counted from 1.
        second: usize,
    },
    /// There are more than 8 keys.
    TooMany,
    /// Each key is behind `opens:`.
    NoneSeals,
}

impl fmt::Display for KeyRingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("is not set; `npm run deploy` makes a key"),
            Self::NotAKey { position } => {
                write!(formatter, "key {position} is not 32 bytes in hexadecimal or base64")
            }
            Self::SameId { first, second } => write!(
                formatter,
                "keys {first} and {second} have the same key id; \
                 draw a new one in place of the newer"
            ),
            Self::TooMany => write!(formatter, "holds more than {MAX_KEYS} keys"),
            Self::NoneSeals => {
                write!(formatter, "needs a key that seals: one without {OPENS} before it")
            }
        }
    }
}

impl std::error::Error for KeyRingError {}

/// The clear text before a sealed ticket, without the version.
struct Header {
    key_id: u8,
    hour: u32,
}

impl Header {
    fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let [a, b, c, d] = self.hour.to_be_bytes();
        [VERSION, self.key_id, a, b, c, d]
    }

    fn from_bytes(bytes: [u8; HEADER_BYTES]) -> Option<Self> {
        let [version, key_id, a, b, c, d] = bytes;
        (version == VERSION).then_some(Self { key_id, hour: u32::from_be_bytes([a, b, c, d]) })
    }
}

/// Returns the hours in which a ticket that still counts can have been sealed. The clock of the
/// isolate that sealed it may be ahead of this one.
fn readable_hours(now: Timestamp) -> RangeInclusive<u32> {
    hour_of(now).saturating_sub(TICKET_LIFE_HOURS)..=hour_of(now + CLOCKS_APART_MS)
}

/// Returns the whole hours since the epoch.
fn hour_of(now: Timestamp) -> u32 {
    u32::try_from(now.seconds() / 3_600).unwrap_or(u32::MAX)
}

/// Joins what is authenticated besides the ticket. Only the last part varies in length, so no two
/// combinations give the same bytes.
fn associated_data(header: [u8; HEADER_BYTES], room: RoomId, cookie_name: &str) -> Vec<u8> {
    [header.as_slice(), room.as_bytes(), cookie_name.as_bytes()].concat()
}

/// The random bytes that each call of [`KeyRing::seal`] needs.
pub const NONCE_BYTES: usize = 12;

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 6;
const TAG_BYTES: usize = 16;
const SEALED_BYTES: usize = HEADER_BYTES + NONCE_BYTES + TICKET_BYTES + TAG_BYTES;
const SEALED_CHARACTERS: usize = (SEALED_BYTES * 4).div_ceil(3);

/// The most keys of a ring: more than anybody rotates through within the life of a ticket.
const MAX_KEYS: usize = 8;

/// What stands before a key that seals, names and draws nothing yet.
const OPENS: &str = "opens:";

/// Hours for which a ticket can be opened. No ticket lives longer: a session is at most 30 minutes,
/// and its cookie one bucket more.
const TICKET_LIFE_HOURS: u32 = 2;

#[cfg(test)]
mod tests;
