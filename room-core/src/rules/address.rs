//! Ranges of IP addresses: one address, a network, or all addresses from one to another.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of IP addresses: all from `first` to `last`, both included. It displays as
/// `first..last`, or as one address if both are the same.
///
/// Invariant: both are of one family, and `first` is not above `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IpRange {
    first: IpAddr,
    last: IpAddr,
}

impl IpRange {
    /// Reads an address, a network like `203.0.113.0/24` or a range like `10.0.0.1..10.0.0.9`.
    pub fn parse(text: &str) -> Result<Self, RangeError> {
        if let Some((first, last)) = text.split_once("..") {
            return Self::from_to(address(first)?, address(last)?);
        }
        match text.split_once('/') {
            Some((network, bits)) => Self::network(address(network)?, bits),
            None => address(text).map(|address| Self { first: address, last: address }),
        }
    }

    /// Whether `address` lies in this range. An IPv4 address lies in no IPv6 range, and the
    /// reverse.
    pub fn contains(&self, address: IpAddr) -> bool {
        // The order of `IpAddr` puts every IPv4 address below every IPv6 address.
        self.first <= address && address <= self.last
    }

    /// Returns the lowest address.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// Returns the highest address.
    pub fn last(&self) -> IpAddr {
        self.last
    }

    /// Extends the range up to `address` if that lies above its last address.
    pub(super) fn extend_to(&mut self, address: IpAddr) {
        self.last = self.last.max(address);
    }

    fn from_to(first: IpAddr, last: IpAddr) -> Result<Self, RangeError> {
        if first.is_ipv4() != last.is_ipv4() {
            Err(RangeError::TwoFamilies)
        } else if first > last {
            Err(RangeError::Backwards)
        } else {
            Ok(Self { first, last })
        }
    }

    fn network(address: IpAddr, bits: &str) -> Result<Self, RangeError> {
        let width = if address.is_ipv4() { 32 } else { 128 };
        let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
        let bits = bits.parse::<u32>().ok().filter(|bits| is_number && *bits <= width);
        let bits = bits.ok_or(RangeError::Bits { width })?;
        let (first, last) = match address {
            IpAddr::V4(address) => {
                let host = u32::MAX.checked_shr(bits).unwrap_or(0);
                let first = address.to_bits() & !host;
                (Ipv4Addr::from_bits(first).into(), Ipv4Addr::from_bits(first | host).into())
            }
            IpAddr::V6(address) => {
                let host = u128::MAX.checked_shr(bits).unwrap_or(0);
                let first = address.to_bits() & !host;
                (Ipv6Addr::from_bits(first).into(), Ipv6Addr::from_bits(first | host).into())
            }
        };
        if first != address {
            return Err(RangeError::HostBits { network: first, bits });
        }
        Ok(Self { first, last })
    }
}

/// Reads one address.
pub(super) fn address(text: &str) -> Result<IpAddr, RangeError> {
    text.parse().map_err(|_| RangeError::NotAnAddress)
}

impl fmt::Display for IpRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.first)?;
        if self.first != self.last {
            write!(formatter, "..{}", self.last)?;
        }
        Ok(())
    }
}

/// Why a text is not a range of addresses. It displays as what is allowed instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeError {
    /// The end of the range lies below its start.
    Backwards,
    /// The part behind `/` is not a number from 0 to `width`.
    Bits {
        /// The bits of an address of this family: 32 or 128.
        width: u32,
    },
    /// The address before `/` is not the first of its network.
    HostBits {
        /// The first address of the network.
        network: IpAddr,
        /// The number of bits that was written behind `/`.
        bits: u32,
    },
    /// The text is neither an IPv4 nor an IPv6 address.
    NotAnAddress,
    /// One end is IPv4, the other IPv6.
    TwoFamilies,
}

impl fmt::Display for RangeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backwards => formatter.write_str("the range must not end before it begins"),
            Self::Bits { width } => {
                write!(formatter, "behind / must be a number of bits from 0 to {width}")
            }
            Self::HostBits { network, bits } => {
                write!(formatter, "the network of this address is {network}/{bits}")
            }
            Self::NotAnAddress => formatter.write_str(
                "must be an IP address like 203.0.113.7 or 2001:db8::7, a network like \
                 203.0.113.0/24 or a range like 10.0.0.1..10.0.0.9",
            ),
            Self::TwoFamilies => {
                formatter.write_str("both ends of a range must be IPv4, or both IPv6")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IpRange, RangeError};

    #[test]
    fn ranges_are_what_they_say() {
        let check = |text: &str, want: &str| {
            assert_eq!(IpRange::parse(text).unwrap().to_string(), want, "{text}");
        };
        check("203.0.113.7", "203.0.113.7");
        check("203.0.113.0/24", "203.0.113.0..203.0.113.255");
        check("203.0.113.7/32", "203.0.113.7");
        check("0.0.0.0/0", "0.0.0.0..255.255.255.255");
        check("10.0.0.1..10.0.0.9", "10.0.0.1..10.0.0.9");
        check("2001:db8::/127", "2001:db8::..2001:db8::1");
        check("::/0", "::..ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
        check("::1..::2", "::1..::2");
    }

    #[test]
    fn other_texts_are_refused() {
        let check = |text: &str, want: RangeError| {
            assert_eq!(IpRange::parse(text), Err(want), "{text}");
        };
        check("", RangeError::NotAnAddress);
        check("10.0.0", RangeError::NotAnAddress);
        check("10.0.0.01", RangeError::NotAnAddress);
        check("10.0.0.1..", RangeError::NotAnAddress);
        check("10.0.0.1...10.0.0.2", RangeError::NotAnAddress);
        check("10.0.0.0/33", RangeError::Bits { width: 32 });
        check("10.0.0.0/", RangeError::Bits { width: 32 });
        check("10.0.0.0/+8", RangeError::Bits { width: 32 });
        check("::/129", RangeError::Bits { width: 128 });
        check("10.0.0.9..10.0.0.1", RangeError::Backwards);
        check("10.0.0.1..::1", RangeError::TwoFamilies);
        let network = "10.0.0.0".parse().unwrap();
        check("10.0.0.1/8", RangeError::HostBits { network, bits: 8 });
        let network = "::".parse().unwrap();
        check("::1/127", RangeError::HostBits { network, bits: 127 });
    }

    #[test]
    fn both_ends_belong_to_a_range_and_families_do_not_mix() {
        let range = IpRange::parse("10.0.0.1..10.0.0.9").unwrap();
        let check = |text: &str, want: bool| {
            assert_eq!(range.contains(text.parse().unwrap()), want, "{text}");
        };
        check("10.0.0.0", false);
        check("10.0.0.1", true);
        check("10.0.0.9", true);
        check("10.0.0.10", false);
        check("::ffff:10.0.0.1", false);
        let all = IpRange::parse("0.0.0.0/0").unwrap();
        assert!(!all.contains("::1".parse().unwrap()));
    }
}
