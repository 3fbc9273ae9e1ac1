//! What a page says about a message to the visitor before the turn.

use crate::room::turn_notice::TurnNotice;

/// The form with which a visitor asks for a message before the turn, and its outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContactForm {
    /// What the page asks for; off if it asks for nothing.
    pub takes: TurnNotice,
    /// Whether the last input was refused.
    pub failed: bool,
    /// Whether it was refused because other places have that address or number. No message will
    /// come.
    pub full: bool,
    /// The refused input, so that the visitor can correct it; otherwise empty.
    pub typed: String,
    /// The accepted address or number; otherwise empty.
    pub given: String,
    /// Whether the message is on its way.
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
