//! One secret of the key ring, and what is derived from it: its id, the cipher of each hour, and
//! the keys of lotteries and draws.

use crate::base::id::RoomId;
use crate::base::prefix_budget::ClientPrefix;
use crate::base::sorted::SortedMap;
use crate::keys::public_values;
use crate::order::lottery::LotteryKey;
use crate::order::shuffle::{DrawKey, Shuffle};
use crate::ticket::Ticket;
use crate::ticket::place_code::PlaceCode;
use std::ops::RangeInclusive;

use aes_gcm::{Aes256Gcm, KeyInit};
use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

/// 32 secret random bytes, and the ciphers derived from them.
pub(crate) struct MasterKey {
    id: u8,
    secret: Zeroizing<[u8; KEY_BYTES]>,
    /// The ciphers of the hours whose tickets can still be opened. Boxed, so that moving one leaves
    /// no copy of its key in memory.
    ciphers: SortedMap<u32, Box<Aes256Gcm>>,
}

impl MasterKey {
    /// Reads 32 bytes as 64 hexadecimal characters or as base64 or base64url, padded or not.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        match text.len() {
            64 => {
                base16ct::mixed::decode(text, &mut *secret).ok()?;
            }
            43 => parse_base64(text, &mut secret)?,
            44 => parse_base64(text.strip_suffix('=')?, &mut secret)?,
            _ => return None,
        }
        // Derived from the secret and not its position, so that it stays when keys are rotated.
        let [id] = *derive(&secret, &[b"key id"]);
        Some(Self { id, secret, ciphers: SortedMap::new() })
    }

    /// Whether this is the key of local development, which everybody can read.
    pub(crate) fn is_public(&self) -> bool {
        *self.secret == public_values::TICKET_KEY
    }

    /// Returns the byte that names this key in a sealed ticket.
    pub(crate) const fn id(&self) -> u8 {
        self.id
    }

    /// Derives the key of a room's lottery.
    pub(crate) fn lottery_key(&self, room: RoomId) -> LotteryKey {
        LotteryKey::from_bytes(*derive(&self.secret, &[b"lottery v1", room.as_bytes()]))
    }

    /// Derives the key of the draw of one event.
    pub(crate) fn draw_key(&self, room: RoomId, draw: &Shuffle) -> DrawKey {
        let (from, until) = (draw.from.0.to_be_bytes(), draw.until.0.to_be_bytes());
        let info = [&b"draw v1"[..], room.as_bytes(), draw.event.as_bytes(), &from, &until];
        DrawKey::from_bytes(*derive(&self.secret, &info))
    }

    /// Derives the key with which an owner signs invitations to a group.
    pub(crate) fn invitation_key(&self, room: RoomId, group: &str) -> String {
        let info = [&b"invitation v1"[..], room.as_bytes(), group.as_bytes()];
        Base64UrlUnpadded::encode_string(&*derive::<KEY_BYTES>(&self.secret, &info))
    }

    /// Derives the code for a transfer of the ticket's place, made at its last check-in.
    pub(crate) fn place_code(&self, room: RoomId, ticket: &Ticket) -> PlaceCode {
        let at = ticket.last_check_in.0.to_be_bytes();
        let info = [&b"place v1"[..], room.as_bytes(), ticket.id.as_bytes(), &at];
        PlaceCode::from_bytes(*derive(&self.secret, &info))
    }

    /// Derives the name of such a code.
    pub(crate) fn place_name(&self, room: RoomId, code: PlaceCode) -> u64 {
        let code = code.to_string();
        let info = [&b"place name v1"[..], room.as_bytes(), code.as_bytes()];
        u64::from_be_bytes(*derive(&self.secret, &info))
    }

    /// Derives the second half of a preview's id from its first half.
    pub(crate) fn preview_id(&self, random: [u8; PREVIEW_RANDOM_BYTES]) -> [u8; 16] {
        *derive(&self.secret, &[b"preview v1", &random])
    }

    /// Derives the name of a network whose visitors make such codes.
    pub(crate) fn network_name(&self, room: RoomId, network: ClientPrefix) -> u16 {
        let info = [&b"place network v1"[..], room.as_bytes(), &network.to_bytes()];
        u16::from_be_bytes(*derive(&self.secret, &info))
    }

    /// Derives a name of 32 hexadecimal characters for something in a room.
    pub(crate) fn public_name(&self, kind: &[u8], room: RoomId, of: &[u8]) -> String {
        let name = derive::<16>(&self.secret, &[kind, room.as_bytes(), of]);
        base16ct::lower::encode_string(&*name)
    }

    /// Returns the cipher of `hour` (counted from the epoch), which is one of `readable`.
    ///
    /// Ciphers are kept for the next call, at most one for each readable hour.
    pub(crate) fn cipher(&mut self, hour: u32, readable: &RangeInclusive<u32>) -> &Aes256Gcm {
        debug_assert!(readable.contains(&hour), "{hour} is not one of {readable:?}");
        if !self.ciphers.contains_key(&hour) {
            self.ciphers.retain(|kept, _| readable.contains(kept));
        }
        self.ciphers.get_or_insert_with(hour, || {
            let subkey = derive::<KEY_BYTES>(&self.secret, &[b"ticket v1", &hour.to_be_bytes()]);
            Box::new(Aes256Gcm::new((&*subkey).into()))
        })
    }
}

/// Derives `N` bytes by HKDF-Expand (RFC 5869) with SHA-256. There is no extract step, since the
/// secrets are uniform already.
fn derive<const N: usize>(secret: &[u8; KEY_BYTES], info: &[&[u8]]) -> Zeroizing<[u8; N]> {
    const { assert!(N <= KEY_BYTES) };
    let mut derived = Zeroizing::new([0; N]);
    #[expect(clippy::expect_used, reason = "both lengths are fixed and within the limits")]
    Hkdf::<Sha256>::from_prk(secret)
        .expect("a secret is as long as the hash")
        .expand_multi_info(info, derived.as_mut_slice())
        .expect("at most one block is derived");
    derived
}

fn parse_base64(text: &str, secret: &mut [u8; KEY_BYTES]) -> Option<()> {
    let decoded = if text.contains(['+', '/']) {
        Base64Unpadded::decode(text, secret)
    } else {
        Base64UrlUnpadded::decode(text, secret)
    };
    decoded.ok().map(|_| ())
}

const KEY_BYTES: usize = 32;

/// The number of random bytes at the start of a preview's id. As many bytes follow that only a key
/// can derive.
pub const PREVIEW_RANDOM_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::MasterKey;
    use crate::base::id::{EventId, RoomId};
    use crate::base::time::Timestamp;
    use crate::order::shuffle::{DrawKey, Shuffle};

    #[test]
    fn keys_are_read_in_every_usual_notation() {
        let check = |text: &str| {
            let key = MasterKey::parse(text).unwrap();
            let want = [[0xfb, 0xef, 0xbe]; 11].concat();
            assert_eq!(key.secret[..31], want[..31], "{text}");
            assert_eq!(key.secret[31], 0xef, "{text}");
        };
        check("fbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbef");
        check("FBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEFBEF");
        check("FbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeFbeF");
        check("++++++++++++++++++++++++++++++++++++++++++8");
        check("++++++++++++++++++++++++++++++++++++++++++8=");
        check("------------------------------------------8");
        check("------------------------------------------8=");
    }

    #[test]
    fn what_is_not_32_bytes_is_no_key() {
        let check = |text: &str| assert!(MasterKey::parse(text).is_none(), "{text}");
        check("");
        check("fbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbe");
        check("fbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbeg");
        check("fbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbef0");
        check("+fefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbefbef");
        check(&"\u{e9}".repeat(32));
        check("++++++++++++++++++++++++++++++++++++++++++");
        check("++++++++++++++++++++++++++++++++++++++++++9");
        check("+-++++++++++++++++++++++++++++++++++++++++8");
        check("++++++++++++++++++++++++++++++++++++++++++==");
        check("+++++++++++++++++++++++++++++++++++++++++++8");
        check("++++++++++++++++++++++++++++++++++++++++++8==");
    }

    #[test]
    fn each_room_has_a_lottery_key_of_its_own_under_each_secret() {
        let key = |digit: &str, room: u8| {
            let key = MasterKey::parse(&digit.repeat(64)).unwrap();
            key.lottery_key(RoomId::from_bytes([room; 16]))
        };
        assert!(key("1", 1) == key("1", 1));
        assert!(key("1", 1) != key("1", 2) && key("1", 1) != key("2", 1));
        assert_eq!(format!("{:?}", key("1", 1)), "LotteryKey");
    }

    #[test]
    fn each_draw_has_a_key_of_its_own_under_each_secret() {
        let key = |digit: &str, room: u8, event: u8, from: u64, until: u64| {
            let (from, until) = (Timestamp(from), Timestamp(until));
            let event = EventId::from_bytes([event; 16]);
            let draw = Shuffle { event, from, until, key: DrawKey::default() };
            let master = MasterKey::parse(&digit.repeat(64)).unwrap();
            master.draw_key(RoomId::from_bytes([room; 16]), &draw)
        };
        let first = key("1", 1, 1, 5, 9);
        assert!(first == key("1", 1, 1, 5, 9));
        for other in [
            key("2", 1, 1, 5, 9),
            key("1", 2, 1, 5, 9),
            key("1", 1, 2, 5, 9),
            key("1", 1, 1, 4, 9),
            key("1", 1, 1, 5, 8),
        ] {
            assert!(first != other);
        }
    }

    #[test]
    fn ciphers_are_kept_for_the_readable_hours_only() {
        let mut key = MasterKey::parse(&"1".repeat(64)).unwrap();
        for hour in 2..24 {
            let readable = hour - 2..=hour;
            for wanted in readable.clone() {
                key.cipher(wanted, &readable);
            }
            assert!(key.ciphers.keys().copied().eq(readable));
        }
    }
}
