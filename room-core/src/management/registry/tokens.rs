//! The operations on named tokens: list, make, show, replace, give another value, and remove. A
//! value is shown once, in the answer that makes it; of it a hash is kept.
//!
//! Nobody makes, sees or changes a token that may more than the own one, and nobody makes, changes
//! or gets the value of one that lasts longer: else who may all for a day could stay.

use serde_json::{Value, json};

use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::document::{Document, Meaning, drawn_id, with};
use crate::base::id::{RoomId, TokenId};
use crate::base::time::Timestamp;
use crate::keys::token;
use crate::management::api::{self, Failure, Method, Paging, Reply};
use crate::management::config::token::{TokenFields, read_token, token_document};
use crate::management::config::{ErrorCode, FieldError, Mark};
use crate::management::token::{NamedToken, PREFIX, Role, Scope};

/// The most named tokens. The number is ours: an isolate looks through all of them.
const TOKENS_MAX: usize = 100;

const MEANING: Meaning = Meaning(&[&[
    Mark::read_only("id"),
    Mark::read_only("issued_on"),
    Mark::read_only("modified_on"),
    Mark::read_only("value"),
    Mark::ours("role"),
    Mark::ours("zones"),
    Mark::ours("rooms"),
]]);

/// Lists the tokens, in no particular order.
pub fn list(context: CallContext<'_>, paging: Paging) -> Answer {
    let all = context.stored.tokens().iter().filter(|token| is_within(context, token));
    let all: Vec<_> = all.map(|token| shown(context, token)).collect();
    Answer { reply: Reply::page(&all, paging), changes: Vec::new() }
}

/// Shows one token.
pub fn show(context: CallContext<'_>, id: TokenId) -> Result<Answer, Failure> {
    Ok(Answer::of(shown(context, found(context, id)?)))
}

/// Makes a token, and shows its value this once.
pub fn create(context: CallContext<'_>, body: &Value) -> Result<Answer, Failure> {
    if context.stored.tokens().len() >= TOKENS_MAX {
        let message = format!("There are at most {TOKENS_MAX} tokens: remove one.");
        return Err(Failure::new(400, 1_126, message));
    }
    let id = TokenId::from_bytes(drawn_id(context.draw, 0));
    let document = MEANING.merged(Document::new(), Method::Post, body)?;
    let fields = read(context, id, &document)?;
    let value = drawn_value(context);
    let token = NamedToken {
        id,
        name: fields.name,
        role: fields.role,
        scope: fields.scope,
        not_before: fields.not_before,
        expires_on: fields.expires_on,
        hash: token::hash(&value),
        issued_on: context.now,
        modified_on: context.now,
    };
    let shown = with(written(context, &token), [("value", json!(value))]);
    let reply = Reply::success(Value::Object(shown), &warnings(context, &token));
    Ok(Answer { reply, changes: vec![change(context, None, Some(token))] })
}

/// Replaces what a token says. Its value stays; without a role, zones and rooms so do these.
pub fn replace(context: CallContext<'_>, id: TokenId, body: &Value) -> Result<Answer, Failure> {
    let current = found(context, id)?;
    check_end(context, current.expires_on)?;
    let document = MEANING.merged(written(context, current), Method::Put, body)?;
    let TokenFields { name, role, scope, not_before, expires_on } = read(context, id, &document)?;
    let same = NamedToken { name, role, scope, not_before, expires_on, ..current.clone() };
    if same == *current {
        return Ok(Answer::of(shown(context, current)));
    }
    let token = NamedToken { modified_on: context.now, ..same };
    let reply = Reply::success(shown(context, &token), &warnings(context, &token));
    Ok(Answer { reply, changes: vec![change(context, Some(current), Some(token))] })
}

/// Gives a token another value, and shows it this once. The old one counts no more.
pub fn roll(context: CallContext<'_>, id: TokenId) -> Result<Answer, Failure> {
    let current = found(context, id)?;
    check_end(context, current.expires_on)?;
    let value = drawn_value(context);
    let hash = token::hash(&value);
    let token = NamedToken { hash, modified_on: context.now, ..current.clone() };
    let changes = vec![change(context, Some(current), Some(token))];
    Ok(Answer { changes, ..Answer::of(json!(value)) })
}

/// Removes a token: it counts no more.
pub fn delete(context: CallContext<'_>, id: TokenId) -> Result<Answer, Failure> {
    let current = found(context, id)?;
    let answer = Answer::of(json!({ "id": id }));
    Ok(Answer { changes: vec![change(context, Some(current), None)], ..answer })
}

fn found(context: CallContext<'_>, id: TokenId) -> Result<&NamedToken, Failure> {
    let mut all = context.stored.tokens().iter();
    let found = all.find(|token| token.id == id).filter(|token| is_within(context, token));
    found.ok_or_else(|| Failure::not_found("token"))
}

/// Whether a token may no more than the sender.
fn is_within(context: CallContext<'_>, token: &NamedToken) -> bool {
    allows(context, token.role, &token.scope)
}

fn allows(context: CallContext<'_>, role: Role, scope: &Scope) -> bool {
    let zone_of = |room: RoomId| context.stored.rooms().get(&room).map(|room| room.zone_id);
    context.grant.role >= role && context.grant.scope.has_all_of(scope, zone_of)
}

/// Refuses (403) a token that ends at `end` or never, if the sender's own token ends before.
fn check_end(context: CallContext<'_>, end: Option<Timestamp>) -> Result<(), Failure> {
    let is_own = |token: &&NamedToken| Some(token.id) == context.grant.token;
    let own = context.stored.tokens().iter().find(is_own);
    match own.and_then(|token| token.expires_on) {
        Some(own_end) if end.is_none_or(|end| end > own_end) => {
            let told = own_end.to_iso8601();
            let message =
                format!("Your own token ends at {told}: set expires_on to that or earlier.");
            Err(Failure::new(403, 9_109, message))
        }
        _ => Ok(()),
    }
}

/// Reads the fields of the token with this id.
///
/// Errors: wrong fields (400); more or longer than the sender's own token allows (403).
fn read(
    context: CallContext<'_>,
    id: TokenId,
    document: &Document,
) -> Result<TokenFields, Failure> {
    let fields = read_token(&Value::Object(document.clone())).map_err(Failure::invalid)?;
    if !allows(context, fields.role, &fields.scope) {
        return Err(api::out_of_scope());
    }
    check_end(context, fields.expires_on)?;
    let mut others = context.stored.tokens().iter().filter(|other| other.id != id);
    if others.any(|other| other.name.eq_ignore_ascii_case(&fields.name)) {
        let message = "is already taken by another token".to_owned();
        let (pointer, code) = ("/name".to_owned(), ErrorCode::Duplicate);
        return Err(Failure::invalid(vec![FieldError { pointer, code, message }]));
    }
    Ok(fields)
}

/// Warns of a token that opens nothing, since its end is over.
fn warnings(context: CallContext<'_>, token: &NamedToken) -> Vec<String> {
    let end = token.expires_on.filter(|end| *end <= context.now);
    let told = end.map(|end| {
        let end = end.to_iso8601();
        format!("This token opens nothing: its expires_on, {end}, is over. Set a later one.")
    });
    told.into_iter().collect()
}

fn drawn_value(context: CallContext<'_>) -> String {
    let secret = [drawn_id(context.draw, 1), drawn_id(context.draw, 2)].concat();
    format!("{PREFIX}{}", base16ct::lower::encode_string(&secret))
}

fn written(context: CallContext<'_>, token: &NamedToken) -> Document {
    token_document(token, token.is_active(context.now))
}

fn shown(context: CallContext<'_>, token: &NamedToken) -> Value {
    Value::Object(written(context, token))
}

/// Makes the change from one state of a token to the next; `None` stands for a missing one.
fn change(
    context: CallContext<'_>,
    before: Option<&NamedToken>,
    after: Option<NamedToken>,
) -> Change {
    let id = before.or(after.as_ref()).map(|token| token.id);
    Change {
        target: id.map(|id| format!("user/tokens/{id}")).unwrap_or_default(),
        before: before.map(|token| written(context, token)),
        after: after.as_ref().map(|token| written(context, token)),
        effect: Effect::Token(before.map(|token| token.id), after.map(Box::new)),
    }
}
