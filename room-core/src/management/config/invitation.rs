//! Reads and writes the groups that an invitation to a room can name (`docs/invitations.md`).

use serde_json::{Value, json};

use super::choices::ENTERS;
use super::field_error::{ErrorCode, Problem};
use super::fields::Fields;
use super::value::{boolean, list, malformed, text};
use crate::room::invitation::{Enters, GROUPS_MAX, InvitationGroup, Invitations};

/// The field with the groups.
const GROUPS: &str = "invitation_groups";
/// The longest name of a group, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// Reads the groups of a room, and what they are worth. On failure, returns `None` and leaves an
/// error in `fields`.
pub(super) fn read(fields: &mut Fields<'_>) -> Option<(Vec<InvitationGroup>, Invitations)> {
    let groups = read_groups(fields);
    let name = "invitation_only";
    let only = fields.optional(name, false, boolean)?;
    let groups = groups?;
    if only && groups.is_empty() {
        fields.fail(name, ErrorCode::Contradiction, "needs a group in invitation_groups");
        return None;
    }
    let invitations = Invitations::of(&groups, only);
    Some((groups, invitations))
}

fn read_groups(fields: &mut Fields<'_>) -> Option<Vec<InvitationGroup>> {
    let listed = fields.optional(GROUPS, &[][..], list("a list of groups", GROUPS_MAX))?;
    let mut groups: Vec<InvitationGroup> = Vec::new();
    let mut is_valid = true;
    for (index, value) in listed.iter().enumerate() {
        let pointer = format!("{}/{index}", fields.pointer_to(GROUPS));
        let group =
            Fields::of(value, pointer).map_err(|error| vec![error]).and_then(|mut group| {
                let name = group.required("name", group_name);
                let enters = group.choice("enters", Enters::First, &ENTERS);
                if groups.iter().any(|other| Some(other.name.as_str()) == name) {
                    group.fail("name", ErrorCode::Duplicate, "is the name of another group");
                }
                let errors = group.finish();
                let group = name.zip(enters).filter(|_| errors.is_empty());
                let made =
                    |(name, enters): (&str, _)| InvitationGroup { name: name.to_owned(), enters };
                group.map(made).ok_or(errors)
            });
        match group {
            Ok(group) => groups.push(group),
            Err(errors) => {
                is_valid = false;
                fields.add(errors);
            }
        }
    }
    is_valid.then_some(groups)
}

/// Writes the groups of a room.
pub(super) fn groups_document(groups: &[InvitationGroup]) -> Value {
    let enters = |group: &InvitationGroup| {
        ENTERS.iter().find(|(_, one)| *one == group.enters).map_or("", |(name, _)| name)
    };
    groups.iter().map(|group| json!({ "name": group.name, "enters": enters(group) })).collect()
}

fn group_name(value: &Value) -> Result<&str, Problem> {
    let name = text(NAME_BYTES_MAX)(value)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.is_empty() && name.bytes().all(is_plain) {
        return Ok(name);
    }
    Err(malformed(name, "must be letters, digits, - and _"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::management::config::ErrorCode;
    use crate::management::config::tests::{check, check_all, parse};
    use crate::room::invitation::{Enters, InvitationGroup};

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
        let group = |name: &str, enters| InvitationGroup { name: name.to_owned(), enters };
        let want = [group("a-1", Enters::First), group("b_2", Enters::InTurn)];
        assert_eq!(room.expect("a valid room")[0].invitation_groups, want);
        check("invitation_only", &[json!(true)], Some(ErrorCode::Contradiction));
        check("invitation_only", &[json!(false)], None);
    }
}
