//! Names of things as parsed newtypes: room, zone, event, rule and the like. No behaviour.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a text is not an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdError {
    /// A room or zone id is exactly 32 hexadecimal characters in lower case.
    NotHex32,
    /// A data center code is exactly three letters.
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
            /// The id with these 16 bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes that the 32 characters write.
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
                self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
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
    /// A waiting room, 32 hexadecimal characters outside.
    RoomId
}
hex32_id! {
    /// A zone (a registered domain with its routes), 32 hexadecimal characters outside.
    ZoneId
}
hex32_id! {
    /// A scheduled change of a room's settings, 32 hexadecimal characters outside.
    EventId
}
hex32_id! {
    /// A bypass rule of a room, 32 hexadecimal characters outside.
    RuleId
}
hex32_id! {
    /// A named list that rules refer to, 32 hexadecimal characters outside.
    ListId
}
hex32_id! {
    /// An item of a named list, 32 hexadecimal characters outside.
    ListItemId
}
hex32_id! {
    /// One visitor's ticket: 16 random bytes, never shown outside the sealed cookie.
    TicketId
}

/// The three-letter code of a data center, in capitals; `ZZZ` when the platform does not say.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colo([u8; 3]);

// As derived; but three bytes compared as a number take a tenth of the time of a `memcmp`.
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
    /// The code used when the platform gives none.
    pub const UNKNOWN: Self = Self(*b"ZZZ");

    /// The code as text.
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

/// One life of an isolate: a random number drawn when its memory was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IsolateId(pub u64);

/// One life of an object: a random number drawn when its memory was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incarnation(pub u64);

fn parse_hex32(text: &str) -> Result<[u8; 16], IdError> {
    let digits = text.as_bytes();
    let mut bytes = [0; 16];
    if digits.len() != 32 {
        return Err(IdError::NotHex32);
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair
            .iter()
            .try_fold(0_u8, |value, digit| Some(value << 4 | hex_value(*digit)?))
            .ok_or(IdError::NotHex32)?;
    }
    Ok(bytes)
}

const fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Colo, IdError, RoomId};

    #[test]
    fn room_ids_are_32_lowercase_hex_characters() {
        let check = |text: &str, ok: bool| {
            let parsed = text.parse::<RoomId>();
            assert_eq!(parsed.is_ok(), ok, "{text}");
            assert_eq!(parsed.map_or_else(|_| text.to_owned(), |id| id.to_string()), text);
        };
        check("0123456789abcdef0123456789abcdef", true);
        check("0123456789ABCDEF0123456789abcdef", false);
        check("0123456789abcdef0123456789abcde", false);
        check("0123456789abcdef0123456789abcdef0", false);
        check("", false);
    }

    #[test]
    fn data_center_codes_are_three_letters_in_capitals() {
        assert_eq!("ams".parse::<Colo>().map(|colo| colo.to_string()), Ok("AMS".to_owned()));
        assert_eq!("am1".parse::<Colo>(), Err(IdError::NotColo));
        assert_eq!("amst".parse::<Colo>(), Err(IdError::NotColo));
    }
}
