//! The allowed words of each field with a fixed choice, with their meanings. For reading and
//! writing.

use crate::room::TicketSharing;
use crate::room::invitation::Enters;
use crate::room::settings::{Maintenance, QueueingMethod, TransparencyLog, WhenSilent};
use crate::room::turn_notice::TurnNotice;
use crate::room::turnstile::{TurnstileAction, TurnstileMode, WhenUnverified};
use crate::ticket::cookie::{SameSite, Secure};

/// The words of `cookie_attributes.samesite`.
pub const SAME_SITES: [(&str, SameSite); 4] = [
    ("auto", SameSite::Auto),
    ("lax", SameSite::Lax),
    ("none", SameSite::None),
    ("strict", SameSite::Strict),
];
/// The words of `cookie_attributes.secure`.
pub const SECURES: [(&str, Secure); 3] =
    [("auto", Secure::Auto), ("always", Secure::Always), ("never", Secure::Never)];
/// The words of `turnstile_mode`.
pub const TURNSTILE_MODES: [(&str, TurnstileMode); 4] = [
    ("off", TurnstileMode::Off),
    ("invisible", TurnstileMode::Invisible),
    ("visible_non_interactive", TurnstileMode::VisibleNonInteractive),
    ("visible_managed", TurnstileMode::VisibleManaged),
];
/// The words of `turnstile_action`.
pub const TURNSTILE_ACTIONS: [(&str, TurnstileAction); 2] =
    [("log", TurnstileAction::Log), ("infinite_queue", TurnstileAction::InfiniteQueue)];
/// The words of `turnstile_when_silent`.
pub const UNVERIFIED: [(&str, WhenUnverified); 2] =
    [("accept", WhenUnverified::Accept), ("refuse", WhenUnverified::Refuse)];
/// The words of `ticket_sharing`.
pub const TICKET_SHARINGS: [(&str, TicketSharing); 4] = [
    ("allow", TicketSharing::Allow),
    ("report", TicketSharing::Report),
    ("challenge", TicketSharing::Challenge),
    ("new_visitor", TicketSharing::NewVisitor),
];
/// The words of `transparency_log`.
pub const TRANSPARENCY_LOGS: [(&str, TransparencyLog); 3] = [
    ("off", TransparencyLog::Off),
    ("owner", TransparencyLog::Owner),
    ("public", TransparencyLog::Public),
];
/// The words of `turn_notice`.
pub const TURN_NOTICES: [(&str, TurnNotice); 4] = [
    ("off", TurnNotice::Off),
    ("email", TurnNotice::Email),
    ("phone", TurnNotice::Phone),
    ("email_or_phone", TurnNotice::EmailOrPhone),
];
/// The words of `enabled_origin_commands`; true for the command that ends a session.
pub const ORIGIN_COMMANDS: [(&str, bool); 1] = [("revoke", true)];
/// The words of `queueing_method`.
pub const QUEUEING_METHODS: [(&str, QueueingMethod); 4] = [
    ("fifo", QueueingMethod::Fifo),
    ("random", QueueingMethod::Random),
    ("passthrough", QueueingMethod::Passthrough),
    ("reject", QueueingMethod::Reject),
];
/// The words of `invitation_groups/enters`.
pub const ENTERS: [(&str, Enters); 3] =
    [("first", Enters::First), ("in_turn", Enters::InTurn), ("share", Enters::Share)];
/// The words of `maintenance`.
pub const MAINTENANCES: [(&str, Maintenance); 3] =
    [("off", Maintenance::Off), ("drain", Maintenance::Drain), ("hold", Maintenance::Hold)];
/// The words of `when_silent`.
pub const SILENCES: [(&str, WhenSilent); 2] =
    [("hold", WhenSilent::Hold), ("keep_flowing", WhenSilent::KeepFlowing)];

/// Returns the word of a value; empty if it has none.
pub fn word_of<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, one)| *one == value).map_or("", |(word, _)| word)
}
