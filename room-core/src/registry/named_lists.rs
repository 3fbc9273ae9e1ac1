//! Named lists: listed, made, filled, emptied and removed, at the paths of the original.
//!
//! There items change later than the answer; here they have changed when it leaves, so that every
//! operation whose id a client asks for is completed.

use serde_json::{Value, json};

use super::change::{Change, Effect};
use super::document::{Document, Meaning, drawn_id, with};
use super::{Answer, Registry};
use crate::api::{Failure, Method};
use crate::bypass_rule::compile;
use crate::config::{
    ErrorCode, FieldError, full_list_document, is_fixed, list_item_document, named_list_document,
    read_list_items, read_named_list,
};
use crate::id::{ListId, ListItemId};
use crate::named_list::{self, ListItem, MAX_LIST_ITEMS, NamedList};
use crate::rule::KnownLists;
use crate::sorted;
use crate::time::Timestamp;

/// Most lists. The original takes 10 on its largest plan.
const MAX_LISTS: usize = 100;

const MEANING: Meaning = Meaning {
    read_only: &[
        "id",
        "items",
        "created_on",
        "modified_on",
        "num_items",
        "num_referencing_filters",
    ],
    extensions: &[],
    defaults: &[],
};

impl Registry {
    /// What rules may refer to.
    pub(super) fn known_lists(&self) -> KnownLists {
        named_list::known(self.lists.values())
    }

    pub(super) fn list(&self, id: ListId) -> Result<&NamedList, Failure> {
        self.lists.get(&id).ok_or_else(|| Failure::not_found("list"))
    }

    pub(super) fn lists_answer(&self) -> Answer {
        // The map is in the order of ids, which tells lists of the same moment apart.
        let lists = sorted::stably_by_number(self.lists.values().collect(), |list: &&NamedList| {
            list.created_on.0
        });
        Answer::of(lists.into_iter().map(|list| self.shown_list(list)).collect())
    }

    /// A list as the API shows it, without its items.
    pub(super) fn shown_list(&self, list: &NamedList) -> Value {
        let counts = [
            ("num_items", json!(list.items.len())),
            ("num_referencing_filters", { json!(self.rules_with(list)) }),
        ];
        Value::Object(with(named_list_document(list), counts))
    }

    /// How many rules refer to a list.
    fn rules_with(&self, list: &NamedList) -> usize {
        let mention = format!("${}", list.name);
        let others = named_list::known(self.lists.values().filter(|other| other.id != list.id));
        let rules = self.rooms.values().flat_map(|room| &room.bypass_rules);
        let mentions = rules.filter(|rule| rule.expression.contains(&mention));
        // The name may also stand in a quoted text.
        mentions.filter(|rule| compile(&rule.expression, &others).is_err()).count()
    }

    pub(super) fn create_list(
        &self,
        now: Timestamp,
        draw: [u8; 16],
        body: &Value,
    ) -> Result<Answer, Failure> {
        if self.lists.len() >= MAX_LISTS {
            let message = format!("There are at most {MAX_LISTS} lists.");
            return Err(Failure::new(400, 1_123, message));
        }
        let document = with(
            MEANING.merged(Document::new(), Method::Post, body)?,
            [
                ("id", json!(ListId::from_bytes(drawn_id(draw, 0)))),
                ("created_on", json!(now.to_iso8601())),
                ("modified_on", json!(now.to_iso8601())),
            ],
        );
        let list = read_named_list(&Value::Object(document)).map_err(Failure::invalid)?;
        if self.lists.values().any(|other| other.name == list.name) {
            let message = "is already taken by another list".to_owned();
            let (pointer, code) = ("/name".to_owned(), ErrorCode::Duplicate);
            return Err(Failure::invalid(vec![FieldError { pointer, code, message }]));
        }
        let answer = Answer::of(self.shown_list(&list));
        Ok(Answer { changes: vec![change(None, list)], ..answer })
    }

    /// Only the description changes.
    pub(super) fn describe_list(
        &self,
        now: Timestamp,
        id: ListId,
        body: &Value,
    ) -> Result<Answer, Failure> {
        let current = self.list(id)?;
        let before = full_list_document(current);
        let is_other =
            |name: &&str| body.get(*name).is_some_and(|given| before.get(*name) != Some(given));
        let fixed = ["kind", "name"].into_iter().filter(is_other);
        let errors: Vec<_> = fixed.map(|name| is_fixed(&format!("/{name}"))).collect();
        if !errors.is_empty() {
            return Err(Failure::invalid(errors));
        }
        let document = MEANING.merged(before, Method::Patch, body)?;
        let document = Value::Object(with(document, [("modified_on", json!(now.to_iso8601()))]));
        let list = read_named_list(&document).map_err(Failure::invalid)?;
        let answer = Answer::of(self.shown_list(&list));
        Ok(Answer { changes: vec![change(Some(current), list)], ..answer })
    }

    /// A list that rules refer to stays.
    pub(super) fn delete_list(&self, id: ListId) -> Result<Answer, Failure> {
        let list = self.list(id)?;
        let rules = self.rules_with(list);
        if rules > 0 {
            let message =
                format!("{rules} bypass rules refer to ${}: change them first.", list.name);
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

    /// `POST` adds items, `PUT` makes them all there are. One that is there already is not added
    /// again but gets the new comment.
    pub(super) fn add_items(
        &self,
        now: Timestamp,
        draw: [u8; 16],
        id: ListId,
        method: Method,
        body: &Value,
    ) -> Result<Answer, Failure> {
        let current = self.list(id)?;
        let given =
            read_list_items(&stamped(body, draw, now), current.kind).map_err(Failure::invalid)?;
        let mut items: Vec<ListItem> =
            if method == Method::Post { current.items.clone() } else { Vec::new() };
        for item in given {
            let known = |items: &[ListItem]| items.iter().position(|one| one.value == item.value);
            if let Some(there) = known(&items).and_then(|place| items.get_mut(place)) {
                if there.comment != item.comment {
                    (there.comment, there.modified_on) = (item.comment, now);
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
        Ok(Self::changed_items(now, draw, current, items))
    }

    /// Removes the items whose ids the body names.
    pub(super) fn delete_items(
        &self,
        now: Timestamp,
        draw: [u8; 16],
        id: ListId,
        body: &Value,
    ) -> Result<Answer, Failure> {
        let current = self.list(id)?;
        let Some(named) = body.get("items").and_then(Value::as_array) else {
            let message = "is required: an array of objects with the id of an item".to_owned();
            let (pointer, code) = ("/items".to_owned(), ErrorCode::Required);
            return Err(Failure::invalid(vec![FieldError { pointer, code, message }]));
        };
        let ids: Vec<&str> =
            named.iter().filter_map(|item| item.get("id").and_then(Value::as_str)).collect();
        let stays = |item: &&ListItem| !ids.contains(&item.id.to_string().as_str());
        let items = current.items.iter().filter(stays).cloned().collect();
        Ok(Self::changed_items(now, draw, current, items))
    }

    fn changed_items(
        now: Timestamp,
        draw: [u8; 16],
        current: &NamedList,
        items: Vec<ListItem>,
    ) -> Answer {
        let operation = ListItemId::from_bytes(draw);
        let answer = Answer::of(json!({ "operation_id": operation }));
        if items == current.items {
            return answer;
        }
        let list = NamedList { items, modified_on: now, ..current.clone() };
        Answer { changes: vec![change(Some(current), list)], ..answer }
    }

    /// All items: no cursor leads to more of them.
    pub(super) fn items_answer(list: &NamedList) -> Answer {
        let items =
            list.items.iter().map(|item| Value::Object(list_item_document(item, list.kind)));
        Answer::of(items.collect())
    }

    pub(super) fn item_answer(list: &NamedList, id: ListItemId) -> Result<Answer, Failure> {
        let item = list.items.iter().find(|item| item.id == id);
        let item = item.ok_or_else(|| Failure::not_found("item"))?;
        Ok(Answer::of(Value::Object(list_item_document(item, list.kind))))
    }

    pub(super) fn operation_answer(now: Timestamp, operation: ListItemId) -> Answer {
        let completed = now.to_iso8601();
        Answer::of(json!({ "id": operation, "status": "completed", "completed": completed }))
    }
}

fn target(id: ListId) -> String {
    format!("accounts/-/rules/lists/{id}")
}

fn change(before: Option<&NamedList>, after: NamedList) -> Change {
    Change {
        target: target(after.id),
        before: before.map(full_list_document),
        after: Some(full_list_document(&after)),
        effect: Effect::List(Box::new(after)),
    }
}

/// The items of a body with ids and times of ours.
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
