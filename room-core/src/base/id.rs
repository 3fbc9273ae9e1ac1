//! Identifiers, each kind a type of its own: rooms, zones, events, rules, tickets, data centers.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use base16ct::HexDisplay;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a text is not an identifier. It displays as the rule that was broken ("must be ...").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdError {
    /// The text is not 32 hexadecimal characters in lower case, as every id but a [`Colo`] is.
    NotHex32,
    /// The text is not three letters, as the code of a data center is.
    NotColo,
}

impl fmt::Display for IdError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotHex32 => "must be 32 lowercase hexadecimal characters",
            Self::NotColo => "must be three letters",
        })
    }
}

macro_rules! hex32_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// Makes the id that consists of these 16 bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// Returns the 16 bytes of the id; as text they are 32 hexadecimal characters.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse_hex32(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{:x}", HexDisplay(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({self})", stringify!($name))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

hex32_id! {
    /// The id of a waiting room, written as 32 hexadecimal characters.
    RoomId
}
hex32_id! {
    /// The id of a zone (a domain at Cloudflare), written as 32 hexadecimal characters.
    ZoneId
}
hex32_id! {
    /// The id of an event of a room, written as 32 hexadecimal characters.
    EventId
}
hex32_id! {
    /// The id of a bypass rule of a room, written as 32 hexadecimal characters.
    RuleId
}
hex32_id! {
    /// The id of a named list for rules, written as 32 hexadecimal characters.
    ListId
}
hex32_id! {
    /// The id of an item of a named list, written as 32 hexadecimal characters.
    ListItemId
}
hex32_id! {
    /// The id of a webhook of a room, written as 32 hexadecimal characters.
    WebhookId
}
hex32_id! {
    /// The id of a named token of the API, written as 32 hexadecimal characters.
    TokenId
}
hex32_id! {
    /// The id of one visitor's ticket: 16 random bytes, drawn when the visitor first came. It names
    /// the visitor, so pages and logs do not show it.
    TicketId
}

impl TicketId {
    /// The visitor who carries this ticket: its first 8 bytes.
    pub fn visitor(&self) -> VisitorId {
        VisitorId(u64::from_be_bytes(*self.0.first_chunk().unwrap_or(&[0; 8])))
    }

    /// The one admission that this ticket can get: its last 8 bytes.
    pub fn admission(&self) -> AdmissionId {
        AdmissionId(u64::from_be_bytes(*self.0.last_chunk().unwrap_or(&[0; 8])))
    }
}

/// A visitor in reports and counts. Random, and never shown outside the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VisitorId(pub u64);

/// An admission. It is the same in every request with one ticket, so that a ticket gets one slot
/// however often it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AdmissionId(pub u64);

/// A check-in of a waiting visitor. Two tabs with one cookie have the same one, since they are one
/// visitor. Its last 32 bits are those of the visitor, also where the tabs have gone apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckInId(pub u64);

/// The bits of a [`CheckInId`] that belong to its visitor. With 16 of them one pair in 65,536 of
/// those who joined in one millisecond counted as one visitor.
const VISITOR_BITS: u64 = 0xffff_ffff;

impl CheckInId {
    /// Makes the id of a check-in, told from others of the visitor by these `bits`.
    pub fn new(visitor: VisitorId, bits: u64) -> Self {
        Self(bits & !VISITOR_BITS | visitor.0 & VISITOR_BITS)
    }

    /// Returns the id of another check-in of the same visitor, the same for each `number`.
    #[must_use]
    pub fn next(self, number: u64) -> Self {
        Self(self.0 ^ number.rotate_left(VISITOR_BITS.count_ones()))
    }

    /// Returns the bits that belong to the visitor, in the upper half of the number: places in a
    /// line differ in the lower half. An earlier version sends 16 of them or none; the others
    /// differ in each of its check-ins.
    pub fn visitor_bits(self) -> u64 {
        (self.0 & VISITOR_BITS).rotate_right(VISITOR_BITS.count_ones())
    }
}

impl From<VisitorId> for u64 {
    fn from(visitor: VisitorId) -> Self {
        visitor.0
    }
}

impl From<CheckInId> for u64 {
    fn from(check_in: CheckInId) -> Self {
        check_in.0
    }
}

/// The three-letter code of a data center, in capitals; `ZZZ` when the platform does not say.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colo([u8; 3]);

// The same order as a derived one, but three bytes compared as a number take a tenth of the time
// of a `memcmp`.
impl Ord for Colo {
    fn cmp(&self, other: &Self) -> Ordering {
        let number =
            |Self([first, second, third]): &Self| u32::from_be_bytes([0, *first, *second, *third]);
        number(self).cmp(&number(other))
    }
}

impl PartialOrd for Colo {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Colo {
    /// The code of a data center that the platform does not name.
    pub const UNKNOWN: Self = Self(*b"ZZZ");

    /// Returns the three letters of the code.
    pub const fn letters(self) -> [u8; 3] {
        self.0
    }

    /// Returns the code as text, like `FRA`.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or("ZZZ")
    }
}

impl FromStr for Colo {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_alphabetic) => {
                Ok(Self([a, b, c].map(|letter| letter.to_ascii_uppercase())))
            }
            _ => Err(IdError::NotColo),
        }
    }
}

impl fmt::Display for Colo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for Colo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Colo({self})")
    }
}

impl Serialize for Colo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Colo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The name of one isolate: a random number, drawn when its memory was made. A restarted isolate
/// has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IsolateId(pub u64);

/// The aggregator of an isolate, in the four bytes that a ticket has for it; 0 is none.
/// `Node::code` makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AggregatorCode(pub u32);

impl AggregatorCode {
    /// Whether it names no aggregator.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The one counter that gives a ticket its slot, in the four bytes that a ticket has for it: the
/// letters of its data center, and its number there. 0 is none. A small first letter says that the
/// counter left the ticket's last question unanswered. The version before takes that for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(Deserialize))]
pub struct CounterCode(pub u32);

impl CounterCode {
    /// The bit that makes the first letter a small one.
    const IN_VAIN: u32 = 0x2000_0000;
    /// The places of bits that are 0 in every capital letter.
    const GROUP_BITS: [u32; 4] = [31, 23, 21, 15];

    /// Returns the code of the counter of this number, below 256, in a data center.
    pub fn new(colo: Colo, number: u16) -> Self {
        let [first, second, third] = colo.letters();
        let [_, number] = number.to_be_bytes();
        Self(u32::from_be_bytes([first, second, third, number]))
    }

    /// Returns the data center and the number; `None` if it names no counter.
    pub fn counter(self) -> Option<(Colo, u16)> {
        let [first, second, third, number] = (self.0 & !Self::IN_VAIN).to_be_bytes();
        let letters = [first, second, third];
        letters.iter().all(u8::is_ascii_uppercase).then_some((Colo(letters), number.into()))
    }

    /// Returns the number that a ticket has for this code and a group, from 0 (none) to 15. The
    /// group is in bits that no letter has. The version before takes such a code for none.
    pub fn with_group(self, group: u8) -> u32 {
        let places = Self::GROUP_BITS.into_iter().enumerate();
        places.fold(self.0, |code, (bit, place)| code | (u32::from(group) >> bit & 1) << place)
    }

    /// Reads a number of [`Self::with_group`].
    pub fn split_group(number: u32) -> (Self, u8) {
        let (mut code, mut group) = (number, 0);
        for (bit, place) in Self::GROUP_BITS.into_iter().enumerate() {
            group |= ((number >> place & 1) as u8) << bit;
            code &= !(1 << place);
        }
        (Self(code), group)
    }

    /// Returns the code after a question: the same after an answer. The first question in vain is
    /// remembered, since one can get lost; after a second in a row no counter is named.
    #[must_use]
    pub fn asked(self, is_answered: bool) -> Self {
        match self.0 & Self::IN_VAIN {
            _ if is_answered => Self(self.0 & !Self::IN_VAIN),
            0 => Self(self.0 | Self::IN_VAIN),
            _ => Self::default(),
        }
    }
}

/// The name of one life of an object, from its start until it is evicted or fails. It is a random
/// number, drawn when its memory was made.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Incarnation(pub u64);

fn parse_hex32(text: &str) -> Result<[u8; 16], IdError> {
    let mut bytes = [0; 16];
    match base16ct::lower::decode(text, &mut bytes) {
        Ok(decoded) if decoded.len() == 16 => Ok(bytes),
        _ => Err(IdError::NotHex32),
    }
}

#[cfg(test)]
mod tests {
    use super::{AdmissionId, Colo, CounterCode, IdError, RoomId, TicketId, VisitorId};

    #[test]
    fn room_ids_are_32_lowercase_hex_characters() {
        let check = |text: &str, ok: bool| {
            let parsed = text.parse::<RoomId>();
            assert_eq!(parsed.is_ok(), ok, "{text}");
            assert_eq!(parsed.map_or_else(|_| text.to_owned(), |id| id.to_string()), text);
        };
        check("0123456789abcdef0123456789abcdef", true);
        check("0123456789ABCDEF0123456789abcdef", false);
        check("0123456789abcdef0123456789abcdeg", false);
        check("0123456789abcdef0123456789abcd\u{e9}", false);
        check("+123456789abcdef0123456789abcdef", false);
        check("0123456789abcdef", false);
        check("00", false);
        check("0123456789abcdef0123456789abcde", false);
        check("0123456789abcdef0123456789abcdef0", false);
        check("", false);
    }

    #[test]
    fn a_ticket_names_its_visitor_and_its_admission_by_its_two_ends() {
        let ticket: TicketId = "000000000000000a000000000000000b".parse().unwrap();
        assert_eq!((ticket.visitor(), ticket.admission()), (VisitorId(10), AdmissionId(11)));
        assert_eq!(serde_json::to_string(&ticket.visitor()).unwrap(), "10");
    }

    #[test]
    fn a_counter_is_named_in_four_bytes() {
        let colo: Colo = "AMS".parse().unwrap();
        assert_eq!(CounterCode::new(colo, 15).counter(), Some((colo, 15)));
        assert_eq!(CounterCode::default().counter(), None);
        assert_eq!(CounterCode(7).counter(), None);
    }

    #[test]
    fn a_group_stands_beside_a_counter_and_leaves_it_as_it_is() {
        for code in [CounterCode::new("AMS".parse().unwrap(), 255), CounterCode::default()] {
            for code in [code, code.asked(false)] {
                for group in 0..16 {
                    let number = code.with_group(group);
                    assert_eq!(CounterCode::split_group(number), (code, group));
                    let of_version_before = CounterCode(number).counter();
                    assert!(group == 0 || of_version_before.is_none(), "{number:x}");
                }
            }
        }
    }

    #[test]
    fn a_counter_that_twice_in_a_row_does_not_answer_is_named_no_more() {
        let colo: Colo = "AMS".parse().unwrap();
        let check = |answers: &[bool], want: Option<u16>| {
            let code = answers.iter().fold(CounterCode::new(colo, 15), |code, is| code.asked(*is));
            assert_eq!(code.counter().map(|(_, number)| number), want, "{answers:?}");
        };
        check(&[true], Some(15));
        check(&[false], Some(15));
        check(&[false, true, false], Some(15));
        check(&[false, false], None);
        assert_eq!(CounterCode::new(colo, 15).asked(false).asked(true), CounterCode::new(colo, 15));
    }

    #[test]
    fn data_center_codes_are_three_letters_in_capitals() {
        assert_eq!("ams".parse::<Colo>().map(|colo| colo.to_string()), Ok("AMS".to_owned()));
        assert_eq!("am1".parse::<Colo>(), Err(IdError::NotColo));
        assert_eq!("amst".parse::<Colo>(), Err(IdError::NotColo));
    }
}
