//! A cache of the tickets that were opened last, by their sealed text. Visitors send the same
//! cookie with every picture of a page, and opening it is most of the work of a visit.
//!
//! A hit only says that these very characters were opened before, in this room, under this name and
//! with these keys. Every visit still checks whether the ticket is too old, revoked or counted.

use std::ops::RangeInclusive;

use ctutils::CtEq;

use crate::base::id::RoomId;
use crate::ticket::Ticket;

/// The most tickets remembered, of 260 bytes each. A new one replaces the one whose text has the
/// same index.
const PLACES: usize = 1 << PLACES_BITS;
const PLACES_BITS: u32 = 9;
/// The position of the four characters that form the index. They are in the authentication tag,
/// which differs from ticket to ticket as if at random.
const INDEX_AT: usize = 126;
/// Spreads neighbouring numbers (Knuth, volume 3, section 6.4).
const SPREAD: u32 = 2_654_435_769;

/// Tickets by their sealed text of `N` characters.
#[derive(Default)]
pub(crate) struct OpenedTickets<const N: usize> {
    /// Empty until the first ticket is kept, so that it costs nothing before.
    places: Vec<Option<Opened<N>>>,
}

struct Opened<const N: usize> {
    text: [u8; N],
    room: RoomId,
    cookie_name: Box<str>,
    /// The hour in which it was sealed.
    hour: u32,
    ticket: Ticket,
}

impl<const N: usize> OpenedTickets<N> {
    /// Returns the ticket in a text that was opened before in this room and under this name, if it
    /// was sealed in one of `hours`.
    pub(crate) fn get(
        &self,
        room: RoomId,
        cookie_name: &str,
        text: &[u8; N],
        hours: &RangeInclusive<u32>,
    ) -> Option<&Ticket> {
        let opened = self.places.get(index(text))?.as_ref()?;
        // In constant time: else the time would tell how far a guess is right.
        let is_same = opened.text.ct_eq(text).to_bool()
            && opened.room == room
            && *opened.cookie_name == *cookie_name;
        (is_same && hours.contains(&opened.hour)).then_some(&opened.ticket)
    }

    /// Remembers a ticket that was opened.
    pub(crate) fn keep(
        &mut self,
        room: RoomId,
        cookie_name: &str,
        text: [u8; N],
        hour: u32,
        ticket: &Ticket,
    ) {
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let ticket = ticket.clone();
        let opened = Opened { text, room, cookie_name: cookie_name.into(), hour, ticket };
        if let Some(place) = self.places.get_mut(index(&text)) {
            *place = Some(opened);
        }
    }
}

fn index(text: &[u8]) -> usize {
    let characters = text.get(INDEX_AT..).and_then(|rest| rest.first_chunk::<4>());
    let number = characters.map_or(0, |four| u32::from_le_bytes(*four));
    (number.wrapping_mul(SPREAD) >> (u32::BITS - PLACES_BITS)) as usize
}
