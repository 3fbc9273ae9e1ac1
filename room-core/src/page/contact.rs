//! What a page says of telling a visitor before the turn.

use crate::room::turn_notice::TurnNotice;

/// The form by which a visitor asks to be told before the turn, or what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContactForm {
    /// What the page asks for; off where it asks for nothing.
    pub takes: TurnNotice,
    /// Whether what was typed just now was not taken.
    pub failed: bool,
    /// Whether that is since other places have that address or number: no message will come.
    pub full: bool,
    /// What was typed then, as it was, so that it can be mended; else empty.
    pub typed: String,
    /// The address or number that the visitor has given; else empty.
    pub given: String,
    /// Whether the message to it is on its way.
    pub is_sent: bool,
}

impl ContactForm {
    /// Returns the type of the field, as HTML names it.
    pub(super) fn input_type(&self) -> &'static str {
        match self.takes {
            TurnNotice::Email => "email",
            TurnNotice::Phone => "tel",
            TurnNotice::Off | TurnNotice::EmailOrPhone => "text",
        }
    }
}
