//! Reads and writes the groups that an invitation to a room can name (`docs/invitations.md`).

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::choices::{ENTERS, word_of};
use super::claims::Claims;
use super::field_error::{ErrorCode, Problem};
use super::fields::Fields;
use super::form::{Form, Shape};
use super::value::{boolean, list, malformed, plain_name, whole_number};
use crate::queue::share::ONE_IN;
use crate::room::Room;
use crate::room::invitation::{
    Enters, GROUPS_MAX, InvitationGroup, Invitations, PublicKey, SHARES, shares,
};

/// The field with the groups.
const GROUPS: &str = "invitation_groups";
/// The longest name of a group, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// The groups of a room.
pub(super) struct Groups;

impl Form for Groups {
    type Value = Vec<InvitationGroup>;

    fn read(
        &self,
        _: &'static str,
        value: &Value,
        fields: &mut Fields<'_>,
    ) -> Option<Vec<InvitationGroup>> {
        read_groups(value, fields)
    }

    fn write(&self, value: &Vec<InvitationGroup>) -> Value {
        groups_document(value)
    }

    fn shape(&self) -> Shape {
        Shape::Special
    }
}

/// Whether nobody gets in without an invitation.
pub(super) struct Only;

impl Form for Only {
    type Value = Invitations;

    fn read(
        &self,
        name: &'static str,
        value: &Value,
        fields: &mut Fields<'_>,
    ) -> Option<Invitations> {
        fields.keep(name, boolean(value)).map(|only| Invitations::of(&[], only))
    }

    fn write(&self, value: &Invitations) -> Value {
        Value::Bool(value.is_only())
    }

    fn shape(&self) -> Shape {
        Shape::Flag
    }
}

/// Settles what invitations are worth, once groups and `invitation_only` are read.
pub(super) fn settle_invitations(fields: &mut Fields<'_>, room: &mut Room, _: &mut Claims) {
    let only = room.settings.invitations.is_only();
    if only && room.invitation_groups.is_empty() {
        let message = "needs a group in invitation_groups";
        fields.contradict(&["invitation_only", GROUPS], message);
    }
    room.settings.invitations = Invitations::of(&room.invitation_groups, only);
}

fn read_groups(value: &Value, fields: &mut Fields<'_>) -> Option<Vec<InvitationGroup>> {
    let listed = fields.keep(GROUPS, list("a list of groups", GROUPS_MAX)(value))?;
    let mut groups: Vec<InvitationGroup> = Vec::new();
    // Also those of wrong groups: all errors are told at once.
    let mut names: Vec<&str> = Vec::new();
    let mut is_valid = true;
    for (index, value) in listed.iter().enumerate() {
        let pointer = format!("{}/{index}", fields.pointer_to(GROUPS));
        let group =
            Fields::of(value, pointer).map_err(|error| vec![error]).and_then(|mut group| {
                let name = group.required("name", plain_name(NAME_BYTES_MAX));
                let enters = group.choice("enters", Enters::First, &ENTERS);
                let one_in = read_one_in(&mut group, enters);
                let public_key =
                    group.optional("public_key", None, |value| public_key(value).map(Some));
                if name.is_some_and(|name| names.contains(&name)) {
                    group.fail("name", ErrorCode::Duplicate, "is the name of another group");
                }
                names.extend(name);
                let errors = group.finish();
                let made = || {
                    let name = name?.to_owned();
                    let (enters, one_in, public_key) = (enters?, one_in?, public_key?);
                    Some(InvitationGroup { name, enters, one_in, public_key })
                };
                made().filter(|_| errors.is_empty()).ok_or(errors)
            });
        match group {
            Ok(group) => groups.push(group),
            Err(errors) => {
                is_valid = false;
                fields.add(errors);
            }
        }
    }
    if shares(&groups) > SHARES / 2 {
        let problem = "have more than one place in two together: raise one_in of a group";
        fields.fail(GROUPS, ErrorCode::Contradiction, problem);
        return None;
    }
    is_valid.then_some(groups)
}

/// Reads of how many places a group has one: exactly where it enters by share.
fn read_one_in(group: &mut Fields<'_>, enters: Option<Enters>) -> Option<u8> {
    let name = "one_in";
    let one_in = group.optional(name, 0, whole_number(ONE_IN))?;
    match (enters?, one_in) {
        (Enters::Share, 0) => {
            group.fail(name, ErrorCode::Contradiction, "is needed: one place in 2 to 100");
            None
        }
        (Enters::First | Enters::InTurn, 1..) => {
            group.fail(name, ErrorCode::Contradiction, "needs \"enters\": \"share\"");
            None
        }
        _ => u8::try_from(one_in).ok(),
    }
}

/// Writes the groups of a room.
fn groups_document(groups: &[InvitationGroup]) -> Value {
    let document = |group: &InvitationGroup| {
        let enters = word_of(&ENTERS, group.enters);
        let mut document = json!({ "name": group.name, "enters": enters });
        let mut insert = |name: &str, value: Value| {
            document.as_object_mut().and_then(|fields| fields.insert(name.to_owned(), value));
        };
        if group.enters == Enters::Share {
            insert("one_in", json!(group.one_in));
        }
        if let Some(PublicKey(bytes)) = group.public_key {
            insert("public_key", json!(Base64UrlUnpadded::encode_string(&bytes)));
        }
        document
    };
    groups.iter().map(document).collect()
}

/// Reads a public key: its 32 bytes in base64url, or a JSON Web Key with them (RFC 8037).
fn public_key(value: &Value) -> Result<PublicKey, Problem> {
    let of = |name: &str| value.get(name).and_then(Value::as_str);
    if value.get("d").is_some() {
        // The value is a secret, which no answer repeats.
        return Err(malformed(
            "",
            "must be a public key, without d: keep the private one to yourself",
        ));
    }
    let text = match value {
        Value::Object(_) if of("kty") == Some("OKP") && of("crv") == Some("Ed25519") => of("x"),
        Value::String(text) => Some(text.as_str()),
        _ => None,
    };
    let bytes = text.and_then(|text| Base64UrlUnpadded::decode_vec(text).ok());
    let key = bytes.and_then(|bytes| bytes.try_into().ok()).map(PublicKey);
    let problem =
        "must be an Ed25519 public key: its 32 bytes in base64url, or a JWK with them as x";
    let key = key.ok_or_else(|| malformed(text.unwrap_or_default(), problem))?;
    let weak = "is a key by which everybody can sign: make a new pair of keys";
    if key.is_usable() { Ok(key) } else { Err(malformed(text.unwrap_or_default(), weak)) }
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64UrlUnpadded, Encoding};
    use serde_json::{Value, json};

    use crate::management::config::ErrorCode;
    use crate::management::config::tests::{check, check_all, parse};
    use crate::room::invitation::{Enters, InvitationGroup, OF_ORDER_8};

    #[test]
    fn groups_have_names_of_their_own_and_a_room_for_invited_visitors_has_one() {
        let name = |name: &str| json!({ "name": name });
        let of = |groups: Value| json!({ "invitation_groups": groups });
        check("invitation_groups", &[json!([]), json!([name("a"), name("A")])], None);
        check("invitation_groups", &[json!(vec![name("a"); 9])], Some(ErrorCode::OutOfRange));
        let at = "/0/invitation_groups/0/name";
        check_all(
            &[of(json!([name("a"), name("a")]))],
            &[("/0/invitation_groups/1/name", ErrorCode::Duplicate)],
        );
        check_all(
            &[of(json!([{ "name": "a", "enters": "last" }, name("a")]))],
            &[
                ("/0/invitation_groups/0/enters", ErrorCode::OutOfRange),
                ("/0/invitation_groups/1/name", ErrorCode::Duplicate),
            ],
        );
        for wrong in ["", "a b", "a/b", "\u{e9}"] {
            check_all(&[of(json!([name(wrong)]))], &[(at, ErrorCode::Malformed)]);
        }
        check_all(&[of(json!([name(&"a".repeat(33))]))], &[(at, ErrorCode::OutOfRange)]);
        let late = json!([{ "name": "a", "enters": "last" }]);
        check_all(&[of(late)], &[("/0/invitation_groups/0/enters", ErrorCode::OutOfRange)]);
        check_all(
            &[of(json!([{ "name": "a", "kye": 1 }]))],
            &[("/0/invitation_groups/0/kye", ErrorCode::UnknownField)],
        );
        let both = json!([{ "name": "a-1" }, { "name": "b_2", "enters": "in_turn" }]);
        let room = parse(&[json!({ "invitation_groups": both, "invitation_only": true })]);
        let group = |name: &str, enters| InvitationGroup {
            name: name.to_owned(),
            enters,
            one_in: 0,
            public_key: None,
        };
        let want = [group("a-1", Enters::First), group("b_2", Enters::InTurn)];
        assert_eq!(room.expect("a valid room")[0].invitation_groups, want);
        check("invitation_only", &[json!(true)], Some(ErrorCode::Contradiction));
        check("invitation_only", &[json!(false)], None);
    }

    #[test]
    fn shares_are_one_place_in_two_at_most() {
        let share = |one_in: u32| json!({ "name": "a", "enters": "share", "one_in": one_in });
        let of = |groups: Value| json!({ "invitation_groups": groups });
        let check_one = |group: Value, want: Option<ErrorCode>| {
            let pointer = "/0/invitation_groups/0/one_in";
            let want: Vec<_> = want.into_iter().map(|code| (pointer, code)).collect();
            check_all(&[of(json!([group]))], &want);
        };
        for one_in in [2, 100] {
            check_one(share(one_in), None);
        }
        for one_in in [0, 1, 101] {
            check_one(share(one_in), Some(ErrorCode::OutOfRange));
        }
        let needs = Some(ErrorCode::Contradiction);
        check_one(json!({ "name": "a", "enters": "share" }), needs);
        for enters in ["first", "in_turn"] {
            check_one(json!({ "name": "a", "enters": enters, "one_in": 4 }), needs);
        }
        let all = |shares: &[u32]| {
            let named = |(place, one_in): (usize, &u32)| {
                let name = format!("g{place}");
                json!({ "name": name, "enters": "share", "one_in": one_in })
            };
            shares.iter().enumerate().map(named).collect::<Value>()
        };
        for fine in [&[4, 4][..], &[3, 6], &[6, 6, 6], &[16; 8]] {
            check_all(&[of(all(fine))], &[]);
        }
        for wrong in [&[2, 100][..], &[3, 5], &[15; 8]] {
            let want = ("/0/invitation_groups", ErrorCode::Contradiction);
            check_all(&[of(all(wrong))], &[want]);
        }
        let rooms = parse(&[of(all(&[5]))]).expect("a valid room");
        let want = InvitationGroup {
            name: "g0".to_owned(),
            enters: Enters::Share,
            one_in: 5,
            public_key: None,
        };
        assert_eq!(rooms[0].invitation_groups, [want]);
        assert_eq!(super::groups_document(&rooms[0].invitation_groups), all(&[5]));
    }

    #[test]
    fn a_public_key_is_one_that_its_owner_alone_signs_by() {
        // Of RFC 8032, test 1.
        let good = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let group = |key: &Value| json!({ "name": "a", "public_key": key });
        let check = |key: Value, want: bool| {
            let pointer = "/0/invitation_groups/0/public_key";
            let errors = if want { &[][..] } else { &[(pointer, ErrorCode::Malformed)] };
            check_all(&[json!({ "invitation_groups": [group(&key)] })], errors);
        };
        let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": good, "kid": "a" });
        let read = |key: &Value| {
            let rooms = parse(&[json!({ "invitation_groups": [group(key)] })]);
            super::groups_document(&rooms.expect("a valid room")[0].invitation_groups)
        };
        let want = json!([{ "name": "a", "enters": "first", "public_key": good }]);
        assert_eq!((read(&json!(good)), read(&jwk)), (want.clone(), want));
        for (name, value) in [("d", good), ("crv", "X25519"), ("kty", "EC"), ("x", "abc")] {
            let mut wrong = jwk.clone();
            wrong[name] = json!(value);
            check(wrong, false);
        }
        for wrong in ["", "a", &good[1..], &format!("{good}="), &"A".repeat(44)] {
            check(json!(wrong), false);
        }
        let key = |first: u8, middle: u8, last: u8| {
            let mut bytes = [middle; 32];
            (bytes[0], bytes[31]) = (first, last);
            json!(Base64UrlUnpadded::encode_string(&bytes))
        };
        for sign in [0, 0x80] {
            for (first, middle, last) in
                [(0, 0, 0), (1, 0, 0), (0xec, 0xff, 0x7f), (0xed, 0xff, 0x7f), (0xff, 0xff, 0x7f)]
            {
                check(key(first, middle, last | sign), false);
            }
            for y in OF_ORDER_8 {
                let mut bytes = y;
                bytes[31] |= sign;
                check(json!(Base64UrlUnpadded::encode_string(&bytes)), false);
            }
            check(key(2, 0, sign), true);
            check(key(0xeb, 0xff, 0x7f | sign), true);
        }
        // What is null is missing.
        check(json!(null), true);
    }
}
