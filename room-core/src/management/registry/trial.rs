//! Tries a made-up request on a room: would this visitor pass? The code that decides on visits
//! decides it, and nothing changes.

use serde_json::{Value, json};

use super::change::Answer;
use super::context::CallContext;
use super::document::drawn_id;
use crate::base::id::RuleId;
use crate::base::time::Timestamp;
use crate::management::api::Failure;
use crate::management::config::read_trial;
use crate::room::bypass::{self, Bypass};
use crate::room::bypass_rule::BypassRule;
use crate::room::coverage::{Coverage, served_alike};
use crate::room::{Room, named_list};

/// Answers whether the request in the body passes the room, and what each rule says.
///
/// An expression in the body is tried as if it were the last rule.
pub fn answer(context: CallContext<'_>, room: &Room, body: &Value) -> Result<Answer, Failure> {
    let (request, draft) =
        read_trial(body, context.now, &context.stored.known_lists()).map_err(Failure::invalid)?;
    let lists = named_list::compiled(context.stored.lists().values())
        .map_err(|problem| Failure::new(503, 1_000, problem))?;
    let mut tried = room.clone();
    tried.bypass_rules.extend(draft.map(|(expression, compiled)| BypassRule {
        id: RuleId::from_bytes(drawn_id(context.draw, 0)),
        version: 1,
        expression,
        compiled,
        description: String::new(),
        enabled: true,
        last_updated: Timestamp::default(),
    }));
    let zone = context.stored.zone_settings().get(&room.zone_id).copied().unwrap_or_default();
    let coverage = Coverage::new(context.stored.rooms().values().map(bare).collect());
    let covering = coverage.lookup(request.url());
    let outcome = match &covering {
        Err(_) => "contradictory_path",
        Ok(None) => "not_covered",
        Ok(Some(other)) if other.id != room.id => "other_room",
        Ok(Some(_)) if room.suspended => "suspended",
        Ok(Some(_)) if bypass::decide(&tried, zone, &lists, &request) == Bypass::Skips => "passes",
        Ok(Some(_)) => "decided_by_room",
    };
    // Of a path that another server would read as a covered one the owner has to hear.
    let is_other = matches!(outcome, "not_covered" | "other_room");
    let alike = is_other.then(|| served_alike(room, request.url())).flatten();
    let matching = |rule: &BypassRule| bypass::matches(rule, &lists, &request);
    let shown = |rule: &BypassRule| json!({ "id": rule.id, "matches": matching(rule) });
    let draft = tried.bypass_rules.get(room.bypass_rules.len());
    Ok(Answer::of(json!({
        "outcome": outcome,
        "room": covering.ok().flatten().map(|room| room.id),
        "may_be_served_as": alike.map(|route| &route.path),
        "rules": room.bypass_rules.iter().map(shown).collect::<Vec<_>>(),
        "expression_matches": draft.map(matching),
    })))
}

/// Copies where a room is, without its pages, which may be large.
fn bare(room: &Room) -> Room {
    let (events, bypass_rules) = (Vec::new(), Vec::new());
    Room { events, bypass_rules, custom_page_html: None, ..room.clone() }
}
