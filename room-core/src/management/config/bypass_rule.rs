//! Reads bypass rules from JSON; `rules` compiles their expressions.

use serde_json::{Value, json};

use super::field_error::{ErrorCode, FieldError, Problem};
use super::fields::Fields;
use super::value::{MAX_TEXT_BYTES, boolean, list, malformed, only, parsed, text};
use crate::base::time::Timestamp;
use crate::room::bypass_rule::{BypassRule, compile};
use crate::rules::{Expression, KnownLists, MAX_EXPRESSION_BYTES};

/// Most rules of one room in a file; the registry has its own, configurable bound.
const MAX_RULES: usize = 1_000;

/// Reads one rule from a JSON object. Pointers of errors begin at the object.
pub fn read_bypass_rule(value: &Value, lists: &KnownLists) -> Result<BypassRule, Vec<FieldError>> {
    read_at(value, String::new(), lists)
}

/// Reads a list of rules. Pointers of errors begin at the list.
pub fn read_bypass_rules(
    value: &Value,
    lists: &KnownLists,
) -> Result<Vec<BypassRule>, Vec<FieldError>> {
    let values = list("a list of rules", MAX_RULES)(value)
        .map_err(|problem| vec![problem.at(String::new())])?;
    let mut rules: Vec<BypassRule> = Vec::with_capacity(values.len());
    let mut errors = Vec::new();
    for (index, value) in values.iter().enumerate() {
        match read_at(value, format!("/{index}"), lists) {
            Ok(rule) if rules.iter().any(|other| other.id == rule.id) => {
                let message = "is already taken by a rule before this one".to_owned();
                let problem = Problem { code: ErrorCode::Duplicate, message };
                errors.push(problem.at(format!("/{index}/id")));
            }
            Ok(rule) => rules.push(rule),
            Err(of_rule) => errors.extend(of_rule),
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

/// Reads the field `bypass_rules` of a room.
pub(super) fn read_rules_of(fields: &mut Fields<'_>, lists: &KnownLists) -> Vec<BypassRule> {
    let Some(value) = fields.value("bypass_rules") else { return Vec::new() };
    read_bypass_rules(value, lists).unwrap_or_else(|errors| {
        let pointer = fields.pointer_to("bypass_rules");
        let placed = |error: FieldError| {
            let pointer = format!("{pointer}{}", error.pointer);
            FieldError { pointer, ..error }
        };
        fields.add(errors.into_iter().map(placed));
        Vec::new()
    })
}

fn read_at(
    value: &Value,
    pointer: String,
    lists: &KnownLists,
) -> Result<BypassRule, Vec<FieldError>> {
    let mut fields = Fields::of(value, pointer).map_err(|error| vec![error])?;
    let rule = read_fields(&mut fields, lists);
    let errors = fields.finish();
    rule.filter(|_| errors.is_empty()).ok_or(errors)
}

fn read_fields(fields: &mut Fields<'_>, lists: &KnownLists) -> Option<BypassRule> {
    let id = fields.required("id", parsed);
    let version = fields.optional("version", 1, version);
    let action = fields.required("action", only(&json!("bypass_waiting_room")));
    let expression = fields.required("expression", |value| expression(value, lists));
    let description = fields.optional("description", "", text(MAX_TEXT_BYTES));
    let enabled = fields.optional("enabled", true, boolean);
    let last_updated = fields.optional("last_updated", Timestamp::default(), parsed);
    action?;
    let (expression, compiled) = expression?;
    Some(BypassRule {
        id: id?,
        version: version?,
        expression: expression.to_owned(),
        compiled,
        description: description?.to_owned(),
        enabled: enabled?,
        last_updated: last_updated?,
    })
}

fn version(value: &Value) -> Result<u32, Problem> {
    let written = text(10)(value)?;
    let rule = "must be a whole number from 1 to 4294967295, as a text";
    let number = written.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| malformed(written, rule))
}

/// Reads an expression: its text, and what it is compiled to.
pub(super) fn expression<'json>(
    value: &'json Value,
    lists: &KnownLists,
) -> Result<(&'json str, Expression), Problem> {
    let expression = text(MAX_EXPRESSION_BYTES)(value)?;
    let compiled = compile(expression, lists)
        .map_err(|error| Problem { code: ErrorCode::Malformed, message: error.to_string() })?;
    Ok((expression, compiled))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read_bypass_rules;
    use crate::management::config::ErrorCode;
    use crate::rules::KnownLists;

    fn rule(patch: &Value) -> Value {
        let mut rule = json!({
            "id": "0123456789abcdef0123456789abcdef",
            "action": "bypass_waiting_room",
            "expression": "ssl",
        });
        for (name, value) in patch.as_object().expect("a patch is an object") {
            rule[name] = value.clone();
        }
        rule
    }

    fn check(rules: &Value, want: &[(&str, ErrorCode)]) {
        let errors = read_bypass_rules(rules, &KnownLists::new()).err().unwrap_or_default();
        let seen = errors.iter().map(|error| (&*error.pointer, error.code)).collect::<Vec<_>>();
        assert_eq!(seen, want, "{rules}");
    }

    #[test]
    fn fields_of_a_rule_keep_to_their_limits() {
        let check = |patch: Value, want: &[(&str, ErrorCode)]| check(&json!([rule(&patch)]), want);
        check(json!({}), &[]);
        check(json!({ "action": null }), &[("/0/action", ErrorCode::Required)]);
        check(json!({ "action": "block" }), &[("/0/action", ErrorCode::Unsupported)]);
        check(json!({ "expression": null }), &[("/0/expression", ErrorCode::Required)]);
        check(json!({ "expression": " " }), &[("/0/expression", ErrorCode::Malformed)]);
        let expression = |bytes: usize| json!({ "expression": format!("{:bytes$}", "ssl") });
        check(expression(4_096), &[]);
        check(expression(4_097), &[("/0/expression", ErrorCode::OutOfRange)]);
        check(json!({ "enabled": "yes" }), &[("/0/enabled", ErrorCode::WrongType)]);
        check(json!({ "version": "1" }), &[]);
        check(json!({ "version": "0" }), &[("/0/version", ErrorCode::Malformed)]);
        check(json!({ "priority": 1 }), &[("/0/priority", ErrorCode::UnknownField)]);
    }

    #[test]
    fn rules_are_a_list_without_repeated_ids() {
        check(&json!([]), &[]);
        check(&json!({}), &[("", ErrorCode::WrongType)]);
        check(&json!([7]), &[("/0", ErrorCode::WrongType)]);
        let one = rule(&json!({}));
        check(&json!([one, one]), &[("/1/id", ErrorCode::Duplicate)]);
        check(&json!(vec![7; 1_001]), &[("", ErrorCode::OutOfRange)]);
    }
}
