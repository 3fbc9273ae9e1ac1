//! What each operation is called, takes and gives. Whoever adds a target must say so.

use room_core::management::api::Method::{self, Delete, Get, Patch, Post, Put};
use room_core::management::api::Target;
use serde_json::{Value, json};

use crate::schemas::{array, reference};

/// One operation.
pub struct Meaning {
    /// Names it in programs that are made from the description.
    pub id: &'static str,
    /// Says it to people.
    pub summary: &'static str,
    /// The schema of its body, if it takes one.
    pub body: Option<Value>,
    /// The schema of its result.
    pub result: Value,
}

fn reads(id: &'static str, summary: &'static str, result: Value) -> Meaning {
    Meaning { id, summary, body: None, result }
}

fn takes(id: &'static str, summary: &'static str, body: &str, result: Value) -> Meaning {
    Meaning { id, summary, body: Some(reference(body)), result }
}

fn takes_many(id: &'static str, summary: &'static str, body: &str, result: Value) -> Meaning {
    Meaning { id, summary, body: Some(array(body)), result }
}

fn removes(id: &'static str, summary: &'static str) -> Meaning {
    reads(id, summary, reference("Id"))
}

/// Returns what an operation means.
pub fn meaning(target: Target, method: Method) -> Meaning {
    match target {
        Target::TokenVerify => reads("verifyToken", "Does this token count?", reference("Token")),
        Target::Zones => reads("listZones", "The zones that there are", array("Zone")),
        Target::Zone(_) => reads("getZone", "One zone", reference("Zone")),
        Target::Accounts => reads("listAccounts", "The one account", array("Account")),
        Target::Account => {
            reads("getAccount", "The one account, whichever is named", reference("Account"))
        }
        Target::User => reads("getUser", "Whose token is this?", reference("User")),
        Target::Tokens | Target::Token(_) | Target::TokenValue(_) => of_tokens(target, method),
        Target::AccountRooms => reads("listAllRooms", "Rooms of all zones", array("Room")),
        Target::Rooms(_) | Target::Room(..) => of_rooms(target, method),
        Target::Status(..) => reads("roomStatus", "What the room does now", reference("Status")),
        Target::History(..) => {
            reads("roomHistory", "What happened in the room", reference("History"))
        }
        Target::Trace(..) => reads("traceVisitor", "Why a visitor waited", reference("Trace")),
        Target::InvitationKeys(..) => reads(
            "listInvitationKeys",
            "The keys that sign invitations to the room's groups",
            array("InvitationKey"),
        ),
        Target::Preview(_) => {
            let (summary, result) = ("Look at a queue page for an hour", "PreviewAddress");
            takes("makePreview", summary, "Preview", reference(result))
        }
        Target::Settings(_) => {
            let result = reference("Settings");
            match method {
                Put => {
                    let summary = "Change settings of a zone, as PATCH does";
                    takes("replaceSettings", summary, "SettingsPatch", result)
                }
                Patch => {
                    takes("changeSettings", "Change settings of a zone", "SettingsPatch", result)
                }
                _ => reads("getSettings", "Settings of a zone", result),
            }
        }
        Target::Events(..) | Target::Event(..) | Target::EventDetails(..) => {
            of_events(target, method)
        }
        Target::Rules(..) | Target::Rule(..) => of_rules(target, method),
        Target::RuleTrial(..) => {
            let result = reference("TrialResult");
            takes("tryRules", "Would this request pass?", "Trial", result)
        }
        Target::Webhooks(..) | Target::Webhook(..) | Target::WebhookTest(..) => {
            of_webhooks(target, method)
        }
        Target::Lists | Target::List(_) => of_lists(target, method),
        Target::ListItems(_) | Target::ListItem(..) => of_items(target, method),
        Target::ListOperation(_) => {
            let summary = "A change of items; it is done at once";
            reads("getListOperation", summary, reference("ListOperation"))
        }
        Target::File if method == Put => {
            let (summary, result) = ("Make the rooms of a file so", reference("Import"));
            Meaning { id: "importRooms", summary, body: Some(file()), result }
        }
        Target::File => {
            let summary = "All rooms as in rooms.json; with from a part of everything";
            reads("exportRooms", summary, file())
        }
        Target::AuditLog => {
            reads("auditLog", "Who changed what, newest first", array("AuditEntry"))
        }
        Target::Doctor => reads("examine", "Measure the Worker", reference("Examination")),
    }
}

/// A list of rooms, or a part of everything.
fn file() -> Value {
    json!({ "anyOf": [array("RoomInFile"), reference("FilePart")] })
}

fn of_rooms(target: Target, method: Method) -> Meaning {
    let room = reference("Room");
    match (target, method) {
        (Target::Rooms(_), Post) => takes("createRoom", "Make a room", "RoomInput", room),
        (Target::Rooms(_), Delete) => {
            takes("deleteRooms", "Remove many rooms, all or none", "Ids", array("Id"))
        }
        (Target::Rooms(_), _) => reads("listRooms", "Rooms of a zone", array("Room")),
        (_, Put) => takes("replaceRoom", "Replace a room", "RoomInput", room),
        (_, Patch) => takes("changeRoom", "Change fields of a room", "RoomPatch", room),
        (_, Delete) => removes("deleteRoom", "Remove a room"),
        (_, Get | Post) => reads("getRoom", "One room", room),
    }
}

fn of_events(target: Target, method: Method) -> Meaning {
    let event = reference("Event");
    match (target, method) {
        (Target::Events(..), Post) => takes("createEvent", "Make an event", "EventInput", event),
        (Target::Events(..), _) => reads("listEvents", "Events of a room", array("Event")),
        (Target::EventDetails(..), _) => {
            reads("eventDetails", "An event with what it takes over from its room", event)
        }
        (_, Put) => takes("replaceEvent", "Replace an event", "EventInput", event),
        (_, Patch) => takes("changeEvent", "Change fields of an event", "EventPatch", event),
        (_, Delete) => removes("deleteEvent", "Remove an event"),
        (_, Get | Post) => reads("getEvent", "One event", event),
    }
}

fn of_rules(target: Target, method: Method) -> Meaning {
    let rules = array("Rule");
    match (target, method) {
        (Target::Rules(..), Post) => takes("createRule", "Add a rule", "RuleInput", rules),
        (Target::Rules(..), Put) => {
            takes_many("replaceRules", "Replace all rules of a room", "RuleInput", rules)
        }
        (Target::Rules(..), _) => reads("listRules", "Rules of a room", rules),
        (_, Patch) => takes("changeRule", "Change a rule, or its place", "RulePatch", rules),
        _ => reads("deleteRule", "Remove a rule", rules),
    }
}

fn of_webhooks(target: Target, method: Method) -> Meaning {
    let webhook = reference("Webhook");
    match (target, method) {
        (Target::Webhooks(..), Post) => {
            takes("createWebhook", "Make a webhook", "WebhookInput", webhook)
        }
        (Target::Webhooks(..), _) => reads("listWebhooks", "Webhooks of a room", array("Webhook")),
        (Target::WebhookTest(..), _) => reads("testWebhook", "Send a webhook a message", webhook),
        (_, Patch) => takes("changeWebhook", "Change fields of a webhook", "WebhookPatch", webhook),
        (_, Delete) => reads("deleteWebhook", "Remove a webhook", reference("RemovedWebhook")),
        _ => reads("getWebhook", "One webhook", webhook),
    }
}

fn of_tokens(target: Target, method: Method) -> Meaning {
    let token = reference("NamedToken");
    match (target, method) {
        (Target::Tokens, Post) => takes("createToken", "Make a token", "NamedTokenInput", token),
        (Target::Tokens, _) => reads("listTokens", "Named tokens", array("NamedToken")),
        (Target::TokenValue(_), _) => {
            let value = json!({ "type": "string" });
            reads("rollToken", "Give a token another value", value)
        }
        (_, Put) => takes("replaceToken", "Replace a token", "NamedTokenPatch", token),
        (_, Delete) => removes("deleteToken", "Remove a token"),
        _ => reads("getToken", "One token", token),
    }
}

fn of_lists(target: Target, method: Method) -> Meaning {
    let list = reference("List");
    match (target, method) {
        (Target::Lists, Post) => takes("createList", "Make a list", "ListInput", list),
        (Target::Lists, _) => reads("listLists", "Named lists", array("List")),
        (_, Put) => takes("describeList", "Describe a list", "ListPatch", list),
        (_, Delete) => removes("deleteList", "Remove a list"),
        _ => reads("getList", "One list", list),
    }
}

fn of_items(target: Target, method: Method) -> Meaning {
    let change = reference("Change");
    match (target, method) {
        (Target::ListItem(..), _) => reads("getListItem", "One item", reference("ListItem")),
        (_, Post) => takes_many("addListItems", "Add items", "ListItemInput", change),
        (_, Put) => takes_many("replaceListItems", "Replace items", "ListItemInput", change),
        (_, Delete) => takes("deleteListItems", "Remove items", "Ids", change),
        _ => reads("listListItems", "Items of a list", array("ListItem")),
    }
}

/// The envelope around a result.
pub fn envelope(result: &Value, has_pages: bool) -> Value {
    let mut schema = json!({
        "type": "object",
        "required": ["success", "errors", "messages", "result"],
        "properties": {
            "success": { "const": true },
            "errors": { "type": "array", "maxItems": 0 },
            "messages": array("Message"),
            "result": result,
        },
    });
    if has_pages {
        schema["properties"]["result_info"] = reference("PageInfo");
        schema["required"] = json!(["success", "errors", "messages", "result", "result_info"]);
    }
    schema
}
