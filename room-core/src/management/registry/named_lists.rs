//! The operations on named lists: list, make, fill, empty and remove, at Cloudflare's paths.
//!
//! At Cloudflare the items of a list change some time after the answer. Here they have changed when
//! the answer leaves, so every operation that a client asks about is completed.

use serde_json::{Value, json};

use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::document::{Document, Meaning, drawn_id, with};
use crate::base::id::{ListId, ListItemId};
use crate::base::sorted;
use crate::base::time::Timestamp;
use crate::management::api::{Failure, Method};
use crate::management::config::{
    ErrorCode, FieldError, Mark, full_list_document, is_fixed, list_item_document,
    named_list_document, read_list_items, read_named_list,
};
use crate::room::bypass_rule::compile;
use crate::room::named_list::{self, ListItem, MAX_LIST_ITEMS, NamedList};

/// The most lists. Cloudflare allows 10 on its largest plan.
pub(super) const MAX_LISTS: usize = 100;

const MEANING: Meaning = Meaning(&[&[
    Mark::read_only("id"),
    Mark::read_only("items"),
    Mark::read_only("created_on"),
    Mark::read_only("modified_on"),
    Mark::read_only("num_items"),
    Mark::read_only("num_referencing_filters"),
]]);

fn found(context: CallContext<'_>, id: ListId) -> Result<&NamedList, Failure> {
    context.stored.lists().get(&id).ok_or_else(|| Failure::not_found("list"))
}

/// Shows all lists without their items, oldest first.
pub fn list(context: CallContext<'_>) -> Answer {
    // The map is in the order of ids, which tells lists of the same moment apart.
    let lists =
        sorted::stably_by_number(context.stored.lists().values().collect(), |list: &&NamedList| {
            list.created_on.0
        });
    Answer::of(lists.into_iter().map(|list| shown(context, list)).collect())
}

/// Shows one list, without its items.
pub fn show(context: CallContext<'_>, id: ListId) -> Result<Answer, Failure> {
    Ok(Answer::of(shown(context, found(context, id)?)))
}

/// Writes a list as the API shows it, without its items.
fn shown(context: CallContext<'_>, list: &NamedList) -> Value {
    let counts = [
        ("num_items", json!(list.items.len())),
        ("num_referencing_filters", json!(rules_with(context, list))),
    ];
    Value::Object(with(named_list_document(list), counts))
}

/// Counts the rules that refer to a list.
fn rules_with(context: CallContext<'_>, list: &NamedList) -> usize {
    let others =
        named_list::known(context.stored.lists().values().filter(|other| other.id != list.id));
    let rules = context.stored.rooms().values().flat_map(|room| &room.bypass_rules);
    let mentions =
        rules.filter(|rule| rule.expression.contains('$') && rule.expression.contains(&list.name));
    // White space may stand between the two, and the name may also stand in a quoted text: a rule
    // refers to the list if it does not compile without it.
    mentions.filter(|rule| compile(&rule.expression, &others).is_err()).count()
}

/// Makes an empty list; its name must be unique.
pub fn create(context: CallContext<'_>, body: &Value) -> Result<Answer, Failure> {
    if context.stored.lists().len() >= MAX_LISTS {
        let message = format!("There are at most {MAX_LISTS} lists.");
        return Err(Failure::new(400, 1_123, message));
    }
    let document = with(
        MEANING.merged(Document::new(), Method::Post, body)?,
        [
            ("id", json!(ListId::from_bytes(drawn_id(context.draw, 0)))),
            ("created_on", json!(context.now.to_iso8601())),
            ("modified_on", json!(context.now.to_iso8601())),
        ],
    );
    let list = read_named_list(&Value::Object(document)).map_err(Failure::invalid)?;
    if context.stored.lists().values().any(|other| other.name == list.name) {
        let message = "is already taken by another list".to_owned();
        let (pointer, code) = ("/name".to_owned(), ErrorCode::Duplicate);
        return Err(Failure::invalid(vec![FieldError { pointer, code, message }]));
    }
    let answer = Answer::of(shown(context, &list));
    Ok(Answer { changes: vec![change(None, list)], ..answer })
}

/// Changes the description of a list; its name and kind cannot be changed.
pub fn describe(context: CallContext<'_>, id: ListId, body: &Value) -> Result<Answer, Failure> {
    let current = found(context, id)?;
    let before = full_list_document(current);
    let is_other =
        |name: &&str| body.get(*name).is_some_and(|given| before.get(*name) != Some(given));
    let fixed = ["kind", "name"].into_iter().filter(is_other);
    let errors: Vec<_> = fixed.map(|name| is_fixed(&format!("/{name}"))).collect();
    if !errors.is_empty() {
        return Err(Failure::invalid(errors));
    }
    let document = MEANING.merged(before, Method::Patch, body)?;
    let document =
        Value::Object(with(document, [("modified_on", json!(context.now.to_iso8601()))]));
    let list = read_named_list(&document).map_err(Failure::invalid)?;
    let answer = Answer::of(shown(context, &list));
    Ok(Answer { changes: vec![change(Some(current), list)], ..answer })
}

/// Removes a list, unless rules refer to it.
pub fn delete(context: CallContext<'_>, id: ListId) -> Result<Answer, Failure> {
    let list = found(context, id)?;
    let rules = rules_with(context, list);
    if rules > 0 {
        let message = format!("{rules} bypass rules refer to ${}: change them first.", list.name);
        return Err(Failure::new(400, 1_124, message));
    }
    let gone = Change {
        target: target(id),
        before: Some(full_list_document(list)),
        after: None,
        effect: Effect::NoList(id),
    };
    Ok(Answer { changes: vec![gone], ..Answer::of(json!({ "id": id })) })
}

/// Adds the items of the body (`POST`), or replaces all items by them (`PUT`). An existing item is
/// not added again but gets the new comment.
pub fn add_items(
    context: CallContext<'_>,
    id: ListId,
    method: Method,
    body: &Value,
) -> Result<Answer, Failure> {
    let current = found(context, id)?;
    let given = read_list_items(&stamped(body, context.draw, context.now), current.kind)
        .map_err(Failure::invalid)?;
    let mut items: Vec<ListItem> =
        if method == Method::Post { current.items.clone() } else { Vec::new() };
    for item in given {
        let known = |items: &[ListItem]| items.iter().position(|one| one.value == item.value);
        if let Some(there) = known(&items).and_then(|place| items.get_mut(place)) {
            if there.comment != item.comment {
                (there.comment, there.modified_on) = (item.comment, context.now);
            }
            continue;
        }
        let before = known(&current.items).and_then(|place| current.items.get(place));
        items.push(match before {
            Some(before) if before.comment == item.comment => before.clone(),
            Some(before) => ListItem { id: before.id, created_on: before.created_on, ..item },
            None => item,
        });
    }
    if items.len() > MAX_LIST_ITEMS {
        let message = format!("A list has at most {MAX_LIST_ITEMS} items.");
        return Err(Failure::new(400, 1_125, message));
    }
    Ok(changed_items(context, current, items))
}

/// Removes the items whose ids the body names.
pub fn delete_items(context: CallContext<'_>, id: ListId, body: &Value) -> Result<Answer, Failure> {
    let current = found(context, id)?;
    let Some(named) = body.get("items").and_then(Value::as_array) else {
        let message = "is required: an array of objects with the id of an item".to_owned();
        let (pointer, code) = ("/items".to_owned(), ErrorCode::Required);
        return Err(Failure::invalid(vec![FieldError { pointer, code, message }]));
    };
    let ids: Vec<&str> =
        named.iter().filter_map(|item| item.get("id").and_then(Value::as_str)).collect();
    let stays = |item: &&ListItem| !ids.contains(&item.id.to_string().as_str());
    let items = current.items.iter().filter(stays).cloned().collect();
    Ok(changed_items(context, current, items))
}

fn changed_items(context: CallContext<'_>, current: &NamedList, items: Vec<ListItem>) -> Answer {
    let operation = ListItemId::from_bytes(context.draw);
    let answer = Answer::of(json!({ "operation_id": operation }));
    if items == current.items {
        return answer;
    }
    let list = NamedList { items, modified_on: context.now, ..current.clone() };
    Answer { changes: vec![change(Some(current), list)], ..answer }
}

/// Shows all items of a list at once, without a cursor.
pub fn list_items(context: CallContext<'_>, id: ListId) -> Result<Answer, Failure> {
    let list = found(context, id)?;
    let items = list.items.iter().map(|item| Value::Object(list_item_document(item, list.kind)));
    Ok(Answer::of(items.collect()))
}

/// Shows one item of a list.
pub fn show_item(
    context: CallContext<'_>,
    list: ListId,
    id: ListItemId,
) -> Result<Answer, Failure> {
    let list = found(context, list)?;
    let item = list.items.iter().find(|item| item.id == id);
    let item = item.ok_or_else(|| Failure::not_found("item"))?;
    Ok(Answer::of(Value::Object(list_item_document(item, list.kind))))
}

/// Shows an operation, which is always completed.
pub fn show_operation(now: Timestamp, operation: ListItemId) -> Answer {
    let completed = now.to_iso8601();
    Answer::of(json!({ "id": operation, "status": "completed", "completed": completed }))
}

fn target(id: ListId) -> String {
    format!("accounts/-/rules/lists/{id}")
}

/// Makes the change from one state of a list to the next; `None` stands for a missing one.
pub(super) fn change(before: Option<&NamedList>, after: NamedList) -> Change {
    Change {
        target: target(after.id),
        before: before.map(full_list_document),
        after: Some(full_list_document(&after)),
        effect: Effect::List(Box::new(after)),
    }
}

/// Gives the items of a body new ids and times.
fn stamped(body: &Value, draw: [u8; 16], now: Timestamp) -> Value {
    let Some(items) = body.as_array() else { return body.clone() };
    let stamped = |(index, item): (usize, &Value)| {
        let id = ListItemId::from_bytes(drawn_id(draw, index));
        let Some(item) = item.as_object() else { return item.clone() };
        let fields: Document = with(
            item.clone(),
            [
                ("id", json!(id)),
                ("created_on", json!(now.to_iso8601())),
                ("modified_on", json!(now.to_iso8601())),
            ],
        );
        Value::Object(fields)
    };
    items.iter().enumerate().map(stamped).collect()
}
