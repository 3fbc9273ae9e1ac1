//! What a page says about the transfer of the visitor's place to another device.

use crate::ticket::place_code::PlaceCode;
use crate::ticket::{Ticket, TicketState};

/// How a visitor's place can move to another device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaceMove {
    /// There is no place to transfer.
    #[default]
    None,
    /// The visitor can ask for a code, or enter one.
    Possible,
    /// An entered code did not work.
    Failed(CodeFailure),
    /// This code is good for the given number of seconds. A new one can be asked for.
    Code(PlaceCode, u8),
    /// The place has moved to another device.
    Done,
}

/// Why a code did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeFailure {
    /// There is no such code.
    Wrong,
    /// Another device has used it.
    Used,
    /// It has expired: its minute has passed.
    Over,
    /// It was not tried: too many were, or no object answered.
    NotTried,
}

impl CodeFailure {
    /// Whether the code was tried, so that it is known what is wrong with it.
    pub fn was_tried(self) -> bool {
        self != Self::NotTried
    }
}

impl PlaceMove {
    /// Returns what the holder of a ticket can do. The infinite queue shows the same as the line.
    pub fn of(ticket: &Ticket) -> Self {
        if ticket.state == TicketState::Queued { Self::Possible } else { Self::None }
    }

    /// Returns for how many seconds the code on the page is good; 0 without one.
    pub fn code_left_s(self) -> u8 {
        if let Self::Code(_, left_s) = self { left_s } else { 0 }
    }

    /// Whether the page has the forms for a transfer.
    pub fn is_possible(self) -> bool {
        !matches!(self, Self::None | Self::Done)
    }
}
