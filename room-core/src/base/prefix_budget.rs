//! Limits how often something happens per minute for the clients of one network.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::time::{MINUTE_MS, Timestamp};

/// The most networks that are counted in a minute. Further ones are not limited until it ends. It
/// bounds the memory to some 100 KB. A client with so many networks cannot be stopped by counting.
const PREFIXES_MAX: usize = 4_096;

/// Tells IPv4 networks from IPv6 ones, and both from none.
const V4: u64 = 1 << 32;
const V6: u64 = 1 << 56;

/// The address or the network of a client.
///
/// An address is the whole one of IPv4, or the first 64 bits of IPv6, in which a device makes
/// addresses as it likes. A network is the first 24 bits of an IPv4 address, or the first 48 of an
/// IPv6 address, which is the most that one customer gets (RFC 6177).
///
/// An address that was made from an IPv4 address is in the network of that one: by 6to4
/// (`2002::/16`, RFC 3056), by Teredo (`2001::/32`, RFC 4380), where the client chooses the bits
/// before it, and by a translator (`64:ff9b::/96`, RFC 6052). Clients without an address share one
/// network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientPrefix(u64);

impl ClientPrefix {
    /// Returns the network of an address that the platform gives.
    pub fn of(address: Option<IpAddr>) -> Self {
        match address.map(|address| address.to_canonical()) {
            None => Self(0),
            Some(IpAddr::V4(address)) => Self::of_v4(address),
            Some(IpAddr::V6(address)) => made_of(address).map_or_else(
                || Self(u64::try_from(address.to_bits() >> 80).unwrap_or_default() | V6),
                Self::of_v4,
            ),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        Self(u64::from(address.to_bits() >> 8) | V4)
    }

    /// Returns the client's own address; never compare it with a network.
    pub fn of_one(address: Option<IpAddr>) -> Self {
        let v4 = |address: Ipv4Addr| Self(u64::from(address.to_bits()) | V4);
        match address.map(|address| address.to_canonical()) {
            None => Self(0),
            Some(IpAddr::V4(address)) => v4(address),
            Some(IpAddr::V6(address)) => made_of(address).map_or_else(
                || Self(u64::try_from(address.to_bits() >> 64).unwrap_or_default()),
                v4,
            ),
        }
    }

    /// Returns the bytes of the network's name.
    pub const fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }
}

/// Returns the IPv4 address from which this one was made, if it was.
fn made_of(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let (high, low) = match address.segments() {
        [0x2002, high, low, ..] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low),
        // Each bit of it is turned.
        [0x2001, 0, .., high, low] => (!high, !low),
        _ => return None,
    };
    Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

/// Counts what the clients of each network have used in the current minute, in memory alone.
#[derive(Debug, Default)]
pub struct PrefixBudget {
    since: Timestamp,
    used: BTreeMap<ClientPrefix, u32>,
}

impl PrefixBudget {
    /// Whether the clients of a network have used up `per_minute`.
    pub fn is_spent(&self, now: Timestamp, prefix: ClientPrefix, per_minute: u32) -> bool {
        !self.is_over(now) && self.used(now, prefix) >= per_minute
    }

    /// Returns how many uses the clients of a network have had in the present minute.
    pub fn used(&self, now: Timestamp, prefix: ClientPrefix) -> u32 {
        if self.is_over(now) { 0 } else { self.used.get(&prefix).copied().unwrap_or_default() }
    }

    /// Returns what is left of the present minute, in milliseconds.
    pub fn left_ms(&self, now: Timestamp) -> u64 {
        if self.is_over(now) { 0 } else { MINUTE_MS - now.since_ms(self.since) }
    }

    /// Counts one use by a client of this network.
    pub fn spend(&mut self, now: Timestamp, prefix: ClientPrefix) {
        if self.is_over(now) {
            self.since = now;
            self.used.clear();
        }
        if self.used.len() < PREFIXES_MAX || self.used.contains_key(&prefix) {
            let used = self.used.entry(prefix).or_default();
            *used = used.saturating_add(1);
        }
    }

    /// Takes one use back.
    pub fn refund(&mut self, prefix: ClientPrefix) {
        if let Some(used) = self.used.get_mut(&prefix) {
            *used = used.saturating_sub(1);
        }
    }

    /// Whether the present minute is over, or lies ahead of a clock that was set back.
    fn is_over(&self, now: Timestamp) -> bool {
        now < self.since || now.since_ms(self.since) >= MINUTE_MS
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientPrefix, PREFIXES_MAX, PrefixBudget};
    use crate::base::time::Timestamp;

    const START: Timestamp = Timestamp(1_000_000);

    fn prefix(address: &str) -> ClientPrefix {
        ClientPrefix::of(address.parse().ok())
    }

    #[test]
    fn clients_of_one_network_have_one_prefix() {
        let check = |one: &str, other: &str, want: bool| {
            assert_eq!(prefix(one) == prefix(other), want, "{one} {other}");
        };
        check("203.0.113.9", "203.0.113.200", true);
        check("203.0.113.9", "203.0.114.9", false);
        check("203.0.113.9", "::ffff:203.0.113.8", true);
        // What one customer gets is one network, however many it is cut into.
        check("2001:db8:1:200::1", "2001:db8:1:2ff:9::", true);
        check("2001:db8:1:200::1", "2001:db8:1:ffff::1", true);
        check("2001:db8:1:200::1", "2001:db8:2:200::1", false);
        // So is who comes by 6to4 and by IPv4.
        check("2002:cb00:7109::1", "203.0.113.200", true);
        check("2002:cb00:7109::1", "2002:cb00:71ff:9::1", true);
        check("2002:cb00:7109::1", "2002:cb00:7209::1", false);
        check("2003:cb00:7109::1", "203.0.113.9", false);
        // By Teredo the server in the middle and the flags are for the client to choose.
        check("2001:0:4136:e378:8000:63bf:34ff:8ef6", "203.0.113.200", true);
        check("2001:0:1:2:3:4:34ff:8ef6", "2001:0:fffe:9:8:7:34ff:8e01", true);
        check("2001:0:1:2:3:4:34ff:8ef6", "2001:0:1:2:3:4:34fe:8ef6", false);
        check("2001:1:1:2:3:4:34ff:8ef6", "203.0.113.9", false);
        check("64:ff9b::203.0.113.9", "203.0.113.200", true);
        check("64:ff9b::203.0.113.9", "64:ff9b::203.0.114.9", false);
        check("64:ff9b:1::203.0.113.9", "203.0.113.9", false);
        check("", "nonsense", true);
        check("", "0.0.0.0", false);
        check("::", "0.0.0.0", false);
    }

    #[test]
    fn a_client_has_an_address_of_its_own_in_its_network() {
        let check = |one: &str, other: &str, want: bool| {
            let [one_own, other_own] =
                [one, other].map(|address| ClientPrefix::of_one(address.parse().ok()));
            assert_eq!(one_own == other_own, want, "{one} {other}");
        };
        check("203.0.113.9", "203.0.113.9", true);
        check("203.0.113.9", "203.0.113.10", false);
        check("203.0.113.9", "::ffff:203.0.113.9", true);
        check("2002:cb00:7109::1", "203.0.113.9", true);
        check("2001:db8:1:200::1", "2001:db8:1:200:9::", true);
        check("2001:db8:1:200::1", "2001:db8:1:201::1", false);
        check("", "nonsense", true);
        check("", "0.0.0.0", false);
    }

    #[test]
    fn a_network_has_its_share_each_minute() {
        let mut budget = PrefixBudget::default();
        let (one, other) = (prefix("203.0.113.9"), prefix("198.51.100.9"));
        for _ in 0..2 {
            assert!(!budget.is_spent(START, one, 2));
            budget.spend(START, one);
        }
        assert!(budget.is_spent(START, one, 2) && !budget.is_spent(START, other, 2));
        budget.refund(one);
        assert!(!budget.is_spent(START, one, 2));
        budget.spend(START, one);
        assert!(budget.is_spent(START + 59_999, one, 2));
        assert_eq!(
            [0, 59_999, 60_000, 99_999].map(|ms| budget.left_ms(START + ms)),
            [60_000, 1, 0, 0]
        );
        assert!(!budget.is_spent(START + 60_000, one, 2));
        budget.spend(START + 60_000, one);
        assert!(budget.is_spent(START + 60_000, one, 1));
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut budget = PrefixBudget::default();
        for number in 0..2 * PREFIXES_MAX as u64 {
            budget.spend(START, ClientPrefix(number));
        }
        assert_eq!(budget.used.len(), PREFIXES_MAX);
        assert!(budget.is_spent(START, ClientPrefix(0), 1));
    }

    #[test]
    fn a_minute_ends_after_the_clock_was_set_back() {
        let (ahead, one) = (START + 3_600_000, ClientPrefix(1));
        let mut budget = PrefixBudget::default();
        (0..20).for_each(|_| budget.spend(ahead, one));
        assert!(budget.is_spent(ahead, one, 20));
        assert!(!budget.is_spent(START, one, 20));
        assert_eq!((budget.used(START, one), budget.left_ms(START)), (0, 0));
        budget.spend(START, one);
        assert_eq!(budget.used(START, one), 1);
    }
}
