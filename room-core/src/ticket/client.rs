//! Which client got a ticket, roughly: its network and the family of its browser. With it a room
//! may notice that others use a visitor's ticket.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::base::id::VisitorId;
use crate::base::prefix_budget::ClientPrefix;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};

/// The most networks from which a ticket may be used within [`WINDOW_MS`], in one isolate. A phone
/// changes between home, work and the street.
const NETWORKS_MAX: usize = 4;
/// How long the networks of a ticket are remembered, in milliseconds.
const WINDOW_MS: u64 = 10 * MINUTE_MS;
/// The most tickets that are remembered. Later ones are compared with their own mark alone until
/// the window ends.
const TICKETS_MAX: usize = 4_096;

/// The shortest time between two lines of the log, in milliseconds.
const TOLD_EVERY_MS: u64 = 10 * SECOND_MS;

/// Parts of a `User-Agent` that name a browser. The first that occurs counts, since most browsers
/// also name those that they imitate.
const BROWSERS: [&str; 10] = [
    "Edg",
    "OPR",
    "SamsungBrowser",
    "YaBrowser",
    "FxiOS",
    "Firefox",
    "CriOS",
    "Chrome",
    "Safari",
    "Dalvik",
];
/// Parts of a `User-Agent` that name a system.
const SYSTEMS: [&str; 7] = ["iPhone", "iPad", "Android", "Windows", "Macintosh", "CrOS", "Linux"];

/// A client as a ticket remembers it: 16 bits of a hash of its network, and 16 of its browser and
/// system without their versions. 0 in tickets without a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct ClientMark(pub u32);

impl ClientMark {
    /// Makes the mark of a client.
    pub fn of(network: ClientPrefix, user_agent: &str) -> Self {
        let first =
            |names: &'static [&str]| names.iter().copied().find(|name| user_agent.contains(name));
        // A program that is no browser is told by what stands before its version.
        let program = user_agent.split(['/', ' ']).next().unwrap_or_default();
        let browser = first(&BROWSERS).unwrap_or(program);
        let family = format!("{browser} {}", first(&SYSTEMS).unwrap_or_default());
        Self(u32::from(hashed(&network.to_bytes())) << 16 | u32::from(hashed(family.as_bytes())))
    }

    /// Whether this client can hardly be that of the ticket: both its network and its browser
    /// differ. A phone in another network or a browser with a new version stays the same client.
    pub fn is_foreign_to(self, ticket: Self) -> bool {
        let differ = self.0 ^ ticket.0;
        ticket.0 != 0 && differ >> 16 != 0 && differ & 0xffff != 0
    }
}

/// Returns two bytes of the SHA-256, never 0.
fn hashed(bytes: &[u8]) -> u16 {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    u16::from_be_bytes(*digest.first_chunk().unwrap_or(&[0; 2])).max(1)
}

/// The networks from which tickets were used in this isolate. They are kept in memory alone.
#[derive(Debug, Default)]
pub struct TicketUses {
    since: Timestamp,
    networks: BTreeMap<VisitorId, Vec<ClientPrefix>>,
    told_at: Timestamp,
    untold: u64,
}

impl TicketUses {
    /// Counts a use of a ticket by the client `now_used_by`. Returns whether others than its
    /// visitor use it: a client foreign to its mark, or clients of many networks.
    pub fn is_shared(
        &mut self,
        now: Timestamp,
        visitor: VisitorId,
        ticket: ClientMark,
        (network, client): (ClientPrefix, ClientMark),
    ) -> bool {
        if now < self.since || now.since_ms(self.since) >= WINDOW_MS {
            self.since = now;
            self.networks.clear();
        }
        if client.is_foreign_to(ticket) {
            self.untold = self.untold.saturating_add(1);
            return true;
        }
        if self.networks.len() >= TICKETS_MAX && !self.networks.contains_key(&visitor) {
            return false;
        }
        let networks = self.networks.entry(visitor).or_default();
        if networks.contains(&network) {
            return false;
        }
        let is_full = networks.len() >= NETWORKS_MAX;
        if !is_full {
            networks.push(network);
        }
        self.untold = self.untold.saturating_add(u64::from(is_full));
        is_full
    }

    /// Accepts the client of this network as the ticket's visitor.
    pub fn accept(&mut self, visitor: VisitorId, network: ClientPrefix) {
        if let Some(networks) = self.networks.get_mut(&visitor) {
            *networks = vec![network];
        }
    }

    /// Returns how many uses by others were counted since the last log line; `None` if the next
    /// line is not due.
    pub fn due(&mut self, now: Timestamp) -> Option<u64> {
        if self.untold == 0 || now.since_ms(self.told_at) < TOLD_EVERY_MS {
            return None;
        }
        self.told_at = now;
        Some(std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientMark, NETWORKS_MAX, TICKETS_MAX, TicketUses};
    use crate::base::id::VisitorId;
    use crate::base::prefix_budget::ClientPrefix;
    use crate::base::time::Timestamp;

    const PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1 \
                         (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1";
    const LAPTOP: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, \
                          like Gecko) Chrome/142.0.0.0 Safari/537.36";

    fn network(address: &str) -> ClientPrefix {
        ClientPrefix::of(address.parse().ok())
    }

    #[test]
    fn only_another_network_with_another_browser_is_foreign() {
        let mark = |address: &str, agent: &str| ClientMark::of(network(address), agent);
        let ticket = mark("203.0.113.9", PHONE);
        let check = |address: &str, agent: &str, want: bool| {
            assert_eq!(mark(address, agent).is_foreign_to(ticket), want, "{address} {agent}");
            assert!(!mark(address, agent).is_foreign_to(ClientMark::default()));
        };
        check("203.0.113.9", PHONE, false);
        check("203.0.113.7", PHONE, false);
        check("198.51.100.1", PHONE, false);
        check("198.51.100.1", &PHONE.replace("19_1", "19_2").replace("604", "605"), false);
        check("203.0.113.9", LAPTOP, false);
        check("198.51.100.1", LAPTOP, true);
        check("198.51.100.1", "curl/8.1", true);
        check("198.51.100.1", "", true);
    }

    #[test]
    fn a_ticket_that_many_networks_use_is_shared() {
        let mut uses = TicketUses::default();
        let mut is_shared = |seconds: u64, address: &str| {
            let network = network(address);
            let client = (network, ClientMark::of(network, PHONE));
            let now = Timestamp::from_seconds(1_000 + seconds);
            uses.is_shared(now, VisitorId(1), client.1, client)
        };
        for number in 0..NETWORKS_MAX {
            assert!(!is_shared(0, &format!("203.0.{number}.1")), "{number}");
        }
        assert!(is_shared(1, "198.51.100.1"));
        assert!(!is_shared(1, "203.0.0.2"), "the visitor stays who it is");
        assert!(!is_shared(600, "198.51.100.1"));
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut uses = TicketUses::default();
        let client = (network("203.0.113.9"), ClientMark::default());
        for number in 0..2 * TICKETS_MAX as u64 {
            assert!(!uses.is_shared(Timestamp(1_000_000), VisitorId(number), client.1, client));
        }
        assert_eq!(uses.networks.len(), TICKETS_MAX);
    }
}
