//! What invitations to a room are worth (`docs/invitations.md`): its groups, who of them enters
//! first or by share, and whether others get in at all.

use serde::{Deserialize, Serialize};

/// The most groups of a room. A ticket names one in four bits.
pub const GROUPS_MAX: usize = 8;

/// A group of visitors with invitations, as the owner named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitationGroup {
    /// Its name: letters, digits, `-` and `_`. Another name has another key.
    pub name: String,
    /// When its visitors enter.
    pub enters: Enters,
    /// Of how many places the group has one, from 2 to 100, if it enters by share; otherwise 0.
    pub one_in: u8,
    /// The owner's Ed25519 key that signs the group's codes. `None`: the deployment's keys do.
    pub public_key: Option<PublicKey>,
}

/// An Ed25519 public key (RFC 8032), in its 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(pub [u8; 32]);

/// The last byte of a key has the sign of x in this bit; the others are y.
const SIGN: u8 = 0x80;
/// The y of the points whose order is 8. Anybody can sign by a point of so small an order.
pub(crate) const OF_ORDER_8: [[u8; 32]; 2] = [
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ],
];

impl PublicKey {
    /// Whether the key may sign: its y is written in the one way there is, and the point has no
    /// small order, by which everybody could sign. A y that is on no point signs nothing.
    pub fn is_usable(&self) -> bool {
        let Self(mut y) = *self;
        let [first, middle @ .., last] = &mut y;
        *last &= !SIGN;
        let is_high = middle.iter().all(|byte| *byte == 0xff) && *last == 0x7f;
        let is_low = middle.iter().all(|byte| *byte == 0) && *last == 0;
        // 0 and 1; p - 1 and what is written beyond it.
        let is_edge = is_low && *first <= 1 || is_high && *first >= 0xec;
        !is_edge && !OF_ORDER_8.contains(&y)
    }
}

/// Returns the name of a group by its place in the room's list, from 1; "" for none.
pub fn name_of(groups: &[InvitationGroup], group: u8) -> &str {
    let place = usize::from(group).checked_sub(1);
    place.and_then(|place| groups.get(place)).map_or("", |group| &group.name)
}

/// All places of a room, for [`shares`]. It is no multiple of all numbers, and so exact enough.
pub const SHARES: u32 = 1_000_000;

/// Returns how many of [`SHARES`] places the groups have that enter by share.
pub fn shares(groups: &[InvitationGroup]) -> u32 {
    groups.iter().filter_map(|group| SHARES.checked_div(group.one_in.into())).sum()
}

/// When the visitors of a group enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enters {
    /// Before everybody else who waits, in the order of the group. Not in a lottery.
    First,
    /// One of so many places, in the order in which they used their codes, and nobody later than
    /// without one. Not in a lottery.
    Share,
    /// In their turn, like everybody else. Their invitation opens a room that is for invited
    /// visitors alone.
    InTurn,
}

/// What the machines know of a room's groups. A group is named by its place in the room's list,
/// from 1; 0 stands for a visitor without an invitation.
///
/// It is one number, since a structure takes kilobytes of wasm to read: the number of groups in the
/// lowest eight bits, the groups that enter first as bits behind them, those that enter by share as
/// bits behind these, then seven bits that say what all shares together are at most, as one place
/// in so many, and the highest bit where nobody enters or waits without an invitation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Invitations(u32);

const FIRST_SHIFT: usize = 8;
const SHARE_SHIFT: usize = 16;
const ONE_IN_SHIFT: usize = 24;
const ONE_IN_MAX: u32 = 0x7f;
const ONLY: u32 = 1 << 31;

impl Invitations {
    /// Returns what these groups are worth. With `only` nobody else gets in.
    pub fn of(groups: &[InvitationGroup], only: bool) -> Self {
        let groups = groups.get(..GROUPS_MAX).unwrap_or(groups);
        let bit = |(place, group): (usize, &InvitationGroup)| match group.enters {
            Enters::First => 1 << (FIRST_SHIFT + place),
            Enters::Share => 1 << (SHARE_SHIFT + place),
            Enters::InTurn => 0,
        };
        let bits = groups.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit);
        let count = u32::try_from(groups.len()).unwrap_or_default();
        let one_in = SHARES.checked_div(shares(groups)).unwrap_or(0).min(ONE_IN_MAX);
        Self(count | bits | one_in << ONE_IN_SHIFT | if only { ONLY } else { 0 })
    }

    /// Whether the room has no groups.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this is one of the room's groups.
    pub fn has(self, group: u8) -> bool {
        (1..=self.0 & 0xff).contains(&group.into())
    }

    /// Whether visitors of this group enter before others.
    pub fn is_first(self, group: u8) -> bool {
        self.has(group) && self.0 >> (FIRST_SHIFT - 1) >> group & 1 == 1
    }

    /// Whether some group enters before others.
    pub fn has_first(self) -> bool {
        self.0 >> FIRST_SHIFT & 0xff > 0
    }

    /// Whether visitors of this group enter by share.
    pub fn is_by_share(self, group: u8) -> bool {
        self.has(group) && self.0 >> (SHARE_SHIFT - 1) >> group & 1 == 1
    }

    /// Returns what all shares are together at most, as one place in so many; 0 without any.
    pub fn one_in(self) -> u8 {
        (self.0 >> ONE_IN_SHIFT & ONE_IN_MAX) as u8
    }

    /// Whether visitors of this group may enter or wait at all.
    pub fn lets_in(self, group: u8) -> bool {
        !self.is_only() || self.has(group)
    }

    /// Whether nobody enters or waits without an invitation.
    pub fn is_only(self) -> bool {
        self.0 & ONLY > 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Enters, InvitationGroup, Invitations};

    fn groups(enters: &[Enters]) -> Vec<InvitationGroup> {
        let group = |enters: &Enters| InvitationGroup {
            name: "x".to_owned(),
            enters: *enters,
            one_in: 0,
            public_key: None,
        };
        enters.iter().map(group).collect()
    }

    #[test]
    fn groups_by_share_are_told_apart_and_say_what_they_are_together() {
        let share = |one_in: u8| InvitationGroup {
            name: "x".to_owned(),
            enters: Enters::Share,
            one_in,
            public_key: None,
        };
        let check = |shares: &[u8], want: u8| {
            let mut all: Vec<_> = shares.iter().map(|one_in| share(*one_in)).collect();
            all.extend(groups(&[Enters::First, Enters::InTurn]));
            for only in [false, true] {
                let told = Invitations::of(&all, only);
                let count = u8::try_from(shares.len()).unwrap();
                assert!((1..=10).all(|group| told.is_by_share(group) == (group <= count)));
                assert!((1..=10).all(|group| told.is_first(group) == (group == count + 1)));
                assert_eq!((told.one_in(), told.is_only()), (want, only), "{shares:?}");
                assert!(told.has_first() && told.has(count + 2) && !told.has(count + 3));
            }
        };
        check(&[], 0);
        check(&[2], 2);
        check(&[100], 100);
        check(&[4, 4], 2);
        check(&[3, 10], 2);
        check(&[12; 6], 2);
        check(&[100; 6], 16);
        assert!(!Invitations::of(&[share(4)], false).has_first());
    }

    #[test]
    fn a_group_is_worth_what_its_owner_says() {
        let two = groups(&[Enters::InTurn, Enters::First]);
        let check = |only: bool, group: u8, want: [bool; 3]| {
            let all = Invitations::of(&two, only);
            let told = [all.has(group), all.is_first(group), all.lets_in(group)];
            assert_eq!(told, want, "{only} {group}");
        };
        check(false, 0, [false, false, true]);
        check(true, 0, [false, false, false]);
        check(true, 1, [true, false, true]);
        check(true, 2, [true, true, true]);
        // A group that the owner has taken out of the list.
        check(true, 3, [false, false, false]);
        check(false, 255, [false, false, true]);
        assert!(Invitations::of(&two, false).has_first());
        assert!(!Invitations::of(&two[..1], false).has_first());
    }

    #[test]
    fn without_groups_nothing_is_told_to_others() {
        assert!(Invitations::default().is_off());
        assert_eq!(Invitations::of(&[], false), Invitations::default());
        assert!(!Invitations::of(&groups(&[Enters::InTurn]), false).is_off());
        let all = Invitations::of(&groups(&[Enters::First; 8]), false);
        assert!((1..=8).all(|group| all.is_first(group)) && !all.is_first(9));
    }
}
