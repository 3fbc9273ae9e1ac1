//! Reads and writes named lists, which bypass rules refer to, and their items.

use serde_json::{Map, Value, json};

use super::field_error::{ErrorCode, FieldError, Problem};
use super::fields::Fields;
use super::value::{
    MAX_TEXT_BYTES, choice, document, list, malformed, out_of_range, parsed, text, whole_number,
    wrong_type,
};
use crate::base::host::Host;
use crate::base::time::Timestamp;
use crate::room::named_list::{ListItem, MAX_LIST_ITEMS, MAX_LIST_NAME_BYTES, NamedList};
use crate::rules::{IpRange, ListKind};

const KINDS: [(&str, ListKind); 3] =
    [("ip", ListKind::Ip), ("hostname", ListKind::Hostname), ("asn", ListKind::Asn)];

/// Reads a list with its items from a JSON object. Pointers of errors begin at the object.
pub fn read_named_list(value: &Value) -> Result<NamedList, Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let kind = fields.required("kind", choice(&KINDS));
    let id = fields.required("id", parsed);
    let name = fields.required("name", list_name);
    let description = fields.optional("description", "", text(MAX_TEXT_BYTES));
    let created_on = fields.optional("created_on", Timestamp::default(), parsed);
    let modified_on = fields.optional("modified_on", Timestamp::default(), parsed);
    let items = fields.value("items").zip(kind).map(|(items, kind)| read_list_items(items, kind));
    let items = items.unwrap_or_else(|| Ok(Vec::new()));
    if let Err(errors) = &items {
        fields.add(errors.iter().map(|error| FieldError {
            pointer: format!("/items{}", error.pointer),
            ..error.clone()
        }));
    }
    let errors = fields.finish();
    let list = || {
        Some(NamedList {
            id: id?,
            name: name?.to_owned(),
            kind: kind?,
            description: description?.to_owned(),
            created_on: created_on?,
            modified_on: modified_on?,
            items: items.ok()?,
        })
    };
    list().filter(|_| errors.is_empty()).ok_or(errors)
}

/// Reads the items of a list of this kind from a JSON array. Pointers of errors begin at the array.
pub fn read_list_items(value: &Value, kind: ListKind) -> Result<Vec<ListItem>, Vec<FieldError>> {
    let values = list("an array of items", MAX_LIST_ITEMS)(value)
        .map_err(|problem| vec![problem.at(String::new())])?;
    let mut items = Vec::with_capacity(values.len());
    let mut errors = Vec::new();
    for (index, value) in values.iter().enumerate() {
        match Fields::of(value, format!("/{index}")) {
            Err(error) => errors.push(error),
            Ok(mut fields) => {
                items.extend(read_item(&mut fields, kind));
                errors.extend(fields.finish());
            }
        }
    }
    if errors.is_empty() { Ok(items) } else { Err(errors) }
}

fn read_item(fields: &mut Fields<'_>, kind: ListKind) -> Option<ListItem> {
    let id = fields.required("id", parsed);
    let value = match kind {
        ListKind::Asn => {
            let number = fields.required("asn", whole_number(0..=u32::MAX));
            number.map(|number| number.to_string())
        }
        ListKind::Hostname => fields.required("hostname", hostname),
        ListKind::Ip => fields.required("ip", address),
    };
    let comment = fields.optional("comment", "", text(MAX_TEXT_BYTES));
    let created_on = fields.optional("created_on", Timestamp::default(), parsed);
    let modified_on = fields.optional("modified_on", Timestamp::default(), parsed);
    Some(ListItem {
        id: id?,
        value: value?,
        comment: comment?.to_owned(),
        created_on: created_on?,
        modified_on: modified_on?,
    })
}

fn list_name(value: &Value) -> Result<&str, Problem> {
    let name = text(MAX_LIST_NAME_BYTES)(value)?;
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !name.is_empty() && name.bytes().all(is_allowed) {
        return Ok(name);
    }
    Err(malformed(name, "must be small letters, digits and _"))
}

fn address(value: &Value) -> Result<String, Problem> {
    let written = text(MAX_TEXT_BYTES)(value)?;
    IpRange::parse(written).map_err(|error| malformed(written, error))?;
    Ok(written.to_owned())
}

/// Reads `{"url_hostname": "shop.example"}`; `*.example` means every name below `example`.
fn hostname(value: &Value) -> Result<String, Problem> {
    let wanted = "an object with url_hostname";
    let fields = value.as_object().ok_or_else(|| wrong_type(wanted, value))?;
    let named = fields.get("url_hostname").filter(|_| fields.len() == 1);
    let name = text(MAX_TEXT_BYTES)(named.ok_or_else(|| out_of_range(wanted, value))?)?;
    let below_star = name.strip_prefix("*.").unwrap_or(name);
    below_star.parse::<Host>().map_err(|error| malformed(name, error))?;
    Ok(name.to_owned())
}

/// Writes a list without its items.
pub fn named_list_document(list: &NamedList) -> Map<String, Value> {
    document(json!({
        "id": list.id,
        "name": list.name,
        "kind": kind_name(list.kind),
        "description": list.description,
        "created_on": list.created_on.to_iso8601(),
        "modified_on": list.modified_on.to_iso8601(),
    }))
}

/// Writes a list with its items, so that [`read_named_list`] reads back the same list.
pub fn full_list_document(list: &NamedList) -> Map<String, Value> {
    let items = list.items.iter().map(|item| Value::Object(list_item_document(item, list.kind)));
    let mut document = named_list_document(list);
    document.insert("items".to_owned(), items.collect());
    document
}

/// Writes an item of a list of this kind.
pub fn list_item_document(item: &ListItem, kind: ListKind) -> Map<String, Value> {
    let (name, value) = match kind {
        ListKind::Asn => ("asn", json!(item.value.parse::<u32>().unwrap_or_default())),
        ListKind::Hostname => ("hostname", json!({ "url_hostname": item.value })),
        ListKind::Ip => ("ip", json!(item.value)),
    };
    document(json!({
        "id": item.id,
        (name): value,
        "comment": item.comment,
        "created_on": item.created_on.to_iso8601(),
        "modified_on": item.modified_on.to_iso8601(),
    }))
}

fn kind_name(kind: ListKind) -> &'static str {
    KINDS.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name)
}

/// Makes the error of changing a field that is fixed once the list exists.
pub fn is_fixed(pointer: &str) -> FieldError {
    let message = "cannot be changed: make another list".to_owned();
    FieldError { pointer: pointer.to_owned(), code: ErrorCode::Unsupported, message }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{full_list_document, read_named_list};
    use crate::management::config::ErrorCode;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn check(patch: &Value, want: &[(&str, ErrorCode)]) {
        let mut value = json!({ "id": ID, "name": "office", "kind": "ip" });
        for (name, field) in patch.as_object().expect("a patch is an object") {
            value[name] = field.clone();
        }
        let list = read_named_list(&value);
        let errors = list.as_ref().err().cloned().unwrap_or_default();
        let seen = errors.iter().map(|error| (&*error.pointer, error.code)).collect::<Vec<_>>();
        assert_eq!(seen, want, "{value}");
        if let Ok(list) = list {
            let written = Value::Object(full_list_document(&list));
            assert_eq!(read_named_list(&written), Ok(list), "{written}");
        }
    }

    #[test]
    fn fields_of_a_list_keep_to_their_limits() {
        check(&json!({}), &[]);
        check(&json!({ "name": "a".repeat(50) }), &[]);
        check(&json!({ "name": "a".repeat(51) }), &[("/name", ErrorCode::OutOfRange)]);
        check(&json!({ "name": "Office" }), &[("/name", ErrorCode::Malformed)]);
        check(&json!({ "name": "" }), &[("/name", ErrorCode::Malformed)]);
        check(&json!({ "kind": "redirect" }), &[("/kind", ErrorCode::OutOfRange)]);
        check(&json!({ "size": 1 }), &[("/size", ErrorCode::UnknownField)]);
    }

    #[test]
    fn items_fit_the_kind_of_their_list() {
        let check = |kind: &str, item: &Value, want: &[(&str, ErrorCode)]| {
            let mut item = item.clone();
            item["id"] = json!(ID);
            check(&json!({ "kind": kind, "items": [item] }), want);
        };
        check("ip", &json!({ "ip": "203.0.113.0/24", "comment": "us" }), &[]);
        check("ip", &json!({ "ip": "2001:db8::7" }), &[]);
        check("ip", &json!({ "ip": "10.0.0.1/8" }), &[("/items/0/ip", ErrorCode::Malformed)]);
        let unknown = ("/items/0/asn", ErrorCode::UnknownField);
        check("ip", &json!({ "asn": 1 }), &[("/items/0/ip", ErrorCode::Required), unknown]);
        check("asn", &json!({ "asn": u32::MAX }), &[]);
        check("asn", &json!({ "asn": -1 }), &[("/items/0/asn", ErrorCode::OutOfRange)]);
        check("hostname", &json!({ "hostname": { "url_hostname": "*.shop.example" } }), &[]);
        let wrong = [("/items/0/hostname", ErrorCode::Malformed)];
        check("hostname", &json!({ "hostname": { "url_hostname": "shop:1" } }), &wrong);
        let wrong = [("/items/0/hostname", ErrorCode::WrongType)];
        check("hostname", &json!({ "hostname": "shop.example" }), &wrong);
    }
}
