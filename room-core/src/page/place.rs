//! What a page says of how the visitor's place moves to another device.

use crate::ticket::place_code::PlaceCode;
use crate::ticket::{Ticket, TicketState};

/// How a visitor's place can move to another device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaceMove {
    /// There is no place that could.
    #[default]
    None,
    /// The visitor can ask for a code, or give one.
    Possible,
    /// It did not work: the code is wrong or over, or too many were tried.
    Failed,
    /// This code is out; a new one can be asked for.
    Code(PlaceCode),
    /// It has moved.
    Done,
}

impl PlaceMove {
    /// Returns what the holder of a ticket can do. The infinite queue shows the same as the line.
    pub fn of(ticket: &Ticket) -> Self {
        if ticket.state == TicketState::Queued { Self::Possible } else { Self::None }
    }

    /// Whether the page has the forms by which a place moves.
    pub fn is_possible(self) -> bool {
        !matches!(self, Self::None | Self::Done)
    }
}
