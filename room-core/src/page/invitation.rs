//! What a page says about invitations to its room.

use super::place::CodeFailure;
use crate::room::settings::{QueueingMethod, Settings};

/// What a visitor is told about invitations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Invitation {
    /// The visitor's group, as its place in the room's list, from 1; 0 for none.
    pub group: u8,
    /// Whether the page asks for a code.
    pub asked: bool,
    /// Whether this visitor needs an invitation, and has none.
    pub needed: bool,
    /// Why the code that was entered did not work; `None` if none was.
    pub failed: Option<CodeFailure>,
    /// Whether others enter first, because of their invitation.
    pub others_first: bool,
    /// What groups have that enter by share, as one place in so many at most; 0 without any.
    pub one_in: u8,
}

impl Invitation {
    /// Returns what a visitor of this group, or of none (0), is told while these settings are in
    /// force.
    pub fn of(settings: &Settings, group: u8) -> Self {
        let invitations = settings.invitations;
        let is_in_order = settings.queueing_method == QueueingMethod::Fifo;
        Self {
            group: if invitations.has(group) { group } else { 0 },
            asked: !invitations.is_off() && !invitations.has(group),
            needed: !invitations.lets_in(group),
            failed: None,
            others_first: is_in_order && invitations.has_first() && !invitations.is_first(group),
            one_in: if is_in_order { invitations.one_in() } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Invitation;
    use crate::room::invitation::{Enters, InvitationGroup, Invitations};
    use crate::room::settings::{QueueingMethod, Settings};

    #[test]
    fn everybody_is_told_who_enters_first_and_who_may_enter_at_all() {
        let group =
            |enters| InvitationGroup { name: "x".to_owned(), enters, one_in: 0, public_key: None };
        let share = InvitationGroup { one_in: 4, ..group(Enters::Share) };
        let groups = [group(Enters::First), group(Enters::InTurn), share];
        let check = |method: QueueingMethod, only: bool, group: u8, want: [bool; 3]| {
            let invitations = Invitations::of(&groups, only);
            let room = Settings { invitations, queueing_method: method, ..Settings::for_tests() };
            let told = Invitation::of(&room, group);
            assert_eq!(told.group, group);
            assert_eq!(told.one_in, if method == QueueingMethod::Fifo { 4 } else { 0 });
            assert_eq!([told.asked, told.needed, told.others_first], want, "{method:?} {group}");
        };
        check(QueueingMethod::Fifo, false, 0, [true, false, true]);
        check(QueueingMethod::Fifo, true, 0, [true, true, true]);
        check(QueueingMethod::Fifo, true, 1, [false, false, false]);
        check(QueueingMethod::Fifo, true, 2, [false, false, true]);
        check(QueueingMethod::Fifo, true, 3, [false, false, true]);
        // Its order is by chance alone.
        check(QueueingMethod::Random, false, 0, [true, false, false]);
        assert_eq!(Invitation::of(&Settings::for_tests(), 0), Invitation::default());
        assert_eq!(Invitation::of(&Settings::for_tests(), 1), Invitation::default());
    }
}
