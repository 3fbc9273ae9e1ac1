//! Named lists for rules, ready to be searched: addresses, host names or AS numbers.

use std::net::IpAddr;

use super::address::{IpRange, RangeError};
use crate::base::host::{Host, HostError, MAX_HOST_BYTES};
use crate::base::sorted::SortedMap;

/// The kind of each list by its name. Expressions may refer to these lists.
pub type KnownLists = SortedMap<String, ListKind>;

/// The items of each list by the list's name.
pub type Lists = SortedMap<String, List>;

/// The kind of a list's items. It decides with which fields a rule can use the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// AS numbers, for `ip.src.asnum in $name`.
    Asn,
    /// Host names, for `http.host in $name`.
    Hostname,
    /// IP addresses and networks, for `ip.src in $name`.
    Ip,
}

impl ListKind {
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Asn => "AS numbers",
            Self::Hostname => "host names",
            Self::Ip => "IP addresses",
        }
    }
}

/// The items of one list, ready to be searched in a time that grows with the logarithm of their
/// number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List(Items);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Items {
    /// Ascending, no number twice.
    Asn(Vec<i64>),
    /// Both ascending: `exact` names, and in `above` the names that stand for all names below them
    /// (`example.net` for `*.example.net`).
    Hostname { exact: Vec<String>, above: Vec<String> },
    /// Ascending, no address twice.
    Ip(Vec<IpRange>),
}

impl List {
    /// Makes a list of AS numbers.
    pub fn of_asns(numbers: impl IntoIterator<Item = u32>) -> Self {
        Self(Items::Asn(sorted(numbers.into_iter().map(i64::from).collect())))
    }

    /// Makes a list of host names. `*.example.net` stands for every name below `example.net`.
    pub fn of_hostnames<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, HostError> {
        let (mut exact, mut above) = (Vec::new(), Vec::new());
        for name in names {
            match name.strip_prefix("*.") {
                Some(parent) => above.push(parent.parse::<Host>()?.as_str().to_owned()),
                None => exact.push(name.parse::<Host>()?.as_str().to_owned()),
            }
        }
        Ok(Self(Items::Hostname { exact: sorted(exact), above: sorted(above) }))
    }

    /// Makes a list of addresses, networks and ranges, which may overlap.
    pub fn of_ips<'r>(ranges: impl IntoIterator<Item = &'r str>) -> Result<Self, RangeError> {
        let parsed: Result<Vec<_>, _> = ranges.into_iter().map(IpRange::parse).collect();
        let mut sorted = parsed?;
        sorted.sort_unstable();
        let mut disjoint: Vec<IpRange> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match disjoint.last_mut() {
                Some(last) if last.contains(range.first()) => last.extend_to(range.last()),
                _ => disjoint.push(range),
            }
        }
        Ok(Self(Items::Ip(disjoint)))
    }

    /// Returns the kind of the items.
    pub fn kind(&self) -> ListKind {
        match &self.0 {
            Items::Asn(_) => ListKind::Asn,
            Items::Hostname { .. } => ListKind::Hostname,
            Items::Ip(_) => ListKind::Ip,
        }
    }

    pub(super) fn has_ip(&self, address: IpAddr) -> bool {
        let Items::Ip(ranges) = &self.0 else { return false };
        let above = ranges.partition_point(|range| range.last() < address);
        ranges.get(above).is_some_and(|range| range.contains(address))
    }

    pub(super) fn has_asn(&self, number: i64) -> bool {
        matches!(&self.0, Items::Asn(numbers) if numbers.binary_search(&number).is_ok())
    }

    /// Counts the searches for this name: itself and each name above it.
    pub(super) fn hostname_searches(name: &[u8]) -> usize {
        let is_name = name.len() <= MAX_HOST_BYTES;
        if is_name { name.split(|byte| *byte == b'.').count() } else { 1 }
    }

    pub(super) fn has_hostname(&self, name: &[u8]) -> bool {
        let Items::Hostname { exact, above } = &self.0 else { return false };
        let Ok(name) = std::str::from_utf8(name) else { return false };
        if name.len() > MAX_HOST_BYTES {
            return false;
        }
        let name = name.to_ascii_lowercase();
        let mut parents = name.match_indices('.');
        let has =
            |names: &[String], name| names.binary_search_by(|known| (**known).cmp(name)).is_ok();
        let mut is_below = |(dot, _)| name.get(dot + 1..).is_some_and(|name| has(above, name));
        has(exact, &name) || parents.any(&mut is_below)
    }
}

/// Sorts the items and removes repeated ones, for a binary search.
fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items.dedup();
    items
}

#[cfg(test)]
mod tests {
    use super::{List, ListKind};

    #[test]
    fn addresses_are_found_in_every_range() {
        let list = List::of_ips([
            "203.0.113.0/24",
            "10.0.0.9",
            "10.0.0.0..10.0.0.5",
            "10.0.0.3..10.0.0.4",
            "10.0.0.4..10.0.0.7",
            "2001:db8::/32",
        ])
        .unwrap();
        let check = |address: &str, want: bool| {
            assert_eq!(list.has_ip(address.parse().unwrap()), want, "{address}");
        };
        check("9.255.255.255", false);
        check("10.0.0.0", true);
        check("10.0.0.7", true);
        check("10.0.0.8", false);
        check("10.0.0.9", true);
        check("203.0.112.255", false);
        check("203.0.113.255", true);
        check("203.0.114.0", false);
        check("2001:db8:ffff::1", true);
        check("2001:db9::", false);
        assert_eq!(list.kind(), ListKind::Ip);
        assert!(List::of_ips(["10.0.0.1/8"]).is_err());
    }

    #[test]
    fn host_names_are_found_in_any_letter_case_and_below_a_star() {
        let list = List::of_hostnames(["Shop.example.net", "*.example.org"]).unwrap();
        let check = |name: &str, want: bool| {
            assert_eq!(list.has_hostname(name.as_bytes()), want, "{name}");
        };
        check("shop.EXAMPLE.net", true);
        check("www.shop.example.net", false);
        check("example.org", false);
        check("a.example.org", true);
        check("a.b.example.org", true);
        check("aexample.org", false);
        check("", false);
        assert_eq!(list.kind(), ListKind::Hostname);
        assert!(List::of_hostnames(["*"]).is_err());
        assert!(List::of_hostnames(["*.*.net"]).is_err());
    }

    #[test]
    fn numbers_are_found_and_kinds_do_not_mix() {
        let list = List::of_asns([64_496, 64_500]);
        assert!(list.has_asn(64_496));
        assert!(!list.has_asn(64_497));
        assert!(!list.has_hostname(b"64496"));
        assert!(!list.has_ip("0.0.251.240".parse().unwrap()));
        assert_eq!(list.kind(), ListKind::Asn);
    }
}
