//! The code of an invitation: a JSON Web Token (RFC 7519) in the compact form of RFC 7515, signed
//! by HMAC-SHA-256 with the key of its group, or by Ed25519 with a key of the owner's.
//! `docs/invitations.md` says how owners make one.
//!
//! A visitor sends it in the body of a form on the site's own page, never in an address. The keys
//! of the deployment check it here; the room's object then counts its uses.

use base64ct::{Base64UrlUnpadded, Encoding};
use hkdf::hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::admission::invitation::joined;
use crate::base::time::Timestamp;
use crate::keys::key_ring::KeyRing;
use crate::machines::invitations::{Redemption, Share, USES_MAX};
use crate::order::order_key::OrderKey;
use crate::page::place::CodeFailure;
use crate::room::Room;
use crate::room::invitation::PublicKey;
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::Ticket;

/// The longest code, in bytes.
const CODE_BYTES_MAX: usize = 900;
/// The length of a signature by Ed25519.
const SIGNATURE_BYTES: usize = 64;
/// The longest `jti`, in bytes.
const ID_BYTES_MAX: usize = 64;
/// How far ahead a code may end, in seconds: a year and a day. The room's object remembers for so
/// long who has used it.
const AHEAD_S_MAX: u64 = 366 * 86_400;

/// A code that is good, as far as its signature and its claims say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// The group, as its place in the room's list, from 1.
    pub group: u8,
    /// Names the code within the room: the name of the group, `/` and its `jti`.
    pub name: String,
    /// How many visitors may use it.
    pub uses: u32,
    /// Of how many places the group has one, if it enters by share; otherwise 0.
    pub one_in: u8,
    /// When it ends.
    pub ends_at: Timestamp,
}

/// What is left to check of a code that the owner has signed: that `signature` is one of `text` by
/// `key`. The Worker asks the platform, which has Ed25519.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The group's public key.
    pub key: PublicKey,
    /// What is signed.
    pub text: String,
    /// The signature, in 64 bytes.
    pub signature: Vec<u8>,
}

/// Reads a code as a visitor has typed it. With a [`Proof`] it is good only if that is.
///
/// Errors: [`CodeFailure::Wrong`] for what is not a code of this room, [`CodeFailure::Over`] for
/// one that has ended.
pub fn read(
    now: Timestamp,
    keys: &KeyRing,
    room: &Room,
    typed: &str,
) -> Result<(Invitation, Option<Proof>), CodeFailure> {
    let (invitation, proof, exp_s) = verified(keys, room, typed).ok_or(CodeFailure::Wrong)?;
    let left_s = exp_s.checked_sub(now.seconds()).filter(|left_s| *left_s > 0);
    match left_s {
        None => Err(CodeFailure::Over),
        Some(left_s) if left_s > AHEAD_S_MAX => Err(CodeFailure::Wrong),
        Some(_) => Ok((invitation, proof)),
    }
}

fn verified(keys: &KeyRing, room: &Room, typed: &str) -> Option<(Invitation, Option<Proof>, u64)> {
    // Mail programs break long lines.
    let code: String = typed.chars().filter(|one| !one.is_whitespace()).collect();
    if code.len() > CODE_BYTES_MAX {
        return None;
    }
    let (signed, signature) = code.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    let signature = Base64UrlUnpadded::decode_vec(signature).ok()?;
    let (header, claims) = (json(header)?, json(claims)?);
    let text = |name: &str| claims.get(name)?.as_str();
    let (group, jti, exp) = (text("group")?, text("jti")?, number(claims.get("exp")?)? as u64);
    let mut groups = room.invitation_groups.iter().zip(1..);
    let (known, place) = groups.find(|(known, _)| known.name == group)?;
    // The group has one algorithm, whatever a header asks for: a public key is no key of HS256.
    let alg = if known.public_key.is_some() { "EdDSA" } else { "HS256" };
    if header.get("alg")?.as_str() != Some(alg) || header.get("crit").is_some() {
        return None;
    }
    let may_be_good = if known.public_key.is_some() {
        signature.len() == SIGNATURE_BYTES
    } else {
        let mut own = keys.invitation_keys(room.id, group);
        own.any(|key| is_signed(&key, signed, &signature))
    };
    if !may_be_good {
        return None;
    }
    let proof = known.public_key.map(|key| Proof { key, text: signed.to_owned(), signature });
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_named = (1..=ID_BYTES_MAX).contains(&jti.len()) && jti.bytes().all(is_plain);
    let uses = claims.get("uses").map_or(Some(1.0), number).filter(|uses| uses.fract() == 0.0);
    let uses = u32::try_from(uses? as u64).ok()?;
    let is_of_room = text("room")?.parse() == Ok(room.id);
    let is_valid = is_of_room && is_named && (1..=USES_MAX).contains(&uses);
    let (name, one_in) = (format!("{group}/{jti}"), known.one_in);
    let ends_at = Timestamp::from_seconds(exp);
    is_valid.then_some((Invitation { group: place, name, uses, one_in, ends_at }, proof, exp))
}

/// Reads a number from 0 on. Of seconds the whole part counts: RFC 7519 allows a fraction, and some
/// libraries write one.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| *number >= 0.0)
}

/// Whether the signature is that of a text. The time it takes tells nothing of the right one.
fn is_signed(key: &str, signed: &str, signature: &[u8]) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return false };
    mac.update(signed.as_bytes());
    mac.verify_slice(signature).is_ok()
}

fn json(part: &str) -> Option<Value> {
    serde_json::from_slice(&Base64UrlUnpadded::decode_vec(part).ok()?).ok()
}

/// Returns the status and the reason for apps whose code did not work.
pub(super) const fn refusal(why: CodeFailure) -> (u16, &'static str) {
    match why {
        CodeFailure::Wrong => (404, "The invitation is wrong."),
        CodeFailure::Used => (410, "The invitation has been used up."),
        CodeFailure::Over => (410, "The invitation has expired."),
        CodeFailure::NotTried => (503, "Not now; try again in a minute."),
    }
}

impl Invitation {
    /// Returns what the room's object counts if the holder of this ticket uses the code at `now`.
    /// It is asked for a place where the visitor waits in the order of joining.
    pub fn by(&self, now: Timestamp, settings: &Settings, ticket: &Ticket) -> Redemption {
        let Self { name, uses, one_in, ends_at, .. } = self;
        let joined = joined(ticket, self.group, None, now, settings);
        let is_in_order = settings.queueing_method == QueueingMethod::Fifo
            && settings.order_key(&joined) == OrderKey::fifo(joined.joined_at);
        let share = Share { one_in: *one_in, own: joined.joined_at };
        let share = Some(share).filter(|share| share.one_in > 0 && is_in_order);
        let (name, visitor) = (name.clone(), ticket.id.visitor());
        Redemption { name, uses: *uses, ends_at: *ends_at, visitor, share }
    }
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64UrlUnpadded, Encoding};
    use hkdf::hmac::{Hmac, KeyInit, Mac};
    use serde_json::{Value, json};
    use sha2::Sha256;

    use super::{CODE_BYTES_MAX, Invitation, Proof, read};
    use crate::base::time::Timestamp;
    use crate::keys::key_ring::KeyRing;
    use crate::management::config::parse_rooms;
    use crate::page::place::CodeFailure;
    use crate::room::Room;
    use crate::room::invitation::PublicKey;

    const NOW: Timestamp = Timestamp(1_795_255_200_000);
    const END_S: u64 = 1_795_258_800;
    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn keys(text: &str) -> KeyRing {
        KeyRing::parse(text).unwrap()
    }

    fn ring() -> KeyRing {
        keys(&"1".repeat(64))
    }

    fn room(id: &str) -> Room {
        let room = json!([{
            "id": id, "zone_id": ID, "name": "shop", "host": "shop.example",
            "total_active_users": 10, "new_users_per_minute": 10,
            "invitation_groups": [{ "name": "staff" }, { "name": "members" }],
        }]);
        parse_rooms(&room.to_string()).expect("a valid room").remove(0)
    }

    fn key(group: &str) -> String {
        ring().invitation_keys(room(ID).id, group).next().unwrap()
    }

    fn part(json: &Value) -> String {
        Base64UrlUnpadded::encode_string(json.to_string().as_bytes())
    }

    fn signed(key: &str, header: &Value, claims: &Value) -> String {
        let text = format!("{}.{}", part(header), part(claims));
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
        mac.update(text.as_bytes());
        format!("{text}.{}", Base64UrlUnpadded::encode_string(&mac.finalize().into_bytes()))
    }

    fn header() -> Value {
        json!({ "alg": "HS256", "typ": "JWT" })
    }

    fn claims() -> Value {
        json!({ "room": ID, "group": "members", "jti": "a-1", "exp": END_S })
    }

    fn told(code: &str) -> Result<Invitation, CodeFailure> {
        read(NOW, &ring(), &room(ID), code).map(|(invitation, proof)| {
            assert_eq!(proof, None);
            invitation
        })
    }

    /// The example of `docs/invitations.md`: links that owners have sent must go on working.
    #[test]
    fn a_code_made_as_the_manual_says_is_read() {
        let key = key("members");
        assert_eq!(key, "fiGwREc--CjwBiyVqGkHOfyKOFXYSjfD4MUhY_3JROU");
        let code = concat!(
            "eyJhbGciOiAiSFMyNTYiLCAidHlwIjogIkpXVCJ9.eyJyb29tIjogIjAxMjM0NTY3ODlhYmNkZWYwMTI",
            "zNDU2Nzg5YWJjZGVmIiwgImdyb3VwIjogIm1lbWJlcnMiLCAianRpIjogImEtMSIsICJleHAiOiAxNzk",
            "1MjU4ODAwfQ.ntncY4sFWI6e07AIHBHRXTKDP7gtYY-BMsyvtcCnkh8",
        );
        let name = "members/a-1".to_owned();
        let ends_at = Timestamp::from_seconds(END_S);
        let want = Invitation { group: 2, name, uses: 1, one_in: 0, ends_at };
        assert_eq!(told(code), Ok(want.clone()));
        assert_eq!(told(&signed(&key, &header(), &claims())), Ok(want.clone()));
        // As mail programs break it.
        let (start, end) = code.split_at(40);
        assert_eq!(told(&format!(" {start}\r\n{end}\n")), Ok(want));
    }

    #[test]
    fn claims_count_as_they_are_signed() {
        let check = |name: &str, value: Value, want: Result<u32, CodeFailure>| {
            let mut claims = claims();
            claims[name] = value.clone();
            let read = told(&signed(&key("members"), &header(), &claims));
            assert_eq!(read.map(|code| code.uses), want, "{name} {value}");
        };
        let wrong = Err(CodeFailure::Wrong);
        check("uses", json!(1), Ok(1));
        check("uses", json!(1_000_000), Ok(1_000_000));
        check("uses", json!(2.0), Ok(2));
        for uses in [json!(0), json!(1_000_001), json!(-1), json!(-1.0), json!(1.5), json!("1")] {
            check("uses", uses, wrong);
        }
        check("exp", json!(NOW.seconds() + 1), Ok(1));
        check("exp", json!(NOW.seconds()), Err(CodeFailure::Over));
        check("exp", json!(0), Err(CodeFailure::Over));
        check("exp", json!(END_S as f64 + 0.25), Ok(1));
        check("exp", json!(NOW.seconds() as f64 + 0.9), Err(CodeFailure::Over));
        for exp in [json!(-1), json!(-0.5), json!(1e300), json!(END_S.to_string())] {
            check("exp", exp, wrong);
        }
        check("exp", json!(NOW.seconds() + 366 * 86_400), Ok(1));
        check("exp", json!(NOW.seconds() + 366 * 86_400 + 1), wrong);
        check("exp", json!(null), wrong);
        check("room", json!("f".repeat(32)), wrong);
        check("group", json!("others"), wrong);
        // Signed with the key of another group.
        check("group", json!("staff"), wrong);
        for id in ["", "a b", "a/b", "\u{e9}", &"a".repeat(65)] {
            check("jti", json!(id), wrong);
        }
        check("iat", json!(1), Ok(1));
    }

    #[test]
    fn no_header_chooses_how_a_code_is_checked() {
        let check = |header: Value, key: &str| {
            let read = told(&signed(key, &header, &claims()));
            assert_eq!(read, Err(CodeFailure::Wrong), "{header}");
        };
        let own = key("members");
        for alg in ["none", "None", "HS512", "RS256", "EdDSA", "hs256", ""] {
            check(json!({ "alg": alg }), &own);
        }
        check(json!({ "alg": "HS256", "crit": ["b64"], "b64": false }), &own);
        check(json!({}), &own);
        check(json!(["HS256"]), &own);
        check(header(), "");
        check(header(), &key("staff"));
        let none = format!("{}.{}.", part(&json!({ "alg": "none" })), part(&claims()));
        assert_eq!(told(&none), Err(CodeFailure::Wrong));
    }

    /// A public key is known to everybody: it signs nothing, and chooses no other algorithm.
    #[test]
    fn the_kind_of_a_groups_key_chooses_the_algorithm() {
        let public = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let mut owned = room(ID);
        let bytes = Base64UrlUnpadded::decode_vec(public).unwrap();
        let key = PublicKey(bytes.clone().try_into().unwrap());
        owned.invitation_groups[1].public_key = Some(key);
        let read = |code: &str| read(NOW, &ring(), &owned, code);
        let header = |alg: &str| json!({ "alg": alg });
        let text = format!("{}.{}", part(&header("EdDSA")), part(&claims()));
        let signature = vec![7; 64];
        let code = format!("{text}.{}", Base64UrlUnpadded::encode_string(&signature));
        let (invitation, proof) = read(&code).unwrap();
        assert_eq!((invitation.group, invitation.uses), (2, 1));
        assert_eq!(proof, Some(Proof { key, text: text.clone(), signature }));
        for length in [0, 32, 63, 65] {
            let other = format!("{text}.{}", Base64UrlUnpadded::encode_string(&vec![7; length]));
            assert_eq!(read(&other), Err(CodeFailure::Wrong), "{length}");
        }
        for alg in ["HS256", "EdDSA", "Ed25519", "none"] {
            for secret in [public, &self::key("members"), ""] {
                let code = signed(secret, &header(alg), &claims());
                assert_eq!(read(&code), Err(CodeFailure::Wrong), "{alg} {secret}");
            }
            let mut mac = Hmac::<Sha256>::new_from_slice(&bytes).unwrap();
            let text = format!("{}.{}", part(&header(alg)), part(&claims()));
            mac.update(text.as_bytes());
            let mac = Base64UrlUnpadded::encode_string(&mac.finalize().into_bytes());
            assert_eq!(read(&format!("{text}.{mac}")), Err(CodeFailure::Wrong), "{alg}");
        }
        // The group beside it has the key of the deployment, and no other.
        let mut of_staff = claims();
        of_staff["group"] = json!("staff");
        let staff = signed(&self::key("staff"), &header("HS256"), &of_staff);
        assert!(read(&staff).is_ok_and(|(_, proof)| proof.is_none()));
        let text = format!("{}.{}", part(&header("EdDSA")), part(&of_staff));
        let code = format!("{text}.{}", Base64UrlUnpadded::encode_string(&[7; 64]));
        assert_eq!(read(&code), Err(CodeFailure::Wrong));
        let over = {
            let mut claims = claims();
            claims["exp"] = json!(1);
            claims
        };
        let text = format!("{}.{}", part(&header("EdDSA")), part(&over));
        let code = format!("{text}.{}", Base64UrlUnpadded::encode_string(&[7; 64]));
        assert_eq!(read(&code), Err(CodeFailure::Over));
    }

    #[test]
    fn a_code_is_of_one_room_and_deployment_and_outlives_a_rotation() {
        let code = signed(&key("members"), &header(), &claims());
        let other = room(&"f".repeat(32));
        assert_eq!(read(NOW, &ring(), &other, &code), Err(CodeFailure::Wrong));
        let check = |text: &str, is_good: bool| {
            assert_eq!(read(NOW, &keys(text), &room(ID), &code).is_ok(), is_good);
        };
        let (old, new) = ("1".repeat(64), "2".repeat(64));
        check(&new, false);
        check(&format!("{new},{old}"), true);
    }

    #[test]
    fn every_changed_character_and_every_cut_is_wrong() {
        let code = signed(&key("members"), &header(), &claims());
        let bytes = code.as_bytes();
        for place in 0..bytes.len() {
            let mut other = bytes.to_vec();
            other[place] = if other[place] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(told(&other), Err(CodeFailure::Wrong), "{place}");
            assert_eq!(told(&code[..place]), Err(CodeFailure::Wrong), "{place}");
        }
        for text in ["", ".", "..", "a.b.c", &"a".repeat(CODE_BYTES_MAX + 1)] {
            assert_eq!(told(text), Err(CodeFailure::Wrong), "{text}");
        }
    }
}
