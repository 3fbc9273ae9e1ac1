//! The variables that few pages need. They come after the others and are searched one by one.

use super::Read;
use crate::page::place::{CodeFailure, PlaceMove};
use crate::page::template::Value;

/// Variables that Cloudflare does not have. They hold the evidence of a draw, whether a cookie has
/// come back, why a code for a place did not work, how long one lasts and its picture, the input of
/// a form, the number to quote, how a turn is confirmed, and what invitations are worth.
pub(super) const MORE: [(&str, Read); 26] = [
    ("drawCommitment", |own| Value::Text(&own.draw.commitment)),
    ("drawKey", |own| Value::Text(&own.draw.key)),
    ("drawLot", |own| Value::Text(&own.draw.lot)),
    ("drawRank", |own| Value::Text(&own.draw.rank)),
    ("reference", |own| Value::Text(&own.reference)),
    ("invitation", |own| Value::Text(&own.group)),
    ("invitationAsked", |own| Value::Bool(own.asks_invitation())),
    ("invitationFailed", |own| Value::Bool(own.waiting.invitation.failed.is_some())),
    ("invitationNeeded", |own| Value::Bool(own.waiting.invitation.needed)),
    ("invitationOver", |own| {
        let failed = own.waiting.invitation.failed;
        Value::Bool(matches!(failed, Some(CodeFailure::Used | CodeFailure::Over)))
    }),
    ("invitationWrong", |own| {
        Value::Bool(own.waiting.invitation.failed == Some(CodeFailure::Wrong))
    }),
    ("invitationsFirst", |own| Value::Bool(own.waiting.invitation.others_first)),
    ("invitationsOneIn", |own| Value::Integer(own.waiting.invitation.one_in.into())),
    ("invitationsShare", |own| Value::Bool(own.waiting.invitation.one_in > 0)),
    ("confirmsTurn", |own| Value::Bool(own.waiting.confirms_turn)),
    ("turnSeconds", |own| Value::Integer(own.waiting.turn_left_s.unwrap_or(0).into())),
    ("turnTimeLocalized", |own| Value::Text(&own.localized.turn_left)),
    ("contactTyped", |own| Value::Text(&own.contact.typed)),
    ("placeCodeTried", |own| Value::Bool(failed(own.waiting.place, CodeFailure::was_tried))),
    ("isFirstPage", |own| Value::Bool(own.waiting.is_first)),
    ("placeCodeOver", |own| Value::Bool(failed(own.waiting.place, |why| why == CodeFailure::Over))),
    ("placeCodePicture", |own| Value::Html(&own.place_code_picture)),
    ("placeCodeSeconds", |own| Value::Integer(own.waiting.place.code_left_s().into())),
    ("placeCodeTimeLocalized", |own| Value::Text(&own.localized.code_left)),
    ("placeCodeUsed", |own| Value::Bool(failed(own.waiting.place, |why| why == CodeFailure::Used))),
    ("placeCodeWrong", |own| {
        Value::Bool(failed(own.waiting.place, |why| why == CodeFailure::Wrong))
    }),
];

/// Whether a code did not work, for a reason that `is_so` accepts.
fn failed(place: PlaceMove, is_so: impl Fn(CodeFailure) -> bool) -> bool {
    matches!(place, PlaceMove::Failed(why) if is_so(why))
}
