//! The operations on the bypass rules of a room: list, add, replace, change, move and remove.

use serde_json::{Value, json};

use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::document::{Document, Meaning, drawn_id, with};
use crate::base::id::RuleId;
use crate::base::time::Timestamp;
use crate::management::api::{Failure, Method};
use crate::management::config::{
    ErrorCode, FieldError, Mark, read_bypass_rule, read_bypass_rules, rule_document, whole,
};
use crate::room::Room;
use crate::room::bypass_rule::BypassRule;

const MEANING: Meaning = Meaning(&[&[
    Mark::read_only("id"),
    Mark::read_only("version"),
    Mark::read_only("last_updated"),
]]);

/// Shows the rules of a room, in the order in which they count.
pub fn show(room: &Room) -> Answer {
    Answer::of(shown(&room.bypass_rules))
}

/// Adds a rule at the end, if the room may have one more.
pub fn create(context: CallContext<'_>, room: &Room, body: &Value) -> Result<Answer, Failure> {
    check_count(context, room.bypass_rules.len().saturating_add(1))?;
    let document = MEANING.merged(Document::new(), Method::Post, body)?;
    let id = RuleId::from_bytes(drawn_id(context.draw, 0));
    let rule = read_bypass_rule(
        &Value::Object(stamped(document, id, 1, context.now)),
        &context.stored.known_lists(),
    );
    let rules = room.bypass_rules.iter().cloned().chain([rule.map_err(Failure::invalid)?]);
    Ok(changed(room, rules.collect()))
}

/// Replaces all rules by those of the body. An existing rule keeps its id; its version grows only
/// if its content changes.
pub fn replace(context: CallContext<'_>, room: &Room, body: &Value) -> Result<Answer, Failure> {
    let bodies = body.as_array().map_or(&[][..], Vec::as_slice);
    check_count(context, bodies.len())?;
    if !body.is_array() {
        return Err(read_bypass_rules(body, &context.stored.known_lists())
            .map(|_| ())
            .map_err(Failure::invalid)
            .err()
            .unwrap_or_else(Failure::no_route));
    }
    let mut documents = Vec::with_capacity(bodies.len());
    for (index, body) in bodies.iter().enumerate() {
        documents.push(match MEANING.merged(Document::new(), Method::Put, body) {
            Ok(document) => {
                let id = RuleId::from_bytes(drawn_id(context.draw, index));
                Value::Object(stamped(document, id, 1, context.now))
            }
            // This is no object: reading it reports that at its place.
            Err(_) => body.clone(),
        });
    }
    let mut rules = read_bypass_rules(&Value::Array(documents), &context.stored.known_lists())
        .map_err(Failure::invalid)?;
    let mut left: Vec<&BypassRule> = room.bypass_rules.iter().collect();
    let mut keep = |rule: &mut BypassRule, is_it: &dyn Fn(&BypassRule) -> bool| {
        let place = left.iter().position(|one| is_it(one));
        if let Some(known) = place.map(|place| left.remove(place)) {
            *rule = succeeding(known, rule.clone(), context.now);
        }
        place.is_some()
    };
    let mut unnamed = Vec::new();
    for (rule, body) in rules.iter_mut().zip(bodies) {
        let given = body.get("id").and_then(Value::as_str).unwrap_or_default();
        if !keep(rule, &|one| one.id.to_string() == given) {
            unnamed.push(rule);
        }
    }
    // An id that a later rule names is not given to an equal rule before it.
    for rule in unnamed {
        let written = rule.clone();
        keep(rule, &|one| says_the_same(one, &written));
    }
    Ok(changed(room, rules))
}

/// Changes some fields of a rule, or moves it to another place.
pub fn change(
    context: CallContext<'_>,
    room: &Room,
    id: RuleId,
    body: &Value,
) -> Result<Answer, Failure> {
    let place = place(room, id)?;
    let mut rules = room.bypass_rules.clone();
    let current = rules.remove(place);
    let mut document = MEANING.merged(rule_document(&current), Method::Patch, body)?;
    let position = position(document.remove("position").as_ref(), &rules, place);
    let rule = read_bypass_rule(&Value::Object(document), &context.stored.known_lists());
    // The errors of the rule and of its position are reported at once.
    let (rule, place) = match (rule, position) {
        (Ok(rule), Ok(place)) => (rule, place),
        (rule, position) => {
            let errors = rule.err().into_iter().flatten();
            return Err(Failure::invalid(errors.chain(position.err()).collect()));
        }
    };
    rules.insert(place.min(rules.len()), succeeding(&current, rule, context.now));
    Ok(changed(room, rules))
}

/// Removes a rule.
pub fn delete(room: &Room, id: RuleId) -> Result<Answer, Failure> {
    let place = place(room, id)?;
    let mut rules = room.bypass_rules.clone();
    rules.remove(place);
    Ok(changed(room, rules))
}

fn check_count(context: CallContext<'_>, count: usize) -> Result<(), Failure> {
    let most = context.deployment.bounds.rules_per_room;
    if count <= most {
        return Ok(());
    }
    let message = format!(
        "A room has at most {most} bypass rules: join some with `or`, or raise the variable \
         MAX_RULES_PER_ROOM."
    );
    Err(Failure::new(400, 1_122, message))
}

fn stamped(document: Document, id: RuleId, version: u32, now: Timestamp) -> Document {
    with(
        document,
        [
            ("id", json!(id)),
            ("version", json!(version.to_string())),
            ("last_updated", json!(now.to_iso8601())),
        ],
    )
}

fn place(room: &Room, id: RuleId) -> Result<usize, Failure> {
    let place = room.bypass_rules.iter().position(|rule| rule.id == id);
    place.ok_or_else(|| Failure::not_found("rule"))
}

fn says_the_same(one: &BypassRule, other: &BypassRule) -> bool {
    (&one.expression, &one.description, one.enabled)
        == (&other.expression, &other.description, other.enabled)
}

/// Returns the rule that follows `known` when it becomes `next`. It is `known` itself if both have
/// the same content, otherwise `next` with the id of `known` and the next version.
pub fn succeeding(known: &BypassRule, next: BypassRule, now: Timestamp) -> BypassRule {
    if says_the_same(known, &next) {
        return known.clone();
    }
    let version = known.version.saturating_add(1);
    BypassRule { id: known.id, version, last_updated: now, ..next }
}

/// Reads the place for a rule among the `others` from the field `position` of the body. Without one
/// it is `place`, where the rule was.
fn position(
    wish: Option<&Value>,
    others: &[BypassRule],
    place: usize,
) -> Result<usize, FieldError> {
    let Some(wish) = wish.filter(|wish| !wish.is_null()) else { return Ok(place) };
    let fail = |pointer: &str, message: &str| {
        let (pointer, message) = (format!("/position{pointer}"), message.to_owned());
        FieldError { pointer, code: ErrorCode::OutOfRange, message }
    };
    let place_of =
        |id: &Value| others.iter().position(|rule| id.as_str() == Some(&*rule.id.to_string()));
    let wishes = wish.as_object().map(|wish| wish.iter().collect::<Vec<_>>());
    match wishes.as_deref() {
        Some([(name, index)]) if *name == "index" => {
            let place = whole(index).and_then(|index| usize::try_from(index).ok());
            // Cloudflare counts from 1, and its own tests send 0 for the first place.
            let place = place.map(|index| index.saturating_sub(1));
            place
                .filter(|place| *place <= others.len())
                .ok_or_else(|| fail("/index", "must be a place in the list, counted from 1"))
        }
        Some([(name, id)]) if *name == "before" && id.as_str() == Some("") => Ok(0),
        Some([(name, id)]) if *name == "before" => {
            place_of(id).ok_or_else(|| fail("/before", "must be the id of another rule, or \"\""))
        }
        Some([(name, id)]) if *name == "after" && id.as_str() == Some("") => Ok(others.len()),
        Some([(name, id)]) if *name == "after" => {
            let place = place_of(id).and_then(|place| place.checked_add(1));
            place.ok_or_else(|| fail("/after", "must be the id of another rule, or \"\""))
        }
        _ => Err(fail("", "must have exactly one of index, before and after")),
    }
}

fn shown(rules: &[BypassRule]) -> Value {
    rules.iter().map(|rule| Value::Object(rule_document(rule))).collect()
}

/// Makes the answer that shows the rules, and the change to them if they differ.
fn changed(room: &Room, rules: Vec<BypassRule>) -> Answer {
    let answer = Answer::of(shown(&rules));
    if rules == room.bypass_rules {
        return answer;
    }
    let document = |rules: &[BypassRule]| {
        let mut documents = Document::new();
        for rule in rules {
            documents.insert(rule.id.to_string(), Value::Object(rule_document(rule)));
        }
        // No rule has such an id; without it a move would leave no trace.
        let order: Value = rules.iter().map(|rule| json!(rule.id)).collect();
        documents.insert("order".to_owned(), order);
        Some(documents)
    };
    let change = Change {
        target: format!("zones/{}/waiting_rooms/{}/rules", room.zone_id, room.id),
        before: document(&room.bypass_rules),
        after: document(&rules),
        effect: Effect::Room(Box::new(Room { bypass_rules: rules, ..room.clone() })),
    };
    Answer { changes: vec![change], ..answer }
}
