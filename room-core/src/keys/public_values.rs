//! The secrets of local development, which everybody can read in `.dev.vars.example`. They count
//! only where nobody else can come.

/// The token of the management API that `npm start` sets.
pub const API_TOKEN: &str = "local-development-only";

/// The key of tickets that `npm start` sets.
pub(super) const TICKET_KEY: [u8; 32] = [
    0x3f, 0x1c, 0x5a, 0xd2, 0xe0, 0x7b, 0x84, 0x96, 0x9d, 0x2e, 0x41, 0xf8, 0x0a, 0x6b, 0xc7, 0x13,
    0x5e, 0x98, 0x04, 0xd7, 0xb2, 0x1f, 0xa3, 0x6c, 0x58, 0xed, 0x90, 0x71, 0x42, 0xcb, 0x6f, 0xa8,
];

/// Why nobody is served on a host that is not local while the public key seals or opens tickets.
pub const REFUSAL: &str = "TICKET_KEYS: holds the public key of local development, with which \
                           anybody can make tickets; it counts on local hosts alone, and \
                           `npm run deploy` makes one of your own";

/// Whether a host, as written in a URL, names this machine: `localhost`, any name below it, or a
/// loopback address.
pub fn is_local(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    matches!(&*host, "localhost" | "127.0.0.1" | "[::1]") || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::{API_TOKEN, is_local};
    use crate::keys::master_key::MasterKey;

    #[test]
    fn they_are_those_of_the_example() {
        let example = include_str!("../../../.dev.vars.example");
        let value = |name: &str| {
            let found = |line: &'static str| line.strip_prefix("# ")?.strip_prefix(name);
            example.lines().find_map(found).unwrap_or_default().trim_matches(['=', '"'])
        };
        assert_eq!(value("API_TOKEN"), API_TOKEN);
        assert!(MasterKey::parse(value("TICKET_KEYS")).is_some_and(|key| key.is_public()));
    }

    #[test]
    fn the_example_sets_nothing() {
        // Cloudflare's deploy button would fill in what is not a comment.
        let example = include_str!("../../../.dev.vars.example");
        for line in example.lines() {
            assert!(line.is_empty() || line.starts_with('#'), "{line}");
        }
    }

    #[test]
    fn local_hosts_are_those_of_this_machine() {
        let check = |host: &str, want: bool| assert_eq!(is_local(host), want, "{host}");
        check("localhost", true);
        check("Visitor-1.LOCALHOST", true);
        check("127.0.0.1", true);
        check("[::1]", true);
        check("shop.example", false);
        check("localhost.shop.example", false);
        check("notlocalhost", false);
        check("room.someone.workers.dev", false);
        check("", false);
    }
}
